"""What of a folder of installed packages belongs to one distribution, by its RECORD.

Whole folders are lent where they are a distribution's own; of those that several share, parts.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Iterable
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES

from ..errors import OptionError

_SOURCE = ".py"


def paths_of(distribution: metadata.Distribution) -> list[str]:
    """Relative to its folder; what lies outside of it, and what Python would execute there, is left."""
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    paths = [row[0] for row in rows if row]
    return [path for path in paths if not _is_left_out(path)]


def _is_left_out(path: str) -> bool:
    parts = path.split("/")
    return path.startswith("/") or ".." in parts or (len(parts) == 1 and path.endswith(".pth"))


def modules_of(paths: Iterable[str]) -> list[str]:
    """The names under which it is imported; what begins with an underscore is not for users."""
    found: dict[str, None] = {}
    for path in paths:
        top, _, rest = path.partition("/")
        name = top if rest in ("__init__.py", *(f"__init__{s}" for s in EXTENSION_SUFFIXES)) else ""
        if not rest:
            suffix = next((s for s in (*EXTENSION_SUFFIXES, _SOURCE) if top.endswith(s)), None)
            name = top.removesuffix(suffix) if suffix else ""
        if name.isidentifier() and not name.startswith("_"):
            found[name] = None
    return list(found)


def entries_of(
    distribution: metadata.Distribution,
    paths: Collection[str],
    lent: Iterable[metadata.Distribution],
) -> list[tuple[str, str]]:
    """Relative paths, and where each lies; OptionError if they are gone, or lead out."""
    folder = os.path.realpath(str(distribution.locate_file("")))
    others = _paths_of_others(folder, {each.name for each in lent})
    found = []
    for entry in _parts(paths, others):
        source = os.path.realpath(os.path.join(folder, entry))
        if not source.startswith(f"{folder}{os.sep}"):
            raise OptionError(
                f"packages: {distribution.name} has a link that leads out of its folder: {entry}",
                "packages",
            )
        if os.path.exists(source):
            found.append((entry, source))
    if not found:
        raise OptionError(f"packages: the files of {distribution.name} are gone", "packages")
    return found


def _parts(paths: Collection[str], others: dict[str, set[str]]) -> list[str]:
    """The largest parts that are nobody else's."""
    parts: dict[str, None] = {}
    for path in paths:
        names = path.split("/")
        foreign = others.get(names[0], set())
        whole = next(
            (
                "/".join(names[:count])
                for count in range(1, len(names))
                if not any(each.startswith("/".join(names[:count]) + "/") for each in foreign)
            ),
            path,
        )
        parts[whole] = None
    return list(parts)


def _paths_of_others(folder: str, lent: Collection[str]) -> dict[str, set[str]]:
    """Of distributions in that folder that are not lent: their paths, by the first part of them."""
    found: dict[str, set[str]] = {}
    for each in metadata.distributions(path=[folder]):
        if each.name in lent:
            continue
        for path in paths_of(each):
            found.setdefault(path.partition("/")[0], set()).add(path)
    return found
