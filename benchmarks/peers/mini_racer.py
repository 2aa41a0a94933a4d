"""mini-racer: a V8 isolate in this process. Objects come out as proxies, so JSON carries them."""

import json
import time

from py_mini_racer import JSTimeoutException, MiniRacer, mini_racer


class Adapter:
    def run(self, source):
        with MiniRacer() as racer:
            if source["gives"] == "objects":
                return json.loads(racer.eval(f"JSON.stringify({source['script']})"))
            if source["gives"] == "bytes":
                return bytes(racer.eval(source["script"] + ".buffer"))
            if source["gives"] == "rich":
                raise NotImplementedError  # proxies
            return racer.eval(source["script"])

    def run_with_async(self, source, add):
        import asyncio

        async def main():
            with mini_racer(asyncio.get_running_loop()) as racer:
                async with racer.wrap_py_function(add) as function:
                    racer.eval("globalThis")["add"] = function
                    return await racer.eval(source["later"])

        return asyncio.run(main())

    def terminate(self, source):
        """It stops at a timeout: the time beyond that."""
        with MiniRacer() as racer:
            began = time.perf_counter()
            try:
                racer.eval(source["script"], timeout_sec=0.1)
            except JSTimeoutException:
                return time.perf_counter() - began - 0.1
        raise RuntimeError("it was not stopped")

    def hold(self, count):
        held = [MiniRacer() for _ in range(count)]
        for racer in held:
            racer.eval("1")
        return held
