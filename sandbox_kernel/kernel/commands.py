"""The line magics: each answers with text, and some change the notebook's state."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..clean import clean
from ..errors import OptionError
from ..notebook.ask.listing import answer_permissions, check_permissions
from ..notebook.options.agent import AGENT_OPTIONS
from ..notebook.options.grammar import CellOptions, Source, parse_options
from ..notebook.options.help import options_help
from ..notebook.options.program import PROGRAM_OPTIONS
from ..notebook.runs import answer_runs, check_runs
from ..notebook.servers import parse_mcp
from ..notebook.view.late import forget_views
from ..spelling import suggestion
from .cell import CELL_MAGICS, LINE_MAGICS, Magic
from .notebook_state import NotebookState

SLOW = ("mcp",)  # it may wait for a process to start, and is answered on a thread
RESETS = ("defaults", "bridges", "modules", "kept", "mcp")


def check(magic: Magic) -> None:
    """Raises if a magic cannot accept its line; called before any magic of the cell runs."""
    if magic.name == "defaults":
        if parse_options(magic.line, "kernel").keep is not None:
            raise OptionError("--keep is for one cell: %%runcode --keep NAME", "keep")
    elif magic.name == "reset":
        for word in magic.line.split():
            if word not in RESETS:
                raise OptionError(
                    f"%reset cannot forget {word!r}; {suggestion(word, RESETS)}", word
                )
    elif magic.name == "runs":
        check_runs(magic.line)
    elif magic.name == "permissions":
        check_permissions(magic.line)
    elif magic.name == "mcp":
        parse_mcp(magic.line)
    elif magic.line and magic.name not in ("help", "types"):
        raise OptionError(f"%{magic.name} takes no arguments, but got {magic.line!r}", magic.name)


def answer(magic: Magic, state: NotebookState) -> str:
    """Runs the magic; returns the text to show."""
    return clean(_COMMANDS[magic.name](magic.line, state))


def _defaults(line: str, state: NotebookState) -> str:
    if not line:
        return describe(state.defaults) or "no defaults; %defaults OPTIONS sets them"
    defaults = parse_options(line, "kernel").over(state.defaults)
    defaults.run_options(state.resolve)  # so that a source that does not exist is an error here
    state.defaults = defaults
    return describe(defaults)


def describe(options: CellOptions) -> str:
    """Options as they would be typed."""
    words: list[str] = []
    if options.fn is not None:
        words.append(f"--fn {options.fn}")
    if options.args is not None:
        words.append(f"--args {list(options.args)}")
    for sources in (options.imports, options.globals, options.modules):
        words += [_describe_source(source, options) for source in sources.values()]
    for name, text in options.lend.items():
        words.append(f"--lend {text}{' --ask' if options.asks.get(name) else ''}")
    if options.memory is not None:
        words.append(f"--memory {options.memory}")
    for name in ("language", "filename"):
        if getattr(options, name) is not None:
            words.append(f"--{name} {getattr(options, name)}")
    if options.deadline is not None:
        words.append(f"--deadline {options.deadline.text}")
    if options.no_widget:
        words.append("--no-widget")
    return "\n".join(words)


def _describe_source(source: Source, options: CellOptions) -> str:
    given = source.name if source.text is None else f"{source.name}={source.text}"
    asks = " --ask" if source.kind != "module" and source.name in options.asks else ""
    return f"--{source.kind} {given}{asks}"


def _bridges(_line: str, state: NotebookState) -> str:
    if not state.bridges:
        return "no bridges; a %%bridge NAME cell makes one"
    return "\n".join(bridge.summary() for bridge in state.bridges.values())


def _modules(_line: str, state: NotebookState) -> str:
    if not state.modules:
        return "no modules; a %%module ./PATH cell makes one"
    return "\n".join(describe_module(path, source) for path, source in state.modules.items())


def _kept(_line: str, state: NotebookState) -> str:
    if not state.kept:
        return "nothing is kept; %%runcode --keep NAME keeps a cell's result"
    return state.kept.summary()


def describe_module(path: str, source: str) -> str:
    """`./lib.ts: 12 lines`."""
    count = len(source.strip().splitlines())
    return f"{path}: {count} line{'' if count == 1 else 's'}"


def _reset(line: str, state: NotebookState) -> str:
    targets = line.split() or list(RESETS)
    if not line:
        forget_views()
    if "defaults" in targets:
        state.defaults = CellOptions()
    if "bridges" in targets:
        state.bridges.clear()
    if "modules" in targets:
        state.modules.clear()
    if "kept" in targets:
        state.kept.clear()
    if "mcp" in targets:
        state.servers.close()
    return f"forgotten: {', '.join(targets)}"


def _mcp(line: str, state: NotebookState) -> str:
    return state.servers.answer_mcp(line)


def _types(line: str, state: NotebookState) -> str:
    return state.servers.answer_types(line)


def _runs(line: str, _state: NotebookState) -> str:
    return answer_runs(line)


def _doctor(_line: str, _state: NotebookState) -> str:
    from .doctor import report  # reads the metadata of packages, which is slow to load

    return report()


def _help(_line: str, _state: NotebookState) -> str:
    return "\n".join(
        [
            "Each cell is an ES module in a fresh sandbox: its default export, or the value of its",
            "last expression, is the result. It reaches only what you lend it.",
            "",
            "On the first line of a cell:",
            *_aligned(CELL_MAGICS.values()),
            "",
            "On lines of their own, also above code:",
            *_aligned(LINE_MAGICS.values()),
            "",
            "OPTIONS:",
            options_help("kernel"),
            "  A SOURCE is JSON, @file.json, or the name of a bridge (or BRIDGE.EXPORT).",
            "",
            "OPTIONS of %%runprogram:",
            options_help("kernel", PROGRAM_OPTIONS),
            "",
            "OPTIONS of %%agent:",
            options_help("kernel", AGENT_OPTIONS),
            "",
            "For example:",
            "  %%runcode --global limit=10 --deadline 2s",
            "  report(limit); export default limit * 2;",
        ]
    )


def _aligned(usages: Iterable[str]) -> list[str]:
    pairs = [usage.split(": ", 1) for usage in usages]
    width = max(len(usage) for usage, _ in pairs)
    return [f"  {usage:<{width}}  {meaning}" for usage, meaning in pairs]


_COMMANDS: dict[str, Callable[[str, NotebookState], str]] = {
    "defaults": _defaults,
    "bridges": _bridges,
    "modules": _modules,
    "mcp": _mcp,
    "types": _types,
    "kept": _kept,
    "reset": _reset,
    "runs": _runs,
    "permissions": lambda line, _: answer_permissions(line),
    "doctor": _doctor,
    "help": _help,
}
