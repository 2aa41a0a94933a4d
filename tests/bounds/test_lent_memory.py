"""Data that the host lends beyond the heap's limit ends the run as `memory`, whatever the guest does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox_kernel import CodeExecutionResult, run_code

LIMIT = 8 * 2**20

# Each kind is refused by the engine at another step: the text, the buffer, parsing, decoding a table.
TOO_MUCH: dict[str, Any] = {
    "rows": [{"id": i, "x": i * 1.5, "c": f"c{i}"} for i in range(50_000)],
    "text": "x" * (20 << 20),
    "binary": b"x" * (20 << 20),
    "odd_rows": [{"id": i, "tags": {i}} for i in range(50_000)],
}


def _run(source: str, **options: Any) -> CodeExecutionResult:
    return run_code(source, memory_limit_bytes=LIMIT, **options).wait(60)


def _by_global(data: Any) -> CodeExecutionResult:
    return _run("export default lent.length", globals={"lent": data})


def _by_import(data: Any) -> CodeExecutionResult:
    return _run("import { lent } from 'd'; export default 1", imports={"d": {"lent": data}})


def _by_argument(data: Any) -> CodeExecutionResult:
    return _run("export default (lent) => lent.length", execute={"args": [data]})


def _by_result(data: Any) -> CodeExecutionResult:
    return _run("export default get().length", globals={"get": lambda: data})


def _by_caught_result(data: Any) -> CodeExecutionResult:
    source = "let n = 'caught'; try { n = get().length } catch {} export default n"
    return _run(source, globals={"get": lambda: data})


def _by_caught_promise(data: Any) -> CodeExecutionResult:
    async def get() -> Any:
        return data

    source = "let n = 'caught'; try { n = (await get()).length } catch {} export default n"
    return _run(source, globals={"get": get})


def _by_caught_call_of_a_guest_function(data: Any) -> CodeExecutionResult:
    calls: list[Any] = []

    def call(function: Any) -> None:
        calls.append(function(data))

    source = "try { call(() => 1) } catch {} await null; export default 'went on'"
    return _run(source, globals={"call": call})


WAYS = [
    _by_global,
    _by_import,
    _by_argument,
    _by_result,
    _by_caught_result,
    _by_caught_promise,
    _by_caught_call_of_a_guest_function,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
@pytest.mark.parametrize("kind", TOO_MUCH)
def test_lent_data_beyond_the_heap_ends_as_memory(
    kind: str, way: Callable[[Any], CodeExecutionResult]
) -> None:
    result = way(TOO_MUCH[kind])
    assert result.status == "memory", (result.status, result.error, result.result)
    assert result.error is not None
    assert result.error.name == "MemoryLimitExceeded"


def test_an_error_whose_message_has_no_room_ends_as_memory() -> None:
    def fail() -> None:
        raise ValueError("x" * (20 << 20))

    source = "try { fail() } catch {} export default 'went on'"
    assert _run(source, globals={"fail": fail}).status == "memory"


def test_null_that_the_guest_throws_is_an_error_of_the_guest() -> None:
    for source in ("throw null", "await null; throw null"):
        result = _run(source, globals={"lent": [1]})
        assert (result.status, result.error and result.error.message) == ("error", "null")


def test_an_answer_to_a_guest_at_the_end_of_its_stack_is_not_a_lack_of_memory() -> None:
    source = """
let deepest = 0;
function dive(n) { try { deepest = Math.max(deepest, get().length); dive(n + 1) } catch {} }
dive(0);
export default deepest
"""
    result = _run(source, globals={"get": lambda: [{"a": {1}}]})
    assert (result.status, result.result) == ("success", 1)
