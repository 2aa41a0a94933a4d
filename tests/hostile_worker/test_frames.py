"""What a worker may say, and what happens when it says anything else: the run ends, the host goes on."""

from __future__ import annotations

import json
import struct
import threading
from typing import Any

import pytest

from sandbox_kernel import one_way, run_code
from sandbox_kernel.wire import messages
from sandbox_kernel.wire.messages import (
    AT,
    CALL,
    CALLS,
    FAILED,
    FILTERED,
    FINISHED,
    GUEST_RETURN,
    GUEST_THROW,
    LOG,
    PROCESS_ONLY,
    READY,
    REJECTED,
    REPORT,
    RESOLVED,
    VERSION,
)
from tests.hostile_worker.fake import face, finished, frame, is_crash, ready, value
from tests.waiting import until


def test_a_well_behaved_worker_succeeds() -> None:
    """The control: this much is not an attack."""
    result = face(ready(), value(REPORT, 1), finished([1, 2]))
    assert (result.status, result.result, result.reports) == ("success", [1, 2], [1])


FAILURE = {
    "status": "error", "name": "E", "message": "m", "stack": None, "specifier": None,
    "filename": None, "line": 1, "column": 1, "engine": False,
}  # fmt: skip


def failure(**changed: Any) -> bytes:
    return frame(FAILED, json.dumps(FAILURE | changed))


def log(*entry: Any) -> bytes:
    return value(LOG, list(entry))


LYING = {
    "a_frame_too_small_to_be_one": struct.pack("<IIIII", 15, REPORT, 0, 0, 0),
    "a_frame_of_size_zero": bytes(64),
    "text_longer_than_its_frame": struct.pack("<IIIII", 16, REPORT, 0, 0, 99),
    "text_shorter_than_its_frame": struct.pack("<IIIII", 20, REPORT, 0, 0, 1) + b"P123",
    "attachments_without_sizes": struct.pack("<IIIII", 16, REPORT | 9 << 8, 0, 0, 0),
    "attachments_that_do_not_add_up": struct.pack("<IIIIII", 20, REPORT | 1 << 8, 0, 0, 0, 7),
    "a_kind_of_the_host": frame(messages.RUN, "P1"),
    "a_kind_that_does_not_exist": frame(200, "P1"),
    "an_answer_nobody_asked_for": value(GUEST_RETURN, 1, a=1),
    "an_error_nobody_asked_for": frame(GUEST_THROW, 'T[[0],["e","E","m",null]]', 1),
    "a_promise_nobody_lent": value(RESOLVED, 1, a=1),
    "a_rejection_nobody_lent": value(REJECTED, 1, a=1),
    "a_bridge_that_was_never_lent": value(CALL, [], a=1, b=0),
    "a_bridge_far_beyond_the_last": value(CALL, [], a=1, b=0xFFFFFFFF),
    "a_value_without_a_form": frame(REPORT, ""),
    "a_value_of_unknown_form": frame(REPORT, "Q1"),
    "a_value_that_is_not_json": frame(REPORT, "P{"),
    "a_value_that_is_not_utf8": frame(REPORT, b'P"\xff"'),
    "a_value_of_surrogates_as_bytes": frame(REPORT, b'P"\xed\xa0\x80"'),
    "plain_data_nested_a_million_deep": frame(REPORT, "P" + "[" * 1_000_000 + "]" * 1_000_000),
    "a_table_nested_a_million_deep": frame(REPORT, "T" + "[" * 1_000_000 + "]" * 1_000_000),
    "a_table_that_is_an_object": frame(REPORT, "T{}"),
    "an_empty_table": frame(REPORT, "T[]"),
    "a_node_that_is_not_a_list": frame(REPORT, "T[[0],1]"),
    "a_node_that_is_empty": frame(REPORT, "T[[0],[]]"),
    "a_node_of_unknown_kind": frame(REPORT, 'T[[0],["z"]]'),
    "a_node_whose_kind_is_a_list": frame(REPORT, 'T[[0],[["a"]]]'),
    "a_node_whose_kind_is_a_method": frame(REPORT, 'T[[0],["_item",1]]'),
    "a_reference_beyond_the_table": frame(REPORT, 'T[[1],["a"]]'),
    "a_reference_before_the_table": frame(REPORT, 'T[[-1],["a"]]'),
    "a_reference_that_is_true": frame(REPORT, 'T[[true],["a"]]'),
    "an_item_of_three": frame(REPORT, "T[[1,2,3]]"),
    "an_item_that_is_an_object": frame(REPORT, "T[{}]"),
    "a_bigint_that_is_not_a_number": frame(REPORT, 'T[["b","zz"]]'),
    "a_bigint_that_is_a_list": frame(REPORT, 'T[["b",[]]]'),
    "a_number_that_is_not_one": frame(REPORT, 'T[["n","x"]]'),
    "a_number_that_is_a_list": frame(REPORT, 'T[["n",[]]]'),
    "an_object_with_half_a_field": frame(REPORT, 'T[[0],["o","a"]]'),
    "an_object_whose_key_is_a_number": frame(REPORT, 'T[[0],["o",1,2]]'),
    "a_map_with_half_an_entry": frame(REPORT, 'T[[0],["m",1]]'),
    "a_date_that_is_text": frame(REPORT, 'T[[0],["d","x"]]'),
    "a_date_that_is_a_list": frame(REPORT, 'T[[0],["d",[]]]'),
    "a_date_beyond_time": frame(REPORT, 'T[[0],["d",1e300]]'),
    "a_date_that_is_infinite": frame(REPORT, 'T[[0],["d",Infinity]]'),
    "an_error_with_a_number_for_a_name": frame(REPORT, 'T[[0],["e",1,"m",null]]'),
    "an_error_cut_short": frame(REPORT, 'T[[0],["e"]]'),
    "binary_that_is_not_attached": frame(REPORT, 'T[[0],["x","Uint8Array",0]]'),
    "binary_of_an_unknown_type": frame(REPORT, 'T[[0],["x","Nope",0]]', 0, 0, b"1234"),
    "binary_of_a_broken_size": frame(REPORT, 'T[[0],["x","Float64Array",0]]', 0, 0, b"1234"),
    "half_floats_of_a_broken_size": frame(REPORT, 'T[[0],["x","Float16Array",0]]', 0, 0, b"123"),
    "binary_used_twice": frame(
        REPORT, 'T[[0],["a",[1],[2]],["x","Uint8Array",0],["x","Uint8Array",0]]', 0, 0, b"1234"
    ),
    "a_function_of_a_negative_number": frame(REPORT, 'T[[0],["f",-1,"f"]]'),
    "a_function_whose_name_is_a_list": frame(REPORT, 'T[[0],["f",1,[]]]'),
    "a_promise_lent_twice": frame(REPORT, 'T[[0],["a",[1],[2]],["p",1],["p",1]]'),
    "a_function_in_a_log": frame(LOG, 'T[[0],["a","log","log",0,0,[1]],["f",1,"f"]]'),
    "a_log_that_is_not_a_list": value(LOG, 1),
    "a_log_of_an_unknown_level": log("alert", "log", 0, 0, []),
    "a_log_at_a_negative_depth": log("log", "log", -1, 0, []),
    "a_log_at_a_huge_depth": log("log", "log", 1 << 40, 0, []),
    "a_log_whose_time_is_text": log("log", "log", 0, "now", []),
    "a_log_whose_time_is_nan": frame(LOG, 'P["log","log",0,NaN,[]]'),
    "a_log_whose_time_is_endless": frame(LOG, 'P["log","log",0,1e999,[]]'),
    "a_log_whose_time_is_a_huge_int": log("log", "log", 0, 10**400, []),
    "a_log_whose_arguments_are_text": log("log", "log", 0, 0, "abc"),
    "a_failure_that_is_not_json": frame(FAILED, "{"),
    "a_failure_that_is_a_list": frame(FAILED, "[]"),
    "a_failure_without_a_name": frame(FAILED, '{"status": "error"}'),
    "a_failure_that_succeeded": failure(status="success"),
    "a_failure_that_was_terminated": failure(status="terminated"),
    "a_failure_of_unknown_status": failure(status="fine"),
    "a_failure_whose_status_is_a_list": failure(status=[]),
    "a_failure_whose_line_is_text": failure(line="1"),
    "a_failure_whose_line_is_true": failure(line=True),
    "a_failure_whose_message_is_a_list": failure(message=[]),
    "a_failure_nested_a_million_deep": frame(FAILED, "[" * 1_000_000),
    "a_failure_whose_exports_are_text": failure(exports="abc"),
    "a_failure_whose_exports_are_numbers": failure(exports=[1]),
    "a_failure_whose_promise_is_a_list": failure(promise=[]),
    "a_place_that_is_not_utf8": frame(AT, b"\xff", 1, 1),
    "a_place_with_a_long_name": frame(AT, "a" * 5_000, 1, 1),
    "a_result_that_cannot_be_read": frame(FINISHED, "P"),
    "ready_twice": ready(),
}
LYING_OF_CALLS = {
    "a_call_whose_arguments_are_not_a_list": value(CALL, {"0": 1}, a=1, b=0),
    "calls_that_are_not_a_list": value(CALLS, {"0": [1, 0, []]}),
    "calls_that_are_numbers": value(CALLS, [1, 0]),
    "a_call_among_others_cut_short": value(CALLS, [[1, 0]]),
    "a_call_among_others_of_four": value(CALLS, [[1, 0, [], []]]),
    "a_call_among_others_whose_number_is_true": value(CALLS, [[True, 0, []]]),
    "a_call_among_others_whose_number_is_text": value(CALLS, [["1", 0, []]]),
    "a_call_among_others_whose_number_is_negative": value(CALLS, [[-1, 0, []]]),
    "a_call_among_others_whose_number_is_huge": value(CALLS, [[1 << 32, 0, []]]),
    "a_call_among_others_of_a_negative_bridge": value(CALLS, [[1, -1, []]]),
    "a_call_among_others_of_a_bridge_never_lent": value(CALLS, [[1, 1, []]]),
    "a_call_among_others_whose_arguments_are_not_a_list": value(CALLS, [[1, 0, {}]]),
    "more_calls_at_once_than_a_worker_gathers": value(CALLS, [[0, 0, []]] * 5000),
}


def test_a_frame_larger_than_the_cap_ends_the_run() -> None:
    """An honest guest may send one, too: so that is a cap, and no crash."""
    result = face(
        ready(),
        value(REPORT, "before"),
        struct.pack("<IIIII", 0xFFFFFFFF, REPORT, 0, 0, 0),
        finished(),
    )
    assert (result.status, result.reports) == ("terminated", ["before"])
    assert "one message of more than 16 MiB" in str(result.error)


@pytest.mark.parametrize("lie", [*LYING, *LYING_OF_CALLS])
def test_a_malformed_message_crashes_the_run(lie: str) -> None:
    given = {"f": lambda: 1} if lie in LYING_OF_CALLS else {}
    said = (LYING | LYING_OF_CALLS)[lie]
    result = face(ready(), value(REPORT, "before"), said, finished(), globals=given)
    assert is_crash(result), result
    assert result.error is not None
    assert result.error.message.startswith("the worker broke the protocol: ")
    assert result.reports == ["before"]


NOT_AS_REQUIRED = {
    "another_version": frame(READY, a=FILTERED, b=VERSION + 1),
    "less_isolation_than_demanded": frame(READY, a=PROCESS_ONLY, b=VERSION),
    "an_isolation_of_its_own": frame(READY, a=77, b=VERSION),
}


@pytest.mark.parametrize("kind", NOT_AS_REQUIRED)
def test_a_worker_of_another_version_or_isolation_is_a_crash(kind: str) -> None:
    result = face(NOT_AS_REQUIRED[kind], value(REPORT, 1), finished())
    assert is_crash(result), result
    assert result.reports == []


@pytest.mark.parametrize("first", [REPORT, LOG, CALL, CALLS, FINISHED, FAILED])
def test_a_worker_that_speaks_before_it_reports_its_isolation_is_a_crash(first: int) -> None:
    spoken = {REPORT: value(REPORT, 1), LOG: log("log", "log", 0, 0, []), CALL: value(CALL, [], 1)}
    spoken |= {CALLS: value(CALLS, [[1, 0, []]]), FINISHED: finished(), FAILED: failure()}
    called: list[int] = []
    result = face(spoken[first], ready(), finished(), globals={"f": lambda: called.append(1)})
    assert is_crash(result), result
    assert (result.reports, result.logs, called) == ([], [], [])


def test_calls_in_one_message_are_made_in_order() -> None:
    made: list[int] = []

    @one_way
    def note(number: int) -> None:
        made.append(number)

    calls = value(CALLS, [[0, 0, [number]] for number in range(200)])
    result = face(ready(), calls, finished(), globals={"f": note})
    assert result.status == "success"
    assert made == list(range(200))


def test_an_unrequested_report_is_a_crash() -> None:
    result = face(ready(), value(REPORT, 1), finished(), report=None)
    assert is_crash(result)
    assert result.reports == []


def test_a_repeated_call_number_calls_the_bridge_each_time() -> None:
    """Numbers of calls are the worker's own: each call is one call of a bridge that was lent."""
    called: list[Any] = []
    calls = [value(CALL, [n], a=7, b=0) for n in range(3)]
    result = face(ready(), *calls, finished(), globals={"f": called.append})
    assert (result.status, called) == ("success", [0, 1, 2])


def test_only_what_was_lent_can_be_called() -> None:
    called: list[str] = []
    bridges = {"one": lambda: called.append("one"), "two": lambda: called.append("two")}
    result = face(ready(), value(CALL, [], 1, 1), value(CALL, [], 2, 2), globals=bridges)
    assert is_crash(result)
    assert called == ["two"]


def test_a_rejection_that_is_not_an_error_is_a_crash() -> None:
    """Such as a bigint too long to print: it must not leave the host waiting."""
    promise = frame(CALL, 'T[[0],["a",[1]],["p",5]]', 1, 0)
    huge = frame(REJECTED, 'T[["b","' + "f" * 10_000 + '"]]', 5)
    result = face(ready(), promise, huge, finished(), globals={"take": lambda promise: None})
    assert is_crash(result)


def test_one_run_cannot_speak_for_another() -> None:
    """Each has a socket of its own; a hostile one leaves its neighbours as they were."""
    forged = threading.Event()
    good = run_code(
        "report(1); wait(); report(2); export default 'real'",
        report=lambda value: None,
        globals={"wait": lambda: forged.wait(30)},
    )
    assert until(lambda: good.reports)
    bad = face(ready(), value(REPORT, "forged"), finished("forged"))
    assert (bad.status, bad.result, bad.reports) == ("success", "forged", ["forged"])
    forged.set()
    result = good.wait(30)
    assert (result.status, result.result, result.reports) == ("success", "real", [1, 2])


def test_places_without_end_are_over_budget() -> None:
    flood = frame(AT, "a.ts", 1, 1) * 100_000
    result = face(ready(), flood, finished())
    assert (result.status, result.error and result.error.line) == ("terminated", 1)
    assert result.error is not None
    assert "of output" in result.error.message


def test_a_place_far_outside_the_source_is_shown_without_a_line() -> None:
    result = face(ready(), frame(AT, "a.ts", 0xFFFFFFFF, 0xFFFFFFFF), b"", finished())
    assert result.status == "success"
    error = face(ready(), failure(line=10**18, column=10**18)).error
    assert error is not None
    assert "hint" not in error.render()
