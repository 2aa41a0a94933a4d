"""What a program says on stdout and stderr: the head of each stream is kept, the rest dropped."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from typing import Literal

Name = Literal["stdout", "stderr"]
Chunk = tuple[Name, str]
_FEW = 4_000  # chunks that are passed on however short they are
_SHORT = 1_024  # bytes; of more chunks, shorter ones are gathered


class Stream:
    """One of the two. Text is passed on as it comes; a character is never split."""

    def __init__(self, name: Name, most: int, pass_on: Callable[[Chunk], None]) -> None:
        self.truncated = False
        self.name = name
        self._left = most
        self._pass_on = pass_on
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._gathered = b""
        self._chunks = 0

    def feed(self, data: bytes) -> None:
        if len(data) > self._left:
            self.truncated = True
            data = data[: self._left]
        self._left -= len(data)
        self._gathered = self._gathered + data if self._gathered else data
        if self._chunks < _FEW or len(self._gathered) >= _SHORT:
            self._flush()

    def end(self) -> None:
        """What is left of a character that was cut is dropped; one that the program cut is shown."""
        self._flush(final=not self.truncated)

    def _flush(self, *, final: bool = False) -> None:
        text = self._decoder.decode(self._gathered, final)
        self._gathered = b""
        if text:
            self._chunks += 1
            self._pass_on((self.name, text))


def text_of(name: Name, chunks: Iterable[Chunk]) -> str:
    return "".join(text for which, text in chunks if which == name)


def text_of_both(chunks: Iterable[Chunk]) -> str:
    return "".join(text for _, text in chunks)
