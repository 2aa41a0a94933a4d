"""Real TypeScript packages, erased, have the syntax tree of the compiler's output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sandbox_kernel.worker.typescript import prepare

# Every n-th source of packages that publish theirs; all of them were compared once.
SAMPLES = {"@tanstack/query-core/src": 1, "rxjs/src": 3, "zod/src": 4, "effect/src": 4}


def test_real_packages_are_erased_to_what_the_compiler_makes_of_them(
    oracle: Any, packages: Path
) -> None:
    sources = [file.read_text() for file in files(packages)]
    prepared = [(source, prepare(source)) for source in sources]
    # Enums and namespaces are written differently; their behaviour is compared elsewhere.
    pairs = [{"source": source, "erased": done.text} for source, done in prepared if not done.added]
    differences = [found for found in oracle.differences(pairs) if found]
    assert len(pairs) > 200
    assert differences == []


def test_real_packages_keep_their_length_and_their_lines(packages: Path) -> None:
    for file in files(packages):
        source = file.read_text()
        prepared = prepare(source)
        if not prepared.added:
            assert len(prepared.text) == len(source), file
        assert prepared.text.count("\n") == source.count("\n"), file


def files(packages: Path) -> list[Path]:
    found: list[Path] = []
    for folder, step in SAMPLES.items():
        sources = sorted((packages / folder).rglob("*.ts"))
        found += [file for file in sources[::step] if not file.name.endswith(".d.ts")]
    return found
