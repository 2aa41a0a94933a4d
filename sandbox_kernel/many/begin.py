"""What `run_many` was asked for, checked, as a `ManyExecution`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from ..backend import Backend
from ..engine.settings import Settings
from ..errors import OptionError
from ..options import CodeExecutionOptions
from ..plain.frames import is_frame
from .batch import ByBatch
from .execution import ManyExecution
from .plan import EachAlone, Plan, Work

_LARGEST_BATCH = 1_000_000


def begin(
    backend: Backend,
    source: str,
    options: CodeExecutionOptions,
    inputs: Iterable[Any],
    *,
    ordered: bool,
    batch: int | None,
    isolate: str,
) -> ManyExecution[Any]:
    _check(options, inputs, batch, isolate)
    work = Work(backend, source, options)
    plan = ByBatch(work, batch) if isolate == "batch" else _alone(work, batch)
    width, loop = partial(_width, backend), getattr(backend, "loop", None)
    return ManyExecution(plan, inputs, ordered=bool(ordered), width=width, loop=loop)


def _alone(work: Work, batch: int | None) -> Plan:
    """A backend may have a way of its own to send many orders at once."""
    own = getattr(work.backend, "plan_for_items", None)
    plan: Plan | None = own(work, batch) if own is not None else None
    return plan or EachAlone(work)


def _width(backend: Backend) -> int:
    """As many as the backend executes at once."""
    settings = getattr(backend, "settings", None)
    width = getattr(backend, "concurrency", None) or getattr(settings, "concurrency", None)
    return int(width or Settings().concurrency)


def _check(options: CodeExecutionOptions, inputs: object, batch: object, isolate: object) -> None:
    if options.execute.args:
        raise OptionError("run_many passes the input; give 'execute' without 'args'", "execute")
    if not isinstance(inputs, Iterable):
        kind = type(inputs).__name__
        raise OptionError(f"inputs must be an iterable, such as a list, not {kind}", "inputs")
    if isinstance(inputs, str | bytes):
        raise OptionError("inputs is one text; give a list of inputs: [text]", "inputs")
    if isinstance(inputs, Mapping):
        advice = "give a list, such as list(inputs.values())"
        raise OptionError(
            f"inputs is a mapping, and only its keys would be inputs; {advice}", "inputs"
        )
    if is_frame(inputs):
        advice = "give its rows: frame.to_dict('records')"
        raise OptionError(
            f"inputs is a DataFrame, and only its labels would be inputs; {advice}", "inputs"
        )
    if isolate not in ("item", "batch"):
        raise OptionError(f"isolate must be 'item' or 'batch', not {isolate!r}", "isolate")
    whole = isinstance(batch, int) and not isinstance(batch, bool)
    if batch is not None and not (whole and 1 <= batch <= _LARGEST_BATCH):  # type: ignore[operator]  # `whole` says that it is a number
        raise OptionError(f"batch must be a whole number from 1 on, not {batch!r}", "batch")
