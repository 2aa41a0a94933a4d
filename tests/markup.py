"""What a browser would make of HTML that the host has made."""

from __future__ import annotations

from html.parser import HTMLParser

OURS = {"code", "details", "div", "path", "span", "summary", "svg", "table", "tbody", "td", "th", "thead",
        "tr"}  # fmt: skip
STYLED = {"style", "class", "open"}
DRAWN = {"d", "fill", "stroke", "stroke-width", "viewbox", "width", "height"}


class Reader(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.math: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if ("$" in data or "\\" in data) and not {"code", "pre"} & set(self._open):
            self.math.append(data)


def check_inert(html: str) -> Reader:
    """Only elements and attributes of ours, and no LaTeX that a front end would render."""
    read = Reader(html)
    assert set(read.tags) <= OURS
    assert read.attributes <= STYLED | DRAWN
    assert read.math == []
    return read
