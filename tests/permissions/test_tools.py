"""The gate in front of tools: by the tool's own name, however the code reached it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandbox_kernel import run_code, run_program
from sandbox_kernel.permissions import ApprovalChoice, InMemoryPermissionStore, Policy
from sandbox_kernel.permissions import gate as gates
from sandbox_kernel.tools import Toolbox, run_tool_calls
from tests.permissions.people import Person

ALLOW, DENY = ApprovalChoice.ALLOW_ONCE, ApprovalChoice.DENY_ONCE


def add(a: int, b: int = 1) -> int:
    """Adds."""
    return a + b


def drop(table: str) -> str:
    """Drops."""
    return f"dropped {table}"


WAYS = {
    "by name": "import { drop } from 'tools'; await drop({ table: 'x' })",
    "callTool": "import { callTool } from 'tools'; await callTool('drop', { table: 'x' })",
    "parallel": "import * as t from 'tools'; await t.callToolsParallel([['add', { a: 1 }], ['drop', { table: 'x' }]])",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_rule_for_a_tool_holds_however_code_calls_it(way: str) -> None:
    policy = Policy({"add": "allow", "drop": "deny"})
    exports = Toolbox([add, drop]).exports()
    source = f"{WAYS[way]}; export default 1"
    result = run_code(source, imports={"tools": exports}, policy=policy).wait()
    assert result.error is not None
    assert "was not allowed" in result.error.message
    denied = [call for call in result.calls if call["outcome"] == "denied"]
    assert [(call["decision"]) for call in denied] == ["deny"] * len(denied)
    assert not result.bridge_errors
    allowed = run_code(
        source, imports={"tools": exports}, policy=Policy({"add": "allow", "drop": "allow"})
    )
    assert allowed.wait().status == "success"


def test_nobody_is_asked_about_unknown_tools_and_bad_arguments() -> None:
    person = Person(ALLOW)
    source = """
    import { callTool } from 'tools';
    const said = [];
    for (const [name, args] of [['adds', {}], ['add', { a: 'x' }], ['add', { a: 2 }]]) {
      try { said.push(await callTool(name, args)) } catch (error) { said.push(error.name) }
    }
    export default said
    """
    exports = Toolbox([add]).exports()
    result = run_code(source, imports={"tools": exports}, policy=Policy(ask=person)).wait()
    assert result.unwrap() == ["UnknownToolError", "ArgumentsError", 3]
    assert [(each.tool_call.function.name, each.args) for each in person.asked] == [
        ("add", {"a": 2})
    ]


def test_programs_pass_the_same_gate() -> None:
    person = Person(ALLOW, DENY)
    code = """
for name, args in [("add", {"a": 1}), ("add", {"a": 2}), ("drop", {"table": "x"}), ("add", {"a": "x"})]:
    try:
        print(call_tool(name, args))
    except RuntimeError as error:
        print(str(error)[:40])
"""
    policy = Policy({"drop": "deny"}, ask=person)
    result = run_program(code, tools=[add, drop], policy=policy).wait()
    assert result.stdout.splitlines()[:3] == [
        "2",
        "add was not allowed: a person said no",
        "drop was not allowed: a rule denies it",
    ]
    assert person.names == ["add", "add"]
    assert [(c["name"], c["args"], c["decision"], c["outcome"]) for c in result.calls] == [
        ("add", "{'a': 1}", "allow_once", "ok"),
        ("add", "{'a': 2}", "deny_once", "denied"),
        ("drop", "{'table': 'x'}", "deny", "denied"),
        ("add", "{'a': 'x'}", "allow", "error"),
    ]


def test_parallel_calls_of_a_program_are_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "GATHERING", 1.0)  # the machine may be busy
    person = Person(ALLOW)
    code = "print(call_tools_parallel([('add', {'a': n}) for n in range(5)]))"
    result = run_program(code, tools=[add], policy=Policy(ask=person)).wait()
    assert result.stdout == "[1, 2, 3, 4, 5]\n"
    assert [len(batch) for batch in person.batches] == [5]


def test_parallel_calls_of_a_run_are_one_list_of_questions() -> None:
    person = Person(ALLOW, DENY, ALLOW)
    made: list[int] = []

    def note(number: int) -> int:
        """Notes."""
        made.append(number)
        return number

    source = """
    import { callToolsParallel } from 'tools';
    const calls = [1, 2, 3].map((number) => ['note', { number }]);
    let said;
    try { await callToolsParallel([...calls, ['note', { number: 'x' }], ['gone']]) } catch (error) { said = error.message }
    export default said
    """
    exports = Toolbox([note]).exports()
    run = run_code(source, imports={"tools": exports}, policy=Policy(ask=person))
    result = run.wait()
    assert result.unwrap() == "note was not allowed: a person said no"
    assert [len(batch) for batch in person.batches] == [3]
    assert [each.args for each in person.asked] == [{"number": n} for n in (1, 2, 3)]
    assert [each.line for each in person.asked] == [5] * 3
    assert sorted(made) == [1, 3]
    carrier, *carried = result.calls
    assert (carrier["name"], carrier["outcome"]) == ("tools.callToolsParallel", "denied")
    assert [(c["name"], c["args"], c["decision"], c["outcome"]) for c in carried] == [
        ("note", "{'number': 1}", "allow_once", "ok"),
        ("note", "{'number': 2}", "deny_once", "denied"),
        ("note", "{'number': 3}", "allow_once", "ok"),
    ]


def test_a_flood_of_parallel_calls_asks_twenty_times_at_most() -> None:
    person = Person(ALLOW)
    source = (
        "import * as t from 'tools'; await t.callToolsParallel(Array(30).fill(['add', { a: 1 }]));"
    )
    exports = Toolbox([add]).exports()
    result = run_code(
        f"{source} export default 1", imports={"tools": exports}, policy=Policy(ask=person)
    ).wait()
    assert result.error is not None
    assert "asked too many questions" in result.error.message
    assert len(person.asked) == 20


@pytest.mark.parametrize(
    "call", ["t.callToolsParallel()", "t.callTool()", "t.callTool(1, 2, 3, 4)"]
)
def test_calls_with_the_wrong_arguments_fail_as_they_do_without_a_policy(call: str) -> None:
    source = f"import * as t from 'tools'; let said; try {{ await {call} }} catch (e) {{ said = e.name }}; export default said"
    exports = Toolbox([add]).exports()
    person = Person(ALLOW)
    said = [
        run_code(source, imports={"tools": exports}, policy=policy).wait().unwrap()
        for policy in (None, Policy(ask=person))
    ]
    assert said[0] == said[1] is not None
    assert not person.asked


def test_an_answer_for_good_holds_for_what_a_tool_narrows_itself_to() -> None:
    marked: Any = drop
    marked.__sandbox_rule__ = lambda table: f"drop:{table}"
    person = Person(ApprovalChoice.ALLOW_ALWAYS)
    gate = gates.permission_gate(InMemoryPermissionStore(), person)
    box = Toolbox([drop])
    calls = [{"id": "1", "name": "drop", "args": {"table": table}} for table in ("x", "x", "y")]
    try:
        for call in calls:
            asyncio.run(run_tool_calls(box, [call], gate))
    finally:
        del marked.__sandbox_rule__
    assert [each.args["table"] for each in person.asked] == ["x", "y"]


@pytest.mark.parametrize("way", WAYS)
def test_the_words_that_would_allow_it_name_the_tool(way: str) -> None:
    exports = Toolbox([add, drop]).exports()
    source = f"{WAYS[way]}; export default 1"
    result = run_code(source, imports={"tools": exports}, policy=Policy({"add": "allow"})).wait()
    assert result.error is not None
    assert "Policy({'drop': 'allow'}) allows it" in result.error.message


def test_a_mark_of_a_tool_says_what_the_host_will_do() -> None:
    marked: Any = drop
    marked.__sandbox_will__ = lambda table: f"drop the table {table}"
    person = Person(ALLOW)
    try:
        run_program(
            "call_tool('drop', {'table': 'x'})", tools=[drop], policy=Policy(ask=person)
        ).wait()
    finally:
        del marked.__sandbox_will__
    assert [each.what for each in person.asked] == ["drop the table x"]
