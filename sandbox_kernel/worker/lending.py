"""Installs in the realm what the host lends: imports, globals, arguments and builtins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..wire.order import Order, Shim
from .entry import Entry
from .quickjs import Compiler, Context, Value

_SCRIPT_NAMES = ("emit", "read_input")
_USUAL_BUILTINS: tuple[tuple[str, ...], ...] = (("console",), ("report", "console"))


class Lending:
    """Installs what one order lends. The usual builtins are made in the zygote, ready to bind."""

    def __init__(self, js: Context, compiler: Compiler, entry: Entry) -> None:
        self._js = js
        self._compiler = compiler
        self._entry = entry
        self._global = js.global_object()
        self._usual_bindings = {
            names: self._bindings(names, [self._builtin(name) for name in names])
            for names in _USUAL_BUILTINS
        }
        self._no_args = js.array(())
        self.imports: dict[str, list[Value]] = {}

    def install(self, order: Order, values: Value, buffers: Value) -> Value:
        """Decodes what was lent, defines the globals, and returns the arguments."""
        js = self._js
        if not order.values:
            usual = self._usual_bindings.get(order.builtins)
            if usual:
                self._bind(*usual)
            return self._no_args
        lent = js.call(self._entry.decode, values, buffers)
        imports, bindings, args, functions = (js.element(lent, index) for index in range(4))
        made_by_shims = {specifier for shim in order.shims for specifier in shim.modules}
        given = [specifier for specifier in order.imports if specifier not in made_by_shims]
        self.imports = {
            specifier: self._elements(js.element(imports, at), len(order.imports[specifier]))
            for at, specifier in enumerate(given)
        }
        names = [*order.globals, *order.builtins]
        values = self._elements(bindings, len(order.globals))
        values += [self._builtin(name) for name in order.builtins]
        for at, shim in enumerate(order.shims):
            values += self._install_shim(shim, order.imports, js.element(functions, at))
            names += shim.free
        if values:
            self._bind(*self._bindings(tuple(names), values))
        return args

    def _install_shim(
        self, shim: Shim, imports: Mapping[str, Sequence[str]], functions: Value
    ) -> list[Value]:
        """Makes the shim's modules; returns the values of its free identifiers."""
        js = self._js
        script = self._compiler.compile(shim.script.encode(), "<host>", module=False, private=True)
        made = js.call(self._entry.run_shim, js.evaluate(script), functions)
        for specifier, key in shim.modules.items():
            exports = js.field(made, key)
            self.imports[specifier] = [js.field(exports, name) for name in imports[specifier]]
        exports = js.field(made, next(iter(shim.modules.values())))
        return [js.field(exports, name) for name in shim.free]

    def install_for_script(self, given: Value) -> None:
        """All that a bare script has beside the language."""
        made = self._js.call(self._entry.for_script, given)
        self._bind(*self._bindings(_SCRIPT_NAMES, self._elements(made, len(_SCRIPT_NAMES))))

    def _elements(self, array: Value, count: int) -> list[Value]:
        return [self._js.element(array, index) for index in range(count)]

    def _builtin(self, name: str) -> Value:
        return self._js.call(self._entry.builtins, self._js.string(name.encode()))

    def _bindings(self, names: tuple[str, ...], values: Sequence[Value]) -> tuple[Value, Value]:
        """A script that declares the names, and the array that it takes their values from."""
        made = ",".join(f"{name}=this.globalThis[{i}]" for i, name in enumerate(names))
        script = self._compiler.compile(f"const {made}".encode(), "<host>", module=False)
        return self._js.read(script), self._js.array(values)

    def _bind(self, script: Value, values: Value) -> None:
        """Makes global lexical bindings, which are not properties of globalThis.

        The script reads the values from `globalThis.globalThis`, which exists anyway: adding and
        removing another property would change the shape of the global object twice.
        """
        js = self._js
        js.set_field(self._global, "globalThis", values)
        js.run(script)
        js.set_field(self._global, "globalThis", js.keep(self._global))
