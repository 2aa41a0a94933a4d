"""`%%runcode --map ITEMS --into RESULTS`: the cell's export is called for each item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandbox_kernel.contract import CodeExecutionResult
from sandbox_kernel.errors import OptionError
from sandbox_kernel.many import ManyExecution
from sandbox_kernel.notebook.options.grammar import CellOptions, Source
from sandbox_kernel.notebook.view.progress import Progress
from sandbox_kernel.run import run_many

from .sources import Namespace

_NOT_WITH_MAP = ("args", "deadline", "background", "keep")


class MappedCell:
    """Iterated to its end, which an interrupt makes come sooner."""

    def __init__(
        self, many: ManyExecution[CodeExecutionResult], into: str, progress: Progress
    ) -> None:
        self._many = many
        self._progress = progress
        self.into = into

    def stop(self) -> None:
        self._many.terminate("interrupted")

    def wait(self) -> list[CodeExecutionResult]:
        with self._progress:
            return list(self._many)

    async def run(self) -> list[CodeExecutionResult]:
        with self._progress:
            return [result async for result in self._many]


def mapped_cell(
    source: str,
    options: CellOptions,
    names: Namespace,
    modules: Mapping[str, str],
    *,
    has_page: bool,
) -> MappedCell:
    """Raises OptionError for options that make no sense for many runs."""
    for name in _NOT_WITH_MAP:
        if getattr(options, name) is not None:
            raise OptionError(f"--{name} is for one run, and --map makes many", name)
    if options.into is None:
        raise OptionError("--map needs a variable for the results: --into NAME", "into")
    inputs = names.resolve(Source("map", "", options.map))
    given: dict[str, Any] = options.run_options(names.resolve)
    given["modules"] = {**modules, **given["modules"]}
    many = run_many(source, inputs, **given)
    return MappedCell(
        many, options.into, Progress(many, quiet=bool(options.raw), has_page=has_page)
    )
