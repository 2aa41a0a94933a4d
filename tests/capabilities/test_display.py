"""`display()`: tables, charts and images are the host's; nothing of a guest's becomes markup."""

from __future__ import annotations

import json
import os
import re
import struct
import zlib
from typing import Any
from xml.etree import ElementTree

import pytest

from sandbox_kernel import OptionError, run_code
from sandbox_kernel.capabilities import display
from sandbox_kernel.capabilities.charts import chart_display, chart_of
from sandbox_kernel.capabilities.images import image_display
from sandbox_kernel.capabilities.scales import linear, logarithmic, temporal
from sandbox_kernel.capabilities.tables import table_display

ALLOWED = {
    "svg",
    "title",
    "defs",
    "clipPath",
    "rect",
    "g",
    "line",
    "polyline",
    "polygon",
    "circle",
    "text",
}


def run(source: str, **given: Any) -> Any:
    return run_code(source, lend=[display()], **given).wait(60)


def parsed(svg: str) -> ElementTree.Element:
    """An SVG with nothing but shapes and texts in it."""
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in ALLOWED
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            assert "href" not in name
            assert not re.search(r"url\((?!#plot-[0-9a-f]{8}\))", value)
    return root


def texts(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in parsed(svg).iter() if each.tag.endswith("text")]


def test_what_a_run_shows_is_in_its_result() -> None:
    source = """import { table } from 'display'; import d from 'node:display';
    table([{ a: 1, b: 'x' }], { title: 'T' }); chart({ mark: 'bar', data: [{ n: 'p', v: 1 }], x: 'n', y: 'v', title: 'C' });
    display.image({ width: 1, height: 1, data: new Uint8ClampedArray([255, 0, 0, 255]) }, { alt: 'red' }); d.table([[1, 2]]);
    export default 1"""
    result = run(source)
    assert result.unwrap() == 1
    assert [sorted(each) for each in result.displays] == [
        ["text/html", "text/plain"], ["image/svg+xml", "text/plain"], ["image/png", "text/plain"], ["text/html", "text/plain"],
    ]  # fmt: skip
    assert result.displays[0]["text/plain"] == "T\na  b\n1  x"
    assert result.displays[2]["text/plain"] == "red"
    shape = json.loads(json.dumps(result.to_json()))
    assert shape["displays"][2]["image/png"].startswith("iVBOR")


def test_each_is_given_live() -> None:
    seen: list[Any] = []
    run_code("table([{a: 1}]); table([{a: 2}])", lend=[display(show=seen.append)]).wait()
    assert len(seen) == 2


def test_nobody_would_await_a_coroutine() -> None:
    async def later(shown: Any) -> None: ...

    with pytest.raises(OptionError, match="a plain function"):
        display(later)


def test_a_result_without_displays_has_none() -> None:
    result = run("export default 1")
    assert result.displays == []
    assert "displays" not in result.to_json()


HOSTILE = [
    "<script>alert(1)</script>", "</text><script>x</script>", "</svg><img src=x onerror=y>", '"><foreignObject>', "' onload='x", "&lt;b&gt;", "]]>", "<!--",
    "<!ENTITY x SYSTEM 'file:///etc/passwd'>", "url(http://evil)", "javascript:x", "\u202eevil\u2066", "\x1b[31m", "\ud800", "\x00", "\ufffe\uffff", "{{x}}", "</title><script>", "a" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts_in_every_field(text: str) -> None:
    rows = [{text: text, "v": 1, "t": text}, {text: "b", "v": 2, "t": "z"}]
    for mark in ("line", "bar", "area", "point"):
        svg = chart_display(
            {"mark": mark, "data": rows, "x": text, "y": "v", "color": "t", "title": text}
        )["image/svg+xml"]
        assert "<script" not in svg
        parsed(svg)
        svg.encode("utf-8")
    html = table_display(rows, {"title": text})["text/html"]
    tags = set(re.findall(r"<\s*/?\s*([a-zA-Z!]+)", html))
    assert tags <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert not re.search(r"<[^>]*\son\w+=", html)
    html.encode("utf-8")
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert image_display({"width": 1, "height": 1, "data": bytes(4)}, {"alt": text})["text/plain"]


@pytest.mark.parametrize(
    "given",
    ["{}", "{ mark: 'pie', data: [1] }", "{ data: [] }", "{ data: 'x' }", "{ data: [{ a: 'x' }], y: 'a' }", "{ data: [{ a: 1 }], y: 'b' }", "{ data: [1], spec: {} }",
     "{ data: [1], title: {} }", "undefined", "'<svg>'", "{ data: [{ a: -1 }], y: 'a', log: true }", "{ data: [{ a: NaN }, { a: Infinity }], y: 'a' }", "{ mark: 'histogram', data: ['a'] }",
     "{ data: new Proxy([1], {}) , svg: '<svg>' }"],
)  # fmt: skip
def test_what_cannot_be_drawn_is_told_to_the_guest(given: str) -> None:
    source = f"let said; try {{ chart({given}) }} catch (e) {{ said = `${{e.name}}: ${{e.message}}` }} export default said"
    said = run(source).unwrap()
    assert re.match("(Type|Value)Error: .", said)


def test_a_wrong_field_names_those_that_are_there() -> None:
    with pytest.raises(ValueError, match="names the field 'totl', which no row has: day, total"):
        chart_of({"data": [{"day": 1, "total": 2}], "x": "day", "y": "totl"})
    with pytest.raises(TypeError, match="did you mean 'line'"):
        chart_of({"mark": "lin", "data": [1]})


@pytest.mark.parametrize("mark", ["line", "bar", "area", "point", "histogram"])
@pytest.mark.parametrize("count", [1, 2, 50, 100_000])
def test_any_number_of_points_gives_a_sensible_picture(mark: str, count: int) -> None:
    rows = [{"x": at, "y": (at * 7919) % 1000} for at in range(count)]
    rows[count // 2]["y"] = 5000
    svg = chart_display({"mark": mark, "data": rows, "x": "x", "y": "y", "title": "t"})[
        "image/svg+xml"
    ]
    parsed(svg)
    assert len(svg) < 400_000
    assert "nan" not in svg.lower().replace("nance", "")
    if count == 100_000 and mark in ("line", "area", "point"):
        assert re.search(r"[45],\d{3} of 100,000 points", svg)


def test_a_spike_survives_thinning() -> None:
    rows = [{"x": at, "y": 0} for at in range(100_000)]
    rows[77_777]["y"] = 1000
    chart = chart_of({"mark": "line", "data": rows, "x": "x", "y": "y"})
    assert (77_777.0, 1000.0) in chart.series[""]
    assert sum(map(len, chart.series.values())) <= 5_000


@pytest.mark.parametrize(
    "values",
    [[0, 0], [1e-300, 2e-300], [-1e299, 1e299], [5], [1, 1 + 1e-12], [10**400, 1], [-3, -1]],
)
def test_extreme_numbers_end_in_a_picture(values: list[float]) -> None:
    svg = chart_display(
        {
            "mark": "line",
            "data": [{"x": at, "y": v} for at, v in enumerate(values)],
            "x": "x",
            "y": "y",
        }
    )["image/svg+xml"]
    assert len(texts(svg)) < 60
    assert "inf" not in svg


def test_many_series_become_ten_and_the_others() -> None:
    rows = [{"x": at % 3, "y": at, "c": f"s{at % 40}"} for at in range(120)]
    chart = chart_of({"mark": "point", "data": rows, "x": "x", "y": "y", "color": "c"})
    assert len(chart.series) == 11
    svg = chart_display({"mark": "point", "data": rows, "x": "x", "y": "y", "color": "c"})[
        "image/svg+xml"
    ]
    assert "others" in texts(svg)
    assert len(set(re.findall(r'rx="2" fill="(#\w+)"', svg))) == 11


@pytest.mark.parametrize("mark", ["bar", "line"])
def test_long_names_keep_the_ends_that_tell_them_apart(mark: str) -> None:
    names = [f"{'A very long name of a category, ' * 3}number {at}" for at in range(9)]
    rows = [{"name": name, "group": name, "v": 1} for name in names]
    given = {"mark": mark, "data": rows, "x": "name", "y": "v", "color": "group"}
    shown = [text for text in texts(chart_display(given)["image/svg+xml"]) if "…" in text]
    assert len(shown) == len(set(shown)) == 18
    assert all(text.count("…") == 1 for text in shown)


def test_a_chart_brings_paper_that_its_texts_stand_out_from_on_a_page_of_any_theme() -> None:
    root = parsed(chart_display({"mark": "line", "data": [3, 1, 4]})["image/svg+xml"])
    paper = next(each for each in root if each.tag.endswith("rect"))
    assert [paper.get("width"), paper.get("height")] == [root.get("width"), root.get("height")]
    assert all("fill" not in each.attrib for each in root.iter() if each.tag.endswith("text"))
    assert contrast(paper.attrib["fill"], root.attrib["fill"]) > 4.5


def contrast(one: str, other: str) -> float:
    """As WCAG defines it, of two colours such as #595959."""
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(("lowest", "count"), [(-2, 1), (2, 0)])
def test_bars_stand_on_the_line_of_zero(lowest: int, count: int) -> None:
    """Those below zero hang from it."""
    rows = [{"n": "a", "v": 4}, {"n": "b", "v": lowest}]
    svg = chart_display({"mark": "bar", "data": rows, "x": "n", "y": "v"})["image/svg+xml"]
    lines = [each.attrib for each in parsed(svg).iter() if each.tag.endswith("line")]
    (axis,) = [line for line in lines if line["stroke"] == "#595959" and line["y1"] == line["y2"]]
    bars = [each.attrib for each in parsed(svg).iter() if each.get("fill") == "#4c82c3"]
    assert [bar["y"] for bar in bars].count(axis["y1"]) == count
    assert float(bars[0]["y"]) + float(bars[0]["height"]) == pytest.approx(
        float(axis["y1"]), abs=0.2
    )


def test_ticks_are_round_and_readable() -> None:
    assert [label for _, label in linear(0, 97).ticks] == ["0", "20", "40", "60", "80", "100"]
    assert [label for _, label in linear(0, 0.5).ticks] == ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]
    assert [label for _, label in linear(0, 3e6).ticks] == [
        "0",
        "500,000",
        "1M",
        "1.5M",
        "2M",
        "2.5M",
        "3M",
    ]
    assert [label for _, label in logarithmic(1, 900).ticks] == ["1", "10", "100", "1,000"]
    year = temporal(1767225600, 1767225600 + 300 * 86400).ticks
    assert [label for _, label in year] == [
        "Jan 2026",
        "Mar 2026",
        "May 2026",
        "Jul 2026",
        "Sep 2026",
    ]
    assert [label for _, label in linear(9.8765432e7, 9.8765433e7).ticks][:2] == [
        "98.765432M",
        "98.7654322M",
    ]
    assert [label for _, label in linear(0, 3, least_step=1).ticks] == ["0", "1", "2", "3"]
    assert 2 <= len(temporal(0, 3600).ticks) <= 8
    assert 2 <= len(temporal(0, 80 * 365 * 86400).ticks) <= 8


@pytest.mark.parametrize("low", [0, 1, -1, 1e-9, 12345, 98765432, 1e12, 3e15, -7e20])
@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9])
def test_no_two_ticks_read_the_same(low: float, share: float) -> None:
    labels = [label for _, label in linear(low, low + (abs(low) or 1) * share).ticks]
    assert len(labels) == len(set(labels)) > 2


@pytest.mark.parametrize("count", [1, 3])
def test_a_histogram_counts_in_whole_numbers(count: int) -> None:
    shown = texts(chart_display({"mark": "histogram", "data": [7] * count})["image/svg+xml"])
    assert {"0", str(count), "1 value" if count == 1 else "3 values"} <= set(shown)
    assert {"0.5", "0.2", "1.5"}.isdisjoint(shown)


def test_wide_letters_take_the_room_of_two() -> None:
    wide = "日本語の名前です" * 20
    rows = [{wide: f"{at}{wide}{at}", "v": 1} for at in range(9)]
    given = {"mark": "line", "data": rows, "x": wide, "y": "v", "color": wide, "title": wide}
    shown = [text for text in texts(chart_display(given)["image/svg+xml"]) if "…" in text]
    title, *others = sorted(shown, key=len, reverse=True)
    assert 30 < len(title) <= 34
    assert {max(map(len, others)), min(map(len, others))} == {30, 7}


def test_dates_in_texts_and_moments_make_an_axis_of_time() -> None:
    assert (
        chart_of(
            {"data": [{"d": "2026-01-01", "v": 1}, {"d": "2026-02-01", "v": 2}], "x": "d", "y": "v"}
        ).x_axis
        == "time"
    )
    source = "chart({ mark: 'line', data: [{ d: new Date(0), v: 1 }, { d: new Date(1e12), v: 2 }], x: 'd', y: 'v' })"
    assert "1980" in "".join(texts(run(source).displays[0]["image/svg+xml"]))


def test_a_table_is_cut_and_tells_the_counts() -> None:
    made = table_display([{f"c{at}": at for at in range(30)} for _ in range(250)])
    assert made["text/html"].count("<tr>") == 101
    assert made["text/html"].count("<th ") == 20
    assert "100 of 250 rows, 20 of 30 columns" in made["text/html"]
    assert made["text/plain"].count("\n") == 101


def test_columns_are_chosen_and_numbers_stand_right() -> None:
    made = table_display({"name": ["a", "bb"], "n": [1, 20.5]}, {"columns": ["n", "name"]})
    assert made["text/plain"] == "   n  name\n   1  a\n20.5  bb"
    assert '<td style="text-align: right">20.5</td>' in made["text/html"]


def png(width: int, height: int, *chunks: tuple[bytes, bytes]) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    every = [(b"IHDR", head), *chunks, (b"IDAT", zlib.compress(b"\0" * 5)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in every
    )


def test_pixels_become_a_png() -> None:
    data = image_display({"width": 2, "height": 1, "data": bytes([1, 2, 3, 4, 5, 6, 7, 8])})[
        "image/png"
    ]
    assert data.startswith(b"\x89PNG")
    at = data.index(b"IDAT")
    length = struct.unpack(">I", data[at - 4 : at])[0]
    assert zlib.decompress(data[at + 4 : at + 4 + length]) == b"\0\1\2\3\4\5\6\7\x08"


@pytest.mark.parametrize(
    "data",
    [b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", b"GIF89a" + b"\0" * 20, b"<html>", b"", b"\x89PNG\r\n\x1a\n", png(5000, 5000), png(1, 1, (b"acTL", b"\0" * 8)),
     b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\0\0\0\0\0\0" + b"\0" * 20, b"x" * (4 * 2**20 + 1), "data:image/png;base64,x", None, 5,
     {"width": 10**6, "height": 10**6, "data": b""}, {"width": 1, "height": 1, "data": b"123"}, {"width": -1, "height": 1, "data": b""}, {"width": 1.5, "height": 1, "data": b""}, {"width": 1}],
)  # fmt: skip
def test_what_is_no_picture_is_refused(data: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        image_display(data)


def test_a_picture_is_given_as_it_is() -> None:
    data = png(3, 2)
    assert image_display(data, {"alt": "a"}) == {"image/png": data, "text/plain": "a"}


def test_a_run_shows_at_most_fifty() -> None:
    source = "let n = 0, said; try { for (;;) { table([{ a: 1 }]); n++; } } catch (e) { said = e.name } export default [n, said]"
    result = run(source)
    assert result.unwrap() == [50, "LimitError"]
    assert len(result.displays) == 50


def test_pictures_of_noise_may_be_too_large() -> None:
    noise = os.urandom(1100 * 1100 * 4)
    source = "let said; try { image({ width: 1100, height: 1100, data }) } catch (e) { said = e.name } export default said"
    assert run(source, globals={"data": noise}).unwrap() == "LimitError"
