"""`modules_from`: an installed npm package, or a bundle, as the `modules=` of a run.

The package `lodash-es` becomes the modules `./lodash-es/chunk.js` and so on, one for each of its
files, and `./lodash-es`, which exports what its entry exports. Imports inside the package are
relative and stay as they are; no source is read for them, since only a worker parses source.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .errors import OptionError
from .folders import Bounds, did_you_mean, read_text, read_texts

_BOUNDS = Bounds(files=5_000, bytes=32 * 2**20, entries=50_000, depth=12)
_BUNDLE_BYTES = 32 * 2**20
_MANIFEST_BYTES = 2**20
_SUFFIXES = (".js", ".mjs")
_BUNDLE_SUFFIXES = (*_SUFFIXES, ".ts", ".mts")
_NAME = re.compile(r"(@[\w.~-]+/)?[\w~-][\w.~-]*", re.ASCII)
_CONDITIONS = ("import", "module", "default")
_MOST_PATTERNS = 100
_MOST_FACADES = 5_000
_DEEPEST_CONDITION = 8

# Older packages look for the global object as `self`, and compile code if it is not there.
_SELF = "globalThis.self ??= globalThis;\n"
_SELF_PATH = "sandbox-self.js"


def modules_from(path: str | os.PathLike[str]) -> dict[str, str]:
    """The modules of an installed npm package, or of a single file such as a bundle.

    Args:
        path: The folder of a package (`node_modules/lodash-es`), or a file of JavaScript or
            TypeScript. Nothing is downloaded, and no link inside the folder is followed.

    The code then imports `./lodash-es`, or `./bundle.mjs` for a file of that name. A package that
    is not pure ES modules, or that needs other packages, raises `OptionError`.
    """
    where = Path(path)
    try:
        if where.is_dir():
            return _Package(where).modules()
        if where.suffix in _BUNDLE_SUFFIXES:
            return {f"./{where.name}": read_text(where, _BUNDLE_BYTES)}
    except UnicodeDecodeError:
        raise OptionError(f"{where} is not UTF-8 text", "modules") from None
    except FileNotFoundError:
        pass
    except OSError as error:
        raise OptionError(f"cannot read {where}: {error.strerror}", "modules") from None
    if not where.exists():
        raise OptionError(f"{where} does not exist{did_you_mean(where)}", "modules")
    raise OptionError(
        f"{where} is not a package or a bundle; give the folder of an installed package, such as"
        f" node_modules/lodash-es, or a file that ends with {', '.join(_BUNDLE_SUFFIXES)}",
        "modules",
    )


class _Target(NamedTuple):
    """A file of a package, and whether a condition or field that is only for ES modules names it."""

    path: str
    for_import: bool


class _Package:
    """One installed package: its manifest, and the text of its files by path."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._manifest = _manifest(folder)
        self._name = self._checked_name()
        self._check_needs()
        self._texts = self._read()
        self._root = f"./{self._name}"

    def modules(self) -> dict[str, str]:
        """Those that the package exports come first, as errors list the first."""
        files = {f"{self._root}/{path}": text for path, text in self._texts.items()}
        files.setdefault(f"{self._root}/{_SELF_PATH}", _SELF)
        return {**self._facades(files), **files}

    def _facades(self, files: Mapping[str, str]) -> dict[str, str]:
        facades: dict[str, str] = {}
        for subpath, target in self._entries():
            key = self._root + subpath.removeprefix(".")
            if subpath.removeprefix("./") == target:
                continue  # the file itself
            if key in files:
                raise self._refusal(f"exports {subpath} as {target}, but has a file of that name")
            if len(facades) >= _MOST_FACADES:
                raise self._refusal(f"exports more than {_MOST_FACADES:,} modules")
            facades[key] = self._facade(key, target)
        return facades

    def _facade(self, key: str, target: str) -> str:
        """A module that exports what the file does; whether that has a default is not known here."""
        up = "../" * (key.count("/") - 1) or "./"
        package = f"{up}{self._name}"
        entry = json.dumps(f"{package}/{target}")
        return (
            f"import {json.dumps(f'{package}/{_SELF_PATH}')};\n"
            f"import * as entry from {entry};\n"
            f"export * from {entry};\n"
            "export default entry.default;\n"
        )

    # -- what the manifest says

    def _checked_name(self) -> str:
        name = self._manifest.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise OptionError(
                f"{self._folder / 'package.json'} has no usable name of a package: {name!r}",
                "modules",
            )
        return name

    def _check_needs(self) -> None:
        needed = [*_keys(self._manifest.get("dependencies")), *self._required_peers()]
        if needed:
            raise self._refusal(f"needs other packages ({', '.join(needed[:5])})")
        if _keys(self._manifest.get("imports")):
            raise self._refusal("has imports that start with #")

    def _required_peers(self) -> list[str]:
        meta = self._manifest.get("peerDependenciesMeta")
        about = meta if isinstance(meta, dict) else {}
        return [
            name
            for name in _keys(self._manifest.get("peerDependencies"))
            if not (isinstance(about.get(name), dict) and about[name].get("optional") is True)
        ]

    def _read(self) -> dict[str, str]:
        found = read_texts(self._folder, _SUFFIXES, _BOUNDS)
        if found.exceeded is not None:
            raise self._refusal(f"is too large to lend: {found.exceeded}")
        return found.texts

    def _entries(self) -> Iterator[tuple[str, str]]:
        """Each subpath that may be imported, and the file that it stands for."""
        for subpath, target in self._expanded(self._exports()):
            if target.path in self._texts and self._is_esm(target):
                yield subpath, target.path
            elif subpath == ".":
                raise self._refusal(self._why_not(target.path))

    def _exports(self) -> Mapping[str, Any]:
        """The manifest's `exports`, or what stood in its place before there was such a field."""
        exports = self._manifest.get("exports")
        if exports is None:
            module, main = self._manifest.get("module"), self._manifest.get("main", "index.js")
            return {".": {"module": module, "default": main}}
        if isinstance(exports, dict) and all(key.startswith(".") for key in exports):
            return exports
        return {".": exports}

    def _expanded(self, exports: Mapping[str, Any]) -> Iterator[tuple[str, _Target]]:
        """Conditions chosen, patterns filled in from the files that are there."""
        patterns = 0
        for subpath, described in exports.items():
            if subpath != "." and not subpath.startswith("./"):
                continue
            target = _chosen(described)
            patterns += "*" in subpath
            if patterns > _MOST_PATTERNS:
                raise self._refusal(f"exports more than {_MOST_PATTERNS} patterns")
            if target is not None:
                yield from self._filled(subpath, target)
            elif subpath == ".":
                raise self._refusal("is a CommonJS package")

    def _filled(self, subpath: str, target: _Target) -> Iterator[tuple[str, _Target]]:
        if "*" not in subpath:
            yield subpath, target
            return
        before, _, after = target.path.partition("*")
        for path in self._texts:
            middle = path[len(before) : len(path) - len(after)]
            if middle and path == f"{before}{middle}{after}":
                yield subpath.replace("*", middle, 1), target._replace(path=path)

    def _is_esm(self, target: _Target) -> bool:
        is_module = target.path.endswith(".mjs") or self._manifest.get("type") == "module"
        return is_module or target.for_import

    def _why_not(self, target: str) -> str:
        if target in self._texts or target.endswith(".cjs"):
            return "is a CommonJS package"
        return f"has no file {target}, which its package.json names as its entry"

    def _refusal(self, why: str) -> OptionError:
        bundle = f"{self._name.rpartition('/')[2]}.mjs"
        return OptionError(
            f"{self._name} {why}; bundle it into one ES module, and lend that: npx esbuild {self._name}"
            f" --bundle --format=esm --define:self=globalThis --outfile={bundle},"
            f" then modules_from({bundle!r})",
            "modules",
        )


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(read_text(folder / "package.json", _MANIFEST_BYTES))
    except FileNotFoundError:
        raise OptionError(
            f"{folder} is not an installed npm package: it has no package.json", "modules"
        ) from None
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict):
        raise OptionError(f"{folder / 'package.json'} is not a JSON object", "modules")
    return manifest


def _chosen(described: object, *, for_import: bool = False, depth: int = 0) -> _Target | None:
    """The file that conditions lead to; the first that applies wins, as in every resolver."""
    if depth > _DEEPEST_CONDITION:
        return None
    if isinstance(described, str):
        path = described.removeprefix("./")
        return _Target(path, for_import)
    nested: list[tuple[object, bool]] = []
    if isinstance(described, list):
        nested = [(each, for_import) for each in described]
    elif isinstance(described, dict):
        nested = [
            (value, for_import or name != "default")
            for name, value in described.items()
            if name in _CONDITIONS
        ]
    for value, esm in nested:
        target = _chosen(value, for_import=esm, depth=depth + 1)
        if target is not None:
            return target
    return None


def _keys(value: object) -> list[str]:
    return list(value) if isinstance(value, dict) else []
