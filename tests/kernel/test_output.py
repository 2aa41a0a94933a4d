"""Console output: live, in order, under its own cell, nothing lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.clients import Client


def test_levels_go_to_their_streams(kernel: Client) -> None:
    done = kernel.run(
        "console.log('l'); console.info('i'); console.debug('d')\n"
        "console.warn('w'); console.error('e')"
    )
    assert done.stdout == "l\ni\nd\n"
    assert done.stderr == "w\ne\n"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("console.log('a', 1, { b: ['c'] })", "a 1 { b: [ 'c' ] }"),
        ("console.log(new Map([['k', { v: 1 }]]))", "Map(1) { 'k' => { v: 1 } }"),
        ("console.log(new Set([1, 'x']))", "Set(2) { 1, 'x' }"),
        ("class Dog { name = 'Rex' }; console.log(new Dog())", "Dog { name: 'Rex' }"),
        ("const a: any = { n: 1 }; a.self = a; console.log(a)",
         "<ref *1> { n: 1, self: [Circular *1] }"),
        ("console.log(Array.from({ length: 200 }, () => 0))", "... 100 more items\n]"),
        ("console.log('%s has %d', 'x', 3)", "x has 3"),
        ("console.log([undefined, null, 1n, -0, NaN])", "[ undefined, null, 1n, -0, NaN ]"),
        ("console.log(() => 1, function named() {}, class K {})",
         "[Function (anonymous)] [Function: named] [class K]"),
        ("console.log(/x/g, Symbol('s'), new Date(0))", "/x/g Symbol(s) 1970-01-01T00:00:00.000Z"),
        ("console.log(new Uint8Array([1, 2]))", "Uint8Array(2) [ 1, 2 ]"),
        ("console.log([new Error('in a list')])", "[ [Error: in a list] ]"),
        ("console.log(new Error('with its stack'))\n1", "Error: with its stack\n"
         "    at <anonymous> (cell-N.ts:1:17)"),
        ("console.log()", ""),
    ],
)  # fmt: skip
def test_values_print_as_in_javascript_consoles(kernel: Client, code: str, text: str) -> None:
    shown = re.sub(r"cell-\d+", "cell-N", kernel.run(code).stdout)
    assert shown.endswith(text + "\n")


def test_table_group_count_time_assert_and_trace(kernel: Client) -> None:
    done = kernel.run(
        "console.table([{ a: 1 }, { a: 2 }])\n"
        "console.group('outer'); console.log('in'); console.group(); console.log('deep\\nline')\n"
        "console.groupEnd(); console.groupEnd(); console.log('out')\n"
        "console.count(); console.count(); console.count('x')\n"
        "console.time('t'); console.timeEnd('t')\n"
        "console.assert(1 === 1, 'never'); console.assert(false, 'broken')\n"
        "function here() { console.trace('trail') }\nhere()"
    )
    assert "│       1 │ 2 │" in done.stdout
    assert "outer\n  in\n    deep\n    line\nout\n" in done.stdout
    assert "default: 1\ndefault: 2\nx: 1\n" in done.stdout
    assert "t: " in done.stdout
    assert "never" not in done.stderr
    assert "Assertion failed: broken" in done.stderr
    assert "trail" in done.stderr
    assert "at here (" in done.stderr


def test_output_comes_while_the_cell_runs(kernel: Client, tmp_path: Path) -> None:
    door = tmp_path / "door"
    kernel.run(
        "%%bridge gate\nimport asyncio, pathlib\nasync def wait():\n"
        f"    while not pathlib.Path({str(door)!r}).exists(): await asyncio.sleep(0.01)"
    )
    msg_id = kernel.send("import { wait } from 'gate'\nconsole.log('early')\nawait wait()")
    assert kernel.wait_for(msg_id, "stream")["text"] == "early\n"
    assert [each["execution_state"] for each in kernel.seen(msg_id, "status")] == ["busy"]
    door.touch()
    assert kernel.finish(msg_id).status == "ok"


def test_of_twenty_thousand_lines_the_first_and_the_last_are_shown(kernel: Client) -> None:
    done = kernel.run("for (let i = 0; i < 20000; i++) console.log(`line ${i}`)")
    first = "".join(f"line {i}\n" for i in range(1000))
    last = "".join(f"line {i}\n" for i in range(19_950, 20_000))
    assert done.stdout == first + last
    assert done.stderr == "… 18,950 more lines, not shown\n"
    assert len(done.all("stream")) < 200


def test_lines_before_an_error_are_shown_with_it(kernel: Client) -> None:
    done = kernel.run("for (let i = 0; i < 5000; i++) console.log(i); throw new Error('x')")
    assert done.stdout.endswith("4998\n4999\n")
    assert "3,950 more lines" in done.stderr


def test_streams_interleave_in_order(kernel: Client) -> None:
    done = kernel.run("for (let i = 0; i < 50; i++) i % 2 ? console.error(i) : console.log(i)")
    both = "".join(c["text"] for c in done.all("stream"))
    assert both == "".join(f"{i}\n" for i in range(50))


def test_what_a_bridge_prints_stands_between_what_the_guest_prints(kernel: Client) -> None:
    kernel.run(
        "%%bridge p\nimport sys\ndef say(x):\n    print('py', x)\n    print('err', file=sys.stderr)"
    )
    done = kernel.run(
        "import { say } from 'p'\nconsole.log('js 1'); say(1); console.log('js 2'); say(2)"
    )
    assert done.stdout == "js 1\npy 1\njs 2\npy 2\n"
    assert done.stderr == "err\nerr\n"


def test_late_output_of_a_bridge_stays_under_its_own_cell(kernel: Client) -> None:
    kernel.run(
        "%%bridge late\nimport asyncio\n_door = asyncio.Event()\n_tasks = []\n"
        "async def _speak():\n    await _door.wait()\n    print('late')\n"
        "async def start():\n    _tasks.append(asyncio.ensure_future(_speak()))\n"
        "async def release():\n    _door.set()\n    await _tasks[0]"
    )
    first = kernel.send("import { start } from 'late'; await start()")
    kernel.finish(first)
    second = kernel.run("import { release } from 'late'; await release()")
    assert (second.status, second.stdout) == ("ok", "")
    kernel.wait_for_output(first, "late\n")


def test_output_before_an_error_comes_before_it(kernel: Client) -> None:
    done = kernel.run("console.log('before'); throw new Error('x')")
    kinds = [m["msg_type"] for m in done.messages]
    assert kinds.index("stream") < kinds.index("error")


def test_a_very_long_line_is_not_lost(kernel: Client) -> None:
    done = kernel.run("console.log('x'.repeat(1000000) + 'end')")
    assert len(done.stdout) == 1_000_004


def test_a_bridge_with_a_long_summary_has_a_line_for_each_export(kernel: Client) -> None:
    source = "%%bridge wide\ndef first(argument: str, another: int) -> str: ...\n"
    source += "def second(argument: str, another: int) -> str: ...\nLIMIT = 5"
    assert kernel.run(source).stdout == (
        "wide:\n  first(argument: str, another: int) -> str\n"
        "  second(argument: str, another: int) -> str\n  LIMIT\n"
    )
    kernel.run("%reset")


def test_a_small_tree_is_drawn_open(kernel: Client) -> None:
    (shown,) = kernel.run("export default { a: { b: 1 } }").all("execute_result")
    assert shown["metadata"] == {"application/json": {"expanded": True}}
