"""What cannot be used is refused with exit code 2, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox_kernel import IsolationError, __version__
from sandbox_kernel.cli import main
from tests.cli.command import command

REFUSED = [
    ("rum a.ts", "unknown command rum; did you mean run?"),
    ("a.ts", "to run a file, write: sandbox-kernel run a.ts"),
    ("--versoin", "unknown option --versoin; did you mean --version?"),
    ("run", "run needs a file, or - for stdin"),
    ("run -x a.ts", "-x is not a file; options start with --"),
    ("run b.ts", "cannot read b.ts: it does not exist; did you mean a.ts?"),
    ("run nowhere.ts", "cannot read nowhere.ts: it does not exist"),
    ("run folder.ts", "cannot read folder.ts: Is a directory"),
    ("run binary.ts", "cannot read binary.ts: it is not UTF-8"),
    ("run huge.ts", "cannot read huge.ts: it has more than 16,777,216 bytes"),
    ("run a.py", "cannot read a.py: it does not exist"),
    ("run a.tsx", "cannot run a.tsx: JSX is not supported"),
    ("run a.rb", "cannot run a.rb: .rb is unknown; run takes .ts, .mts, .js, .mjs, .py"),
    ("run script", "cannot run script: its name has no suffix"),
    ("run a.ts --deadlin 2", "unknown option --deadlin; did you mean --deadline? (arguments of the"),
    ("run --timeout 2 a.ts", "unknown option --timeout; did you mean --deadline?"),
    ("run --env A=1 a.ts", "unknown option --env; did you mean --global?"),
    ("run --mem 1G a.ts", "unknown option --mem; did you mean --memory?"),
    ("run a.ts --deadline", "--deadline needs a value: --deadline TIME"),
    ("run a.ts --deadline --json", "--deadline needs a value"),
    ("run a.ts --deadline soon", "--deadline soon is not a time"),
    ("run a.ts --deadline 0", "--deadline 0 is zero"),
    ("run a.ts --deadline 1 --deadline 2", "--deadline was given twice"),
    ("run a.ts --memory lots", "--memory lots is not a size"),
    ("run a.ts --json=1", "--json takes no value"),
    ("run a.ts --global rows", "--global rows has no value; write --global NAME=VALUE"),
    ("run a.ts --global rows=", "--global rows= has no value"),
    ("run a.ts --global n=Ada", "--global n=Ada is not JSON; a text is written --global 'n=\"Ada\"'"),
    ("run a.ts --global n=1 --global n=2", "--global n was given twice"),
    ("run a.ts --global args=1", "--global args cannot be given"),
    ("run a.ts --global a-b=1", "globals key 'a-b' is not a JavaScript identifier"),
    ("run a.ts --global rows=@gone.json", "@gone.json does not exist"),
    ("run a.ts --global rows=@a.ts", "@a.ts is not JSON"),
    ("run a.ts --global rows=@odd.csv", "@odd.csv is not CSV: line 2 has 1 fields, its header has 2"),
    ("run a.ts --module ./x.ts=1", "--module ./x.ts=1 is not a file; write --module PATH"),
    ("run a.ts --module gone.js", "gone.js does not exist"),
    ("run a.ts --module b.ts", "b.ts does not exist; did you mean a.ts?"),
    ("run a.ts --global x=@od.csv", "@od.csv does not exist; did you mean odd.csv?"),
    ("run a.ts --module x.ts=@a.ts", "modules key 'x.ts' is not a relative specifier"),
    ("run a.ts --module a.ts --module a.ts", "--module ./a.ts was given twice"),
    ("doctor --jsn", "doctor does not take --jsn; write: sandbox-kernel doctor [--json]"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "says"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_cannot_be_used_is_refused_and_nothing_runs(
    line: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a.ts").write_text("console.log('RAN'); 'RAN'")
    (tmp_path / "folder.ts").mkdir()
    (tmp_path / "binary.ts").write_bytes(b"\xff")
    (tmp_path / "odd.csv").write_text("a,b\n1\n")
    with (tmp_path / "huge.ts").open("wb") as file:
        file.truncate(2**30)
    monkeypatch.chdir(tmp_path)
    assert main(line.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"sandbox-kernel: {says}")
    assert "RAN" not in printed.err


def test_no_words_give_help_and_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "sandbox-kernel run FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line", ["--help", "-h", "help", "help run", "run --help", "run a.ts --help", "doctor -h"]
)
def test_help_is_not_a_mistake(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 0
    printed = capsys.readouterr().out
    assert "sandbox-kernel" in printed
    assert ("--global" in printed) == ("run" in line or line in ("--help", "-h", "help"))


def test_the_version_is_that_of_the_package() -> None:
    done = command("--version")
    assert (done.returncode, done.stdout) == (0, f"sandbox-kernel {__version__}\n")


def test_a_machine_that_cannot_run_code_says_so_with_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise IsolationError("this machine cannot isolate workers")

    monkeypatch.setattr("sandbox_kernel.cli.module.run_cell", refuse)
    (tmp_path / "a.ts").write_text("1")
    assert main(["run", str(tmp_path / "a.ts")]) == 1
    assert capsys.readouterr().err == "sandbox-kernel: this machine cannot isolate workers\n"
