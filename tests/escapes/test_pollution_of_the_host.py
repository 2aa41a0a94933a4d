"""Names that mean something to an object system stay names: keys of dicts, own properties, nothing more."""

from __future__ import annotations

from typing import Any

from sandbox_kernel import undefined
from tests.escapes.attack import outcome

NAMES = ["__proto__", "constructor", "prototype", "__class__", "__dict__", "__init__", "__reduce__",
         "__getattr__", "__del__", "toString", "valueOf", "then", "toJSON", "hasOwnProperty"]  # fmt: skip


def test_the_guest_cannot_pollute_the_host() -> None:
    received: list[Any] = []
    outcome(
        """
for (const name of names) {
  const one = JSON.parse(`{"${name}": {"polluted": 1}}`);
  const two = new Map([[name, { polluted: 1 }]]);
  const three = Object.create(null);
  three[name] = 1n; // in the other wire form
  take(one, two, three);
}
export default 1;
""",
        globals={"names": NAMES, "take": lambda *args: received.append(args)},
    )
    for name, (one, two, three) in zip(NAMES, received, strict=True):
        assert type(one) is dict
        assert one == {name: {"polluted": 1}}
        assert list(two.items()) == [(name, {"polluted": 1})]
        assert (type(three), list(three)) == (dict, [name])
    assert not hasattr(object, "polluted")
    assert not hasattr({}, "polluted")


def test_the_host_does_not_pollute_the_guest() -> None:
    """A host that passes on data with such keys does not pollute the realm."""
    given = [{name: {"polluted": 1}} for name in NAMES if name not in ("then", "toJSON")]
    seen = outcome(
        """
const polluted = [{}.polluted, [].polluted, (() => 1).polluted, Object.prototype.polluted];
export default [given.map((one, i) => [Object.keys(one)[0], Object.getPrototypeOf(one) === Object.prototype]),
  polluted];
""",
        globals={"given": given},
    )
    assert seen == [[[next(iter(one)), True] for one in given], [undefined] * 4]


def test_a_bridge_called_through_a_polluted_prototype() -> None:
    """Names of the guest never become attributes of the host."""
    seen = outcome(
        """
const tried = [];
for (const name of ['__globals__', '__code__', '__closure__', '__self__', '__class__', 'func_globals']) {
  tried.push(typeof bridge[name]);
  bridge[name] = 1;
}
export default [tried, bridge()];
""",
        globals={"bridge": lambda: "same"},
    )
    assert seen == [["undefined"] * 6, "same"]
