"""The module graph: only what the host sent can be imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..specifiers import MOST_BYTES, folder_of_entry, is_bare, shortened

_BRIDGE = "\x01"  # file names and specifiers cannot contain it


class LinkError(Exception):
    """`specifier` cannot be imported, for this reason."""

    def __init__(self, specifier: str, reason: str) -> None:
        super().__init__(specifier, reason)
        self.specifier = specifier
        self.message = f"cannot import '{specifier}': {reason}"


class Graph:
    """Resolves specifiers. A bare one never resolves to a relative module, or the reverse."""

    def __init__(
        self, filename: str, modules: Mapping[str, str], imports: Mapping[str, Sequence[str]]
    ) -> None:
        self._entry_folder = folder_of_entry(filename)
        self._filename = filename
        self.modules = modules
        self.imports = imports

    def resolve(self, importer: str, specifier: str, size: int) -> str:
        """The engine's name for the module. Raises LinkError if there is none.

        `size` is that of the whole specifier; if it is too long, `specifier` may be its beginning.
        """
        if size > MOST_BYTES:
            raise LinkError(
                shortened(specifier),
                f"a specifier may have at most {MOST_BYTES:,} bytes, this one has {size:,}",
            )
        if specifier.startswith(("./", "../")) or specifier in (".", ".."):
            return self._resolve_relative(importer, specifier)
        lent = specifier.removeprefix("node:")
        if lent in self.imports:
            return _BRIDGE + lent
        if not specifier:
            raise LinkError(specifier, "it is empty, or begins with a NUL character")
        if not is_bare(lent):
            raise LinkError(
                specifier,
                "only bare specifiers like 'fs' and relative ones like './lib.js' can be imported",
            )
        raise LinkError(specifier, "no import of that name was given to this run")

    def _resolve_relative(self, importer: str, specifier: str) -> str:
        parts = self._folder(importer)
        for part in specifier.split("/"):
            if part == "..":
                if not parts:
                    raise LinkError(specifier, "it leads out of the module graph")
                parts.pop()
            elif part != ".":
                parts.append(part)
        name = "./" + "/".join(parts)
        if name not in self.modules:
            raise LinkError(specifier, f"no module '{name}' was given")
        return name

    def _folder(self, importer: str) -> list[str]:
        if importer == self._filename:
            return list(self._entry_folder)
        return importer.split("/")[1:-1]

    def bridge_of(self, name: str) -> str | None:
        """The specifier, if this is the name of a lent module."""
        return name[1:] if name.startswith(_BRIDGE) else None


def shown(name: str) -> str:
    """The specifier that the engine's name for a module stands for, to show in messages."""
    return name.removeprefix(_BRIDGE)
