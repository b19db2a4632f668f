"""`claimlab contamination`: does a model know the test set?"""

from __future__ import annotations

from claimlab.cli.command import Call, OpenPage
from claimlab.cli.output import echo, emit, page, say, suggest, verb, wants_json
from claimlab.core.words import several
from claimlab.evaluate.contamination.front import Measured
from claimlab.evaluate.contamination.front import contamination as measure

app = verb()


@app.of(measure)
def contamination(call: Call[Measured], open_page: OpenPage = False) -> None:
    report, output = call(), call.output
    if wants_json():
        emit({"output": str(output), **report.to_json()})
    else:
        counts = ", ".join(f"{name} {n:,}" for name, n in report.counts().items())
        echo(f"Wrote {output}: {several(len(report), 'record')} ({counts}).")
        for finding in report.findings:
            echo(f"  {finding.check}: {finding.verdict.replace('-', ' ')}. {finding.why}")
    if call["profile"] is None:
        say(
            "Note: no model was asked (--profile): whether it can complete the texts is not"
            " measured."
        )
    page(output / "index.html", open_page=open_page)
    suggest(f"claimlab evaluate RUN -o REPORT --contamination {output}")
