"""Stores: what they keep, for how long, and what they never believe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox_kernel import OptionError
from sandbox_kernel.permissions import (
    FilePermissionStore,
    InMemoryPermissionStore,
    PermissionPolicy,
)

ALLOW, DENY, ASK = PermissionPolicy.ALLOW, PermissionPolicy.DENY, PermissionPolicy.ASK
Store = InMemoryPermissionStore | FilePermissionStore


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "memory":
        return InMemoryPermissionStore()
    return FilePermissionStore(tmp_path / "kept" / "permissions.json")


def test_what_is_set_is_found_and_the_rest_falls_back(store: Store) -> None:
    store.set("mail.send", ALLOW)
    store.set("files.*", "deny")
    assert store.get("mail.send", {}) is ALLOW
    assert store.get("files.read", {}) is DENY
    assert store.get("fetch", {}) is ASK


def test_an_answer_about_a_name_beats_a_question_about_many_but_no_denial(store: Store) -> None:
    store.set("mail.*", "ask")
    store.set("mail.send", "allow")
    assert store.get("mail.send") is ALLOW
    assert store.get("mail.list") is ASK
    store.set("mail*", "deny")
    assert store.get("mail.send") is DENY


def test_what_was_kept_can_be_revoked(store: Store) -> None:
    store.set("mail.send", "allow")
    assert store.revoke("mail.send")
    assert not store.revoke("mail.send")
    assert store.get("mail.send") is ASK


def test_a_fallback_can_be_chosen_and_a_bad_one_is_refused() -> None:
    assert InMemoryPermissionStore(fallback="deny").get("x") is DENY
    with pytest.raises(OptionError, match="allow, deny or ask, not 'maybe'"):
        InMemoryPermissionStore(fallback="maybe")


# -- the file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "permissions.json"


def test_another_object_and_another_process_see_what_was_set(path: Path) -> None:
    first, second = FilePermissionStore(path), FilePermissionStore(path)
    assert second.get("mail.send") is ASK
    first.set("mail.send", "allow")
    assert second.get("mail.send") is ALLOW
    code = (
        "import sys\nfrom sandbox_kernel.permissions import FilePermissionStore\n"
        "FilePermissionStore(sys.argv[1]).set('mail.list', 'deny')"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert first.get("mail.list") is DENY
    assert first.get("mail.send") is ALLOW


def test_only_its_owner_can_read_the_file(path: Path) -> None:
    FilePermissionStore(path).set("mail.send", "allow")
    assert path.stat().st_mode & 0o777 == 0o600


def test_many_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    code = (
        "import sys\nfrom sandbox_kernel.permissions import FilePermissionStore\n"
        "store = FilePermissionStore(sys.argv[1])\n"
        "for n in range(10): store.set(f'{sys.argv[2]}.{n}', 'allow')"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), f"p{n}"]) for n in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    assert len(FilePermissionStore(path).entries()) == 40


def test_an_answer_is_kept_for_thirty_days_and_a_rule_until_it_is_revoked(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FilePermissionStore(path)
    store.remember("mail.send", ALLOW)
    store.set("mail.list", ALLOW)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 29 * 86_400)
    assert store.get("mail.send") is ALLOW
    monkeypatch.setattr(time, "time", lambda: now + 31 * 86_400)
    assert store.get("mail.send") is ASK
    assert store.get("mail.list") is ALLOW
    assert list(store.entries()) == ["mail.list"]


@pytest.mark.parametrize(
    "text",
    [
        b"not JSON",
        b"[]",
        b'{"mail.send": "allow"}',
        b'{"mail.send": {"effect": "maybe", "until": null, "used": null}}',
        b'{"mail.send": {"effect": "allow", "until": "soon", "used": null}}',
        b'{"*.send": {"effect": "allow", "until": null, "used": null}}',
        b"\xff",
        b"[" * 100_000,
        b" " * ((1 << 20) + 1),
    ],
    ids=lambda text: text[:20].decode("latin-1"),
)
def test_a_damaged_file_is_kept_aside_and_everything_is_denied(path: Path, text: bytes) -> None:
    path.write_bytes(text)
    path.chmod(0o600)
    store = FilePermissionStore(path)
    with pytest.warns(UserWarning, match="it is damaged, and now kept as"):
        assert store.get("mail.send") is DENY
    (aside,) = path.parent.glob("*.damaged-*")
    assert aside.read_bytes() == text
    assert store.get("mail.send") is DENY
    with pytest.raises(PermissionError, match="cannot be trusted"):
        store.set("mail.send", "allow")


def _grant(path: Path) -> None:
    entry = {"effect": "allow", "until": None, "used": None}
    path.write_text(json.dumps({"*": entry}))


def test_a_file_that_others_can_write_is_not_believed(path: Path) -> None:
    _grant(path)
    path.chmod(0o666)
    store = FilePermissionStore(path)
    with pytest.warns(UserWarning, match="others can write it; chmod 600"):
        assert store.get("mail.send") is DENY


def test_a_link_to_a_file_is_not_believed(path: Path, tmp_path: Path) -> None:
    granted = tmp_path / "elsewhere.json"
    _grant(granted)
    granted.chmod(0o600)
    path.symlink_to(granted)
    store = FilePermissionStore(path)
    with pytest.warns(UserWarning, match="cannot be opened"):
        assert store.get("mail.send") is DENY


def test_a_fifo_is_not_believed_and_nobody_waits_for_it(path: Path) -> None:
    os.mkfifo(path, 0o600)
    store = FilePermissionStore(path)
    with pytest.warns(UserWarning, match="not a regular file"):
        assert store.get("mail.send") is DENY


def test_a_store_that_is_edited_while_it_is_used_is_read_again(path: Path) -> None:
    store = FilePermissionStore(path)
    store.set("mail.send", "allow")
    assert store.get("mail.send") is ALLOW
    text = path.read_text().replace("allow", "deny")
    replacement = path.with_suffix(".new")
    replacement.write_text(text)
    replacement.chmod(0o600)
    replacement.replace(path)
    assert store.get("mail.send") is DENY
    path.unlink()
    assert store.get("mail.send") is ASK


def test_a_folder_is_refused_and_the_usual_place_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OptionError, match="is a folder; name a file in it"):
        FilePermissionStore(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert FilePermissionStore().path == tmp_path / "sandbox-kernel" / "permissions.json"
