"""Whatever the sandbox sends shows as text and does nothing, in both faces.

The attack comes first: strings that would run script, load something, break out of an attribute,
reorder what a reader sees or drown the page, on every path from the guest to the screen.
"""

from __future__ import annotations

import json

from playwright.sync_api import Dialog, Page, expect

from tests.browser.conftest import OpenNotebook
from tests.browser.faces import Face, both_faces
from tests.browser.lab import screenshot

STRINGS = [
    "<img src=x onerror=\"window.pwned='img'\">",
    "<script>window.pwned='script'</script>",
    "<svg onload=\"window.pwned='svg'\">",
    '"><b onmouseover="window.pwned=\'attr\'" autofocus onfocus="window.pwned=\'focus\'">',
    "javascript:window.pwned='link'",
    "[click](javascript:window.pwned='markdown')",
    "$\\href{javascript:window.pwned='latex'}{x}$",
    "${window.pwned='template'}",
    "</script><style>*{display:none!important}</style>",
    "<iframe srcdoc=\"<script>parent.pwned='frame'</script>\"></iframe>",
    "\u202egnp.exe\u202c",
    "a\u0000\u0007\u001b[31mred\u001b[0m\u009b2J",
    "\u2066isolated\u2069\u200f",
    "__proto__",
    "constructor",
    "Z" * 2_000_000,
    "e" + "\u0301" * 500,
]

ATTACK = """%%runcode
const strings = JSON.parse(STRINGS);
for (const s of strings) {
  report(s);
  report({ [s]: s });
  report({ [s]: { [s]: [s] } });
  report({ progress: 0.5, label: s });
  report(new Map([[s, s]]));
  report(new Error(s));
  const line = s.slice(0, 20_000); // JupyterLab itself is slow with longer lines of stdout
  console.log(line, { [line]: line });
  console.error(line);
  console.table([{ [s.slice(0, 50)]: s.slice(0, 50) }]);
}
""".replace("STRINGS", json.dumps(json.dumps(STRINGS)))

# Shows in a result, in an error's name and message, in the name of a class.
RESULT = ATTACK.replace("for (const s of strings) {", "for (const s of []) {") + (
    "export default strings.map((s) => ({ [s]: s, list: [s] }));"
)
ERROR = ATTACK.replace("for (const s of strings) {", "for (const s of []) {") + (
    "report(1); const e = new Error(strings.slice(0, 14).join('\\n')); e.name = strings[0]; throw e;"
)
LINK = "%%runcode\nimport x from \"<img src=x onerror=window.pwned='link'>\";\nreport(1);"


@both_faces
def test_hostile_strings_do_nothing_but_show_as_text(
    open_notebook: OpenNotebook, page: Page, face: Face
) -> None:
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    cells = [*face.setup, ATTACK, RESULT, ERROR, LINK]
    notebook, at = open_notebook(cells, face.kernel), len(face.setup)
    for index in range(len(cells)):
        notebook.run(index, timeout=60)
    view = notebook.view(at)
    expect(view.locator(".run-word")).to_have_text("Finished")
    _look_everywhere(view)
    _expect_inert(page)

    view.get_by_role("tab", name="Reports").click()
    view.get_by_label("Filter").fill("onerror")
    expect(view.get_by_role("treeitem").first).to_contain_text("<img src=x onerror=")
    view.get_by_label("Filter").fill("gnp.exe")
    expect(view.get_by_role("treeitem").first).to_contain_text("\\u202Egnp.exe")
    view.get_by_label("Filter").fill("ZZZZ")
    expect(view.get_by_role("treeitem").first).to_contain_text("1,999,000 more characters")
    view.get_by_label("Filter").fill("")
    screenshot(view, f"live-view-{face.name}-hostile")

    expect(notebook.output(at + 1)).to_contain_text("<script>window.pwned=")
    expect(notebook.output(at + 2)).to_contain_text("<svg onload=")
    expect(notebook.output(at + 3)).to_contain_text("<img src=x onerror=")
    notebook.save()
    notebook.open()
    expect(notebook.view(at).locator(".run-word")).to_have_text("Finished", timeout=30_000)
    _look_everywhere(notebook.view(at))
    _expect_inert(page)
    assert dialogs == []


def _look_everywhere(view: object) -> None:
    """Open every tab and every item, and go over it with the pointer."""
    for name in ("Reports", "Table", "Console"):
        tab = view.get_by_role("tab", name=name)  # type: ignore[attr-defined]  # a locator
        if tab.is_visible():
            tab.click()
            view.evaluate(_OPEN_AND_HOVER)  # type: ignore[attr-defined]  # a locator


_OPEN_AND_HOVER = """(view) => {
  for (const item of view.querySelectorAll('[aria-expanded="false"] > .run-line')) item.click();
  for (const element of view.querySelectorAll("*"))
    element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
}"""


def _expect_inert(page: Page) -> None:
    page.wait_for_timeout(300)
    assert page.evaluate("() => window.pwned") is None
    found = page.evaluate(_ACTIVE_CONTENT)
    assert found == []


# Nothing under an output may load, run, link or style, and no character may reorder its text.
_ACTIVE_CONTENT = """() => {
  const found = [];
  for (const area of document.querySelectorAll(".jp-OutputArea-output")) {
    for (const element of area.querySelectorAll("*")) {
      const bad = "script style iframe object embed link img form base meta".split(" ");
      if (bad.includes(element.localName)) found.push(element.outerHTML.slice(0, 200));
      for (const { name, value } of element.attributes)
        if (name.startsWith("on") || /^\\s*javascript:/i.test(value)) found.push(`${name}=${value}`);
    }
    if (/[\\u202a-\\u202e\\u2066-\\u2069\\u0000\\u0007\\u001b\\u009b]/.test(area.textContent))
      found.push("a character that hides or reorders text");
  }
  return found;
}"""
