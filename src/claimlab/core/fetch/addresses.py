"""Which page addresses may be fetched: the public web only, whatever the link.

A dataset's or a search result's link is untrusted: it may point at this machine, at the network
behind it, or at a cloud's metadata service, by number, by name or by redirect. Every address is
resolved here, every resolved number is checked, and the connection is then made to that very
number, so that a name cannot change its mind in between.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from claimlab.core.errors import PageRefused

Resolve = Callable[[str, int], Awaitable[list[str]]]
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Forms of IPv6 that carry an IPv4 address inside: what they reach is what counts.
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.IPv6Network("::/96")
# Python calls some of these global; nothing on the public web is served from them.
_NETWORKS = (
    "0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 192.88.99.0/24 168.63.129.16/32 fec0::/10 5f00::/16"
)
_NEVER = tuple(map(ipaddress.ip_network, _NETWORKS.split()))
_NUMBER_LIKE = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+))*\.?", re.IGNORECASE)
_NOT_IN_ADDRESSES = re.compile(r"[\x00-\x1f\x7f\\]")
_LOCAL_NAME = re.compile(
    r"(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa|localdomain)\.?$"
)
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class CheckedAddress:
    """A checked address: where to connect (`number`), and what to call it (`host`)."""

    url: str
    scheme: str
    host: str
    port: int
    number: str

    def direct_url(self) -> str:
        """The same page with the checked number in the place of the name."""
        parts = urlsplit(self.url)
        number = f"[{self.number}]" if ":" in self.number else self.number
        query = f"?{parts.query}" if parts.query else ""
        return f"{self.scheme}://{number}:{self.port}{parts.path or '/'}{query}"

    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


class Guard:
    """`ports` and `allowed_numbers` widen what may be reached: for tests, or an intranet that its
    owner names.
    """

    def __init__(
        self,
        *,
        ports: Collection[int] = (80, 443),
        allowed_numbers: Collection[str] = (),
        resolve: Resolve | None = None,
    ) -> None:
        self.ports = frozenset(ports)
        self.allowed = frozenset(ipaddress.ip_address(n) for n in allowed_numbers)
        self._resolve = resolve or _getaddrinfo

    async def check(self, url: str) -> CheckedAddress:
        """Where `url` may be fetched from; `PageRefused` says why it may not."""
        url = url.strip().replace(" ", "%20")
        scheme, host, port = self._split(url)
        numbers = await self._numbers(url, host, port)
        for number in numbers:
            self._check_number(url, host, number)
        return CheckedAddress(url=url, scheme=scheme, host=host, port=port, number=str(numbers[0]))

    def _split(self, url: str) -> tuple[str, str, int]:
        if _NOT_IN_ADDRESSES.search(url):
            raise _refused(url, "host", "holds characters that no address has")
        try:
            parts = urlsplit(url)
            scheme, port = parts.scheme.lower(), parts.port
            host = (parts.hostname or "").encode("idna").decode("ascii").lower()
        except (ValueError, UnicodeError):
            raise _refused(url, "host", "is not a well-formed address") from None
        if scheme not in _PORTS:
            why = f"uses '{scheme or 'no scheme'}', and only http and https pages are fetched"
            raise _refused(url, "scheme", why)
        if "@" in parts.netloc:
            raise _refused(url, "credentials", "carries a user name or password")
        if not host or "%" in host:
            raise _refused(url, "host", "has no plain host name")
        port = _PORTS[scheme] if port is None else port
        if port not in self.ports:
            allowed = " and ".join(map(str, sorted(self.ports)))
            raise _refused(url, "port", f"uses port {port}, and only {allowed} are allowed")
        return scheme, host, port

    async def _numbers(self, url: str, host: str, port: int) -> list[IpAddress]:
        literal = _literal(host)
        if literal is not None:
            return [literal]
        if _NUMBER_LIKE.fullmatch(host):
            raise _refused(url, "host", "writes its address as a number in a disguised form")
        if _LOCAL_NAME.search(host) and not self.allowed:
            raise _refused(
                url, "private-address", f"names '{host}', a machine of a private network"
            )
        try:
            resolved = await self._resolve(host, port)
            numbers = [ipaddress.ip_address(n.split("%")[0]) for n in resolved]
        except (OSError, ValueError, UnicodeError):
            numbers = []
        if not numbers:
            raise _refused(
                url,
                "unresolved",
                f"has a host that cannot be found ('{host}')",
                "Check the address.",
            )
        return numbers

    def _check_number(self, url: str, host: str, number: IpAddress) -> None:
        if number in self.allowed:
            return
        for reached in (number, *_inside(number)):
            if not _is_public(reached):
                where = f"'{host}' leads to {number}" if str(number) != host else str(number)
                raise _refused(url, "private-address", f"does not lead to the public web ({where})")


def _is_public(number: IpAddress) -> bool:
    special = number.is_multicast or number.is_reserved or number.is_unspecified
    return number.is_global and not special and not any(number in network for network in _NEVER)


def _inside(number: IpAddress) -> list[IpAddress]:
    """The IPv4 addresses that an IPv6 address carries: mapped, compatible, 6to4, Teredo, NAT64."""
    if isinstance(number, ipaddress.IPv4Address):
        return []
    carried: list[IpAddress] = [a for a in (number.ipv4_mapped, number.sixtofour) if a is not None]
    if number.teredo is not None:
        carried += list(number.teredo)
    if number in _COMPATIBLE or any(number in network for network in _NAT64):
        carried.append(ipaddress.IPv4Address(int(number) & 0xFFFFFFFF))
    return carried


def _literal(host: str) -> IpAddress | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


async def _getaddrinfo(host: str, port: int) -> list[str]:
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def _refused(
    url: str, kind: str, why: str, todo: str = "It was not fetched; leave it out."
) -> PageRefused:
    printable = "".join(c if c.isprintable() else "?" for c in url)[:200]
    return PageRefused(url, kind, f"The address '{printable}' {why}.", todo)
