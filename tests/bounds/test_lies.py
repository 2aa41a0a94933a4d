"""What no worker of ours would say, at sizes that would keep the host busy, ends the run at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox_kernel.engine.incoming import failure_of
from sandbox_kernel.wire.messages import CALL, CALLS, MAX_RELEASED, RELEASED, REPORT
from tests.hostile_worker.fake import face, finished, frame, is_crash, ready, value

LONG = 1 << 19  # digits: a bigint of the engine has at most half as many

LIES = {
    "a bigint beyond the engine's": frame(REPORT, f'T[["b","{"f" * LONG}"]]'),
    "a column of such": frame(REPORT, f'C6[["b",["{"f" * LONG}"]]]'),
    "a number of many digits": frame(REPORT, f'T[["n","{"1" * LONG}"]]'),
    "a column of such numbers": frame(REPORT, f'C0[["n",["{"1" * LONG}"]]]'),
}


@pytest.mark.parametrize("lie", LIES)
def test_numbers_that_the_engine_cannot_make_are_refused(lie: str) -> None:
    result = face(ready(), LIES[lie], finished())
    assert is_crash(result)
    assert "longer than any" in str(result.error)


def told(text: str, *binary: bytes) -> str:
    """What the host says of such a report."""
    result = face(ready(), frame(REPORT, text, 0, 0, *binary), finished())
    assert is_crash(result)
    return str(result.error)


def test_nothing_of_a_malformed_value_is_spelled() -> None:
    """Its `repr` would take long, and is the worker's text."""
    huge = json.dumps(["SECRET"] * 1000)
    for text in (
        f'T[[0],["x","Uint8Array",{huge}]]',
        f'T[[0],"f{"SECRET" * 1000}"]',
        f'T[[0],["{huge[:9000].encode().hex()}SECRET"]]',
        f'T[[0],["x","SECRET{"x" * 9000}",0]]',
        f'C0[["SECRET{"x" * 9000}"]]',
        f'C9[["a",[1],{huge}]]',
    ):
        assert "SECRET" not in told(text, b"12345678")


def test_positions_that_no_source_has_are_left_out() -> None:
    def failure(line: Any, column: Any) -> bytes:
        fields = {"status": "error", "name": "E", "message": "m", "stack": None, "specifier": None}
        return json.dumps({**fields, "filename": "f", "line": line, "column": column}).encode()

    for line, column in ((10**4000, 1), (1, 10**4000), (-1, -(10**4000)), (0, 0)):
        _, error, _ = failure_of(failure(line, column))
        assert (error.line or 1, error.column or 1) == (1, 1)
    _, error, _ = failure_of(failure(3, 7))
    assert (error.line, error.column) == (3, 7)


def test_functions_are_released_some_at_a_time() -> None:
    """One that is lent again with every answer may be released as often, but not all at once."""

    def same() -> None:
        """Bridge 0."""

    def again() -> dict[str, Any]:
        return {"same": same}

    def released(count: int) -> Any:
        calls = b"".join(value(CALL, [], at + 1, 1) for at in range(count))
        said = frame(RELEASED, f"P{json.dumps([0] * count)}")
        return face(ready(), calls, said, finished(), globals={"same": same, "again": again})

    assert released(MAX_RELEASED).status == "success"
    assert is_crash(released(MAX_RELEASED + 1))


def test_gathered_calls_are_never_synchronous() -> None:
    called: list[int] = []
    calls = frame(CALLS, f"P{json.dumps([[0, 0, [1]]] * 256)}")
    result = face(ready(), calls, finished(), globals={"call": called.append})
    assert is_crash(result)
    assert called == []


def test_many_bigints_as_long_as_the_engine_makes_them_are_a_value() -> None:
    digits = "f" * (1 << 18)
    texts, items = ",".join([f'"{digits}"'] * 40), ",".join([f'["b","{digits}"]'] * 40)
    for text in (f'C248[["a",[40],1],["b",[{texts}]]]', f'T[[0],["a",{items}]]'):
        result = face(ready(), frame(REPORT, text), finished())
        assert [each.bit_length() for each in result.reports[0]] == [1 << 20] * 40
