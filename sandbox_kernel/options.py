"""What one run is asked to do: its options, each checked before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Literal

from .calls import Rulebook
from .errors import OptionError
from .loans import Capability, is_capability
from .specifiers import CONTROL, MOST_BYTES, is_bare, shortened, size_of
from .spelling import nearest, suggestion, synonyms

Language = Literal["javascript", "typescript"]
Naive = Literal["utc"]
LANGUAGES: tuple[Language, ...] = ("typescript", "javascript")
LANGUAGE_SYNONYMS = synonyms(typescript="ts", javascript="js")
DEFAULT_FILENAME = "<runCode>"


@dataclass(frozen=True, slots=True)
class Execute:
    """Which export becomes the result, and the arguments if it is a function."""

    fn: str = "default"
    args: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeExecutionOptions:
    """The checked options of one run. A memory limit of `None` means the engine's default."""

    execute: Execute = field(default_factory=Execute)
    imports: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    globals: Mapping[str, Any] = field(default_factory=dict)
    language: Language = "typescript"
    memory_limit_bytes: int | None = None
    filename: str = DEFAULT_FILENAME
    report: Callable[[Any], Any] | None = None
    naive: Naive | None = None
    policy: Rulebook | None = None
    lend: Mapping[str, Capability] = field(default_factory=dict)

    @classmethod
    def of(
        cls, options: CodeExecutionOptions | Mapping[str, Any] | None = None, **named: Any
    ) -> CodeExecutionOptions:
        """Checks options given as a mapping with the contract's names, as keywords, or as both.

        Keywords override a `CodeExecutionOptions`; repeating a key of a mapping is an error.
        """
        if isinstance(options, CodeExecutionOptions):
            base = {name: getattr(options, name) for name in _CHECKS}
            options, named = {**base, **{_known(key): named[key] for key in named}}, {}
        given: dict[str, Any] = {}
        for key, value in chain(_items(options), named.items()):
            name = _known(key)
            if name in given:
                raise OptionError(
                    f"option {name!r} was given twice; give it in the mapping or as a keyword", name
                )
            given[name] = value
        checked = {name: _CHECKS[name](value) for name, value in given.items() if value is not None}
        made = cls(**checked)
        if made.filename in made.modules:
            raise OptionError(
                f"filename {made.filename!r} is also a key of modules; choose another filename",
                "filename",
            )
        return made


_CONTRACT_NAMES = {"memoryLimitBytes": "memory_limit_bytes"}
_SYNONYMS = synonyms(
    execute="fn function func entry entrypoint main call args arguments params export",
    imports="bridges bridge functions tools libs packages",
    lend="lends lent capabilities capability allow grant grants permissions",
    modules="files sources",
    globals="env environ vars variables context locals names inputs bindings data",
    language="lang",
    memory_limit_bytes="memory mem memory_limit max_memory memory_mb heap ram",
    filename="name file path",
    report="on_report callback progress on_progress",
    policy="permissions permission rules gate allow approvals ask",
)
_EXECUTE_SYNONYMS = synonyms(fn="function func name export entry", args="arguments params argv")
_TIME_LIMITS = frozenset(
    "timeout timeout_ms timeoutms timeout_seconds deadline time_limit max_time budget seconds".split()
)


def _items(options: Mapping[str, Any] | None) -> Iterable[tuple[str, Any]]:
    if options is None:
        return ()
    if not isinstance(options, Mapping):
        raise OptionError(
            f"options must be a mapping or CodeExecutionOptions, not {_kind(options)}"
        )
    return options.items()


def _known(key: object) -> str:
    name = _CONTRACT_NAMES.get(str(key), str(key))
    if name in _CHECKS:
        return name
    raise OptionError(f"unknown option {key!r}; {_instead_of(str(key))}", str(key))


def _instead_of(key: str) -> str:
    if key.lower() in _TIME_LIMITS:
        return (
            "bound the time of a run with its handle: run_code(…).terminate_after(seconds);"
            " that of each input of run_many with engine=Engine(cpu_seconds=SECONDS)"
        )
    close = nearest(key, [*_CHECKS, *_CONTRACT_NAMES])
    if close is not None:
        return f"did you mean {close!r}?"
    return suggestion(key, _CHECKS, others=_SYNONYMS, quote="'")


def _kind(value: object) -> str:
    return type(value).__name__


def _expect_mapping(option: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise OptionError(f"{option} must be a mapping, not {_kind(value)}", option)
    given = value if type(value) is dict else _copied(option, value)
    for key in given:
        if not isinstance(key, str):
            raise OptionError(f"keys of {option} must be strings, not {key!r}", option)
    return given


def _copied(option: str, value: Mapping[Any, Any]) -> dict[Any, Any]:
    """Iterating a mapping of somebody's own class need not end."""
    size = len(value)
    keys = list(islice(value, size + 1))
    if len(keys) > size:
        raise OptionError(
            f"{option} has more keys than its len() says, which is {size:,}; pass a dict", option
        )
    return {key: value[key] for key in keys}


def _expect_text(option: str, value: object) -> str:
    if not isinstance(value, str):
        raise OptionError(f"{option} must be a string, not {_kind(value)}", option)
    return value


def _check_execute(value: object) -> Execute:
    if isinstance(value, Execute):
        return value
    if isinstance(value, str):
        raise OptionError(f"execute must be a mapping; write {{'fn': {value!r}}}", "execute")
    given = _expect_mapping("execute", value)
    for key in given:
        if key not in ("fn", "args"):
            instead = suggestion(key, ["fn", "args"], others=_EXECUTE_SYNONYMS, quote="'")
            raise OptionError(f"unknown key of execute {key!r}; {instead}", "execute")
    fn = given.get("fn")
    args = given.get("args")
    fn = "default" if fn is None else _expect_text("execute.fn", fn)
    if args is not None and not isinstance(args, list | tuple):
        raise OptionError(f"execute.args must be a list, not {_kind(args)}", "execute")
    return Execute(fn, tuple(args or ()))


def _check_imports(value: object) -> Mapping[str, Mapping[str, Any]]:
    imports: dict[str, Mapping[str, Any]] = {}
    for specifier, exports in _expect_mapping("imports", value).items():
        _check_specifier("imports", specifier)
        if not is_bare(specifier):
            raise OptionError(
                f"imports key {specifier!r} is not a bare specifier like 'fs' or '@scope/pkg';"
                " put relative sources into modules",
                "imports",
            )
        where = f"imports[{specifier!r}]"
        names = _expect_mapping(where, exports)
        if is_capability(exports) and isinstance(exports, Mapping):
            names = exports  # itself, since it counts anew for each run
        imports[specifier] = names
        for name in imports[specifier]:
            if "\0" in name or not _is_unicode(name):
                raise OptionError(
                    f"imports[{specifier!r}] key {name!r} cannot be the name of an export:"
                    " it contains NUL or half of a surrogate pair",
                    "imports",
                )
    return imports


def _check_specifier(option: str, key: str) -> None:
    size = size_of(key)
    if size > MOST_BYTES:
        raise OptionError(
            f"{option} key {shortened(key)!r} has {size:,} bytes;"
            f" a specifier may have at most {MOST_BYTES:,}",
            option,
        )
    if not _is_unicode(key):
        raise OptionError(f"{option} key {key!r} must not contain half of a surrogate pair", option)


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _check_modules(value: object) -> Mapping[str, str]:
    modules = _expect_mapping("modules", value)
    for key, source in modules.items():
        _check_specifier("modules", key)
        parts = key.split("/")
        if parts[0] != "." or len(parts) < 2 or any(p in ("", ".", "..") for p in parts[1:]):
            raise OptionError(
                f"modules key {key!r} is not a relative specifier from the root of the module"
                " graph; write it like './helpers.js' or './lib/math.js'",
                "modules",
            )
        if CONTROL.search(key):
            raise OptionError(f"modules key {key!r} must not contain control characters", "modules")
        _expect_text(f"modules[{key!r}]", source)
    return modules


# Names that a global lexical binding of a module cannot have: reserved words, and
# properties of the global object that cannot be redeclared.
_RESERVED = frozenset(
    "await break case catch class const continue debugger default delete do else enum export"
    " extends false finally for function if implements import in instanceof interface let new"
    " null package private protected public return static super switch this throw true try"
    " typeof var void while with yield eval arguments undefined NaN Infinity globalThis".split()
)


def _check_globals(value: object) -> Mapping[str, Any]:
    bindings = _expect_mapping("globals", value)
    for name in bindings:
        if not is_identifier(name):
            raise OptionError(
                f"globals key {name!r} is not a JavaScript identifier like 'rows' or '$total'",
                "globals",
            )
        if not is_variable(name):
            raise OptionError(
                f"globals key {name!r} is a reserved name in JavaScript; choose another", "globals"
            )
    return bindings


def is_identifier(name: str) -> bool:
    """Python and JavaScript agree on identifiers, except for `$` and compatibility forms."""
    return name.replace("$", "_").isidentifier()


def is_variable(name: str) -> bool:
    """An identifier that is not a word of the language, as `delete` is."""
    return is_identifier(name) and name not in _RESERVED


def _check_language(value: object) -> Language:
    if value == "javascript" or value == "typescript":
        return value
    meant = _meant_language(value)
    hint = f"; did you mean {meant!r}?" if meant else ""
    if is_python(value):
        hint = "; run_program runs Python"
    raise OptionError(
        f"language must be 'javascript' or 'typescript', not {value!r}{hint}", "language"
    )


def is_python(language: object) -> bool:
    return isinstance(language, str) and language.lower() in ("python", "python3", "py")


def _meant_language(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return LANGUAGE_SYNONYMS.get(value.lower()) or nearest(value.lower(), LANGUAGES)


def _check_memory_limit(value: object) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise OptionError(
            f"memoryLimitBytes must be a whole number of bytes, such as 64 * 2**20, not {value!r}",
            "memory_limit_bytes",
        )
    limit: int = int(value)  # type: ignore[call-overload]  # `whole` says that it is a number
    if not 0 < limit <= 2**53:
        raise OptionError(
            f"memoryLimitBytes must be positive and at most 2**53, not {value!r}",
            "memory_limit_bytes",
        )
    return limit


def _check_filename(value: object) -> str:
    filename = _expect_text("filename", value)
    if not filename or CONTROL.search(filename) or not _is_unicode(filename):
        raise OptionError(
            f"filename {filename!r} must not be empty, and must not contain control characters"
            " or half of a surrogate pair",
            "filename",
        )
    return filename


def _check_report(value: object) -> Callable[[Any], Any]:
    if not callable(value):
        raise OptionError(f"report must be callable, not {_kind(value)}", "report")
    return value


def _check_lend(value: object) -> Mapping[str, Capability]:
    """A list of capabilities, each under its own name, or a mapping with names of the caller's."""
    if is_capability(value):
        value = [value]
    if isinstance(value, list | tuple):
        lent: dict[str, Capability] = {}
        for each in value:
            name = _expect_capability(each, "lend").name
            if name in lent:
                raise OptionError(
                    f"lend has {name!r} twice; name them yourself: lend={{'NAME': capability}}",
                    "lend",
                )
            lent[name] = each
        return lent
    if not isinstance(value, Mapping):
        raise OptionError(
            f"lend must be a list of capabilities, or a mapping of names to them, not {_kind(value)}",
            "lend",
        )
    given = _expect_mapping("lend", value)
    for name in given:
        _check_specifier("lend", name)
        if not is_bare(name):
            raise OptionError(f"lend key {name!r} is not a bare specifier like 'fs'", "lend")
    return {name: _expect_capability(each, f"lend[{name!r}]") for name, each in given.items()}


def _expect_capability(value: object, where: str) -> Capability:
    if is_capability(value):
        return value
    if callable(value):
        name = getattr(value, "__name__", "it")
        raise OptionError(
            f"{where} must be a capability, not {name!r}; call it: {name}(…), or lend a function of"
            " your own with imports=",
            "lend",
        )
    raise OptionError(
        f"{where} must be a capability such as files('data') or timers(), not {_kind(value)}",
        "lend",
    )


def _check_naive(value: object) -> Naive:
    if value == "utc":
        return "utc"
    raise OptionError(
        f"naive must be 'utc', not {value!r}; it says that a datetime without a time zone is meant"
        " as UTC, and without it such a datetime is refused",
        "naive",
    )


def check_policy(value: object) -> Rulebook:
    if not isinstance(value, type) and callable(getattr(value, "gate", None)):
        policy: Any = value
        return policy  # type: ignore[no-any-return]  # it has what a Rulebook has
    hint = "Policy(…)" if isinstance(value, type) else "Policy({'mail.send': 'ask'}, ask=prompter)"
    raise OptionError(f"policy must be a Policy, not {_kind(value)}; write {hint}", "policy")


_CHECKS: dict[str, Callable[[object], Any]] = {
    "execute": _check_execute,
    "imports": _check_imports,
    "modules": _check_modules,
    "globals": _check_globals,
    "language": _check_language,
    "memory_limit_bytes": _check_memory_limit,
    "filename": _check_filename,
    "report": _check_report,
    "naive": _check_naive,
    "policy": check_policy,
    "lend": _check_lend,
}
