"""pydantic-monty: a sandboxed Python in worker processes; here a fresh process for each run."""

import os
import time

from pydantic_monty import AsyncMonty, Monty

LIMITS = {"max_suspensions": 1_000_000}


class Adapter:
    def __init__(self):
        self.pool = self.fresh_pool()
        self.pool.__enter__()

    def fresh_pool(self):
        cores = os.cpu_count() or 1
        return Monty(min_processes=cores, max_processes=2 * cores, max_checkouts_per_worker=1)

    def feed(self, source, **lookup):
        if source["python"] is None:
            raise NotImplementedError
        with self.pool.checkout(limits=LIMITS) as session:
            return session.feed_run(source["python"], external_lookup=lookup or None)

    def run(self, source):
        return self.feed(source)

    def run_with(self, source, add):
        return self.feed(source, add=add)

    def run_with_async(self, source, add):
        import asyncio

        async def main():
            async with AsyncMonty() as pool, pool.checkout(limits=LIMITS) as session:
                return await session.feed_run(source["python"], external_lookup={"add": add})

        return asyncio.run(main())

    def reports(self, source, seen):
        self.feed(source, report=seen)

    def terminate(self, source):
        """It stops at a deadline of its own: the time beyond that."""
        if source["python"] is None:
            raise NotImplementedError
        limits = {"max_feed_duration_secs": 0.1}
        with self.pool.checkout(limits=limits) as session:
            began = time.perf_counter()
            try:
                session.feed_run(source["python"])
            except Exception:
                return time.perf_counter() - began - 0.1
        raise RuntimeError("it was not stopped")

    def hold(self, count):
        pool = Monty(min_processes=count, max_processes=count)
        pool.__enter__()
        return pool
