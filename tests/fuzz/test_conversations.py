"""A worker that speaks the protocol, and then does not: whatever it says, the run settles and only once."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from hypothesis import given
from hypothesis import strategies as st

from sandbox_kernel import GuestError, RunEndedError, RunFailed
from sandbox_kernel.run import open_code, run_code
from sandbox_kernel.wire import messages
from tests.fuzz.conftest import tries
from tests.fuzz.shapes import READY, SPEECHES
from tests.hostile_worker.fake import Impostor, Peer, value


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


async def open_and_call(impostor: Impostor) -> None:
    """Calls whatever it claims to export; nothing else than these errors may come of it."""
    bridges = {"sync": lambda *args: list(args), "later": later}
    handle = open_code("", engine=impostor, report=lambda value: None, globals=bridges)
    try:
        async with handle as module:
            names = [name for name in dir(module) if hasattr(module, name)]
            calls = (getattr(module, name)(1) for name in names[:5])
            await asyncio.gather(*calls)
    except (RunFailed, RunEndedError, GuestError):
        pass
    await handle._run


@tries(200)
@given(st.lists(st.tuples(st.text(max_size=3), st.integers(-2, 9)), max_size=3), SPEECHES)
def test_every_opening_settles_once(
    exports: list[tuple[str, int]], speech: tuple[bool, list[bytes], int]
) -> None:
    _, frames, _ = speech
    said = READY + value(messages.OPENED, exports) + b"".join(frames)

    def script(peer: Peer) -> None:
        peer.send(said)
        peer.socket.close()

    impostor = CountingImpostor(script)
    asyncio.run(asyncio.wait_for(open_and_call(impostor), 30))
    assert impostor.problem is None or isinstance(impostor.problem, OSError)
    assert {listener.settlements for listener in CountingImpostor.listeners} == {1}
