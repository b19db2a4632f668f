"""`claimlab judge`: compare the rationales of a run with fact-checking articles, and the judge with
annotators.
"""

from __future__ import annotations

from pathlib import Path

import typer

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.output import echo, say, suggest, wants_json, written
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of
from claimlab.evaluate.judge.judged_run import JudgedRun
from claimlab.evaluate.judge.people import (
    RATES,
    agreement_in_words,
    changed_in_words,
    rate_in_words,
)

app = verb()
LEFT_OUT = {
    "no-article": "no fact-check of the record",
    "other-articles": "fact-checks of other claims only",
    "no-rationale": "no rationale",
    "failed": "no prediction",
    "no-evidence": "abstained (no evidence)",
    "insufficient-evidence": "abstained (insufficient evidence)",
}


@app.of(cl.judge, page="output")
def judge(call: Call[JudgedRun]) -> None:
    """Judge the rationales of a run by contradictions with fact-checking articles; exit 1 where
    every answer failed.
    """
    judged, output = call(), call.output
    if wants_json():
        written(judged.dataset, more=judged.dataset.report)
    else:
        _print(output, judged.summary)
    call.show_page("judge-report")
    if not judged.summary["judged"] and judged.summary["failed"]:
        raise typer.Exit(1)
    suggest(f"claimlab evaluate {output} -o {output}-report")


def _print(output: Path, summary: JsonObject) -> None:
    echo(
        f"Wrote {output}: {several_of(summary['judged'], summary['predictions'], 'prediction')}"
        " judged."
    )
    for line in lines_of(summary):
        echo(f"  {line}")
    say(f"Note: the judge is {summary['standing']}.")


def lines_of(summary: JsonObject) -> list[str]:
    """The summary in lines: how well the judge agrees with annotators is next to every rate."""
    lines = [_verdicts(summary)]
    for key, who in (("by_people", "annotators"), ("by_judge", "the judge")):
        for rate, words in RATES.items() if summary[key] is not None else ():
            lines.append(f"{words}: {rate_in_words(summary[key][rate])}, by {who}")
    if summary["agreement_with_people"] is not None:
        lines.append(
            f"judge and annotators agree on {agreement_in_words(summary['agreement_with_people'])}"
        )
    elif summary["judged"]:
        lines.append("judge and annotators: agreement not measured")
    named = {**summary["probes"], "since it was judged before": summary["drift"]}
    lines += [f"{name}: {changed_in_words(change)}" for name, change in named.items() if change]
    if (band := summary["score_band"]) is not None:
        lines.append(
            f"accuracy {100 * band['low']:.1f} is a lower bound: with the misses whose rationale is"
            f" sound, up to {100 * band['high']:.1f} ({100 * band['high_interval'][0]:.1f} to"
            f" {100 * band['high_interval'][1]:.1f})"
        )
    lines += [
        f"not judged, {LEFT_OUT.get(reason, reason)}: {n:,}"
        for reason, n in summary["left_out"].items()
    ]
    lines += [f"no answer, {reason}: {n:,}" for reason, n in summary["failed"].items()]
    return lines


def _verdicts(summary: JsonObject) -> str:
    verdicts = ", ".join(f"{verdict} {n:,}" for verdict, n in summary["verdicts"].items())
    none = "not measured: no question was answered" if summary["failed"] else "none"
    line = f"verdicts: {verdicts or none}"
    if summary["threshold"] is None or not summary["judged"]:
        return line
    how = "fitted" if (summary["threshold_fit"] or {}).get("fitted") else "not fitted"
    return f"{line} (wrong at a score of at least {summary['threshold']:g}, {how})"
