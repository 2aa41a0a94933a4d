"""docs/deploying.md and docs/service.md: the commands, flags and variables that they name are ours."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from sandbox_kernel.cli.help import HELP
from sandbox_kernel.service.addresses import address_of
from sandbox_kernel.service.flags import KEY_VARIABLE, SETTINGS, traits_of
from sandbox_kernel.service.handlers import ROUTES
from sandbox_kernel.service.settings import Settings
from tests.contract.serving import KEY, serving_as, started
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
DEPLOYING = (ROOT / "docs" / "deploying.md").read_text("utf-8")
SERVICE = (ROOT / "docs" / "service.md").read_text("utf-8")
BLOCKS = re.findall(r"^```text\n(.*?)^```$", DEPLOYING, re.S | re.M)
CONTAINER, COMPOSE, UNIT, POD = BLOCKS


def _checked(words: list[str], key: Path) -> Settings:
    """As the service would start with them, the key's file apart."""
    key.write_text("a key")
    given = [str(key) if word.endswith(("/key", "_key", "/sandbox")) else word for word in words]
    environment = dict(re.findall(r"(SANDBOX_\w+)=(\S+)", CONTAINER))
    settings = Settings(**traits_of(given, environment))
    settings.check()
    return settings


# ---------------------------------------------------------------------------- the container


def _instructions(name: str) -> list[str]:
    joined = CONTAINER.replace("\\\n", " ")
    return [line[len(name) + 1 :] for line in joined.splitlines() if line.startswith(f"{name} ")]


def test_the_container_file_installs_and_starts_what_there_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (image,) = _instructions("FROM")
    python = re.fullmatch(r"python:([0-9.]+)-slim", image)
    assert python
    assert SpecifierSet(project["requires-python"]).contains(python[1])
    (run,) = _instructions("RUN")
    package, user = (shlex.split(each) for each in run.split("&&"))
    wanted = Requirement(package[-1])
    assert wanted.name == project["name"]
    assert wanted.extras <= set(project["optional-dependencies"])
    assert _instructions("USER") == [user[user.index("--uid") + 1]]
    (variables,) = _instructions("ENV")
    given = dict(each.split("=", 1) for each in variables.split())
    known = {name for setting in SETTINGS for name in setting.variables}
    assert {name for name in given if name.startswith("SANDBOX")} <= known
    assert _instructions("EXPOSE") == [str(address_of(given["SANDBOX_ADDR"]).port)]
    (entry,) = _instructions("ENTRYPOINT")
    command, verb = json.loads(entry)
    assert command in project["scripts"]
    assert verb in HELP
    assert _instructions("STOPSIGNAL") == ["SIGTERM"]


def _compose() -> Any:
    return yaml.safe_load(COMPOSE)["services"]["sandbox"]


def test_the_container_starts_with_a_key_only(tmp_path: Path) -> None:
    settings = _checked(_compose()["command"], tmp_path / "key")
    assert settings.callback_hosts == ["agent"]
    assert settings.listen == ":9000"
    assert float(_compose()["stop_grace_period"].removesuffix("s")) > settings.grace


def test_the_container_is_hardened() -> None:
    """cap_drop: ALL, no-new-privileges, non-root, read-only root filesystem, a tmpfs scratch space, memory / CPU / PID limits, and no external network"""
    compose = _compose()
    assert compose["read_only"] is True
    assert compose["cap_drop"] == ["ALL"]
    assert compose["security_opt"] == ["no-new-privileges:true"]
    (user,) = _instructions("USER")
    assert compose["user"] == f"{user}:{user}"
    folders = {each.partition(":")[0]: each for each in compose["tmpfs"]}
    assert set(folders) == {"/tmp", "/var/sandbox"}
    assert f"uid={user}" in folders["/var/sandbox"]
    assert all(compose[each] for each in ("mem_limit", "cpus", "pids_limit"))
    networks = yaml.safe_load(COMPOSE)["networks"]
    assert [networks[each] for each in compose["networks"]] == [{"internal": True}]
    assert compose["secrets"] == list(yaml.safe_load(COMPOSE)["secrets"])


_HARDENED = """
set -e
mount --make-rprivate /
mount -t tmpfs -o {scratch} tmpfs /tmp
mount -t tmpfs -o {workspaces} tmpfs /mnt
if [ -n "{hidden}" ]; then
  mkdir /tmp/base; mount --bind {base} /tmp/base
  mount -t tmpfs -o mode=755 tmpfs {hidden}
  mkdir -p {base}; mount --move /tmp/base {base}; rmdir /tmp/base
fi
mount -o remount,bind,ro /
exec setpriv --reuid={user} --regid={user} --clear-groups --no-new-privs \\
  --bounding-set=-all --inh-caps=-all "$@"
"""


def _hardened() -> list[str]:
    """What starts a command as the container would: its user, its file system, no capabilities."""
    folders = dict(each.split(":") for each in _compose()["tmpfs"])
    user = _compose()["user"].partition(":")[0]
    base = Path(sys.base_prefix)
    closed = [each for each in (*reversed(base.parents), base) if not each.stat().st_mode & 1]
    script = _HARDENED.format(
        scratch=folders["/tmp"],
        workspaces=folders["/var/sandbox"],
        base=base,
        hidden=closed[0] if closed else "",  # from other users, as the home of root is
        user=user,
    )
    return ["unshare", "--mount", "sh", "-c", script, "sh"]


def test_it_works_with_all_that_taken_away() -> None:
    """Not in a container, which cannot be built here, but with what the compose file asks for."""
    hardened = _hardened()
    if subprocess.run([*hardened, sys.executable, "-c", ""], capture_output=True).returncode:
        pytest.skip("only root can take away what the container takes away")
    environment = {
        "PATH": os.environ["PATH"],
        "SANDBOX_WORKSPACE": "/mnt",  # for /var/sandbox, which is not there to be mounted on
        "SANDBOX_EXECUTOR_SERVICE_API_KEY": KEY,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    ours = [*hardened, sys.executable, "-m", "sandbox_kernel"]
    with serving_as(started([*ours, "serve", "--listen", "127.0.0.1:0"], environment)) as service:
        assert until(lambda: service.ask("GET", "/readyz").status == 200, 60)
        code = "open('f', 'w').write('kept'); print(open('f').read())"
        found = service.execute(code, session_id="s")
        assert (found["stdout"], found["exit_code"]) == ("kept\n", 0)
        assert service.ask("GET", "/workspace/s/f").body == b"kept"
        found = service.ask("POST", "/run", {"source": "export default 1"}).json
        assert (found["status"], found["result"]) == ("success", 1)
    doctor = subprocess.run(
        [*ours, "doctor", "--json"], env=environment, capture_output=True, text=True
    )
    assert doctor.returncode == 0, doctor.stderr
    assert json.loads(doctor.stdout)["programs"]["isolation"] in ("namespaces", "landlock")


# ---------------------------------------------------------------------------- systemd


def test_the_unit_starts_it(tmp_path: Path) -> None:
    command = re.search(r"^ExecStart=\S+ serve (.*)$", UNIT, re.M)
    assert command
    settings = _checked(shlex.split(command[1]), tmp_path / "key")
    assert settings.address.path == "/run/sandbox/http.sock"
    assert "NoNewPrivileges=yes" in UNIT
    stop = re.search(r"^TimeoutStopSec=(\d+)$", UNIT, re.M)
    assert stop
    assert int(stop[1]) > settings.grace


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd here")
    unit = tmp_path / "sandbox.service"
    unit.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={sys.executable}", UNIT, flags=re.M))
    said = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")
    exposed = ["systemd-analyze", "security", "--offline=true", "--threshold=50", str(unit)]
    said = subprocess.run(exposed, capture_output=True, text=True)
    if "offline" not in said.stderr:  # which older ones do not know
        assert said.returncode == 0, said.stdout[-300:]


# ---------------------------------------------------------------------------- Kubernetes


def test_the_pod_is_probed_where_something_answers(tmp_path: Path) -> None:
    pod = yaml.safe_load(POD)
    (container,) = pod["containers"]
    settings = _checked(container["args"], tmp_path / "key")
    assert settings.grace < pod["terminationGracePeriodSeconds"]
    probes = [container[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]
    open_to_all = {pattern for pattern, handler in ROUTES if not handler.needs_key}
    assert {each["path"] for each in probes} <= open_to_all
    ports = {each["containerPort"] for each in container["ports"]}
    assert {each["port"] for each in probes} | {settings.address.port} == ports


def test_the_pod_is_hardened() -> None:
    (container,) = yaml.safe_load(POD)["containers"]
    context = container["securityContext"]
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["runAsNonRoot"] is True
    assert _instructions("USER") == [str(context["runAsUser"])]
    assert context["readOnlyRootFilesystem"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert set(container["resources"]["limits"]) == {"memory", "cpu"}
    mounted = {each["mountPath"] for each in container["volumeMounts"]}
    assert {"/tmp", "/var/sandbox"} < mounted


# ---------------------------------------------------------------------------- settings


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.flag)
def test_every_setting_has_its_row(setting: object) -> None:
    flag, variables = setting.flag, setting.variables  # type: ignore[attr-defined]  # a Setting
    row = re.search(rf"^\| `--{flag}` \|.*$", SERVICE, re.M)
    assert row
    for variable in (*variables, *((KEY_VARIABLE,) if flag == "key-file" else ())):
        assert f"`{variable}`" in row[0]
