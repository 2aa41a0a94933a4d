"""`--install-packages`: programs install packages if the operator allows it, from where pip and npm are told to look."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.contract.serving import Service
from tests.contract.wheels import wheel
from tests.service.talking import Small, answering, streaming, told
from tests.waiting import until

_CATCHING = """
try:
    install_package({name!r})
except Exception as error:
    set_result(f"{{type(error).__name__}}: {{error}}")
"""


def test_a_program_installs_a_package_for_itself(small: Small) -> None:
    wheel(small.wheels, "tiny", "answer = 42\n")
    code = "install_package('tiny==1.0')\nimport tiny\nset_result(tiny.answer)"
    found = small.service.execute(code)
    assert (found["output"], found["error"]) == (42, None)
    assert found["output_files"] == []
    assert "ModuleNotFoundError" in small.service.execute("import tiny")["stderr"]


def test_a_package_that_is_not_there_is_an_error_without_the_hosts_paths(small: Small) -> None:
    found = small.service.execute(_CATCHING.format(name="not-there"))
    assert "not-there" in found["output"]
    assert str(small.wheels) not in str(found)


def test_a_program_chooses_no_index(small: Small) -> None:
    for name in (
        "--index-url=http://127.0.0.1:1/",
        "http://127.0.0.1:1/tiny.whl",
        "../tiny",
        "-r x",
    ):
        found = small.service.execute(_CATCHING.format(name=name))
        assert "not the name of a package" in found["output"]


def test_unless_it_is_allowed_there_is_no_install_package(service: Service) -> None:
    for code in ("install_package('tiny')", "call_tool('install_package', {'name': 'tiny'})"):
        assert "NameError" in service.execute(code)["stderr"]


# ---------------------------------------------------------------------------- Node

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
_INSTALLING = "await installPackage('tinypackage@1.0.0'); setResult(require('tinypackage'));"
_CATCHING_IN_NODE = """
try {{ await installPackage({name!r}); }} catch (error) {{ setResult(String(error)); }}
"""


def _node(service: Service, code: str, **fields: Any) -> Any:
    return service.execute(code, language="node", **fields)


@needs_npm
def test_a_node_program_installs_a_package_for_itself(small: Small) -> None:
    found = _node(small.service, _INSTALLING)
    assert (found["output"], found["error"]) == (42, None)
    assert found["output_files"] == []
    assert "Cannot find module" in _node(small.service, "require('tinypackage')")["stderr"]
    assert not (small.wheels.parent / "script-ran").exists()


@needs_npm
def test_a_session_of_node_keeps_what_it_installed(small: Small) -> None:
    """Its time to live is a second, which may be over too soon on a busy machine."""
    code = "import answer from 'tinypackage'; setResult(answer);"

    def is_kept() -> bool:
        assert _node(small.service, _INSTALLING, session_id="npm")["output"] == 42
        return bool(_node(small.service, code, session_id="npm")["output"] == 42)

    assert until(is_kept)
    assert "tinypackage" in _node(small.service, code, session_id="another")["stderr"]
    assert small.service.ask("DELETE", "/workspace/npm").status == 204
    assert "tinypackage" in _node(small.service, code, session_id="npm")["stderr"]


@needs_npm
def test_an_install_is_nobodys_call_but_the_services(small: Small) -> None:
    """Neither a callback nor a reader of events is asked to install, and tools work beside it."""
    code = "const n = await callTool('double', {n: 21});" + _INSTALLING
    with answering(lambda call: told(2 * call["args"]["n"])) as (url, calls):
        assert _node(small.service, code, callback_url=url)["output"] == 42
    assert [call["name"] for call in calls] == ["double"]
    body = {"code": _INSTALLING, "language": "node", "tools": ["double"]}
    with streaming(small.service, "/execute", body) as events:
        found = list(events)
    assert [event["event"] for event in found] == ["result"]
    assert found[0]["output"] == 42


@needs_npm
def test_an_npm_package_that_is_not_there_is_an_error_without_the_hosts_paths(small: Small) -> None:
    found = _node(small.service, _CATCHING_IN_NODE.format(name="not-there"))
    assert "no package not-there was found" in found["output"]
    assert small.registry not in str(found)
    assert str(small.wheels.parent) not in str(found)


@needs_npm
def test_a_node_program_chooses_no_registry(small: Small) -> None:
    for name in (
        "--registry=http://127.0.0.1:1/",
        "http://127.0.0.1:1/tiny.tgz",
        "tinypackage@npm:other",
        "../tiny",
    ):
        found = _node(small.service, _CATCHING_IN_NODE.format(name=name))
        assert "not the name of a package" in found["output"]


def test_unless_it_is_allowed_there_is_no_install_package_in_node(service: Service) -> None:
    assert _node(service, "setResult(typeof installPackage);")["output"] == "undefined"
    found = _node(service, "await callTool('install_package', {name: 'tinypackage'});")
    assert "ReferenceError: callTool is not defined" in found["stderr"]
