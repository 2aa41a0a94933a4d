"""What the workflows rely on: which Pythons are tested, and what may not be published."""

from __future__ import annotations

import re
import tomllib

import sandbox_kernel
from tests.packaging.installed import ROOT
from tests.packaging.lower_bounds import lower_bounds
from tests.packaging.release import problems


def test_the_workflow_tests_every_python_that_the_classifiers_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    classifiers = "\n".join(project["classifiers"])
    named = re.findall(r"Python :: (3\.\d+)$", classifiers, re.M)
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    matrix = re.search(r"python: \[(.*)\]", workflow)
    assert matrix is not None
    assert re.findall(r'"(.+?)"', matrix[1]) == named
    assert project["requires-python"] == f">={named[0]}"


def test_every_dependency_has_a_lower_bound() -> None:
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", line) for line in lower_bounds())


def test_a_tag_that_is_not_the_version_is_refused() -> None:
    wrong = "v0.0.0"
    assert any(wrong in problem for problem in problems(wrong))


def test_the_placeholders_for_addresses_are_all_that_stands_in_the_way_of_a_release() -> None:
    left = list(problems(f"v{sandbox_kernel.__version__}"))
    assert all("placeholder" in problem for problem in left)
