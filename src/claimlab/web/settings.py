"""Where the workspace is served, and who may look at it."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field

PORT = 8765
MAX_BODY = 1_000_000  # bytes that a request may carry


@dataclass(frozen=True)
class Settings:
    """On a loopback address the page is open to anyone who can reach it; elsewhere `token` is required."""

    host: str = "127.0.0.1"
    port: int = PORT
    token: str | None = None
    max_body: int = MAX_BODY
    hosts: frozenset[str] = field(default_factory=frozenset)  # further names under which the server is known

    @classmethod
    def of(cls, host: str, port: int, token: str | None = None) -> Settings:
        """The settings for an address: one that others can reach gets a token, whether one was given or not."""
        if token is None and not is_loopback(host):
            token = secrets.token_urlsafe(24)
        return cls(host=host, port=port, token=token)

    def knows(self, host: str) -> bool:
        """Whether a request may call the server so. On loopback, a foreign name is a page that was led here."""
        return not is_loopback(self.host) or is_loopback(host) or host in self.hosts


def is_loopback(host: str) -> bool:
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
