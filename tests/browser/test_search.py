"""The search of the site, offline: what newcomers type finds the page that answers it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.newcomers import TYPED
from tests.test_site import build


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build("html", folder)
    return folder


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(offline=True)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(("typed", "answer"), TYPED.items(), ids=list(TYPED))
def test_the_answer_is_among_the_first_three_pages_that_are_found(
    site: Path, reader: Page, typed: str, answer: str
) -> None:
    assert answer in found(site, reader, typed)[:3]


def test_what_no_page_has_finds_nothing(site: Path, reader: Page) -> None:
    assert found(site, reader, "zzyzx") == []


def found(site: Path, reader: Page, typed: str) -> list[str]:
    """The pages, best first; a page whose section is found by itself is there once."""
    reader.goto(f"{site.as_uri()}/search.html?q={quote_plus(typed)}")
    expect(reader.locator(".search-summary")).to_have_text(re.compile("finished|did not match"))
    links = reader.locator("ul.search > li > a").evaluate_all("(all) => all.map((a) => a.pathname)")
    pages = (Path(link).relative_to(site).with_suffix("") for link in links)
    return list(dict.fromkeys(map(str, pages)))
