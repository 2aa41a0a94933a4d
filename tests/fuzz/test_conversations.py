"""A worker that speaks the protocol, and then does not: whatever it says, the run settles and only once."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from sandbox_kernel.run import run_code
from tests.fuzz.conftest import tries
from tests.fuzz.shapes import READY, SPEECHES
from tests.hostile_worker.fake import Impostor, Peer


async def later(*args: Any) -> Any:
    return list(args)


def converse(ready: bool, frames: list[bytes], cut: int) -> Any:
    said = (READY if ready else b"") + b"".join(frames)
    said = said[: len(said) - cut] if cut > 0 else said

    def script(peer: Peer) -> None:
        peer.send(said)
        peer.socket.close()

    impostor = Impostor(script)
    bridges = {"sync": lambda *args: list(args), "later": later}
    run = run_code("", engine=impostor, report=lambda value: None, globals=bridges)
    result = run.wait(30)
    assert impostor.problem is None or isinstance(impostor.problem, OSError)
    return result


@tries(300)
@given(SPEECHES)
def test_every_conversation_ends(speech: tuple[bool, list[bytes], int]) -> None:
    result = converse(*speech)
    assert result.status in ("success", "error", "memory", "terminated", "link_error")
    assert (result.error is None) == (result.status == "success")
    result.to_json()
