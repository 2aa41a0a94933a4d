"""`checked()`: a function whose arguments are what its annotations say, whatever a guest passes."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from ..annotations import Kind, kind_of
from ..bridges import mode_of
from ..errors import OptionError
from ..schemas import problem_with
from ..values import Undefined
from ..wire.messages import ASYNC

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Check = Callable[[Any, str], Any]  # the value to use; raises TypeError with the text


def checked(function: _Function) -> _Function:
    """Validates the arguments of a call against the function's annotations, before it is called.

    `{…}` becomes a dataclass or TypedDict, text an Enum, a date or a Path, where that is annotated. An
    argument that does not fit is a TypeError in the guest, which repeats the signature.
    """
    if not callable(function) or isinstance(function, type):
        raise OptionError(f"checked takes a function, not {function!r:.80}")
    bind = _binder(function)
    if mode_of(function) == ASYNC:

        @functools.wraps(function)
        async def waiting(*args: Any) -> Any:
            return await function(*bind(args))

        return typing.cast(_Function, waiting)

    @functools.wraps(function)
    def plain(*args: Any) -> Any:
        return function(*bind(args))

    return typing.cast(_Function, plain)


def _binder(function: Callable[..., Any]) -> Callable[[tuple[Any, ...]], list[Any]]:
    name = getattr(function, "__name__", "the function")
    signature = inspect.signature(function)
    hints = typing.get_type_hints(_home(function), include_extras=True)
    positional: list[inspect.Parameter] = []
    rest: inspect.Parameter | None = None
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = parameter
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            positional.append(parameter)
        elif parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise OptionError(
                f"{name} needs {parameter.name!r} by name, and guests pass none by name"
            )
    checks = [_check(hints.get(each.name, Any), each.name, name) for each in positional]
    check_rest = None if rest is None else _check(hints.get(rest.name, Any), rest.name, name)
    shown = f"{name}{signature.replace(return_annotation=signature.empty)}"

    def bind(args: tuple[Any, ...]) -> list[Any]:
        given = list(args)
        while given and isinstance(given[-1], Undefined):
            given.pop()
        if len(given) > len(positional) and check_rest is None:
            raise TypeError(f"{shown} takes at most {len(positional)} arguments, not {len(given)}")
        bound = []
        for at, value in enumerate(given):
            parameter = positional[at] if at < len(positional) else rest
            assert parameter is not None  # else there would have been too many
            if isinstance(value, Undefined) and parameter.default is not parameter.empty:
                bound.append(parameter.default)
                continue
            check = checks[at] if at < len(checks) else check_rest
            assert check is not None
            bound.append(check(value, shown))
        missing = [each for each in positional[len(given) :] if each.default is each.empty]
        if missing:
            raise TypeError(f"{shown} was called without {missing[0].name}")
        return bound

    return bind


def _check(annotation: Any, parameter: str, name: str) -> _Check:
    """Data that JSON has is checked by its schema; what else crosses, such as bytes, by its class."""
    expected = _class_of(annotation)
    try:
        kind: Kind | None = kind_of(annotation, f"the parameter {parameter!r} of {name}")
    except OptionError:
        kind = None
        if expected is None:
            raise

    def check(value: Any, shown: str) -> Any:
        crossed_as_it_is = kind is None or kind.make is not None  # such as a Date
        is_it = expected is not None and not isinstance(value, bool) and isinstance(value, expected)
        if crossed_as_it_is and is_it:
            return value
        if kind is None:
            wanted = getattr(expected, "__name__", "")
            problem: str | None = f"{parameter} is {type(value).__name__}, not {wanted}"
        else:
            data = list(value) if isinstance(value, set | frozenset) else value
            problem = problem_with(data, kind.schema, parameter)
        if problem is None and kind is not None and kind.make is not None:
            try:
                return kind.make(value)
            except Exception as error:  # such as a date that no calendar has
                problem = f"{parameter} cannot be used: {error}"
        if problem is not None:
            raise TypeError(f"{shown} was called wrongly: {problem}")
        return value

    return check


def _class_of(annotation: Any) -> type | None:
    """None for what has no instances to be told from others, such as Any or a TypedDict."""
    try:
        isinstance(None, annotation)
    except TypeError:
        return None
    return annotation if isinstance(annotation, type) else None


def _home(function: Any) -> Any:
    """Where the annotations are."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__
