"""What a worker may say about a module that is to stay open, and what is not believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox_kernel import GuestError, RunEndedError, RunFailed, open_code
from sandbox_kernel.wire.messages import (
    CALL_GUEST,
    FINISHED,
    GUEST_RETURN,
    GUEST_THROW,
    OPENED,
    REPORT,
    RESOLVED,
)
from tests.hostile_worker.fake import LIMITS, Impostor, Peer, face, frame, is_crash, ready, value

OPEN = value(OPENED, [["go", 0], ["other", -1]])


def impostor(*sent: bytes, answers: tuple[bytes, ...] = ()) -> Impostor:
    """It says that much, and answers its first call with the rest."""

    def play(peer: Peer) -> None:
        peer.send(*sent)
        while peer.receive().kind != CALL_GUEST:
            pass
        peer.send(*answers)

    return Impostor(play)


async def test_a_well_behaved_worker_is_called_and_answers() -> None:
    """The control: this much is not an attack."""
    answered = value(GUEST_RETURN, "answer", a=1)
    async with open_code("", engine=impostor(ready(), OPEN, answers=(answered,))) as module:
        assert await module.go() == "answer"


LYING: dict[str, bytes] = {
    "no_list": value(OPENED, {"go": 0}),
    "a_name_without_a_number": value(OPENED, [["go"]]),
    "a_number_that_is_text": value(OPENED, [["go", "0"]]),
    "a_number_that_is_true": value(OPENED, [["go", True]]),
    "a_number_that_is_too_large": value(OPENED, [["go", 2**40]]),
    "a_negative_number": value(OPENED, [["go", -2]]),
    "a_name_that_is_a_number": value(OPENED, [[1, 0]]),
    "a_name_twice": value(OPENED, [["go", 0], ["go", 1]]),
    "no_json": frame(OPENED, "P[["),
    "a_result_instead": value(FINISHED, 1),
}


@pytest.mark.parametrize("name", LYING)
async def test_a_malformed_opening_is_a_crash(name: str) -> None:
    handle = open_code("", engine=Impostor(lambda peer: peer.send(ready(), LYING[name])))
    with pytest.raises(RunFailed) as caught:
        await handle.__aenter__()
    assert is_crash(caught.value.result)


def test_a_module_that_is_to_run_cannot_be_opened() -> None:
    assert is_crash(face(ready(), OPEN))


LATER: dict[str, bytes] = {
    "another_opening": OPEN,
    "a_result": value(FINISHED, 1),
    "an_answer_to_another_call": value(GUEST_RETURN, 1, a=7),
    "an_answer_twice": value(GUEST_RETURN, 1, a=9) * 2,
    "a_promise_that_was_not_lent": value(RESOLVED, 1, a=1),
    "a_throw_that_is_no_error": value(GUEST_THROW, "text", a=1),
    "a_report_without_a_sink": value(REPORT, 1),
}


@pytest.mark.parametrize("name", LATER)
async def test_what_an_open_module_may_not_say_ends_it(name: str) -> None:
    async with open_code("", engine=impostor(ready(), OPEN, answers=(LATER[name],))) as module:
        with pytest.raises((RunEndedError, GuestError), match="SandboxCrash"):
            await module.go()


async def test_promises_that_it_never_keeps_are_charged_for_good() -> None:
    """An answer that the caller has taken is not charged any more, unless it leaves something here."""

    limits = LIMITS._replace(output_bytes=4 * 2**20)

    def play(peer: Peer) -> None:
        peer.send(ready(), OPEN)
        lent = 0
        while True:
            call = peer.receive()
            if call.kind != CALL_GUEST:
                continue
            promises = [["p", lent + n] for n in range(1000)]
            lent += len(promises)
            table: list[Any] = [[0], ["a", *([n + 1] for n in range(len(promises)))], *promises]
            peer.send(_answer(table, call.a))

    async with open_code("", engine=Impostor(play, limits)) as module:
        with pytest.raises(RunEndedError, match="safety cap"):
            await repeat(module.go)


async def repeat(export: Any) -> None:
    for _ in range(1000):
        await export()


def _answer(table: list[Any], call: int) -> bytes:
    return frame(GUEST_RETURN, "T" + json.dumps(table, separators=(",", ":")), call)
