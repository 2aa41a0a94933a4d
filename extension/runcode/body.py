"""Completion inside the body of a `%%runcode` cell, as in the kernel.

It runs none of the user's code: it looks up only names and literals in the options, and only the
names of objects' attributes.
"""

from __future__ import annotations

import ast
import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.completer import SimpleCompletion, context_matcher

from sandbox_kernel.capabilities.spelling import capability_of
from sandbox_kernel.errors import SandboxError
from sandbox_kernel.exports import names_of
from sandbox_kernel.notebook.assist.completion import code_matches, with_prefix
from sandbox_kernel.notebook.assist.intrinsics import Intrinsic, Intrinsics
from sandbox_kernel.notebook.assist.lent import lent_scope
from sandbox_kernel.notebook.assist.scan import KEYWORDS
from sandbox_kernel.notebook.assist.scope import Scope
from sandbox_kernel.notebook.options.grammar import Source, parse_options
from sandbox_kernel.notebook.options.help import complete_options
from sandbox_kernel.notebook.options.lines import unfolded

from .complete import names_for

if TYPE_CHECKING:
    from IPython.core.completer import CompletionContext, SimpleMatcherResult
    from IPython.core.interactiveshell import InteractiveShell

_MAGIC = "%%runcode"
_PATIENCE = 1.0  # seconds that the first Tab may wait for the list of intrinsics


def body_matcher(shell: InteractiveShell, modules: Mapping[str, str]) -> Callable[..., Any]:
    """A matcher for IPython's completer; it offers nothing outside such cells."""
    realm = _Realm()

    def match(context: CompletionContext) -> SimpleMatcherResult:
        code = unfolded(context.full_text)
        if not code.startswith(_MAGIC) or context.cursor_line == 0:
            return {"completions": []}
        lines = context.full_text.split("\n")[: context.cursor_line]
        cursor = sum(len(line) + 1 for line in lines) + context.cursor_position
        line = code.split("\n", 1)[0]
        matches: Iterable[str]
        if cursor <= len(line):  # the magic's line, continued
            options = line[len(_MAGIC) : cursor]
            start, matches = complete_options(options, "magic", partial(names_for, shell))
            start += len(_MAGIC)
        else:
            scope = _scope(line.removeprefix(_MAGIC), shell.user_ns, modules)
            start, matches = code_matches(code, cursor, scope, realm.intrinsics())
        typed = code[start:cursor]
        return {
            "completions": [
                SimpleCompletion(match, type="keyword" if match in KEYWORDS else "name")
                for match in with_prefix(matches, typed)
            ],
            "matched_fragment": typed,
            "ordered": True,
            "suppress": True,  # Python's own completions do not apply
        }

    as_matcher: Callable[..., Any] = context_matcher(identifier="runcode")(match)
    return as_matcher


class _Realm:
    """Asks a realm for its intrinsics, in a thread, since this thread's loop may be running."""

    def __init__(self) -> None:
        self._known: Mapping[str, Intrinsic] = {}
        self._asking: threading.Thread | None = None

    def intrinsics(self) -> Mapping[str, Intrinsic]:
        if self._asking is None:
            self._asking = threading.Thread(target=self._ask, daemon=True)
            self._asking.start()
        self._asking.join(_PATIENCE)
        return self._known

    def _ask(self) -> None:
        self._known = asyncio.run(Intrinsics().all())


def _scope(line: str, names: Mapping[str, Any], modules: Mapping[str, str]) -> Scope:
    try:
        options = parse_options(line, "magic")
        lent = lent_scope(dict(map(capability_of, options.lend.values())))
    except SandboxError:
        return Scope(modules=modules)
    given = {path: _value(source, names) for path, source in options.modules.items()}
    texts = {path: text for path, text in given.items() if isinstance(text, str)}
    imports = {name: _exports(_value(source, names)) for name, source in options.imports.items()}
    values = {name: _value(source, names) for name, source in options.globals.items()}
    return Scope({**lent.imports, **imports}, {**modules, **texts}, {**lent.globals, **values})


def _value(source: Source, names: Mapping[str, Any]) -> Any:
    """The value of a source that is a name or a literal; None if it would have to be evaluated."""
    text = source.name if source.text is None else source.text
    if text in names:
        return names[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _exports(owner: Any) -> Mapping[str, Any]:
    """A dict with its values; of anything else only names, since reading an attribute may run code."""
    return owner if isinstance(owner, dict) else dict.fromkeys(names_of(owner))
