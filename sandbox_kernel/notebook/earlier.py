"""Which cell declared a name, for the hint that each cell is a fresh sandbox."""

from __future__ import annotations

import re
from collections import deque

_CELLS = 200  # the latest ones
_CHARACTERS = 20_000  # of each
# By itself, in a pattern, and behind others. Each looks at a bounded part of a line.
_DECLARED = (
    r"^(?:export )?(?:default )?(?:async )?"
    r"(?:const|let|var|function\*?|class|enum|namespace) NAME(?![\w$])",
    r"^(?:const|let|var) ?[{\[](?:[^\n]{0,200}[ ,:{\[])?NAME ?[,}\]=]",
    r"^(?:const|let|var) [^;([{\n]{0,200}, ?NAME ?[=,;]",
)


class EarlierCells:
    """Texts of cells that ran. Looked at only when a name is missing, and never parsed."""

    def __init__(self) -> None:
        self._cells: deque[tuple[int, str]] = deque(maxlen=_CELLS)

    def add(self, number: int, source: str) -> None:
        self._cells.append((number, source[:_CHARACTERS]))

    def cell_of(self, name: str) -> int | None:
        """The number of the latest cell that declares a name at the beginning of a line."""
        patterns = [pattern.replace("NAME", re.escape(name)) for pattern in _DECLARED]
        for number, source in reversed(self._cells):
            if name in source and any(re.search(p, source, re.MULTILINE) for p in patterns):
                return number
        return None
