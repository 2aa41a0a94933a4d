"""The gate in front of what a run was lent: who may call what, and what is known of it afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from sandbox_kernel import OptionError, evaluate, one_way, open_code, run_code
from sandbox_kernel.calls import MOST_KEPT
from sandbox_kernel.permissions import ApprovalChoice, ApprovalRequest, Policy
from sandbox_kernel.permissions import gate as gates
from sandbox_kernel.run import run_cell
from tests.permissions.people import Person

ALLOW, RUN, ALWAYS, DENY = (
    ApprovalChoice.ALLOW_ONCE,
    ApprovalChoice.ALLOW_RUN,
    ApprovalChoice.ALLOW_ALWAYS,
    ApprovalChoice.DENY_ONCE,
)


def mail(sent: list[Any]) -> dict[str, dict[str, Callable[..., Any]]]:
    async def later(text: str) -> str:
        await asyncio.sleep(0)
        sent.append(text)
        return f"later {text}"

    def send(text: str) -> str:
        sent.append(text)
        return f"sent {text}"

    return {"mail": {"send": send, "later": later, "note": one_way(lambda text: sent.append(text))}}


def test_without_a_policy_every_call_is_kept_all_the_same() -> None:
    source = """
    import { send, later } from 'mail';
    send('a'); await later('b');
    try { send({ odd: [1, 2n] }, 3) } catch {}
    export default 1
    """
    result = run_code(source, imports=mail([])).wait()
    assert [(c["name"], c["args"], c["decision"], c["outcome"]) for c in result.calls] == [
        ("mail.send", "'a'", "allow", "ok"),
        ("mail.later", "'b'", "allow", "ok"),
        ("mail.send", "{'odd': [1, BigInt(2)]}, 3", "allow", "error"),
    ]
    assert all(c["durationMs"] >= 0 and c["bytes"] > 0 for c in result.calls)
    assert result.to_json()["calls"] == result.calls
    assert "calls" not in run_code("export default 1").wait().to_json()


def test_a_rule_that_allows_lets_calls_through_and_one_that_denies_throws() -> None:
    sent: list[Any] = []
    source = """
    import { send, later, note } from 'mail';
    const said = [send('a')];
    note('n');
    try { await later('b') } catch (error) { said.push(error.name, error.message) }
    export default said
    """
    policy = Policy({"mail.send": "allow", "mail.*": "allow", "mail.later": "deny"})
    result = run_code(source, imports=mail(sent), policy=policy).wait()
    said, name, message = result.unwrap()
    assert (said, name, sent) == ("sent a", "PermissionError", ["a", "n"])
    assert message == "mail.later was not allowed: a rule denies it"
    assert [(c["decision"], c["outcome"]) for c in result.calls] == [
        ("allow", "ok"),
        ("allow", "ok"),
        ("deny", "denied"),
    ]
    assert result.bridge_errors == ()


def test_nobody_to_ask_is_a_no_at_once_that_says_how_to_allow() -> None:
    source = "import { send } from 'mail'; export default send('a')"
    result = run_code(source, imports=mail([]), policy=Policy()).wait()
    assert result.error is not None
    assert "Policy({'mail.send': 'allow'}) allows it" in result.error.message
    assert result.calls[0]["outcome"] == "denied"


@pytest.mark.parametrize("choice", [ALLOW, RUN, ALWAYS])
def test_a_plain_function_stays_plain_for_the_guest_when_a_person_is_asked(
    choice: ApprovalChoice,
) -> None:
    person = Person(choice)
    source = "import { send } from 'mail'; export default [send('a'), typeof send('b')]"
    policy = Policy(ask=person)
    result = run_code(source, imports=mail([]), policy=policy).wait()
    assert result.unwrap() == ["sent a", "string"]
    assert person.names == ["mail.send"] * (2 if choice is ALLOW else 1)
    run_code(source, imports=mail([]), policy=policy).wait().unwrap()
    assert len(person.names) == {ALLOW: 4, RUN: 2, ALWAYS: 1}[choice]


def test_the_loop_of_the_host_stays_free_while_a_plain_function_waits_for_its_answer() -> None:
    async def main() -> Any:
        answer = asyncio.get_running_loop().create_future()

        class Slow:
            async def ask(self, batch: Sequence[ApprovalRequest]) -> Any:
                return await answer

        source = "import { send } from 'mail'; export default send('a')"
        run = run_code(source, imports=mail([]), policy=Policy(ask=Slow()))
        while not run.calls:
            await asyncio.sleep(0.001)
        assert run.running
        answer.set_result([ALLOW])
        return (await run).unwrap()

    assert asyncio.run(main()) == "sent a"


def test_a_plain_function_that_gives_a_coroutine_gives_a_promise_after_the_question() -> None:
    async def inner() -> int:
        return 7

    result = evaluate(
        "[typeof f().then, await f()]",
        globals={"f": lambda: inner()},
        policy=Policy(ask=Person(RUN)),
    )
    assert result.wait().unwrap() == ["function", 7]


def test_a_person_who_says_no_is_heard_and_nothing_is_called() -> None:
    sent: list[Any] = []
    source = """
    import { send, later, note } from 'mail';
    const said = [];
    note('n');
    for (const call of [() => send('a'), () => later('b')]) {
      try { await call() } catch (error) { said.push(`${error.name}: ${error.message}`) }
    }
    export default said
    """
    result = run_code(source, imports=mail(sent), policy=Policy(ask=Person(DENY))).wait()
    assert sent == []
    assert result.unwrap() == [
        "PermissionError: mail.send was not allowed: a person said no",
        "PermissionError: mail.later was not allowed: a person said no",
    ]
    assert {(c["decision"], c["outcome"]) for c in result.calls} == {("deny_once", "denied")}
    assert result.bridge_errors == ()


def test_parallel_calls_are_one_question_and_are_answered_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gates, "GATHERING", 1.0)  # the machine may be busy
    person = Person(ALLOW, DENY, ALLOW)
    source = """
    import { later } from 'mail';
    const all = await Promise.allSettled([later('a'), later('b'), later('c')]);
    export default all.map((each) => each.value ?? each.reason.name)
    """
    result = run_code(source, imports=mail([]), policy=Policy(ask=person)).wait()
    assert result.unwrap() == ["later a", "PermissionError", "later c"]
    assert [len(batch) for batch in person.batches] == [3]
    assert [each.args for each in person.batches[0]] == [["a"], ["b"], ["c"]]


def test_arguments_that_the_guest_changes_after_asking_are_not_changed() -> None:
    sent: list[Any] = []

    async def pay(order: dict[str, int]) -> None:
        sent.append(order)

    source = """
    const order = { euros: 1 };
    const paid = pay(order);
    order.euros = 1000000;
    await paid;
    """
    person = Person(ALLOW)
    evaluate(source, globals={"pay": pay}, policy=Policy(ask=person)).wait().unwrap()
    assert sent == [{"euros": 1}]
    assert person.batches[0][0].args == [{"euros": 1}]


def test_functions_have_names_wherever_they_are_lent() -> None:
    def query(text: str) -> str:
        return text

    lent = {
        "db": {"open": lambda: {"query": query, "rows": [lambda: 1, lambda: 2]}, "deep": {"f": len}}
    }
    source = """
    import { open } from 'pkg';
    const { query, rows } = db.open();
    query('x'); rows[1](); db.deep.f('ab'); open()();
    export default (f) => f.run()
    """
    options: dict[str, Any] = {
        "globals": lent,
        "imports": {"pkg": {"open": lambda: lambda: 3}},
        "execute": {"args": [{"run": lambda: 4}]},
    }
    names = [
        "db.open",
        "db.open().query",
        "db.open().rows[]",
        "db.deep.f",
        "pkg.open",
        "pkg.open()",
        "args[0].run",
    ]
    result = run_code(source, options).wait()
    result.unwrap()
    assert [c["name"] for c in result.calls] == names
    person = Person(ALLOW)
    run_code(source, options, policy=Policy(ask=person)).wait().unwrap()
    assert person.names == names


@pytest.mark.parametrize(("one", "other"), [("allow", "deny"), ("deny", "allow")])
def test_a_function_lent_under_two_names_goes_by_the_stricter_rule(one: str, other: str) -> None:
    def run(command: str) -> str:
        return command

    policy = Policy({"safe.echo": one, "shell": other})
    options: dict[str, Any] = {"imports": {"safe": {"echo": run}}, "globals": {"shell": run}}
    source = "import { echo } from 'safe'; export default echo('x')"
    result = run_code(source, options, policy=policy).wait()
    assert result.error is not None
    assert "a rule denies it" in result.error.message


def test_the_same_gate_stands_before_cells_and_open_modules() -> None:
    sent: list[Any] = []
    cell = run_cell("send('a')", globals=mail(sent)["mail"], policy=Policy({"send": "deny"}))
    assert cell.wait().status == "error"

    async def main() -> list[Any]:
        person = Person(RUN)
        source = "import { send } from 'mail'; export const f = (x) => send(x)"
        async with open_code(source, imports=mail(sent), policy=Policy(ask=person)) as module:
            return [await module.f("b"), await module.f("c"), person.names]

    assert asyncio.run(main()) == ["sent b", "sent c", ["mail.send"]]
    assert sent == ["b", "c"]


def test_a_question_dies_with_its_run() -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    class Never:
        async def ask(self, batch: Sequence[ApprovalRequest]) -> Any:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                gone.set()

    async def main() -> str:
        source = "import { later } from 'mail'; later('a'); export default 1"
        hasty = await run_code(source, imports=mail([]), policy=Policy(ask=Never()))
        run = evaluate("f()", globals={"f": lambda: 1}, policy=Policy(ask=Never()))
        await asked.wait()
        run.terminate("enough")
        assert (await run).calls[0]["outcome"] == "unfinished"
        await gone.wait()
        return hasty.status

    assert asyncio.run(main()) == "success"


def test_a_flood_of_questions_ends_after_twenty() -> None:
    person = Person(ALLOW)
    source = """
    const all = await Promise.allSettled(Array.from({ length: 500 }, (_, i) => f(i)));
    all.filter((each) => each.status === 'fulfilled').length
    """

    async def f(number: int) -> int:
        return number

    result = evaluate(source, globals={"f": f}, policy=Policy(ask=person)).wait()
    assert result.unwrap() == 20
    assert len(person.names) == 20


def test_a_flood_of_calls_keeps_the_first_and_does_not_hide_what_was_denied() -> None:
    source = "for (let i = 0; i < 1100; i++) f(i); try { g('secret') } catch {}; 1"
    policy = Policy({"f": "allow", "g": "deny"})
    result = evaluate(source, globals={"f": lambda n: n, "g": len}, policy=policy).wait()
    assert result.unwrap() == 1
    assert len(result.calls) == MOST_KEPT + 1
    assert (result.calls[-1]["name"], result.calls[-1]["args"]) == ("g", "'secret'")


def test_the_arguments_that_are_kept_are_short_whatever_they_are() -> None:
    source = """
    const deep = {}; deep.self = deep;
    f('x'.repeat(1e6)); f(Array.from({ length: 1e5 }, (_, i) => i)); f(deep, 10n ** 5000n); f('\\u202e\\x1b[31m')
    """
    result = evaluate(source, globals={"f": lambda *args: None}).wait()
    result.unwrap()
    assert all(len(c["args"]) <= 200 for c in result.calls)
    assert all(c["args"].isprintable() for c in result.calls)


def test_rules_match_what_the_host_will_do() -> None:
    """The guest writes the path in its own way; the mark gives the one that is opened."""
    opened: list[str] = []

    def read(path: str) -> str:
        opened.append(path)
        return path

    def normal(path: str) -> str:
        return "/".join(part for part in path.split("/") if part not in ("", "."))

    marked: Any = read
    marked.__sandbox_rule__ = lambda path: f"fs.read:{normal(path)}"
    marked.__sandbox_will__ = lambda path: f"read {normal(path)}"
    person = Person(RUN)
    policy = Policy({"fs.read:secret*": "deny", "fs.read:public/*": "allow"}, ask=person)
    source = """
    import { read } from 'fs';
    const said = [];
    for (const path of ['.//secret', 'public/./a', 'other', './other', 7]) {
      try { said.push(read(path)) } catch (error) { said.push(error.name) }
    }
    export default said
    """
    result = run_code(source, imports={"fs": {"read": read}}, policy=policy).wait()
    said = ["PermissionError", "public/./a", "other", "./other", "AttributeError"]
    assert result.unwrap() == said
    assert opened == ["public/./a", "other", "./other"]
    assert [each.what for batch in person.batches for each in batch] == ["read other"]


def test_why_it_asks_again_is_told() -> None:
    person = Person(ALLOW, DENY, ALLOW)
    source = "[1, 2, 3].map((n) => { try { return f(n) } catch { return 0 } })"
    result = evaluate(source, globals={"f": lambda n: n}, policy=Policy(ask=person)).wait()
    assert result.unwrap() == [1, 0, 3]
    assert [each.why for batch in person.batches for each in batch] == [
        None,
        "you allowed it once, and this is another call",
        "you said no before, and it tries again",
    ]


@pytest.mark.parametrize("policy", [Policy, {"mail.send": "allow"}, "allow", 3])
def test_what_is_no_policy_is_refused_with_what_to_write(policy: Any) -> None:
    with pytest.raises(OptionError, match=r"policy must be a Policy, not .*; write Policy"):
        run_code("1", policy=policy)


def test_a_prompter_that_raises_answers_too_little_or_nonsense_is_a_no() -> None:
    class Broken:
        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def ask(self, batch: Sequence[ApprovalRequest]) -> Any:
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    for answer in (ValueError("x"), [], None, ["allow_once"], [True], [ALLOW, ALLOW], "yes"):
        policy = Policy(ask=Broken(answer))
        with pytest.warns(UserWarning, match="did not answer as it should"):
            result = evaluate("f()", globals={"f": lambda: 1}, policy=policy).wait()
        assert result.status == "error", answer


def test_the_line_that_asks_is_known_for_calls_of_every_kind() -> None:
    person = Person(ALLOW)
    source = """
    import { send, later } from 'mail';
    const deep = () => send('a');

    deep();
    await later('b');
    export default 1
    """
    run_code(source, imports=mail([]), policy=Policy(ask=person)).wait().unwrap()
    assert [each.line for each in person.asked] == [3, 6]
