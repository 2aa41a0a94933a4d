"""The programs in docs/examples, run as their readers run them."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def run(name: str, *args: str, stdin: str = "", cwd: Path | None = None) -> str:
    command = [sys.executable, str(EXAMPLES / name), *args]
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=120, cwd=cwd, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_tested_and_listed() -> None:
    names = {path.name for path in EXAMPLES.glob("*.py")}
    assert names == {"agent.py", "formulas.py", "grading.py"}
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    assert all(f"[{name}]({name})" in listed for name in names)


def test_the_agent_runs_what_was_allowed() -> None:
    said = run("agent.py", stdin="y\n")
    assert "math.factorial(25)" in said
    assert "result: 15511210043330985984000000\n[exit 0: ok]" in said
    assert said.endswith("25! is 15511210043330985984000000.\n")


def test_the_agent_runs_nothing_that_was_not_allowed() -> None:
    said = run("agent.py", stdin="n\n")
    assert "error: code_execution was not allowed" in said
    assert "[exit 0: ok]" not in said


def test_the_agent_has_no_more_than_40_lines_of_code() -> None:
    text = (EXAMPLES / "agent.py").read_text("utf-8")
    body = text.split('"""', 2)[2]
    assert len([line for line in body.splitlines() if line.strip()]) <= 40


@pytest.fixture(scope="module")
def formulas() -> Iterator[str]:
    command = [sys.executable, str(EXAMPLES / "formulas.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().split()[-1]
        yield f"http://127.0.0.1:{port}/price"
        server.terminate()


def post(url: str, body: Any) -> tuple[int, dict[str, Any]]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(url, data, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


ROWS = [{"qty": 2, "price": 5}, {"qty": 1, "price": 7}]


def test_a_formula_is_computed_for_each_row(formulas: str) -> None:
    assert post(formulas, {"formula": "qty * price", "rows": ROWS}) == (200, {"values": [10, 7]})


def test_a_formula_that_is_wrong_is_told_with_a_hint(formulas: str) -> None:
    status, body = post(formulas, {"formula": "qty * prize", "rows": ROWS})
    assert status == 422
    assert body["error"] == "ReferenceError: prize is not defined"


def test_a_formula_that_never_ends_is_ended(formulas: str) -> None:
    loop = "(() => { for (;;) {} })()"
    status, body = post(formulas, {"formula": loop, "rows": ROWS})
    assert (status, body["error"]) == (422, "Terminated: 2s budget")


@pytest.mark.parametrize(
    "formula",
    ["1); import fs from 'fs'; (0", "fetch('http://127.0.0.1')", "globalThis.process.env"],
)
def test_a_formula_that_closes_its_brackets_reaches_nothing(formulas: str, formula: str) -> None:
    status, body = post(formulas, {"formula": formula, "rows": ROWS})
    assert (status, "error" in body) == (422, True)


@pytest.mark.parametrize("body", [b"nothing", {"formula": "1"}, {"formula": "1", "rows": []}])
def test_a_request_without_formula_or_rows_says_what_to_send(formulas: str, body: Any) -> None:
    assert post(formulas, body)[0] == 400


SUBMISSIONS = {
    "ada": "solve = sorted",
    "bob": "def solve(numbers):\n    return numbers",
    "eve": "def solve(numbers):\n    while True: pass",
    "mallory": "import os\nos.system('id')\nsolve = sorted",
    "trent": "raise SystemExit(0)",
    "victor": "raise SystemExit(3)",
    "wendy": "raise ValueError('\\x1b[2J')",
}


def test_a_class_is_graded_and_nobody_harms_the_others(tmp_path: Path) -> None:
    for name, text in SUBMISSIONS.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    lines = run("grading.py", *(str(tmp_path / f"{n}.py") for n in SUBMISSIONS)).splitlines()
    graded = {line[:16].strip(): line[16:].strip() for line in lines}
    assert graded["ada"] == "3  3 of 3 right"
    assert graded["bob"] == "1  1 of 3 right"
    assert graded["eve"].startswith("0  ")
    assert graded["mallory"].startswith("0  PermissionError")
    assert graded["trent"] == "0  0 of 3 right"
    assert graded["victor"] == "0  it ended with exit code 3"
    assert graded["wendy"] == "0  ValueError: ?[2J"
