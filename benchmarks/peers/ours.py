"""This engine, through `run_code`: first as in a script, then as in an asyncio program."""

import os
import time

from sandbox_kernel import run_code


def value_of(result):
    if result.status != "success":
        raise RuntimeError(f"{result.status}: {result.error}")
    return result.result


class Adapter:
    loop = None

    def first(self, source):
        return run_code(source["module"], language=source["language"]).wait().result

    def wait(self, source, **options):
        async def main():
            return await run_code(source, **options)

        return value_of(self.on_loop(main()))

    def on_loop(self, coroutine):
        import asyncio

        self.loop = self.loop or asyncio.new_event_loop()
        return self.loop.run_until_complete(coroutine)

    def run(self, source):
        return self.wait(source["module"], language=source.get("language", "javascript"))

    def timed(self, source, count, rest):
        """In one event loop, as in a program that has one; Node's peers are timed like that too."""
        import asyncio

        async def main():
            seconds, value = [], None
            for _ in range(count):
                if rest:
                    await asyncio.sleep(rest)
                began = time.perf_counter()
                result = await run_code(
                    source["module"], language=source.get("language", "javascript")
                )
                seconds.append(time.perf_counter() - began)
                value = value_of(result)
            return seconds, value

        return self.on_loop(main())

    def run_with(self, source, add):
        return self.wait(source["module"], language="javascript", globals={"add": add})

    run_with_async = run_with

    def reports(self, source, seen):
        self.wait(source["module"], language="javascript", report=seen)

    def terminate(self, source):
        import asyncio

        async def main():
            run = run_code(source["module"], language="javascript")
            await asyncio.sleep(0.1)
            began = time.perf_counter()
            run.terminate("enough")
            result = await run
            assert result.status == "terminated", result
            return time.perf_counter() - began

        return self.on_loop(main())

    def sustained(self, source, seconds):
        import asyncio

        async def one_after_the_other(end):
            count = 0
            while time.perf_counter() < end:
                await run_code(source["module"], language="javascript")
                count += 1
            return count

        async def main():
            end = time.perf_counter() + seconds
            lanes = 2 * (os.cpu_count() or 1)
            return await asyncio.gather(*[one_after_the_other(end) for _ in range(lanes)])

        return sum(self.on_loop(main())) / seconds

    def prepare_to_hold(self):
        from sandbox_kernel import Engine

        self.engine = Engine(spares=1)
        self.hold(0)

    def hold(self, count):
        """Beyond the one that is there already; a run lets the engine fill up."""
        self.engine.spares = 1 + count
        self.wait("export default 1", engine=self.engine)
        time.sleep(0.5 + 0.05 * count)

    def modules(self, source, count):
        lines = [f"import {{ v{at} }} from './m{at}.js';" for at in range(count)]
        total = "+".join(["0", *[f"v{at}" for at in range(count)]])
        texts = {f"./m{at}.js": f"export const v{at} = {at};" for at in range(count)}
        entry = "\n".join([*lines, f"export default {total};"])
        return self.wait(entry, language="javascript", modules=texts)

    def concurrent(self, source, count):
        import asyncio

        async def main():
            await asyncio.gather(
                *[run_code(source["module"], language="javascript") for _ in range(count)]
            )

        self.on_loop(main())
