"""The blocks of ``core.tiled`` on a dask.distributed cluster: --dask local, or --dask ADDRESS.

Queries and keys are both cut; each worker is sent what it needs and hands on partial results (m, l and O), which are
merged on the workers too, so that only the output comes back.  An array leaves here once: it is an argument of a task
that only returns it, so that the scheduler can have it made again when the worker that holds it dies.

Workers need attncalc and the same numpy.  The blocks are those of one machine, merged in the same order, so the
answer is the same; to the last bit where the processors are of one kind.
"""

import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from attncalc.core import threads
from attncalc.core.tiled import Partial, Spread, Task, look, together
from attncalc.errors import AttnCalcError, OptionError

Value = TypeVar("Value")

BLOCKS = 32
"""Blocks of queries in a task: about a second of work, so that sending it does not matter."""

PATIENCE = 10
"""Seconds in which a scheduler must answer."""


@contextmanager
def connected(address: str) -> Iterator[Spread]:
    """Connect to a cluster; yield what computes there.

    Args:
        address: of the scheduler, ``tcp://host:8786``; or ``local`` for one process on each core of this machine.

    Raises:
        AttnCalcError: the package is missing, nobody answers, or too many workers died.
    """
    try:
        import dask
        from distributed import Client, KilledWorker, LocalCluster
    except ImportError:
        raise OptionError("--dask needs the package distributed", hint="pip install 'attncalc[dask]'") from None
    quiet = {"distributed.admin.large-graph-warning-threshold": "1 TiB", "distributed.logging.distributed": "critical"}
    with dask.config.set(quiet):
        try:
            if address == "local":
                with deaf_to_interrupts():
                    target: Any = LocalCluster(
                        n_workers=threads.cores(), threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
                    )
            else:
                target = address
            client = Client(target, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise OptionError(f"no dask scheduler answers at {address}", facts=[("said", str(error))]) from error
        try:
            yield spread(client)
        except KilledWorker as error:
            raise AttnCalcError("the cluster gave up: one block was lost with several workers in turn") from error
        finally:
            client.close()
            if address == "local":
                target.close()


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: a terminal sends it to all, and this one ends the others."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def spread(client: Any) -> Spread:
    """Return what computes on the cluster of a client."""

    def run(tasks: Sequence[Task]) -> Generator[Partial, None, None]:
        held = Held(client)
        futures = [begin(client, held, task) for task in tasks]
        while futures:
            yield futures.pop(0).result()  # dropping the future lets the cluster forget the block

    return Spread(run, BLOCKS)


def begin(client: Any, held: "Held", task: Task) -> Any:
    """Submit the stretches of a task and the merging of what is found; return the future of the result."""
    piece, name = task.piece, (task.piece.b, task.piece.heads.start)
    rules = held.there((*name, "rules"), piece.rules)
    query = held.there((*name, "query", task.rows), piece.query[:, task.rows.start : task.rows.stop])
    parts = []
    for keys in task.stretches:
        rows = slice(keys.start, keys.stop)
        key = held.there((*name, "key", keys), piece.key[rows])
        value = held.there((*name, "value", keys), piece.value[rows])
        parts.append(client.submit(look, query, key, value, task.rows, keys, rules, piece.sizes, task.fast, pure=False))
    return client.submit(together, piece.sizes, len(task.rows), rules, *parts, pure=False)


class Held:
    """What has been sent to the cluster, by name."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.futures: dict[tuple[Any, ...], Any] = {}

    def there(self, name: tuple[Any, ...], value: object) -> Any:
        """Return the future of a value, which is sent the first time that it is named."""
        if name not in self.futures:
            sent = np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value
            self.futures[name] = self.client.submit(same, sent, pure=False)
        return self.futures[name]


def same(value: Value) -> Value:
    """Return the argument."""
    return value
