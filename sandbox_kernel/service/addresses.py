"""Where the service listens, who may be meant by `Host`, and where tools may be called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

from ..errors import OptionError

_UNIX = "unix:"
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
_PORT = r"(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_CHARACTER = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})"
_PATH = rf"(?:/{_CHARACTER}*)?(?:\?{_CHARACTER}*)?"


class Address(NamedTuple):
    """Either a path, or a host and a port; an empty host means all interfaces."""

    host: str = ""
    port: int = 0
    path: str = ""

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it."""
        if self.path or self.host == "localhost":
            return True
        address = _ip(self.host)
        return address is not None and address.is_loopback


def address_of(text: object) -> Address:
    """`127.0.0.1:9000`, `[::1]:9000`, `:9000` or `unix:/run/sandbox.sock`."""
    if not isinstance(text, str):
        raise OptionError(f"an address is text such as 127.0.0.1:9000, not {text!r:.80}")
    if text.startswith(_UNIX):
        if len(text) == len(_UNIX) or "\0" in text:
            raise OptionError(f"the address {text!r:.80} has no path; write unix:PATH")
        return Address(path=text.removeprefix(_UNIX))
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    known = bare in ("", "localhost") or _ip(bare) is not None
    if not colon or not known or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise OptionError(
            f"the address {text!r:.80} cannot be listened on; write 127.0.0.1:9000, [::1]:9000,"
            " :9000 for all interfaces, or unix:PATH"
        )
    return Address(bare, int(port))


def meant_by(host: str, known: Set[str]) -> bool:
    """Whether the `Host` of a request, with or without a port, is one of the names."""
    return re.sub(r":[0-9]{1,5}$", "", host).rstrip(".").lower() in known


def names_of(address: Address, hosts: Iterable[str]) -> frozenset[str] | None:
    """The `Host`s that are meant, in lower case; None if any is, since elsewhere the key guards."""
    given = frozenset(host.lower() for host in hosts)
    if not address.is_local:
        return given or None
    own = f"[{address.host}]" if ":" in address.host else address.host
    return given.union(_LOCAL_NAMES, [own.lower()] if own else [])


@lru_cache(1_000)  # every request asks for its own
def pattern_of_callbacks(requester: str, allowed: tuple[str, ...]) -> str:
    """URLs that tools may be called on: at the requester's own address, or at a host that is allowed.

    The same pattern checks requests and stands in the OpenAPI document. An empty requester is one
    behind a unix socket, who is on this machine.
    """
    hosts = [*_hosts_of(requester), *allowed]
    alternatives = "|".join(dict.fromkeys(re.escape(host) for host in hosts))
    return rf"^https?://(?:{alternatives})(?::{_PORT})?{_PATH}$"


def _hosts_of(requester: str) -> list[str]:
    address = _ip(requester)
    if address is None or address.is_loopback:
        return list(_LOCAL_NAMES)
    return [f"[{address}]" if address.version == 6 else str(address)]


def _ip(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
