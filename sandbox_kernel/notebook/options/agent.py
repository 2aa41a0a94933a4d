"""The option grammar of `%%agent OPTIONS`, the same in the kernel and in the magic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...errors import OptionError
from ...spelling import suggestion
from .grammar import Face, Option, Readers, Source, Table, read_options
from .program import LentAs, nowhere_else, tools_of, variable, with_tool
from .words import words_of

LANGUAGES = ("javascript", "python", "node", "deno", "none")
AGENT_OPTIONS: Table = (
    Option("tool", "NAME[=SOURCE]", "lend a function to the model", repeatable=True),
    Option("code", "LANGUAGE", "what its code_execution runs; none for no such tool",
           choices=LANGUAGES),
    Option("ask", None, "ask before every call of a tool"),
    Option("session", "ID", "go on with the conversation of this id"),
    Option("system", "TEXT", "what the model is told before the prompt"),
    Option("steps", "N", "turns that it has until it must have answered; 10 unless given"),
    Option("script", "SOURCE", "no model: a list of turns to play, for lessons"),
    Option("model", "SOURCE", "a model of yours; else LLM_BASE_URL, LLM_API_KEY and LLM_MODEL",
           face="magic"),
    Option("into", "NAME", "keep the answer in this variable", face="magic"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """A parsed line. None means not given."""

    tools: Mapping[str, Source] = field(default_factory=dict)
    code: str = "javascript"
    ask: bool = False
    session: str | None = None
    system: str | None = None
    steps: int = 10
    script: Source | None = None
    model: Source | None = None
    into: str | None = None

    def functions(
        self, resolve: Callable[[Source], Any], lent_as: LentAs = nowhere_else
    ) -> dict[str, Any]:
        """What the model is lent, by name."""
        return tools_of(self.tools.values(), resolve, lent_as)


def parse_agent_options(line: str, face: Face) -> AgentOptions:
    words = [word.text for word in words_of(line)]
    return read_options(words, AgentOptions(), _READERS, face, AGENT_OPTIONS)


def _read_code(options: AgentOptions, text: str) -> AgentOptions:
    if text not in LANGUAGES:
        raise OptionError(f"--code {text:.80} cannot be run; {suggestion(text, LANGUAGES)}", "code")
    return replace(options, code=text)


def _read_steps(options: AgentOptions, text: str) -> AgentOptions:
    if not text.isdecimal() or not text.isascii() or not 1 <= int(text[:9]) <= 1000:
        raise OptionError(f"--steps is a whole number from 1 to 1000, not {text:.80}", "steps")
    return replace(options, steps=int(text[:9]))


_READERS: Readers[AgentOptions] = {
    "tool": lambda options, text: replace(options, tools=with_tool(options.tools, text)),
    "code": _read_code,
    "ask": lambda options, _: replace(options, ask=True),
    "session": lambda options, text: replace(options, session=text),
    "system": lambda options, text: replace(options, system=text),
    "steps": _read_steps,
    "script": lambda options, text: replace(options, script=Source("script", "", text)),
    "model": lambda options, text: replace(options, model=Source("model", "", text)),
    "into": lambda options, text: replace(options, into=variable(text)),
}
