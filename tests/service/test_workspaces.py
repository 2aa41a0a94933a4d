"""`/workspace/...`: files of sessions over HTTP."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.contract.serving import Answer, Service, serving
from tests.service.talking import Small
from tests.waiting import until


def _put(service: Service, path: str, data: bytes) -> Answer:
    return service.ask("PUT", f"/workspace/{path}", data)


def _get(service: Service, path: str) -> Answer:
    return service.ask("GET", f"/workspace/{path}")


@pytest.mark.parametrize("name", ["a.csv", "deep/er/a.bin", "with%20space", "%C3%A9.txt", "a%2Fb"])
def test_a_file_goes_there_and_back(service: Service, name: str) -> None:
    data = bytes(range(256)) * 2000
    assert _put(service, f"there/{name}", data).status == 204
    found = _get(service, f"there/{name}")
    assert (found.status, found.body) == (200, data)
    assert found.headers["Content-Type"] == "application/octet-stream"
    assert found.headers["Content-Disposition"] == "attachment"


def test_programs_and_requests_share_the_files(service: Service) -> None:
    _put(service, "shared/in.txt", b"from outside")
    code = "import os; os.makedirs('out'); open('out/x', 'w').write(open('in.txt').read().upper())"
    found = service.execute(code, session_id="shared")
    assert [each["name"] for each in found["output_files"]] == ["out/x"]
    assert _get(service, "shared/out/x").body == b"FROM OUTSIDE"


def test_a_file_that_is_not_there_is_not_found_and_nothing_is_made(service: Service) -> None:
    assert _get(service, "never-used/file").status == 404
    _put(service, "used/file", b"")
    assert _get(service, "used/other").status == 404
    assert _get(service, "used/file/below").status == 404


@pytest.mark.parametrize(
    "path",
    ["..%2F..%2Fetc%2Fpasswd", "a%2F..%2Fb", "%2Fetc%2Fpasswd", ".", "a%2F%2Fb", "a%00b", "a/"],
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_path_that_leads_elsewhere_is_refused(service: Service, method: str, path: str) -> None:
    answer = service.ask(method, f"/workspace/paths/{path}", b"" if method == "PUT" else None)
    assert answer.status in (400, 404)
    assert "error" in answer.json


@pytest.mark.parametrize("session", ["..", ".leases", "a%2Fb", "%2e%2e", "x" * 129])
def test_a_session_that_is_none_is_refused(service: Service, session: str) -> None:
    assert _put(service, f"{session}/file", b"").status in (400, 404)
    assert service.ask("DELETE", f"/workspace/{session}").status in (400, 404)


def test_links_are_not_followed(service: Service) -> None:
    code = "import os; os.symlink('/etc/passwd', 'link'); os.symlink('/etc', 'folder')"
    service.execute(code, session_id="links")
    for path in ("link", "folder/passwd"):
        assert _get(service, f"links/{path}").status == 404
    assert _put(service, "links/folder/new", b"").status == 409
    assert _put(service, "links/link", b"a file now").status == 204
    assert _get(service, "links/link").body == b"a file now"


def test_a_folder_is_no_file(service: Service) -> None:
    _put(service, "folders/a/b", b"")
    assert _get(service, "folders/a").status == 409
    assert _put(service, "folders/a", b"").status == 409


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A program cannot make one; whatever made it, nobody writes into it."""
    with serving(SANDBOX_WORKSPACE=str(tmp_path)) as service:
        _put(service, "pipes/file", b"")
        os.mkfifo(tmp_path / "pipes" / "pipe")
        assert _get(service, "pipes/pipe").status == 404
        assert _put(service, "pipes/pipe", b"a file now").status == 204
        assert _get(service, "pipes/pipe").body == b"a file now"


def test_a_name_that_no_file_can_have_is_refused(service: Service) -> None:
    assert _put(service, f"names/{'x' * 300}", b"").status == 400


def test_deleting_ends_what_runs_there(service: Service) -> None:
    found: list[Answer] = []
    request = {"code": "open('f', 'w').close()\nwhile 1: 1", "session_id": "deleted"}
    asking = threading.Thread(target=lambda: found.append(service.ask("POST", "/execute", request)))
    asking.start()
    assert until(lambda: _get(service, "deleted/f").status == 200)
    assert service.ask("DELETE", "/workspace/deleted").status == 204
    asking.join(60)
    assert found[0].json["killed"]
    assert _get(service, "deleted/f").status == 404


def test_an_expired_workspace_is_never_served(small: Small) -> None:
    assert _put(small.service, "old/file", b"1").status == 204
    assert until(lambda: not (small.workspaces / "old").exists())
    assert _get(small.service, "old/file").status == 404


def test_workspaces_outlive_the_service_where_their_root_does(tmp_path: Path) -> None:
    for _ in range(2):
        with serving(SANDBOX_WORKSPACE=str(tmp_path / "root")) as service:
            count = service.execute(
                "import os; set_result(len(os.listdir())); open(str(len(os.listdir())), 'w')",
                session_id="kept",
            )["output"]
    assert count == 1
