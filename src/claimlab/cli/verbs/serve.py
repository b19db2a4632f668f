"""`claimlab serve`: datasets, runs, audits, traces and reviews below a folder, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from claimlab.cli.output import say, verb

app = verb()


@app.command()
def serve(
    folder: Annotated[
        Path, typer.Argument(help="The folder to show, with everything below it.")
    ] = Path(),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port to listen on; 0 takes a free one.")
    ] = 8765,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser.")
    ] = False,
) -> None:
    """Show a folder of datasets, runs, audits, traces and reviews in the browser, until Ctrl-C.

    The link that is printed signs in. Its token is new each time, or the one in the environment
    variable CLAIMLAB_SERVE_TOKEN (at least 22 random characters).
    """
    import os

    import claimlab

    def ready(address: str) -> None:
        say(f"The workspace '{folder}' is at {address} (stop with Ctrl-C)")

    token = os.environ.get("CLAIMLAB_SERVE_TOKEN") or None
    claimlab.serve(
        folder, host=host, port=port, token=token, open_browser=open_browser, ready=ready
    )
