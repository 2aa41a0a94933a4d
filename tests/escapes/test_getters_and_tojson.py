"""Values that run code while they are read: in the guest, with nothing of ours in reach."""

from __future__ import annotations

from typing import Any

from sandbox_kernel import undefined
from tests.escapes.attack import attack, failure, outcome


def test_to_json_is_not_asked() -> None:
    received: list[Any] = []
    outcome(
        """
take({ a: 1, toJSON: undefined });
Object.prototype.toJSON = () => 'forged';
Array.prototype.toJSON = () => 'forged';
Date.prototype.toJSON = () => 'forged';
String.prototype.toJSON = Number.prototype.toJSON = Boolean.prototype.toJSON = () => 'forged';
take({ a: [1, 'two', true] }, [], {});
export default 1;
""",
        globals={"take": lambda *args: received.append(args)},
    )
    assert received == [
        ({"a": 1, "toJSON": undefined},),
        ({"a": [1, "two", True]}, [], {}),
    ]


def test_a_method_named_to_json_is_a_function_like_any_other() -> None:
    received: list[Any] = []
    outcome("take({ toJSON() { return 1 } }); export default 1", globals={"take": received.append})
    assert list(received[0]) == ["toJSON"]
    assert repr(received[0]["toJSON"]) == "<guest function toJSON>"


def test_a_getter_that_reports_while_it_is_reported() -> None:
    """The inner encoding must not disturb the outer one, binary data included."""
    result = attack(
        """
const outer = [
  new Uint8Array([1]),
  { get inner() { report(new Uint8Array([2, 2])); return 'read' } },
  new Uint8Array([3, 3, 3]),
];
report(outer);
const shared = { s: 1 };
report({ a: shared, get b() { report('nested'); return shared }, c: shared });
console.log({ get x() { console.log('inside'); return take(new Uint8Array([4])) } }, new Uint8Array([5]));
export default 1;
""",
        globals={"take": lambda data: list(data)},
        report=lambda value: None,
    )
    assert result.status == "success", result.error
    *first, last = (report for report in result.reports if report != "nested")
    assert first == [b"\2\2", [b"\1", {"inner": "read"}, b"\3\3\3"]]
    assert last == {"a": {"s": 1}, "b": {"s": 1}, "c": {"s": 1}}
    assert last["a"] is last["b"] is last["c"]
    assert "nested" in result.reports
    assert [log.args for log in result.logs[:-1]] == [("inside",)]
    assert result.logs[-1].args[1] == b"\5"


def test_a_getter_that_takes_the_buffer_away_while_it_is_read() -> None:
    """Recorded first, then detached or shrunk by a later getter: never a byte beyond its end."""
    received: list[Any] = []
    result = attack(
        """
const a = new Uint8Array(1000), b = new ArrayBuffer(1000, { maxByteLength: 2000 });
const view = new Float64Array(b);
const told = [];
const attempt = (value) => { try { take(value) } catch (error) { told.push(error.name) } };
attempt([a, { get x() { a.buffer.transfer(); return 1 } }]);
attempt([b, { get x() { b.resize(16); return 1 } }]);
attempt([view, { get x() { b.resize(8); return 1 } }]);
attempt([a]);
export default told;
""",
        globals={"take": received.append},
    )
    assert result.status == "success", result.error
    assert result.result == ["TypeError", "TypeError"]  # the two attempts with a detached buffer
    assert [len(bytes(item[0])) for item in received] == [16, 8]


def test_getters_that_throw_what_they_like() -> None:
    for thrown, name, message in [
        ("'text'", "Error", "text"),
        ("null", "Error", "null"),
        ("undefined", "Error", "undefined"),
        ("7n", "Error", "7"),
        ("Symbol('s')", "Error", "Symbol(s)"),
        ("{ name: 'N', message: 'M' }", "N", "M"),
        ("new Proxy({}, { get() { throw 1 } })", "Error", "[Object]"),
        ("() => 1", "Error", "[Function]"),
        ("Object.create(null)", "Error", "{}"),
    ]:
        source = f"export default {{ get a() {{ throw {thrown} }} }}"
        assert failure(source) == ("error", name, message), thrown


def test_a_descriptor_read_through_object_prototype() -> None:
    """Descriptors inherit from Object.prototype, where the guest may have put fields of that name."""
    result = attack(
        """
Object.prototype.get = () => 'forged';
Object.prototype.value = 'forged';
Object.prototype.writable = true;
report({ a: 1 });
console.log(function named() {}, class {}, { b: 2 });
export default [1, { c: 3 }];
""",
        report=lambda value: None,
    )
    assert result.status == "success", result.error
    assert (result.reports, result.result) == ([{"a": 1}], [1, {"c": 3}])
    ((named, anonymous, plain),) = (log.args for log in result.logs)
    assert (named.text, anonymous.text) == ("[Function: named]", "[class (anonymous)]")
    assert plain == {"b": 2}


def test_an_object_is_not_asked_for_its_number() -> None:
    """To ask an object for its number runs the guest's code."""
    source = """
let asked = 0;
Object.prototype.valueOf = Array.prototype.toString = () => { asked++; return 1 };
report([1, { d: new Date(0) }, [2]]);
console.log([1, { d: new Date(0) }]);
export default () => asked;
"""
    assert outcome(source, report=lambda value: None) == 0


def test_an_array_that_would_be_huge_if_joined_is_never_joined() -> None:
    source = """
let huge = [new Date(0)];
for (let i = 0; i < 30; i++) huge = [huge, huge];
export default [1, huge, 2n];
"""
    first, huge, last = outcome(source)
    assert (first, last) == (1, 2)
    assert huge[0] is huge[1]
