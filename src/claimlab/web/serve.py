"""`claimlab serve`: the workspace on an address, until Ctrl-C."""

from __future__ import annotations

import socket
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from claimlab.core.errors import MissingExtra, UsageError
from claimlab.core.extras import require_extra
from claimlab.core.options import Argument, InPython, Option, Place
from claimlab.core.remote import refuse_remote
from claimlab.web.settings import PORT, ServerSettings


def serve(
    folder: Annotated[Place, Argument("The folder to show, with everything below it.")] = ".",
    *,
    host: Annotated[str, Option("The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, Option("The port to listen on; 0 takes a free one.", least=0, most=65535)
    ] = PORT,
    mcp: Annotated[
        bool,
        Option("Serve no pages, but tools for an AI assistant (MCP, on stdin and stdout)."),
    ] = False,
    token: Annotated[
        str | None, InPython("What everyone has to show; one is made where none is given.")
    ] = None,
    open_browser: Annotated[bool, InPython("Open the workspace in the browser.")] = False,
    ready: Annotated[
        Callable[[str], object],
        InPython("Called with the address that signs in, once the server listens."),
    ] = str,
) -> None:
    """Show the workspace at `folder` in the browser, until interrupted.

    Everyone has to show `token`, on this machine too; one is made where none is given. `port` 0
    takes a free one. `ready` is called with the address that signs in, once the server listens.
    """
    refuse_remote(folder, "the workspace")
    if mcp:
        require_extra("A server of tools", "mcp")
        from claimlab.web.mcp import serve_tools

        if not Path(folder).is_dir():
            raise UsageError(
                f"There is no folder '{folder}'.", "Name the folder that holds your datasets."
            )
        serve_tools(Path(folder))
        return
    try:
        import uvicorn

        from claimlab.web.app import create_app
        from claimlab.web.gate import TimedProtocol
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
    listening = _listen(host, port)
    settings = ServerSettings.of(host, listening.getsockname()[1], token)
    app = create_app(Path(folder), settings=settings)
    where = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/"
    address = f"{where}sign-in#token={settings.token}"
    ready(address)
    if open_browser:
        webbrowser.open(address)
    config = uvicorn.Config(
        app,
        http=TimedProtocol,
        log_level="warning",
        timeout_graceful_shutdown=1,
        server_header=False,
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
