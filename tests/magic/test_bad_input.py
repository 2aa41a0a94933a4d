"""An option, value or name that cannot be used is refused, and nothing of the cell runs."""

from __future__ import annotations

import pytest

from tests.clients import Client

REFUSED = [
    ("%%runcode --timeout 2", "unknown option --timeout; did you mean --deadline?"),
    ("%%runcode --keep x", "--keep is for the sandbox kernel"),
    ("%%runcode --deadline soon", "--deadline soon is not a time"),
    ("%%runcode --memory lots", "--memory lots is not a size"),
    ("%%runcode --global missing", "name 'missing' is not defined"),
    ("%%runcode --global lenght", "did you mean length?"),
    ("%%runcode --global x=(1", "the bracket ( in '(1' is never closed"),
    ("%%runcode --global x=object()", "a value of type object cannot cross into the sandbox"),
    ("%%runcode --global class=1", "'class' is a reserved name"),
    ("%%runcode --import fs=5", "cannot lend a value of type int as a module; write --global fs=5"),
    ("%%runcode --import ./fs={}", "'./fs' is not a bare specifier"),
    ("%%runcode --module ./lib.ts", "this notebook has no module ./lib.ts"),
    ("%%runcode --module ./lib.ts=length", "must be a string of source text, not int"),
    ("%%runcode --into 1x", "--into 1x is not a Python name"),
    ("%%runcode --language js", "--language js is unknown; did you mean javascript?"),
    ("%%runcode length", "'length' is not an option"),
    ("%%runmodule lib", "%%runmodule lib is not a relative path; write %%runmodule ./lib.ts"),
    ("%runs stop", "%runs cannot do 'stop'; did you mean terminate?"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "says"), REFUSED, ids=[line for line, _ in REFUSED])
def test_what_cannot_be_used_is_refused_and_nothing_runs(
    notebook: Client, line: str, says: str
) -> None:
    notebook.run("length = 1").check()
    done = notebook.run(f"{line}\nconsole.log('RAN')")
    assert done.status == "error"
    assert says in " ".join(done.traceback.split())
    assert "RAN" not in done.stdout + done.stderr
