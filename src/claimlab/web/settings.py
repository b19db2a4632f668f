"""Where the workspace is served, and who may look at it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from claimlab.core.errors import UsageError
from claimlab.core.grants import is_loopback

PORT = 8765
MAX_BODY = 1_000_000  # bytes that a request may carry
MAX_FILE = 2_000_000_000  # bytes of a file that is dropped; a larger one is put into the workspace
LEAST_CHARACTERS, FEWEST = (
    22,
    10,
)  # characters of a token that a user chose: 128 bits of random letters and digits need 22


@dataclass(frozen=True)
class ServerSettings:
    """Whoever shows `token` may see all; on loopback too, where other users of the machine can
    connect as well.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    max_body: int = MAX_BODY
    max_file: int = MAX_FILE

    @classmethod
    def of(cls, host: str, port: int, token: str | None = None) -> ServerSettings:
        """The settings for an address; a token is made where none is given, and a weak one is
        refused.
        """
        if token is None:
            return cls(host=host, port=port)
        if len(token) < LEAST_CHARACTERS or len(set(token)) < FEWEST:
            todo = (
                "Leave it out (unset CLAIMLAB_SERVE_TOKEN), and claimlab makes one; or use at least"
                f" {LEAST_CHARACTERS} random characters, such as those of: openssl rand -hex 24"
            )
            raise UsageError("The token is too easy to guess.", todo)
        return cls(host=host, port=port, token=token)

    @property
    def cookie(self) -> str:
        """The name of the cookie with the token. Ports share their cookies, and each server has its
        own token.
        """
        return f"claimlab_token_{self.port}"

    def knows(self, host: str) -> bool:
        """Whether a request may call the server so. On loopback, a foreign name is a page that was
        led here.
        """
        return not is_loopback(self.host) or is_loopback(host)
