"""Deno as a process: one for each run, without permissions, JSON lines over its pipes."""

import json
import os
import shutil
import subprocess
import sysconfig
import threading
import time
from pathlib import Path

GUEST = str(Path(__file__).with_name("deno_guest.mjs"))
DENO = shutil.which("deno", path=sysconfig.get_path("scripts")) or shutil.which("deno")


class Deno:
    def __init__(self):
        self.process = subprocess.Popen(
            [DENO, "run", "--no-prompt", "--quiet", GUEST],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"},
        )

    def say(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("deno ended")
        return json.loads(line)

    def end(self):
        self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Adapter:
    def converse(self, source, answer=None):
        deno = Deno()
        deno.say(job(source))
        try:
            while True:
                message = deno.hear()
                if "result" in message:
                    if source["gives"] == "bytes":
                        return deno.process.stdout.read(message["result"])
                    return message["result"]
                if "error" in message:
                    raise RuntimeError(message["error"])
                answer(deno, message)
        finally:
            deno.end()

    def run(self, source):
        if source["gives"] == "rich":
            raise NotImplementedError
        return self.converse(source)

    def run_with(self, source, add):
        def answer(deno, message):
            deno.say({"value": add(*message["args"])})

        return self.converse({**source, "bridge": "sync"}, answer)

    def run_with_async(self, source, add):
        import asyncio

        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        lock = threading.Lock()

        def answer(deno, message):
            async def reply():
                value = await add(*message["args"])
                with lock:
                    deno.say({"call": message["call"], "value": value})

            asyncio.run_coroutine_threadsafe(reply(), loop)

        value = self.converse({**source, "bridge": "async"}, answer)
        loop.call_soon_threadsafe(loop.stop)
        return value

    def reports(self, source, seen):
        self.converse(source, lambda _, message: seen(message["report"]))

    def terminate(self, source):
        deno = Deno()
        deno.say(job(source))
        time.sleep(0.3)
        began = time.perf_counter()
        deno.end()
        return time.perf_counter() - began

    def hold(self, count):
        held = [Deno() for _ in range(count)]
        for deno in held:
            deno.say(
                {"source": "export default 1; await new Promise(() => setTimeout(() => 0, 1e9))"}
            )
        time.sleep(0.3 * count)
        return Held(held)


class Held:
    def __init__(self, denos):
        self.denos = denos

    def __del__(self):
        for deno in self.denos:
            deno.end()


def job(source):
    return {
        "source": source["module"],
        "bridge": source.get("bridge"),
        "gives": source["gives"],
        "language": source["language"],
    }
