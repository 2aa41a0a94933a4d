"""Relative imports of a file are read from beneath its folder, and from nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.command import command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    (made / "lib").mkdir(parents=True)
    (made / "lib" / "add.ts").write_text(
        "import { zero } from '../zero.js'; export const add = (a: number, b: number) => a + b + zero"
    )
    (made / "zero.js").write_text("export const zero = 0")
    (tmp_path / "secret.ts").write_text("export default 'secret'")
    return made


def outcome(folder: Path, source: str) -> str:
    """What running `main.ts` prints, wherever it does; started from another folder."""
    (folder / "main.ts").write_text(source)
    done = command("run", str(folder / "main.ts"))
    return done.stdout + done.stderr


def test_a_file_imports_what_lies_beside_and_beneath_it(folder: Path) -> None:
    source = "import { add } from './lib/add.ts'; const late = await import('./zero.js'); [add(1, 2), late.zero]"
    assert outcome(folder, source) == "[ 3, 0 ]\n"


def test_a_file_named_by_a_link_imports_from_the_folder_it_lies_in(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "main.ts").write_text("import { zero } from './zero.js'; zero")
    (tmp_path / "link.ts").symlink_to(folder / "main.ts")
    assert command("run", str(tmp_path / "link.ts")).stdout == "0\n"


FORBIDDEN = [
    "../secret.ts",
    "./../secret.ts",
    "./lib/../../secret.ts",
    "./link.ts",
    "./up/secret.ts",
    "./.hidden.ts",
    "./node_modules/x.js",
    "./pipe.ts",
    "./data.json",
    "file:///etc/passwd",
    "/etc/passwd",
]


def test_nothing_else_can_be_imported(folder: Path, tmp_path: Path) -> None:
    (folder / "link.ts").symlink_to(tmp_path / "secret.ts")
    (folder / "up").symlink_to(tmp_path)
    (folder / ".hidden.ts").write_text("export default 'secret'")
    (folder / "data.json").write_text('"secret"')
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "x.js").write_text("export default 'secret'")
    os.mkfifo(folder / "pipe.ts")
    source = (
        "const tried = (path) => import(path).then((got) => got.default, (error) => error.name);"
    )
    said = outcome(folder, f"{source} (await Promise.all({FORBIDDEN}.map(tried))).join()")
    assert said == ",".join(["LinkError"] * len(FORBIDDEN)) + "\n"
    said = outcome(folder, "import x from '../secret.ts'; x")
    assert said.startswith("LinkError: cannot import '../secret.ts': it leads out")


def test_a_folder_with_too_much_in_it_still_runs_a_file(folder: Path) -> None:
    for number in range(1_200):
        (folder / "lib" / f"{number}.ts").touch()
    assert outcome(folder, "import { zero } from './zero.js'; zero") == "0\n"
    with (folder / "lib" / "huge.ts").open("wb") as file:
        file.truncate(2**40)
    said = outcome(folder, "import './lib/zzz.ts'")
    assert "cannot import './lib/zzz.ts'" in said
    assert "note: not all of the folder can be imported: it has more than 1,000 files" in said


def test_a_folder_with_twenty_thousand_entries_still_runs_a_file(folder: Path) -> None:
    crowd = folder / "crowd"
    crowd.mkdir()
    (crowd / "0").touch()
    for number in range(1, 20_000):
        os.link(crowd / "0", crowd / str(number))
    assert outcome(folder, "import { zero } from './zero.js'; zero") == "0\n"
    assert "it has more than 10,000 entries" in outcome(folder, "import './nowhere.ts'")


def test_stdin_has_no_folder(folder: Path) -> None:
    done = command("run", "-", stdin="import './zero.js'", folder=folder)
    assert "cannot import './zero.js'" in done.stderr
