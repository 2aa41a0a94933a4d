"""Coverage-guided fuzzing of the host's decoders, where atheris is installed.

python tests/fuzz/coverage_guided.py -max_total_time=300
"""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]  # optional, and untyped

with atheris.instrument_imports(include=["sandbox_kernel.wire"]):
    from sandbox_kernel.errors import ProtocolError
    from sandbox_kernel.wire.frame import FrameReader
    from sandbox_kernel.wire.values import decode, decode_lines, weight


def anything(size: int) -> None:
    """No cap at all."""


class Borrower:
    def guest_function(self, ident: int, name: str) -> object:
        return object()

    def guest_promise(self, ident: int) -> object:
        return object()


def one(data: bytes) -> None:
    """The bytes as a stream of frames, and as a value, and as lines; only ProtocolError may come of it."""
    reader = FrameReader(1 << 16)
    try:
        for start in range(0, len(data), 1000):
            piece = data[start : start + 1000]
            reader.room()[: len(piece)] = piece
            for frame in reader.feed(len(piece)):
                weight(frame.text, frame.attachments)
                decode(frame.text, frame.attachments, Borrower(), anything)
    except ProtocolError:
        pass
    for form in (b"T", b"P", b""):
        try:
            decode(form + data, [b"abcdefgh", b""], Borrower(), anything)
        except ProtocolError:
            pass
    try:
        list(decode_lines(data, lambda letter: Borrower(), anything))
    except ProtocolError:
        pass


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
