"""Ways out of a folder that was lent: links, races, spellings, pipes, devices. None may lead anywhere."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox_kernel import run_code
from sandbox_kernel.capabilities import files
from sandbox_kernel.isolation import resolve

CODE = """
import fs from 'fs';
const code = (f) => { try { return f(); } catch (e) { return e.code ?? e.name; } };
"""
SECONDS = 2.0


@pytest.fixture(params=["openat2", "walk"])
def mechanism(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "walk":
        monkeypatch.setattr(resolve, "has_openat2", lambda: False)
    elif not resolve.has_openat2():
        pytest.skip("this system has no openat2")
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "f").write_text("inside")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("SECRET")
    return folder


def run(source: str, root: Path, mode: Any = "write") -> Any:
    return run_code(CODE + source, lend=[files(root, mode)]).wait(120).unwrap()


SPELLINGS = [
    "../outside/f", "./../outside/f", "x/../../outside/f", "..//outside/f", "/../outside/f", "..\\outside\\f", "%2e%2e/outside/f",
    "..%2foutside/f", ".../outside/f", "..;/outside/f", "․․/outside/f", "．．/outside/f", "..∕outside∕f", "..／outside／f",
    "\udcae\udcae/outside/f", "..\udc2foutside\udc2ff", "../outside/f\0", "\0../outside/f", "f/../../outside/f", "./.././outside/./f",
    "file:///etc/passwd", "/proc/self/root/etc/passwd", "~/.bashrc", "//etc/passwd", "C:\\x", "..", "/", "../root/../outside/f",
    "ſ/../../outside/f", "a" * 5000, "/".join(["a"] * 3000), "../" * 2000 + "etc/passwd",
]  # fmt: skip


@pytest.mark.parametrize("mode", ["read", "overlay", "write"])
def test_no_spelling_leads_out(root: Path, mode: str, mechanism: str) -> None:
    source = """export default paths.map((path) => [code(() => fs.readFileSync(path, 'utf8')), code(() => fs.readdirSync(path)),
      fs.existsSync(path), code(() => { fs.writeFileSync(path, 'x'); fs.rmSync(path); })])"""
    lent = files(root, mode)  # type: ignore[arg-type]  # one of the modes
    found = run_code(CODE + source, lend=[lent], globals={"paths": SPELLINGS}).wait(120).unwrap()
    assert "SECRET" not in repr(found)
    assert "root:" not in repr(found)
    assert sorted(os.listdir(root.parent)) == ["outside", "root"]
    assert (root.parent / "outside" / "f").read_text() == "SECRET"


def test_links_are_neither_followed_nor_written_through(root: Path, mechanism: str) -> None:
    (root / "link").symlink_to("../outside/f")
    (root / "folder").symlink_to("../outside")
    (root / "inner").symlink_to("f")
    (root / "loop").symlink_to("loop")
    source = """export default [...['link', 'folder/f', 'inner', 'loop'].map((path) => code(() => fs.readFileSync(path, 'utf8'))),
      code(() => fs.readdirSync('folder')), code(() => fs.statSync('link')), fs.existsSync('link'),
      code(() => fs.writeFileSync('folder/new', 'x')), code(() => fs.rmSync('folder/f')), code(() => fs.rmSync('folder', { recursive: true })),
      code(() => fs.copyFileSync('link', 'copy')), code(() => fs.renameSync('folder/f', 'stolen')), code(() => fs.appendFileSync('link', 'x'))]"""
    found = run(source, root)
    assert found[:4] == ["ELOOP"] * 4
    assert "SECRET" not in repr(found)
    assert {path.name for path in (root.parent / "outside").iterdir()} == {"f"}
    assert (root.parent / "outside" / "f").read_text() == "SECRET"


def test_writing_to_a_link_replaces_the_link(root: Path, mechanism: str) -> None:
    (root / "link").symlink_to("../outside/f")
    source = "fs.writeFileSync('link', 'mine'); export default fs.readFileSync('link', 'utf8')"
    assert run(source, root) == "mine"
    assert (root.parent / "outside" / "f").read_text() == "SECRET"


def test_a_hard_link_is_not_written_through(root: Path, mechanism: str) -> None:
    os.link(root.parent / "outside" / "f", root / "hard")
    source = "fs.appendFileSync('hard', '!'); fs.writeFileSync('hard', fs.readFileSync('hard', 'utf8') + '?'); export default 1"
    assert run(source, root) == 1
    assert (root.parent / "outside" / "f").read_text() == "SECRET"


def test_pipes_sockets_and_devices_neither_hang_nor_open(root: Path, mechanism: str) -> None:
    os.mkfifo(root / "pipe")
    try:
        os.mknod(root / "zero", 0o600 | 0o020000, os.makedev(1, 5))
    except OSError:
        (root / "zero").symlink_to("/dev/zero")
    source = """export default [code(() => fs.readFileSync('pipe')), code(() => fs.readFileSync('zero')), code(() => fs.appendFileSync('pipe', 'x')),
      fs.statSync('pipe').isFile()]"""
    found = run(source, root)
    assert set(found[:3]) <= {"ENXIO", "ELOOP", "EACCES", "EPERM"}
    assert found[3] is False


def test_the_names_of_other_cases_and_forms_are_other_names(root: Path, mechanism: str) -> None:
    (root / "É").write_text("composed")
    source = "export default ['É', 'E\\u0301', 'é', 'F', 'f '].map((name) => code(() => fs.readFileSync(name, 'utf8')))"
    assert run(source, root) == ["composed", "ENOENT", "ENOENT", "ENOENT", "ENOENT"]


def test_names_that_are_no_text_are_left_out(root: Path) -> None:
    (root / os.fsdecode(b"\xff\xfe")).write_text("x")
    assert run("export default fs.readdirSync('.')", root) == ["f"]


def test_a_folder_swapped_for_a_link_after_it_was_lent_stays_the_folder(root: Path) -> None:
    lent = files(root)
    loan = lent.loan("fs")
    root.rename(root.parent / "kept")
    root.symlink_to("outside")
    try:
        assert loan.host["readFileSync"]("f", "utf8") == "inside"
    finally:
        loan.close()


@contextmanager
def swapping(swap: Callable[[], None]) -> Iterator[None]:
    """Somebody else changes the folder meanwhile, as fast as they can."""
    ends = threading.Event()

    def work() -> None:
        while not ends.is_set():
            try:
                swap()
            except OSError:
                pass  # the guest was there first

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


RACE = """
const end = Date.now() + SECONDS * 1000; let reads = 0, escapes = 0, refused = 0;
while (Date.now() < end) {
  for (const path of ['d/f', 'g']) {
    try { const text = fs.readFileSync(path, 'utf8'); reads++; if (text.includes('SECRET')) escapes++; } catch { refused++; }
    try { fs.writeFileSync(path === 'g' ? 'd/w' : 'g2/w', 'planted'); } catch { refused++; }
    try { if (fs.readdirSync('d').includes('only-outside')) escapes++; } catch { refused++; }
  }
}
export default [reads > 0, refused > 0, escapes]
"""


@pytest.mark.parametrize("mode", ["read", "write", "overlay"])
def test_racing_links_never_lead_out(root: Path, mode: str, mechanism: str) -> None:
    outside = root.parent / "outside"
    (outside / "only-outside").write_text("SECRET")
    (root / "real").mkdir()
    (root / "real" / "f").write_text("inside")
    for name, target in (("to-outside", outside), ("to-secret", outside / "f")):
        (root / name).symlink_to(target)

    def swap() -> None:
        for real, link, name in (
            ("real", "to-outside", "d"),
            ("f", "to-secret", "g"),
            ("real", "to-outside", "g2"),
        ):
            for each in (real, link):
                os.rename(root / each, root / name)
                os.rename(root / name, root / each)

    lent = files(root, mode)  # type: ignore[arg-type]  # one of the modes
    with swapping(swap):
        result = run_code(CODE + RACE, lend=[lent], globals={"SECONDS": SECONDS}).wait(120)
    assert result.unwrap()[2] == 0
    assert result.unwrap()[:2] == [True, True]
    assert sorted(path.name for path in outside.iterdir()) == ["f", "only-outside"]
    assert (outside / "f").read_text() == "SECRET"


@pytest.mark.parametrize("path", [".", "", "./", "f/..", "x/../."])
def test_the_folder_itself_cannot_be_emptied_or_moved(
    root: Path, path: str, mechanism: str
) -> None:
    source = f"export default [code(() => fs.rmSync({path!r}, {{ recursive: true }})), code(() => fs.renameSync({path!r}, 'z'))]"
    assert run(source, root) == ["EBUSY", "EBUSY"]
    assert os.listdir(root) == ["f"]
