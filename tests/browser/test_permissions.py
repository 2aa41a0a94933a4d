"""The card in a real JupyterLab: three parallel calls answered differently, by mouse and by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import ReadyNotebook
from tests.browser.faces import KERNEL, MAGIC, Face, both_faces
from tests.browser.lab import Notebook, contrast, screenshot

_MAIL = "async def send(to):\n    return f'sent to {to}'\n"
_SETUP = {
    KERNEL.name: f"%%bridge mail --ask send\n{_MAIL}",
    MAGIC.name: f"{_MAIL}mail = {{'send': send}}",
}
_ASK = {KERNEL.name: "", MAGIC.name: "%%runcode --import mail --ask\n"}
_THREE = """import { send } from 'mail';
const people = ['ada@example.org', 'bob@example.org', 'cyd@example.org'];
const all = await Promise.allSettled(people.map((to) => send(to)));
all.map((each) => each.value ?? each.reason.message).join(' | ')"""
NO = "mail.send was not allowed: a person said no"


def asked(notebook: Notebook, face: Face, source: str) -> tuple[int, Locator]:
    """Starts a cell that asks; its index and its view."""
    at = notebook.add(_SETUP[face.name])
    notebook.run(at)
    at = notebook.add(_ASK[face.name] + source)
    notebook.start(at)
    return at, notebook.view(at)


def awake(view: Locator) -> None:
    """Buttons are dead for half a second after the list has changed."""
    expect(view.locator(".run-asks:not([data-dead])")).to_be_visible()


@both_faces
def test_three_parallel_calls_are_answered_differently_by_mouse(
    ready_notebooks: ReadyNotebook, face: Face
) -> None:
    notebook = ready_notebooks(face)
    at, view = asked(notebook, face, _THREE)
    cards = view.locator(".run-ask")
    expect(cards).to_have_count(3)
    expect(view.locator(".run-asks-title")).to_have_text("3 calls ask for permission")
    expect(cards.nth(1)).to_contain_text("mail.send('bob@example.org')")
    expect(cards.nth(1)).to_contain_text("people.map((to) => send(to))")
    awake(view)
    for theme in ("Dark", "Light"):
        notebook.use_theme(f"JupyterLab {theme}")
        cards.first.scroll_into_view_if_needed()
        for part in (".run-ask-will", ".run-ask-code code", ".run-ask-deny", ".run-asks-title"):
            assert contrast(view.locator(part).first) >= 4.5, (theme, part)
        screenshot(view, f"card-{face.name}-{theme.lower()}")
    cards.nth(0).get_by_role("button", name="Allow once").click()
    expect(cards).to_have_count(2)
    awake(view)
    cards.nth(0).get_by_role("button", name="Deny").click()
    expect(cards).to_have_count(1)
    awake(view)
    cards.nth(0).get_by_role("button", name="Allow for this run").click()
    notebook.wait(at)
    expect(notebook.output(at)).to_contain_text(
        f"sent to ada@example.org | {NO} | sent to cyd@example.org"
    )
    expect(view.locator(".run-asks")).to_be_hidden()
    view.get_by_role("tab", name="Calls").click()
    rows = view.locator(".run-calls tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text("allowed once")
    expect(rows.nth(1)).to_contain_text("denied")
    expect(rows.nth(2)).to_contain_text("allowed for this run")
    screenshot(view, f"calls-{face.name}")


def test_the_same_by_keyboard_alone(ready_notebooks: ReadyNotebook) -> None:
    notebook = ready_notebooks(KERNEL)
    at, view = asked(notebook, KERNEL, _THREE)
    cards = view.locator(".run-ask")
    expect(cards).to_have_count(3)
    page = notebook.page
    awake(view)
    view.locator(".run-stop").focus()
    page.keyboard.press("Tab")
    expect(cards.nth(0).get_by_role("button", name="Allow once")).to_be_focused()
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Deny
    expect(cards).to_have_count(2)
    awake(view)
    expect(cards.nth(0).get_by_role("button", name="Allow once")).to_be_focused()
    page.keyboard.press("Space")
    expect(cards).to_have_count(1)
    awake(view)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Always allow…
    expect(cards.nth(0)).to_contain_text("in all your notebooks for 30 days")
    awake(view)
    expect(cards.nth(0).get_by_role("button", name="Back")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")  # Yes, always
    notebook.wait(at)
    expect(notebook.output(at)).to_contain_text(
        f"{NO} | sent to bob@example.org | sent to cyd@example.org"
    )
    at = notebook.add("%permissions revoke mail.send")
    notebook.run(at)
    expect(notebook.output(at)).to_contain_text("mail.send is asked about again")


def test_a_click_that_comes_too_early_and_one_by_a_script_decide_nothing(
    ready_notebooks: ReadyNotebook,
) -> None:
    notebook = ready_notebooks(KERNEL)
    at, view = asked(notebook, KERNEL, "import { send } from 'mail';\nawait send('x')")
    deny = view.get_by_role("button", name="Deny")
    allow = view.get_by_role("button", name="Allow once")
    allow.dispatch_event("click")  # not trusted
    awake(view)
    allow.dispatch_event("click")
    expect(view.locator(".run-ask")).to_have_count(1)
    assert notebook.is_running(at)
    deny.click()
    notebook.wait(at)
    expect(notebook.output(at)).to_contain_text(NO)


def test_the_card_is_told_to_screen_readers_and_takes_no_focus(
    ready_notebooks: ReadyNotebook,
) -> None:
    notebook = ready_notebooks(KERNEL)
    at, view = asked(notebook, KERNEL, "import { send } from 'mail';\nawait send('x')")
    expect(view.get_by_role("alert")).to_contain_text("1 call asks for permission: mail.send('x')")
    group = view.get_by_role("group", name="1 call asks for permission")
    expect(group).to_be_visible()
    assert not view.evaluate("(view) => view.contains(document.activeElement)")
    awake(view)
    group.get_by_role("button", name="Deny").click()
    notebook.wait(at)


@pytest.mark.parametrize("name", ["m\u0430il.send", "mail\u200b.send", "mail.\u202esend"])
def test_a_name_that_looks_like_another_is_shown_as_it_is(
    ready_notebooks: ReadyNotebook, name: str
) -> None:
    notebook = ready_notebooks(MAGIC)
    source = f"from sandbox_kernel import one_way\nodd = {{{name!r}: {{'go': lambda: 1}}}}"
    at = notebook.add(source)
    notebook.run(at)
    at = notebook.add("%%runcode --global odd --ask\nObject.values(odd)[0].go()")
    notebook.start(at)
    view = notebook.view(at)
    escape = name.encode("ascii", "backslashreplace").decode().split("\\u")[1][:4]
    expect(view.locator(".run-ask-will")).to_contain_text(f"\\u{escape.upper()}", ignore_case=True)
    awake(view)
    view.get_by_role("button", name="Deny").click()
    notebook.wait(at)


def test_a_program_asks_on_a_card(ready_notebooks: ReadyNotebook) -> None:
    notebook = ready_notebooks(MAGIC)
    notebook.run(notebook.add(_SETUP[MAGIC.name]))
    at = notebook.add(
        "%%runprogram --tool send --ask\nprint(call_tool('send', {'to': 'ada@example.org'}))"
    )
    notebook.start(at)
    card = notebook.cell(at).locator(".run-ask")
    expect(card).to_contain_text("send")
    expect(card).to_contain_text("ada@example.org")
    awake(notebook.view(at))
    screenshot(notebook.view(at), "card-program")
    card.get_by_role("button", name="Allow once").click()
    notebook.wait(at)
    expect(notebook.output(at)).to_contain_text("sent to ada@example.org")
