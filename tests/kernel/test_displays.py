"""`display` in bridges: the author's own Python shows what it likes, under the cell it serves."""

from __future__ import annotations

import base64
from itertools import groupby

import pytest

from tests.clients import Client

BRIDGE = """%%bridge shows
from IPython.display import HTML, clear_output, update_display
import threading

def page(text):
    print("before")
    display(HTML(f"<b>{text}</b>"), metadata={"k": 1}, display_id="one")
    print("after")

def again(text): update_display(HTML(text), display_id="one")
def clear(): clear_output()

async def later(text): display({"text/markdown": text, "text/plain": text}, raw=True)

def from_thread():
    thread = threading.Thread(target=lambda: display(HTML("thread")))
    thread.start()
    thread.join()

class Both:
    def _repr_html_(self): return "<i>both</i>"
    def __repr__(self): return "both"

def own(): display(Both())
"""


@pytest.fixture(scope="module", autouse=True)
def bridge(kernel: Client) -> None:
    kernel.run(BRIDGE).check()


def test_a_displayed_object_stands_between_what_was_printed(kernel: Client) -> None:
    done = kernel.run("import { page } from 'shows'; console.log('js'); page('hello'); 1").check()
    kinds = [m["msg_type"] for m in done.messages if m["msg_type"] in ("stream", "display_data")]
    assert [kind for kind, _ in groupby(kinds)] == ["stream", "display_data", "stream"]
    (shown,) = done.all("display_data")
    assert shown["data"]["text/html"] == "<b>hello</b>"
    assert shown["metadata"] == {"k": 1}
    assert shown["transient"] == {"display_id": "one"}
    assert done.stdout == "js\nbefore\nafter\n"


def test_it_is_updated_and_cleared(kernel: Client) -> None:
    done = kernel.run("import { again, clear } from 'shows'; again('<i>new</i>'); clear()").check()
    (update,) = done.all("update_display_data")
    assert update["data"]["text/html"] == "<i>new</i>"
    assert done.all("clear_output") == [{"wait": False}]


def test_async_functions_threads_and_objects_of_ones_own(kernel: Client) -> None:
    done = kernel.run(
        "import { later, from_thread, own } from 'shows'; await later('*md*'); from_thread(); own()"
    ).check()
    assert [list(data) for data in done.displays] == [
        ["text/markdown", "text/plain"],
        ["text/plain", "text/html"],
        ["text/plain", "text/html"],
    ]
    assert done.displays[2] == {"text/plain": "both", "text/html": "<i>both</i>"}


def test_the_cell_of_a_bridge_itself_displays_too(kernel: Client) -> None:
    done = kernel.run(
        "%%bridge once\nfrom IPython.display import HTML\ndisplay(HTML('now'))\nx = 1"
    )
    assert done.check().displays[0]["text/html"] == "now"


@pytest.mark.parametrize(
    "code",
    [
        "import matplotlib.pyplot as plt\ndef draw():\n    plt.plot([1, 2]); plt.show()",
        "import matplotlib.pyplot as plt\n"
        "def draw():\n    figure, axes = plt.subplots(); display(figure); plt.close()",
        "from matplotlib.figure import Figure\ndef draw():\n    figure = Figure(); figure.subplots(); display(figure)",
    ],
)
def test_a_figure_of_matplotlib_is_a_picture(kernel: Client, code: str) -> None:
    kernel.run(f"%%bridge chart\n{code}").check()
    done = kernel.run("import { draw } from 'chart'; draw()").check()
    (picture,) = [data["image/png"] for data in done.displays if "image/png" in data]
    assert base64.b64decode(picture).startswith(b"\x89PNG")


def test_a_guest_cannot_flood_the_page_with_displays(kernel: Client) -> None:
    done = kernel.run("import { own } from 'shows'; for (let i = 0; i < 1000; i++) own()").check()
    assert sum(data["text/plain"] == "both" for data in done.displays) == 200
    assert done.stderr == "… more than 200 displays in one cell, the others are not shown\n"


def test_what_the_guest_hands_over_is_shown_as_the_author_decides(kernel: Client) -> None:
    evil = "<img src=x onerror=alert(1)>"
    assert kernel.run(f"export default {evil!r}").check().displays == []
    done = kernel.run(f"export default [{{ a: {evil!r} }}]").check()
    assert done.data is not None
    assert "<img" not in done.data["text/html"]
