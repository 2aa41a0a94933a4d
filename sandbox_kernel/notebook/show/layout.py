"""How a structure fills lines: on one if it is short and shallow, else an entry a line.

Long arrays of short items stand in columns. The measures are those of Node's console.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WIDTH = 80
_INLINE_HEIGHT = 3  # so many levels may share a line
_GROUP_FROM = 7  # items; fewer stand one below the other
_MAX_COLUMNS = 16


@dataclass(slots=True)
class Layout:
    """Text already laid out; `height` counts the structures nested in it."""

    text: str
    height: int = 0
    is_rest: bool = False  # the "... 5 more items" at the end

    def beside(self, separator: str, other: Layout) -> Layout:
        return Layout(self.text + separator + other.text, max(self.height, other.height))


@dataclass(slots=True)
class Block:
    """A structure to lay out: `Map(2) ` + `{` + entries + `}`."""

    prefix: str
    braces: str
    entries: list[Layout] = field(default_factory=list)
    grouped: bool = False  # entries may stand in columns


def lay_out(block: Block, level: int) -> Layout:
    """`level` is how many structures hold this one, which is how far it is indented."""
    opening, closing = block.braces[0], block.braces[1]
    if not block.entries:
        return Layout(f"{block.prefix}{opening}{closing}", 1)
    height = 1 + max(entry.height for entry in block.entries)
    lines = [entry.text for entry in block.entries]
    if height <= _INLINE_HEIGHT:
        inline = f"{block.prefix}{opening} {', '.join(lines)} {closing}"
        if "\n" not in inline and len(inline) + 2 * level <= WIDTH - 4:
            return Layout(inline, height)
    if block.grouped and len(lines) >= _GROUP_FROM and height == 1:
        lines = _columns(block.entries)
    body = ",\n".join(lines).replace("\n", "\n  ")
    return Layout(f"{block.prefix}{opening}\n  {body}\n{closing}", height)


def _columns(entries: list[Layout]) -> list[str]:
    """Rows of equally wide items; numbers to the right, as they are read."""
    items = [entry.text for entry in entries if not entry.is_rest]
    rest = [entry.text for entry in entries if entry.is_rest]
    widest = max(map(len, items)) + 2
    total = sum(map(len, items)) + 2 * len(items)
    if widest * 3 >= WIDTH or (total / widest <= 5 and widest > 8):
        return [*items, *rest]
    columns = min(_MAX_COLUMNS, (WIDTH - 4) // widest, max(4, round((2.5 * len(items)) ** 0.5)))
    if columns <= 1:
        return [*items, *rest]
    numeric = all(item.lstrip("-")[:1].isdigit() for item in items)
    rows = [items[at : at + columns] for at in range(0, len(items), columns)]
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(columns)]
    return [*(_row(row, widths, numeric) for row in rows), *rest]


def _row(row: list[str], widths: list[int], numeric: bool) -> str:
    cells = zip(row, widths, strict=False)
    if numeric:
        return ", ".join(item.rjust(width) for item, width in cells)
    return " ".join(f"{item},".ljust(width + 1) for item, width in cells).rstrip(" ,")
