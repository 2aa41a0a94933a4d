"""The service's log: a JSON object a line, without values, ids or keys, and without code unless asked.

A thread writes the lines, those of a moment together. If whoever reads them stops reading, lines are
lost and counted; the service goes on.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections import deque
from typing import Any

from ..clean import clean_start

_LONGEST = 10_000  # lines that wait to be written
_MOST_CODE = 4_000  # characters of code in one of them
_KEY = "[key]"  # what stands for it
_MOMENT = 0.05  # seconds; a thread that wakes for every line takes its time from the requests
_SECONDS_TO_END = 2.0  # for the last lines, if nobody reads them
_log = logging.getLogger("sandbox_kernel.service")


class Line(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        shape: dict[str, Any] = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            shape["exception"] = self.formatException(record.exc_info)
        return json.dumps(shape)


class Lines(logging.Handler):
    """Writes to a descriptor, and never waits for whoever reads."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.setFormatter(Line())
        self._descriptor = descriptor
        self._waiting: deque[logging.LogRecord] = deque()
        self._lost = 0
        self._some = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._write_all, daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        if len(self._waiting) >= _LONGEST:
            self._lost += 1
            return
        self._waiting.append(record)
        if not self._some.is_set():
            self._some.set()

    def stop(self) -> None:
        """Writes what waits, unless nobody reads it."""
        self._stopping.set()
        self._some.set()
        self._thread.join(_SECONDS_TO_END)

    def _write_all(self) -> None:
        is_last = False
        while not is_last:
            self._some.wait()
            is_last = self._stopping.wait(_MOMENT)
            self._some.clear()
            self._write(self._taken())

    def _taken(self) -> list[logging.LogRecord]:
        taken = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if self._lost:
            lost, self._lost = self._lost, 0
            message = f"{lost} lines were lost, because nobody read them"
            taken.append(logging.makeLogRecord({"levelname": "warning", "msg": message}))
        return taken

    def _write(self, records: list[logging.LogRecord]) -> None:
        """Without a lock of Python's, which would be waited for at the end of the process."""
        data = "".join(f"{self.format(record)}\n" for record in records).encode()
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            self._lost += len(records)


def start_logging() -> Lines:
    """To stderr; `.stop()` writes what waits."""
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    lines = Lines(sys.stderr.fileno())
    root = logging.getLogger()
    root.handlers[:] = [lines]
    root.setLevel(logging.WARNING)
    _log.setLevel(logging.INFO)
    logging.getLogger("tornado").setLevel(logging.ERROR)  # its lines have paths and addresses
    return lines


def log_request(method: str, route: str, status: int, seconds: float, received: int) -> None:
    fields = {
        "method": method if method.isalpha() and len(method) < 10 else "other",
        "route": route,
        "status": status,
        "ms": round(seconds * 1000, 1),
        "bytes": received,
    }
    if _log.isEnabledFor(logging.INFO):
        # Made by hand: a logger would first look for who called it, which no line tells.
        record = logging.LogRecord(_log.name, logging.INFO, "", 0, "request", None, None)
        record.fields = fields
        _log.handle(record)


def log_code(kind: str, language: str, code: str, key: str) -> None:
    """Cleaned and cut; the key is replaced before that, so that no part of it is left, and after."""
    shown, _ = clean_start(_without(key, code), _MOST_CODE)
    fields = {
        "kind": kind,
        "language": language,
        "code": _without(key, shown),
        "characters": len(code),
    }
    _log.info("code", extra={"fields": fields})


def _without(key: str, text: str) -> str:
    return text.replace(key, _KEY) if key else text
