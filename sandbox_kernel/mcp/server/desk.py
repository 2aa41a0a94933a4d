"""The desk: takes a checked call of one of the four tools, and says what to answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from ...errors import SandboxError
from ...execution import Execution
from ...run import evaluate, run_program
from .answers import Answer
from .attending import MOST_ROUNDS, Visitor, attend
from .lent import Lent
from .offer import DEFAULT_WAIT_MS, Offer, offers, problem_in
from .questions import Question
from .runs import KeptRun, Runs

_PROGRAM_OPTIONS = ("stdin", "args", "files", "timeout_ms")


class Refused(Exception):
    """The call is wrong; the message is for the model."""


@dataclass(frozen=True, slots=True)
class Round:
    """A question that our answer asks. `state` comes back with the person's answer."""

    question: Question
    state: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client brings back: the state of the round, and the form."""

    state: str
    action: str = "cancel"
    content: Any = None


class Desk:
    """Knows nothing of the protocol. One for all connections of a server."""

    def __init__(self, lent: Lent | None = None) -> None:
        self._lent = lent or Lent()
        self._runs = Runs()
        self.offers: dict[str, Offer] = {each.name: each for each in offers(self._lent.shown)}

    async def call(
        self, name: str, arguments: Mapping[str, Any], visitor: Visitor, reply: Reply | None = None
    ) -> Answer | Round:
        """Raises `Refused`. Cancelled, it ends the run unless it only waited for it."""
        problem = problem_in(name, arguments, self.offers)
        if problem is not None:
            raise Refused(problem)
        if name == "stop":
            return await self._stop(arguments["run"], visitor)
        seconds = arguments.get("wait_ms", DEFAULT_WAIT_MS) / 1000
        if reply is not None:
            kept, rounds = self._resumed(reply)
        elif name == "wait":
            kept, rounds = self._known(arguments["run"]), 0
        else:
            kept, rounds = self._started(name, arguments, visitor), 0
        try:
            question = await attend(kept, visitor, seconds, rounds)
        except anyio.get_cancelled_exc_class():
            if name != "wait":
                kept.stop("cancelled by the client")
            raise
        return kept.answer if question is None else _round(kept, question, rounds + 1)

    @property
    def runs(self) -> Iterator[KeptRun]:
        """Those that go on, and the last of those that ended."""
        return iter(self._runs)

    def close(self) -> None:
        """Ends all runs."""
        self._runs.close()

    async def _stop(self, handle: str, visitor: Visitor) -> Answer:
        kept = self._known(handle)
        kept.stop("stopped by the client")
        await attend(kept, visitor, seconds=5, rounds=MOST_ROUNDS)
        return kept.answer

    def _known(self, handle: str) -> KeptRun:
        kept = self._runs.get(handle)
        if kept is None:
            raise Refused(f"there is no run {handle!r:.80}; handles end with the server")
        return kept

    def _resumed(self, reply: Reply) -> tuple[KeptRun, int]:
        state = _state_of(reply)
        kept = self._known(state["run"])
        question = kept.questions.open
        if question is not None and question.number == state["question"]:
            question.settle(reply.action, reply.content)
        return kept, state["rounds"]

    def _started(self, name: str, arguments: Mapping[str, Any], visitor: Visitor) -> KeptRun:
        start = self._code if name == "run_code" else self._program
        try:
            return self._runs.start(lambda kept: start(arguments, kept, visitor))
        except SandboxError as error:
            raise Refused(f"{name}: {error}") from error

    def _code(
        self, arguments: Mapping[str, Any], kept: KeptRun, visitor: Visitor
    ) -> Execution[Any]:
        run = evaluate(
            arguments["code"],
            self._lent.options,
            language=arguments.get("language"),
            execute={"args": arguments.get("args", [])},
            report=kept.changed,
            **self._gated(kept, visitor),
        )
        deadline = self._lent.deadline
        return run if deadline is None else run.terminate_after(deadline)

    def _program(
        self, arguments: Mapping[str, Any], kept: KeptRun, visitor: Visitor
    ) -> Execution[Any]:
        given: dict[str, Any] = {name: arguments.get(name) for name in _PROGRAM_OPTIONS}
        return run_program(arguments["code"], arguments["language"], **given)

    def _gated(self, kept: KeptRun, visitor: Visitor) -> dict[str, Any]:
        asked = kept.questions if visitor.asks != "never" else None
        policy = self._lent.policy(asked)
        return {} if policy is None else {"policy": policy}


def _round(kept: KeptRun, question: Question, rounds: int) -> Round:
    state = {"run": kept.handle, "question": question.number, "rounds": rounds}
    return Round(question, json.dumps(state))


def _state_of(reply: Reply) -> dict[str, Any]:
    """Ours, as the SDK's seal assures; a damaged one is refused all the same."""
    try:
        state = json.loads(reply.state)
        return {
            "run": str(state["run"]),
            "question": int(state["question"]),
            "rounds": int(state["rounds"]),
        }
    except (ValueError, KeyError, TypeError):
        raise Refused("the state of this call cannot be read; call the tool again") from None
