"""Which requests `fetch()` makes: hosts with their methods, paths and headers; URLs in one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urljoin

from ..brief import brief_start
from ..errors import OptionError

METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())
_LABEL = r"(?!-)[a-z0-9_-]{1,63}(?<!-)"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?")
_ADDRESS = re.compile(r"\[[0-9a-f:.]{2,45}\]")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#\\]*)(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?(?:#.*)?",
    re.IGNORECASE | re.DOTALL,
)
_PORTS = {"https": 443, "http": 80}
_LONGEST_URL = 8_192


@dataclass(frozen=True, slots=True)
class Host:
    """What may be asked of one host; headers are added to requests to it, and to no other."""

    methods: Iterable[str] = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    paths: Iterable[str] = ("*",)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class Rule(NamedTuple):
    """A checked Host."""

    methods: frozenset[str]
    paths: tuple[str, ...]
    headers: dict[str, str]

    def allows_path(self, path: str) -> bool:
        if "*" in self.paths:
            return True
        return not _climbs(path) and any(_pattern(each).fullmatch(path) for each in self.paths)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    """`*` spans slashes; nothing else is special."""
    return re.compile(".*".join(map(re.escape, glob.split("*"))), re.DOTALL)


class Target(NamedTuple):
    """A request's URL in the only spelling that is used: for rules, for connecting, for asking."""

    scheme: str
    name: str
    port: int
    path: str
    query: str | None

    @property
    def key(self) -> str:
        """As `hosts` names it: with the port unless that is the scheme's own."""
        return self.name if self.port == _PORTS[self.scheme] else f"{self.name}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.key}"

    @property
    def url(self) -> str:
        return self.origin + self.path + ("" if self.query is None else f"?{self.query}")


def target_of(url: object) -> Target:
    """Raises ValueError for anything that could be read in two ways."""
    if not isinstance(url, str) or len(url) > _LONGEST_URL:
        raise ValueError(f"a URL is a text of at most {_LONGEST_URL:,} characters")
    text = url.strip(" ")
    if re.search(r"[\x00-\x20\x7f\\]", text):
        raise ValueError("a URL has no control characters, blanks or backslashes")
    found = _URL.fullmatch(text)
    if found is None:
        raise ValueError(f"not a URL with https:// in front: {text:.100}")
    scheme, authority = found["scheme"].lower(), found["authority"].lower()
    if "@" in authority:
        raise ValueError("a URL must not have a user or password in it")
    name, port = _name_and_port(authority, scheme)
    path = _normal_path(found["path"] or "/")
    query = (
        None
        if found["query"] is None
        else quote(found["query"], safe="%!$&'()*+,;=:@/?-._~[]{}|^`")
    )
    return Target(scheme, name, port, path, query)


def _name_and_port(authority: str, scheme: str) -> tuple[str, int]:
    name, colon, digits = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        name, digits = authority, ""
    if digits and not (digits.isascii() and digits.isdigit() and 0 < int(digits) < 65_536):
        raise ValueError(f"the port {digits:.20} is none")
    if not (_NAME.fullmatch(name) or _ADDRESS.fullmatch(name)) or len(name) > 253:
        raise ValueError(f"the host {name!r:.100} is not a name of letters, digits and hyphens")
    return name.removesuffix("."), int(digits) if digits else _PORTS[scheme]


def _normal_path(path: str) -> str:
    """Dots worked out, as servers do; encoded ones count, too."""
    quoted = quote(path, safe="%!$&'()*+,;=:@/-._~[]|^")
    parts: list[str] = []
    segments = quoted.split("/")[1:]
    for at, segment in enumerate(segments):
        plain = re.sub("%2e", ".", segment, flags=re.IGNORECASE)
        if plain not in (".", ".."):
            parts.append(segment)
            continue
        if plain == ".." and parts:
            parts.pop()
        if at == len(segments) - 1:
            parts.append("")
    return "/" + "/".join(parts)


def _climbs(path: str) -> bool:
    """Whether a server could read a `..` in it: one that decodes slashes, decodes twice, or drops `;x`."""
    plain = unquote(unquote(path))
    return any(part.partition(";")[0] == ".." for part in re.split(r"[/\\]", plain))


def joined(base: Target, location: str) -> Target:
    """Where a redirect leads."""
    return target_of(urljoin(base.url, location))


def rules_of(hosts: object) -> dict[str, Rule]:
    """By name, or `name:port`. Raises OptionError for what is no host."""
    if isinstance(hosts, str):
        raise OptionError(f"hosts of fetch must be a list; write [{hosts!r}]", "hosts")
    if isinstance(hosts, Mapping):
        given = dict(hosts)
    elif isinstance(hosts, Iterable):
        given = {each: Host() for each in hosts}
    else:
        raise OptionError(f"hosts of fetch must be a list of names, not {hosts!r:.80}", "hosts")
    if not given:
        raise OptionError("hosts of fetch is empty; name at least one host", "hosts")
    rules: dict[str, Rule] = {}
    for name, host in given.items():
        key = _checked_key(name)
        if key in rules:
            raise OptionError(f"hosts of fetch has {key!r:.80} twice", "hosts")
        rules[key] = _checked_rule(name, host)
    return rules


def _checked_key(name: object) -> str:
    if isinstance(name, str):
        plain, colon, digits = name.lower().rpartition(":")
        if not colon or name.endswith("]"):
            plain, digits = name.lower(), "1"
        is_port = digits.isascii() and digits.isdigit() and 0 < int(digits) < 65_536
        if is_port and (_NAME.fullmatch(plain) or _ADDRESS.fullmatch(plain)):
            return name.lower().removesuffix(".")
    raise OptionError(
        f"hosts of fetch has {name!r:.80}, which is not the name of a host;"
        " write it like 'api.example.org' or 'localhost:8080', without https:// and path",
        "hosts",
    )


def _checked_rule(name: object, host: object) -> Rule:
    if not isinstance(host, Host):
        raise OptionError(f"hosts[{name!r:.80}] must be a Host(…), not {host!r:.80}", "hosts")
    if not all(_is_list(each) for each in (host.methods, host.paths)):
        raise OptionError(f"hosts[{name!r:.80}]: methods and paths are lists", "hosts")
    if not isinstance(host.headers, Mapping):
        raise OptionError(f"hosts[{name!r:.80}]: headers is a mapping of names to texts", "hosts")
    methods = frozenset(str(each).upper() for each in host.methods)
    if not methods or not methods <= METHODS:
        raise OptionError(
            f"hosts[{name!r:.80}]: methods {sorted(methods)} must be some of {sorted(METHODS)}",
            "hosts",
        )
    paths = tuple(host.paths)
    if not paths or not all(isinstance(each, str) and each[:1] in ("/", "*") for each in paths):
        raise OptionError(f"hosts[{name!r:.80}]: each of paths begins with / or *", "hosts")
    for path in paths:
        _check_that_it_can_match(path, f"hosts[{name!r:.80}]")
    return Rule(methods, paths, check_headers(dict(host.headers), f"hosts[{name!r:.80}]"))


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)


def _check_that_it_can_match(path: str, where: str) -> None:
    """Paths are compared in the spelling that is requested."""
    added = "" if path.startswith("/") else "/"
    normal = _normal_path(added + path).removeprefix(added)
    if normal != path:
        instead = "a query is no part of it" if "?" in path else f"write {normal!r:.200}"
        raise OptionError(f"{where}: the path {path!r:.200} can never match; {instead}", "hosts")


def check_headers(headers: Mapping[Any, object], where: str) -> dict[str, str]:
    """Raises OptionError, a ValueError, for names and values that could end a header."""
    for name, value in headers.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise OptionError(f"{where}: {brief_start(name)} is not the name of a header")
        if not isinstance(value, str) or re.search(r"[^\t\x20-\x7e\x80-\xff]", value):
            raise OptionError(f"{where}: the header {name} has a value that no header can have")
    return {str(name): str(value).strip() for name, value in headers.items()}
