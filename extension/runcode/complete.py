"""Completion of the line of a magic: its options, and names of the user's namespace."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.error import TryNext

from sandbox_kernel.notebook.options.agent import AGENT_OPTIONS
from sandbox_kernel.notebook.options.grammar import Option
from sandbox_kernel.notebook.options.help import complete_options
from sandbox_kernel.notebook.options.program import complete_program_options

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_SOURCES = ("import", "global", "module", "stdin", "file", "tool", "script", "model")
_NAMED = ("import", "global", "into", "tool", "stdin", "script", "model")
_WHOLE = ("stdin", "script", "model")  # their value is a source
_NAMED_BEHIND = ("module", "file")  # an equals sign


def complete(shell: InteractiveShell, event: Any) -> list[str]:
    """IPython's hook `complete_command`: the completions of the symbol before the cursor."""
    return _completed(shell, event, complete_options)


def complete_program(shell: InteractiveShell, event: Any) -> list[str]:
    """Likewise, for `%%runprogram`."""
    return _completed(shell, event, complete_program_options)


def complete_agent(shell: InteractiveShell, event: Any) -> list[str]:
    """Likewise, for `%%agent`."""
    return _completed(shell, event, partial(complete_options, table=AGENT_OPTIONS))


def _completed(shell: InteractiveShell, event: Any, completions: Any) -> list[str]:
    _, space, line = event.text_until_cursor.partition(" ")
    if not space:
        raise TryNext
    start, matches = completions(line, "magic", partial(_names, shell, event.symbol))
    # IPython's symbol may begin later than the word, after a hyphen or an equals sign.
    kept = len(line) - len(event.symbol) - start
    return [match[kept:] if kept > 0 else line[start + kept : start] + match for match in matches]


def _names(shell: InteractiveShell, symbol: str, option: Option, typed: str) -> list[str]:
    """Names of the user's namespace, and attributes where a source is a Python expression."""
    if option.name in _SOURCES and "." in symbol and ("=" in typed or option.name in _WHOLE):
        return list(shell.Completer.attr_matches(symbol))  # type: ignore[no-untyped-call]  # IPython's
    return names_for(shell, option, typed)


def names_for(shell: InteractiveShell, option: Option, typed: str) -> list[str]:
    """Names of the user's namespace that this option may name."""
    if option.name in _NAMED or (option.name in _NAMED_BEHIND and "=" in typed):
        hidden = shell.user_ns_hidden
        return sorted(
            name for name in shell.user_ns if not name.startswith("_") and name not in hidden
        )
    return []
