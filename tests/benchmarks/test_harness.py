"""The benchmark's own machinery does the work it says it times. No timing is judged here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace

import pytest

from benchmarks import bounds, chart, report, scaling, work
from benchmarks.measure import ROWS, Figure
from benchmarks.peer import OURS, PEERS, Driver, Failed, Missing


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    driver = Driver(OURS)
    yield driver
    driver.close()


@pytest.mark.parametrize(
    ("kind", "program"),
    [
        ("timed", work.TRIVIAL),
        ("timed", work.TYPED),
        ("timed", work.objects(20)),
        ("timed", work.rich_objects(20)),
        ("timed", work.FLOATS),
        ("timed", work.source_of(2)),
        ("timed", work.typed_lines(20)),
        ("timed", work.plain_lines(20)),
        ("sync_calls", work.sync_calls(5)),
        ("async_calls", work.async_calls(5)),
        ("reports", work.reports(5)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_our_adapter_does_the_work_and_gives_what_is_expected(
    driver: Driver, kind: str, program: work.Program
) -> None:
    answer = driver.ask(kind, program.forms(), 1)
    assert answer["value"] == program.expect
    assert len(answer["seconds"]) == 1


@pytest.mark.parametrize(
    "program", [work.LOOP, work.REGEX, work.BUILTIN], ids=["loop", "regex", "builtin"]
)
def test_our_adapter_terminates_what_never_ends(driver: Driver, program: work.Program) -> None:
    assert driver.ask("terminate", program.forms(), 1)["seconds"][0] > 0


def test_a_cold_start_is_a_new_process_with_one_result() -> None:
    assert Driver(OURS).cold(work.TYPED.forms()) > 0


def test_work_that_a_peer_does_not_know_is_missing_and_work_that_raises_has_failed(
    driver: Driver,
) -> None:
    with pytest.raises(Missing):
        driver.ask("nothing of the kind", work.TRIVIAL.forms(), 1)
    with pytest.raises(Failed, match="boom"):
        driver.ask("timed", work.Program("throw new Error('boom');", "1").forms(), 1)


def test_the_exponent_of_linear_and_of_quadratic_growth_is_found_despite_a_fixed_cost() -> None:
    sizes = (0, 10, 20, 40, 80)
    linear = scaling.exponent([(n, 0.5 + 2 * n) for n in sizes])
    quadratic = scaling.exponent([(n, 0.5 + 2 * n * n) for n in sizes])
    assert linear == pytest.approx(1, abs=0.02)
    assert quadratic == pytest.approx(2, abs=0.02)


def _table() -> dict[str, dict[str, Figure]]:
    figures = {peer.name: Figure(0.002, 0.004) for peer in PEERS}
    figures[OURS.name] = Figure(0.001, 0.002)
    figures["jsrun"] = Figure(0.0005, 0.001)
    figures["Deno"] = Figure(problem="nothing after 15 s")
    return {row.key: figures for row in ROWS}


def test_the_table_gives_every_ratio_and_marks_where_a_peer_is_ahead() -> None:
    text = report.main_table(list(ROWS), _table())
    assert "2.00 ms, p99 4.00 ms (2×)" in text
    assert "(**0.5×**)" in text
    assert "does not stop" in text
    behind = report.where_peers_win(list(ROWS), _table())
    assert "jsrun (0.5×)" in behind
    assert "quickjs-rs" not in behind.split("runs per second")[0]


def test_the_chart_is_one_svg_with_a_mark_for_every_ratio() -> None:
    from xml.etree import ElementTree

    drawn = ElementTree.fromstring(chart.draw(list(ROWS), _table()))
    titles = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == len(ROWS) * (len(PEERS) - 2)
    assert "jsrun: 0.5×" in titles


def test_what_a_hostile_guest_costs_is_measured_and_spelled() -> None:
    cost = bounds.measure(["plain text"])["plain text"]
    assert min(cost.turn, cost.wall, cost.kept, cost.peak, cost.answered) > 0
    found = {
        "messages": {
            "plain text": asdict(replace(cost, turn=0.02)),  # it takes longer on a busy machine
            "logs": asdict(bounds.Cost(turn=0.049)),
        },
        "turns": {"shown": 0.02},
        "interrupts": {"shown": 0.1, "decoded": 0.12},
    }
    assert "| while a value is decoded |  | 120 ms |" in bounds.table(found)
    assert "a turn of 49 ms" in bounds.promise(found)


def test_every_kind_of_hostile_message_has_a_row() -> None:
    rows = bounds.table({"messages": {}, "turns": {}, "interrupts": {}})
    assert all(form in rows for form in bounds.FORMS.values())
    assert set(bounds.LINES) < set(bounds.messages())
