"""Reading the text files of a folder: bounded, and never out of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox_kernel.folders import Bounds, read_text, read_texts

ROOMY = Bounds(files=100, bytes=10_000, entries=1_000, depth=5)


def bounds(**changed: int) -> Bounds:
    return Bounds(**{**{name: getattr(ROOMY, name) for name in Bounds.__slots__}, **changed})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    (made / "lib").mkdir(parents=True)
    (made / "a.js").write_text("a")
    (made / "lib" / "b.js").write_text("b")
    return made


def test_the_files_of_a_kind_are_found_with_their_paths(folder: Path) -> None:
    (folder / "notes.txt").write_text("not a source")
    assert read_texts(folder, [".js"], ROOMY).texts == {"a.js": "a", "lib/b.js": "b"}


def test_links_out_of_the_folder_are_not_followed(folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.js"
    secret.write_text("secret")
    (folder / "file.js").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    (folder / "inner.js").symlink_to(folder / "a.js")
    assert "secret" not in read_texts(folder, [".js"], ROOMY).texts.values()
    assert set(read_texts(folder, [".js"], ROOMY).texts) == {"a.js", "lib/b.js"}


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.js").write_text("secret")
    scandir = os.scandir

    def swapped(descriptor: int) -> object:
        listed = scandir(descriptor)
        if (folder / "lib").is_dir() and not (folder / "lib").is_symlink():
            (folder / "lib").rename(tmp_path / "moved")
            (folder / "lib").symlink_to(tmp_path / "elsewhere")
        return listed

    (folder / "a.js").unlink()
    monkeypatch.setattr(os, "scandir", swapped)
    assert read_texts(folder, [".js"], ROOMY).texts == {}
    assert (folder / "lib").is_symlink()


def test_a_pipe_or_a_socket_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.js")
    assert set(read_texts(folder, [".js"], ROOMY).texts) == {"a.js", "lib/b.js"}


def test_hidden_files_and_installed_packages_are_left_alone(folder: Path) -> None:
    for name in (".git", "node_modules"):
        (folder / name).mkdir()
        (folder / name / "x.js").write_text("x")
    (folder / ".env.js").write_text("key")
    assert set(read_texts(folder, [".js"], ROOMY).texts) == {"a.js", "lib/b.js"}


def test_names_that_no_import_can_spell_are_left_alone(folder: Path) -> None:
    (folder / "line\nbreak.js").write_text("x")
    (folder / os.fsdecode(b"\xff.js")).write_text("x")
    assert set(read_texts(folder, [".js"], ROOMY).texts) == {"a.js", "lib/b.js"}


@pytest.mark.parametrize(
    ("bound", "says"),
    [
        (bounds(files=1), "it has more than 1 files to read"),
        (bounds(bytes=1), "its files have more than 1 bytes"),
        (bounds(entries=1), "it has more than 1 entries"),
        (bounds(depth=0), "its folders are nested more than 0 deep"),
    ],
    ids=["files", "bytes", "entries", "depth"],
)
def test_each_bound_ends_the_search(folder: Path, bound: Bounds, says: str) -> None:
    found = read_texts(folder, [".js"], bound)
    assert found.exceeded == says
    assert "lib/b.js" not in found.texts


def test_the_nearest_files_are_read_before_a_bound_ends_the_search(folder: Path) -> None:
    (folder / "aaa").mkdir()
    for number in range(50):
        (folder / "aaa" / f"{number}.js").write_text("x")
    (folder / "z.js").write_text("z")
    assert {"a.js", "z.js"} < set(read_texts(folder, [".js"], bounds(files=10)).texts)


def test_a_huge_file_costs_no_more_than_the_bound(folder: Path) -> None:
    with (folder / "huge.js").open("wb") as file:
        file.truncate(2**40)
    found = read_texts(folder, [".js"], ROOMY)
    assert found.exceeded == "its files have more than 10,000 bytes"


def test_no_descriptor_is_left_open(folder: Path) -> None:
    (folder / "link.js").symlink_to("a.js")
    (folder / "loop").symlink_to(folder)
    before = os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd") else []
    for _ in range(20):
        read_texts(folder, [".js"], bounds(bytes=1))
        read_texts(folder, [".js"], ROOMY)
    after = os.listdir("/proc/self/fd") if before else []
    assert len(after) == len(before)


def test_one_file_is_read_within_its_bound(folder: Path) -> None:
    assert read_text(folder / "a.js", 1) == "a"
    (folder / "long.js").write_text("ab")
    with pytest.raises(OSError, match="more than 1 bytes"):
        read_text(folder / "long.js", 1)
    os.mkfifo(folder / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_text(folder / "pipe", 10)
