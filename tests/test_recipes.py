"""The questions of a newcomer have an answer that a search finds, and common tasks stay short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.newcomers import TYPED

ROOT = Path(__file__).resolve().parent.parent

# Lines of code in the example of a task: blank lines and what it prints do not count.
TASKS = {
    "Statistics on a DataFrame, and a chart": 12,
    "One folder of CSV files, read-only": 8,
    "One web API, with a budget": 12,
    "Two thousand snippets": 6,
    "Rules that users wrote, over rows": 12,
    "A server, fifty requests at once": 5,
    "Python that a model wrote": 5,
}


def sections(page: Path) -> list[str]:
    """Each title of the second or third level with the text below it, up to the next."""
    return re.split(r"^(?=##+ )", page.read_text("utf-8"), flags=re.M)


@pytest.mark.parametrize(("typed", "answer"), TYPED.items(), ids=list(TYPED))
def test_a_section_of_the_page_that_answers_has_all_the_words_that_are_typed(
    typed: str, answer: str
) -> None:
    """So `grep` finds them, too; `tests/browser/test_search.py` has the site's search."""
    words = re.findall(r"[\w.]+", typed.lower())
    found = [section.lower() for section in sections(ROOT / f"{answer}.md")]
    assert [section for section in found if all(word in section for word in words)]


@pytest.mark.parametrize(("task", "most"), TASKS.items(), ids=list(TASKS))
def test_a_common_task_takes_few_lines(task: str, most: int) -> None:
    recipes = sections(ROOT / "docs" / "recipes.md")
    (section,) = (each for each in recipes if each.startswith(f"### {task}\n"))
    (code,) = re.findall(r"^```python[^\n]*\n(.*?)^```$", section, flags=re.S | re.M)
    lines = [line for line in code.splitlines() if line.strip() and not line.startswith("#>")]
    assert 0 < len(lines) <= most


def test_the_index_lists_every_page_and_every_question_of_the_recipes() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {name for name in pages if f"({name})" not in index} == set()
    for section in sections(ROOT / "docs" / "recipes.md"):
        title = section.partition("\n")[0].removeprefix("### ")
        if title.endswith("?"):
            assert f"[{title}" in index or f"[{title[:-1]}" in index, title
