"""`claimlab serve`: datasets, runs, audits, traces and reviews below a folder, in the browser."""

from __future__ import annotations

import os

from claimlab.cli.command import Call
from claimlab.cli.output import say, verb
from claimlab.web.serve import serve as serve_folder

app = verb()


@app.of(serve_folder)
def serve(call: Call[None]) -> None:
    """Show a folder of datasets, runs, audits, traces and reviews in the browser, until Ctrl-C. The
    link that is printed signs in. Its token is new each time, or the one in the environment
    variable CLAIMLAB_SERVE_TOKEN (at least 22 random characters).
    """

    def ready(address: str) -> None:
        say(f"The workspace '{call['folder']}' is at {address} (stop with Ctrl-C)")

    call(token=os.environ.get("CLAIMLAB_SERVE_TOKEN") or None, ready=ready)
