"""`display()`: tables, charts and images that the host makes of what a guest gives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from ..bridges import mode_of
from ..calls import mark
from ..errors import LimitError, OptionError
from ..loans import Display, Loan
from ..values import Undefined
from ..wire.messages import ASYNC
from .charts import chart_display
from .images import image_display
from .scripts import described, script
from .tables import table_display

_EXPORTS = ("table", "chart", "image")
MOST_DISPLAYS = 50
MOST_BYTES = 4 * 2**20  # of one
MOST_BYTES_IN_ALL = 32 * 2**20


def display(show: Callable[[Display], object] | None = None) -> Displaying:
    """Lends `table(rows)`, `chart({mark, data, x, y})` and `image(bytes)`.

    What a run shows is in `result.displays`; `show` is called with each of them as it comes.
    """
    if show is not None and (not callable(show) or mode_of(show) == ASYNC):
        raise OptionError(f"show must be a plain function, not {show!r:.80}", "show")
    return Displaying(show)


@dataclass(frozen=True, slots=True)
class Displaying:
    """What `display()` returns."""

    show: Callable[[Display], object] | None = field(default=None, repr=False)
    name = "display"

    def loan(self, name: str) -> Loan:
        shown = _Shown(self.show)
        host = {
            "table": shown.maker(table_display),
            "chart": shown.maker(chart_display),
            "image": shown.maker(image_display),
        }
        exports = {"": (*_EXPORTS, "display", "default")}
        free = (*_EXPORTS, "display")
        return Loan(script("display"), host, exports, free=free, displays=shown.displays)

    def describe(self, name: str | None = None) -> str:
        return described("display", self.name, name)


class _Shown:
    """Of one run."""

    def __init__(self, show: Callable[[Display], object] | None) -> None:
        self.displays: list[Display] = []
        self._left = MOST_BYTES_IN_ALL
        self._show = show

    def maker(self, make: Callable[..., Display]) -> Callable[..., Any]:
        """Drawn on a thread: a million points take a while, and the loop is everybody's."""

        def shown(*given: Any) -> Awaitable[None]:
            if len(self.displays) >= MOST_DISPLAYS:
                raise LimitError(f"a run shows at most {MOST_DISPLAYS} tables, charts and images")
            return self._drawn(
                make, [None if isinstance(each, Undefined) else each for each in given]
            )

        mark(shown, late=True)
        return shown

    async def _drawn(self, make: Callable[..., Display], given: list[Any]) -> None:
        made = await asyncio.to_thread(make, *given)
        size = sum(len(data) for data in made.values())
        if size > MOST_BYTES:
            raise LimitError(f"what is shown may have {MOST_BYTES:,} bytes, not {size:,}")
        if size > self._left:
            raise LimitError(f"a run shows at most {MOST_BYTES_IN_ALL:,} bytes in all")
        self._left -= size
        self.displays.append(made)
        if self._show is not None:
            self._show(made)
