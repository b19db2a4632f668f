"""The page of a judged run: what came out, what the judge is worth, and the cases themselves.

What the judge is worth comes first: a figure of one that was not compared with annotators must not
be read past that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from claimlab.core.words import several
from claimlab.evaluate.judge.people import NOT_WRONG, OPEN, RATES, WRONG, in_brackets, rate_in_words
from claimlab.pages.blocks import (
    Block,
    Cell,
    Figure,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    Tone,
    percent,
)
from claimlab.pages.excerpt import excerpt

CASES = 60  # on the page; the table of annotations has them all
SHOWN = 320  # characters of rationale, article and analysis
UNJUDGED = "not judged by annotators"
WHO = {"judge": "the judge", "people": "annotators"}


@dataclass(frozen=True)
class Row:
    """One judged case as the page shows it."""

    record_id: str
    statement: str
    label: str | None
    truth: str | None
    rationale: str | None
    article: str | None
    value: float | str | None
    verdict: str | None
    people: str | None
    analysis: str | None


def page(name: str, summary: Mapping[str, Any], rows: Sequence[Row]) -> Report:
    blocks: list[Block] = [standing(summary), tiles(summary), misleading(summary)]
    blocks += [against_people(summary), *scores(summary, rows), unjudged(summary), *cases(rows)]
    return Report(
        f"Rationales of {excerpt(name, 60)}, judged",
        f"Judge: {excerpt(summary['judge'], 120)}",
        blocks,
    )


def standing(summary: Mapping[str, Any]) -> Text:
    """Loud where the judge was not compared with annotators."""
    if summary["validated"]:
        return Text(f"The judge is {summary['standing']}.", "note")
    if not summary["judged"]:
        return Text(f"No judge is counted here: {summary['standing']}.", "note")
    return Text(
        f"UNVALIDATED. The judge is {summary['standing']}. Its verdicts and rates are not findings"
        " until annotators have judged some of the same rationales: pass what they said as"
        " `labels`",
        "warning",
    )


def tiles(summary: Mapping[str, Any]) -> Tiles:
    agreed = summary["agreement_with_people"]
    who = "judge" if summary["by_judge"] is not None else "people"
    figures = summary[f"by_{who}"] or {}
    shares: list[tuple[str, str, Tone]] = [
        (f"{words}, by {WHO[who]}", rate_in_words(figures.get(key, {"n": 0})), "plain")
        for key, words in RATES.items()
    ]
    held = (
        "not compared" if agreed is None else f"{100 * agreed['agreement']:.1f}% of {agreed['n']:,}"
    )
    return Tiles(
        [
            ("judged", f"{summary['judged']:,} of {summary['predictions']:,}", "plain"),
            ("agreement with annotators", held, "plain" if agreed is not None else "fail"),
            *shares,
            ("abstained", f"{sum(a['n'] for a in summary['abstained'].values()):,}", "plain"),
        ]
    )


def misleading(summary: Mapping[str, Any]) -> Section:
    """Where the label misleads: by the judge and by annotators, with what was not judged."""
    rows: list[list[Any]] = []
    for who in ("judge", "people"):
        for key, meaning in RATES.items():
            part = (summary[f"by_{who}"] or {}).get(key)
            if part is None:
                continue
            low_high = part["interval"]
            span = (
                "not measured"
                if low_high is None
                else f"{100 * low_high[0]:.0f} to {100 * low_high[1]:.0f}"
            )
            counts = [part[k] for k in ("wrong", "open", "not_wrong", "not_judged")]
            rows.append(
                [
                    meaning.capitalize(),
                    WHO[who],
                    f"{part['cases']:,} of {part['n']:,}",
                    span,
                    *counts,
                ]
            )
    columns = [
        "Cases",
        "By",
        "How many",
        "95% interval, in %",
        "wrong",
        "open",
        "not wrong",
        "not judged",
    ]
    note = (
        Text("Nothing could be judged.", "warning")
        if not rows
        else Table(columns, rows, sortable=False)
    )
    return Section("Where the label misleads", [note], anchor="rates")


def against_people(summary: Mapping[str, Any]) -> Section:
    """The threshold with its leave-one-out figures, beside those that flatter it, and how
    annotators agree.
    """
    fit, agreed = summary["threshold_fit"], summary["agreement_with_people"]
    blocks: list[Block] = (
        [Text(_threshold(summary))]
        if summary["threshold"] is not None and summary["judged"]
        else []
    )
    rows = (
        [_agreement("Judge and annotators, each case left out in turn", fit["held_out"])]
        if _fitted(summary)
        else []
    )
    if _fitted(summary):
        rows.append(_agreement("The same on the cases it was fitted on (flatters)", fit["inside"]))
    elif agreed is not None:
        rows.append(_agreement("Judge and annotators", agreed))
    for pair in summary["agreement_between_people"]:
        rows.append(
            _agreement(
                f"{' and '.join(excerpt(str(p), 40) for p in pair['between'])} (annotators)", pair
            )
        )
    if rows:
        columns = [
            "Between",
            "Cases",
            "Agreement, in %",
            "Cohen's kappa",
            "Krippendorff's alpha",
            "Balanced accuracy, in %",
        ]
        blocks.append(Table(columns, rows, sortable=False))
    if agreed is None and summary["judged"]:
        blocks.append(
            Text(
                "The judge was not compared with annotators: agreement is not measured.", "warning"
            )
        )
    if summary["people_on_other_records"]:
        others = several(summary["people_on_other_records"], "record")
        blocks.append(Text(f"Annotators judged {others} that this run does not have."))
    return Section(
        "The judge and the annotators",
        blocks or [Text("There is no judge to compare.")],
        anchor="people",
    )


def _fitted(summary: Mapping[str, Any]) -> bool:
    return bool((summary["threshold_fit"] or {}).get("fitted"))


def _threshold(summary: Mapping[str, Any]) -> str:
    at = f"Rationales count as wrong at a contradiction score of at least {summary['threshold']:g}"
    if _fitted(summary):
        fit = summary["threshold_fit"]
        cases = several(fit["wrong"], "case")
        return (
            f"{at}: fitted on {cases} that annotators called wrong and {fit['not_wrong']:,} not"
            " wrong."
        )
    return f"{at}: not fitted to this dataset."


def _agreement(between: str, part: Mapping[str, Any]) -> list[Any]:
    balanced = part.get("balanced_accuracy")
    share = _ranged(percent(part["agreement"]), part["agreement_interval"], 100)
    beyond = [_ranged(_two(part[k]), part[f"{k}_interval"], 1) for k in ("kappa", "alpha")]
    return [between, part["n"], share, *beyond, percent(balanced)]


def _two(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.2f}"


def _ranged(value: Any, ends: Sequence[float] | None, scale: int) -> str:
    return f"{value}{in_brackets(ends, scale)}"


def scores(summary: Mapping[str, Any], rows: Sequence[Row]) -> list[Block]:
    """How the scores spread, coloured by what annotators said; words (binary, trinary) as counts
    only.
    """
    counted = ", ".join(f"{verdict} {n:,}" for verdict, n in summary["verdicts"].items()) or "none"
    blocks: list[Block] = [Text(f"Verdicts: {counted}.")]
    values = {
        kind: [
            r.value
            for r in rows
            if (r.people or UNJUDGED) == kind and isinstance(r.value, float | int)
        ]
        for kind in (WRONG, OPEN, NOT_WRONG, UNJUDGED)
    }
    known = {kind: points for kind, points in values.items() if points}
    if known:
        from claimlab.pages.charts import histogram, to_svg

        edges = list(
            range(12)
        )  # a bin for every whole score; a mean of runs falls into the one it has reached
        counts = {
            f"annotators: {kind}" if kind != UNJUDGED else kind: (
                np.histogram(points, edges)[0].tolist()
            )
            for kind, points in known.items()
        }
        svg = to_svg(histogram([float(e) for e in edges], counts, title="contradiction score"))
        alt = f"Histogram of {sum(map(len, known.values())):,} contradiction scores from 0 to 10."
        blocks.append(
            Figure(
                svg,
                "Contradiction scores by the annotators' verdict on the same rationale.",
                alt,
                "scores",
            )
        )
    return [Section("Scores and verdicts", blocks, anchor="scores")] if summary["judged"] else []


def unjudged(summary: Mapping[str, Any]) -> Section:
    """Abstentions apart, each with whether there was something to be found; then what could not be
    judged.
    """
    rows: list[list[Any]] = [
        [kind.replace("-", " "), part["n"], part["with_article"]]
        for kind, part in summary["abstained"].items()
    ]
    table = Table(["Abstention", "Predictions", "of them with a fact-check"], rows, sortable=False)
    others = {
        reason: n for reason, n in summary["left_out"].items() if reason not in summary["abstained"]
    }
    items = [f"Left out, {reason.replace('-', ' ')}: {n:,}." for reason, n in others.items()]
    items += [
        f"The judge gave no answer, {reason}: {n:,}." for reason, n in summary["failed"].items()
    ]
    note = (
        "An abstention is neither right nor wrong. Where a fact-check exists, there was something"
        " to be found."
    )
    return Section(
        "Abstentions and what was not judged",
        [Text(note), table, *([Items(items)] if items else [])],
        anchor="apart",
    )


def cases(rows: Sequence[Row]) -> list[Block]:
    """The first cases, worst first, so that a reader can judge the judge."""
    ordered = sorted(rows, key=lambda r: (r.verdict != WRONG, r.verdict is None))
    if not ordered:
        return []
    columns = [
        "Record",
        "Judge",
        "Score",
        "Annotators",
        "Label",
        "Truth",
        "Statement",
        "Rationale",
        "Fact-check",
        "Analysis",
    ]
    body: list[list[Any]] = [
        [
            excerpt(r.record_id, 40),
            Cell(r.verdict or "no answer", tone=_TONES.get(r.verdict or "", "plain")),
            r.value,
            r.people,
            r.label,
            r.truth,
            excerpt(r.statement, SHOWN),
            _cut(r.rationale),
            _cut(r.article),
            _cut(r.analysis),
        ]
        for r in ordered[:CASES]
    ]
    blocks: list[Block] = [Table(columns, body)]
    if len(ordered) > CASES:
        more = (
            f"{CASES} of {len(ordered):,} cases are shown, wrong ones first; annotations.parquet"
            " has them all."
        )
        blocks.insert(0, Text(more, "note"))
    return [Section(f"Cases ({len(ordered):,})", blocks, anchor="cases")]


_TONES: dict[str, Tone] = {WRONG: "fail", OPEN: "warn", NOT_WRONG: "pass"}


def _cut(text: str | None) -> str | None:
    return None if not text else excerpt(text, SHOWN)
