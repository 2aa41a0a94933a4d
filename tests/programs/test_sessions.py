"""Programs of a session: one workspace, one at a time, and nobody else's."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from sandbox_kernel.errors import EngineClosedError, EngineError, OptionError
from sandbox_kernel.programs import ProgramResult, Programs
from sandbox_kernel.programs.binaries import is_installed
from sandbox_kernel.programs.protocol import NAMESPACES
from sandbox_kernel.run import run_program
from sandbox_kernel.sessions import Workspaces
from tests.programs.conftest import Run
from tests.programs.weakened import programs_without
from tests.waiting import eventually

MIB = 2**20
Session = Callable[..., ProgramResult]


@pytest.fixture
def workspaces() -> Iterator[Workspaces]:
    made = Workspaces()
    yield made
    made.close()


@pytest.fixture
def session(run: Run, workspaces: Workspaces) -> Session:
    def settled(code: str, name: str = "s", **options: Any) -> ProgramResult:
        return run(code, session=name, workspaces=workspaces, **options)

    return settled


def test_files_stay_for_the_next_program_of_the_session(session: Session) -> None:
    assert session("open('n', 'w').write('1')").exit_code == 0
    result = session("print(open('n').read()); open('n', 'a').write('2')")
    assert (result.stdout, result.stderr) == ("1\n", "")
    assert [(each.name, each.data) for each in result.output_files] == [("n", b"12")]
    assert session("import os; print(os.listdir())", "other").stdout == "[]\n"


def test_only_what_this_program_wrote_or_changed_comes_back(session: Session) -> None:
    session("open('old', 'w').write('x'); open('rewritten', 'w').write('a')")
    code = "print(open('old').read()); open('rewritten', 'w').write('b'); open('new', 'w').close()"
    result = session(code, files={"input": "y"})
    assert [each.name for each in result.output_files] == ["new", "rewritten"]
    assert session("import os; print(sorted(os.listdir()))").stdout == (
        "['input', 'new', 'old', 'rewritten']\n"
    )


def test_folders_modes_and_links_of_earlier_programs_can_be_used(session: Session) -> None:
    session(
        "import os; os.makedirs('a/b'); open('a/b/f', 'w').write('x'); os.symlink('a/b/f', 'l')"
    )
    code = "open('a/b/g', 'w').write('y'); open('a/b/f', 'a').write('z'); print(open('l').read())"
    result = session(code)
    assert (result.stdout, result.stderr) == ("xz\n", "")


def test_the_default_workspaces_are_those_of_programs(run: Run, programs: Programs) -> None:
    run("open('f', 'w').write('x')", session="default")
    assert programs.workspaces.open("default").read("f") == b"x"
    assert programs.workspaces.delete("default")


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here")
def test_files_cross_between_runtimes(session: Session) -> None:
    session("import os; os.mkdir('d'); open('d/n', 'w').write('41')")
    code = """
import fs from 'node:fs';
const n = Number(fs.readFileSync('d/n', 'utf8')) + 1;
fs.writeFileSync('d/n', String(n));
console.log(n);
"""
    result = session(code, language="node")
    assert (result.stdout, result.stderr) == ("42\n", "")
    assert [each.name for each in result.output_files] == ["d/n"]
    assert session("import os; print(open('d/n').read(), os.listdir())").stdout == "42 ['d']\n"


MAKES_A_FILE, MAKES_A_FOLDER = "open(name, 'w').write('mine')", "os.mkdir(name)"


@pytest.mark.parametrize(
    ("runtime", "code", "make"),
    [
        ("node", "console.log(1)", MAKES_A_FILE),
        ("node", "import 'node:fs'; console.log(1)", MAKES_A_FILE),
        ("deno", "console.log(1)", MAKES_A_FILE),
        ("deno", "console.log(1)", MAKES_A_FOLDER),
    ],
)
def test_what_is_named_like_a_source_stays_as_it_is(
    session: Session, runtime: str, code: str, make: str
) -> None:
    if not is_installed(runtime):
        pytest.skip(f"there is no {runtime} here")
    session(f"import os\nfor name in ['program.js', 'program.mjs', 'program.ts']: {make}")
    result = session(code, language=runtime)
    assert (result.stdout, result.stderr, result.output_files) == ("1\n", "", [])
    look = "import os; print(*(open(n).read() if os.path.isfile(n) else n for n in sorted(os.listdir())))"
    kept = "mine mine mine" if make == MAKES_A_FILE else "program.js program.mjs program.ts"
    assert session(look).stdout == f"{kept}\n"


@pytest.mark.parametrize("options", [{"session": "../x"}, {"session": 7}, {"session": ""}])
def test_an_id_that_is_not_one_is_an_option_error(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="is not a session id"):
        run_program("print(1)", **options)


def test_workspaces_that_are_none_are_an_option_error(tmp_path: Path) -> None:
    wrong: Any = str(tmp_path)
    with pytest.raises(OptionError, match="workspaces must be a Workspaces, not str"):
        run_program("print(1)", session="s", workspaces=wrong)


@pytest.mark.parametrize("language", ["python", "javascript"])
def test_a_root_that_is_gone_is_said_so(language: str, tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "root")
    workspaces.open("s")
    shutil.rmtree(tmp_path / "root")
    with pytest.raises(EngineError, match="the workspace cannot be used: No such file"):
        run_program("1", language, session="s", workspaces=workspaces).wait(60)
    workspaces.close()


# ---------------------------------------------------------------------------- one at a time


async def test_programs_of_a_session_take_turns_and_their_time_begins_with_their_turn(
    programs: Programs, workspaces: Workspaces
) -> None:
    def start(code: str, **options: Any) -> Any:
        return run_program(code, session="s", workspaces=workspaces, engine=programs, **options)

    begin = "open('log', 'a').write('{0} begins '); import time; time.sleep({1})"
    code = begin + "; open('log', 'a').write('{0} ends ')"
    first = start(code.format("a", 1.5))
    second = start(code.format("b", 0), timeout_ms=1200)
    assert not (await second).killed
    assert (await second).queued_ms > 1000
    await first
    assert workspaces.open("s").read("log") == b"a begins a ends b begins b ends "


async def test_a_program_that_waits_can_be_terminated_and_leaves_the_line(
    programs: Programs, workspaces: Workspaces
) -> None:
    def start(code: str) -> Any:
        return run_program(code, session="s", workspaces=workspaces, engine=programs)

    first = start("import time; print('on', flush=True); time.sleep(600)")
    async for _ in first.stream():
        break
    second, third = start("print(2)"), start("print(3)")
    second.terminate("not needed")
    ended = await second
    assert (ended.killed, ended.reason, ended.stdout) == (True, "not needed", "")
    first.terminate()
    assert (await third).stdout == "3\n"


async def test_closing_ends_those_that_wait_too(level: str, workspaces: Workspaces) -> None:
    with Programs(isolation=level, spares=0) as made:
        first = run_program("input()", session="s", workspaces=workspaces, engine=made)
        second = run_program("print(2)", session="s", workspaces=workspaces, engine=made)
        await asyncio.sleep(0)
    for handle in (first, second):
        with pytest.raises(EngineClosedError):
            await handle
    async with workspaces.lease("s"):
        pass


# ---------------------------------------------------------------------------- the end of it


async def test_deleting_a_workspace_terminates_what_runs_in_it(
    programs: Programs, workspaces: Workspaces
) -> None:
    code = "open('f', 'w').close(); print('on', flush=True); import time; time.sleep(600)"
    handle = run_program(code, session="s", workspaces=workspaces, engine=programs)
    async for _ in handle.stream():
        break
    assert workspaces.delete("s")
    result = await handle
    assert (result.killed, result.reason) == (True, "its workspace was deleted")
    after = run_program(
        "import os; print(os.listdir())", session="s", workspaces=workspaces, engine=programs
    )
    assert (await after).stdout == "[]\n"
    assert await eventually(lambda: os.listdir(workspaces.root / ".removed") == [])


async def test_a_workspace_in_use_is_not_evicted(programs: Programs) -> None:
    workspaces = Workspaces(ttl_seconds=0.3)
    code = "open('f', 'w').close(); import time; time.sleep(1.2); print(open('f').read() == '')"
    handle = run_program(code, session="s", workspaces=workspaces, engine=programs)
    result = await handle
    assert result.stdout == "True\n"
    assert await eventually(lambda: not (workspaces.root / "s").exists())


# ---------------------------------------------------------------------------- faults


async def test_a_session_goes_on_after_its_zygote_was_killed(
    level: str, workspaces: Workspaces
) -> None:
    with Programs(isolation=level, spares=0) as made:

        def start(code: str) -> Any:
            return run_program(code, session="s", workspaces=workspaces, engine=made)

        handle = start(
            "open('f', 'w').write('kept'); print(1, flush=True); import time; time.sleep(600)"
        )
        async for _ in handle.stream():
            break
        for guardian in made.processes().zygotes:
            for zygote in psutil.Process(guardian).children():
                zygote.kill()
        assert (await handle).exit_code == 137
        assert (await start("print(open('f').read())")).stdout == "kept\n"


def test_a_root_that_is_taken_away_is_a_clear_error(run: Run, tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "root")
    assert run("print(1)", session="s", workspaces=workspaces).stdout == "1\n"
    shutil.rmtree(tmp_path / "root")
    with pytest.raises((EngineError, OSError), match="No such file"):
        run("print(2)", session="s", workspaces=workspaces)
    again = Workspaces(tmp_path / "root")
    assert run("print(3)", session="s", workspaces=again).stdout == "3\n"


def test_a_workspace_can_be_used_by_two_programs_objects(
    level: str, workspaces: Workspaces
) -> None:
    with Programs(isolation=level, spares=0) as one, Programs(isolation=level, spares=0) as two:
        code = "import time; n = int(open('n').read()); time.sleep(0.05); open('n', 'w').write(str(n + 1))"
        workspaces.open("s").write("n", "0")
        handles = [
            run_program(code, session="s", workspaces=workspaces, engine=each)
            for each in (one, two, one, two)
        ]
        assert [handle.wait(60).stderr for handle in handles] == [""] * 4
    assert workspaces.open("s").read("n") == b"4"


# ---------------------------------------------------------------------------- attacks


def test_the_other_workspaces_are_out_of_reach(session: Session, workspaces: Workspaces) -> None:
    session("open('secret', 'w').write('hunter2')", "one")
    path = workspaces.open("one").path
    code = f"""
import os
paths = ["../one/secret", {str(path / "secret")!r}, "/run/workspaces/one/secret", "/proc/self/cwd/../one/secret"]
for path in paths:
    try:
        print(open(path).read())
    except OSError:
        print("refused")
for path in ("..", {str(path.parent)!r}, "/run/workspaces"):
    try:
        print("one" in os.listdir(path))
    except OSError:
        print(False)
"""
    assert session(code, "two").stdout == "refused\n" * 4 + "False\n" * 3


def test_without_landlock_the_other_workspaces_still_do_not_exist(
    level: str, workspaces: Workspaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The supervisor takes them out of the program's own root."""
    if level != NAMESPACES:
        pytest.skip("there, Landlock is what keeps them away")
    workspaces.open("one").write("secret", "hunter2")
    code = "import os; print(sorted(os.listdir('/run')), os.path.exists('/run/workspaces/one'), os.listdir('/box'))"
    with programs_without("landlock", level, monkeypatch) as weak:
        result = run_program(code, session="two", workspaces=workspaces, engine=weak).wait(60)
    assert (result.stdout, result.stderr) == ("['files', 'workspaces'] False []\n", "")


def test_links_that_a_program_leaves_lead_the_host_nowhere(
    session: Session, workspaces: Workspaces, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    code = f"""
import os
os.symlink({str(secret)!r}, "data.csv")
os.symlink({str(tmp_path)!r}, "folder")
os.symlink("../.leases", "leases")
set_result(1, files=["data.csv", "folder/secret", "leases/s"])
"""
    result = session(code)
    assert (result.files, result.output_files) == ([], [])
    result = session("print(open('data.csv').read())", files={"data.csv": "input"})
    assert result.stdout == "input\n"
    assert secret.read_text() == "hunter2"
    assert secret.stat().st_uid == os.getuid()


def test_a_workspace_cannot_grow_beyond_its_quota(run: Run) -> None:
    workspaces = Workspaces(max_bytes=4 * MIB)
    code = """
import time
for number in range(40):
    with open(f"f{number}", "wb") as file:
        file.write(bytes([1]) * 2**20)
    time.sleep(0.05)
print("done")
"""
    result = run(code, session="s", workspaces=workspaces)
    assert "done" not in result.stdout
    assert result.exit_code != 0
    assert sum(entry.stat().st_size for entry in os.scandir(workspaces.open("s").path)) < 40 * MIB
    workspaces.close()


def test_permissions_taken_away_keep_nobody_out(session: Session) -> None:
    code = "import os; open('f', 'w').write('x'); os.chmod('f', 0); os.mkdir('d'); os.chmod('d', 0); os.chmod('.', 0o500)"
    session(code)
    assert session("print(open('new', 'w').write('y'))").stdout == "1\n"
