"""A worker that speaks the protocol, and then does not: whatever it says, the run settles and only once."""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import given

from sandbox_kernel.run import run_code
from tests.fuzz.conftest import tries
from tests.fuzz.shapes import READY, SPEECHES
from tests.hostile_worker.fake import Impostor, Peer


async def later(*args: Any) -> Any:
    return list(args)


class Counting:
    """A listener that counts how often its run settles."""

    def __init__(self, listener: Any) -> None:
        self._listener = listener
        self.settlements = 0

    def settled(self, outcome: Any) -> None:
        self.settlements += 1
        self._listener.settled(outcome)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._listener, name)


class CountingImpostor(Impostor):
    listeners: ClassVar[list[Counting]] = []  # of all examples: a second settlement may come late

    def start(self, order: Any, lent: Any, listener: Any, loop: Any) -> Any:
        self.listeners.append(Counting(listener))
        return super().start(order, lent, self.listeners[-1], loop)


def converse(ready: bool, frames: list[bytes], cut: int) -> Any:
    said = (READY if ready else b"") + b"".join(frames)
    said = said[: len(said) - cut] if cut > 0 else said

    def script(peer: Peer) -> None:
        peer.send(said)
        peer.socket.close()

    impostor = CountingImpostor(script)
    bridges = {"sync": lambda *args: list(args), "later": later}
    run = run_code("", engine=impostor, report=lambda value: None, globals=bridges)
    result = run.wait(30)
    assert impostor.problem is None or isinstance(impostor.problem, OSError)
    return result


@tries(300)
@given(SPEECHES)
def test_every_conversation_settles_once(speech: tuple[bool, list[bytes], int]) -> None:
    result = converse(*speech)
    assert (result.error is None) == (result.status == "success")
    assert {listener.settlements for listener in CountingImpostor.listeners} == {1}
    result.to_json()
