"""Drives a Python peer: reads commands as JSON lines, does the work, replies with its duration.

Runs in the peer's own interpreter, so it cannot import our code. Imports little, because a cold
start is timed from the top of this file.
"""

import json
import sys
import time

STARTED = time.perf_counter()
REST = 0.05  # seconds between two runs


def load(path):
    """The `Adapter` in a file of peers/; not imported, because the file has its peer's name."""
    sys.path.pop(0)
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    names = {"__name__": "adapter", "__file__": path}
    exec(code, names)
    return names["Adapter"]


def summary(value):
    """A summary of a value, to check that the work was done."""
    if isinstance(value, list | tuple):
        return [len(value), summary(value[-1]) if value else None]
    if hasattr(value, "__array_interface__") or isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", memoryview(value).nbytes]
    if type(value).__name__ == "array":
        return ["bytes", len(value) * value.itemsize]
    if isinstance(value, dict):
        return {str(key): summary(item) for key, item in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    kind = type(value).__name__.lower()
    return next((word for word in ("date", "set") if word in kind), None)


def timed(adapter, source, count, rest=0):
    """Runs `count` fresh sandboxes in sequence: the seconds of each, and the last result."""
    if hasattr(adapter, "timed"):
        seconds, value = adapter.timed(source, count, rest)
        return {"seconds": seconds, "value": summary(value)}
    seconds, value = [], None
    for _ in range(count):
        if rest:
            time.sleep(rest)
        began = time.perf_counter()
        value = adapter.run(source)
        seconds.append(time.perf_counter() - began)
    return {"seconds": seconds, "value": summary(value)}


def rested(adapter, source, count):
    """Like `timed`, but with a pause between runs, as people and agents start them."""
    return timed(adapter, source, count, REST)


class Add:
    """The function that bridge benchmarks call; it notes its first and last call."""

    def __init__(self):
        self.calls = 0
        self.first = self.last = 0.0

    def __call__(self, number):
        now = time.perf_counter()
        if not self.calls:
            self.first = now
        self.calls += 1
        self.last = now
        return number + 1

    def per_call(self):
        return (self.last - self.first) / max(1, self.calls - 1)


def sync_calls(adapter, source, count):
    seconds, value = [], None
    for _ in range(count):
        add = Add()
        value = adapter.run_with(source, add)
        seconds.append(add.per_call())
    return {"seconds": seconds, "value": summary(value)}


def async_calls(adapter, source, count):
    seconds, value = [], None
    for _ in range(count):
        add = Add()

        async def later(number, add=add):
            return add(number)

        began = time.perf_counter()
        value = adapter.run_with_async(source, later)
        seconds.append(time.perf_counter() - began)
    return {"seconds": seconds, "value": summary(value)}


def reports(adapter, source, count):
    seconds, seen = [], []
    for _ in range(count):
        seen = []
        began = time.perf_counter()
        adapter.reports(source, seen.append)
        seconds.append(time.perf_counter() - began)
    return {"seconds": seconds, "value": summary(seen)}


def terminate(adapter, source, count):
    return {"seconds": [adapter.terminate(source) for _ in range(count)]}


def sustained(adapter, source, seconds):
    """Uses all cores: as the peer itself does, or with one thread for each core."""
    if hasattr(adapter, "sustained"):
        return {"per_second": adapter.sustained(source, seconds)}
    import os
    import threading

    counts = []

    def lane():
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            adapter.run(source)
            count += 1
        counts.append(count)

    lanes = [threading.Thread(target=lane) for _ in range(os.cpu_count() or 1)]
    for thread in lanes:
        thread.start()
    for thread in lanes:
        thread.join()
    return {"per_second": sum(counts) / seconds}


def hold(adapter, source, count):
    getattr(adapter, "prepare_to_hold", lambda: None)()
    before = proportional_memory()
    held = adapter.hold(count)
    time.sleep(0.3)
    after = proportional_memory()
    del held
    return {"bytes": (after - before) / count}


def modules(adapter, source, count):
    began = time.perf_counter()
    value = adapter.modules(source, count)
    return {"seconds": [time.perf_counter() - began], "value": summary(value)}


def concurrent(adapter, source, count):
    began = time.perf_counter()
    adapter.concurrent(source, count)
    return {"seconds": [time.perf_counter() - began]}


WORK = {
    f.__name__: f
    for f in (
        timed,
        rested,
        sync_calls,
        async_calls,
        reports,
        terminate,
        sustained,
        hold,
        modules,
        concurrent,
    )
}


METHODS = {"timed": "run", "rested": "run", "sustained": "run", "sync_calls": "run_with"}
METHODS |= {"async_calls": "run_with_async"}


def proportional_memory():
    """Bytes of this process and its descendants; a shared page is divided among its users."""
    import os

    total, waiting = 0, [os.getpid()]
    while waiting:
        pid = waiting.pop()
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as children:
                    waiting += [int(word) for word in children.read().split()]
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                total += sum(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total * 1024


def serve(adapter):
    for line in sys.stdin:
        command = json.loads(line)
        try:
            if not hasattr(adapter, METHODS.get(command["work"], command["work"])):
                raise NotImplementedError
            answer = WORK[command["work"]](adapter, command["source"], command["count"])
        except NotImplementedError:
            answer = {"missing": True}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)


def main():
    adapter = load(sys.argv[1])
    if len(sys.argv) > 2:
        made = adapter()
        value = getattr(made, "first", made.run)(json.loads(sys.argv[2]))
        seconds = time.perf_counter() - STARTED
        print(json.dumps({"seconds": [seconds], "value": summary(value)}), flush=True)
    else:
        serve(adapter())


if __name__ == "__main__":
    main()
