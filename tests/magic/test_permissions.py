"""Asking in Python notebooks: `--ask` and `%permissions`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients import Client
from tests.questions import asking_client, cards_of, tell, typed

MAIL = """
sent = []
def send(to):
    sent.append(to)
    return f"sent to {to}"
async def later(to):
    return f"later to {to}"
mail = {"send": send, "later": later}
"""
ASK = "%%runcode --import mail --ask"
SEND = "import { send } from 'mail'; export default send('a')"
TYPED = f"{ASK} --no-widget\n{SEND}"


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with asking_client("python3", tmp_path_factory) as client:
        client.run("%load_ext runcode").check()
        yield client


@pytest.fixture
def mailing(asking: Client) -> Client:
    asking.run(MAIL).check()
    return asking


def test_where_there_is_neither_page_nor_input_the_answer_is_no(mailing: Client) -> None:
    done = mailing.run(TYPED, allow_stdin=False)
    assert "mail.send was not allowed: it needs permission" in done.traceback
    assert mailing.run("sent").check().text == "[]"


@pytest.mark.parametrize(("answer", "sent"), [("y", "['a']"), ("r", "['a']"), ("n", "[]")])
def test_without_a_page_input_asks(mailing: Client, answer: str, sent: str) -> None:
    _, (prompt,) = typed(mailing, TYPED, answer)
    assert "mail.send asks for permission: mail.send('a')" in prompt
    assert "line 2: import { send } from 'mail'; export default send('a')" in prompt
    assert mailing.run("sent").check().text == sent


def test_a_page_answers_on_cards(mailing: Client) -> None:
    cell = mailing.send(
        f"{ASK}\nimport {{ later }} from 'mail';\n"
        "const all = await Promise.allSettled(['x', 'y'].map((to) => later(to)));\n"
        "all.map((each) => each.status)"
    )
    model, cards = cards_of(mailing, cell, 2)
    assert [(card["will"], card["line"]) for card in cards] == [
        ("mail.later('x')", 3),
        ("mail.later('y')", 3),
    ]
    tell(mailing, model, kind="drawn", ids=[card["id"] for card in cards])
    time.sleep(0.6)  # in which buttons are dead
    for card, choice in zip(cards, ("deny_once", "allow_once"), strict=True):
        tell(mailing, model, kind="answer", id=card["id"], choice=choice)
    assert mailing.finish(cell).check().text == "[ 'rejected', 'fulfilled' ]"


def test_only_what_stands_before_it_is_asked_about(mailing: Client) -> None:
    free = "%%runcode --no-widget --global send --ask --import mail\n" + SEND
    assert mailing.run(free, allow_stdin=False).check().text == "'sent to a'"
    asked = "%%runcode --no-widget --import mail --global send --ask\nsend('a')"
    assert "send was not allowed" in mailing.run(asked, allow_stdin=False).traceback
    assert "--ask goes after" in mailing.run("%%runcode --ask\n1").traceback


def test_always_is_kept_listed_and_revoked(mailing: Client) -> None:
    assert "nothing is kept" in mailing.run("%permissions").check().stdout
    typed(mailing, TYPED, "a")
    assert mailing.run(TYPED, allow_stdin=False).check().text == "'sent to a'"
    listed = mailing.run("%permissions").check().stdout
    assert f"mail.send  allow  last used {time.strftime('%Y-%m-%d')}, until " in listed
    wrong = mailing.run("%permissions revoke mail.sent")
    assert "nothing is kept about 'mail.sent'; did you mean mail.send?" in wrong.traceback
    revoked = mailing.run("%permissions revoke mail.send").check()
    assert revoked.stdout == "mail.send is asked about again\n"
    assert "was not allowed" in mailing.run(TYPED, allow_stdin=False).traceback


@pytest.mark.parametrize("line", ["forget mail.send", "revoke", "allow mail.send"])
def test_a_line_of_permissions_that_means_nothing_says_what_to_write(
    asking: Client, line: str
) -> None:
    said = asking.run(f"%permissions {line}").traceback
    assert f"%permissions {line} is not known; %permissions revoke NAME takes one back" in said


def test_a_project_can_deny_but_not_allow(mailing: Client) -> None:
    file = Path.cwd() / ".sandbox-kernel.json"
    cell = f"%%runcode --import mail\n{SEND}"
    try:
        file.write_text(json.dumps({"permissions": {"mail.*": "deny"}}))
        assert "a rule denies it" in mailing.run(cell).traceback
        file.write_text(json.dumps({"permissions": {"mail.send": "allow"}}))
        assert "a project's file can only deny or ask" in mailing.run(cell).traceback
    finally:
        file.unlink()
    assert mailing.run(cell).check().text == "'sent to a'"


def test_a_cell_that_blocks_its_own_loop_is_not_allowed_what_it_asks_for(mailing: Client) -> None:
    """Its loop stands still, so that no answer could reach it."""
    said = mailing.run(f"%%time\n{ASK}\n{SEND}", allow_stdin=True).traceback
    assert "mail.send was not allowed: this cell blocks the notebook while it runs" in said
    assert "let the magic be the cell's first line" in said
    assert mailing.run("sent").check().text == "[]"


def test_a_run_that_is_interrupted_takes_its_question_along(mailing: Client) -> None:
    cell = mailing.send(TYPED, allow_stdin=True)
    mailing.channels.get_stdin_msg(timeout=60)
    mailing.signal()
    assert "interrupted" in mailing.finish(cell).traceback
    assert mailing.run("sent").check().text == "[]"


def test_programs_ask_about_the_tools_that_stand_before_it(mailing: Client) -> None:
    call = "for name in ('send', 'free'):\n    try: print(call_tool(name, {'to': 'a'}))\n    except RuntimeError as error: print(error)"
    cell = f"%%runprogram --tool send --ask --tool free=send\n{call}"
    said = mailing.run(cell, allow_stdin=False).check().stdout.splitlines()
    assert said[0].startswith("send was not allowed: it needs permission")
    assert said[1] == "sent to a"
    assert "--ask goes after" in mailing.run("%%runprogram --ask\n1").traceback
    cell = mailing.send(f"%%runprogram --tool send --ask --tool free=send\n{call}")
    model, (card,) = cards_of(mailing, cell, 1)
    tell(mailing, model, kind="drawn", ids=[card["id"]])
    time.sleep(0.6)  # in which buttons are dead
    tell(mailing, model, kind="answer", id=card["id"], choice="allow_once")
    assert mailing.finish(cell).check().stdout == "sent to a\n" * 2
