"""What the service has done so far, as Prometheus reads it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_PREFIX = "sandbox_"


class Metrics:
    """Labels are words of ours: never an id, a name or a value of somebody else's."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()  # route and status
        self.executions: Counter[tuple[str, str]] = Counter()  # kind and outcome
        self.tool_calls = 0
        self._durations: Counter[float] = Counter()
        self._seconds = 0.0
        self._ended = 0

    def ended(self, kind: str, outcome: str, seconds: float) -> None:
        self.executions[kind, outcome] += 1
        self._ended += 1
        self._seconds += seconds
        for bound in _SECONDS:
            if seconds <= bound:
                self._durations[bound] += 1

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """`gauges` are what holds now: name to help and value."""
        return "\n".join([*self._lines(), *_gauges(gauges), ""])

    def _lines(self) -> Iterator[str]:
        yield from _head("requests_total", "counter", "Requests, by route and status.")
        for (route, status), count in sorted(self.requests.items()):
            yield f'{_PREFIX}requests_total{{route="{route}",status="{status}"}} {count}'
        yield from _head("executions_total", "counter", "Executions that ended, by outcome.")
        for (kind, outcome), count in sorted(self.executions.items()):
            yield f'{_PREFIX}executions_total{{kind="{kind}",outcome="{outcome}"}} {count}'
        yield from _head("tool_calls_total", "counter", "Calls of tools that code made.")
        yield f"{_PREFIX}tool_calls_total {self.tool_calls}"
        name = "execution_seconds"
        yield from _head(name, "histogram", "How long executions took.")
        for bound in _SECONDS:
            yield f'{_PREFIX}{name}_bucket{{le="{bound:g}"}} {self._durations[bound]}'
        yield f'{_PREFIX}{name}_bucket{{le="+Inf"}} {self._ended}'
        yield f"{_PREFIX}{name}_sum {self._seconds:.6f}"
        yield f"{_PREFIX}{name}_count {self._ended}"


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {_PREFIX}{name} {text}"
    yield f"# TYPE {_PREFIX}{name} {kind}"


def _gauges(gauges: Mapping[str, tuple[str, float]]) -> Iterator[str]:
    for name, (text, value) in gauges.items():
        yield from _head(name, "gauge", text)
        yield f"{_PREFIX}{name} {value:g}"
