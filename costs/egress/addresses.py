"""Say which addresses may be reached: by name before a look-up, and by number after it.

Only the hosts listed here are reached. EGRESS_ALLOW adds origins, separated by commas and written out in
full (http://127.0.0.1:8999), for tests and for a mirror inside the firm.
"""

import ipaddress
import os
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from .secrets import shown

_HOST_SUFFIXES = (".amazonaws.com",)
_HOSTS = frozenset(
    (
        "prices.azure.com",
        "management.azure.com",
        "cloudbilling.googleapis.com",
        "compute.googleapis.com",
        "cloudquotas.googleapis.com",
        "apexapps.oracle.com",
        "www.ecb.europa.eu",
        "data-api.ecb.europa.eu",
    )
)
_PORTS = {"http": 80, "https": 443}
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")
_LOOPBACK_NAME = "localhost"

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def _networks(*texts: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in texts)


# Never reached, whatever is listed. Python's is_private and is_global are no help for most of these:
# 100.64.0.0/10 is not private, 192.0.0.192 and multicast are global.
_NEVER = _networks(
    "0.0.0.0/8",
    "100.64.0.0/10",  # shared by carriers; Alibaba's metadata is 100.100.100.200
    "168.63.129.16/32",  # Azure's host agent
    "169.254.0.0/16",  # link-local, and with it the metadata of most clouds
    "192.0.0.0/24",  # Oracle's metadata is 192.0.0.192
    "192.0.2.0/24",
    "192.88.99.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",  # multicast, reserved, broadcast
    "::/128",
    "64:ff9b:1::/48",  # hides an IPv4 address in a way that each network chooses for itself
    "100::/64",
    "2001::/23",  # Teredo and other special uses
    "2001:db8::/32",
    "fd00:ec2::/32",  # metadata of AWS
    "fd20:ce::/32",  # metadata of Google
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
)
_LOOPBACK = _networks("127.0.0.0/8", "::1/128")
_PRIVATE = _networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")


class EgressRefused(Exception):
    """A connection to an address that is not on the list."""


@dataclass(frozen=True)
class Target:
    """One address, taken apart."""

    scheme: str
    host: str
    port: int
    path: str  # with the query, fit for the first line of a request
    is_listed: bool  # in EGRESS_ALLOW

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def _target(url: str) -> Target:
    if _CONTROL.search(url):
        raise ValueError("control characters")
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc:
        raise ValueError("not http, no host, or a user")
    port = _PORTS[parts.scheme] if parts.port is None else parts.port
    query = f"?{parts.query}" if parts.query else ""
    path = quote((parts.path or "/") + query, safe="%/:=&?~+!$,;'@()*[]")
    return Target(parts.scheme, parts.hostname.lower(), port, path, False)


def _listed_origins() -> Iterator[tuple[str, str, int]]:
    for entry in os.environ.get("EGRESS_ALLOW", "").split(","):
        if entry.strip():
            try:
                yield _target(entry.strip()).origin
            except ValueError as error:
                wanted = "origin such as http://127.0.0.1:8999"
                raise EgressRefused(f"EGRESS_ALLOW: {entry.strip()!r} is no {wanted}") from error


def target_of(url: str) -> Target:
    """Return the parts of an address that is on the list; raise for any other.

    Whole host names are compared: neither amazonaws.com.example.org nor user@amazonaws.com passes.
    """
    try:
        found = _target(url)
    except ValueError as error:
        raise EgressRefused(f"{shown(url)!r} is no address that this product may connect to") from error
    if found.origin in set(_listed_origins()):
        return Target(*found.origin, found.path, True)
    is_ours = found.host in _HOSTS or found.host.endswith(_HOST_SUFFIXES)
    if is_ours and found.scheme == "https" and found.port == _PORTS["https"]:
        return found
    raise EgressRefused(f"{shown(url)!r} is not on the list of addresses that this product may connect to")


def check_url(url: str) -> None:
    """Raise unless the address is on the list."""
    target_of(url)


def _within(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def unwrapped(text: str) -> Address:
    """Return the address that a packet would reach in the end.

    >>> unwrapped("64:ff9b::7f00:1")
    IPv4Address('127.0.0.1')
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and (address in _NAT64 or (address in _COMPATIBLE and int(address) > 1)):
        inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return inner or address


def _is_loopback_name(host: str) -> bool:
    if host == _LOOPBACK_NAME:
        return True
    try:
        return _within(ipaddress.ip_address(host), _LOOPBACK)
    except ValueError:
        return False


def check_address(target: Target, text: str) -> None:
    """Raise unless a host may have this address.

    A listed origin may lie in a private network. This machine itself is reached only where the list names
    it as such: a name that turns out to mean this machine is an attack, or a mistake.
    """
    address = unwrapped(text)
    is_allowed = False
    if not _within(address, _NEVER):
        if _within(address, _LOOPBACK):
            is_allowed = target.is_listed and _is_loopback_name(target.host)
        elif _within(address, _PRIVATE):
            is_allowed = target.is_listed
        else:
            is_allowed = address.is_global
    if not is_allowed:
        raise EgressRefused(f"{target.host} has the address {text}, which this product may not connect to")


def resolve(target: Target) -> list[str]:
    """Return the addresses of a host, once every one of them is checked.

    Whoever connects must use these: a second look-up may give others.
    """
    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # an empty part of a name, or one of more than 63 letters
        raise EgressRefused(f"{target.host!r} is no name of a host") from error
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    for address in addresses:
        check_address(target, address)
    return addresses
