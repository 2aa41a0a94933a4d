"""The live run view in a real JupyterLab, in both faces."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenNotebook, ReadyNotebook
from tests.browser.faces import KERNEL, MAGIC, Face, both_faces, one_face
from tests.browser.lab import contrast, edges, screenshot

SLEEP = "%%runcode --import timers\nimport { sleep } from 'timers';\n"

TRAINING = (
    SLEEP
    + """
for (let step = 1; step <= 60; step++) {
  report({ progress: step, total: 60, label: 'Training' });
  report({ progress: step / 60, label: 'Share of the data' });
  report(Math.exp(-step / 20) + 0.08 * Math.sin(step * 1.7));
  if (step % 5 === 0) report({ step, loss: Math.exp(-step / 20), tags: ['a', { deep: [1, 2] }] });
  if (step % 10 === 0) console.log('epoch', step / 10);
  await sleep(40);
}
export default 'trained';"""
)


def number_in(locator: Locator, pattern: str) -> float:
    found = re.search(pattern, locator.inner_text())
    assert found, locator.inner_text()
    return float(found[1].replace(",", ""))


@one_face
def test_reports_progress_and_plot_move_before_the_cell_ends(
    ready_notebooks: ReadyNotebook, face: Face
) -> None:
    notebook = ready_notebooks(face)
    at = notebook.add(TRAINING)
    notebook.start(at)
    view = notebook.view(at)
    bar = view.get_by_role("progressbar", name="Training")
    expect(view.get_by_role("treeitem").first).to_be_visible(timeout=20_000)
    expect(bar).to_have_attribute("aria-valuenow", re.compile(r"[2-6]\d"), timeout=20_000)
    line = view.locator(".run-plot-line")
    before = line.get_attribute("d"), bar.get_attribute("aria-valuenow")
    reports = number_in(view, r"([\d,]+) reports")
    assert notebook.is_running(at)
    notebook.cell(at).evaluate("(cell) => cell.scrollIntoView()")
    screenshot(notebook.page, f"live-view-{face.name}-running")
    expect(line).not_to_have_attribute("d", before[0] or "")
    expect(bar).not_to_have_attribute("aria-valuenow", before[1] or "")
    assert number_in(view, r"([\d,]+) reports") > reports
    assert notebook.is_running(at)

    notebook.wait(at)
    expect(view.locator(".run-word")).to_have_text("Finished")
    expect(bar).to_have_attribute("aria-valuenow", "100")
    assert number_in(view, r"([\d,]+) reports") == 192
    expect(notebook.output(at)).to_contain_text("trained")


@both_faces
def test_terminate_ends_an_infinite_loop(ready_notebooks: ReadyNotebook, face: Face) -> None:
    notebook = ready_notebooks(face)
    at = notebook.add("%%runcode\nfor (;;) {}")
    notebook.add("%%runcode\n1 + 1")
    notebook.start(at)
    view = notebook.view(at)
    view.get_by_role("button", name="Terminate").click(timeout=20_000)
    notebook.wait(at, timeout=20)
    expect(view.locator(".run-word")).to_have_text("Terminated")
    expect(notebook.output(at)).to_contain_text("terminated: Terminate button")
    expect(view.get_by_role("button", name="Terminate")).to_be_hidden()
    screenshot(notebook.cell(at), f"live-view-{face.name}-terminated")
    notebook.run(at + 1)
    expect(notebook.output(at + 1)).to_have_text(re.compile(r"2"))


def test_terminate_is_heard_even_where_python_blocks(ready_notebooks: ReadyNotebook) -> None:
    notebook = ready_notebooks(MAGIC)
    notebook.run(notebook.add("%autoawait False"))
    at = notebook.add("%%runcode\nreport('blocking'); for (;;) {}")
    notebook.start(at)
    notebook.view(at).get_by_role("button", name="Terminate").click(timeout=20_000)
    notebook.wait(at, timeout=20)
    expect(notebook.view(at).locator(".run-word")).to_have_text("Terminated")
    notebook.run(notebook.add("%autoawait True"))


@one_face
def test_a_hundred_thousand_reports_leave_the_page_responsive(
    ready_notebooks: ReadyNotebook, face: Face
) -> None:
    flood = "%%runcode\nfor (let i = 0; i < 100000; i++) report({ i, square: i * i });"
    notebook = ready_notebooks(face)
    at = notebook.add(flood)
    notebook.page.evaluate(_MEASURE_FRAMES)
    notebook.run(at, timeout=120)
    view = notebook.view(at)
    expect(view.locator(".run-word")).to_have_text("Finished")
    expect(view.locator(".run-facts")).to_contain_text("100,000 reports")
    expect(view.get_by_role("tab", name="Reports 100,000")).to_be_visible()
    expect(view.get_by_role("row").last).to_contain_text("99999")
    assert view.locator("*").count() < 10_000
    longest = notebook.page.evaluate("() => Math.max(...window.frameGaps)")
    print(f"longest time without a frame: {longest:.0f} ms")  # a timing never fails a test
    view.get_by_label("Filter").fill("i: 99998,")
    expect(view.get_by_role("row")).to_have_count(2)
    screenshot(view, f"live-view-{face.name}-flood")


_MEASURE_FRAMES = """() => {
  window.frameGaps = [0];
  let last = performance.now();
  const measure = (now) => {
    window.frameGaps.push(now - last);
    last = now;
    requestAnimationFrame(measure);
  };
  requestAnimationFrame(measure);
}"""


@one_face
def test_a_saved_notebook_shows_the_final_state_again(
    open_notebook: OpenNotebook, face: Face
) -> None:
    body = "%%runcode\nreport({ kept: 'yes' }); report(1); report(4); console.log('said');"
    notebook = open_notebook([face.setup[0], body], face.kernel)
    notebook.run(0)
    at = 1
    for _ in range(2):  # the view of the first time is gone, and so must be what was kept of it
        notebook.run(at)
        expect(notebook.view(at).locator(".run-word")).to_have_text("Finished")
    saved = notebook.save()
    widgets = saved["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    assert sum("head" in each["state"] for each in widgets.values()) == 1
    outputs = saved["cells"][at]["outputs"]
    listed = "".join(
        line for each in outputs for line in each.get("data", {}).get("text/plain", "")
    )
    assert "[0] { kept: 'yes' }" in listed
    assert "3 reports" in listed

    notebook.command("kernelmenu:shutdown")  # nobody is left who could send the state again
    notebook.open()
    view = notebook.view(at)
    expect(view.locator(".run-word")).to_have_text("Finished", timeout=30_000)
    assert view.evaluate(_ICON_ABOVE) in (None, "none")
    expect(view.get_by_role("treeitem").first).to_contain_text("kept: 'yes'")
    expect(view.locator(".run-plot")).to_be_visible()
    view.get_by_role("tab", name="Console").click()
    expect(view.get_by_role("log")).to_have_text("said")
    notebook.open()
    selected = view.get_by_role("tab", name="Console")
    expect(selected).to_have_attribute("aria-selected", "true", timeout=30_000)


# The broken link of ipywidgets over a widget that has no kernel.
_ICON_ABOVE = """(view) => {
  const frame = view.closest(".jupyter-widgets-disconnected");
  return frame && getComputedStyle(frame, "::before").display;
}"""


@one_face
def test_a_notebook_saved_in_the_middle_of_a_run_opens_again(
    open_notebook: OpenNotebook, face: Face
) -> None:
    body = "for (let i = 0; ; i++) { report({ step: i }); report(Math.sin(i)); await sleep(50); }"
    cells = [*face.setup, SLEEP + body]
    notebook, at = open_notebook(cells, face.kernel), len(face.setup)
    for index in range(at):
        notebook.run(index)
    notebook.start(at)
    view = notebook.view(at)
    expect(view.get_by_role("treeitem")).to_have_count(200, timeout=60_000)  # some keyframes later
    notebook.save()

    if face is KERNEL:  # a page that comes anew hears of widgets from ipykernel after the cell
        notebook.open(wait_for_idle=False)
        expect(view.locator(".run-word")).to_have_text("Running", timeout=30_000)
        reports = number_in(view, r"([\d,]+) reports")
        expect(view.get_by_role("tab", name="Reports")).not_to_have_text(f"Reports {reports:,.0f}")
        view.get_by_role("button", name="Terminate").click()
        expect(view.locator(".run-word")).to_have_text("Terminated")

    notebook.command("kernelmenu:shutdown")  # nobody is left who could tell how it went on
    notebook.open()
    expect(view.locator(".run-word")).to_have_text("No contact", timeout=30_000)
    expect(view.get_by_role("treeitem").first).to_contain_text("step: ")
    expect(view.locator(".run-plot")).to_be_visible()
    expect(view.get_by_role("button", name="Terminate")).to_be_hidden()


@one_face
def test_it_follows_the_dark_theme(ready_notebooks: ReadyNotebook, face: Face) -> None:
    notebook = ready_notebooks(face)
    at = notebook.add(TRAINING)
    notebook.start(at)
    view = notebook.view(at)
    expect(view.get_by_role("progressbar").first).to_be_visible(timeout=20_000)
    light = _brightness(view)
    try:
        notebook.use_theme("JupyterLab Dark")
        expect(view.get_by_role("progressbar").first).to_have_attribute(
            "aria-valuenow", re.compile(r"[5-9]\d|100")
        )
        dark = _brightness(view)
        screenshot(view, f"live-view-{face.name}-dark")
    finally:
        notebook.use_theme("JupyterLab Light")
    assert light[0] > 200 > light[1]
    assert dark[0] < 60 < dark[1]


def _brightness(view: Locator) -> tuple[float, float]:
    """Of the background and of the text, 0 to 255."""
    colours: list[str] = view.evaluate(
        "(element) => [getComputedStyle(element).backgroundColor, getComputedStyle(element).color]"
    )
    channels = [[float(part) for part in re.findall(r"[\d.]+", colour)] for colour in colours]
    opaque = [alpha[3] if len(alpha) > 3 else 1.0 for alpha in channels]
    back = sum(channels[0][:3]) / 3
    text = sum(channels[1][:3]) / 3 * opaque[1] + back * (1 - opaque[1])
    return back, text


def test_a_table_a_tree_a_filter_and_a_copy(ready_notebooks: ReadyNotebook) -> None:
    rows = "for (let i = 0; i < 30; i++) report({ id: i, name: 'row ' + i, price: i * 1.5 });"
    nested = (
        "report({ user: { name: 'Ada', tags: ['x', 'y'] } }); report('a\\n' + 'b'.repeat(300));"
    )
    notebook = ready_notebooks(MAGIC)
    page = notebook.page
    at = notebook.add(f"%%runcode\n{rows}")
    notebook.add(f"%%runcode\n{nested}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    notebook.run(at)
    table = notebook.view(at)
    expect(table.get_by_role("columnheader")).to_have_text(["#", "id", "name", "price"])
    expect(table.get_by_role("row")).to_have_count(31)
    table.get_by_label("Filter").fill("row 1")
    expect(table.get_by_role("row")).to_have_count(12)
    expect(table.locator(".run-remark")).to_contain_text("11 matches")
    table.get_by_role("button", name="Copy").click()
    expect(table.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("() => navigator.clipboard.readText()").split("\n")
    assert copied[:2] == ["id\tname\tprice", "1\trow 1\t1.5"]
    assert len(copied) == 12
    screenshot(table, "live-view-table")

    notebook.run(at + 1)
    tree = notebook.view(at + 1).get_by_role("tree")
    tree.get_by_role("treeitem").first.click()
    expect(tree.get_by_role("treeitem", level=2)).to_contain_text("user: {name: 'Ada'")
    tree.get_by_role("treeitem", level=2).click()
    expect(tree.get_by_role("treeitem", level=3)).to_have_count(2)
    tree.get_by_role("treeitem", level=1).last.dispatch_event("click")  # beside its line counts too
    expect(tree.locator(".run-text")).to_have_text("a\n" + "b" * 300)
    screenshot(notebook.view(at + 1), "live-view-tree")


def test_it_fits_a_narrow_window_and_can_be_read(ready_notebooks: ReadyNotebook) -> None:
    body = "for (let i = 0; i < 9; i++) report({ id: i, a: 'x'.repeat(60), b: 'y'.repeat(60) });"
    notebook = ready_notebooks(MAGIC)
    at = notebook.add(f"%%runcode\nreport({{ progress: 1, label: 'a long label' }}); {body}")
    notebook.run(at)
    view = notebook.view(at)
    numbers = view.locator("tbody .run-index").first
    try:
        for theme in ("JupyterLab Dark", "JupyterLab Light"):
            notebook.use_theme(theme)
            for text in (numbers, view.locator(".run-facts"), view.get_by_role("tab").first):
                assert contrast(text) >= 4.5
        notebook.command("application:toggle-left-area")
        notebook.page.set_viewport_size({"width": 480, "height": 900})
        screenshot(view, "live-view-narrow")
        left, _, right, _ = edges(view)
        for inside in (view.get_by_role("button", name="Copy"), view.get_by_label("Filter")):
            start, _, end, _ = edges(inside)
            assert left <= start < end <= right
        table = view.get_by_role("region")
        assert table.evaluate("(box) => box.scrollWidth > box.clientWidth")  # it scrolls
    finally:
        notebook.page.set_viewport_size({"width": 1100, "height": 900})
        notebook.command("application:toggle-left-area")


def test_console_lines_stand_below_the_view_and_an_end_is_said_once(
    ready_notebooks: ReadyNotebook,
) -> None:
    notebook = ready_notebooks(KERNEL)
    body = "console.log('early'); await sleep(700); console.log('late'); report(1); for (;;) {}"
    at = notebook.add(SLEEP + body)
    notebook.start(at)
    view = notebook.view(at)
    expect(view.get_by_role("tab", name="Reports")).to_be_visible()
    view.get_by_role("button", name="Terminate").click()
    notebook.wait(at)
    printed = notebook.output(at).get_by_text("early", exact=True)
    assert edges(printed)[1] >= edges(view)[3]
    expect(notebook.output(at).get_by_text("Terminate button")).to_have_count(1)


def test_it_is_usable_by_keyboard_alone(ready_notebooks: ReadyNotebook) -> None:
    body = "report({ a: { b: 1 } }); report([1, 2]); console.warn('careful');"
    notebook = ready_notebooks(MAGIC)
    page = notebook.page
    cells = page.locator(".jp-Notebook .jp-Cell")
    at = notebook.add(f"%%runcode\n{body}")
    notebook.run(at)
    view = notebook.view(at)
    expect(view.locator(".run-word")).to_have_text("Finished")
    view.get_by_role("tab", name="Reports").focus()
    page.keyboard.press("Tab")
    expect(view.get_by_label("Filter")).to_be_focused()
    page.keyboard.press("Tab")
    expect(view.get_by_role("button", name="Copy")).to_be_focused()
    page.keyboard.press("Tab")
    items = view.get_by_role("treeitem")
    expect(items.first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(items.first).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    expect(view.get_by_role("treeitem", level=2)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(items.first).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(items.first).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("End")
    expect(items.last).to_be_focused()
    view.get_by_role("tab", name="Reports").focus()
    page.keyboard.press("ArrowRight")
    expect(view.get_by_role("tab", name="Console")).to_be_focused()
    expect(view.get_by_role("log")).to_be_visible()
    expect(view.get_by_role("status")).to_contain_text("Run: Finished, 2 reports")
    page.keyboard.press("b")
    expect(cells).to_have_count(at + 1)  # the notebook's own shortcuts keep out


def test_a_reader_in_the_filter_stays_there_when_the_run_ends(
    ready_notebooks: ReadyNotebook,
) -> None:
    body = "for (let i = 0; i < 20; i++) { report('item ' + i); await sleep(100); }"
    notebook = ready_notebooks(MAGIC)
    page = notebook.page
    at = notebook.add(SLEEP + body)
    notebook.start(at)
    view = notebook.view(at)
    view.get_by_label("Filter").click(timeout=20_000)
    page.keyboard.type("item 1")
    notebook.wait(at)
    expect(view.locator(".run-word")).to_have_text("Finished")
    expect(view.get_by_label("Filter")).to_have_value("item 1")
    expect(view.get_by_label("Filter")).to_be_focused()
    expect(view.get_by_role("treeitem")).to_have_count(11)


@pytest.mark.parametrize("seconds", [0.0, 0.9])
def test_a_quiet_run_shows_a_view_only_if_it_lasts(
    ready_notebooks: ReadyNotebook, seconds: float
) -> None:
    body = f"await sleep({seconds * 1000}); export default 'over';"
    notebook = ready_notebooks(MAGIC)
    at = notebook.add(SLEEP + body)
    notebook.run(at)
    expect(notebook.output(at)).to_contain_text("over")
    expect(notebook.view(at)).to_have_count(1 if seconds else 0)
