"""What `DaskEngine.doctor()` tells: this side, and each Dask worker."""

from __future__ import annotations

from typing import Any

from ..engine.doctor import examine as examine_engine
from ..engine.settings import Settings
from ..errors import EngineError
from .fingerprint import fingerprint


def examine(client: Any, settings: Settings, reached: dict[str, str]) -> dict[str, Any]:
    if client.asynchronous:
        raise EngineError(
            "doctor() waits for the workers: ask it with a client that is synchronous"
        )
    answers = client.run(_examined, on_error="return")
    mine = fingerprint()
    return {
        **examine_engine(settings),
        "scheduler": client.scheduler.address,
        "workers": {
            address: _told(answer, mine) | {"reached": reached.get(address, "not yet")}
            for address, answer in answers.items()
        },
    }


def _told(answer: Any, mine: list[Any]) -> dict[str, Any]:
    if isinstance(answer, BaseException):
        return {"usable": False, "problem": f"{type(answer).__name__}: {answer}"}
    found, mark = answer
    return {"usable": mark == mine, **found}


def _examined() -> tuple[dict[str, Any], list[Any]]:
    """On the Dask worker."""
    found = examine_engine(Settings())
    return {key: found[key] for key in ("versions", "platform", "isolation")}, fingerprint()
