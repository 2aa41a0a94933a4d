"""What guests say never becomes a Python object in a Dask message, and a hostile peer gets nowhere."""

from __future__ import annotations

import asyncio
import os
import pickle
from typing import Any

import msgpack
import psutil
import pytest

from sandbox_kernel import run_code, run_many
from sandbox_kernel.cluster.channel import OPENED, Channel
from tests.cluster.clusters import Cluster
from tests.cluster.joined import joined
from tests.waiting import until

# What Dask's own reader takes for orders of its own.
DASK_WORDS = ["__Pickled__", "__Serialized__", "__Set__", "__Enum__", "__MsgpackExtensionDtype__"]
MARK = "a-word-that-only-the-guest-says"
SOURCE = f"""
const words = {DASK_WORDS};
const all = words.map((word) => ({{ [word]: 1, mark: "{MARK}", name: "os", cls: "system" }}));
for (const one of all) {{ report(one); console.log(one); await take(one); }}
export default [...all, new Uint8Array([128, 4, 149])];
"""


@pytest.mark.parametrize("direct", [True, False])
def test_words_of_dask_are_values_like_any_other(
    cluster: Cluster, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing that the guest said is unpickled here, by whomever."""
    loads, unpickled = pickle.loads, []

    def spy(data: Any, **options: Any) -> Any:
        unpickled.append(bytes(data))
        return loads(data, **options)

    monkeypatch.setattr(pickle, "loads", spy)
    taken: list[Any] = []

    async def take(value: Any) -> None:
        taken.append(value)

    with cluster.client() as client:
        before = set(client.scheduler_info(n_workers=-1)["workers"])
        with_engine = cluster.engine(direct=direct)
        with with_engine as engine:
            reports: list[Any] = []
            run = run_code(SOURCE, globals={"take": take}, report=reports.append, engine=engine)
            result = run.wait(60)
            assert result.status == "success", result.error
            expected = [{w: 1, "mark": MARK, "name": "os", "cls": "system"} for w in DASK_WORDS]
            assert reports == taken == result.result[:-1] == expected
            batch = run_many(
                f"export default (word) => ({{ [word]: '{MARK}' }})",
                DASK_WORDS,
                isolate="batch",
                engine=engine,
            )
            assert [one.result for one in batch] == [{word: MARK} for word in DASK_WORDS]
        assert set(client.scheduler_info(n_workers=-1)["workers"]) == before
    assert not [data for data in unpickled if MARK.encode() in data]


@pytest.mark.parametrize(
    "said",
    [
        b"\xc1",
        msgpack.packb({"__Pickled__": 1}),
        msgpack.packb([[OPENED, 1, 0, "text"]]),
        msgpack.packb([[OPENED, 1]]),
        msgpack.packb([[True, 1, 0, b""]]),
        msgpack.packb(msgpack.ExtType(5, b"x")),
    ],
    ids=["no msgpack", "a dict", "text", "too short", "a bool", "an extension"],
)
async def test_a_peer_that_makes_no_sense_is_hung_up_on(said: bytes) -> None:
    handled: list[Any] = []
    async with joined() as (comm, far):
        far.send(said)
        channel = await Channel.over(comm, "x")
        await asyncio.wait_for(channel.serve(lambda *each: handled.append(each), 30), 20)
        assert comm.stream.closed()
        assert channel.pipe.socket.fileno() < 0
    assert handled == []


async def test_a_peer_that_says_nothing_is_given_up() -> None:
    async with joined() as (comm, _):
        channel = await Channel.over(comm, "x")
        await asyncio.wait_for(channel.serve(lambda *each: None, 0.3), 20)
        assert comm.stream.closed()


@pytest.mark.scaled
@pytest.mark.parametrize("direct", [True, False])
def test_a_flood_is_held_up_where_it_begins(cluster: Cluster, direct: bool) -> None:
    """Both ways, into a slow sink and a slow guest; 200 MB each in `make soak`, by runs of 40."""
    runs, count = (5, 40) if "SANDBOX_SOAK_SECONDS" in os.environ else (1, 20)
    source = f"""
    const large = 'x'.repeat(1e6);
    for (let i = 0; i < {count}; i++) report(large);
    for (let i = 0; i < {count}; i++) {{
      for (let n = 0; n < 1e5; n++);
      if (give().length !== 1e6) throw new Error();
    }}
    export default 1"""
    with cluster.engine(direct=direct) as engine:
        assert run_code("export default 1", engine=engine).wait(60).result == 1
        processes = [cluster.scheduler.pid, *(worker.pid for worker in cluster.workers)]
        before = {pid: _resident(pid) for pid in processes}
        largest = dict(before)
        seen = 0

        def sink(value: str) -> None:
            nonlocal seen
            seen += 1
            if seen % 10 == 0:
                until(lambda: False, 0.2)
                largest.update({pid: max(largest[pid], _resident(pid)) for pid in processes})

        lent = {"give": lambda: "y" * 1_000_000}
        for _ in range(runs):
            result = run_code(source, globals=lent, report=sink, engine=engine).wait(240)
            assert result.status == "success", result.error
        assert seen == runs * count
        grown = {pid: max(largest[pid], _resident(pid)) - before[pid] for pid in processes}
    assert max(grown.values()) < 40_000_000, grown


def _resident(pid: int) -> int:
    return int(psutil.Process(pid).memory_info().rss)
