"""Asking in the kernel: on a card, by `input()`, or nobody; what is kept, and what cannot be granted."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients import Client
from tests.questions import asking_client, cards_of, tell, typed

MAIL = """%%bridge mail --ask send
sent = []
def send(to): sent.append(to); return f"sent to {to}"
async def later(to): return f"later to {to}"
def log(to=None): return list(sent)
"""
SEND = "import { send } from 'mail'; export default send('a')"


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with asking_client("sandbox", tmp_path_factory) as client:
        client.run(MAIL).check()
        yield client


def test_where_there_is_neither_page_nor_input_the_answer_is_no(asking: Client) -> None:
    done = asking.run(f"%%runcode --no-widget\n{SEND}", allow_stdin=False)
    assert "mail.send was not allowed: it needs permission" in done.traceback


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [("y", "ok"), ("r", "ok"), ("Y ", "ok"), ("n", "error"), ("", "error"), ("yes", "error")],
)
def test_without_a_page_input_asks_once(asking: Client, answer: str, outcome: str) -> None:
    done, (prompt,) = typed(asking, f"%%runcode --no-widget\n{SEND}", answer)
    assert done.status == outcome
    assert "mail.send asks for permission: mail.send('a')" in prompt
    assert "line 2: import { send } from 'mail'; export default send('a')" in prompt


def test_what_is_not_asked_about_is_lent_freely(asking: Client) -> None:
    assert (
        asking.value("import { later } from 'mail'; export default await later('b')")
        == "'later to b'"
    )


def test_always_is_kept_listed_with_its_last_use_and_revoked(asking: Client) -> None:
    typed(asking, f"%%runcode --no-widget\n{SEND}", "a")
    assert asking.value(SEND) == "'sent to a'"
    listed = asking.run("%permissions").check().stdout
    today = time.strftime("%Y-%m-%d")
    assert f"mail.send  allow  last used {today}, until " in listed
    assert (
        "mail.send is asked about again"
        in asking.run("%permissions revoke mail.send").check().stdout
    )
    assert "nothing is kept" in asking.run("%permissions").check().stdout
    assert (
        "nothing is kept about 'mail.sent'" in asking.run("%permissions revoke mail.sent").traceback
    )


def test_three_parallel_calls_are_one_list_of_cards_answered_one_by_one(asking: Client) -> None:
    asking.run(MAIL.replace("--ask send", "--ask later")).check()
    cell = asking.send(
        "import { later } from 'mail';\n"
        "const all = await Promise.allSettled(['x', 'y', 'z'].map((to) => later(to)));\n"
        "all.map((each) => each.value ?? each.reason.message)"
    )
    model, cards = cards_of(asking, cell, 3)
    assert [card["will"] for card in cards] == [f"mail.later('{to}')" for to in "xyz"]
    assert all(card["name"] == "mail.later" and card["line"] == 2 for card in cards)
    assert "Promise.allSettled" in cards[0]["code"]
    first, second, third = (card["id"] for card in cards)
    tell(
        asking, model, kind="answer", id=first, choice="allow_once"
    )  # before it was drawn: not heard
    tell(asking, model, kind="drawn", ids=[first, second, third])
    tell(
        asking, model, kind="answer", id=first, choice="allow_once"
    )  # within half a second: neither
    time.sleep(0.6)  # the time in which buttons are dead is what is tested
    for ident, choice in (
        (first, "deny_once"),
        (second, "allow_once"),
        (third, "deny_once"),
        (first, "allow_once"),
    ):
        tell(asking, model, kind="answer", id=ident, choice=choice)
    done = asking.finish(cell).check()
    no = "mail.later was not allowed: a person said no"
    assert done.text == f"[\n  '{no}',\n  'later to y',\n  '{no}'\n]"
    asking.run(MAIL).check()


def test_a_call_that_comes_while_another_waits_joins_its_list(asking: Client) -> None:
    asking.run(
        "%%bridge slow --ask later\nimport asyncio\nasync def later(to): return to\n"
        "async def pause(): await asyncio.sleep(0.3)"
    ).check()
    cell = asking.send(
        "import { later, pause } from 'slow';\nconst first = later('x');\nawait pause();\n"
        "await Promise.all([first, later('y')])"
    )
    model, cards = cards_of(asking, cell, 2)
    tell(asking, model, kind="drawn", ids=[card["id"] for card in cards])
    time.sleep(0.6)  # as above
    for card in cards:
        tell(asking, model, kind="answer", id=card["id"], choice="allow_once")
    assert asking.finish(cell).check().text == "[ 'x', 'y' ]"


@pytest.mark.parametrize(
    "content",
    [
        {"id": None},
        {"id": [1]},
        {"choice": "allow"},
        {"choice": ["allow_once"]},
        {"choice": "deny_always"},
        {},
    ],
)
def test_nonsense_from_a_page_decides_nothing(asking: Client, content: dict[str, Any]) -> None:
    cell = asking.send(SEND)
    model, (card,) = cards_of(asking, cell, 1)
    tell(asking, model, kind="drawn", ids=[card["id"]])
    time.sleep(0.6)
    tell(asking, model, **{"kind": "answer", "id": "0" * 16, "choice": "allow_once", **content})
    tell(asking, model, kind="drawn", ids="x")
    tell(asking, model, kind="answer", id=card["id"], choice="deny_once")
    assert "a person said no" in asking.finish(cell).traceback


def test_the_calls_of_a_run_are_in_its_view(asking: Client) -> None:
    cell = asking.send("import { log } from 'mail'; try { log(1, 'two') } catch {} report(1)")
    asking.finish(cell)
    states = [each["data"].get("state", {}) for each in asking.seen(cell, "comm_msg")]
    (calls,) = [state["calls"]["items"] for state in states if state.get("calls", {}).get("items")][
        -1:
    ]
    assert [row[:3] + row[5:] for _, row in calls] == [["mail.log", "1, 'two'", "allow", "error"]]


def test_a_project_can_deny_but_not_allow(asking: Client) -> None:
    file: Path = Path.cwd() / ".sandbox-kernel.json"
    try:
        file.write_text(json.dumps({"permissions": {"mail.*": "deny"}}))
        assert "a rule denies it" in asking.run(SEND).traceback
        file.write_text(json.dumps({"permissions": {"mail.send": "allow"}}))
        assert "a project's file can only deny or ask" in asking.run(SEND).traceback
        for text in (
            "",
            "[]",
            "{",
            '{"permissions": 3}',
            '{"permissions": {"a*b": "ask"}}',
            "[" * 10_000,
        ):
            file.write_text(text)
            assert asking.run(SEND).status == "error"
    finally:
        file.unlink()


def test_ask_stands_behind_what_is_lent(asking: Client) -> None:
    assert (
        "--ask goes after the option that it is about" in asking.run("%%runcode --ask\n1").traceback
    )
    assert (
        "mail does not export it; did you mean send?"
        in asking.run(MAIL.replace("--ask send", "--ask sned")).traceback
    )
    done = asking.run(
        "%%runcode --no-widget --global f=mail.later --ask\nawait f('a')", allow_stdin=False
    )
    assert "f was not allowed" in done.traceback


def test_a_run_that_is_interrupted_takes_its_question_along(asking: Client) -> None:
    cell = asking.send(f"%%runcode --no-widget\n{SEND}", allow_stdin=True)
    asking.channels.get_stdin_msg(timeout=60)
    asking.interrupt()
    assert "interrupted" in asking.finish(cell).traceback
    assert asking.value("1 + 1") == "2"


CALL = "try: print(call_tool('{0}', {{'to': 'a'}}))\nexcept RuntimeError as error: print(error)"


def test_a_program_asks_about_what_asks_in_cells_under_any_name(asking: Client) -> None:
    calls = "\n".join(CALL.format(name) for name in ("send", "post", "later", "log"))
    lent = "--tool post=mail.send --tool log=mail.log --tool mail --ask"
    done = asking.run(f"%%runprogram {lent}\n{calls}", allow_stdin=False).check()
    said = done.stdout.splitlines()
    for name, line in zip(("send", "post", "later", "log"), said, strict=True):
        assert line.startswith(f"{name} was not allowed: it needs permission")
    free = CALL.format("later")
    done = asking.run(f"%%runprogram --tool mail\n{free}", allow_stdin=False).check()
    assert done.stdout == "later to a\n"


def test_ask_stands_behind_a_tool(asking: Client) -> None:
    assert "--ask goes after" in asking.run("%%runprogram python --ask\n1").traceback


def test_a_program_asks_on_cards(asking: Client) -> None:
    cell = asking.send(
        "%%runprogram --tool later=mail.later --ask\nfrom concurrent.futures import ThreadPoolExecutor\n"
        f"def go(to):\n    {CALL.format('later').replace(chr(10), chr(10) + '    ')}\n".replace(
            "'to': 'a'", "'to': to"
        )
        + "with ThreadPoolExecutor() as pool: list(pool.map(go, 'xy'))"
    )
    model, cards = cards_of(asking, cell, 2)
    assert sorted(card["will"] for card in cards) == [f"later({{'to': '{to}'}})" for to in "xy"]
    tell(asking, model, kind="drawn", ids=[card["id"] for card in cards])
    time.sleep(0.6)  # in which buttons are dead
    for card in cards:
        choice = "allow_once" if "'x'" in card["will"] else "deny_once"
        tell(asking, model, kind="answer", id=card["id"], choice=choice)
    said = asking.finish(cell).check().stdout
    assert sorted(said.splitlines()) == [
        "later to x",
        "later was not allowed: a person said no",
    ]


def test_an_agent_asks_about_what_asks_in_cells(asking: Client) -> None:
    turns = json.dumps([[{"name": "send", "args": {"to": "a"}}], "Then not."])
    done = asking.run(f"%%agent --script {turns} --tool mail --code none\ngo", allow_stdin=False)
    assert "send was not allowed: it needs permission" in done.check().stdout


def test_an_agent_asks_on_a_card(asking: Client) -> None:
    turns = json.dumps([[{"name": "send", "args": {"to": "a"}}], "Done."])
    cell = asking.send(f"%%agent --script {turns} --tool mail --code none\ngo")
    model, (card,) = cards_of(asking, cell, 1)
    tell(asking, model, kind="drawn", ids=[card["id"]])
    time.sleep(0.6)  # in which buttons are dead
    tell(asking, model, kind="answer", id=card["id"], choice="allow_once")
    assert "sent to a" in asking.finish(cell).check().stdout


def test_what_a_project_denies_is_denied_to_programs_and_agents(asking: Client) -> None:
    file: Path = Path.cwd() / ".sandbox-kernel.json"
    turns = json.dumps([[{"name": "later", "args": {"to": "a"}}], "Then not."])
    try:
        file.write_text(json.dumps({"permissions": {"mail.later": "deny"}}))
        for cell in (
            f"%%runprogram --tool mail\n{CALL.format('later')}",
            f"%%agent --script {turns} --tool mail --code none\ngo",
        ):
            assert "later was not allowed: a rule denies it" in asking.run(cell).check().stdout
        file.write_text("{")
        for cell in ("%%runprogram --tool mail\n1", "%%agent --script [] --tool mail\ngo"):
            assert ".sandbox-kernel.json has no rules" in asking.run(cell).traceback
    finally:
        file.unlink()
