"""`--lend`: the grammar, in both notebook faces, and the hints that name it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_kernel import OptionError, run_code
from sandbox_kernel.capabilities.spelling import CHOICES, capability_of
from sandbox_kernel.notebook.options.grammar import parse_options
from sandbox_kernel.notebook.options.help import complete_options


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("timers", "timers", "Timers"),
        ("web", "web", "Web"),
        ("display", "display", "Displaying"),
        ("clock=timers", "clock", "Timers"),
        ("fs=files:.", "fs", "Files"),
        ("data=files:.:write", "data", "Files"),
        ("fs=files:.:overlay", "fs", "Files"),
        ("fetch=api.example.org", "fetch", "Fetch"),
        ("fetch=a.org,b.org:8443", "fetch", "Fetch"),
        ("api=fetch:a.org", "api", "Fetch"),
    ],
)
def test_what_is_typed_becomes_a_capability(text: str, name: str, kind: str) -> None:
    found, capability = capability_of(text)
    assert (found, type(capability).__name__) == (name, kind)


def test_the_mode_stands_behind_the_folder(tmp_path: Path) -> None:
    odd = tmp_path / "a:b"
    odd.mkdir()
    assert getattr(capability_of(f"fs=files:{tmp_path}:write")[1], "mode") == "write"  # noqa: B009  # not an attribute of every capability
    assert getattr(capability_of(f"fs=files:{odd}")[1], "root") == str(odd)  # noqa: B009  # not an attribute of every capability


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("timer", "--lend timers"),
        ("fs", "--lend fs=files:./FOLDER"),
        ("fetch", "--lend fetch=HOST"),
        ("fs=", "not complete"),
        ("=timers", "not complete"),
        ("fs=files:./does-not-exist", "does not exist"),
        ("fs=./data", "--lend fs=files:./FOLDER"),
        ("files:./data", "--lend fs=files:./FOLDER"),
        ("fetch:a.org", "--lend fetch=HOST"),
        ("fetch=https://a.org/x", "not the name of a host"),
        ("x=unknown", "write it like"),
        ("", "write it like"),
    ],
)
def test_what_is_none_says_what_to_type(text: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        capability_of(text)


def test_options_of_a_cell_lend_several() -> None:
    options = parse_options("--lend timers --lend fs=files:.:overlay --lend=web", "kernel")
    given = options.run_options(lambda source: None)
    assert list(given["lend"]) == ["timers", "fs", "web"]
    more = parse_options("--lend fs=files:.", "kernel").over(options)
    assert more.lend == {"timers": "timers", "fs": "fs=files:.", "web": "web"}
    with pytest.raises(OptionError, match="twice"):
        parse_options("--lend timers --lend timers", "magic")


def test_completion_offers_them() -> None:
    for face in ("kernel", "magic"):
        start, found = complete_options("--lend ", face, lambda *_: [])
        assert (start, found) == (7, list(CHOICES))
        assert complete_options("--lend ti", face, lambda *_: [])[1] == ["timers"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("setTimeout(() => {}, 1)", "lend=[capabilities.timers()]"),
        ("await fetch('https://a.org')", "lend=[capabilities.fetch(['HOST'])]"),
        ("new URL('x:y')", "lend=[capabilities.web()]"),
        ("import fs from 'fs'", "lend=[capabilities.files('FOLDER')]"),
        ("import { readFile } from 'node:fs/promises'", "lend=[capabilities.files('FOLDER')]"),
        ("import { setTimeout } from 'timers/promises'", "lend=[capabilities.timers()]"),
    ],
)
def test_an_error_about_what_is_missing_names_what_to_lend(source: str, said: str) -> None:
    error = run_code(source).wait().error
    assert error is not None
    assert error.hint is not None
    assert said in error.hint


def test_ask_behind_it_gates_that_module() -> None:
    options = parse_options("--lend timers --lend fs=files:. --ask", "kernel")
    assert dict(options.asks) == {"fs": True}
