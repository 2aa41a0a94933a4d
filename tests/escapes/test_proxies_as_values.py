"""A Proxy answers whatever it likes while a value is read. The host gets data, or the guest an error."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_kernel import BigInt, GuestFunction
from tests.escapes.attack import attack

TRAPS = {
    "of_nothing": "new Proxy({ a: 1 }, {})",
    "of_an_array": "new Proxy([1, 2], {})",
    "of_a_map": "new Proxy(new Map(), {})",
    "of_a_date": "new Proxy(new Date(0), {})",
    "of_a_promise": "new Proxy(Promise.resolve(1), {})",
    "of_bytes": "new Proxy(new Uint8Array(3), {})",
    "of_a_function": "new Proxy(() => 1, {})",
    "of_an_error": "new Proxy(new Error('x'), {})",
    "revoked": "(() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy })()",
    "revoked_array": "(() => { const r = Proxy.revocable([], {}); r.revoke(); return r.proxy })()",
    "throwing": "new Proxy({}, new Proxy({}, { get() { throw 'trap' } }))",
    "throwing_on_get": "new Proxy({ a: 1 }, { get() { throw 'trap' } })",
    "throwing_on_keys": "new Proxy({ a: 1 }, { ownKeys() { throw 'trap' } })",
    "throwing_on_prototype": "new Proxy({}, { getPrototypeOf() { throw 'trap' } })",
    "lying_about_its_prototype": "new Proxy(new Map(), { getPrototypeOf: () => Object.prototype })",
    "lying_about_being_an_array": "new Proxy({}, { getPrototypeOf: () => Array.prototype })",
    "with_a_huge_length": "new Proxy([], { get: (t, k) => (k === 'length' ? 2 ** 53 : 1) })",
    "with_a_negative_length": "new Proxy([], { get: (t, k) => (k === 'length' ? -1 : 1) })",
    "with_a_length_of_nan": "new Proxy([], { get: (t, k) => (k === 'length' ? NaN : 1) })",
    "with_a_length_of_text": "new Proxy([], { get: (t, k) => (k === 'length' ? 'x' : 1) })",
    "changing_between_reads": "((n) => new Proxy({ a: 1 }, { get: () => (n++ ? 7n : 1) }))(0)",
    "turning_into_a_function": "((n) => new Proxy({ a: 1 }, { get: () => (n++ ? () => 1 : 1) }))(0)",
    "of_a_proxy_of_a_proxy": "new Proxy(new Proxy(new Proxy([1], {}), {}), {})",
}

# What the host sees of those that are read as data; the guest gets an error for all others.
CROSSES: dict[str, Any] = {
    "of_nothing": {"a": 1},
    "of_an_array": [1, 2],
    "of_a_proxy_of_a_proxy": [1],
    "lying_about_its_prototype": {},
    "with_a_negative_length": [],
    "with_a_length_of_nan": [],
    "with_a_length_of_text": [],
}
REFUSED = {
    "revoked": "TypeError",
    "revoked_array": "TypeError",
    "throwing": "trap",
    "throwing_on_get": "trap",
    "throwing_on_keys": "trap",
    "throwing_on_prototype": "trap",
}
# Which of its answers is read depends on how often it is asked: the guest's own affair.
CHANGING = ("changing_between_reads", "turning_into_a_function")


def told_of(value: str) -> tuple[list[Any], list[Any], list[str]]:
    """What a bridge, a report and a log make of it: what arrived, and what the guest was told."""
    received: list[Any] = []
    result = attack(
        f"""
const value = {value};
const told = [];
for (const way of [take, report, console.log]) {{
  try {{ way(value); told.push('none') }} catch (error) {{ told.push(error?.name ?? String(error)) }}
}}
export default told;
""",
        globals={"take": received.append},
        report=lambda value: None,
    )
    assert result.status == "success", result.error
    assert len(result.logs) == 1
    return received, result.reports, result.result


@pytest.mark.parametrize("trap", [trap for trap in TRAPS if trap not in CHANGING])
def test_a_proxy_is_read_as_data_or_refused(trap: str) -> None:
    received, reports, told = told_of(TRAPS[trap])
    if trap in CROSSES:
        assert (received, reports) == ([CROSSES[trap]], [CROSSES[trap]])
        assert told == ["none"] * 3
    elif trap == "of_a_function":
        assert [type(item) for item in (*received, *reports)] == [GuestFunction] * 2
        assert told == ["none"] * 3
    else:
        name = REFUSED.get(trap, "SerializationError")
        assert (received, reports, told) == ([], [], [name, name, "none"])


@pytest.mark.parametrize("trap", CHANGING)
def test_a_proxy_that_changes_while_it_is_read_gives_plain_data_or_an_error(trap: str) -> None:
    received, reports, told = told_of(TRAPS[trap])
    arrived = [item["a"] if isinstance(item, dict) else item for item in (*received, *reports)]
    assert {type(item) for item in arrived} <= {int, BigInt, GuestFunction}
    assert told.count("none") == 1 + len(arrived)
