"""`Call`: one call of a lent function, as it is asked about, decided, shown and kept. And who decides.

A lent function may carry marks, attributes that say more about it than its name:
    __sandbox_tier__   a text, such as "T4" for what only a person or a kept answer may allow
    __sandbox_will__   called with the call's arguments: what the host will do, in a few words
    __sandbox_rule__   called with them, too: a narrower name for rules, or a list of such names
    __sandbox_also__   another name that rules know it by
    __sandbox_gated__  of one that carries calls of others: called in its place if there is a gate, with
                       `async decide(calls) -> decisions` and the arguments
    __sandbox_late__   true of a plain function that gives an awaitable: the guest waits for its value
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from .brief import brief
from .budget import capped

ALLOWED, ASKED = "allow", "ask"  # decisions: no rule, or one that allows; none yet
OK, FAILED, REFUSED, UNFINISHED = "ok", "error", "denied", "unfinished"  # how a call ended
MOST_KEPT = 200  # calls of one run; and as many again that were asked about or denied
_LONGEST = 200  # characters of the arguments that are kept
IN_A_QUESTION = 2_000  # that a person is shown
_LONGEST_TEXT = 60
_LONGEST_WILL = 10_000  # characters of what the host will do
_MOST_RULES = 1_000  # names that one call may have for rules
_LONGEST_RULES = 100_000  # characters of all of them: they are kept as long as answers about them
_LARGE_NUMBER = 1 << 63
_SCALARS = frozenset((bool, float, type(None)))


@dataclass(slots=True, eq=False)
class Call:
    """Who, what, with which arguments, how it was decided and how it ended."""

    name: str
    args: Any = ()  # until it has ended
    id: str = ""
    tier: str | None = None
    what: str | None = None  # the host will do, if that says more
    line: int | None = None  # of the guest's code
    rules: tuple[str, ...] = ()  # names for rules, narrower than its own
    also: tuple[str, ...] = ()  # other names that the same function has
    why: str | None = None  # it is asked about again
    shown: str = ""  # the arguments, shortened
    decision: str = ALLOWED
    duration_ms: float = 0.0
    bytes: int = 0  # that crossed, both ways, about
    outcome: str = UNFINISHED
    is_kept: bool = False  # in the log of its run

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "args": self.shown,
            "decision": self.decision,
            "durationMs": self.duration_ms,
            "bytes": self.bytes,
            "outcome": self.outcome,
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """`how` is the rule's effect or the person's choice; `message` is for whoever was denied."""

    allowed: bool
    how: str
    message: str = field(default="", compare=False)


class Refused(PermissionError):
    """A rule or a person said no; whoever called is told so, and nobody made a mistake."""


class Gate(Protocol):
    """Stands before the lent calls of one run. `permissions.Policy` makes one for each."""

    def decide(self, call: Call) -> Decision | None:
        """At once; None if a person has to be asked."""

    async def ask(self, call: Call) -> Decision:
        """The decision, after a person was asked if need be."""

    def close(self) -> None:
        """The run is over: open questions go away."""


class Rulebook(Protocol):
    """What the option `policy` takes: `permissions.Policy`."""

    def gate(self) -> Gate:
        """One for each run, because some answers are for one run only."""


class Marks(NamedTuple):
    """What a lent function says about itself."""

    tier: str | None = None
    will: Callable[..., object] | None = None
    rule: Callable[..., object] | None = None
    gated: Callable[..., Awaitable[Any]] | None = None
    also: str | None = None
    late: bool | None = None

    @classmethod
    def of(cls, function: object) -> Marks:
        tier = getattr(function, "__sandbox_tier__", None)
        will = getattr(function, "__sandbox_will__", None)
        rule = getattr(function, "__sandbox_rule__", None)
        gated = getattr(function, "__sandbox_gated__", None)
        also = getattr(function, "__sandbox_also__", None)
        late = getattr(function, "__sandbox_late__", None)
        marks = cls(tier, will, rule, gated, also, late)
        return UNMARKED if all(each is None for each in marks) else marks

    def put_on(self, call: Call) -> None:
        """All but `what`. Raises what the marks raise, and ValueError if they give no names."""
        if self is UNMARKED:
            return
        call.tier = self.tier
        if self.also is not None:
            call.also = (*call.also, self.also)
        found: Any = () if self.rule is None else _given(self.rule, call.args)
        names = (found,) if isinstance(found, str) else tuple(found)
        if len(names) > _MOST_RULES or not all(isinstance(name, str) and name for name in names):
            raise ValueError("__sandbox_rule__ has to give a name or a list of names")
        if sum(map(len, names)) > _LONGEST_RULES:
            raise ValueError("the names for rules of this call are too long")
        call.rules = names

    def what(self, args: Any) -> str | None:
        if self.will is None:
            return None
        return capped(str(_given(self.will, args)), _LONGEST_WILL)


def _given(mark: Callable[..., Any], args: Any) -> Any:
    """Tools are called with named arguments, bridges with a list."""
    return mark(**args) if isinstance(args, Mapping) else mark(*args)


UNMARKED = Marks()


def mark(function: Any, **marks: object) -> None:
    """Puts `will`, `rule`, `also`, `gated` or `late` on a function that is lent; `Marks.of` finds them."""
    for name, found in marks.items():
        setattr(function, f"__sandbox_{name}__", found)


@dataclass(slots=True)
class CallLog:
    """The calls of one run: the first, and of later ones those that were asked about or denied."""

    kept: list[Call] = field(default_factory=list)
    made: int = 0
    _noteworthy: int = 0

    def begin(self, name: str, args: Any, size: int) -> Call | None:
        """None if no more are kept."""
        self.made += 1
        if self.made > MOST_KEPT:
            return None
        call = Call(name, shown=spelled(args), bytes=size, is_kept=True)
        self.kept.append(call)
        return call

    def add(self, call: Call) -> None:
        """One that another carried."""
        self.made += 1
        if self.made <= MOST_KEPT:
            call.shown, call.is_kept = spelled(call.args), True
            self.kept.append(call)

    def keep(self, call: Call) -> None:
        """One that is worth it although it is not among the first."""
        if not call.is_kept and self._noteworthy < MOST_KEPT:
            self._noteworthy += 1
            call.shown, call.is_kept = spelled(call.args), True
            self.kept.append(call)

    def to_json(self) -> list[dict[str, Any]]:
        return [call.to_json() for call in self.kept]


def spelled(args: Any, most: int = _LONGEST) -> str:
    """Arguments as they stand in a call, cut. A guest's values may be long, deep and circular."""
    if not args:
        return "" if type(args) is list else brief(args, most)
    if type(args) is not list:
        return brief(args, most)
    if len(args) <= 3 and _are_short(args):
        return repr(args)[1:-1]
    return brief(args, most).removeprefix("[").removesuffix("]")


def _are_short(values: list[Any]) -> bool:
    """One loop, because it is asked for each of a run's first calls."""
    for value in values:
        kind = type(value)
        if kind is str:
            if len(value) > _LONGEST_TEXT:
                return False
        elif kind is int:
            if not -_LARGE_NUMBER < value < _LARGE_NUMBER:
                return False
        elif kind not in _SCALARS:
            return False
    return True
