"""Tracebacks: the line, a caret under the exact column, user frames, hints."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel.clean import is_clean
from sandbox_kernel.contract import CodeExecutionError, CodeExecutionResult, Status
from sandbox_kernel.explain.scene import Scene
from sandbox_kernel.notebook.show.traceback import traceback_of

SCENE = Scene(
    "cell-1.ts",
    "const a = 1\n\tconst 日本 = foo(a)\n" + "x" * 200 + "HERE" + "y" * 100,
    modules={"./m.ts": "export const x = 1\nthrow x"},
    imports={"fs": {"readFile": print, "ROOT": "/"}},
    globals={"rows": []},
    face="kernel",
)


def told(status: Status = "error", scene: Scene = SCENE, **error: Any) -> list[str]:
    result = CodeExecutionResult(status, error=CodeExecutionError(**error))
    return traceback_of(result, scene).lines


def caret_points_at(lines: list[str]) -> str:
    at = next(i for i, line in enumerate(lines) if line.strip().endswith("^"))
    return lines[at - 1][lines[at].index("^") :]


def test_the_caret_stands_under_the_column() -> None:
    lines = told(name="E", message="m", line=1, column=7, filename="cell-1.ts")
    assert lines[0] == "E: m"
    assert "  cell-1.ts:1:7" in lines
    assert caret_points_at(lines) == "a = 1"


def test_the_caret_minds_tabs_and_wide_characters() -> None:
    lines = told(name="E", message="m", line=2, column=13, filename="cell-1.ts")
    text, caret = lines[-2:]
    assert text.split("| ")[1] == "    const 日本 = foo(a)"
    assert caret.split("| ")[1] == " " * (4 + 6 + 4 + 3) + "^"


def test_a_long_line_is_cut_around_the_caret() -> None:
    lines = told(name="E", message="m", line=3, column=201, filename="cell-1.ts")
    assert caret_points_at(lines).startswith("HERE")
    assert max(map(len, lines)) < 120


def test_as_much_of_a_line_is_shown_as_fits() -> None:
    scene = Scene("cell-1.ts", "begin" + "-" * 88 + "end")
    lines = told(scene=scene, name="E", message="m", line=1, column=94, filename="cell-1.ts")
    assert caret_points_at(lines) == "end"
    assert len(lines[-2].split("| ")[1]) > 90


def test_a_position_outside_the_text_shows_no_line() -> None:
    assert told(name="E", message="m", line=99, column=1)[-1] == "  cell-1.ts:99:1"


def test_only_frames_in_user_code_are_shown() -> None:
    stack = (
        "    at inner (cell-1.ts:1:7)\n    at map (native)\n    at helper (m.ts:2:1)\n"
        "    at internals (bootstrap.js:5:5)\n    at cell-1.ts:2:1\n"
    )
    lines = told(name="E", message="m", line=1, column=7, filename="cell-1.ts", stack=stack)
    assert [line.strip() for line in lines if line.strip().startswith("at ")] == [
        "at inner (cell-1.ts:1:7)",
        "at helper (m.ts:2:1)",
        "at cell-1.ts:2:1",
    ]


def test_an_error_in_a_module_quotes_the_module() -> None:
    lines = told(name="E", message="m", line=2, column=7, filename="./m.ts")
    assert caret_points_at(lines) == "x"


def test_very_many_frames_are_counted() -> None:
    stack = "\n".join("    at f (cell-1.ts:1:1)" for _ in range(100))
    assert told(name="E", message="m", stack=stack)[-1] == "  ... 88 more frames"


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        ({"message": "no module 'fz'", "specifier": "fz"}, "what can be imported: 'fs', './m.ts'"),
        (
            {"message": "no module './n.ts' was given", "specifier": "./n.ts"},
            "did you mean './m.ts'?",
        ),
        ({"message": "no export 'readfile'", "specifier": "fs"}, "did you mean 'readFile'?"),
    ],
)
def test_link_errors_say_what_can_be_imported(error: dict[str, Any], hint: str) -> None:
    assert hint in "\n".join(told("link_error", name="SyntaxError", **error))


def test_a_missing_export_of_a_module_names_those_there_are() -> None:
    modules = {"./m.ts": "export const subtract = 1; export function add() {}"}
    error = {"message": "module './m.ts' has no export 'subtrackt'", "specifier": "./m.ts"}
    lines = told("link_error", Scene("cell-1.ts", "", modules), name="LinkError", **error)
    assert lines[-1] == "hint: did you mean 'subtract'? './m.ts' exports subtract, add"


def test_a_link_error_names_its_specifier() -> None:
    lines = told("link_error", name="SyntaxError", message="cannot link", specifier="fz")
    assert "  specifier: 'fz'" in lines


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("'setTimeout' is not defined", "--lend timers on %%runcode or %defaults"),
        ("fetch is not defined", "--lend fetch=HOST on %%runcode or %defaults"),
        ("require is not defined", "write import"),
        ("process is not defined", "the sandbox has no process"),
        ("readFile is not defined", "import { readFile } from 'fs'"),
        ("fs is not defined", "import * as fs from 'fs'"),
        ("row is not defined", "did you mean rows?"),
    ],
)
def test_missing_names_get_a_hint(message: str, hint: str) -> None:
    lines = told(name="ReferenceError", message=message)
    assert hint in " ".join(map(str.strip, lines))


@pytest.mark.parametrize("face", ["kernel", "magic"])
def test_hints_fit_a_page_and_lend_no_whole_network(face: Any) -> None:
    many = {f"./some/module-{at}.ts": "" for at in range(20)}
    scene = Scene("cell-1.ts", "", modules=many, face=face)
    fetch = told(scene=scene, name="ReferenceError", message="fetch is not defined")
    link = told("link_error", scene, name="LinkError", message="m", specifier="x")
    assert max(map(len, [*fetch, *link])) <= 96
    assert any("--lend fetch=HOST" in line for line in fetch)


def test_the_magics_hint_speaks_of_options() -> None:
    scene = Scene("f", "", face="magic")
    lines = told(scene=scene, name="ReferenceError", message="setTimeout is not defined")
    assert "--lend timers on %%runcode" in " ".join(map(str.strip, lines))


def test_memory_says_how_to_get_more() -> None:
    assert "--memory" in told("memory", name="MemoryError", message="limit")[-1]


def test_a_terminated_run_is_named_so_with_its_reason() -> None:
    result = CodeExecutionResult("terminated", error=CodeExecutionError("Whatever", "2s budget"))
    traceback = traceback_of(result, SCENE)
    assert (traceback.name, traceback.message) == ("terminated", "2s budget")
    assert traceback.lines == ["terminated: 2s budget"]


def test_nothing_hostile_gets_through_a_traceback() -> None:
    evil = "\x1b[2J\u202e\x07"
    scene = Scene(f"f{evil}.ts", f"let {evil} = 1", imports={evil: {evil: 1}})
    lines = told(
        "link_error", scene, name=evil, message=evil, specifier=evil, line=1, column=5,
        filename=f"f{evil}.ts", stack=f"    at {evil} (f{evil}.ts:1:1)\n    at b (f{evil}.ts:1:2)",
    )  # fmt: skip
    assert all(is_clean(line) for line in lines)


def test_a_huge_message_is_cut() -> None:
    assert len(told(name="E", message="x" * 100_000)[0]) < 5000
