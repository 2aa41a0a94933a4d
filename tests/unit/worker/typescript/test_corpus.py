"""472 modules out of public suites, through the engine. They are found beside the repository, never in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).parents[5] / "shared" / "corpora" / "typescript" / "inputs.json"
INPUTS = json.loads(CORPUS.read_text()) if CORPUS.exists() else []

if not INPUTS:
    pytest.skip("the corpus is not beside this repository", allow_module_level=True)


@pytest.mark.parametrize("entry", INPUTS, ids=[entry["id"] for entry in INPUTS])
def test_a_public_input_runs_as_compiled(entry: dict[str, Any], run: Callable[..., Any]) -> None:
    result = run(
        entry["source"],
        execute={"fn": "corpus_probe", "args": []}
        if "expected" in entry
        else {"fn": "corpus_probe"},
        modules={name: stub(names) for name, names in entry.get("stub_modules", {}).items()},
        imports={
            name: dict.fromkeys([*names, "default"], 0)
            for name, names in entry.get("stub_imports", {}).items()
        },
        language="typescript",
        filename="cell.ts",
    )
    assert result.status == expected_status(entry), result.error
    if result.status == "success" and "expected" in entry:
        assert result.result == entry["expected"]


def expected_status(entry: dict[str, Any]) -> str:
    """Some inputs were recorded as failing because there was no console to call; here there is one."""
    only_logs = entry["id"] in WITH_CONSOLE
    return "success" if only_logs else str(entry["expect"])


WITH_CONSOLE = {
    "amaro/enum.ts",
    "amaro/esm.mts",
    "swc-tsc/constEnumNoObjectPrototypePropertyAccess.ts",
    "ts-blank-space/hello.mts",
    "ts-blank-space/hello.ts",
}


def stub(names: list[str]) -> str:
    exports = (f"export const {name} = 0;" for name in names if name != "default")
    return "\n".join([*exports, "export default 0;"])
