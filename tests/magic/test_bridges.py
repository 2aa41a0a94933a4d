"""Bridged Python: plain and async functions, on the notebook's own loop, with numpy and pandas."""

from __future__ import annotations

import pytest

from tests.clients import Client


def test_a_bridge_prints_to_the_cell(notebook: Client) -> None:
    notebook.run("def say(text): print('heard', text)").check()
    assert notebook.run("%%runcode --global say\nsay('x')").check().stdout == "heard x\n"


def test_what_a_bridge_raises_is_thrown_and_can_be_caught(notebook: Client) -> None:
    notebook.run("def read(path): raise FileNotFoundError('no ' + path)").check()
    caught = "%%runcode --global read\ntry { read('a') } catch (e) { [e.name, e.message] }"
    cell = caught.replace("{ [", "{ var r = [") + "\nr"
    assert notebook.run(cell).check().text == "[ 'FileNotFoundError', 'no a' ]"
    outcome = notebook.run("%%runcode --global read\nread('a')")
    assert outcome.content["ename"] == "FileNotFoundError"
    _, _, python = outcome.traceback.partition("in the bridge:\n")
    assert [line.strip() for line in python.split("\n")] == [
        "Traceback (most recent call last):",
        'File "<cell>", line 1, in read',
        "def read(path): raise FileNotFoundError('no ' + path)",
        *(line for line in map(str.strip, python.split("\n")) if set(line) == {"^"}),
        "FileNotFoundError: no a",
    ]
    assert "ipykernel" not in outcome.traceback


def test_async_bridges_share_the_notebooks_loop(notebook: Client) -> None:
    notebook.run(
        "import asyncio\n"
        "loop = asyncio.get_running_loop()\n"
        "door = asyncio.Event()\n"
        "async def enter():\n"
        "    await door.wait()\n"
        "    return asyncio.get_running_loop() is loop\n"
        "def unlock(): loop.call_later(0.05, door.set)\n"
    ).check()
    cell = "%%runcode --global enter --global unlock\nunlock(); await enter()"
    assert notebook.run(cell).check().text == "true"


def test_tasks_of_earlier_cells_go_on_while_a_run_lasts(notebook: Client) -> None:
    notebook.run(
        "import asyncio\n"
        "ticks = []\n"
        "async def tick():\n"
        "    while len(ticks) < 5:\n"
        "        ticks.append(1); await asyncio.sleep(0.01)\n"
        "ticking = asyncio.get_running_loop().create_task(tick())\n"
    ).check()
    notebook.run("%%runcode --global done=ticking\nawait done").check()
    assert notebook.run("len(ticks)").check().text == "5"


def test_numpy_arrays_cross_both_ways(notebook: Client) -> None:
    notebook.run("import numpy as np\na = np.arange(5, dtype='float64')").check()
    cell = "%%runcode --global a --into r\n[a.constructor.name, a.map((x) => x * 2)]"
    assert notebook.run(cell).check().text is not None
    shown = notebook.run("r.result[0], np.asarray(r.result[1]).tolist()").check().text
    assert shown == "('Float64Array', [0.0, 2.0, 4.0, 6.0, 8.0])"


def test_numpy_arrays_come_out_of_bridges(notebook: Client) -> None:
    notebook.run(
        "import numpy as np\n"
        "def ramp(n): return np.arange(n, dtype='int32')\n"
        "def total(values): return float(np.sum(values))\n"
    ).check()
    cell = "%%runcode --global ramp --global total\ntotal(ramp(1000).map((x) => x + 1))"
    assert notebook.run(cell).check().text == "500500"


def test_a_frame_crosses_as_it_is_and_comes_back(notebook: Client) -> None:
    notebook.run(
        "import pandas as pd\nfrom sandbox_kernel import columns, to_frame\n"
        "df = pd.DataFrame({'n': [1, 2], 'x': [0.5, None], 'at': pd.to_datetime(['2024-01-01', None])})"
    ).check()
    cell = "%%runcode --global df --global cols=columns(df) --into r\ndf.map((row, i) => ({ ...row, same: cols.n[i] === row.n }))"
    notebook.run(cell).check()
    shown = notebook.run("to_frame(r).isna().sum().tolist(), to_frame(r)['same'].all()").check()
    assert shown.text == "([0, 1, 1, 0], np.True_)"


def test_pandas_records_cross_both_ways(notebook: Client) -> None:
    notebook.run(
        "import pandas as pd\n"
        "frame = pd.DataFrame({'name': ['a', 'b'], 'n': [1, 2], 'x': [0.5, None],"
        " 'ok': [True, False], 'when': pd.to_datetime(['2024-01-01', '2024-01-02'], utc=True)})\n"
        "rows = frame.to_dict('records')\n"
    ).check()
    cell = (
        "%%runcode --global rows --into r\n"
        "rows.map((row) => ({...row, n: row.n + 1, day: row.when.getUTCDate()}))"
    )
    notebook.run(cell).check()
    shown = notebook.run("pd.DataFrame(r.result)[['name', 'n', 'day']].values.tolist()").check()
    assert shown.text == "[['a', 2, 1], ['b', 3, 2]]"


def test_a_blocking_bridge_does_not_outlive_its_deadline(notebook: Client) -> None:
    notebook.run("import time\ndef nap(): time.sleep(20)").check()
    outcome = notebook.run("%%runcode --deadline 200ms --global nap\nnap()")
    assert outcome.content["evalue"] == "200ms budget"


@pytest.mark.parametrize(
    ("name", "made", "used", "shown"),
    [
        (
            "np",
            "import numpy as np",
            "import { sum, pi } from 'np';\n[sum([1, 2]), pi > 3]",
            "[ 3, true ]",
        ),
        ("pd", "import pandas as pd", "import { isna } from 'pd';\nisna(null)", "true"),
        (
            "df",
            "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})",
            "import { shape } from 'df';\nshape",
            "[ 2, 1 ]",
        ),
    ],
)
def test_of_a_library_what_can_cross_is_lent(
    notebook: Client, name: str, made: str, used: str, shown: str
) -> None:
    notebook.run(made).check()
    assert notebook.run(f"%%runcode --import {name}\n{used}").check().text == shown


def test_what_of_an_import_cannot_be_lent_is_said_once(notebook: Client) -> None:
    notebook.run("import pandas as pd\ndf = pd.DataFrame({'a': range(2000)})").check()
    cell = "%%runcode --import df\nimport { shape } from 'df';\nshape"
    first = notebook.run(cell).check()
    assert first.stdout.startswith("--import df left out what cannot be lent: T, a, ")
    assert first.text == "[ 2000, 1 ]"
    assert notebook.run(cell).check().stdout == ""
    notebook.run("df = pd.DataFrame({'b': range(2000)})").check()
    assert ": T, at, b, " in notebook.run(cell).check().stdout
    notebook.run("df = df.copy()").check()
    assert notebook.run(cell.replace("df\n", "df --raw\n", 1)).check().stdout == ""
