"""A magic, option, value, file or name that cannot be used is refused, and nothing of the cell runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients import Client

REFUSED = [
    ("%%runcode --timeout 2", "unknown option --timeout; did you mean --deadline?"),
    ("%%runcode --deadline", "--deadline needs a value: --deadline TIME"),
    ("%%runcode --deadline soon", "--deadline soon is not a time; write it like 2s or 500ms"),
    ("%%runcode --deadline 0s", "--deadline 0s is zero"),
    ("%%runcode --deadline 1s --deadline 2s", "--deadline was given twice"),
    ("%%runcode --memory 0", "--memory 0 is zero; write a size like 64MiB"),
    ("%%runcode --memory 64 MB", "'MB' is not an option"),
    ("%%runcode --memory 9999999999GiB", "--memory 9999999999GiB is more than any machine has"),
    ("%%runcode --args 5", "--args 5 is not a JSON array; write --args [5]"),
    ("%%runcode --args {", "the bracket { in '{' is never closed"),
    ("%%runcode rows", "'rows' is not an option; options start with --"),
    ("%%runcode --into x", "--into is for the IPython magic %%runcode"),
    ("%%runcode --global a-b=1", "'a-b' is not a JavaScript identifier"),
    ("%%runcode --global x=nope", "nope is not JSON, @file.json or the name of a bridge"),
    ("%%runcode --global x=@nope.json", "@nope.json does not exist"),
    ("%%runcode --global x=@brokn.json", "@brokn.json does not exist; did you mean broken.json?"),
    ("%%runcode --global x=@broken.json", "@broken.json is not JSON"),
    ("%%runcode --global x=@pipe.json", "cannot read @pipe.json: it is not a regular file"),
    ("%%runcode --import ./x={}", "'./x' is not a bare specifier"),
    ("%%runcode --import x=5", "--import x=5 is neither a bridge nor a JSON object of exports"),
    ("%%runcode --module ./lib.ts", "this notebook has no module ./lib.ts; declare it with %%module"),
    ("%%runcode --module ./lib.ts=5", "--module ./lib.ts=5 is not source text"),
    ("%%runcode --language ts", "--language ts is unknown; did you mean typescript?"),
    ("%%runcode --language python", "--language python is unknown; a cell in Python begins with %%runprogram python"),
    ('%%runcode --filename ""', "filename '' must not be empty"),
    ("%%runcode --no-widget=1", "--no-widget takes no value; write just --no-widget"),
    ("%%runcode --keep 1x", "--keep 1x is not a JavaScript identifier"),
    ("%%module lib", "%%module lib is not a relative path; write %%module ./lib.ts"),
    ("%%module ../lib.ts", "%%module ../lib.ts is not a relative path; write %%module ./lib.ts"),
    ("%%module ./lib.ts --global a=1", "%%module takes no options, but got './lib.ts --global a=1'"),
    ("%%bridge ./x", "%%bridge ./x is not a valid name"),
    ("%%bridge a b", "%%bridge a b is not a valid name"),
    ("%reset everything", "%reset cannot forget 'everything'; known: defaults, bridges, modules"),
    ("%doctor now", "%doctor takes no arguments, but got 'now'"),
    ("%runs stop", "%runs cannot do 'stop'; did you mean terminate?"),
    ("%rest", "unknown magic %rest; did you mean %reset?"),
    ("%%runcod", "unknown magic %%runcod; did you mean %%runcode?"),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _files(kernel: Client, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("files")
    (folder / "broken.json").write_text("{")
    made = f"import os; os.chdir({str(folder)!r}); os.mkfifo('pipe.json')"
    kernel.run(f"%%bridge files\n{made}").check()
    kernel.run("%reset").check()


@pytest.mark.parametrize(("line", "says"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_cannot_be_used_is_refused_and_nothing_runs(
    kernel: Client, line: str, says: str
) -> None:
    done = kernel.run(f"{line}\nprint('RAN'); console.log('RAN')")
    while done.status == "aborted":  # it met the tail of the error before it: Jupyter's rule
        done = kernel.run(f"{line}\nprint('RAN'); console.log('RAN')")
    assert done.status == "error"
    assert says in " ".join(done.traceback.split())
    assert "RAN" not in done.stdout + done.stderr
