"""A cell is one run; its default export, or its last expression, is the result."""

from __future__ import annotations

import pytest

from tests.clients import Client


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("export default 42", "42"),
        ("export default async () => 42", "42"),
        ("export default Promise.resolve([1, 2])", "[ 1, 2 ]"),
        ("1 + 1", "2"),
        ("const x: number = 5\nx * 2", "10"),
        ("await Promise.resolve('late')", "'late'"),
        ("({ a: 1 })", "{ a: 1 }"),
        ("null", "null"),
        ("class P { x = 1 }\nnew P()", "P { x: 1 }"),
        ("(a, b) => a", "[Function (anonymous)]"),
        ("Symbol('s')", "Symbol(s)"),
        ("new Map([[1, new Set(['a'])]])", "Map(1) { 1 => Set(1) { 'a' } }"),
        ("10n ** 20n", "100000000000000000000n"),
        ("enum Color { Red, Green }\nColor.Green", "1"),
    ],
)
def test_the_result_of_a_cell(kernel: Client, code: str, text: str) -> None:
    assert kernel.value(code) == text


@pytest.mark.parametrize(
    "code", ["", "  \n ", "// nothing", "const x = 1", "export const y = 2", "undefined", "{ }"]
)
def test_a_cell_without_a_value_just_runs(kernel: Client, code: str) -> None:
    done = kernel.run(code)
    assert done.status == "ok"
    assert done.data is None
    assert done.stdout == done.stderr == ""


def test_cells_share_nothing(kernel: Client) -> None:
    kernel.run("globalThis.leak = 1; Array.prototype.leak = 2")
    assert kernel.value("[typeof leak, [].leak]") == "[ 'undefined', undefined ]"


def test_the_reply_counts_cells_and_silent_ones_do_not_count(kernel: Client) -> None:
    first = kernel.run("1").content["execution_count"]
    silent = kernel.run("console.log('x'); 1", silent=True)
    assert silent.status == "ok"
    assert [m["msg_type"] for m in silent.messages] == ["status", "status"]
    done = kernel.run("2")
    assert done.content["execution_count"] == first + 1
    assert done.all("execute_input")[0]["execution_count"] == first + 1
    assert done.all("execute_result")[0]["execution_count"] == first + 1


def test_results_are_text_and_json(kernel: Client) -> None:
    done = kernel.run('export default { a: [1, null, "x"] }')
    assert done.data == {
        "text/plain": "{ a: [ 1, null, 'x' ] }",
        "application/json": {"a": [1, None, "x"]},
    }
    assert kernel.run("NaN").data == {"text/plain": "NaN"}


def test_an_array_of_records_shows_once_as_a_table(kernel: Client) -> None:
    done = kernel.run("export default [{ id: 1, name: 'a' }, { id: 2, name: 'b' }]")
    assert done.displays == []
    assert done.data is not None
    assert "│       1 │  2 │ 'b'  │" in done.data["text/plain"]
    assert set(done.data) == {"text/plain", "text/html"}


def test_a_large_result_is_small(kernel: Client) -> None:
    done = kernel.run(
        "Array.from({ length: 10000 }, (_, id) => ({ id, x: NaN, at: new Date(id) }))"
    )
    assert done.data is not None
    assert done.data["text/plain"].endswith("... 9,980 more rows")
    assert len(str(done.data)) < 40_000


def test_kernel_info_names_the_language(kernel: Client) -> None:
    info = kernel.reply(kernel.channels.kernel_info())["content"]
    assert info["implementation"] == "sandbox-kernel"
    assert info["language_info"]["name"] == "typescript"
    assert info["language_info"]["file_extension"] == ".ts"
    assert "%help" in info["banner"]


def test_messages_come_in_the_protocols_order(kernel: Client) -> None:
    done = kernel.run("console.log('a'); console.error('b'); 1")
    kinds = [m["msg_type"] for m in done.messages]
    assert kinds == [
        "status", "execute_input", "stream", "stream", "execute_result", "status",
    ]  # fmt: skip
