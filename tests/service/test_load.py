"""Ten times the capacity: every request is answered, none is lost, memory stays flat."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import psutil
import pytest

from tests.contract.serving import Service, serving
from tests.processes import gone
from tests.service.talking import SOAK_SECONDS
from tests.waiting import until

pytestmark = pytest.mark.scaled
_PLACES = 4
_SECONDS = min(SOAK_SECONDS, 60.0) or 1.5


class Load:
    """Clients that ask again as soon as they are answered."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.statuses: Counter[int] = Counter()
        self.wrong: list[Any] = []
        self._until = time.monotonic() + _SECONDS

    def client(self, number: int) -> None:
        turn = 0
        while time.monotonic() < self._until:
            turn += 1
            text = f"{number}-{turn}"
            path, body = (
                ("/execute", {"code": f"print('{text}')", "execution_id": f"load-{text}"}),
                ("/run", {"source": f"export default '{text}'"}),
            )[turn % 2]
            answer = self._service.ask("POST", path, body)
            self.statuses[answer.status] += 1
            shape = answer.json
            if answer.status == 200:
                if text not in (shape.get("stdout", "").strip(), shape.get("result")):
                    self.wrong.append(shape)
            elif answer.status != 503 or shape["error"]["code"] != "busy":
                self.wrong.append(shape)


def test_ten_times_the_capacity() -> None:
    with serving("--max-concurrent", str(_PLACES)) as service:
        assert until(lambda: service.ask("GET", "/readyz").status == 200)
        process = psutil.Process(service.process.pid)
        _apply(service)  # so that what is loaded once has been loaded
        before = process.memory_info().rss
        load = _apply(service)
        grown = process.memory_info().rss - before
        assert load.wrong == []
        assert load.statuses[200] > 0
        assert load.statuses[503] > 0
        assert grown < 50 * 2**20
        assert until(lambda: b"executions_running 0\n" in service.ask("GET", "/metrics").body)
        family = [each.pid for each in process.children(recursive=True)]
    assert until(lambda: all(map(gone, family)))


def _apply(service: Service) -> Load:
    load = Load(service)
    clients = [threading.Thread(target=load.client, args=(n,)) for n in range(10 * _PLACES)]
    for client in clients:
        client.start()
    for client in clients:
        client.join(120)
    assert not any(client.is_alive() for client in clients)
    return load
