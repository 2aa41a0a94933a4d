"""Input files of a program: their names, their content, and what is in their way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import OptionError
from sandbox_kernel.isolation.beneath import Directory, Quota
from sandbox_kernel.programs.inputs import checked_inputs, write_inputs

QUOTA = Quota(bytes=1000, files=10)


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Directory]:
    (tmp_path / "box").mkdir()
    with Directory.at(tmp_path / "box", is_ours=True) as found:
        yield found


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is empty"),
        (".", "names a folder"),
        ("..", "names a folder"),
        ("a/b.txt", "contains a path separator; a name is a plain file name, such as 'b.txt'"),
        ("../b.txt", "contains a path separator"),
        ("folder/", "contains a path separator"),
        ("a\\b.txt", "contains a path separator"),
        ("/etc/passwd", "is an absolute path; a name is a plain file name, such as 'passwd'"),
        ("/", "is an absolute path"),
        ("a\0b", "contains a NUL"),
        ("x" * 256, "is 256 bytes long; a name has at most 255"),
        ("é" * 128, "is 256 bytes long"),
        ("\ud800", "cannot be written as UTF-8"),
        (7, "7 is not text but int"),
        (b"data.csv", "is not text but bytes"),
    ],
)
def test_a_name_that_is_not_plain_is_an_option_error_that_says_which_and_why(
    name: Any, why: str
) -> None:
    with pytest.raises(OptionError, match=r"^files: ") as caught:
        checked_inputs({"fine.txt": "", name: "x"}, QUOTA)
    assert why in str(caught.value)
    assert caught.value.option == "files"
    assert len(str(caught.value)) < 2_000
    if isinstance(name, str) and name.isprintable() and len(name) < 100:
        assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    "name", ["data.csv", ".hidden", "...", "a b", "é" * 127, "-rf", "~", "x\n"]
)
def test_a_plain_name_is_taken_as_it_is(directory: Directory, name: str) -> None:
    write_inputs(directory, checked_inputs({name: "content"}, QUOTA), None)
    assert directory.names() == [name]
    assert directory.read(name, 100) == b"content"


def test_content_is_text_or_bytes() -> None:
    files = {"a": "é", "b": b"\xff", "c": bytearray(b"x"), "d": memoryview(b"y")}
    assert checked_inputs(files, QUOTA) == {"a": b"\xc3\xa9", "b": b"\xff", "c": b"x", "d": b"y"}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (7, "'a.txt' must be text or bytes, not int"),
        (None, "not NoneType"),
        (Path("a.txt"), "read it first: .read_bytes()"),
        ("ab\ud800", "'a.txt' has a lone surrogate at character 2"),
    ],
)
def test_other_content_is_an_option_error(content: Any, why: str) -> None:
    with pytest.raises(OptionError) as caught:
        checked_inputs({"a.txt": content}, QUOTA)
    assert why in str(caught.value)


def test_files_are_a_mapping_within_the_quota() -> None:
    with pytest.raises(OptionError, match="must be a mapping of names to text or bytes, not list"):
        checked_inputs([("a", "b")], QUOTA)
    with pytest.raises(OptionError, match="has 11 files; a program may have 10"):
        checked_inputs({str(number): "" for number in range(11)}, QUOTA)
    with pytest.raises(OptionError, match="has 1002 bytes in all; a program may have 1000 bytes"):
        checked_inputs({"a": "x" * 501, "b": "x" * 501}, QUOTA)


def test_what_an_earlier_program_left_under_a_name_is_replaced_and_never_followed(
    directory: Directory, tmp_path: Path
) -> None:
    victim, box = tmp_path / "victim", tmp_path / "box"
    victim.write_text("untouched")
    (box / "link").symlink_to(victim)
    (box / "dangling").symlink_to(tmp_path / "created")
    os.link(victim, box / "hard")
    os.mkfifo(box / "pipe")
    (box / "folder" / "in").mkdir(parents=True)
    (box / "to-folder").symlink_to(tmp_path)
    names = ["link", "dangling", "hard", "pipe", "folder", "to-folder"]
    write_inputs(directory, dict.fromkeys(names, b"input"), None)
    assert directory.names() == sorted(names)
    assert {directory.read(name, 100) for name in names} == {b"input"}
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "created").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_file_belongs_to_the_user_of_the_program(directory: Directory) -> None:
    write_inputs(directory, {"mine": b""}, 65534)
    assert directory.stat("mine").st_uid == 65534
    assert directory.stat("mine").st_mode & 0o777 == 0o600
