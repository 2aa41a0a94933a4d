"""One sentence of help for errors that newcomers to a sandbox meet first; right, or absent.

Rules read the error, cut, and what is known of the run. They never parse the guest's source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import NamedTuple

from ..budget import capped, clipped
from ..clean import clean
from ..spelling import nearest
from .languages import language_hint
from .platform import ABSENT, MODULES, PRESENT
from .problem import Problem
from .scene import Scene
from .texts import say

# They read a message of the guest's: cut, and in linear time, because no name starts inside another.
_NOT_DEFINED = r"(?<![\w$])([A-Za-z_$][\w$]*)'? is not defined"
_NO_EXPORT = r"export(?: named)? '([^']+)'"
_NO_MODULE = r"no module '(\./[^']*)' was given$"
_PLAIN_PATH = r"\./(?:[\w-]+[./])*[\w-]+"
_LEADS_OUT = "it leads out of the module graph"
_EXPORTED = (
    r"\bexport[ \t]{1,9}(?:(?:async|abstract|declare)[ \t]{1,9})?"
    r"(?:const|let|var|function\*?|class|enum|namespace)[ \t]{1,9}([A-Za-z_$][\w$]*)"
)
_EXPORTED_OTHERWISE = r"\bexport[ \t]{0,9}[*{]"
_EXTENSIONS = ("", ".ts", ".js", ".mts", ".mjs", ".tsx", ".jsx", ".json", "/index.ts", "/index.js")
_MAX_READ = 500  # characters of a message, a name or a specifier
_MAX_SOURCE = 100_000  # of a module, to find its exports
_MAX_HINT = 4_000
_LISTED = 30
_NEAR = 0.75


class Rule(NamedTuple):
    """A rule applies to errors with this status and name; None stands for any."""

    status: str | None
    name: str | None
    hint: Callable[[Problem, Scene], str | None]


def hint_for(error: Problem, scene: Scene) -> str | None:
    """A hint where one helps, else None. Harmless to show, and never long."""
    for rule in RULES:
        if rule.status in (None, scene.status) and rule.name in (None, error.name):
            hint = rule.hint(error, scene)
            if hint is not None:
                return clean(capped(hint, _MAX_HINT))
    return None


def _memory(_error: Problem, scene: Scene) -> str | None:
    return say("memory", scene.face)


def _language(error: Problem, scene: Scene) -> str | None:
    key = language_hint(error, scene)
    return say(key, scene.face, name=scene.line_of(error).strip(" \t?")) if key else None


def _returned(error: Problem, scene: Scene) -> str | None:
    return say("return", scene.face) if error.message.startswith("return not in a") else None


def _no_export_to_run(error: Problem, scene: Scene) -> str | None:
    """The module ran, but what it was to give is not there."""
    exports, found = scene.facts.exports, re.search(_NO_EXPORT, error.message[:_MAX_READ])
    if error.specifier is not None or found is None:
        return None
    if found[1] == "default":
        return say("no_default", scene.face)
    if exports is None:
        return None
    if not exports:
        return say("exports_nothing", scene.face, name=found[1])
    names = _listed(exports)
    return say("exports", scene.face, close=_close(found[1], exports), names=names)


def _import(error: Problem, scene: Scene) -> str | None:
    specifier = error.specifier
    if specifier is None:
        return None
    lent = specifier.removeprefix("node:")
    if lent in scene.imports:
        return _missing_export(error, scene, lent, scene.imports[lent])
    if specifier in scene.modules:
        source = scene.modules[specifier][:_MAX_SOURCE]
        if re.search(_EXPORTED_OTHERWISE, source):
            return None  # what else it exports is not known without parsing it
        return _missing_export(error, scene, specifier, re.findall(_EXPORTED, source))
    if specifier.startswith("."):
        return _relative(error, specifier[:_MAX_READ], scene)
    if lent in MODULES:
        return say(MODULES[lent], scene.face, name=f"'{lent}'")
    known = [*scene.imports, *scene.modules]
    if not known:
        return say("nothing_lent", scene.face)
    names = _listed(known, "'")
    return say("lent", scene.face, close=_close(specifier, known), names=names)


def _relative(error: Problem, specifier: str, scene: Scene) -> str | None:
    """Modules are known by their paths from the root, and imported by paths from their importer."""
    if error.message[:_MAX_READ].endswith(_LEADS_OUT):
        return say("leads_out", scene.face)
    found = re.search(_NO_MODULE, error.message[:_MAX_READ])
    if found is None:
        return None
    wanted, stem, typed = found[1], _stem(found[1]), _stem(specifier)
    for extension in _EXTENSIONS:
        if stem + extension in scene.modules:
            return say("extension", scene.face, path=typed + extension)
    folder = wanted.rpartition("/")[0]
    beside = [each for each in scene.modules if each.rpartition("/")[0] == folder]
    close = nearest(wanted, beside, _NEAR)
    if close is not None:
        meant = f"{specifier.rpartition('/')[0]}/{close.rpartition('/')[2]}"
        names = _listed(scene.modules, "'")
        return say("lent", scene.face, close=f"did you mean '{meant}'? ", names=names)
    path = wanted if stem != wanted else f"{wanted}.ts"
    return say("no_relative", scene.face, path=path) if re.fullmatch(_PLAIN_PATH, path) else None


def _stem(path: str) -> str:
    for extension in _EXTENSIONS[1:]:
        path = path.removesuffix(extension)
    return path


def _missing_export(
    error: Problem, scene: Scene, specifier: str, exports: Collection[str]
) -> str | None:
    found = re.search(_NO_EXPORT, error.message[:_MAX_READ])
    if found is None:
        return None  # the module itself could not be put together
    if found[1] == "default" and specifier in scene.imports:
        name = re.sub(r"\W+", "_", specifier.rpartition("/")[2]).strip("_") or "lib"
        return say("namespace", scene.face, specifier=specifier, name=name)
    if found[1] in scene.classes.get(specifier, ()):
        return say("class", scene.face, name=found[1])
    close, names = _close(found[1], exports), _listed(exports)
    return say("module_exports", scene.face, close=close, specifier=specifier, names=names)


def _forgotten_await(_error: Problem, scene: Scene) -> str | None:
    call = scene.facts.promise
    return say("await", scene.face, call=call) if call else None


def _missing_name(error: Problem, scene: Scene) -> str | None:
    found = re.search(_NOT_DEFINED, error.message[:_MAX_READ])
    if found is None:
        return None
    name = found[1]
    cell = scene.cell_of(name)
    if cell is not None:
        return say("other_cell", scene.face, name=name, cell=cell)
    if scene.is_outside(name):
        return say("outside", scene.face, name=name)
    return _lent_name(name, scene) or _absent_name(name, scene) or _misspelt(name, error, scene)


def _lent_name(name: str, scene: Scene) -> str | None:
    for specifier, exports in scene.imports.items():
        if name in exports:
            return say("import_name", scene.face, name=name, specifier=specifier)
        if name == specifier:
            return say("import_module", scene.face, name=name)
    return say("no_report", scene.face) if name == "report" else None


def _absent_name(name: str, scene: Scene) -> str | None:
    key, instead = ABSENT.get(name, (None, ""))
    return say(key, scene.face, name=name, instead=instead) if key else None


def _misspelt(name: str, error: Problem, scene: Scene) -> str | None:
    if re.match(rf"\s*{re.escape(name)}\s?[-+*/]?=[^=>]", scene.line_of(error)):
        return say("undeclared", scene.face, name=name)
    same = [each for each in (*scene.globals, *PRESENT) if each.lower() == name.lower()]
    close = same[0] if same else nearest(name, scene.globals, _NEAR) or nearest(name, PRESENT, 0.85)
    return say("did_you_mean", scene.face, name=close) if close else None


def _dynamic_code(error: Problem, scene: Scene) -> str | None:
    return say("dynamic_code", scene.face) if error.message == "eval is not supported" else None


def _listed(names: Collection[str], quote: str = "") -> str:
    """The first of some names; an ellipsis stands for the rest."""
    shown = [f"{quote}{clipped(name, 100)}{quote}" for name in islice(names, _LISTED)]
    return ", ".join([*shown, "…"] if len(names) > _LISTED else shown) or "nothing"


def _close(name: str, known: Iterable[str]) -> str:
    close = nearest(name[:_MAX_READ], known, _NEAR)
    return f"did you mean '{close}'? " if close is not None else ""


RULES = (
    Rule("memory", None, _memory),
    Rule(None, None, _language),
    Rule("link_error", "SyntaxError", _returned),
    Rule("link_error", "LinkError", _no_export_to_run),
    Rule(None, None, _import),
    Rule("error", None, _forgotten_await),
    Rule("error", "ReferenceError", _missing_name),
    Rule("error", "TypeError", _dynamic_code),
)
