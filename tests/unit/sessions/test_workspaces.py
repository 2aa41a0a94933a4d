"""Workspaces: what they keep, for how long, and for whom."""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import OptionError
from sandbox_kernel.isolation.beneath import Directory
from sandbox_kernel.sessions import Workspaces
from tests.unprivileged import as_nobody
from tests.waiting import until


@pytest.fixture
def workspaces(tmp_path: Path) -> Iterator[Workspaces]:
    found = Workspaces(tmp_path / "root", ttl_seconds=100, max_bytes=100_000)
    yield found
    found.close()


def age(workspaces: Workspaces, session_id: str, seconds: float) -> None:
    """Makes its last use so many seconds longer ago."""
    lease = workspaces.root / ".leases" / session_id
    then = lease.stat().st_mtime - seconds
    os.utime(lease, (then, then))


# ---------------------------------------------------------------------------- ids and settings


@pytest.mark.parametrize(
    "session_id",
    ["", ".", "..", ".x", "-x", "_x", "a/b", "/etc", "a\0", "a\n", "é", "a b", "x" * 129, None, 7],
)
def test_an_id_that_is_not_one_is_an_option_error(workspaces: Workspaces, session_id: Any) -> None:
    for use in (workspaces.open, workspaces.delete, workspaces.lease):
        with pytest.raises(OptionError, match="is not a session id: 1 to 128 letters") as caught:
            use(session_id)
        assert caught.value.option == "session"
        assert len(str(caught.value)) < 1500
    assert workspaces.sessions() == []


@pytest.mark.parametrize("session_id", ["a", "0", "A.b_c-d", "x" * 128, "con", "a..b"])
def test_an_id_of_letters_digits_dots_dashes_and_underscores_works(
    workspaces: Workspaces, session_id: str
) -> None:
    workspaces.open(session_id).write("file", "kept")
    assert workspaces.sessions() == [session_id]
    assert workspaces.open(session_id).read("file") == b"kept"


@pytest.mark.parametrize(
    "setting",
    [
        {"ttl_seconds": 0},
        {"ttl_seconds": -1},
        {"ttl_seconds": float("nan")},
        {"ttl_seconds": float("inf")},
        {"ttl_seconds": "1h"},
        {"ttl_seconds": True},
        {"max_bytes": 0},
        {"max_bytes": 1.5},
        {"max_bytes": None},
        {"root": 7},
        {"root": "/dev/null"},
        {"root": "/dev/null/below"},
    ],
)
def test_a_setting_that_cannot_be_is_an_option_error_that_names_it(
    setting: dict[str, Any],
) -> None:
    with pytest.raises(OptionError) as caught:
        Workspaces(**setting)
    assert caught.value.option == next(iter(setting))


def test_the_defaults_are_an_hour_and_256_mib() -> None:
    workspaces = Workspaces()
    assert (workspaces.ttl_seconds, workspaces.max_bytes) == (3600, 256 * 2**20)


# ---------------------------------------------------------------------------- keeping


def test_open_makes_what_is_not_there_and_files_stay(workspaces: Workspaces) -> None:
    first = workspaces.open("s1")
    first.write("notes/today.txt", "hello")
    again = workspaces.open("s1")
    assert again.names() == ["notes/today.txt"]
    assert again.read("notes/today.txt") == b"hello"
    assert workspaces.open("s2").names() == []
    assert workspaces.sessions() == ["s1", "s2"]
    assert (again.id, again.path, os.fspath(again)) == (
        "s1",
        workspaces.root / "s1",
        str(workspaces.root / "s1"),
    )


def test_another_object_on_the_same_root_sees_the_same(workspaces: Workspaces) -> None:
    workspaces.open("s1").write("file", "kept")
    other = Workspaces(workspaces.root)
    assert other.sessions() == ["s1"]
    assert other.open("s1").read("file") == b"kept"
    assert other.delete("s1")
    assert workspaces.sessions() == []


def test_a_workspace_is_a_private_folder_beneath_the_root(workspaces: Workspaces) -> None:
    workspaces.open("s1").write("file", "")
    through = 0o711 if os.geteuid() == 0 else 0o700  # for users of programs, to their own
    assert stat.S_IMODE(workspaces.root.stat().st_mode) == through
    assert stat.S_IMODE((workspaces.root / "s1").stat().st_mode) == 0o700
    for name in (".leases", ".lock"):
        assert stat.S_IMODE((workspaces.root / name).stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((workspaces.root / "s1" / "file").stat().st_mode) == 0o600


def test_a_folder_that_is_not_a_workspace_is_neither_used_nor_removed(
    workspaces: Workspaces,
) -> None:
    """The root may be somebody's home."""
    theirs = workspaces.root / "Documents"
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years of work")
    os.utime(theirs, (0, 0))
    assert workspaces.sessions() == []
    assert workspaces.evict() == []
    assert workspaces.delete("Documents") is False
    with pytest.raises(OptionError, match="already a folder 'Documents'"):
        workspaces.open("Documents")
    with pytest.raises(OptionError, match="already a folder"), workspaces.lease("Documents"):
        pass
    assert (theirs / "thesis.txt").read_text() == "years of work"


def test_a_quota_holds_for_what_the_host_writes(workspaces: Workspaces) -> None:
    workspace = workspaces.open("s1")
    workspace.write("one", b"x" * 60_000)
    with pytest.raises(OSError, match="quota") as caught:
        workspace.write("two", b"x" * 60_000)
    assert caught.value.errno == errno.EDQUOT
    workspaces.open("s2").write("two", b"x" * 60_000)


def test_a_number_is_no_data(workspaces: Workspaces) -> None:
    number: Any = 5
    with pytest.raises(TypeError):
        workspaces.open("s").write("file", number)
    assert workspaces.open("s").names() == []


def test_nothing_that_a_program_left_is_followed(workspaces: Workspaces, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of the host")
    workspace = workspaces.open("s1")
    (workspace.path / "link").symlink_to(tmp_path / "secret")
    (workspace.path / "folder").symlink_to(tmp_path)
    (workspace.path / "up").symlink_to("../.leases")
    assert workspace.names() == []
    for path in ("link", "folder/secret", "up/s1", "../.leases/s1"):
        with pytest.raises(OSError, match="Errno"):
            workspace.read(path)
    workspace.write("link", "replaced")
    with pytest.raises(OSError, match="Errno"):
        workspace.write("folder/new", "x")
    assert workspaces.delete("s1")
    assert (tmp_path / "secret").read_text() == "of the host"
    assert not (tmp_path / "new").exists()


# ---------------------------------------------------------------------------- time to live


def test_a_workspace_that_was_not_used_for_the_time_to_live_goes(workspaces: Workspaces) -> None:
    for name in ("old", "new"):
        workspaces.open(name).write("file", "kept")
    age(workspaces, "old", 101)
    age(workspaces, "new", 90)
    assert workspaces.sessions() == ["new"]
    assert workspaces.evict() == ["old"]
    assert workspaces.evict() == []
    assert workspaces.open("new").read("file") == b"kept"
    assert until(lambda: os.listdir(workspaces.root / ".removed") == [])
    assert not (workspaces.root / "old").exists()


def test_an_expired_workspace_is_never_served(workspaces: Workspaces) -> None:
    for use in (
        lambda: workspaces.open("s1").names(),
        lambda: workspaces.open("s1").read("file"),
        lambda: workspaces.lease("s1").__enter__().directory.names(),
    ):
        workspaces.open("s1").write("file", "from long ago")
        age(workspaces, "s1", 101)
        try:
            assert use() == []
        except FileNotFoundError:
            pass


@pytest.mark.parametrize("use", ["open", "read", "write", "names", "lease"])
def test_the_last_use_of_any_kind_counts(workspaces: Workspaces, use: str) -> None:
    workspace = workspaces.open("s1")
    workspace.write("file", "")
    age(workspaces, "s1", 90)
    if use == "open":
        workspaces.open("s1")
    elif use == "read":
        workspace.read("file")
    elif use == "write":
        workspace.write("other", "")
    elif use == "names":
        workspace.names()
    else:
        with workspace.lease():
            pass
    age(workspaces, "s1", 90)
    assert workspaces.evict() == []


def test_a_workspace_in_use_is_never_evicted_however_long_it_takes(workspaces: Workspaces) -> None:
    with workspaces.lease("s1") as lease:
        lease.directory.write("file", b"at work")
        age(workspaces, "s1", 10_000)
        assert workspaces.evict() == []
        assert Workspaces(workspaces.root, ttl_seconds=1).evict() == []
        assert workspaces.sessions() == ["s1"]
        assert workspaces.open("s1").read("file") == b"at work"
        age(workspaces, "s1", 10_000)
    assert workspaces.evict() == []  # it was used until now
    assert workspaces.open("s1").read("file") == b"at work"


def test_eviction_happens_by_itself(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "root", ttl_seconds=0.2)
    workspaces.open("s1").write("file", "")
    assert until(lambda: not (tmp_path / "root" / "s1").exists())
    assert until(lambda: os.listdir(tmp_path / "root" / ".removed") == [])


def test_a_clock_that_jumps_back_serves_what_is_there(workspaces: Workspaces) -> None:
    workspaces.open("s1").write("file", "kept")
    age(workspaces, "s1", -10_000)
    assert workspaces.evict() == []
    assert workspaces.open("s1").read("file") == b"kept"


# ---------------------------------------------------------------------------- deleting


def test_delete_says_whether_there_was_one(workspaces: Workspaces) -> None:
    workspaces.open("s1").write("file", "")
    assert workspaces.delete("s1") is True
    assert workspaces.delete("s1") is False
    assert workspaces.delete("never") is False
    assert workspaces.sessions() == []
    assert workspaces.open("s1").names() == []


def test_a_deleted_workspace_frees_the_disk(workspaces: Workspaces) -> None:
    workspace = workspaces.open("s1")
    at = workspace.path
    for _ in range(50):
        at = at / "deeper"
        at.mkdir()
        (at / "file").write_text("x")
    workspaces.delete("s1")
    assert not workspace.path.exists()
    assert until(lambda: os.listdir(workspaces.root / ".removed") == [])


def test_a_sweep_waits_until_a_workspace_is_put_away_as_a_whole(
    workspaces: Workspaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspaces.open("s").write("file", "x")
    rename = Directory.rename
    sweeps: list[threading.Thread] = []

    def renamed_while_a_sweep_comes(directory: Directory, old: Any, new: Any) -> None:
        rename(directory, old, new)
        if not sweeps:
            sweeps.append(threading.Thread(target=workspaces.shelf.sweep))
            sweeps[0].start()
            sweeps[0].join(0.2)  # where it does not wait, it is over by then

    monkeypatch.setattr(Directory, "rename", renamed_while_a_sweep_comes)
    assert workspaces.delete("s")
    sweeps[0].join()
    assert workspaces.sessions() == []
    assert os.listdir(workspaces.root / ".leases") == []


def test_permissions_that_a_program_took_away_do_not_keep_its_workspace(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()

    def check(descriptor: int) -> None:
        os.fchdir(descriptor)
        workspaces = Workspaces(f"/proc/self/fd/{descriptor}/root")
        path = workspaces.open("s1").path
        os.mkdir("root/s1/closed")
        os.chmod("root/s1/closed", 0)
        os.chmod("root/s1", 0)
        assert workspaces.open("s1").names() == []
        os.chmod("root/s1", 0)
        assert workspaces.delete("s1")
        workspaces.close()
        assert not path.exists()
        assert os.listdir("root/.removed") == []

    as_nobody(folder, check)


def test_what_a_process_did_not_finish_removing_the_next_one_removes(tmp_path: Path) -> None:
    root = tmp_path / "root"
    removed = root / ".removed"
    (removed / "left").mkdir(parents=True)
    (removed / "left" / "file").touch()
    root.chmod(0o700)
    Workspaces(root).open("s2")
    assert until(lambda: os.listdir(removed) == [])


def test_a_workspace_that_is_made_again_has_another_mark(workspaces: Workspaces) -> None:
    shelf, marks = workspaces.shelf, set()
    for _ in range(20):
        workspaces.open("s1")
        marks.add(shelf.mark_of("s1"))
        workspaces.open("s1").write("file", "a use of it")
        assert shelf.mark_of("s1") in marks
        workspaces.delete("s1")
        shelf.sweep()
        assert shelf.mark_of("s1") == ""
    assert len(marks) == 20
    assert all(re.fullmatch("[0-9a-f]{32}", mark) for mark in marks)


def test_closed_workspaces_stay_on_the_disk_and_say_that_they_are_closed(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "root")
    workspaces.open("s1").write("file", "kept")
    workspaces.close()
    with pytest.raises(RuntimeError, match="closed"):
        workspaces.open("s1")
    assert Workspaces(tmp_path / "root").open("s1").read("file") == b"kept"


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        workspaces = Workspaces(tmp_path / "root")
        with workspaces.lease("s1") as lease:
            lease.directory.write("file", b"")
        workspaces.open("s2").names()
        workspaces.delete("s1")
        workspaces.close()
    assert len(os.listdir("/proc/self/fd")) == before


# ---------------------------------------------------------------------------- private roots


def test_without_a_root_it_is_a_private_directory_that_goes(tmp_path: Path) -> None:
    workspaces = Workspaces()
    other = Workspaces()
    workspaces.open("s1").write("file", "")
    root = workspaces.root
    assert stat.S_IMODE(root.stat().st_mode) & 0o066 == 0
    assert other.root != root
    assert other.sessions() == []
    workspaces.close()
    assert not root.exists()
    other_root = other.root
    del other
    assert until(lambda: not other_root.exists())


PROCESS = """
import os, signal, sys
from sandbox_kernel.sessions import Workspaces
workspaces = Workspaces()
workspaces.open("s1").write("deep/file", "x")
print(workspaces.root, flush=True)
sys.stdin.readline()
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if sys.argv[1] == "forked" and os.fork() == 0:
    sys.exit()
os.wait() if sys.argv[1] == "forked" else None
print(workspaces.sessions())
"""


def first_line(running: subprocess.Popen[str]) -> str:
    assert running.stdout is not None
    return running.stdout.readline().strip()


def process(how: str, temporary: Path) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = {**os.environ, "TMPDIR": str(temporary)}
    return subprocess.Popen([sys.executable, "-c", PROCESS, how], env=environment, **pipes)


def test_a_private_directory_goes_with_its_process_and_not_with_a_fork(tmp_path: Path) -> None:
    running = process("forked", tmp_path)
    output, _ = running.communicate("\n", timeout=60)
    root, sessions = output.splitlines()
    assert sessions == "['s1']"
    assert running.returncode == 0
    assert not Path(root).exists()


def test_a_private_directory_of_a_killed_process_goes_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    living, killed = process("living", tmp_path), process("killed", tmp_path)
    kept, abandoned = Path(first_line(living)), Path(first_line(killed))
    killed.communicate("\n", timeout=60)
    assert killed.returncode == -signal.SIGKILL
    (tmp_path / "sandbox-kernel-workspaces-young").mkdir()
    (tmp_path / "sandbox-kernel-workspaces-link").symlink_to(kept)
    assert abandoned.exists()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    Workspaces().open("s1")
    assert not abandoned.exists()
    assert (kept / "s1" / "deep" / "file").exists()
    assert (tmp_path / "sandbox-kernel-workspaces-young").exists()
    assert "['s1']" in living.communicate("\n", timeout=60)[0]
    assert not kept.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make files of others")
def test_a_directory_of_another_user_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = tmp_path / "sandbox-kernel-workspaces-theirs"
    theirs.mkdir()
    (theirs / ".alive").touch()
    os.chown(theirs, 65534, 65534)
    os.utime(theirs, (0, time.time() - 10_000))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    Workspaces().open("s1")
    assert (theirs / ".alive").exists()
