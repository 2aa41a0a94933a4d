"""The distributions, and an environment in which there is nothing but them and what they require."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What would let the tree of the sources, or somebody's own Jupyter, into the new environment.
_LEAKS = ("COVERAGE_", "IPYTHON", "JUPYTER", "PYTHON", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Distributions:
    """The sdist, the wheel that is built from it, and the wheel that is built from the tree."""

    sdist: Path
    wheel: Path
    wheel_of_the_tree: Path


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and a folder to work in, away from the sources."""

    prefix: Path
    home: Path

    @property
    def python(self) -> Path:
        return self.prefix / "bin" / "python"

    def run(self, *arguments: str | Path) -> str:
        """What its Python prints; fails with everything it says when it exits with an error."""
        return _output([self.python, *arguments], self.home, self.environment())

    def environment(self) -> dict[str, str]:
        """The variables as if it had been activated, in a home where nothing is configured."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_LEAKS)}
        path = f"{self.prefix / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return kept | {"HOME": str(self.home), "PATH": path}


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    through_sdist, direct = tmp_path_factory.mktemp("dist"), tmp_path_factory.mktemp("direct")
    build: list[str | Path] = [sys.executable, "-m", "build", "--no-isolation", ROOT]
    _output([*build, "--outdir", through_sdist], through_sdist)
    _output([*build, "--wheel", "--outdir", direct], direct)
    (sdist,) = through_sdist.glob("*.tar.gz")
    (wheel,) = through_sdist.glob("*.whl")
    (wheel_of_the_tree,) = direct.glob("*.whl")
    return Distributions(sdist, wheel, wheel_of_the_tree)


@pytest.fixture(scope="session")
def installed(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return installation(str(distributions.wheel), tmp_path_factory.mktemp("environment"))


def installation(requirement: str, folder: Path) -> Installed:
    """A new environment in the folder, with the requirement in it, and a home beside it."""
    venv.create(folder / "environment", symlinks=True)
    (folder / "home").mkdir()
    new = Installed(folder / "environment", folder / "home")
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", new.python]
    _output([*pip, "install", "--quiet", requirement], new.home)
    return new


def _output(
    command: list[str | Path], folder: Path, environment: dict[str, str] | None = None
) -> str:
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
