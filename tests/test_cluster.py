"""A scheduler and two worker processes of dask.distributed on this machine, one of which is killed."""

import subprocess
import sys

import pytest

from attncalc import AttnCalcError, attention
from attncalc.core.prepare import prepare

pytest.importorskip("distributed")

PROGRAM = """
import os, signal, sys
import numpy as np
from distributed import Client, LocalCluster
from attncalc import cluster
from attncalc.api import solve
from attncalc.core.prepare import prepare

def main():
    cluster.BLOCKS = 2
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(heads, 1500, 32)) for heads in (4, 2, 2))
    lengths = {"padding": np.arange(1500) < 1400, "causal": True, "sink": [0.0, 1.0, 2.0, 3.0]}
    problem = prepare(q, k, v, **lengths)
    here = solve(problem, ("output", "lse"))
    killed = []

    def kill(share):
        if not killed:
            killed.append(workers[0])
            os.kill(workers[0], signal.SIGKILL)

    local = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL")
    with local, Client(local) as client:
        workers = list(client.run(os.getpid).values())
        assert len(set(workers)) == 2
        there = solve(problem, ("output", "lse"), spread=cluster.spread(client), progress=kill)
        assert killed
        for stage in ("output", "lse"):
            assert np.array_equal(here.stages[stage], there.stages[stage]), stage
        np.save("x.npy", q[0])
        command = [sys.executable, "-m", "attncalc", "compute", *["x.npy"] * 3, "--causal", "-o", "out.npy"]
        import subprocess
        subprocess.run([*command, "--dask", local.scheduler_address], check=True)
        expected = solve(prepare(q[0], q[0], q[0], causal=True), ("output",)).output
        assert np.array_equal(np.load("out.npy"), expected)
    print("equal")

if __name__ == "__main__":
    main()
"""


def test_a_worker_that_dies_costs_time_and_not_the_result(tmp_path):
    (tmp_path / "run.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.stdout.strip() == "equal", done.stderr


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    from attncalc import cluster

    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    unanswered = pytest.raises(AttnCalcError, match=r"no dask scheduler answers at tcp://127\.0\.0\.1:9")
    with unanswered, cluster.connected("tcp://127.0.0.1:9"):
        pass


def test_without_the_package_the_extra_is_named(monkeypatch):
    from attncalc import cluster

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(AttnCalcError, match=r"needs the package distributed") as caught, cluster.connected("local"):
        pass
    assert caught.value.hint == "pip install 'attncalc[dask]'"


def test_a_cluster_builds_no_scores():
    from attncalc.api import solve
    from attncalc.core.tiled import Spread, on_threads

    problem = prepare([[1.0]], [[1.0]], [[1.0]])
    with pytest.raises(AttnCalcError, match=r"does not build T × S stages, and weights is one"):
        solve(problem, ("weights", "output"), spread=Spread(on_threads))
    assert solve(problem, ("output",), spread=Spread(on_threads)).output == attention([[1.0]], [[1.0]], [[1.0]]).output
