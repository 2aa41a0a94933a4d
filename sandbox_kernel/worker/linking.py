"""Prepares, compiles, resolves, loads and links the modules of a run.

A failure here is a `link_error`, except in a dynamic import, where the guest can catch it.
"""

from __future__ import annotations

import re
from typing import Any

from ..wire.order import Order
from .entry import Entry
from .failure import Describer, Failure
from .lending import Lending
from .modules import Graph, LinkError, shown
from .positions import Position, Sources
from .quickjs import CompileError, Compiler, Context, GuestThrew, Value
from .typescript import Prepared, UnsupportedSyntax, prepare

_MISSING_EXPORT = re.compile(
    r"Could not find export '(?P<name>.*)' in module '(?P<module>.*)'", re.S
)
_AT_THE_END = "unexpected token in expression: ''"  # the engine's words for the end of a source


class Linker:
    """Resolves and loads modules for the engine, for the one order passed to `begin`."""

    _graph: Graph
    _language: str

    def __init__(
        self,
        js: Context,
        compiler: Compiler,
        entry: Entry,
        sources: Sources,
        describer: Describer,
        lending: Lending,
    ) -> None:
        self._js = js
        self._compiler = compiler
        self._entry = entry
        self._sources = sources
        self._describer = describer
        self._lending = lending
        self._failure: Failure | None = None
        js.on_import(self._resolve, self._load)

    def begin(self, order: Order) -> None:
        self._graph = Graph(order.filename, order.modules, order.imports)
        self._language = order.language

    def prepare(self, source: str, filename: str, *, last_expression: bool = False) -> Prepared:
        """Turns a source into what the engine compiles: JavaScript without types."""
        try:
            prepared = prepare(source, language=self._language, last_expression=last_expression)
        except UnsupportedSyntax as error:
            place = Position(filename, error.line, error.column)
            raise Failure("link_error", "SyntaxError", error.message, place=place) from None
        self._sources.add(filename, prepared.text, prepared.source_column)
        return prepared

    def link(self, prepared: Prepared, filename: str) -> tuple[Value, Any]:
        """Compiles the entry module and loads everything that it imports."""
        try:
            value, module = self._compile(prepared, filename)
            self._js.link(value)
        except GuestThrew as thrown:
            raise self._failure or self._describer.failure(thrown.value, "link_error") from None
        return value, module

    def run_script(self, source: str, filename: str) -> None:
        """A classic script: it neither imports nor exports, and nothing runs after its last line."""
        prepared = self.prepare(source, filename)
        text = prepared.text.encode("utf-8", "surrogatepass")
        try:
            bytecode = self._compiler.compile(text, filename, module=False)
        except CompileError as error:
            raise self._uncompiled(error) from None
        self._js.run(self._js.read(bytecode))

    def start(self, module_value: Value) -> Value:
        """Links names and starts evaluation; returns the promise of its end."""
        try:
            return self._js.evaluate_module(module_value)
        except GuestThrew as thrown:
            raise self._unlinked(self._describer.failure(thrown.value, "link_error")) from None

    def _unlinked(self, failure: Failure) -> Failure:
        """The failure, reworded if it is about a missing export."""
        found = _MISSING_EXPORT.match(failure.fields["message"])
        if not found:
            return failure
        module = shown(found["module"])
        message = f"module '{module}' has no export '{found['name']}'"
        place = self._sources.find_import(module)
        return Failure("link_error", "LinkError", message, specifier=module, place=place)

    def _compile(self, prepared: Prepared, filename: str) -> tuple[Value, Any]:
        text = prepared.text.encode("utf-8", "surrogatepass")
        try:
            bytecode = self._compiler.compile(text, filename, module=True)
        except CompileError as error:
            raise self._uncompiled(error) from None
        made: tuple[Value, Any] = self._js.source_module(bytecode, f"sandbox:{filename}")
        return made

    def _uncompiled(self, error: CompileError) -> Failure:
        if error.name == "InternalError":
            return Failure("memory", error.name, error.message, engine=True)
        stack, place = self._sources.translate(error.stack)
        message = (
            "unexpected end of input" if error.message.endswith(_AT_THE_END) else error.message
        )
        return Failure("link_error", error.name, message, stack=stack or None, place=place)

    # -- called by the engine

    def _resolve(self, importer: str, specifier: str, size: int) -> str:
        try:
            return self._graph.resolve(importer, specifier, size)
        except LinkError as error:
            place = self._sources.find_import(specifier, importer)
            failure = Failure(
                "link_error", "LinkError", error.message, specifier=error.specifier, place=place
            )
            raise self._refuse(failure) from None

    def _load(self, name: str) -> Any:
        specifier = self._graph.bridge_of(name)
        if specifier is not None:
            exports = self._graph.imports[specifier]
            values = [self._js.keep(value) for value in self._lending.imports[specifier]]
            return self._js.synthetic_module(name, exports, values)
        try:
            return self._compile(self.prepare(self._graph.modules[name], name), name)[1]
        except Failure as failure:
            raise self._refuse(failure) from None

    def _refuse(self, failure: Failure) -> GuestThrew:
        """The failure as an error in the realm; `link` reports it if the import was static."""
        self._failure = failure
        js = self._js
        fields = (failure.fields["name"], failure.fields["message"])  # may contain lone surrogates
        texts = (js.string(field.encode("utf-8", "surrogatepass")) for field in fields)
        error = js.call(self._entry.make_error, *texts)
        self._describer.remember(error, failure)
        return GuestThrew(error)
