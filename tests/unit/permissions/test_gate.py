"""The gate: what rules and stores settle, when a person is asked, and that whatever fails is a no."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from sandbox_kernel import OptionError
from sandbox_kernel.permissions import (
    ApprovalChoice,
    ApprovalRequest,
    Call,
    Decision,
    InMemoryPermissionStore,
    PermissionPolicy,
    Policy,
    asking,
    permission_gate,
)

ALLOW_ONCE, DENY_ONCE = ApprovalChoice.ALLOW_ONCE, ApprovalChoice.DENY_ONCE
ALLOW_ALWAYS = ApprovalChoice.ALLOW_ALWAYS


class Person:
    """Answers from a list, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.batches: list[list[str]] = []

    async def ask(self, batch: Sequence[ApprovalRequest]) -> Any:
        self.batches.append([request.tool_call.function.name for request in batch])
        return self.answers.pop(0)


def decided(gate: Any, *names: str) -> list[bool]:
    calls = [{"id": str(at), "name": name, "args": {}} for at, name in enumerate(names)]
    return [decision.allowed for decision in asyncio.run(gate(calls))]


def test_the_calls_of_one_turn_that_need_a_person_are_one_batch_in_order() -> None:
    person = Person([ALLOW_ONCE, DENY_ONCE])
    store = InMemoryPermissionStore()
    store.set("list", "allow")
    store.set("drop", "deny")
    gate = permission_gate(store, person)
    assert decided(gate, "send", "list", "drop", "fetch") == [True, True, False, False]
    assert person.batches == [["send", "fetch"]]


def test_calls_that_come_while_a_question_is_open_are_the_next_batch() -> None:
    answer: asyncio.Future[list[ApprovalChoice]]
    batches: list[int] = []

    class Slow:
        async def ask(self, batch: Sequence[ApprovalRequest]) -> list[ApprovalChoice]:
            batches.append(len(batch))
            return await answer if len(batches) == 1 else [ALLOW_ONCE] * len(batch)

    async def main() -> list[Decision]:
        nonlocal answer
        answer = asyncio.get_running_loop().create_future()
        gate = permission_gate(InMemoryPermissionStore(), Slow())
        first = asyncio.create_task(gate.ask(Call("a")))
        while not batches:
            await asyncio.sleep(0)
        rest = [asyncio.create_task(gate.ask(Call(name))) for name in "bcd"]
        await asyncio.sleep(0)
        answer.set_result([DENY_ONCE])
        return [await task for task in (first, *rest)]

    assert [decision.allowed for decision in asyncio.run(main())] == [False, True, True, True]
    assert batches == [1, 3]


def test_an_answer_for_the_run_lasts_as_long_as_its_gate() -> None:
    person = Person([ApprovalChoice.ALLOW_RUN], [DENY_ONCE])
    policy = Policy({"mail.*": "ask"}, person)
    gate = policy.gate()
    assert decided(gate, "mail.send") == [True]
    assert decided(gate, "mail.send") == [True]
    assert decided(policy.gate(), "mail.send") == [False]
    assert len(person.batches) == 2


@pytest.mark.parametrize(
    ("choice", "allowed"),
    [(ApprovalChoice.ALLOW_ALWAYS, True), (ApprovalChoice.DENY_ALWAYS, False)],
)
def test_an_answer_for_always_is_kept(choice: ApprovalChoice, allowed: bool) -> None:
    person = Person([choice], [choice])
    policy = Policy({"mail.*": "ask"}, person)
    store = InMemoryPermissionStore()
    for make in (policy.gate, lambda: permission_gate(store, person)):
        assert decided(make(), "mail.send") == [allowed]
        assert decided(make(), "mail.send") == [allowed]
    assert len(person.batches) == 2
    assert store.get("mail.send") is PermissionPolicy("allow" if allowed else "deny")


@pytest.mark.parametrize("name", ["fs.readFile:*", "fs.readFile:a*", "fs.readFile:a ", "a\nb"])
def test_an_answer_about_a_name_that_would_be_a_pattern_or_none_is_for_the_run(name: str) -> None:
    store = InMemoryPermissionStore()
    person = Person([ALLOW_ALWAYS], [DENY_ONCE], [ApprovalChoice.DENY_ALWAYS])
    gate = permission_gate(store, person)
    with pytest.warns(UserWarning, match="was to hold always does not: .*fs.readFile|a.nb"):
        assert decided(gate, name) == [True]
    assert decided(gate, name) == [True]
    assert decided(gate, "fs.readFile:another") == [False]
    with pytest.warns(UserWarning, match="was to hold always does not"):
        assert decided(permission_gate(store, person), name) == [False]
    assert store.entries() == {}


def test_an_answer_that_the_store_cannot_keep_still_holds_for_the_run() -> None:
    class Full(InMemoryPermissionStore):
        def set(self, name: str, policy: PermissionPolicy | str) -> None:
            raise OSError("disk full")

    gate = permission_gate(Full(), Person([ALLOW_ALWAYS]))
    with pytest.warns(UserWarning, match="disk full"):
        assert decided(gate, "mail.send") == [True]
    assert decided(gate, "mail.send") == [True]


def test_nobody_to_ask_is_a_no_that_says_how_to_allow_it() -> None:
    (decision,) = asyncio.run(Policy().gate()([Call("mail.send")]))
    assert decision == Decision(False, "deny")
    assert decision.message == (
        "mail.send was not allowed: it needs permission, and there is nobody to ask here;"
        " Policy({'mail.send': 'allow'}) allows it"
    )
    (decision,) = asyncio.run(permission_gate(InMemoryPermissionStore(), None)([Call("send")]))
    assert decision.message.endswith("; store.set('send', 'allow') allows it")


def test_a_tool_of_tier_4_asks_whatever_the_fallback_until_an_answer_is_kept() -> None:
    person = Person([ALLOW_ONCE], [ALLOW_ONCE])
    store = InMemoryPermissionStore(fallback="allow")
    gate = permission_gate(store, person)
    run = Call("execute_code", tier="T4")
    assert asyncio.run(gate([run]))[0].allowed
    assert len(person.batches) == 1
    policy = Policy({"*": "allow"}, person)
    assert asyncio.run(policy.gate()([run]))[0].allowed
    assert len(person.batches) == 2
    store.set("execute_code", "allow")
    assert asyncio.run(gate([run])) == [Decision(True, "allow")]


class Raising:
    def ask(self, batch: Any) -> Any:
        raise RuntimeError("no terminal")


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [ALLOW_ONCE],
        [ALLOW_ONCE] * 3,
        None,
        "yes",
        True,
        ["allow_once", "allow_once"],
        [ALLOW_ONCE, True],
    ],
    ids=repr,
)
def test_an_answer_that_is_missing_or_invalid_is_a_no_and_is_told(answer: Any) -> None:
    gate = permission_gate(InMemoryPermissionStore(), Person(answer))
    with pytest.warns(UserWarning, match="did not answer as it should, so the answer is no"):
        allowed = decided(gate, "a", "b")
    assert not allowed[1]


def test_a_prompter_that_raises_is_a_no_and_is_told() -> None:
    gate = permission_gate(InMemoryPermissionStore(), Raising())
    with pytest.warns(UserWarning, match="RuntimeError: no terminal"):
        assert decided(gate, "a", "b") == [False, False]


@pytest.mark.parametrize("is_plain", [True, False])
@pytest.mark.parametrize(
    "error", [SystemExit(3), StopIteration(), KeyboardInterrupt(), asyncio.CancelledError()]
)
def test_what_would_end_the_loop_or_be_lost_is_a_no_as_well(
    error: BaseException, is_plain: bool
) -> None:
    class Plain:
        def ask(self, batch: Sequence[ApprovalRequest]) -> Any:
            raise error

    class Waiting:
        async def ask(self, batch: Sequence[ApprovalRequest]) -> Any:
            raise error

    if isinstance(error, KeyboardInterrupt) and not is_plain:
        return  # Ctrl-C of whoever runs the loop
    gate = permission_gate(InMemoryPermissionStore(), Plain() if is_plain else Waiting())
    with pytest.warns(UserWarning, match=f"it raised .*{type(error).__name__}"):
        assert decided(gate, "a", "b") == [False, False]


def test_a_plain_function_asks_on_a_thread_so_that_the_loop_stays_free() -> None:
    asked_on: list[threading.Thread] = []
    released = threading.Event()

    class Terminal:
        def ask(self, batch: Sequence[ApprovalRequest]) -> list[ApprovalChoice]:
            asked_on.append(threading.current_thread())
            assert released.wait(30)
            return [ALLOW_ONCE]

    async def main() -> Decision:
        task = asyncio.create_task(
            permission_gate(InMemoryPermissionStore(), Terminal()).ask(Call("a"))
        )
        while not asked_on:
            await asyncio.sleep(0.001)
        released.set()  # which only a loop that is free can do
        return await task

    assert asyncio.run(main()).allowed
    assert asked_on != [threading.current_thread()]


def test_a_question_that_nobody_answers_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "SECONDS", 0.01)

    class Absent:
        async def ask(self, batch: Any) -> Any:
            await asyncio.Event().wait()

    (decision,) = asyncio.run(permission_gate(InMemoryPermissionStore(), Absent())([Call("a")]))
    assert not decision.allowed
    assert "nobody answered" in decision.message


def test_a_run_asks_twenty_questions_and_no_more() -> None:
    person = Person(*([[ALLOW_ONCE]] * 30))
    gate = Policy({}, person).gate()
    allowed = [decided(gate, f"f{number}") for number in range(25)]
    assert allowed == [[True]] * 20 + [[False]] * 5
    assert len(person.batches) == 20


def test_a_question_dies_with_its_run() -> None:
    asked, cancelled = asyncio.Event(), []

    class Waiting:
        async def ask(self, batch: Any) -> Any:
            asked.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

    async def main() -> None:
        gate = Policy({}, Waiting()).gate()
        task = asyncio.create_task(gate.ask(Call("a")))
        await asked.wait()
        gate.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    assert cancelled == [True]


def test_a_store_that_raises_or_answers_nonsense_is_a_no() -> None:
    class Broken(InMemoryPermissionStore):
        def stored(self, name: str, args: Any = None) -> PermissionPolicy | None:
            raise OSError("disk on fire")

    class Odd(InMemoryPermissionStore):
        def stored(self, name: str, args: Any = None) -> Any:
            return "allow"

    with pytest.warns(UserWarning, match="disk on fire"):
        assert decided(permission_gate(Broken(), None), "a") == [False]
    assert decided(permission_gate(Odd(), None), "a") == [False]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Policy({}, ask=input), "a prompter has a method ask"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: permission_gate(InMemoryPermissionStore(), object()), "has a method ask"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: permission_gate({}, None), "methods get and set"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: asyncio.run(Policy().gate()(["send"])), "a mapping with id, name and args"),
        (lambda: asyncio.run(Policy().gate()([{"id": "1"}])), "a mapping with id, name and args"),
        (lambda: Policy(store={}), "store is a FilePermissionStore"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: Policy(3), "rules are a mapping such as"),  # type: ignore[arg-type]  # wrong on purpose
    ],
)
def test_what_cannot_be_used_is_refused(make: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make()


def test_a_stored_answer_needs_get_and_set_only() -> None:
    class Own:
        def __init__(self) -> None:
            self.kept: dict[str, PermissionPolicy] = {}

        def get(self, name: str, args: Any) -> PermissionPolicy:
            return self.kept.get(name, PermissionPolicy.ASK)

        def set(self, name: str, policy: PermissionPolicy) -> None:
            self.kept[name] = policy

    store, person = Own(), Person([ApprovalChoice.ALLOW_ALWAYS])
    gate = permission_gate(store, person)
    assert decided(gate, "a") == decided(gate, "a") == [True]
    assert store.kept == {"a": PermissionPolicy.ALLOW}


@pytest.mark.parametrize(
    "make", [lambda: Policy().gate(), lambda: permission_gate(InMemoryPermissionStore(), None)]
)
def test_the_words_that_would_allow_a_pinned_tool_have_its_plain_name(make: Any) -> None:
    call = Call("@mcp/docs.search", rules=("@mcp/docs.search#1f0c",))
    decision = make().decide(call)
    assert "'@mcp/docs.search'" in decision.message
    assert "#" not in decision.message
    allowed = Policy({"@mcp/docs.search": "allow"}).gate().decide(call)
    assert allowed is not None
    assert allowed.allowed
