"""jsrun: a V8 isolate on a thread of this process."""

import contextlib
import time

from jsrun import Runtime, RuntimeConfig, RuntimeTerminated


class Adapter:
    def run(self, source):
        with Runtime(RuntimeConfig(max_serialization_bytes=2**28)) as runtime:
            view = "new Uint8Array(({}).buffer)" if source["gives"] == "bytes" else "{}"
            return runtime.eval(view.format(source["script"]))

    def run_with(self, source, add):
        with Runtime() as runtime:
            runtime.bind_function("add", add)
            return runtime.eval(source["script"])

    def run_with_async(self, source, add):
        import asyncio

        async def main():
            with Runtime() as runtime:
                await runtime.eval_async("1")
                runtime.bind_function("add", add)
                return await runtime.eval_async(source["later"])

        return asyncio.run(main())

    def reports(self, source, seen):
        with Runtime() as runtime:
            runtime.bind_function("report", seen)
            runtime.eval(source["script"])

    def terminate(self, source):
        import asyncio

        async def main():
            runtime = Runtime()
            run = asyncio.ensure_future(runtime.eval_async(source["script"]))
            await asyncio.sleep(0.1)
            began = time.perf_counter()
            runtime.terminate()
            with contextlib.suppress(RuntimeTerminated):
                await run
            return time.perf_counter() - began

        return asyncio.run(main())

    def hold(self, count):
        held = [Runtime() for _ in range(count)]
        for runtime in held:
            runtime.eval("1")
        return held
