"""QuickJS-NG's public C API, bound with cffi; no other file calls it.

Ownership: a worker's process ends with its one run, so values are freed only where a guest could
accumulate them (arguments and results of calls, finished jobs). A callback borrows the `JSValue`s
that it is passed, and gives up ownership of the one that it returns.
"""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..errors import EngineError
from ..isolation.libc import libc
from ..specifiers import MOST_BYTES
from .quickjs_abi import ffi as _ffi

ffi: Any = _ffi
SUPPORTED_VERSION = "0.17."
OBJECT = -1  # the tag of an object
_TAG_UNDEFINED, _TAG_EXCEPTION, _TAG_FLOAT64 = 3, 6, 8
_EVAL_MODULE, _EVAL_COMPILE_ONLY = 1, 32
_BYTECODE, _STRIP_DEBUG = 1, 32
_OPTIONS_VERSION, _BEFORE_LINE_1 = 1, -1
_CONFIGURABLE_WRITABLE = 1 | 2
_TAKE_FRAMES = ffi.cast("int", 2)  # the engine keeps them for values that are not errors
REJECTED = 2  # the state of a promise; 0 is pending, 1 fulfilled
_STACK_BYTES = 1 << 20
_COMPILER_BYTES = 1 << 20  # what the compiler's runtime may use in addition to the limit
_JOBS_AT_ONCE = 100
_CONTEXT_WORDS = 160  # how many words of a context are searched for the state of Math.random

# Every intrinsic but eval, so that a realm has no way to the compiler.
_INTRINSICS = [
    "BaseObjects",
    "Date",
    "RegExp",
    "JSON",
    "Proxy",
    "MapSet",
    "TypedArrays",
    "Promise",
    "WeakRef",
]
Value = Any  # a JSValue


def _load() -> Any:
    spec = importlib.util.find_spec("_quickjs")
    if spec is None or spec.origin is None:
        raise EngineError("quickjs-ng is not installed; run: pip install quickjs-ng")
    library = ffi.dlopen(spec.origin)
    version = ffi.string(library.JS_GetVersion()).decode()
    if not version.startswith(SUPPORTED_VERSION):
        raise EngineError(f"QuickJS-NG {version} is installed, but {SUPPORTED_VERSION}x is needed")
    return library


C = _load()
_EXECUTE_JOB = ffi.cast(
    "int (*)(const void *, const void *)", ffi.addressof(C, "JS_ExecutePendingJob")
)
UNDEFINED = ffi.new("JSValue *", {"bits": 0, "tag": _TAG_UNDEFINED})[0]
_FALSE, _TRUE = (ffi.new("JSValue *", {"bits": bit, "tag": 1})[0] for bit in (0, 1))


class GuestThrew(Exception):
    """JavaScript threw `value`."""

    def __init__(self, value: Value) -> None:
        super().__init__("JavaScript threw")
        self.value = value


class CompileError(Exception):
    """The engine's parser refused a source; columns in `stack` count UTF-8 bytes."""

    def __init__(self, name: str, message: str, stack: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.stack = stack


def _text(context: Any, value: Value) -> str:
    size = ffi.new("size_t *")
    pointer = C.JS_ToCStringLen2(context, size, value, False)
    if pointer == ffi.NULL:
        return ""
    text = bytes(ffi.buffer(pointer, size[0])).decode("utf-8", "surrogatepass")
    C.JS_FreeCString(context, pointer)
    return text


def _moved(source: bytes) -> bytes:
    """Two lines further down, where the engine counts from -1. On the first line of a text, the
    columns of calls are one too small. The first line is then not the place for a `#!` any more."""
    return b"\n\n" + (b"//" + source[2:] if source.startswith(b"#!") else source)


def _heap_size(runtime: Any) -> int:
    usage = ffi.new("JSMemoryUsage *")
    C.JS_ComputeMemoryUsage(runtime, usage)
    return int(usage.malloc_size)


class Compiler:
    """A separate runtime that only compiles source to bytecode; nothing is ever run in it."""

    def __init__(self) -> None:
        self._runtime = C.JS_NewRuntime()
        C.JS_SetMaxStackSize(self._runtime, _STACK_BYTES)
        self._context = C.JS_NewContext(self._runtime)
        self._keep = (
            ffi.callback("JSModuleNormalizeFunc", self._normalize),
            ffi.callback("JSModuleLoaderFunc", self._stub_module),
            ffi.callback("JSModuleInitFunc", lambda context, module: 0),
        )
        C.JS_SetModuleLoaderFunc(self._runtime, self._keep[0], self._keep[1], ffi.NULL)

    def limit(self, memory_limit: int) -> None:
        C.JS_SetMemoryLimit(self._runtime, _COMPILER_BYTES + memory_limit)

    def compile(
        self, source: bytes, filename: str, *, module: bool, private: bool = False
    ) -> bytes:
        """Bytecode of a source. `private` omits file names, line numbers and the source text."""
        flags = _EVAL_COMPILE_ONLY | (_EVAL_MODULE if module else 0)
        name = ffi.new("char[]", filename.encode())
        options = ffi.new("JSEvalOptions *", (_OPTIONS_VERSION, flags, name, _BEFORE_LINE_1))
        text = _moved(source)
        value = C.JS_Eval2(self._context, text, len(text), options)
        if value.tag == _TAG_EXCEPTION:
            self._raise()
        size = ffi.new("size_t *")
        written = C.JS_WriteObject(
            self._context, size, value, _BYTECODE | (_STRIP_DEBUG if private else 0)
        )
        if written == ffi.NULL:
            self._raise()
        return bytes(ffi.buffer(written, size[0]))

    def _raise(self) -> NoReturn:
        error = C.JS_GetException(self._context)
        name, message, stack = (
            _text(self._context, C.JS_GetPropertyStr(self._context, error, field))
            if error.tag == OBJECT
            else ""
            for field in (b"name", b"message", b"stack")
        )
        raise CompileError(name or "InternalError", message or "out of memory", stack)

    def _normalize(self, context: Any, base: Any, name: Any, opaque: Any) -> Any:
        """Resolves every import to one empty module; the realm does the real linking."""
        memory = C.js_malloc(context, 2)
        if memory != ffi.NULL:
            ffi.memmove(memory, b"-\0", 2)
        return ffi.cast("char *", memory)

    def _stub_module(self, context: Any, name: Any, opaque: Any) -> Any:
        return C.JS_NewCModule(context, name, self._keep[2])


class Context:
    """The runtime and context of one realm, as Python methods."""

    def __init__(self) -> None:
        self.runtime = C.JS_NewRuntime()
        C.JS_SetMaxStackSize(self.runtime, _STACK_BYTES)
        self.context = C.JS_NewContextRaw(self.runtime)
        for name in _INTRINSICS:
            if getattr(C, f"JS_AddIntrinsic{name}")(self.context) != 0:
                raise EngineError(f"QuickJS-NG could not make the intrinsic {name}")
        self._keep: list[Any] = []
        self._kinds: dict[int, str] = {}
        self._size = ffi.new("size_t *")
        self._sizes = ffi.new("size_t[3]")
        self._job_context = ffi.new("JSContext **")
        self._jobs_at_once = ffi.new("size_t *", _JOBS_AT_ONCE)
        self._words = ffi.cast("size_t *", self.runtime)
        self._error_class = C.JS_GetClassID(C.JS_NewError(self.context))

    # -- calls and values

    def evaluate(self, bytecode: bytes) -> Value:
        """Runs a script and returns its completion value."""
        return self.run(self.read(bytecode))

    def run(self, script: Value) -> Value:
        """Runs a script returned by `read`, which can be run once."""
        return self._checked(C.JS_EvalFunction(self.context, script))

    def read(self, bytecode: bytes) -> Value:
        return self._checked(C.JS_ReadObject(self.context, bytecode, len(bytecode), _BYTECODE))

    def call(self, function: Value, *args: Value) -> Value:
        return self._checked(
            C.JS_Call(self.context, function, UNDEFINED, len(args), ffi.new("JSValue[]", args))
        )

    def _checked(self, value: Value) -> Value:
        if value.tag == _TAG_EXCEPTION:
            raise GuestThrew(C.JS_GetException(self.context))
        return value

    def text(self, value: Value) -> str:
        return _text(self.context, value)

    def bytes_of(self, value: Value) -> bytes:
        """The UTF-8 of a string."""
        pointer = C.JS_ToCStringLen2(self.context, self._size, value, False)
        if pointer == ffi.NULL:
            raise GuestThrew(C.JS_GetException(self.context))
        data = ffi.buffer(pointer, self._size[0])[:]
        C.JS_FreeCString(self.context, pointer)
        return data  # type: ignore[no-any-return]  # a slice of a cffi buffer is bytes

    def string(self, data: bytes) -> Value:
        return self._checked(C.JS_NewStringLen(self.context, data, len(data)))

    def number(self, value: int) -> Value:
        return ffi.new("JSValue *", {"bits": value, "tag": 0})[0]

    def boolean(self, value: bool) -> Value:
        return _TRUE if value else _FALSE

    def array(self, items: Sequence[Value]) -> Value:
        made = self._checked(C.JS_NewArray(self.context))
        for index, item in enumerate(items):
            self.set_field(
                made, str(index), item
            )  # defined, not set, which would call a guest's setter
        return made

    def error(self) -> Value:
        """An error that has no frames yet: the engine notes them where it is thrown."""
        return self._checked(C.JS_NewObjectClass(self.context, self._error_class))

    def frames(self) -> str:
        """The frames of the code that is running, as an error made now would have them."""
        self.last_frames()
        error = C.JS_NewError(self.context)
        C.JS_FreeValue(self.context, error)
        return self.last_frames()

    def last_frames(self) -> str:
        """Those that the engine noted first since they were asked for, or since a catch."""
        place = ffi.new("JSValue *")
        C.js_std_cmd(_TAKE_FRAMES, self.context, place)
        text = _text(self.context, place[0]) if place[0].tag != _TAG_UNDEFINED else ""
        C.JS_FreeValue(self.context, place[0])
        return text

    def array_buffer(self, data: Any) -> Value:
        pointer = ffi.from_buffer(data) if len(data) else b""
        return self._checked(C.JS_NewArrayBufferCopy(self.context, pointer, len(data)))

    def field(self, value: Value, name: str) -> Value:
        return self._checked(C.JS_GetPropertyStr(self.context, value, name.encode()))

    def element(self, value: Value, index: int) -> Value:
        return self._checked(C.JS_GetPropertyUint32(self.context, value, index))

    def integer(self, value: Value) -> int:
        """The int of a value known to be a small integer; JSON.parse may have made it a double."""
        if value.tag == _TAG_FLOAT64:
            return int(struct.unpack("d", struct.pack("Q", value.bits))[0])
        bits = value.bits & 0xFFFFFFFF
        return int(bits)

    def free(self, value: Value) -> None:
        C.JS_FreeValue(self.context, value)

    def keep(self, value: Value) -> Value:
        return C.JS_DupValue(self.context, value)

    def binary(self, value: Value) -> Any:
        """A view of a buffer's or typed array's bytes, valid until JavaScript runs."""
        offset, length = 0, None
        buffer = value
        if not C.JS_IsArrayBuffer(value):
            sizes = self._sizes
            buffer = C.JS_GetTypedArrayBuffer(self.context, value, sizes, sizes + 1, sizes + 2)
            if buffer.tag == _TAG_EXCEPTION:
                raise GuestThrew(C.JS_GetException(self.context))
            offset, length = sizes[0], sizes[1]
        pointer = C.JS_GetArrayBuffer(self.context, self._size, buffer)
        if buffer is not value:
            C.JS_FreeValue(self.context, buffer)
        size = self._size[0] if pointer != ffi.NULL else 0
        length = size - offset if length is None else min(length, size - offset)
        return ffi.buffer(pointer + offset, length) if length > 0 else b""

    def kind(self, value: Value) -> str:
        """The engine's own class of an object, regardless of its prototype."""
        ident = C.JS_GetClassID(value)
        name = self._kinds.get(ident)
        if name is None:
            atom = C.JS_GetClassName(self.runtime, ident)
            name = self._kinds[ident] = self.text(C.JS_AtomToString(self.context, atom))
        return name

    def is_promise(self, value: Value) -> bool:
        return bool(C.JS_IsPromise(value))

    def promise_state(self, promise: Value) -> int:
        return int(C.JS_PromiseState(self.context, promise))

    def promise_result(self, promise: Value) -> Value:
        return C.JS_PromiseResult(self.context, promise)

    def global_object(self) -> Value:
        return C.JS_GetGlobalObject(self.context)

    def set_field(self, target: Value, name: str, value: Value) -> None:
        C.JS_DefinePropertyValueStr(
            self.context, target, name.encode(), value, _CONFIGURABLE_WRITABLE
        )

    def take_field(self, target: Value, name: str) -> bytes:
        """The text of a string property, which becomes empty."""
        value = C.JS_GetPropertyStr(self.context, target, name.encode())
        text = self.bytes_of(value)
        C.JS_FreeValue(self.context, value)
        if text:
            C.JS_SetPropertyStr(self.context, target, name.encode(), self.string(b""))
        return text

    # -- callbacks

    def function(self, name: str, python: Callable[[list[Value]], Value]) -> Value:
        """A JavaScript function that calls a Python one, which must return a value it owns."""

        def entry(context: Any, this: Value, count: int, args: Any) -> Value:
            try:
                return python(ffi.unpack(args, count))
            except GuestThrew as thrown:
                return C.JS_Throw(context, thrown.value)

        callback = ffi.callback("JSCFunction", entry, onerror=_die)
        self._keep.append(callback)
        return C.JS_NewCFunction2(self.context, callback, name.encode(), 0, 0, 0)

    def on_interrupt(self, handler: Callable[[], bool]) -> None:
        callback = ffi.callback("JSInterruptHandler", lambda rt, opaque: handler(), onerror=_die)
        self._keep.append(callback)
        C.JS_SetInterruptHandler(self.runtime, callback, ffi.NULL)

    def on_rejection(self, handler: Callable[[Value, Value, bool], None]) -> None:
        def entry(context: Any, promise: Value, reason: Value, handled: bool, opaque: Any) -> None:
            handler(promise, reason, handled)

        callback = ffi.callback("JSHostPromiseRejectionTracker", entry, onerror=_die)
        self._keep.append(callback)
        C.JS_SetHostPromiseRejectionTracker(self.runtime, callback, ffi.NULL)

    # -- modules

    def on_import(
        self,
        resolve: Callable[[str, str, int], str],
        load: Callable[[str], Any],
    ) -> None:
        """`resolve` returns the name of a module, `load` makes it; either may raise GuestThrew.

        `resolve` gets the importer, the specifier and its size in bytes; if the specifier is too
        long, it gets only the beginning.
        """

        def normalize(context: Any, base: Any, name: Any, opaque: Any) -> Any:
            try:
                size = libc.strlen(name)
                specifier = _c_text(name) if size <= MOST_BYTES else _c_start(name, MOST_BYTES)
                found = resolve(_c_text(base), specifier, size).encode() + b"\0"
            except GuestThrew as thrown:
                C.JS_Throw(context, thrown.value)
                return ffi.NULL
            memory = C.js_malloc(context, len(found))
            if memory == ffi.NULL:
                return ffi.NULL
            ffi.memmove(memory, found, len(found))
            return ffi.cast("char *", memory)

        def loader(context: Any, name: Any, opaque: Any) -> Any:
            try:
                return load(_c_text(name))
            except GuestThrew as thrown:
                C.JS_Throw(context, thrown.value)
                return ffi.NULL

        first = ffi.callback("JSModuleNormalizeFunc", normalize, onerror=_die)
        second = ffi.callback("JSModuleLoaderFunc", loader, onerror=_die)
        self._keep += (first, second)
        C.JS_SetModuleLoaderFunc(self.runtime, first, second, ffi.NULL)

    def source_module(self, bytecode: bytes, url: str) -> Any:
        """A module from bytecode, with its import.meta, not yet linked."""
        value = self.read(bytecode)
        module = ffi.cast("JSModuleDef *", value.bits)
        meta = C.JS_GetImportMeta(self.context, module)
        C.JS_DefinePropertyValueStr(
            self.context, meta, b"url", self.string(url.encode("utf-8", "replace")), 7
        )
        return value, module

    def synthetic_module(self, name: str, exports: Sequence[str], values: Sequence[Value]) -> Any:
        def initialise(context: Any, module: Any) -> int:
            for export, value in zip(exports, values, strict=True):
                C.JS_SetModuleExport(context, module, export.encode(), value)
            return 0

        callback = ffi.callback("JSModuleInitFunc", initialise, onerror=_die)
        self._keep.append(callback)
        module = C.JS_NewCModule(self.context, name.encode(), callback)
        for export in exports:
            C.JS_AddModuleExport(self.context, module, export.encode())
        return module

    def link(self, module_value: Value) -> None:
        """Loads all modules that the module imports, directly and indirectly."""
        if C.JS_ResolveModule(self.context, module_value) < 0:
            raise GuestThrew(C.JS_GetException(self.context))

    def evaluate_module(self, module_value: Value) -> Value:
        """The promise of the evaluation's end; an exception here means that linking failed."""
        return self._checked(C.JS_EvalFunction(self.context, module_value))

    def namespace(self, module: Any) -> Value:
        return self._checked(C.JS_GetModuleNamespace(self.context, module))

    # -- jobs and limits

    def run_jobs(self) -> bool:
        """Runs some of the queued jobs; returns whether there may be more. Ignores exceptions.

        C's `lfind` calls a function for one item after another until it returns 0, and the function
        that runs a job returns 0 when the queue is empty. So one call into C runs many jobs.
        """
        job = self._job_context
        return not libc.lfind(self.runtime, job, self._jobs_at_once, 0, _EXECUTE_JOB)

    def limit_heap(self, limit: int) -> None:
        C.JS_SetMemoryLimit(self.runtime, limit)

    def collect_first_at(self, size: int) -> None:
        """Delays the first garbage collection, which writes to pages shared with the zygote."""
        C.JS_SetGCThreshold(self.runtime, size)

    def heap_size(self) -> int:
        return _heap_size(self.runtime)

    def reseeder(self) -> Callable[[bytes], None] | None:
        """A function that seeds Math.random; None if its state is not found in the context.

        Without it, every worker would draw the same numbers, because the realm is made before the
        fork. The generator has one word of state (xorshift64*): we look for the one word that
        predicts two random numbers in a row.
        """
        random = self.field(self.field(self.global_object(), "Math"), "random")
        words = ffi.cast("uint64_t *", self.context)
        candidates = list(range(_CONTEXT_WORDS))
        for _ in range(2):
            number = ffi.new("uint64_t *", self.call(random).bits)
            drawn = int(ffi.cast("double *", number)[0] * 2**52)
            candidates = [at for at in candidates if _drawn_from(words[at]) == drawn]
        if len(candidates) != 1:
            return None

        def reseed(seed: bytes) -> None:
            words[candidates[0]] = int.from_bytes(seed, "little") | 1

        return reseed

    def heap_probe(self) -> Callable[[], int] | None:
        """A cheap function for the heap's size; None if the runtime's layout is not as expected.

        `JS_ComputeMemoryUsage` walks the whole heap, which is too slow for the interrupt handler.
        The allocator's counters (calls, size, limit) follow its five function pointers.
        """
        marker = 0x5AFE5AFE5AFE
        C.JS_SetMemoryLimit(self.runtime, marker)
        words = self._words
        is_as_expected = words[7] == marker and words[6] == self.heap_size()
        C.JS_SetMemoryLimit(self.runtime, 0)
        return (lambda: int(words[6])) if is_as_expected else None


def _drawn_from(state: int) -> int:
    """The 52 bits that Math.random returns for a state of its generator."""
    return (state * 0x2545F4914F6CDD1D & (2**64 - 1)) >> 12


def _die(*failure: Any) -> NoReturn:
    """Exits: an exception inside a callback is a bug in this package, or memory has run out."""
    import os

    from ..wire.messages import EXIT_INTERNAL, EXIT_MEMORY

    os._exit(EXIT_MEMORY if failure and failure[0] is MemoryError else EXIT_INTERNAL)


def _c_text(pointer: Any) -> str:
    return ffi.string(pointer).decode("utf-8", "surrogatepass")  # type: ignore[no-any-return]  # cffi is untyped


def _c_start(pointer: Any, size: int) -> str:
    """The text of the first bytes, which may end in the middle of a character."""
    return ffi.string(pointer, size).decode("utf-8", "replace")  # type: ignore[no-any-return]  # cffi is untyped
