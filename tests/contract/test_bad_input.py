"""What cannot be used is refused at once, with what to write instead, and nothing has run.

The command line has a table of its own in `tests/cli/test_words.py`, and the magics in
`tests/kernel/test_magics.py` and `tests/magic/test_options.py`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from traitlets import TraitError
from traitlets.config import Config

from sandbox_kernel import (
    CodeExecutionOptions,
    Engine,
    OptionError,
    Programs,
    evaluate,
    open_code,
    run_code,
    run_program,
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    """One that has started nothing yet, which shows whether anything ran."""
    with Engine(spares=0) as made:
        yield made
        assert made.processes().zygote is None


# ---------------------------------------------------------------------------- options of a run

SOURCE = "export default 1"
OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"execute": "main"}, "execute must be a mapping; write {'fn': 'main'}"),
    ({"execute": {"args": "ab"}}, "execute.args must be a list, not str"),
    ({"language": "ts"}, "not 'ts'; did you mean 'typescript'?"),
    ({"language": "JS"}, "not 'JS'; did you mean 'javascript'?"),
    ({"language": "TypeScript"}, "not 'TypeScript'; did you mean 'typescript'?"),
    (
        {"language": "python"},
        "language must be 'javascript' or 'typescript', not 'python'; run_program runs Python",
    ),
    ({"memory_limit_bytes": "64MiB"}, "a whole number of bytes, such as 64 * 2**20, not '64MiB'"),
    ({"memory_limit_bytes": float("nan")}, "a whole number of bytes, such as 64 * 2**20, not nan"),
    ({"modules": {"lib.ts": ""}}, "write it like './helpers.js'"),
    ({"modules": {"./lib.ts": b""}}, "modules['./lib.ts'] must be a string, not bytes"),
    ({"imports": {"fs": print}}, "imports['fs'] must be a mapping, not builtin_function_or_method"),
    ({"globals": [("a", 1)]}, "globals must be a mapping, not list"),
    ({"report": "print"}, "report must be callable, not str"),
    ({"filename": Path("a.ts")}, "filename must be a string, not PosixPath"),
    ({"filenam": "a.ts"}, "unknown option 'filenam'; did you mean 'filename'?"),
]


@pytest.mark.parametrize("start", [run_code, evaluate])
@pytest.mark.parametrize(("options", "says"), OPTIONS, ids=[says for _, says in OPTIONS])
def test_an_option_that_cannot_be_used_is_refused(
    start: Callable[..., Any], options: dict[str, Any], says: str, engine: Engine
) -> None:
    with pytest.raises(OptionError) as refused:
        start(SOURCE, engine=engine, **options)
    assert says in str(refused.value)
    with pytest.raises(OptionError):
        CodeExecutionOptions.of(options)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (None, "source must be a string, not NoneType"),
        (b"1", "source must be a string, not bytes"),
        (Path("a.ts"), "source must be a string, not PosixPath; give its text: .read_text()"),
    ],
)
def test_a_source_that_is_not_text_is_refused(source: Any, says: str, engine: Engine) -> None:
    with pytest.raises(OptionError, match=says):
        run_code(source, engine=engine)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("local", "engine of run_code cannot be str; write Engine()"),
        (Engine, "engine of run_code cannot be the class Engine; write Engine()"),
        (0, "engine of run_code cannot be int; write Engine()"),
        (Programs(), "cannot be Programs, which is for run_program; write Engine()"),
    ],
    ids=["text", "class", "number", "other"],
)
def test_an_engine_that_is_none_is_refused(given: Any, says: str) -> None:
    for start in (run_code, evaluate, open_code):
        with pytest.raises(OptionError) as refused:
            start(SOURCE, engine=given)
        assert says in str(refused.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"engine": "local"}, "engine of run_program cannot be str; write Programs()"),
        ({"engine": Engine()}, "cannot be Engine, which is for run_code; write Programs()"),
        ({"deadline": 2}, "unknown option 'deadline'; did you mean timeout_ms?"),
        ({"memory": 2**26}, "unknown option 'memory'; did you mean memory_limit_bytes?"),
        ({"language": "pyton"}, "unknown language 'pyton'; did you mean 'python'?"),
        ({"timeout_ms": "2s"}, "timeout_ms must be a number of milliseconds, not '2s'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_option_of_a_program_that_cannot_be_used_is_refused(
    options: dict[str, Any], says: str
) -> None:
    with pytest.raises(OptionError) as refused:
        run_program("print('RAN')", **options)
    assert says in str(refused.value)


def test_a_time_that_is_not_a_number_is_refused_and_ends_nothing() -> None:
    run = run_code("for (;;);")
    for call in (run.wait, run.terminate_after):
        with pytest.raises(TypeError, match="must be a number, not str"):
            call("2s")  # type: ignore[arg-type]  # which is what must fail
    run.terminate("still there")
    error = run.wait(60).error
    assert error is not None
    assert error.message == "still there"


# ---------------------------------------------------------------------------- settings of an engine

MISSPELT = "Engine has no setting 'concurency'; did you mean concurrency?"


@pytest.mark.parametrize(
    "configure",
    [
        lambda: Engine(concurency=2),
        lambda: Engine(config=Config(Engine={"concurency": 2})),
        lambda: setattr(Engine(), "concurency", 2),
        lambda: Programs(concurency=2),
        lambda: setattr(Programs(), "concurency", 2),
    ],
    ids=["keyword", "config", "attribute", "programs", "attribute of programs"],
)
def test_a_setting_that_an_engine_does_not_have_is_refused(configure: Callable[[], Any]) -> None:
    with pytest.raises(OptionError) as refused:
        configure()
    assert str(refused.value).endswith(MISSPELT.removeprefix("Engine"))


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("spares", -1, "should not be less than 0"),
        ("spares", "4", "expected an int"),
        ("concurrency", 0, "should not be less than 1"),
        ("cpu_seconds", 1.5, "expected an int"),
        ("message_bytes", 2**32, "should not be greater than"),
        ("require_isolation", "no", "expected a boolean"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_refused(name: str, value: Any, says: str) -> None:
    with pytest.raises(TraitError, match=says):
        Engine(**{name: value})
    engine = Engine()
    before = engine.settings
    with pytest.raises(TraitError, match=says):
        setattr(engine, name, value)
    assert engine.settings == before


@pytest.mark.parametrize(
    ("word", "says"), [("--Engine.concurency=2", MISSPELT), ("--Engine.spares=-1", "less than 0")]
)
def test_a_kernel_with_a_wrong_setting_does_not_start(word: str, says: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sandbox_kernel.kernel", "-f", str(tmp_path / "k.json"), word]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert says in done.stderr
