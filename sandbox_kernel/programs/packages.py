"""`packages=["pandas"]`: distributions of the caller's own environment, with what they require.

Names become distributions, and those the files that their RECORD lists; nothing else of the folder
that they are installed in is lent. What was found is kept until something is installed there.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ..brief import brief_text
from ..errors import OptionError
from ..spelling import suggestion
from .protocol import Packages
from .records import entries_of, modules_of, paths_of

_SPELLING = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\[([A-Za-z0-9._,\s-]*)\])?")
_MOST_NAMES = 100
_MOST_KEPT = 16
_MOST_BYTES = 100_000  # of what a zygote is told about them
# What programs use of a package is often not loaded with it.
_ALSO = {
    "matplotlib": ("matplotlib.pyplot", "matplotlib.backends.backend_agg"),
    "sklearn": ("sklearn.linear_model", "sklearn.ensemble"),
    "scipy": ("scipy.linalg", "scipy.stats"),
    "pyarrow": ("pyarrow.parquet", "pyarrow.compute", "pyarrow.dataset"),
}


def lent_packages(names: object) -> Packages | None:
    """What these names lend, None for no names. OptionError says what is wrong with one."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise _wrong(f"must be a list of names, such as ['pandas'], not {type(names).__name__}")
    if len(names) > _MOST_NAMES:
        raise _wrong(f"has {len(names)} names; at most {_MOST_NAMES} can be lent")
    if not names:
        return None
    key = (tuple(sorted({_checked(name) for name in names})), tuple(sys.path))
    found = _kept.pop(key, None)
    if found is None or found.stamps != _stamps(found.folders):
        found = _find(key[0])
    _kept[key] = found
    while len(_kept) > _MOST_KEPT:
        del _kept[next(iter(_kept))]
    return found.packages


@dataclass(frozen=True, slots=True)
class _Found:
    packages: Packages
    folders: tuple[str, ...]  # that change when something is installed
    stamps: tuple[tuple[int, int], ...]


_kept: dict[tuple[tuple[str, ...], tuple[str, ...]], _Found] = {}


def _stamps(folders: Iterable[str]) -> tuple[tuple[int, int], ...]:
    stamps = []
    for folder in folders:
        try:
            found = os.stat(folder)
            stamps.append((found.st_ino, found.st_mtime_ns))
        except OSError:
            stamps.append((0, 0))
    return tuple(stamps)


def _checked(name: object) -> str:
    match = _SPELLING.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        spelled = brief_text(name) if isinstance(name, str) else type(name).__name__
        hint = "write NAME or NAME[extra]; the installed version is lent"
        raise _wrong(f"{spelled} is not the name of a package; {hint}")
    return str(name)


def _wrong(what: str) -> OptionError:
    return OptionError(f"packages: {what}", "packages")


# ---------------------------------------------------------------------------- from names to files


def _find(names: tuple[str, ...]) -> _Found:
    closure = _Closure()
    for name in names:
        match = _SPELLING.fullmatch(name)
        assert match is not None
        extras = [extra.strip() for extra in (match[2] or "").split(",") if extra.strip()]
        closure.add(match[1], extras, required_by=None)
    chosen = {normalized(_SPELLING.fullmatch(name)[1]) for name in names}  # type: ignore[index]  # every name was matched before
    entries: list[tuple[str, str]] = []
    modules: list[str] = []
    for key, distribution in sorted(closure.found.items()):
        paths = paths_of(distribution)
        entries += entries_of(distribution, paths, closure.found.values())
        if key in chosen:
            modules += [each for name in modules_of(paths) for each in (name, *_ALSO.get(name, ()))]
    own = [str(_path_of(each)) for each in closure.found.values()]
    folders = (*sorted({os.path.dirname(each) for each in own}), *own)
    stamps = _stamps(folders)
    identity = "|".join(map(str, [names, *stamps[len(folders) - len(own) :]]))
    packages = Packages(tuple(sorted(entries)), tuple(modules), identity)
    if len(json.dumps(packages)) > _MOST_BYTES:
        raise _wrong(f"{', '.join(names)} have too many parts to be lent together")
    return _Found(packages, folders, stamps)


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _path_of(distribution: metadata.Distribution) -> Path:
    return Path(str(distribution._path))  # type: ignore[attr-defined]  # nothing public tells


class _Closure:
    """Distributions by normalized name: those that were named, and what they require."""

    def __init__(self) -> None:
        self.found: dict[str, metadata.Distribution] = {}
        self._seen: set[tuple[str, str]] = set()

    def add(self, name: str, extras: Iterable[str], *, required_by: str | None) -> None:
        distribution = _distribution(name, required_by)
        key = normalized(name)
        if key not in self.found:
            _refuse_unusable(distribution, name)
            self.found[key] = distribution
        for extra in ("", *(_known_extra(distribution, name, each) for each in extras)):
            if (key, extra) not in self._seen:
                self._seen.add((key, extra))
                self._require(distribution, name, extra)

    def _require(self, distribution: metadata.Distribution, name: str, extra: str) -> None:
        from packaging.requirements import InvalidRequirement, Requirement

        for text in distribution.requires or ():
            try:
                needed = Requirement(text)
            except InvalidRequirement:
                raise _wrong(
                    f"{name} has a requirement that cannot be read: {text!r:.80}"
                ) from None
            if needed.marker is None:
                applies = not extra
            else:
                applies = needed.marker.evaluate({"extra": extra})
                if extra and applies and needed.marker.evaluate({"extra": ""}):
                    applies = False  # it was required without the extra already
            if applies:
                self.add(needed.name, needed.extras, required_by=name)


def _distribution(name: str, required_by: str | None) -> metadata.Distribution:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        pass
    if required_by is not None:
        raise _wrong(f"{required_by} requires {name}, which is not installed")
    owners = metadata.packages_distributions().get(name.replace("-", "_"), [])
    if owners:
        raise _wrong(f"{name} is not installed; the module {name} belongs to {owners[0]}")
    known = {normalized(each.name) for each in metadata.distributions() if each.name}
    raise _wrong(f"{name} is not installed here; {_near(name, known)}")


def _near(name: str, known: Iterable[str]) -> str:
    hint = suggestion(normalized(name), sorted(known))
    return hint if hint.startswith("did you mean") else f"pip install {name} does that"


def _known_extra(distribution: metadata.Distribution, name: str, extra: str) -> str:
    known = distribution.metadata.get_all("Provides-Extra") or []
    for each in known:
        if normalized(each) == normalized(extra):
            return str(each)
    has = f"it has {', '.join(sorted(known)[:10])}" if known else "it has none"
    raise _wrong(f"{name} has no extra {extra!r}; {has}")


def _refuse_unusable(distribution: metadata.Distribution, name: str) -> None:
    if _is_editable(distribution):
        raise _wrong(
            f"{name} is an editable install, whose sources lie elsewhere; install it plainly"
        )
    if distribution.read_text("RECORD") is None:
        raise _wrong(
            f"{name} was installed without a RECORD of its files; pip installs it with one"
        )


def _is_editable(distribution: metadata.Distribution) -> bool:
    try:
        told: Any = json.loads(distribution.read_text("direct_url.json") or "{}")
        return bool(told.get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        return False
