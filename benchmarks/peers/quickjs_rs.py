"""quickjs-rs: QuickJS compiled to WebAssembly, a fresh runtime and context in this process."""

import time

from quickjs_rs import Runtime, SourceTransform
from quickjs_rs import TimeoutError as OutOfTime

_TYPESCRIPT = SourceTransform.SOURCE_TS | SourceTransform.STRIP_TYPESCRIPT


class Adapter:
    def run(self, source):
        typed = source.get("language") == "typescript"
        with Runtime() as runtime, runtime.new_context(timeout=60) as context:
            return context.eval(source["script"], transform_flags=_TYPESCRIPT if typed else None)

    def run_with(self, source, add):
        with Runtime() as runtime, runtime.new_context(timeout=60) as context:
            context.register("add", add)
            return context.eval(source["script"])

    def run_with_async(self, source, add):
        import asyncio

        async def main():
            with Runtime() as runtime, runtime.new_context(timeout=60) as context:
                context.register("add", add)
                return await context.eval_async(f"await {source['later']}")

        return asyncio.run(main())

    def reports(self, source, seen):
        with Runtime() as runtime, runtime.new_context(timeout=60) as context:
            context.register("report", seen)
            context.eval(source["script"])

    def terminate(self, source):
        """It has no terminate, only a deadline: the time beyond that."""
        with Runtime() as runtime, runtime.new_context(timeout=0.1) as context:
            began = time.perf_counter()
            try:
                context.eval(source["script"])
            except OutOfTime:
                return time.perf_counter() - began - 0.1
        raise RuntimeError("it was not stopped")

    def hold(self, count):
        held = []
        for _ in range(count):
            runtime = Runtime()
            context = runtime.new_context()
            context.eval("1")
            held.append((runtime, context))
        return held
