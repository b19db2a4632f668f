"""`claimlab serve`: the workspace on an address, until Ctrl-C, and who may look at it."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from claimlab.core.errors import MissingExtra, UsageError
from claimlab.core.remote import refuse_remote
from claimlab.core.trust import is_loopback

PORT = 8765
MAX_BODY = 1_000_000  # bytes that a request may carry
SHORTEST, FEWEST = (
    22,
    10,
)  # characters of a token that a user chose: 128 bits of random letters and digits need 22


def new_token() -> str:
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Settings:
    """Whoever shows `token` may see all; on loopback too, where other users of the machine can
    connect as well.
    """

    host: str = "127.0.0.1"
    port: int = PORT
    token: str = field(default_factory=new_token, repr=False)
    max_body: int = MAX_BODY
    hosts: frozenset[str] = field(
        default_factory=frozenset
    )  # further names under which the server is known

    @classmethod
    def of(cls, host: str, port: int, token: str | None = None) -> Settings:
        """The settings for an address; a token is made where none is given, and a weak one is
        refused.
        """
        if token is None:
            return cls(host=host, port=port)
        if len(token) < SHORTEST or len(set(token)) < FEWEST:
            todo = (
                f"Use at least {SHORTEST} random characters, or leave it out: claimlab makes one."
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
        return not is_loopback(self.host) or is_loopback(host) or host in self.hosts


def serve(
    folder: str | Path = ".",
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    token: str | None = None,
    open_browser: bool = False,
    ready: Callable[[str], object] = str,
) -> None:
    """Show the workspace at `folder` in the browser, until interrupted.

    Everyone has to show `token`, on this machine too; one is made where none is given. `port` 0
    takes a free one. `ready` is called with the address that signs in, once the server listens.
    """
    try:
        import uvicorn

        from claimlab.web.app import create_app
        from claimlab.web.gate import Patient
    except ImportError as error:
        if (error.name or "").split(".")[0] in (
            "fastapi",
            "uvicorn",
            "starlette",
            "sqlalchemy",
            "alembic",
        ):
            raise MissingExtra("The workspace", "web") from None
        raise
    refuse_remote(folder, "the workspace")
    listening = _listen(host, port)
    settings = Settings.of(host, listening.getsockname()[1], token)
    app = create_app(Path(folder), settings=settings)
    where = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/"
    address = f"{where}sign-in#token={settings.token}"
    ready(address)
    if open_browser:
        webbrowser.open(address)
    config = uvicorn.Config(
        app, http=Patient, log_level="warning", timeout_graceful_shutdown=1, server_header=False
    )
    uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)  # from now on clients can connect, if only to wait
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"The address {host}:{port} cannot be used: {error}.",
            "Pass another `host`, or `port=0` for a free one.",
        ) from None
    return listening
