"""Where each container of a value was first seen, so that an error can name the path to it."""

from __future__ import annotations

from ..budget import clipped

# An index, a key, or what else it is and which: ("key", 0), ("member", 3), ("column", "price").
Step = int | str | tuple[str, int | str]
ROOT = -1

_SHOWN_STEPS = 10  # at each end of a path; what is between them is left out
_SHOWN_KEY = 80  # characters


class Trail(list[tuple[int, Step]]):
    """For each container its parent's number, and the step from there; `root` is the root's name."""

    def __init__(self, root: str) -> None:
        super().__init__()
        self._root = root

    def path(self, number: int, *more: Step) -> str:
        """The path to a container, or to what lies some more steps beneath it."""
        steps = list(reversed(more))
        while number != ROOT:
            number, step = self[number]
            steps.append(step)
        steps.reverse()
        shown = _in_rows(steps[1:])  # the first one leads to the root itself
        if len(shown) > 2 * _SHOWN_STEPS:
            shown[_SHOWN_STEPS:-_SHOWN_STEPS] = ["…"]
        return self._root + "".join(shown)


def _in_rows(steps: list[Step]) -> list[str]:
    """As texts. A frame is walked by columns, but its reader thinks of rows: `[3].price`."""
    texts: list[str] = []
    column: str | None = None
    for step in steps:
        if isinstance(step, tuple) and step[0] == "column":
            column = _text(step[1])
            continue
        texts.append(_text(step))
        if column is not None:
            texts.append(column)
            column = None
    return texts if column is None else [*texts, column]


def _text(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if isinstance(step, tuple):
        return f"<{step[0]} {step[1]}>"
    key = clipped(step, _SHOWN_KEY)
    return f".{key}" if step.isidentifier() else f"[{key!r}]"
