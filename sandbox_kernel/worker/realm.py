"""One realm and its one run: install what was lent, compile, link, evaluate, drain jobs.

The status of a run is decided by where it stopped: before evaluation is `link_error`, later is
`error`. Whether the heap was really full is the host's to say; here we only stop at the limit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from os.path import dirname, join
from time import monotonic, time
from typing import Any

from ..errors import EngineError
from ..wire import messages
from ..wire.frame import Frame
from ..wire.order import Order
from .channel import GATHER_SECONDS, Channel
from .modules import Graph, LinkError, shown
from .positions import Position, Sources
from .quickjs import UNDEFINED, CompileError, Compiler, Context, GuestThrew, Value
from .typescript import Prepared, UnsupportedSyntax, prepare

_BOOTSTRAP = (
    "harden", "stacks", "encode", "columns", "table", "errors", "decode", "clone", "console", "bridge", "entry",
)  # fmt: skip
_FIRST_COLLECTION = 4 << 20
_HEADROOM = 1 << 20  # what the heap may pass its limit by, so that reaching it can be told
_MISSING_EXPORT = re.compile(
    r"Could not find export '(?P<name>.*)' in module '(?P<module>.*)'", re.S
)
_USUAL_BUILTINS: tuple[tuple[str, ...], ...] = (("console",), ("report", "console"))
_REJECTED = 2
_REPLIES = {messages.RETURN: b"r", messages.THROW: b"t", messages.PROMISE: b"p"}


def compile_bootstrap(compiler: Compiler) -> bytes:
    """Done in the zygote."""
    body = "\n".join(_script(name) for name in _BOOTSTRAP)
    text = f"(function (native) {{ 'use strict';\n{body}\n}})"
    return compiler.compile(text.encode(), "<host>", module=False, private=True)


def _script(name: str) -> str:
    with open(join(dirname(__file__), "bootstrap", f"{name}.js"), encoding="utf-8") as file:
        return file.read()


class Failure(Exception):
    """The run is over, and not well."""

    def __init__(
        self,
        status: str,
        name: str,
        message: str,
        *,
        stack: str | None = None,
        specifier: str | None = None,
        place: Position | None = None,
        engine: bool = False,
    ) -> None:
        super().__init__(message)
        filename, line, column = place or (None, None, None)
        self.fields: dict[str, Any] = {
            "status": status,
            "name": name,
            "message": message,
            "stack": stack,
            "specifier": specifier,
            "filename": filename,
            "line": line,
            "column": column,
            "engine": engine,
        }


class Realm:
    """Made in the zygote; a worker has a fresh copy of it, to `run` one job in."""

    def __init__(self, compiler: Compiler, channel: Channel) -> None:
        self._compiler = compiler
        self._channel = channel
        self._js = js = Context()
        self._heap_now = js.heap_probe()
        self._heap_limit = self._heap_cap = 0
        self._over_limit = False
        self._flush_at = 0.0
        self._early: dict[int, Frame | None] = {}  # answers to the synchronous calls that wait
        self._deferred: list[Frame] = []  # came meanwhile, for others
        self._reply_buffers: Value = UNDEFINED
        self._sources = Sources()
        self._watched: list[tuple[int, int, Value]] = []
        self._rejections: dict[int, tuple[Value, Value]] = {}
        self._own_promise = 0
        self._link_failure: Failure | None = None
        make_native = b"({ __proto__: null, said: { __proto__: null, text: '' } })"
        native = js.evaluate(compiler.compile(make_native, "", module=False))
        self._said = js.field(native, "said")
        for name, function in self._natives().items():
            js.set_field(native, name, js.function(name, function))
        entry = js.call(js.evaluate(compile_bootstrap(compiler)), native)
        self._entry: Callable[[str], Value] = lambda name: js.field(entry, name)
        self._decode, self._settle = self._entry("decode"), self._entry("settle")
        self._settle_all = self._entry("settleAll")
        self._attachments, self._waits = self._entry("attachments"), self._entry("waits")
        self._execute, self._encode = self._entry("execute"), self._entry("encodeResult")
        self._default = js.string(b"default")
        js.on_interrupt(self._on_interrupt)
        js.on_rejection(self._on_rejection)
        js.on_import(self._resolve, self._load)
        self._global = js.global_object()
        self._usual_bindings = {
            names: self._bindings(names, [self._builtin(name) for name in names])
            for names in _USUAL_BUILTINS
        }
        self._lent: dict[str, list[Value]] = {}
        self._no_args = js.array(())
        self._heap_base = js.heap_size()
        reseed = js.reseeder()
        if reseed is None:
            raise EngineError("Math.random of this QuickJS-NG cannot be seeded")
        self._reseed = reseed

    # -- what the bootstrap may call

    def _natives(self) -> dict[str, Callable[[list[Value]], Value]]:
        js = self._js

        def flush(args: list[Value]) -> Value:
            self._flush_said()
            return UNDEFINED

        def say(args: list[Value]) -> Value:
            kind = messages.LOG if js.bytes_of(args[0]) == b"L" else messages.REPORT
            self._channel.post(kind, 0, 0, js.bytes_of(args[1]), self._views(args[2]))
            return UNDEFINED

        def kind(args: list[Value]) -> Value:
            return js.string(js.kind(args[0]).encode())

        def promise(args: list[Value]) -> Value:
            state = ("<pending>", "<resolved>", "<rejected>")[js.promise_state(args[0])]
            return js.string(f"Promise {{ {state} }}".encode())

        def call(args: list[Value]) -> Value:
            self._post_call(args)
            return UNDEFINED

        def call_sync(args: list[Value]) -> Value:
            self._post_call(args)
            return self._await_reply(js.integer(args[1]))

        def buffers(args: list[Value]) -> Value:
            return self._reply_buffers

        def watch(args: list[Value]) -> Value:
            self._watch(js.integer(args[0]), js.keep(args[1]), messages.RESOLVED)
            return UNDEFINED

        return {
            "flush": flush,
            "say": say,
            "kind": kind,
            "promise": promise,
            "call": call,
            "callSync": call_sync,
            "buffers": buffers,
            "watch": watch,
        }

    def _flush_said(self) -> None:
        """Reads and writes a plain property, which runs no code: the interrupt handler may."""
        text = self._js.take_field(self._said, "text")
        if text.startswith(b"["):
            self._channel.post(messages.CALLS, 0, 0, b"P[" + text[:-1] + b"]")
        elif text:
            self._channel.post(messages.SAID, 0, 0, text)
        self._channel.flush()

    def _post_call(self, args: list[Value]) -> None:
        js = self._js
        ident, call = js.integer(args[0]), js.integer(args[1])
        views = self._views(args[3])
        self._channel.post(messages.CALL, call, ident, js.bytes_of(args[2]), views)

    def _views(self, attachments: Value) -> Sequence[Any]:
        if attachments.tag == UNDEFINED.tag:
            return ()
        js = self._js
        views = []
        for index in range(js.integer(js.field(attachments, "length"))):
            element = js.element(attachments, index)
            views.append(js.binary(element))
            js.free(element)  # the attachments still hold it
        return views

    def _await_reply(self, call: int) -> Value:
        """Serves the host until it answers this call; it may call back first.

        A call back may itself wait here, and then meet the answer to a call further out. Whatever
        else is answered waits until none of them does: it may be about a promise that the guest
        gets only now, and no job runs before that anyway.
        """
        self._early[call] = None
        try:
            while (answer := self._early[call]) is None:
                frame = self._channel.receive_answer()
                if frame.kind == messages.CALL_GUEST:
                    self._serve(frame)
                elif frame.kind in _REPLIES and self._early.get(frame.a, frame) is None:
                    self._early[frame.a] = frame
                else:
                    self._deferred.append(frame)
        finally:
            del self._early[call]
        if not self._early and self._deferred:
            deferred, self._deferred = self._deferred, []
            self._channel.unread(deferred)
        return self._reply(answer)

    def _reply(self, frame: Frame) -> Value:
        """A letter that says how the call ended, then its value: one string, because it is fast."""
        letter = _REPLIES[frame.kind]
        if frame.attachments:
            self._reply_buffers = self._buffers(frame)
            letter = b"b"
        return self._js.string(letter + bytes(frame.text))

    def _buffers(self, frame: Frame) -> Value:
        if not frame.attachments:
            return UNDEFINED
        js = self._js
        return js.array([js.array_buffer(item) for item in frame.attachments])

    # -- what the host says while the guest waits

    def _serve(self, frame: Frame) -> None:
        js = self._js
        text, buffers = js.string(bytes(frame.text)), self._buffers(frame)
        if frame.kind == messages.CALL_GUEST:
            promise = js.call(self._entry("callGuest"), js.number(frame.b), text, buffers)
            self._watch(frame.a, promise, messages.GUEST_RETURN)
        elif frame.kind == messages.RETURNS:
            js.call(self._settle_all, text)
        else:
            threw = js.boolean(frame.kind == messages.THROW)
            js.call(self._settle, js.number(frame.a), threw, text, buffers)
        js.free(text)
        js.free(buffers)

    def _watch(self, ident: int, promise: Value, kind: int) -> None:
        """Tells the host how a promise ends: `kind` if well, the next kind if not."""
        self._rejections.pop(promise.bits, None)
        self._watched.append((ident, kind, promise))

    def _tell_settled(self) -> bool:
        js, told = self._js, False
        waiting, self._watched = self._watched, []
        for ident, kind, promise in waiting:
            state = js.promise_state(promise)
            if not state:
                self._watched.append((ident, kind, promise))
                continue
            told = True
            self._rejections.pop(promise.bits, None)
            result = js.promise_result(promise)
            text = self._encode_outcome(result, state == _REJECTED)
            self._channel.post(kind + (text[0]), ident, 0, text[1], text[2])
        return told

    def _encode_outcome(self, value: Value, threw: bool) -> tuple[int, bytes, Sequence[Any]]:
        js = self._js
        if not threw:
            try:
                return 0, *self._encoded(value, lenient=False)
            except GuestThrew as thrown:
                value = thrown.value
        return 1, js.bytes_of(js.call(self._entry("encodeThrown"), value)), ()

    def _encoded(self, value: Value, *, lenient: bool) -> tuple[bytes, Sequence[Any]]:
        js = self._js
        text = js.bytes_of(js.call(self._encode, value, js.boolean(lenient)))
        plain = text.startswith(b"P")
        return text, () if plain else self._views(js.call(self._attachments))

    # -- callbacks of the engine

    def _on_interrupt(self) -> bool:
        """Polled while bytecode runs: what was said leaves; a heap over its limit ends it."""
        now = monotonic()
        if now > self._flush_at:
            self._flush_at = now + GATHER_SECONDS
            self._flush_said()
        return self._is_over_limit()

    def _is_over_limit(self) -> bool:
        if self._heap_now is not None and self._heap_limit and self._heap_now() > self._heap_limit:
            self._over_limit = True
        return self._over_limit

    def _on_rejection(self, promise: Value, reason: Value, handled: bool) -> None:
        if handled:
            self._rejections.pop(promise.bits, None)
        elif promise.bits != self._own_promise:
            self._rejections[promise.bits] = (self._js.keep(promise), self._js.keep(reason))

    def _resolve(self, importer: str, specifier: str) -> str:
        try:
            return self._graph.resolve(importer, specifier)
        except LinkError as error:
            place = self._sources.find_import(specifier, importer)
            failure = Failure(
                "link_error", "LinkError", error.message, specifier=specifier, place=place
            )
            raise self._refuse(failure) from None

    def _load(self, name: str) -> Any:
        specifier = self._graph.bridge_of(name)
        if specifier is not None:
            exports = self._graph.imports[specifier]
            values = [self._js.keep(value) for value in self._lent[specifier]]
            return self._js.synthetic_module(name, exports, values)
        try:
            return self._module(name, self._graph.modules[name])[1]
        except Failure as failure:
            raise self._refuse(failure) from None

    def _refuse(self, failure: Failure) -> GuestThrew:
        """The failure as an error of the realm; a failed static import is told from it."""
        self._link_failure = failure
        js = self._js
        fields = (failure.fields["name"], failure.fields["message"])  # may quote lone surrogates
        texts = (js.string(field.encode("utf-8", "surrogatepass")) for field in fields)
        return GuestThrew(js.call(self._entry("makeError"), *texts))

    # -- the run

    def run(self, frame: Frame) -> None:
        job = Order.unpack(bytes(frame.text))
        js = self._js
        self._reseed(job.seed)
        self._compiler.limit(job.memory_limit + _HEADROOM)
        self._heap_limit = self._heap_base + job.memory_limit
        self._heap_cap = self._heap_limit + max(_HEADROOM, job.memory_limit // 8)
        js.limit_heap(self._heap_cap)
        js.collect_first_at(self._heap_base + min(job.memory_limit // 2, _FIRST_COLLECTION))
        try:
            self._finish(self._evaluate(job, frame), job)
        except Failure as failure:
            self._fail(failure)
        except GuestThrew as thrown:
            self._fail(self._failure_of(thrown.value))

    def _heap_kilobytes(self) -> int:
        return self._heap_now() // 1024 if self._heap_now is not None else 0

    def _finish(self, value: Value, job: Order) -> None:
        text, views = self._encoded(value, lenient=job.interactive)
        self._flush_said()
        self._log_rejections()
        if self._is_over_limit():
            raise Failure("memory", "InternalError", "out of memory", engine=True)
        self._channel.post(messages.FINISHED, self._heap_kilobytes(), 0, text, views)
        self._channel.flush()

    def _fail(self, failure: Failure) -> None:
        if self._over_limit:
            failure.fields |= {"status": "memory", "engine": True}
        self._flush_said()
        self._log_rejections()
        text = json.dumps(failure.fields).encode()
        self._channel.post(messages.FAILED, self._heap_kilobytes(), 0, text)
        self._channel.flush()

    def _evaluate(self, job: Order, frame: Frame) -> Value:
        js = self._js
        self._graph = Graph(job.filename, job.modules, job.imports)
        args = self._install(job, frame)
        entry = self._prepare(job.source, job.filename, job)
        value, module = self._link(entry, job.filename)
        self._await(self._start(value))
        namespace = js.namespace(module)
        name = self._default
        if job.fn != "default":
            name = js.string(job.fn.encode("utf-8", "surrogatepass"))
        call = js.boolean(not entry.shows_last)
        promise = js.call(self._execute, namespace, name, args, call)
        if js.is_promise(promise):
            return self._await(promise)
        if job.interactive and not job.demand_export:
            return UNDEFINED
        raise Failure("link_error", "LinkError", f"the module has no export '{job.fn}'")

    def _install(self, job: Order, frame: Frame) -> Value:
        """Decodes what was lent; makes the globals; returns the arguments."""
        js = self._js
        if not job.values:
            usual = self._usual_bindings.get(job.builtins)
            if usual:
                self._bind(*usual)
            return self._no_args
        text = js.string(job.values.encode())
        lent = js.call(self._decode, text, self._buffers(frame))
        imports, bindings, args = (js.element(lent, index) for index in range(3))
        self._lent = {
            specifier: [js.element(js.element(imports, at), i) for i in range(len(names))]
            for at, (specifier, names) in enumerate(job.imports.items())
        }
        values = [js.element(bindings, i) for i in range(len(job.globals))]
        values += [self._builtin(name) for name in job.builtins]
        if values:
            self._bind(*self._bindings((*job.globals, *job.builtins), values))
        return args

    def _builtin(self, name: str) -> Value:
        return self._js.call(self._entry("builtins"), self._js.string(name.encode()))

    def _bindings(self, names: tuple[str, ...], values: Sequence[Value]) -> tuple[Value, Value]:
        """A script that declares the names, and the values it takes them from."""
        made = ",".join(f"{name}=this.globalThis[{i}]" for i, name in enumerate(names))
        script = self._compiler.compile(f"const {made}".encode(), "<host>", module=False)
        return self._js.read(script), self._js.array(values)

    def _bind(self, script: Value, values: Value) -> None:
        """Global lexical bindings: free identifiers that are not on globalThis.

        The script takes their values from a property that is there anyway: another one would
        change the shape of the global object twice.
        """
        js = self._js
        js.set_field(self._global, "globalThis", values)
        js.run(script)
        js.set_field(self._global, "globalThis", js.keep(self._global))

    def _prepare(self, source: str, filename: str, job: Order | None) -> Prepared:
        try:
            prepared = prepare(
                source,
                language=self._language if job is None else job.language,
                last_expression=job is not None and job.wants_last_expression,
            )
        except UnsupportedSyntax as error:
            place = Position(filename, error.line, error.column)
            raise Failure("link_error", "SyntaxError", error.message, place=place) from None
        self._language = self._language if job is None else job.language
        self._sources.add(filename, prepared.text, prepared.source_column)
        return prepared

    _language = "typescript"

    def _compiled(self, prepared: Prepared, filename: str) -> tuple[Value, Any]:
        text = prepared.text.encode("utf-8", "surrogatepass")
        try:
            bytecode = self._compiler.compile(text, filename, module=True)
        except CompileError as error:
            stack, place = self._sources.translate(error.stack)
            if error.name == "InternalError":
                raise Failure("memory", error.name, error.message, engine=True) from None
            raise Failure(
                "link_error", error.name, error.message, stack=stack or None, place=place
            ) from None
        found: tuple[Value, Any] = self._js.source_module(bytecode, f"sandbox:{filename}")
        return found

    def _module(self, name: str, source: str) -> tuple[Value, Any]:
        return self._compiled(self._prepare(source, name, None), name)

    def _link(self, prepared: Prepared, filename: str) -> tuple[Value, Any]:
        """The entry module, with all that it imports loaded."""
        try:
            value, module = self._compiled(prepared, filename)
            self._js.link(value)
        except GuestThrew as thrown:
            raise self._link_failure or self._failure_of(thrown.value, "link_error") from None
        return value, module

    def _start(self, module_value: Value) -> Value:
        """Links names and begins evaluation."""
        try:
            return self._js.evaluate_module(module_value)
        except GuestThrew as thrown:
            raise self._unlinked(self._failure_of(thrown.value, "link_error")) from None

    def _unlinked(self, failure: Failure) -> Failure:
        found = _MISSING_EXPORT.match(failure.fields["message"])
        if not found:
            return failure
        module = shown(found["module"])
        return Failure(
            "link_error",
            "LinkError",
            f"module '{module}' has no export '{found['name']}'",
            specifier=module,
            place=self._sources.find_import(module),
        )

    # -- waiting

    def _await(self, promise: Value) -> Value:
        """The promise's value, serving the host for as long as it takes."""
        js, channel = self._js, self._channel
        self._own_promise = promise.bits
        self._rejections.pop(promise.bits, None)
        while True:
            more = True
            while more:
                more = js.run_jobs()
                if self._over_limit:
                    raise Failure("memory", "InternalError", "out of memory", engine=True)
            state = js.promise_state(promise)
            self._rejections.pop(promise.bits, None)
            if state == _REJECTED:
                raise self._failure_of(js.promise_result(promise))
            if state:
                return js.promise_result(promise)
            if self._watched and self._tell_settled():
                continue
            if not channel.has_more():
                self._say_before_waiting()
            self._serve(channel.receive())

    def _say_before_waiting(self) -> None:
        self._flush_said()
        self._log_rejections()
        if not self._js.integer(self._js.call(self._waits)):
            raise Failure(
                "error",
                "DeadlockError",
                "the module awaits a promise that nothing can settle any more",
            )

    def _log_rejections(self) -> None:
        rejections, self._rejections = self._rejections, {}
        for _, reason in rejections.values():
            failure = self._failure_of(reason).fields
            text = f"Uncaught (in promise) {failure['name']}: {failure['message']}"
            entry = json.dumps(["error", "error", 0, round(time() * 1000), [text]]).encode()
            self._channel.post(messages.LOG, 0, 0, b"P" + entry)

    def _failure_of(self, thrown: Value, status: str = "error") -> Failure:
        js = self._js
        js.limit_heap(0)  # an error thrown for want of memory takes memory to describe
        try:
            described = js.bytes_of(js.call(self._entry("encodeFailure"), thrown))
            name, message, stack, engine = json.loads(described)
        except GuestThrew:
            return Failure(status, "InternalError", "out of memory", engine=True)
        finally:
            js.limit_heap(self._heap_cap)
        stack, place = self._sources.translate(stack) if stack else ("", None)
        return Failure(status, name, message, stack=stack or None, place=place, engine=engine)
