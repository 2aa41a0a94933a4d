"""The names that a cell or module imports, exports and declares, read from its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .scan import KEYWORDS, Scan, Token

_DECLARING = frozenset(("const", "let", "var", "function", "class", "enum", "namespace"))


@dataclass(frozen=True, slots=True)
class Imported:
    """A name bound by an import: `export` is `default`, `*` for the namespace, or a name."""

    name: str
    specifier: str
    export: str


def declared(found: Scan) -> list[str]:
    """Every name in the text that does not follow a dot, in order of appearance."""
    names: dict[str, None] = {}
    before = ""
    for token in found.tokens:
        if token.kind == "name" and before not in (".", "?.") and token.text not in KEYWORDS:
            names[token.text] = None
        before = token.text
    return list(names)


def imports(found: Scan) -> list[Imported]:
    """The static imports of the text."""
    tokens = found.tokens
    bound: list[Imported] = []
    for at, token in enumerate(tokens):
        if token.text == "import" and token.kind == "name":
            clause, specifier = _clause(tokens, at + 1)
            if specifier is not None:
                bound += _bindings(clause, specifier)
    return bound


def _clause(tokens: Sequence[Token], at: int) -> tuple[list[Token], str | None]:
    """The tokens between `import` and `from`, and the specifier after that."""
    clause: list[Token] = []
    for token in tokens[at : at + 200]:
        if token.kind == "string":
            is_import = bool(clause) and clause[-1].text == "from"
            return clause[:-1], token.text[1:-1] if is_import else None
        if token.text in (";", "(", "="):
            break
        clause.append(token)
    return clause, None


def _bindings(clause: Sequence[Token], specifier: str) -> Iterator[Imported]:
    words = [token.text for token in clause if token.text != "type"]
    at = 0
    while at < len(words):
        word = words[at]
        renamed = (
            words[at + 2] if words[at + 1 : at + 2] == ["as"] and at + 2 < len(words) else None
        )
        if word == "*" and renamed:
            yield Imported(renamed, specifier, "*")
        elif word not in "{},*":
            inside = "{" in words[:at]
            yield Imported(renamed or word, specifier, word if inside else "default")
        at += 3 if renamed else 1


def exports(found: Scan) -> list[str]:
    """The names that a module exports."""
    names: dict[str, None] = {}
    tokens = found.tokens
    for at, token in enumerate(tokens):
        if token.text == "export" and token.kind == "name":
            names.update((name, None) for name in _exported(tokens[at + 1 : at + 200]))
    return list(names)


def _exported(after: Sequence[Token]) -> Iterator[str]:
    words = [token.text for token in after]
    if words[:1] == ["default"]:
        yield "default"
    elif words[:1] == ["{"]:
        listed = words[1 : words.index("}")] if "}" in words else words[1:]
        for group in _split(listed):
            yield group[-1]
    else:
        words = [word for word in words[:4] if word not in ("async", "*", "abstract", "declare")]
        if len(words) > 1 and words[0] in _DECLARING:
            yield words[1]


def _split(words: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for word in [*words, ","]:
        if word != ",":
            group.append(word)
        elif group:
            yield group
            group = []
