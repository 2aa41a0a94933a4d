"""The questions of a newcomer have an answer that a search finds, and common tasks stay short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# What somebody would type into a search box.
QUESTIONS = {
    "How do I set a timeout?": "set timeout terminate_after",
    "How do I pass a DataFrame?": "pass DataFrame records columns",
    "How do I get a chart or an image out?": "chart image",
    "How do I call a bridge with keyword arguments, and what crosses?": "keyword arguments crosses",
    "How do I use an npm package, such as lodash?": "npm package lodash modules_from",
    "What happens on cancel, or when the client is gone?": "cancel client",
    "How many run at once, and what happens to the ninth?": "at once queue wait",
    "Does it work in Docker, Kubernetes, VS Code, Colab?": "Docker Kubernetes VS Code Colab",
    "Where is the Python traceback of my bridge?": "Python traceback bridge",
    "How do I keep a value for the next cell?": "keep value next cell --keep",
}

# Lines of code in the example of a task: blank lines and what it prints do not count.
TASKS = {
    "Statistics on a DataFrame, and a chart": 12,
    "One folder of CSV files, read-only": 8,
    "One web API, with a budget": 12,
    "Two thousand snippets": 6,
    "Rules that users wrote, over rows": 12,
    "A server, fifty requests at once": 4,
    "Python that a model wrote": 5,
}


def sections(page: Path) -> list[str]:
    """Each title of the second or third level with the text below it, up to the next."""
    return re.split(r"^(?=##+ )", page.read_text("utf-8"), flags=re.M)


@pytest.mark.parametrize(("question", "words"), QUESTIONS.items(), ids=list(QUESTIONS))
def test_a_search_for_the_words_of_a_question_finds_its_answer(question: str, words: str) -> None:
    found = [
        page.name
        for page in (ROOT / "docs").glob("*.md")
        for section in sections(page)
        if all(word.lower() in section.lower() for word in words.split())
    ]
    assert found, question


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
