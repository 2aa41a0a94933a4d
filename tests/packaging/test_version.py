"""One version: `sandbox_kernel.__version__`, which the metadata and the changelog repeat."""

from __future__ import annotations

import re

import sandbox_kernel
from tests.packaging.installed import ROOT, Distributions, Installed


def test_the_changelog_begins_with_what_is_unreleased_and_then_this_version() -> None:
    titles = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert titles[:2] == ["Unreleased", sandbox_kernel.__version__]


def test_the_distributions_are_named_for_the_version(distributions: Distributions) -> None:
    for file in (distributions.sdist, distributions.wheel):
        assert file.name.startswith(f"sandbox_kernel-{sandbox_kernel.__version__}")


def test_the_installed_metadata_has_the_version(installed: Installed) -> None:
    ask = "import importlib.metadata; print(importlib.metadata.version('sandbox-kernel'))"
    assert installed.run("-c", ask).strip() == sandbox_kernel.__version__
