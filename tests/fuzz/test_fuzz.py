"""The short form of the long runs: some thousand files, some dozen command lines, and whatever hypothesis thinks of."""

import io
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz import commands, files
from fuzz.seeds import seeds

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the limits are those of Linux")


def test_mutated_files_are_read_or_refused():
    outcomes, failures = files.run(4000)
    assert failures == []
    assert outcomes["refused"] > 1000
    assert {"json", "table", "npy", "npz"} <= set(outcomes)


def test_random_command_lines_end_as_the_contract_says():
    outcomes, failures = commands.fuzz(60)
    assert failures == []
    assert outcomes["exit 0"] > 5


@settings(max_examples=300)
@given(
    st.one_of(
        st.binary(max_size=300), st.text(alphabet='0123456789.,;:-+eE"#[]{} \t\r\n\x00a−', max_size=80).map(str.encode)
    )
)
def test_any_bytes_are_read_or_refused(data):
    with tempfile.TemporaryDirectory() as folder:
        files.touch(data, Random(0), Path(folder))


@settings(max_examples=300)
@given(st.sampled_from(seeds()), st.data())
def test_any_part_of_a_file_is_read_or_refused(seed, data):
    begin, end = data.draw(st.integers(0, len(seed))), data.draw(st.integers(0, len(seed)))
    with tempfile.TemporaryDirectory() as folder:
        files.touch(seed[:begin] + seed[end:], Random(0), Path(folder))


def test_files_are_touched_without_a_failure_when_they_are_good():
    """A fuzzer that refuses everything would find nothing."""
    assert files.touch(b"[[1, 2]]", Random(1), Path()) == "json"
    entry = files.read_entry("-", io.BytesIO(b"the,1,2\ncat,3,4\n"))
    files.use(entry)
    assert entry.labels == ("the", "cat")
