"""What a notebook keeps between its cells: bridges, modules, kept values and default options."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import OptionError
from ..notebook.ask.rules import all_of
from ..notebook.earlier import EarlierCells
from ..notebook.options.files import parse_json, read_source, read_value
from ..notebook.options.grammar import CellOptions, Source
from ..notebook.options.modules import module_text
from ..notebook.servers import NotebookServers
from ..spelling import suggestion
from .bridge import Bridge
from .kept import KeptValues


@dataclass(slots=True)
class NotebookState:
    """Every cell sees all of it."""

    bridges: dict[str, Bridge] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    kept: KeptValues = field(default_factory=KeptValues)
    defaults: CellOptions = field(default_factory=CellOptions)
    earlier: EarlierCells = field(default_factory=EarlierCells)
    servers: NotebookServers = field(default_factory=NotebookServers)

    def effective(self, options: CellOptions) -> CellOptions:
        """A cell's own options, with the defaults for those it does not give."""
        return options.over(self.defaults)

    def run_options(self, effective: CellOptions, source: str) -> dict[str, Any]:
        """The options of `run_cell`: what the effective options name, and what every cell sees."""
        given = effective.run_options(self.resolve)
        given["imports"] = {
            **self.servers.imports,
            **{name: bridge.exports for name, bridge in self.bridges.items()},
            **given["imports"],
        }
        given["modules"] = {**self.modules, **given["modules"]}
        kept = self.kept.mentioned_in([source, *given["modules"].values()])
        given["globals"] = {**kept, **given["globals"]}
        return given

    def asks(self, named: Iterable[str] = ()) -> list[str]:
        """Patterns of what a person is asked about: what was lent so, and what a cell names."""
        patterns = [pattern for bridge in self.bridges.values() for pattern in bridge.asks]
        patterns += self.servers.asked
        return patterns + [each for name in named for each in all_of(name)]

    def lent_as(self, function: Any) -> str | None:
        """What rules know a function by, under whatever name it is a tool."""
        for bridge in self.bridges.values():
            for name, value in bridge.exports.items():
                if value is function:
                    return f"{bridge.name}.{name}"
        return None

    def resolve(self, source: Source) -> Any:
        """What a SOURCE means in this kernel."""
        if source.kind == "module":
            return self._module(source)
        value = self._bridge(source.name) if source.text is None else self._value(source.text)
        if source.kind == "import" and not isinstance(value, Mapping):
            given = source.name if source.text is None else f"{source.name}={source.text}"
            raise OptionError(
                f"--import {given} is neither a bridge nor a JSON object of exports;"
                ' write it like --import cfg={"depth": 3}',
                "import",
            )
        return value

    def resolve_for_program(self, source: Source) -> Any:
        """As `resolve`; the input of a program may be a kept value, too."""
        kept = self.kept.values()
        if source.kind != "tool" and source.text in kept:
            return kept[source.text]
        return self.resolve(source)

    def _module(self, source: Source) -> str:
        if source.text is None:
            if source.name in self.modules:
                return self.modules[source.name]
            raise OptionError(
                f"this notebook has no module {source.name}; "
                f"declare it with %%module {source.name}, or write --module {source.name}=@FILE",
                "module",
            )
        if source.text.startswith("@"):
            return module_text(source.name, read_source(source.text[1:]))
        value = self._value(source.text)
        if not isinstance(value, str):
            raise OptionError(
                f"--module {source.name}={source.text} is not source text;"
                " write it as a JSON string or as @FILE",
                "module",
            )
        return module_text(source.name, value)

    def _value(self, text: str) -> Any:
        if text.startswith("@") and text not in self.bridges:
            return read_value(text[1:])
        try:
            return parse_json(text)
        except ValueError:
            pass
        if text.startswith("'"):
            try:
                return parse_json(text.strip("'"))  # quoted as in a shell
            except ValueError:
                hint = json.dumps(text.strip("'"))
                raise OptionError(f"{text} is not JSON; write a string like {hint}") from None
        return self._bridge(text)

    def _bridge(self, name: str) -> Any:
        """The exports of a bridge, or one of them: `timers` or `timers.sleep`."""
        if name in self.bridges:
            return self.bridges[name].exports
        owner, dot, member = name.rpartition(".")
        if dot and owner in self.bridges:
            exports = self.bridges[owner].exports
            if member in exports:
                return exports[member]
            raise OptionError(
                f"the bridge {owner} does not export {member}; {suggestion(member, exports)}"
            )
        known = suggestion(name, self.bridges) if self.bridges else "there are no bridges yet"
        raise OptionError(f"{name} is not JSON, @file.json or the name of a bridge; {known}")
