"""Which addresses of the internet protocol a guest may be connected to."""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_6TO4 = ipaddress.IPv6Network("2002::/16")
_TEREDO = ipaddress.IPv6Network("2001::/32")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)
_NEVER = tuple(
    ipaddress.ip_network(each)
    for each in (
        *("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15"),
        *(
            "240.0.0.0/4",
            "255.255.255.255/32",
            "fec0::/10",
            "100::/64",
            "5f00::/16",
            "2001:db8::/32",
        ),
    )
)


def is_public(text: str) -> bool:
    """Whether an address is one of the public internet, in every form that may carry another."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if "%" in text:
        return False  # an interface of this machine
    carried = _carried(address)
    if carried and address in _NAT64[0]:
        return all(map(_is_public, carried))  # which is all that it says
    return all(map(_is_public, [address, *carried]))


def _is_public(address: Address) -> bool:
    if any(address.version == network.version and address in network for network in _NEVER):
        return False
    return address.is_global and not (
        address.is_multicast
        or address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_reserved
        or address.is_unspecified
    )


def _carried(address: Address) -> list[Address]:
    """IPv4 addresses that lead to the same place: mapped, compatible, NAT64, 6to4, Teredo, ISATAP."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    number = int(address)
    low = ipaddress.IPv4Address(number & 0xFFFFFFFF)
    found: list[Address] = []
    if address.ipv4_mapped is not None:
        found.append(address.ipv4_mapped)
    if address in _COMPATIBLE or any(address in network for network in _NAT64):
        found.append(low)
    if address in _6TO4:
        found.append(ipaddress.IPv4Address(number >> 80 & 0xFFFFFFFF))
    if address in _TEREDO:
        found += [ipaddress.IPv4Address(number >> 64 & 0xFFFFFFFF)]
        found.append(ipaddress.IPv4Address(~number & 0xFFFFFFFF))
    if number >> 32 & 0xFFFFFFFF in _ISATAP:
        found.append(low)
    return found
