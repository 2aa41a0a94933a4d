"""Errors: name, message, source line with a caret, frames in user code, specifiers, hints."""

from __future__ import annotations

import pytest

from sandbox_kernel.width import display_width
from tests.clients import Client, Done


def pointed_at(done: Done) -> str:
    """The source from the caret on."""
    lines = done.traceback.split("\n")
    at = next(i for i, line in enumerate(lines) if line.strip().endswith("^"))
    column = lines[at].index("^")
    starts = (i for i in range(len(lines[at - 1])) if display_width(lines[at - 1][:i]) == column)
    return lines[at - 1][next(starts) :]


@pytest.mark.parametrize(
    ("code", "name", "caret"),
    [
        ("const a = 1\n  nope(a)", "ReferenceError", "nope(a)"),
        ("const o: any = null\no.x", "TypeError", "o.x"),
        ("let x = 1;\nlet y = = 2", "SyntaxError", "= 2"),
        ("throw new TypeError('mine')", "TypeError", "TypeError('mine')"),
        ("const text: string = 'é日本'; nope", "ReferenceError", "nope"),
    ],
)
def test_the_caret_stands_at_the_exact_column(
    kernel: Client, code: str, name: str, caret: str
) -> None:
    done = kernel.run(code)
    assert done.content["ename"] == name
    assert pointed_at(done) == caret


def test_frames_are_those_of_user_code(kernel: Client) -> None:
    done = kernel.run(
        "function inner() { throw new Error('deep') }\n[1].map(() => inner())\nexport default 1"
    )
    frames = [line.strip() for line in done.traceback.split("\n") if line.strip().startswith("at ")]
    assert frames[0].startswith("at inner (cell-")
    assert all(":1:" in frame or ":2:" in frame for frame in frames)
    assert not any("native" in frame or "<host>" in frame for frame in frames)


@pytest.mark.parametrize("thrown", ["'text'", "42", "null", "{ a: 1 }"])
def test_whatever_was_thrown_is_told(kernel: Client, thrown: str) -> None:
    done = kernel.run(f"throw {thrown}")
    assert done.status == "error"
    assert done.traceback


def test_an_unknown_specifier_is_named_and_what_could_be_imported_is_listed(kernel: Client) -> None:
    kernel.run("%%bridge files\nx = 1")
    kernel.run("%%module ./m.ts\nexport {}")
    done = kernel.run("import { x } from 'filez'")
    assert "filez" in done.traceback
    assert "did you mean 'files'?" in done.traceback
    assert "'files', './m.ts'" in done.traceback
    done = kernel.run("import { y } from 'files'")
    assert "'files' exports x" in done.traceback


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("setTimeout(() => 1, 5)", "--lend timers"),
        ("await fetch('x')", "--lend fetch=HOST"),
        ("require('fs')", "write import"),
        ("process.exit()", "the sandbox has no process"),
    ],
)
def test_missing_host_names_say_how_to_bridge_them(kernel: Client, code: str, hint: str) -> None:
    assert hint in kernel.run(code).traceback


def test_the_hint_for_timers_works_when_followed(kernel: Client) -> None:
    code = "await new Promise((done) => setTimeout(done, 5));\n'slept'"
    hint = kernel.run(code).traceback.split("hint: ")[1]
    assert "--lend timers on %%runcode" in " ".join(hint.split())
    assert kernel.value(f"%%runcode --lend timers\n{code}") == "'slept'"


def test_an_await_that_can_never_settle_ends(kernel: Client) -> None:
    done = kernel.run("await new Promise(() => {})")
    assert done.content["ename"] == "DeadlockError"


def test_an_unhandled_rejection_is_logged(kernel: Client) -> None:
    done = kernel.run("Promise.reject(new Error('nobody cares')); 1")
    assert done.text == "1"
    assert "nobody cares" in done.stderr


def test_the_python_traceback_of_a_bridge_is_shown_to_its_author(kernel: Client) -> None:
    kernel.run("%%bridge maths\ndef ratio(row):\n    top = row['a']\n    return top / 0")
    done = kernel.run("import { ratio } from 'maths'\nratio({ a: 1 })")
    assert done.content["ename"] == "ZeroDivisionError"
    assert pointed_at(done) == "ratio({ a: 1 })"
    _, _, python = done.traceback.partition("in the bridge:\n")
    lines = [line.strip() for line in python.split("\n")]
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == 'File "<bridge maths>", line 4, in ratio'
    assert lines[2] == "return top / 0"
    assert lines[-1] == "ZeroDivisionError: division by zero"


def test_a_failure_of_a_bridge_that_the_cell_caught_is_not_shown(kernel: Client) -> None:
    kernel.run("%%bridge maths\ndef ratio(row):\n    return row['a'] / 0")
    use = "import { ratio } from 'maths'\ntry { ratio({ a: 1 }) } catch {}\n"
    assert kernel.run(f"{use}1").text == "1"
    assert "in the bridge" not in kernel.run(f"{use}nope()").traceback


def test_a_name_of_another_cell_says_that_each_cell_is_fresh(kernel: Client) -> None:
    kernel.run("const firstCell = 1")
    done = kernel.run("firstCell + 1")
    hint = done.traceback.split("hint: ")[1].replace("\n      ", " ")
    number = kernel.run("1").content["execution_count"] - 2
    assert hint.startswith(
        f"each cell is a fresh sandbox: firstCell was declared in cell {number}."
    )
    assert "--keep firstCell" in hint


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("!ls", "the sandbox has no shell"),
        ("!pip install pandas", "the sandbox has no shell"),
        ("console?", "press Shift-Tab"),
        ("import pandas as pd", "%%bridge NAME"),
        ("def f(x):\n    return x", "%%bridge NAME"),
        ("1\n%defaults --memory 1MiB", "magics are on the first lines of a cell"),
        ("```js\n1\n```", "remove the ``` lines"),
        ("return 1", "end it with the expression"),
        ("import { a } from './helper'", "%%module ./helper.ts"),
    ],
)
def test_what_belongs_elsewhere_is_recognised(kernel: Client, code: str, hint: str) -> None:
    assert hint in kernel.run(code).traceback.replace("\n      ", " ")


def test_a_class_of_a_bridge_is_said_not_to_be_exported(kernel: Client) -> None:
    kernel.run("%%bridge shapes\nclass Point: pass\nnt = 1")
    hint = kernel.run("import { Point } from 'shapes'").traceback.split("hint: ")[1]
    assert hint.startswith("Point is a class, and classes are not exported")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%pip install pandas", "the sandbox has no packages"),
        ("%%timeit\n1", "it is a magic of IPython"),
        ("%load_ext runcode", "it is a magic of IPython"),
        ("%bridge x", "did you mean %%bridge?"),
        ("%%runcode --timeout 3s\n1", "did you mean --deadline?"),
        ("%%runcode --env x=1\n1", "did you mean --global?"),
        ("%%runcode --zzz\n1", "known: --fn"),
    ],
)
def test_magics_and_options_of_others_get_the_right_answer(
    kernel: Client, code: str, said: str
) -> None:
    assert said in kernel.run(code).traceback
