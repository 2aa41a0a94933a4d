"""Runs one Python program as an interpreter that was started for it would, as far as it can tell."""

from __future__ import annotations

import atexit
import builtins
import contextlib
import gc
import importlib.machinery
import io
import json
import linecache
import os
import re
import sys
import threading
import traceback
import types
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ...wire.frame import pack
from ..protocol import OUT_OF_MEMORY
from . import prelude
from .descriptors import CHANNEL
from .paths import STDLIB

FILENAME = "program.py"
_OUT_OF_MEMORY = b"".join(bytes(part) for part in pack(OUT_OF_MEMORY))
_REHEARSED = b"import os\nfor n in range(3): text = f'{n} {os.sep}'\n"
_REHEARSED_OPTIONS = b'{"args": ["a"], "env": {"A": "b"}}'
_HERE = os.path.dirname(__file__) + os.sep
_EXIT_UNFLUSHED = 120
_OF_PYTHON = sys.__excepthook__
_DID_YOU_MEAN = re.compile(r"\. Did you mean: '[^'\n]*'\?\n*\Z")
_EXIT_INTERRUPTED = 130


class StandardLibrary(importlib.machinery.FileFinder):
    """Finds modules in a folder that cannot be listed any more, but never changes."""

    def invalidate_caches(self) -> None:
        pass


def freeze_standard_library() -> None:
    """In the zygote, while it can list the folder."""
    details = [
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
        (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES),
        (importlib.machinery.SourcelessFileLoader, importlib.machinery.BYTECODE_SUFFIXES),
    ]
    for folder in (STDLIB, f"{STDLIB}/lib-dynload"):
        finder = StandardLibrary(folder, *details)
        finder.find_spec("a_name_that_is_looked_for_so_that_the_folder_is_read")
        sys.path_importer_cache[folder] = finder


def settle() -> None:
    """In the zygote, when everything is imported: what programs share, and nothing of ours."""
    freeze_standard_library()
    take_hooks()
    sys.path[:] = [path for path in sys.path if path.startswith(STDLIB) or path.endswith(".zip")]
    for name in [each for each in sys.modules if each.split(".")[0] in _OURS]:
        del sys.modules[name]


def take_hooks() -> None:
    """How uncaught exceptions are shown."""
    sys.excepthook = sys.__excepthook__ = _print_exception
    sys.unraisablehook = sys.__unraisablehook__ = _print_unraisable
    threading.excepthook = threading.__excepthook__ = _print_of_thread


_OURS = frozenset({"sandbox_kernel", "_cffi_backend"})


class PythonProgram:
    """First `prepare`, which takes a while; then, with the program, `run`, which does not return."""

    def __init__(
        self, box: str, scratch: str, *, forks: bool, settings: Mapping[str, str] = {}
    ) -> None:
        """`settings` are variables of its environment beside the usual ones."""
        self._box = box
        self._scratch = scratch
        self._forks = forks
        self._settings = settings
        self._source = b""

    def prepare(self) -> None:
        """All that does not depend on the program."""
        _open_streams()
        os.environ.update(
            HOME=self._box,
            TMPDIR=self._scratch,
            LANG="C.UTF-8",
            PATH="/usr/local/bin:/usr/bin:/bin",
            USER="guest",
            **self._settings,
        )
        sys.path.insert(0, self._box)
        sys.dont_write_bytecode = True  # it would be among the program's files
        prelude.refuse_processes(may_fork=self._forks)

    def rehearse(self) -> None:
        """Touches the memory that a program will need, which is slow the first time in a fork."""
        main = self._main_module(tools=False)
        self._source = _REHEARSED
        self._execute(main)
        json.loads(_REHEARSED_OPTIONS)
        _forget_modules_named_like(os.listdir())
        _drop(main)
        _flushed()
        linecache.cache.clear()

    def run(self, options: dict[str, Any], source: bytes) -> NoReturn:
        self._source = source
        os.environ.update(options["env"])
        sys.argv = [FILENAME, *options["args"]]
        sys.orig_argv = [sys.executable, *sys.argv]
        _forget_modules_named_like(os.listdir())
        installed = options.get("installed")
        if installed is not None:
            sys.path.append(installed)
        main = self._main_module(tools=options["tools"], install=installed is not None)
        gc.enable()
        code = self._run(main)
        os._exit(code & 0xFF)

    def _main_module(self, *, tools: bool, install: bool = False) -> types.ModuleType:
        main = types.ModuleType("__main__")
        main.__dict__.update(
            __file__=os.path.join(self._box, FILENAME),
            __builtins__=builtins,
            __annotations__={},
            **prelude.functions(tools=tools, install=install),
        )
        sys.modules["__main__"] = main
        return main

    def _run(self, main: types.ModuleType) -> int:
        code = _exit_code_of(lambda: self._execute(main))
        code = _exit_code_of(threading._shutdown) or code  # type: ignore[attr-defined]  # not in typeshed
        code = _exit_code_of(atexit._run_exitfuncs) or code
        _drop(main)
        return _flushed() or code

    def _execute(self, main: types.ModuleType) -> None:
        text = self._source.decode("utf-8-sig")
        lines = list(io.StringIO(text if text.endswith("\n") else f"{text}\n", newline=None))
        for name in (FILENAME, os.path.join(self._box, FILENAME)):
            linecache.cache[name] = (len(text), None, lines, name)
        code = compile(text, FILENAME, "exec", dont_inherit=True)
        self._source = b""
        exec(code, main.__dict__)  # noqa: S102  # this is what it is for


def _open_streams() -> None:
    """Lines arrive at once, and in order, as they would in a terminal."""
    sys.stdin = sys.__stdin__ = _stream(0, "rb", errors="surrogateescape")  # type: ignore[misc]  # typeshed has it as a constant
    sys.stdout = sys.__stdout__ = _stream(1, "wb", errors="surrogateescape")  # type: ignore[misc]  # typeshed has it as a constant
    sys.stderr = sys.__stderr__ = _stream(2, "wb", errors="backslashreplace")  # type: ignore[misc]  # typeshed has it as a constant


def _stream(descriptor: int, mode: str, errors: str) -> io.TextIOWrapper:
    binary: Any = open(descriptor, mode, closefd=False)  # noqa: SIM115  # until the program ends
    name = ("<stdin>", "<stdout>", "<stderr>")[descriptor]
    binary.raw.name = name
    text = io.TextIOWrapper(binary, "utf-8", errors, line_buffering=mode == "wb")
    text.mode = mode[0]  # type: ignore[misc]  # typeshed has it as a constant
    return text


def _forget_modules_named_like(files: list[str]) -> None:
    """A file of the program goes before a module of the standard library, loaded or not."""
    for file in files:
        name = file.removesuffix(".py").split(".")[0]
        if name in sys.builtin_module_names or name not in sys.modules:
            continue
        for loaded in [each for each in sys.modules if each.split(".")[0] == name]:
            del sys.modules[loaded]


# ---------------------------------------------------------------------------- how it ends


def _exit_code_of(function: Callable[[], object]) -> int:
    """0, or what the exit or the exception out of it means to the shell."""
    try:
        function()
    except SystemExit as end:
        return _code_of(end)
    except BaseException as error:
        if isinstance(error, MemoryError):
            os.write(CHANNEL, _OUT_OF_MEMORY)  # first of all, since there may be no room for more
        _report(error)
        return _EXIT_INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _code_of(end: SystemExit) -> int:
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    _write_error(f"{end.code}\n")
    return 1


def _report(error: BaseException) -> None:
    trace = error.__traceback__ = _without_ours(error.__traceback__)
    try:
        sys.excepthook(type(error), error, trace)
    except BaseException:
        _print_exception(type(error), error, trace)


def _without_ours(trace: types.TracebackType | None) -> types.TracebackType | None:
    """The program's own frames, and those of the standard library."""
    kept = []
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_HERE):
            kept.append(trace)
        trace = trace.tb_next
    rest = None
    for each in reversed(kept):
        rest = types.TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return rest


def _print_exception(
    kind: type[BaseException], error: BaseException, trace: types.TracebackType | None
) -> None:
    """As Python's own, which reads lines from files only."""
    try:
        text = "".join(traceback.format_exception(kind, error, trace))
        _write_error(text.removesuffix("\n") + _suggestion(kind, error, trace) + "\n")
    except BaseException:  # such as a MemoryError again
        _write_error(f"{kind.__name__}\n")


def _suggestion(
    kind: type[BaseException], error: BaseException, trace: types.TracebackType | None
) -> str:
    """Before 3.12 only Python's own hook says `Did you mean`."""
    if sys.version_info >= (3, 12) or not isinstance(error, NameError | AttributeError):
        return ""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        _OF_PYTHON(kind, error, trace)
    found = _DID_YOU_MEAN.search(said.getvalue())
    return found[0].rstrip("\n") if found else ""


def _print_of_thread(args: Any) -> None:
    if args.exc_type is SystemExit:
        return
    name = args.thread.name if args.thread is not None else threading.get_ident()
    _write_error(f"Exception in thread {name}:\n")
    _print_exception(args.exc_type, args.exc_value, args.exc_traceback)


def _print_unraisable(args: Any) -> None:
    message = args.err_msg or "Exception ignored in"
    _write_error(f"{message}: {args.object!r}\n")
    _print_exception(args.exc_type, args.exc_value, args.exc_traceback)


def _write_error(text: str) -> None:
    stream = sys.stderr
    if stream is not None:
        stream.write(text)
        stream.flush()


def _drop(main: types.ModuleType) -> None:
    """Ends the lives of globals, so that their `__del__` runs, names with underscores first."""
    names = main.__dict__
    for wanted in (True, False):
        for name in list(names):
            if name.startswith("_") is wanted and name != "__builtins__":
                names[name] = None


def _flushed() -> int:
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except BaseException:
        return _EXIT_UNFLUSHED
    return 0
