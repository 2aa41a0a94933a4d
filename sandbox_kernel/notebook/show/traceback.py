"""A failed run, or a refusal before it, as the traceback of a cell."""

from __future__ import annotations

from dataclasses import dataclass

from ...clean import clean
from ...contract import CodeExecutionError, CodeExecutionResult
from ...errors import OptionError
from ...explain.render import cut, render, title_of
from ...explain.scene import Facts, Scene
from .bridge_traceback import bridge_traceback


@dataclass(frozen=True, slots=True)
class Traceback:
    """A traceback ready to send or raise."""

    name: str
    message: str
    lines: list[str]


def traceback_of(result: CodeExecutionResult, scene: Scene) -> Traceback:
    """The traceback for a run that did not succeed. Never fails."""
    error = result.error or CodeExecutionError(result.status, "")
    facts = error.scene.facts if error.scene is not None else Facts()
    scene = scene._replace(status=result.status, facts=facts)
    lines = [*render(error, scene), *bridge_traceback(result)]
    return Traceback(*title_of(error, scene), lines)


def refusal_of(error: Exception) -> Traceback:
    """The traceback for an error of the host's, most often one raised before anything ran."""
    name, message = type(error).__name__, clean(cut(str(error)))
    title = "Error in a magic" if isinstance(error, OptionError) else name
    return Traceback(name, message, [f"{title}: {message}"])
