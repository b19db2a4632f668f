"""The page of a judged run: what came out, what the judge is worth, and the cases themselves.

What the judge is worth comes first: a figure of one that was not compared with annotators must not
be read past that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.judge.cases import RationaleCase
from claimlab.evaluate.judge.people import (
    NOT_WRONG,
    OPEN,
    RATES,
    WRONG,
    changed_in_words,
    coefficient,
    in_brackets,
    rate_in_words,
)
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
    Figure,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    Tone,
    excerpt,
    percent,
    short,
)

CASES_SHOWN = 60  # on the page; the table of annotations has them all
CHARACTERS_SHOWN = 320  # characters of rationale, article and analysis
UNJUDGED = "not judged by annotators"
WHO = {"judge": "the judge", "people": "annotators"}
MISLEADING: Columns[JsonObject] = (
    Column("Cases", "meaning", str.capitalize),
    Column("By", "who", WHO.get),
    Column("How many", lambda part: f"{part['cases']:,} of {part['n']:,}"),
    Column(
        "95% interval, in %",
        "interval",
        lambda ends: f"{100 * ends[0]:.0f} to {100 * ends[1]:.0f}",
        "not measured",
    ),
    *(Column(words) for words in ("wrong", "open", "not wrong", "not judged")),
)
AGREEMENT: tuple[Column[tuple[str, JsonObject]], ...] = (
    Column("Between", 0),
    Column("Cases", lambda row: row[1]["n"]),
    Column(
        "Agreement, in %",
        lambda row: (
            f"{percent(row[1]['agreement']).text}{in_brackets(row[1]['agreement_interval'], 100)}"
        ),
    ),
    Column("Cohen's kappa", lambda row: coefficient(row[1], "kappa")),
    Column("Krippendorff's alpha", lambda row: coefficient(row[1], "alpha")),
    Column("Gwet's AC1", lambda row: coefficient(row[1], "ac1")),
    Column("PABAK", lambda row: coefficient(row[1], "pabak")),
    Column("Balanced accuracy, in %", lambda row: row[1].get("balanced_accuracy"), percent),
)
ABSTAINED: tuple[Column[tuple[str, JsonObject]], ...] = (
    Column("Abstention", lambda row: row[0].replace("-", " ")),
    Column("Predictions", lambda row: row[1]["n"]),
    Column("of them with a fact-check", lambda row: row[1]["with_article"]),
)
_TONES: dict[str, Tone] = {WRONG: "fail", OPEN: "warn", NOT_WRONG: "pass"}
_CUT = short(CHARACTERS_SHOWN)
CASE: Columns[JudgedCase] = (
    Column("Record", "record_id", short(40)),
    Column(
        "Judge",
        lambda row: Cell(row.verdict or "no answer", tone=_TONES.get(row.verdict or "", "plain")),
    ),
    Column("Score", "value"),
    Column("Annotators", "people"),
    Column("Label"),
    Column("Truth"),
    Column("Statement", "statement", _CUT),
    Column("Rationale", lambda row: row.rationale or None, _CUT),
    Column("Fact-check", lambda row: row.article or None, _CUT),
    Column("Analysis", lambda row: row.analysis or None, _CUT),
)


@dataclass(frozen=True)
class JudgedCase(RationaleCase):
    """One judged case as the page shows it."""

    value: float | str | None
    verdict: str | None
    people: str | None
    analysis: str | None


def page(name: str, summary: JsonObject, rows: Sequence[JudgedCase]) -> Report:
    blocks: Blocks = [standing(summary), tiles(summary), misleading(summary)]
    blocks += [against_people(summary), *scores(summary, rows), unjudged(summary), *cases(rows)]
    return Report(
        f"Rationales of {excerpt(name, 60)}, judged",
        f"Judge: {excerpt(summary['judge'], 120)}",
        blocks,
    )


def standing(summary: JsonObject) -> Text:
    """Loud where the judge was not compared with annotators."""
    if summary["validated"]:
        return Text(f"The judge is {summary['standing']}.", "note")
    if not summary["judged"]:
        return Text(f"No judge is counted here: {summary['standing']}.", "note")
    return Text(
        f"UNVALIDATED. The judge is {summary['standing']}. Its verdicts and rates are not findings"
        " until annotators have judged some of the same rationales: pass what they said as"
        " 'labels'.",
        "warning",
    )


def tiles(summary: JsonObject) -> Tiles:
    agreed = summary["agreement_with_people"]
    who = "judge" if summary["by_judge"] is not None else "people"
    figures = summary[f"by_{who}"] or {}
    shares: list[tuple[str, str, Tone]] = [
        (f"{words}, by {WHO[who]}", rate_in_words(figures.get(key, {"n": 0})), "plain")
        for key, words in RATES.items()
    ]
    compared: tuple[str, Tone] = ("not compared", "fail")
    if agreed is not None:
        compared = (f"{100 * agreed['agreement']:.1f}% of {agreed['n']:,}", "plain")
    abstained = sum(part["n"] for part in summary["abstained"].values())
    return Tiles(
        [
            ("judged", f"{summary['judged']:,} of {summary['predictions']:,}", "plain"),
            ("agreement with annotators", *compared),
            *shares,
            ("abstained", f"{abstained:,}", "plain"),
        ]
    )


def misleading(summary: JsonObject) -> Section:
    """Where the label misleads: by the judge and by annotators, with what was not judged."""
    rows = [
        {"who": who, "meaning": meaning, **summary[f"by_{who}"][key]}
        for who in WHO
        for key, meaning in RATES.items()
        if summary[f"by_{who}"]
    ]
    table = Table.of(MISLEADING, rows, sortable=False)
    nothing = Text("Nothing could be judged.", "warning")
    return Section("Where the label misleads", [table if rows else nothing], anchor="rates")


def against_people(summary: JsonObject) -> Section:
    """The threshold with its leave-one-out figures, beside those that flatter it, and how
    annotators agree.
    """
    agreed, judged = summary["agreement_with_people"], summary["judged"]
    blocks: Blocks = []
    if summary["threshold"] is not None and judged:
        blocks.append(Text(_threshold(summary)))
    rows = _agreements(summary)
    if rows:
        blocks.append(Table.of(AGREEMENT, rows, sortable=False))
    if summary["length_bias"] is not None:
        blocks.append(Text(_length(summary["length_bias"])))
    again = {**summary["probes"], "since it was judged before": summary["drift"]}
    titles = {
        "exchanged": "Article and rationale exchanged",
        "padded": "Rationale padded",
        "reworded": "Rationale in other words",
    }
    blocks += [
        Text(f"{titles.get(name, 'Judged before')}: {changed_in_words(change)}.")
        for name, change in again.items()
        if change
    ]
    if agreed is None and judged:
        unknown = "The judge was not compared with annotators: agreement is not measured."
        blocks.append(Text(unknown, "warning"))
    if summary["people_on_other_records"]:
        others = several(summary["people_on_other_records"], "record")
        blocks.append(Text(f"Annotators judged {others} that this run does not have."))
    return Section(
        "The judge and the annotators",
        blocks or [Text("There is no judge to compare.")],
        anchor="people",
    )


def _agreements(summary: JsonObject) -> list[tuple[str, JsonObject]]:
    """Who is compared with whom: the judge with annotators, and these among themselves."""
    fit, agreed = summary["threshold_fit"] or {}, summary["agreement_with_people"]
    rows: list[tuple[str, JsonObject]] = []
    if fit.get("fitted"):
        rows = [
            ("Judge and annotators, each case left out in turn", fit["held_out"]),
            ("The same on the cases it was fitted on (flatters)", fit["inside"]),
        ]
    elif agreed is not None:
        rows = [("Judge and annotators", agreed)]
    for pair in summary["agreement_between_people"]:
        names = " and ".join(excerpt(str(name), 40) for name in pair["between"])
        rows.append((f"{names} (annotators)", pair))
    return rows


def _length(bias: JsonObject) -> str:
    """Whether the judge is harder on long rationales than annotators are."""
    low, high = bias["interval"]
    biased = "It depends on length" if low > 0 or high < 0 else "No dependence on length is shown"
    return (
        f"{biased}: against annotators, the judge calls {100 * bias['difference']:+.0f} points more"
        " of the longer half of the rationales wrong than of the shorter half (95% interval"
        f" {100 * low:+.0f} to {100 * high:+.0f}, {several(bias['n'], 'case')})."
    )


def _threshold(summary: JsonObject) -> str:
    fit = summary["threshold_fit"] or {}
    at = f"Rationales count as wrong at a contradiction score of at least {summary['threshold']:g}"
    if not fit.get("fitted"):
        return f"{at}: not fitted to this dataset."
    cases = f"{several(fit['wrong'], 'case')} that annotators called wrong"
    return f"{at}: fitted on {cases} and {fit['not_wrong']:,} not wrong."


def scores(summary: JsonObject, rows: Sequence[JudgedCase]) -> Blocks:
    """How the scores spread, coloured by what annotators said; words (binary, trinary) as counts
    only.
    """
    if not summary["judged"]:
        return []
    counted = ", ".join(f"{verdict} {n:,}" for verdict, n in summary["verdicts"].items()) or "none"
    blocks: Blocks = [Text(f"Verdicts: {counted}.")]
    values: dict[str, list[float]] = {kind: [] for kind in (WRONG, OPEN, NOT_WRONG, UNJUDGED)}
    for row in rows:
        if isinstance(row.value, float | int):
            values[row.people or UNJUDGED].append(row.value)
    drawn = {kind: points for kind, points in values.items() if points}
    if drawn:
        blocks.append(_histogram(drawn))
    return [Section("Scores and verdicts", blocks, anchor="scores")]


def _histogram(values: dict[str, list[float]]) -> Figure:
    from claimlab.pages.charts import histogram

    # a bin for every whole score; a mean of runs falls into the one it has reached
    edges = [float(edge) for edge in range(12)]
    counts = {
        kind if kind == UNJUDGED else f"annotators: {kind}": np.histogram(points, edges)[0].tolist()
        for kind, points in values.items()
    }
    return Figure(
        histogram(edges, counts, title="contradiction score"),
        "Contradiction scores by the annotators' verdict on the same rationale.",
        f"Histogram of {sum(map(len, values.values())):,} contradiction scores from 0 to 10.",
        "scores",
    )


def unjudged(summary: JsonObject) -> Section:
    """Abstentions apart, each with whether there was something to be found; then what could not be
    judged.
    """
    abstained = summary["abstained"]
    items = [
        f"Left out, {reason.replace('-', ' ')}: {n:,}."
        for reason, n in summary["left_out"].items()
        if reason not in abstained
    ]
    items += [
        f"The judge gave no answer, {reason}: {n:,}." for reason, n in summary["failed"].items()
    ]
    note = (
        "An abstention is neither right nor wrong. Where a fact-check exists, there was something"
        " to be found."
    )
    table = Table.of(ABSTAINED, abstained.items(), sortable=False)
    return Section(
        "Abstentions and what was not judged",
        [Text(note), table, *([Items(items)] if items else [])],
        anchor="apart",
    )


def cases(rows: Sequence[JudgedCase]) -> Blocks:
    """The first cases, worst first, so that a reader can judge the judge."""
    ordered = sorted(rows, key=lambda r: (r.verdict != WRONG, r.verdict is None))
    if not ordered:
        return []
    blocks: Blocks = [Table.of(CASE, ordered[:CASES_SHOWN])]
    if len(ordered) > CASES_SHOWN:
        more = (
            f"{CASES_SHOWN} of {len(ordered):,} cases are shown, wrong ones first;"
            " annotations.parquet"
            " has them all."
        )
        blocks.insert(0, Text(more, "note"))
    return [Section(f"Cases ({len(ordered):,})", blocks, anchor="cases")]
