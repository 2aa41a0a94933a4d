"""A Proxy answers whatever it likes while a value is read. The host gets data, or the guest an error."""

from __future__ import annotations

from typing import Any

import pytest

from tests.escapes.attack import attack, outcome

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

# What the host sees; None where the guest gets an error instead. Both are exact.
CROSSES: dict[str, Any] = {
    "of_nothing": {"a": 1},
    "of_an_array": [1, 2],
    "of_an_error": None,
    "of_a_proxy_of_a_proxy": [1],
    "lying_about_its_prototype": {},
    "with_a_negative_length": [],
    "with_a_length_of_nan": [],
    "with_a_length_of_text": [],
}


@pytest.mark.parametrize("trap", TRAPS)
def test_a_proxy_is_read_as_data_or_refused(trap: str) -> None:
    received: list[Any] = []
    result = attack(
        f"""
const value = {TRAPS[trap]};
let told = 'none';
try {{ take(value) }} catch (error) {{ told = error?.name ?? String(error) }}
try {{ report(value) }} catch (error) {{ told += ' ' + (error?.name ?? String(error)) }}
try {{ console.log(value) }} catch (error) {{ told += ' log:' + (error?.name ?? String(error)) }}
export default told;
""",
        globals={"take": received.append},
        report=lambda value: None,
    )
    assert result.status == "success", result.error
    assert "log:" not in result.result
    if trap in ("of_a_function", "turning_into_a_function", "changing_between_reads"):
        assert result.result in ("none", "TypeError", "none TypeError", "TypeError TypeError")
    elif CROSSES.get(trap) is not None:
        assert (received, result.reports) == ([CROSSES[trap]], [CROSSES[trap]])
        assert result.result == "none"
    else:
        assert (received, result.reports) == ([], [])
        assert result.result in (
            "SerializationError SerializationError",
            "trap trap",
            "TypeError TypeError",
        )
    assert outcome("export default 1") == 1
