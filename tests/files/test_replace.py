"""A file is replaced whole or not at all."""

import os
import stat
import threading

import pytest

from attncalc.errors import FileError
from attncalc.files import replacing

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, data=b"new"):
    with replacing(path) as file:
        file.write(data)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.parametrize("before", [None, b"a longer text than the new one"])
def test_the_file_holds_what_was_written(before):
    if before is not None:
        with open("out", "wb") as file:
            file.write(before)
    write("out")
    assert content("out") == b"new"
    assert os.listdir() == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("existing", [True, False])
def test_nothing_changes_when_writing_fails(error, existing):
    if existing:
        write("out", b"old")

    def fail():
        with replacing("out") as file:
            file.write(b"half")
            raise error("halfway")

    with pytest.raises(error, match="halfway"):
        fail()
    assert os.listdir() == (["out"] if existing else [])
    assert not existing or content("out") == b"old"


def test_the_old_content_stays_until_the_end():
    write("out", b"old")
    with replacing("out") as file:
        file.write(b"new")
        file.flush()
        assert content("out") == b"old"
    assert content("out") == b"new"


@posix
def test_a_new_file_has_the_mode_that_umask_leaves():
    before = os.umask(0o027)
    try:
        write("out")
    finally:
        os.umask(before)
    assert mode("out") == 0o640


@posix
@pytest.mark.parametrize("kept", [0o600, 0o644, 0o755])
def test_the_mode_of_a_file_is_kept(kept):
    write("out", b"old")
    os.chmod("out", kept)
    write("out")
    assert mode("out") == kept
    assert content("out") == b"new"


@posix
@pytest.mark.parametrize("existing", [True, False])
def test_a_link_is_followed_to_its_target(existing):
    os.mkdir("far")
    if existing:
        write("far/target", b"old")
    os.symlink("far/target", "link")
    write("link")
    assert os.path.islink("link")
    assert content("far/target") == b"new"
    assert os.listdir("far") == ["target"]


@posix
def test_a_pipe_is_written_to():
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append(content("pipe")))
    reader.start()
    write("pipe")
    reader.join()
    assert got == [b"new"]
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@posix
def test_a_device_is_written_to():
    write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_device_is_an_error_of_the_system():
    with pytest.raises(OSError, match="No space left on device"):
        write("/dev/full")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("missing/out", "missing/out: cannot be written: there is no folder missing$"),
        (".", r"\.: is a folder; a file is needed"),
        ("a\0b", "cannot be written"),
        ("x" * 5000, "cannot be written"),
        ("", "cannot be written: it names no file"),
        ("new/", "new/: cannot be written: it names no file"),
        ("file/out", "file/out: cannot be written"),
    ],
)
def test_where_nothing_can_be_written(path, message):
    write("file")
    with pytest.raises(FileError, match=message):
        write(path)
    assert os.listdir() == ["file"]


@posix
def test_a_link_to_itself():
    os.symlink("loop", "loop")
    with pytest.raises(FileError, match="loop: cannot be written"):
        write("loop")


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root writes everywhere")
def test_a_file_that_may_not_be_written():
    write("out")
    os.chmod("out", 0o444)
    with pytest.raises(FileError, match="out: may not be written"):
        write("out")
