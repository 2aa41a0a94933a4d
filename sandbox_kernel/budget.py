"""How much of a value is spelled out for people, in characters and in work.

A guest's value may be small and yet endless when spelled out: what is shared is spelled each time,
and one text may fill the host's memory. So whatever renders a value takes a `Budget` and spends it
as it goes. Texts are cut where they are spelled; nothing is built in order to be cut.

Knows nothing of the rest of the package, so that every layer may use it.
"""

from __future__ import annotations

CHARACTERS = 120_000  # to spend on one rendering: a result, a log line, a table
WORK = 4_000  # units of up to 8 microseconds: a rendering never takes a noticeable while
_DECIMAL_BITS = 14_000  # Python refuses to print much more in decimal, and takes quadratic time
_BITS_PER_DIGIT = 3.33
_NOTE = 30  # characters that `more` takes
_JOINER = "\u200d"  # the end of a text that was cut may have torn an emoji apart


class Budget:
    """Characters and units of work that may still be spent; a part spends its whole's as well."""

    __slots__ = ("_whole", "characters", "work")

    def __init__(
        self, characters: int = CHARACTERS, work: int = WORK, whole: Budget | None = None
    ) -> None:
        self.characters = characters
        self.work = work
        self._whole = whole

    @property
    def spent(self) -> bool:
        return self.characters <= 0 or self.work <= 0

    def spend(self, characters: int, work: int = 1) -> None:
        budget: Budget | None = self
        while budget is not None:
            budget.characters -= characters
            budget.work -= work
            budget = budget._whole

    def part(self, characters: int, work: int) -> Budget:
        """For one of several that share this budget, so that none of them takes it all."""
        return Budget(max(0, min(characters, self.characters)), max(0, min(work, self.work)), self)


def clipped(text: str, most: int) -> str:
    """A name or the like; an ellipsis stands for the rest of a long one."""
    return text if len(text) <= most else f"{text[:most].rstrip(_JOINER)}…"


def more(characters: int) -> str:
    """How readers are told that this much is missing: `… 1.2 MB more`."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if characters >= unit:
            return f"… {characters / unit:.1f} {name} more"
    if characters >= 10_000:
        return f"… {characters // 1000} KB more"
    return f"… {characters:,} more character{'' if characters == 1 else 's'}"


def capped(text: str, most: int) -> str:
    """The text, or its beginning and how much is missing, in at most so many characters."""
    if len(text) <= most:
        return text
    kept = max(0, most - _NOTE)
    return text[:kept].rstrip(_JOINER) + more(len(text) - kept)


def hard_limit(characters: int) -> int:
    """What a rendering with that budget may have at most: its notes about what is missing, and the
    last text that it spelled, may exceed the budget."""
    return characters + characters // 4 + 200


def digits(value: int, most: int) -> str:
    """Decimal if that has few enough digits, else the first of them in hexadecimal."""
    bits = value.bit_length()
    if bits <= min(_DECIMAL_BITS, most * _BITS_PER_DIGIT):
        return str(int(value))
    sign = "-" if value < 0 else ""
    count = -(-bits // 4)
    if count <= most:
        return f"{sign}0x{abs(value):x}"
    top = abs(value) >> 4 * (count - most)
    return f"{sign}0x{top:x}… {count - most:,} more digits "
