"""`%%agent` in the sandbox kernel: a script plays the model."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest

from tests.clients import Client

if sys.platform != "linux":
    collect_ignore_glob = ["test_*.py"]


def cell(*turns: Any, options: str = "", prompt: str = "compute it") -> str:
    return f"%%agent --script {json.dumps(turns)} {options}\n{prompt}"


def code(text: str, language: str = "javascript") -> list[dict[str, Any]]:
    return [{"name": "code_execution", "args": {"language": language, "code": text}}]


def test_code_what_came_back_and_the_answer_are_shown(kernel: Client) -> None:
    done = kernel.run(cell(code("console.log(6 * 7)"), "It is 42.")).check()
    plain = _without_colours(done.stdout)
    assert plain == (
        "→ code_execution javascript\nconsole.log(6 * 7)\n"
        "← code_execution [ok]:\n42\n[exit 0: ok]\nIt is 42.\n"
    )
    assert "\x1b[" in done.stdout.split("\n")[1]  # the code is highlighted


def test_functions_of_a_bridge_are_tools(kernel: Client) -> None:
    kernel.run("%%bridge shop\ndef price(name: str) -> float:\n    return 2.5").check()
    turns = ([{"name": "price", "args": {"name": "tea"}}], "2.50")
    for given in ("shop", "shop.price"):
        done = kernel.run(cell(*turns, options=f"--tool {given} --code none")).check()
        shown = "→ price {'name': 'tea'}\n← price [ok]:\n2.5\n2.50\n"
        assert _without_colours(done.stdout) == shown


def test_without_anybody_to_ask_a_gated_call_is_denied(kernel: Client) -> None:
    text = cell(code("console.log(1)"), "Then not.", options="--ask")
    done = kernel.run(text, allow_stdin=False).check()
    assert "← code_execution [error]:" in _without_colours(done.stdout)
    assert "not allowed" in done.stdout


@pytest.mark.parametrize(("answer", "said"), [("y", "[ok]"), ("", "[error]")])
def test_the_question_comes_to_the_front_end(kernel: Client, answer: str, said: str) -> None:
    text = cell(code("console.log(1)"), "Done.", options="--ask")
    sent = kernel.send(text, allow_stdin=True)
    question = kernel.channels.get_stdin_msg(timeout=60)["content"]["prompt"]
    assert "code_execution asks for permission: code_execution({" in question
    assert "console.log(1)" in question
    kernel.channels.input(answer)
    assert said in kernel.finish(sent).check().stdout


def test_a_question_shows_more_than_the_beginning_of_an_argument(kernel: Client) -> None:
    long = f"console.log({'1 + ' * 200}41)"
    sent = kernel.send(cell(code(long), "Done.", options="--ask"), allow_stdin=True)
    question = kernel.channels.get_stdin_msg(timeout=60)["content"]["prompt"]
    kernel.channels.input("n")
    kernel.finish(sent).check()
    assert long in question


def test_an_interrupt_ends_the_agent_and_its_program(kernel: Client) -> None:
    sent = kernel.send(cell(code("for (;;);"), "never"))
    kernel.wait_for_output(sent, "for")
    kernel.interrupt()
    done = kernel.finish(sent)
    assert (done.content["ename"], done.content["evalue"]) == ("terminated", "interrupted")
    assert kernel.run("1 + 1").check().text == "2"


def test_hostile_text_of_a_model_or_a_tool_is_harmless_when_shown(kernel: Client) -> None:
    turns = (code("console.log('\\u001b[2J\\u202e<script>')"), "\u001b]0;title\u0007\u202edone")
    done = kernel.run(cell(*turns)).check()
    plain = _without_colours(done.stdout)
    assert "\x1b" not in plain
    assert "\u202e" not in plain
    assert {message["name"] for message in done.all("stream")} == {"stdout"}
    assert done.displays == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--steps 0", "--steps is a whole number"),
        ("--code cobol", "--code cobol cannot be run"),
        ("--into x", "--into is for the IPython magic %%agent"),
        ("--model x", "--model is for the IPython magic %%agent"),
        ("--script 3", "turn"),
        ("", "base_url is missing: give it, or set LLM_BASE_URL"),
        ("--script [] --tool nothing", "nothing is not JSON"),
    ],
)
def test_a_wrong_line_is_refused(kernel: Client, line: str, message: str) -> None:
    done = kernel.run(f"%%agent {line}\nhello")
    assert done.status == "error"
    assert message in done.traceback


def test_options_are_completed_and_described(kernel: Client) -> None:
    assert "--script" in kernel.complete("%%agent --s|")["matches"]
    assert "%%agent OPTIONS" in kernel.run("%help").check().stdout


def _without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
