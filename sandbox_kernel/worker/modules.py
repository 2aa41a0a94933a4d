"""The module graph: what the host sent may be imported, everything else is refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..specifiers import MOST_BYTES, is_bare, shortened

_BRIDGE = "\x01"  # no file name and no specifier can contain it


class LinkError(Exception):
    """An import of `specifier` leads nowhere, for this reason."""

    def __init__(self, specifier: str, reason: str) -> None:
        super().__init__(specifier, reason)
        self.specifier = specifier
        self.message = f"cannot import '{specifier}': {reason}"


class Graph:
    """Names modules so that a bare specifier can never reach a relative one, or the other way."""

    def __init__(
        self, filename: str, modules: Mapping[str, str], imports: Mapping[str, Sequence[str]]
    ) -> None:
        self._entry_folder = _folder_of_entry(filename)
        self._filename = filename
        self.modules = modules
        self.imports = imports

    def resolve(self, importer: str, specifier: str, size: int) -> str:
        """The engine's name for the module, or a LinkError.

        Of a specifier that is too long only the beginning has to be given, with the whole's size.
        """
        if size > MOST_BYTES:
            raise LinkError(
                shortened(specifier),
                f"a specifier may have at most {MOST_BYTES:,} bytes, this one has {size:,}",
            )
        if specifier.startswith(("./", "../")) or specifier in (".", ".."):
            return self._resolve_relative(importer, specifier)
        if not is_bare(specifier):
            raise LinkError(specifier, "only bare and relative specifiers resolve here")
        if specifier not in self.imports:
            raise LinkError(specifier, "no such import was given")
        return _BRIDGE + specifier

    def _resolve_relative(self, importer: str, specifier: str) -> str:
        parts = self._folder(importer)
        for part in specifier.split("/"):
            if part == "..":
                if not parts:
                    raise LinkError(specifier, "it climbs out of the module graph")
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
        """The specifier, if the name is that of a bridged module."""
        return name[1:] if name.startswith(_BRIDGE) else None


def _folder_of_entry(filename: str) -> list[str]:
    """The root, unless the file name is a relative path that stays inside the graph."""
    parts = filename.split("/")
    if filename.startswith(("/", "<")) or ":" in parts[0] or ".." in parts:
        return []
    return [part for part in parts[:-1] if part not in ("", ".")]


def shown(name: str) -> str:
    """The engine's name for a module as a person would write it."""
    return name.removeprefix(_BRIDGE)
