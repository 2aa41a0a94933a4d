"""Settings from flags and from both seeds' environment variables, as the traits of `Service`."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from traitlets import TraitError

from ..errors import OptionError
from ..spelling import suggestion
from .addresses import address_of
from .guard import checked_key
from .settings import Settings

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_SIZES = {"": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 1000, "mb": 10**6}


def _text(text: str) -> str:
    return text


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise ValueError("a whole number")
    return int(text)


def _size(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,15}) ?([A-Za-z]*)", text)
    if not found or found[2].lower() not in _SIZES:
        raise ValueError("a size, such as 524288 or 64MiB")
    return int(found[1]) * _SIZES[found[2].lower()]


def _seconds(text: str) -> float:
    """`1h`, `90s`, `1h30m`; a plain number is seconds."""
    parts = re.findall(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(ms|s|m|h|d|)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError("a time, such as 90s or 1h")
    found = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not found:
        raise ValueError("a time above 0, such as 90s or 1h")
    return found


def _grace(text: str) -> float:
    return 0.0 if text in ("0", "0s") else _seconds(text)


def _yes_or_no(text: str) -> bool:
    word = text.strip().lower()
    if word not in _YES and word not in _NO:
        raise ValueError("1, true, yes or on, or 0, false, no or off")
    return word in _YES


def _binary(text: str) -> str:
    return shutil.which(text) or text


def _address(text: str) -> str:
    address_of(text)
    return text


def _key_file(text: str) -> str:
    try:
        key = checked_key(Path(text).read_text("utf-8", "replace"))
    except OSError as error:
        raise OptionError(f"{text!r:.200} cannot be read: {error.strerror}") from None
    if not key:
        raise OptionError(f"{text!r:.200} is empty; it has to hold the key")
    return key


def _host(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]", text):
        raise ValueError("the name or address of a host, without scheme and port")
    return text


class Setting(NamedTuple):
    """Where a trait is read from; earlier variables beat later ones, and the flag beats both."""

    trait: str
    flag: str
    value: str  # what stands behind the flag, for the help; empty for a switch
    read: Callable[[str], Any]
    variables: tuple[str, ...] = ()
    repeats: bool = False


SETTINGS = (
    Setting("listen", "listen", "ADDR", _address, ("SANDBOX_ADDR",)),
    Setting("key", "key-file", "FILE", _key_file),
    Setting("environment", "environment", "NAME", _text, ("SANDBOX_ENVIRONMENT",)),
    Setting("workspaces_root", "workspaces", "DIR", _text, ("SANDBOX_WORKSPACE",)),
    Setting("session_ttl", "session-ttl", "TIME", _seconds, ("SANDBOX_SESSION_TTL",)),
    Setting("python", "python", "FILE", _binary, ("SANDBOX_PYTHON_BIN",)),
    Setting("node", "node", "FILE", _binary, ("SANDBOX_NODE_BIN",)),
    Setting(
        "max_concurrent",
        "max-concurrent",
        "N",
        _whole,
        ("SANDBOX_EXECUTOR_MAX_CONCURRENT_JOBS", "SANDBOX_MAX_CONCURRENT"),
    ),
    Setting("max_output", "max-output", "SIZE", _size, ("SANDBOX_MAX_OUTPUT",)),
    Setting("max_memory", "max-memory", "SIZE", _size),
    Setting(
        "default_timeout_ms",
        "default-timeout-ms",
        "MS",
        _whole,
        ("SANDBOX_EXECUTOR_DEFAULT_TIMEOUT_MS",),
    ),
    Setting("max_timeout_ms", "max-timeout-ms", "MS", _whole, ("SANDBOX_EXECUTOR_MAX_TIMEOUT_MS",)),
    Setting("hosts", "host", "NAME", _host, repeats=True),
    Setting("callback_hosts", "callback-host", "NAME", _host, repeats=True),
    Setting("install_packages", "install-packages", "", _yes_or_no),
    Setting("log_code", "log-code", "", _yes_or_no, ("SANDBOX_LOG_CODE",)),
    Setting("grace", "grace", "TIME", _grace),
    Setting("max_body", "max-body", "SIZE", _size),
    Setting("read_timeout", "read-timeout", "TIME", _seconds),
    Setting("max_connections", "max-connections", "N", _whole),
)
KEY_VARIABLE = "SANDBOX_EXECUTOR_SERVICE_API_KEY"
_KEY = Setting("key", "", "", checked_key)
_BY_FLAG = {setting.flag: setting for setting in SETTINGS}


def traits_of(words: list[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """OptionError names the flag or the variable that cannot be read."""
    traits = _from_environment(environment)
    traits.update(_from_flags(words))
    return traits


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """An empty variable is one that is not set. All are read, also those that others beat."""
    traits: dict[str, Any] = {}
    if environment.get(KEY_VARIABLE):
        traits["key"] = _value(_KEY, KEY_VARIABLE, environment[KEY_VARIABLE])
    for setting in SETTINGS:
        for variable in reversed(setting.variables):
            if environment.get(variable):
                traits[setting.trait] = _value(setting, variable, environment[variable])
    return traits


def _from_flags(words: list[str]) -> dict[str, Any]:
    traits: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        flag, equals, text = word.removeprefix("--").partition("=")
        setting = _BY_FLAG.get(flag) if word.startswith("--") else None
        if setting is None:
            known = suggestion(flag, _BY_FLAG, "--")
            raise OptionError(f"serve has no option {word!r:.80}; {known}")
        if not setting.value:
            traits[setting.trait] = _switch(setting, equals)
            continue
        if not equals:
            text = next(rest, "")
        if not text or (text.startswith("--") and not equals):
            raise OptionError(f"--{flag} needs a value: --{flag} {setting.value}", flag)
        value = _value(setting, f"--{flag}", text)
        if setting.repeats:
            traits.setdefault(setting.trait, []).append(value)
        elif setting.trait in traits:
            raise OptionError(f"--{flag} was given twice", flag)
        else:
            traits[setting.trait] = value
    return traits


def _switch(setting: Setting, equals: str) -> bool:
    if equals:
        raise OptionError(f"--{setting.flag} takes no value; write just --{setting.flag}")
    return True


def _value(setting: Setting, source: str, text: str) -> Any:
    """`source` is the flag or the variable."""
    try:
        value = setting.read(text)
        given: Any = [value] if setting.repeats else value
        Settings(**{setting.trait: given})  # where bounds are known
    except OptionError as error:
        raise OptionError(f"{source}: {error}", source) from None
    except TraitError as error:
        raise OptionError(f"{source}: {error}", source) from None
    except ValueError as error:
        raise OptionError(f"{source} must be {error}, not {text!r:.80}", source) from None
    return value
