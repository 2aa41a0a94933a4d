"""A folder that somebody hostile writes into: nothing leads out of it, whatever is in it."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox_kernel.isolation import beneath, resolve
from sandbox_kernel.isolation.beneath import Directory, Quota
from tests.unprivileged import NOBODY, as_nobody

SECRET = b"a secret of the host"


@pytest.fixture(params=["openat2", "part by part"], autouse=True)
def way_to_resolve(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test holds where Linux resolves paths for us, and where it cannot."""
    if request.param == "openat2":
        if not resolve.has_openat2():
            pytest.skip("this system has no openat2")
    else:
        monkeypatch.setattr(resolve, "has_openat2", lambda: False)
    return str(request.param)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_bytes(SECRET)
    return folder


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def directory(root: Path) -> Iterator[Directory]:
    with Directory.at(root) as found:
        yield found


def code_of(call: Callable[..., Any], *args: Any, **options: Any) -> str:
    """The name of the error that the call ends with."""
    with pytest.raises(OSError, match="Errno") as caught:
        call(*args, **options)
    assert caught.value.errno is not None
    return errno.errorcode[caught.value.errno]


# ---------------------------------------------------------------------------- paths


LEADING_OUT = ["..", "../outside/secret.txt", "a/../../outside/secret.txt", "/etc/passwd", "//etc"]


@pytest.mark.parametrize("path", LEADING_OUT)
def test_a_path_that_leads_out_is_refused_by_every_operation(
    directory: Directory, path: str, outside: Path
) -> None:
    calls: list[tuple[Callable[..., Any], Any]] = [
        (directory.open, ()),
        (directory.read, (100,)),
        (directory.stat, ()),
        (directory.names, ()),
        (directory.sub, ()),
        (directory.write, (b"x",)),
        (directory.append, (b"x",)),
        (directory.mkdir, ()),
        (directory.remove, ()),
        (directory.remove_tree, ()),
        (directory.rename, ("inside",)),
    ]
    assert {code_of(call, path, *args) for call, args in calls} == {"EXDEV"}
    directory.write("inside", b"")
    assert code_of(directory.rename, "inside", path) == "EXDEV"
    assert (outside / "secret.txt").read_bytes() == SECRET


@pytest.mark.parametrize("part", [b"..", b".", b"", b"a/b", b"/etc", b"../.."])
def test_a_part_that_is_more_than_a_name_is_refused_where_paths_are_opened(
    directory: Directory, part: bytes
) -> None:
    """Whoever forgets to work out the dots still gets nowhere."""
    for parts in ((part,), (b"a", part), (part, b"a")):
        assert code_of(resolve.open_beneath, directory.fileno(), parts, os.O_RDONLY) == "EXDEV"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text("a./\0é", max_size=12) | st.text(max_size=8))
def test_any_text_is_a_path_beneath_the_folder_or_refused(text: str) -> None:
    try:
        parts = resolve.parts_of(text)
    except (OSError, UnicodeEncodeError):
        return
    assert not {b"", b".", b".."} & set(parts)
    inside = os.path.normpath(os.path.join("/root", *map(os.fsdecode, parts)))
    assert inside == "/root" or inside.startswith("/root/")
    if text and not text.startswith("/"):
        assert inside == os.path.normpath(os.path.join("/root", text))


def test_dots_within_the_folder_mean_what_they_say(directory: Directory) -> None:
    directory.mkdir("a/b", parents=True)
    directory.write("a/./b/../b/file", b"here")
    assert directory.read("./a//b/file", 10) == b"here"
    assert directory.stat("a/b/../..").st_ino == directory.stat().st_ino


def test_a_nul_in_a_path_is_refused(directory: Directory) -> None:
    assert code_of(directory.read, "a\0b", 10) == "EINVAL"


def test_a_path_that_is_too_long_is_refused_and_the_longest_works(directory: Directory) -> None:
    longest = "/".join(["d" * 254] * 15)
    directory.mkdir(longest, parents=True)
    directory.write(longest + "/file", b"deep")
    assert directory.read(longest + "/file", 10) == b"deep"
    assert code_of(directory.read, "d/" * 2048 + "file", 10) == "ENAMETOOLONG"
    assert code_of(directory.read, "n" * 256, 10) == "ENAMETOOLONG"


def test_names_may_be_any_bytes(directory: Directory) -> None:
    directory.write(b"\xff\n\x1b[2J", b"odd")
    (name,) = directory.names()
    assert os.fsencode(name) == b"\xff\n\x1b[2J"
    assert directory.read(name, 10) == b"odd"


# ---------------------------------------------------------------------------- links


def test_a_link_is_never_followed(directory: Directory, root: Path, outside: Path) -> None:
    (root / "file").symlink_to(outside / "secret.txt")
    (root / "folder").symlink_to(outside)
    (root / "magic").symlink_to("/proc/self/root")
    (root / "inward").symlink_to(".")
    for path in ("file", "folder/secret.txt", "magic/etc/passwd", "inward/file"):
        assert code_of(directory.read, path, 100) == "ELOOP"
        assert code_of(directory.append, path, b"x") == "ELOOP"
    for path in ("folder/new", "magic/tmp/new", "inward/new"):
        assert code_of(directory.write, path, b"x") == "ELOOP"
        assert code_of(directory.mkdir, path) == "ELOOP"
    for path in ("folder", "magic", "inward"):
        assert code_of(directory.names, path) == "ELOOP"
        assert code_of(directory.remove_tree, path) == "ELOOP"
    assert sorted(os.listdir(outside)) == ["secret.txt"]
    assert (outside / "secret.txt").read_bytes() == SECRET


def test_a_link_is_replaced_renamed_removed_and_looked_at_as_a_link(
    directory: Directory, root: Path, outside: Path
) -> None:
    (root / "first").symlink_to(outside / "secret.txt")
    assert stat.S_ISLNK(directory.stat("first").st_mode)
    directory.rename("first", "second")
    directory.write("second", b"mine")
    assert directory.read("second", 10) == b"mine"
    (root / "third").symlink_to(outside)
    directory.remove("third")
    assert (outside / "secret.txt").read_bytes() == SECRET


def test_a_dangling_link_is_not_a_way_to_create_a_file(
    directory: Directory, root: Path, outside: Path
) -> None:
    (root / "link").symlink_to(outside / "created")
    assert code_of(directory.append, "link", b"x") == "ELOOP"
    assert code_of(directory.open, "link", os.O_WRONLY | os.O_CREAT) == "ELOOP"
    directory.write("link", b"x")
    assert not (outside / "created").exists()


def swapping(folder: Path, one: Path, two: Path, stop: threading.Event) -> None:
    """Makes `folder` one thing and then the other, as fast as it can."""
    while not stop.is_set():
        for thing in (one, two):
            os.rename(thing, folder)
            os.rename(folder, thing)


@pytest.fixture
def swapped(root: Path, outside: Path) -> Iterator[str]:
    """A name that is a folder at one moment and a link to the outside at the next."""
    (root / "folder").mkdir()
    (root / "folder" / "secret.txt").write_bytes(b"harmless")
    (root / "link").symlink_to(outside)
    stop = threading.Event()
    thread = threading.Thread(
        target=swapping, args=(root / "swapped", root / "folder", root / "link", stop)
    )
    thread.start()
    yield "swapped"
    stop.set()
    thread.join()


def test_a_racing_link_never_gets_a_read_outside(directory: Directory, swapped: str) -> None:
    seen: set[bytes | str] = set()
    for _ in range(100_000):
        try:
            seen.add(directory.read(f"{swapped}/secret.txt", 100))
        except OSError as error:
            seen.add(errno.errorcode[error.errno or 0])
        if {b"harmless", "ELOOP"} <= seen:
            break
    assert SECRET not in seen
    assert {b"harmless", "ELOOP"} <= seen <= {b"harmless", "ELOOP", "ENOENT"}


def test_what_was_a_link_when_it_was_opened_is_told_as_one(
    directory: Directory, root: Path, way_to_resolve: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it is a folder before and after."""
    if way_to_resolve == "openat2":
        pytest.skip("Linux opens it, and tells")
    (root / "here").mkdir()
    really_open = os.open

    def swapped_meanwhile(
        path: Any, flags: int, mode: int = 0, *, dir_fd: int | None = None
    ) -> int:
        if path != b"here":
            return really_open(path, flags, mode, dir_fd=dir_fd)
        (root / "here").rename(root / "aside")
        (root / "here").symlink_to("..")
        try:
            return really_open(path, flags, mode, dir_fd=dir_fd)
        finally:
            (root / "here").unlink()
            (root / "aside").rename(root / "here")

    monkeypatch.setattr(os, "open", swapped_meanwhile)
    assert code_of(directory.read, "here/file", 10) == "ELOOP"


def test_a_racing_link_never_gets_a_write_outside(
    directory: Directory, swapped: str, outside: Path
) -> None:
    seen = set()
    for _ in range(100_000):
        for call in (
            lambda: directory.write(f"{swapped}/new", b"x"),
            lambda: directory.mkdir(f"{swapped}/folder"),
            lambda: directory.append(f"{swapped}/secret.txt", b"x"),
            lambda: directory.remove(f"{swapped}/secret.txt"),
            lambda: directory.rename(f"{swapped}/new", f"{swapped}/newer"),
        ):
            try:
                call()
                seen.add("done")
            except OSError as error:
                seen.add(errno.errorcode[error.errno or 0])
        if {"done", "ELOOP"} <= seen:
            break
    assert {"done", "ELOOP"} <= seen
    assert os.listdir(outside) == ["secret.txt"]
    assert (outside / "secret.txt").read_bytes() == SECRET


def test_a_racing_link_never_gets_a_removal_outside(
    directory: Directory, root: Path, outside: Path, tmp_path: Path
) -> None:
    """The folder is swapped while it is being removed; what it is swapped for stays whole."""
    stop = threading.Event()
    (root / "link").symlink_to(outside)
    (tmp_path / "spare").mkdir()

    def swap() -> None:
        while not stop.is_set():
            try:
                os.rename(root / "tree" / "inner", tmp_path / "spare" / "inner")
                os.rename(root / "link", root / "tree" / "inner")
                os.rename(root / "tree" / "inner", root / "link")
                os.rename(tmp_path / "spare" / "inner", root / "tree" / "inner")
            except OSError:
                if (root / "link").is_dir() and not (root / "link").is_symlink():
                    shutil.rmtree(root / "link")  # it was a folder again when it was moved back
                (root / "link").unlink(missing_ok=True)
                (root / "link").symlink_to(outside)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(100):
            (root / "tree" / "inner").mkdir(parents=True, exist_ok=True)
            for number in range(20):
                try:
                    (root / "tree" / "inner" / f"{number}").write_bytes(b"")
                except OSError:
                    break
            try:
                directory.remove_tree("tree")
            except OSError:
                pass
    finally:
        stop.set()
        thread.join()
    assert (outside / "secret.txt").read_bytes() == SECRET


def test_a_mount_is_not_crossed(directory: Directory) -> None:
    with Directory.at("/") as whole:
        assert code_of(whole.read, "proc/uptime", 100) == "EXDEV"


# ---------------------------------------------------------------------------- what is not a file


def test_pipes_sockets_and_devices_are_refused_without_waiting(
    directory: Directory, root: Path
) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(root)
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        for name in ("pipe", "socket"):
            assert code_of(directory.read, name, 10) == "ENXIO"
            assert code_of(directory.append, name, b"x") == "ENXIO"
    with Directory.at("/dev") as devices:
        assert code_of(devices.read, "zero", 10) == "ENXIO"
    assert code_of(directory.read, "", 10) == "EISDIR"


def test_a_file_of_any_claimed_size_is_read_within_the_bound(
    directory: Directory, root: Path
) -> None:
    with open(root / "holes", "wb") as file:
        file.truncate(2**42)
    assert code_of(directory.read, "holes", 1000) == "EFBIG"
    directory.write("exact", b"x" * 1000)
    assert len(directory.read("exact", 1000)) == 1000
    assert code_of(directory.read, "exact", 999) == "EFBIG"
    with Directory.at("/proc/self") as claims_nothing:
        assert code_of(claims_nothing.read, "maps", 10) == "EFBIG"


# ---------------------------------------------------------------------------- everyday use


def test_files_and_folders_are_made_listed_renamed_and_removed(directory: Directory) -> None:
    directory.write("data/of/today.csv", b"1\n", parents=True)
    directory.append("data/of/today.csv", b"2\n")
    directory.append("log", b"new")
    directory.rename("data/of/today.csv", "data/yesterday.csv")
    assert directory.names() == ["data", "log"]
    assert directory.names("data") == ["of", "yesterday.csv"]
    assert directory.read("data/yesterday.csv", 10) == b"1\n2\n"
    assert directory.stat("log").st_size == 3
    directory.remove("data/of")
    assert code_of(directory.remove, "data") == "ENOTEMPTY"
    directory.remove_tree("data")
    assert directory.names() == ["log"]


def test_errors_have_the_codes_that_programs_know(directory: Directory) -> None:
    directory.write("file", b"")
    directory.mkdir("folder")
    assert code_of(directory.read, "missing", 1) == "ENOENT"
    assert code_of(directory.write, "missing/file", b"") == "ENOENT"
    assert code_of(directory.read, "file/below", 1) == "ENOTDIR"
    assert code_of(directory.names, "file") == "ENOTDIR"
    assert code_of(directory.read, "folder", 1) == "EISDIR"
    assert code_of(directory.write, "folder", b"") == "EISDIR"
    assert code_of(directory.mkdir, "folder") == "EEXIST"
    assert code_of(directory.mkdir, "file/below", parents=True) == "EEXIST"
    assert code_of(directory.mkdir, "") == "EEXIST"
    assert code_of(directory.remove, "") == "EBUSY"
    assert code_of(directory.remove_tree, "file") == "ENOTDIR"


def test_a_written_file_is_private_and_whole_at_once(directory: Directory, root: Path) -> None:
    directory.write("file", b"old")
    held = os.open(root / "file", os.O_RDONLY)
    directory.write("file", b"newer")
    assert os.read(held, 10) == b"old"
    os.close(held)
    assert stat.S_IMODE(directory.stat("file").st_mode) == 0o600
    assert directory.names() == ["file"]


def test_a_write_that_fails_leaves_what_was_there(
    directory: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory.write("file", b"old")

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        assert code_of(directory.write, "file", b"new") == "ENOSPC"
    assert directory.names() == ["file"]
    assert directory.read("file", 10) == b"old"


def test_a_closed_directory_holds_no_descriptor(root: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(100):
        with Directory.at(root) as directory:
            directory.write("a/b/c", b"x", parents=True)
            with directory.sub("a/b") as inner:
                assert inner.names() == ["c"]
            code_of(directory.read, "missing", 1)
            code_of(directory.open, "a")
            list(directory.walk(1))
            directory.remove_tree("a")
    assert len(os.listdir("/proc/self/fd")) == before


# ---------------------------------------------------------------------------- bounds


def test_a_walk_sees_every_entry_once_and_follows_nothing(
    directory: Directory, root: Path, outside: Path
) -> None:
    directory.write("a/b/file", b"x", parents=True)
    (root / "a" / "link").symlink_to(outside)
    os.mkfifo(root / "pipe")
    found = sorted(entry.path for entry in directory.walk(100))
    assert found == [b"a", b"a/b", b"a/b/file", b"a/link", b"pipe"]
    assert sorted(entry.path for entry in directory.walk(100, depth=1)) == [
        b"a",
        b"a/b",
        b"a/link",
        b"pipe",
    ]


def test_a_walk_and_a_list_end_at_their_bounds(directory: Directory) -> None:
    for number in range(50):
        directory.write(f"{number:02}", b"")
    assert len(list(directory.walk(20))) == 20
    assert len(directory.names(most=50)) == 50
    assert code_of(directory.names, most=49) == "EFBIG"


def test_usage_counts_disk_and_not_claims_and_a_file_once(directory: Directory, root: Path) -> None:
    directory.write("file", b"x" * 100_000)
    os.link(root / "file", root / "same")
    with open(root / "holes", "wb") as file:
        file.truncate(2**40)
    used = directory.usage()
    assert used.files == 3
    assert 100_000 <= used.bytes < 150_000


def test_a_quota_holds_for_bytes_and_for_entries(root: Path) -> None:
    with Directory.at(root, quota=Quota(bytes=200_000, files=3)) as directory:
        directory.write("one", b"x" * 100_000)
        assert code_of(directory.write, "two", b"x" * 110_000) == "EDQUOT"
        assert code_of(directory.append, "one", b"x" * 110_000) == "EDQUOT"
        directory.write("one", b"x" * 150_000)
        directory.mkdir("two")
        directory.write("three", b"")
        for call in (directory.write, directory.append):
            assert code_of(call, "four", b"") == "EDQUOT"
        assert code_of(directory.mkdir, "four") == "EDQUOT"
        directory.remove("two")
        directory.mkdir("four")


def test_a_deep_path_is_made_whole_or_not_at_all_and_room_looked_for_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking means to walk through everything: once for each folder would take minutes."""
    looks: list[int] = []
    usage = Directory.usage
    monkeypatch.setattr(Directory, "usage", lambda self: looks.append(1) or usage(self))
    with Directory.at(root, quota=Quota(bytes=2**30, files=500)) as directory:
        directory.mkdir("/".join("a" * 400), parents=True)
        assert len(looks) == 1
        directory.mkdir("/".join("a" * 400), parents=True)  # nothing is missing
        assert len(looks) == 1
        assert code_of(directory.mkdir, "/".join("b" * 101), parents=True) == "EDQUOT"
        assert directory.names() == ["a"]
        directory.mkdir("/".join("b" * 100), parents=True)


# ---------------------------------------------------------------------------- removal


def nest(folder: Path, levels: int, names: Sequence[str] = ("d",)) -> None:
    """Folders in each other, each with a file and, if there are more names, folders beside it."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        for name in names:
            os.mkdir(name, dir_fd=at)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at))
        below = os.open(max(names), os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A folder on a fast file system, for trees that take a disk seconds."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as made:
        yield Path(made)
        with Directory.at(made) as directory:
            directory.empty()  # Python, recursing, could not


def test_three_thousand_nested_folders_are_walked_within_bounds_and_removed(
    in_memory: Path,
) -> None:
    nest(in_memory, 3000)
    with Directory.at(in_memory) as directory:
        assert sum(1 for _ in directory.walk(100_000, depth=32)) == 2 * 33
        directory.empty()
    assert os.listdir(in_memory) == []


class Effort:
    """What a walk takes: names that Linux looks up, and descriptors held at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names = self.held = 0
        self._before = len(os.listdir("/proc/self/fd"))

        def counted(folder: int, parts: Sequence[bytes], flags: int, mode: int = 0) -> int:
            self.names += max(1, len(parts))
            self.held = max(self.held, len(os.listdir("/proc/self/fd")) - self._before)
            return resolve.open_beneath(folder, parts, flags, mode)

        monkeypatch.setattr(beneath, "open_beneath", counted)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="takes Linux")
@pytest.mark.parametrize("names", ["d", "db", "bd"])  # found after or before the way down
def test_a_walk_is_as_deep_as_the_folders_and_takes_each_a_few_steps(
    in_memory: Path, names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels = 2500
    nest(in_memory, levels, names)
    effort = Effort(monkeypatch)
    with Directory.at(in_memory) as directory:
        seen = sum(1 for _ in directory.walk(100_000))
        assert seen == levels * (len(names) + 1)
    assert effort.names < 20 * levels
    assert effort.held < 40


@pytest.mark.skipif(os.getuid() != 0, reason="takes root")
def test_what_no_path_leads_to_is_given_away_too(in_memory: Path) -> None:
    nest(in_memory, 40, ["d" * 250])
    with Directory.at(in_memory) as directory:
        directory.give_to(NOBODY)
        assert [entry.stat.st_uid for entry in directory.walk(1000)] == [NOBODY] * 80


def test_wide_and_bushy_trees_are_removed(in_memory: Path) -> None:
    for one in range(12):
        for two in range(12):
            (in_memory / f"{one}" / f"{two}" / "empty").mkdir(parents=True)
            (in_memory / f"{one}" / f"{two}" / "link").symlink_to("..")
    for number in range(10_500):
        os.close(os.open(in_memory / "0" / f"f{number}", os.O_CREAT | os.O_WRONLY))
    with Directory.at(in_memory) as directory:
        directory.empty()
    assert os.listdir(in_memory) == []


def test_permissions_taken_away_do_not_keep_anything(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()

    def check(descriptor: int) -> None:
        os.fchdir(descriptor)
        os.makedirs("a/b/c")
        with open("a/b/file", "w") as file:
            file.write("mine")
        for path, mode in (("a/b/file", 0), ("a/b/c", 0), ("a/b", 0o400), ("a", 0o100), (".", 0)):
            os.chmod(path, mode)
        with Directory(os.dup(descriptor)) as strict:
            for call in (lambda: strict.read("a/b/file", 10), lambda: strict.write("new", b"")):
                assert code_of(call) == "EACCES"
            assert code_of(strict.names, "a") == "EACCES"
        os.fchmod(descriptor, 0)
        with Directory(os.dup(descriptor), is_ours=True) as ours:
            assert ours.read("a/b/file", 10) == b"mine"
            assert {entry.path for entry in ours.walk(100)} == {b"a", b"a/b", b"a/b/c", b"a/b/file"}
            os.chmod("a/b/c", 0)
            os.chmod("a/b", 0o100)
            os.chmod("a", 0)
            os.fchmod(descriptor, 0)
            ours.empty()
            assert ours.names() == []

    as_nobody(folder, check)


def test_permissions_are_never_changed_through_a_link(tmp_path: Path) -> None:
    folder, victim = tmp_path / "theirs", tmp_path / "victim"
    folder.mkdir()
    victim.mkdir(mode=0o500)
    (folder / "link").symlink_to(victim)

    def check(descriptor: int) -> None:
        with Directory(os.dup(descriptor), is_ours=True) as ours:
            assert code_of(ours.names, "link") == "ELOOP"
            ours.empty()

    as_nobody(folder, check)
    assert stat.S_IMODE(victim.stat().st_mode) == 0o500


def test_what_cannot_be_removed_is_told_and_the_rest_is_gone(
    directory: Directory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "stuck", "three"):
        directory.write(name, b"")
    real = os.unlink

    def unlink(path: Any, *, dir_fd: int | None = None) -> None:
        if path == "stuck":
            raise PermissionError(errno.EPERM, "immutable")
        real(path, dir_fd=dir_fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", unlink)
        assert code_of(directory.empty) == "EPERM"
    assert os.listdir(root) == ["stuck"]
