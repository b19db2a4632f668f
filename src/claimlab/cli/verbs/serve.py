"""`claimlab serve`: datasets, runs, audits, traces and reviews below a folder, in the browser."""

from __future__ import annotations

import os

import claimlab as cl
from claimlab.cli.asked import OPEN, is_asked
from claimlab.cli.command import ALWAYS, Call, verb
from claimlab.cli.output import say

app = verb()


@app.of(cl.serve, page=ALWAYS)
def serve(call: Call[None]) -> None:
    """Show a folder of datasets, runs, audits, traces and reviews in the browser, until Ctrl-C. The
    link that is printed signs in. Its token is new each time, or the one in the environment
    variable CLAIMLAB_SERVE_TOKEN (at least 22 random characters).
    """

    def ready(address: str) -> None:
        say(f"The workspace '{call['folder']}' is at {address} (stop with Ctrl-C)")

    token = os.environ.get("CLAIMLAB_SERVE_TOKEN") or None
    call(token=token, open_browser=is_asked(OPEN), ready=ready)
