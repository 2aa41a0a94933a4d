"""Output files: what a hostile program leaves behind is collected within bounds, and never followed."""

from __future__ import annotations

import base64
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox_kernel.isolation.beneath import Directory
from sandbox_kernel.programs import outputs
from sandbox_kernel.programs.outputs import OutputFile, collect, declared, snapshot
from tests.unprivileged import as_nobody

MIB = 2**20


@pytest.fixture
def box() -> Iterator[Path]:
    """In memory, because some tests make thousands of files."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as made:
        folder = Path(made) / "box"
        folder.mkdir()
        yield folder


@pytest.fixture
def directory(box: Path) -> Iterator[Directory]:
    with Directory.at(box, is_ours=True) as found:
        yield found


def names(found: list[OutputFile]) -> list[str]:
    return [output.name for output in found]


# ---------------------------------------------------------------------------- what comes back


def test_written_and_changed_files_come_back_sorted_by_path(
    directory: Directory, box: Path
) -> None:
    for name in ("same", "grown", "replaced", "removed", "rewritten", "moved"):
        directory.write(name, b"before")
    before = snapshot(directory)
    (box / "sub" / "folder").mkdir(parents=True)
    (box / "sub" / "folder" / "deep.txt").write_text("deep")
    (box / "b.txt").write_text("new")
    (box / "a.txt").write_text("")
    with open(box / "grown", "a") as file:
        file.write(" and after")
    with open(box / "rewritten", "r+") as file:
        file.write("AFTER!")
    (box / "other").write_text("before")
    os.replace(box / "other", box / "replaced")
    (box / "removed").unlink()
    os.rename(box / "moved", box / "z-moved")
    found = collect(directory, before, MIB)
    assert [(each.name, each.size, each.truncated, each.data) for each in found] == [
        ("a.txt", 0, False, b""),
        ("b.txt", 3, False, b"new"),
        ("grown", 16, False, b"before and after"),
        ("replaced", 6, False, b"before"),
        ("rewritten", 6, False, b"AFTER!"),
        ("sub/folder/deep.txt", 4, False, b"deep"),
        ("z-moved", 6, False, b"before"),
    ]


def test_a_change_right_after_the_snapshot_is_seen(directory: Directory, box: Path) -> None:
    """Dates have ticks of some milliseconds; a file of the same size changes within one."""
    for _ in range(50):
        directory.write("data", b"1")
        before = snapshot(directory)
        descriptor = os.open(box / "data", os.O_WRONLY)
        os.write(descriptor, b"2")
        os.close(descriptor)
        assert names(collect(directory, before, MIB)) == ["data"]


def test_what_was_only_read_does_not_come_back(directory: Directory, box: Path) -> None:
    directory.write("data", b"1")
    before = snapshot(directory)
    assert (box / "data").read_bytes() == b"1"
    assert collect(directory, before, MIB) == []


def test_a_file_over_the_size_keeps_its_name_and_size(directory: Directory, box: Path) -> None:
    (box / "exact").write_bytes(b"x" * 100)
    (box / "over").write_bytes(b"x" * 101)
    exact, over = collect(directory, {}, 100)
    assert (exact.size, exact.truncated, exact.data) == (100, False, b"x" * 100)
    assert (over.size, over.truncated, over.data) == (101, True, None)


def test_hidden_files_are_not_told(directory: Directory, box: Path) -> None:
    (box / "program.js").write_text("")
    (box / "out.txt").write_text("")
    assert names(collect(directory, {}, MIB, hidden={"program.js"})) == ["out.txt"]


def test_an_output_as_json_and_as_text() -> None:
    output = OutputFile("plots/chart.png", 3, False, b"\x89PN")
    assert output.to_json() == {"name": "plots/chart.png", "size": 3, "truncated": False}
    assert output.to_json(with_data=True) == {
        "name": "plots/chart.png",
        "size": 3,
        "truncated": False,
        "mime": "image/png",
        "data": base64.b64encode(b"\x89PN").decode(),
    }
    assert OutputFile("x", 9, True, None).to_json(with_data=True)["data"] is None
    assert len(repr(OutputFile("x", 10 * MIB, False, b"x" * 10 * MIB))) < 10_000


# ---------------------------------------------------------------------------- attacks


def test_links_pipes_sockets_and_folders_are_left_out(
    directory: Directory, box: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("of the host")
    (box / "link").symlink_to(tmp_path / "secret")
    (box / "folder").symlink_to(tmp_path)
    (box / "loop").symlink_to("loop")
    (box / "magic").symlink_to("/proc/self/environ")
    os.mkfifo(box / "pipe")
    (box / "empty").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"/proc/self/fd/{directory.fileno()}/socket")
        (box / "real").write_text("mine")
        assert names(collect(directory, {}, MIB)) == ["real"]


def test_a_sparse_file_is_as_large_as_it_says_and_costs_nothing(
    directory: Directory, box: Path
) -> None:
    for name, size in (("huge", 2**43), ("small", 1000)):
        with open(box / name, "wb") as file:
            file.truncate(size)
    huge, small = collect(directory, {}, MIB)
    assert (huge.size, huge.truncated, huge.data) == (2**43, True, None)
    assert (small.size, small.data) == (1000, bytes(1000))


def test_names_of_any_bytes_are_spelled_as_text(directory: Directory, box: Path) -> None:
    for name in (b"\xff\xfe.txt", b"new\nline", b"\x1b[2J", "é.txt".encode(), b"..."):
        with open(os.path.join(os.fsencode(box), name), "wb") as file:
            file.write(b"x")
    found = names(collect(directory, {}, MIB))
    assert found == sorted([r"\xff\xfe.txt", "new\nline", "\x1b[2J", "é.txt", "..."])
    assert all(name.encode() for name in found)


def test_at_most_a_thousand_files_come_with_data_and_the_rest_by_name(
    directory: Directory, box: Path
) -> None:
    for number in range(1100):
        (box / f"{number:05}").write_bytes(b"x")
    found = collect(directory, {}, MIB)
    assert names(found) == [f"{number:05}" for number in range(1100)]
    assert [each.data is not None for each in found] == [True] * 1000 + [False] * 100
    assert all(each.truncated for each in found[1000:])


def test_at_most_64_mib_come_back_in_all(directory: Directory, box: Path) -> None:
    for number in range(9):
        with open(box / f"{number}", "wb") as file:
            file.truncate(9 * MIB)
    (box / "z").write_text("small")
    found = collect(directory, {}, 10 * MIB)
    assert [each.name for each in found if each.data is None] == ["7", "8"]
    assert found[-1].data == b"small"


def test_files_deeper_than_32_folders_are_named_only(directory: Directory, box: Path) -> None:
    for depth in (32, 33):
        folder = box.joinpath(f"at{depth}", *["d"] * (depth - 1))
        folder.mkdir(parents=True)
        (folder / "file").write_text("deep")
    at32, at33 = collect(directory, {}, MIB)
    assert (at32.data, at33.data, at33.size, at33.truncated) == (b"deep", None, 4, True)
    assert at32.name.count("/") == 32


def test_files_that_no_path_leads_to_are_left_out(directory: Directory, box: Path) -> None:
    at = os.open(box, os.O_RDONLY)
    for number in range(20):
        os.close(os.open(f"{number}", os.O_CREAT | os.O_WRONLY, dir_fd=at))
        os.mkdir("d" * 250, dir_fd=at)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    assert len(snapshot(directory)) == len(collect(directory, {}, MIB)) == 17
    directory.empty()


def test_nesting_and_number_of_entries_are_bounded(
    directory: Directory, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = os.open(box, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=at)
        os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=at))
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    found = collect(directory, {}, MIB)
    assert 33 <= len(found) <= 300
    assert len(snapshot(directory)) <= 300
    monkeypatch.setattr(outputs, "_MOST_ENTRIES", 50)
    assert len(collect(directory, {}, MIB)) <= 50
    monkeypatch.setattr(outputs, "_MOST_NAMED", 20)
    assert len(collect(directory, {}, MIB)) <= 20
    directory.empty()  # which pytest, recursing, could not


def test_files_that_nobody_may_read_come_back_if_the_folder_is_ours(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()

    def check(descriptor: int) -> None:
        os.fchdir(descriptor)
        os.makedirs("closed/inner")
        for path in ("closed/inner/file", "none"):
            with open(path, "w") as file:
                file.write("mine")
            os.chmod(path, 0)
        os.chmod("closed/inner", 0)
        os.chmod("closed", 0o400)
        os.chmod(".", 0)
        with Directory(os.dup(descriptor), is_ours=True) as ours:
            found = collect(ours, {}, MIB)
            assert [(each.name, each.data) for each in found] == [
                ("closed/inner/file", b"mine"),
                ("none", b"mine"),
            ]

    as_nobody(folder, check)


def test_what_changes_while_it_is_collected_is_never_followed_or_unbounded(
    directory: Directory, box: Path, tmp_path: Path
) -> None:
    """Nothing runs any more when files are collected; should something, it still wins nothing."""
    (tmp_path / "secret").write_text("of the host")
    stop = threading.Event()

    def torment() -> None:
        while not stop.is_set():
            (box / "file").write_bytes(b"x" * 50)
            (box / "file").write_bytes(b"x" * 5000)
            (box / "file").unlink()
            (box / "file").symlink_to(tmp_path / "secret")
            (box / "file").unlink()
            os.mkfifo(box / "file")
            (box / "file").unlink()

    thread = threading.Thread(target=torment)
    thread.start()
    seen = set()
    try:
        for _ in range(20_000):
            for each in collect(directory, {}, 1000):
                seen.add(each.truncated)
                assert each.data is None or (each.data == b"x" * each.size and each.size <= 1000)
            if len(seen) == 2:
                break
    finally:
        stop.set()
        thread.join()
    assert seen


# ---------------------------------------------------------------------------- declared files


def test_declared_files_come_back_and_what_is_wrong_is_named(
    directory: Directory, box: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("of the host")
    (box / "plots").mkdir()
    (box / "plots" / "chart.png").write_bytes(b"png")
    (box / "large").write_bytes(b"x" * 200)
    (box / "link").symlink_to(tmp_path / "secret")
    (box / "out").symlink_to(tmp_path)
    os.mkfifo(box / "pipe")
    wanted = [
        "./plots/chart.png",
        "plots/chart.png",
        "large",
        "missing.csv",
        "../secret",
        str(tmp_path / "secret"),
        "link",
        "out/secret",
        "plots",
        "pipe",
        "",
        "nul\0",
        "\ud800",
        7,
        "n" * 1_000_000,
    ]
    found, problems = declared(directory, wanted, 100)
    assert [(each.name, each.size, each.truncated, each.data) for each in found] == [
        ("plots/chart.png", 3, False, b"png"),
        ("large", 200, True, None),
    ]
    assert problems[:2] == [
        "missing.csv: there is no such file",
        "../secret: leads out of the program's directory",
    ]
    assert problems[3:7] == [
        "link: is a link, or behind one",
        "out/secret: is a link, or behind one",
        "plots: is a folder",
        "pipe: is not a regular file",
    ]
    assert len(problems) == 12
    assert max(map(len, problems)) < 300


def test_a_flood_of_declared_names_is_cut(directory: Directory) -> None:
    found, problems = declared(directory, (f"{number}" for number in range(10**9)), 100)
    assert found == []
    assert len(problems) == 1000
