"""The kernel in JupyterLab, as a person meets it: new notebook, cells, help, errors, stop button."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, TimeoutError, expect

from tests.browser.conftest import OpenNotebook
from tests.browser.lab import LabServer, Notebook, contrast, edges, screenshot

expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def lab(browser: Browser, lab_server: LabServer) -> Iterator[Notebook]:
    """A notebook made from the launcher's card of this kernel."""
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    page = context.new_page()
    page.goto(f"{lab_server.url}/lab?reset&token={lab_server.token}")
    card = page.locator('.jp-LauncherCard[title="Sandbox (TypeScript)"]').first
    card.wait_for(timeout=60_000)
    screenshot(page, "kernel-launcher")
    card.click()
    notebook = Notebook(page, lab_server, "unused.ipynb")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
    expect(page.locator(".jp-Notebook-ExecutionIndicator").first).to_have_attribute(
        "data-status", "idle", timeout=60_000
    )
    # Until the page knows the language, cells may not run, and keys that are typed may be lost.
    page.wait_for_function(f"() => {_MIMETYPE} === 'application/typescript'", timeout=60_000)
    yield notebook
    context.close()


_MIMETYPE = "jupyterapp.shell.currentWidget?.content?.codeMimetype"


def editor(lab: Notebook, index: int) -> Locator:
    return lab.cell(index).locator(".cm-content")


def offer(lab: Notebook, word: str) -> None:
    """Press Tab until the word is offered: the page waits a second at most for the kernel."""
    completer = lab.page.locator(".jp-Completer", has_text=word).first
    for _ in range(20):
        lab.page.keyboard.press("Tab")
        try:
            completer.wait_for(timeout=2_000)
            return
        except TimeoutError:
            continue
    raise AssertionError(f"{word} was never offered")


def run(lab: Notebook, source: str) -> int:
    index = lab.add(source)
    lab.run(index)
    return index


def test_a_new_notebook_has_this_kernel_and_its_language(lab: Notebook) -> None:
    name = lab.page.locator(".jp-Toolbar-kernelName, jp-button.jp-Toolbar-kernelName").first
    expect(name).to_contain_text("Sandbox (TypeScript)")


def test_typed_typescript_is_highlighted_and_runs(lab: Notebook) -> None:
    cell = editor(lab, 0)
    cell.click()
    lab.page.keyboard.type("const greet = (who: string): string => `hi ${who}`")
    lab.page.keyboard.press("Enter")
    lab.page.keyboard.type("greet('Lab')")
    lab.page.keyboard.press("Shift+Enter")
    lab.wait(0)
    expect(lab.output(0)).to_contain_text("'hi Lab'")
    keyword = lab.cell(0).locator(".cm-line span", has_text=re.compile("^const$")).first
    plain = lab.cell(0).locator(".cm-line").first
    color = "el => getComputedStyle(el).color"
    assert keyword.evaluate(color) != plain.evaluate(color)


def test_the_body_of_a_magic_is_coloured_as_typescript(open_notebook: OpenNotebook) -> None:
    body = "%%runcode\n// it's a comment\nconst answer: number = 42"
    notebook = open_notebook(["%load_ext runcode", body, "x = 'python'"])
    notebook.run(0, timeout=60)
    mime = "(at) => jupyterapp.shell.currentWidget.content.widgets[at].model.mimeType"
    notebook.page.wait_for_function(f"() => ({mime})(1) === 'application/typescript'")
    comment = notebook.cell(1).locator(".cm-line").nth(1).locator("span").first
    expect(comment).to_have_text("// it's a comment")
    added = notebook.add("%%runcode\nconst late = 1")
    notebook.page.wait_for_function(f"() => ({mime})({added}) === 'application/typescript'")
    editor(notebook, 1).click()
    notebook.page.keyboard.press("Control+A")
    notebook.page.keyboard.type("y = 1")
    notebook.page.wait_for_function(f"() => ({mime})(1) === ({mime})(2)")


def test_python_in_a_cell_of_the_kernel_is_coloured_as_python(open_notebook: OpenNotebook) -> None:
    cells = [
        "%%bridge shop\n# it's Python\nprice = 3",
        "%%runprogram\nprint(3)",
        "let x = 1",
    ]
    notebook = open_notebook(cells, "sandbox")
    mime = "(at) => jupyterapp.shell.currentWidget.content.widgets[at].model.mimeType"
    for at, wanted in enumerate(["text/x-ipython", "text/x-ipython", "application/typescript"]):
        notebook.page.wait_for_function(f"() => ({mime})({at}) === '{wanted}'")
    comment = notebook.cell(0).locator(".cm-line").nth(1).locator("span").first
    expect(comment).to_have_text("# it's Python")


def test_output_tables_and_results_show(lab: Notebook) -> None:
    run(lab, "%%bridge shop\ndef price(name: str) -> int:\n    return len(name)")
    index = run(
        lab,
        "import { price } from 'shop'\n"
        "const fruit = ['apple', 'fig']\n"
        "console.log('prices of', fruit)\n"
        "export default fruit.map((name) => ({ name, price: price(name) }))",
    )
    output = lab.output(index)
    expect(output).to_contain_text("prices of [ 'apple', 'fig' ]")
    expect(output.get_by_role("row").last).to_have_text("1fig3")
    screenshot(lab.page, "kernel-cells")


def test_a_large_result_takes_little_room_and_scrolls(lab: Notebook) -> None:
    rows = "Array.from({ length: 10000 }, (_, id) => ({ id, x: NaN, tags: ['a', id], at: new Date(id) }))"
    output = lab.output(run(lab, f"export default {rows}"))
    expect(output.get_by_text("… 9,950 more rows of 10,000")).to_be_visible()
    _, top, _, bottom = edges(output)
    assert bottom - top < 500
    assert contrast(output.locator(".jp-RenderedHTMLCommon tbody tr td").first) >= 4.5
    table = output.locator(".jp-RenderedHTMLCommon div:has(> table)")
    assert table.evaluate("(box) => box.scrollHeight > box.clientHeight")
    tree = output.locator("details").first
    expect(tree).not_to_have_attribute("open", "open")
    tree.locator("summary").first.click()
    expect(tree.get_by_text("tags: ").first).to_be_attached()


def test_completion_opens_with_tab(lab: Notebook) -> None:
    index = lab.add("")
    editor(lab, index).click()
    lab.page.keyboard.type("import { price } from 'shop'")
    lab.page.keyboard.press("Enter")
    lab.page.keyboard.type("Math.fl")
    offer(lab, "floor")
    lab.page.keyboard.press("Enter")
    expect(editor(lab, index)).to_contain_text("Math.floor")
    lab.page.keyboard.press("Enter")
    lab.page.keyboard.type("JSON.")
    offer(lab, "stringify")
    screenshot(lab.page, "kernel-completion")
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("Escape")


def test_inspection_shows_signature_and_docstring(lab: Notebook) -> None:
    run(
        lab,
        '%%bridge doc\ndef area(width, height=1):\n    """Area of a rectangle."""\n    return 1',
    )
    index = lab.add("import { area } from 'doc'\narea")
    editor(lab, index).click()
    lab.page.keyboard.press("Control+End")
    lab.page.keyboard.press("Shift+Tab")
    tooltip = lab.page.locator(".jp-Tooltip").first
    expect(tooltip).to_contain_text("area(width, height=1)")
    expect(tooltip).to_contain_text("Area of a rectangle.")
    lab.page.keyboard.press("Escape")


def test_an_error_shows_its_line_and_a_caret(lab: Notebook) -> None:
    index = run(lab, "const total = 3\nconst mean = total / coutn\nmean")
    text = lab.output(index).inner_text()
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if line.rstrip().endswith("^"))
    assert lines[at - 1][lines[at].index("^") :] == "coutn"
    assert "ReferenceError" in text
    lab.output(index).scroll_into_view_if_needed()
    screenshot(lab.page, "kernel-error")


def test_the_toolbars_stop_button_ends_an_infinite_loop(lab: Notebook) -> None:
    index = lab.add("console.log('looping')\nfor (;;) {}")
    lab.start(index)
    expect(lab.output(index)).to_contain_text("looping")
    assert lab.is_running(index)
    lab.page.locator('[data-command="notebook:interrupt-kernel"], jp-button[title*="Interrupt"]'
                     ).first.click()  # fmt: skip
    lab.wait(index)
    expect(lab.output(index)).to_contain_text("terminated: interrupted")
    lab.output(index).scroll_into_view_if_needed()
    screenshot(lab.page, "kernel-stopped")
    after = run(lab, "'ready again'")
    expect(lab.output(after)).to_contain_text("'ready again'")


def test_more_output_than_the_server_lets_through_at_once_arrives_whole(lab: Notebook) -> None:
    """Through the server and its limits, but not drawn: that takes the page much longer."""
    seen = lab.page.evaluate(
        """async (code) => {
          const { kernel } = jupyterapp.shell.currentWidget.context.sessionContext.session;
          const future = kernel.requestExecute({ code });
          let text = '', errors = '';
          future.onIOPub = ({ content }) => {
            if (content.name === 'stdout') text += content.text;
            if (content.name === 'stderr') errors += content.text;
          };
          await future.done;
          const odd = text.split('\\n').filter((line) => line !== 'x'.repeat(4999));
          return [text.length, odd, errors];
        }""",
        "for (let i = 0; i < 1000; i++) console.log('x'.repeat(4999))",
    )
    assert seen == [5_000_000, [""], ""]


def test_a_json_result_is_a_tree_of_text(lab: Notebook) -> None:
    index = run(lab, "export default { name: '<b>bold</b>', list: [1, 2, { deep: true }] }")
    output = lab.output(index)
    expect(output).to_contain_text("<b>bold</b>")
    assert output.locator("b").count() == 0
    output.scroll_into_view_if_needed()
    screenshot(lab.page, "kernel-json")
