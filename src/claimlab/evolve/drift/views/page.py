"""The drift report in words: what was measured, what was not, what a figure can and cannot
carry.
"""

from __future__ import annotations

from typing import Any

from claimlab.evolve.drift import lite
from claimlab.evolve.drift.attainment import one_against_three
from claimlab.evolve.drift.curve import FLAT, Curve
from claimlab.evolve.drift.fuse import TOTAL
from claimlab.evolve.drift.grouping import LEAST
from claimlab.evolve.drift.measure import Drift, coverage_means
from claimlab.evolve.drift.producers import producer_share
from claimlab.evolve.drift.views import figures as charts
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
    percent,
)
from claimlab.pages.excerpt import excerpt

VIEWER = "traces.html"
NOT_FUSE = (
    "drift-lite reads word lists and counts; it is not FUSE-EVAL, and its numbers are not to be"
    " compared with published ones. Certainty and temporal shift hardly separate released pairs:"
    " they are marked weak."
)


def report(drift: Drift, *, viewer: str | None = VIEWER) -> Report:
    """The whole page; `viewer` is the file name of the trace viewer beside it."""
    counts = drift.counts
    runs = drift.hops["run"].unique().sort().to_list()
    sections = [
        shape(drift),
        dimensions(drift),
        verdicts(drift),
        fuse(drift),
        targets(drift),
        producers(drift),
        coverage(drift),
    ]
    links = [("Follow single traces", viewer)] if viewer else []
    intro = (
        f"{counts['traces']:,} traces, {counts['hops']:,} hops; {counts['failed_hops']:,} hops"
        " failed."
    )
    unmeasured: list[Block] = (
        [Section("Not measured", [Items(drift.notes)], tone="not-measured")] if drift.notes else []
    )
    return Report(
        "Drift of claims",
        excerpt(", ".join(runs), 200),
        [
            Text(intro, links=links),
            tiles(drift),
            *(s for s in sections if s is not None),
            *unmeasured,
        ],
    )


def tiles(drift: Drift) -> Tiles:
    whole = drift.curves["all", ""]
    return Tiles(
        [
            ("drift-lite at the end", number(whole.end), "plain"),
            ("two unrelated claims", number(whole.unrelated), "plain"),
            ("late slope / early slope", number(whole.ratio), "plain"),
            (
                "hops failed",
                f"{drift.counts['failed_hops']:,}",
                "warn" if drift.counts["failed_hops"] else "plain",
            ),
        ]
    )


def shape(drift: Drift) -> Section:
    rows = [_curve_row(by, value, c) for (by, value), c in drift.curves.items()]
    columns = [
        "By",
        "Value",
        "Traces",
        "Early slope",
        "Late slope",
        "Late / early",
        "95% interval",
        "At the end",
        "Flattens",
    ]
    caption = (
        f"Slopes per hop over the first and the last third of the hops; a late slope under {FLAT:g}"
        " of the early one counts as flat. Unknown where half of the traces took fewer than six"
        " hops."
    )
    figures: list[Figure] = []
    for by in ("topic", "topology", "home"):
        figures += charts.trajectories(drift, by)
    return Section(
        "How fast claims move",
        [Text(NOT_FUSE, "note"), *figures, Table(columns, rows, caption)],
        "shape",
    )


def _curve_row(by: str, value: str, c: Curve) -> list[Any]:
    interval = (
        "–"
        if c.ratio_interval is None
        else f"{c.ratio_interval[0]:.2f} to {c.ratio_interval[1]:.2f}"
    )
    flat = {None: "not known", True: "yes", False: "no"}[c.flattens]
    return [_kind(by), excerpt(value, 60), c.n[0], c.early, c.late, c.ratio, interval, c.end, flat]


def _kind(by: str) -> str:
    return {"home": "group", "all": "all traces"}.get(by, by)


def dimensions(drift: Drift) -> Section:
    rows = [
        [d.title, Cell("weak", tone="warn") if d.weak else "", d.ceiling, d.ceiling_when]
        for d in lite.DIMENSIONS
    ]
    table = Table(
        ["Dimension", "Standing", "Ceiling", "Reached when"],
        rows,
        "What each dimension of drift-lite can reach.",
    )
    figures = [
        f
        for by in ("topic", "topology")
        for f in charts.dimensions(drift, by)
        if by == "topic" or _varies(drift, by)
    ]
    return Section("What moves", [*figures, table], "dimensions")


def _varies(drift: Drift, by: str) -> bool:
    return drift.hops[by].n_unique() > 1


def verdicts(drift: Drift) -> Section | None:
    if not drift.verdict_shares:
        return None
    figures: list[Block] = []
    for by in ("topology", "home", "topic", "hop"):
        figures += charts.verdicts(drift, by)
    rows = [list(row) for row in drift.verdict_moves.iter_rows()]
    moves = Table(
        ["From", "To", "Hops"],
        rows,
        "From level to level, between neighbouring judged hops of a trace.",
    )
    note = Text("Verdicts by a model are unvalidated: it was not compared with annotators.", "note")
    notes = [note] if "verdicts" in drift.tallies else []
    return Section("How true claims stay", [*notes, *figures, moves], "verdicts")


def fuse(drift: Drift) -> Section | None:
    if drift.fuse is None:
        return None
    rows = [
        [name, a["judges"], a["units"], a["alpha"], a["icc"]]
        for name, a in drift.fuse.agreement().items()
    ]
    table = Table(
        [
            "Dimension",
            "Judges and runs",
            "Pairs judged twice or more",
            "Krippendorff's alpha",
            "ICC(2,1)",
        ],
        rows,
        "How well judges, or the runs of one judge, agree. One judge with one run has no"
        " agreement.",
    )
    scores = drift.fuse.table.height
    counts = (
        f"{scores:,} scores asked for, {drift.fuse.nulls:,} could not be read: those are null, not"
        " zero."
    )
    notes = dict.fromkeys(note for tally in drift.fuse.tallies.values() for note in tally["notes"])
    standing = "".join(
        f" {note[:1].upper()}{note[1:]}." for note in notes
    )  # such as that a model is too small
    caution = "The judge is unvalidated: it was not compared with annotators." + excerpt(
        standing, 400
    )
    blocks: list[Block] = [
        Text(counts),
        Text(caution, "note"),
        *charts.fuse(drift),
        *fuse_means(drift),
        table,
    ]
    return Section("FUSE-EVAL by a model", blocks, "fuse-eval")


def fuse_means(drift: Drift) -> list[Block]:
    """Total deviation by step, and the six dimensions at the end by network, group and topic."""
    if drift.fuse is None or drift.fuse_means is None or not drift.fuse_means.height:
        return []
    names = drift.fuse.reading.dimensions
    ends, steps = [], []
    for row in drift.fuse_means.iter_rows(named=True):
        interval = "–" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}"
        start = [_kind(row["by"]), excerpt(row["value"], 60)]
        if row["step"] is None:
            ends.append(
                [*start, row["traces"], row[TOTAL], interval, *(row[name] for name in names)]
            )
        elif row["by"] in ("all", "topology", "home", "topic"):
            steps.append([*start, row["step"], row["traces"], row[TOTAL], interval])
    titles = [name.replace("_", " ") for name in names]
    few = f"No interval is given for fewer than {LEAST} traces; smaller topics are pooled."
    return [
        Table(
            ["By", "Value", "Traces", "Total", "95% interval", *titles],
            ends,
            "FUSE-EVAL at the last judged hop of each trace, means (figures 12 and 15 to 18 of the"
            f" paper). {few}",
        ),
        Table(
            ["By", "Value", "Step", "Traces", "Total", "95% interval"],
            steps,
            "Total deviation by step (figure 7 and table 27 of the paper).",
        ),
    ]


def targets(drift: Drift) -> Section | None:
    if not drift.attainment.height:
        return None
    rows = [
        [
            r["setting"],
            r["dimension"],
            r["judge"],
            r["traces"],
            r["judged"],
            r["untouched"],
            percent(r["share"]),
            "–" if r["low"] is None else f"{100 * r['low']:.1f} to {100 * r['high']:.1f}",
        ]
        for r in drift.attainment.iter_rows(named=True)
    ]
    columns = [
        "Setting",
        "Dimension",
        "Judge",
        "Traces",
        "Judged",
        "Passed untouched",
        "Attained, %",
        "95% interval",
    ]
    steps = [
        [r["dimension"], r["target"], r["traces"], r["mean"], r["most"], percent(r["at_once"])]
        for r in drift.steps.iter_rows(named=True)
    ]
    return Section(
        "Targets",
        [
            Text(
                "The auditors who guide a claim also decide when it has reached its target, which"
                " flatters the run. A release with only the successful traces does not show how"
                " many failed.",
                "note",
            ),
            Table(
                columns,
                rows,
                "Traces that reached their target value. A seed that passed as it was is counted"
                " apart, and is not in the share.",
            ),
            *_one_or_three(drift),
            *charts.steps(drift),
            Table(
                ["Dimension", "Value", "Traces", "Mean hops", "Most hops", "At once, %"],
                steps,
                "Hops to the target.",
            ),
        ],
        "targets",
    )


def _one_or_three(drift: Drift) -> list[Block]:
    table = one_against_three(drift.attainment)
    if not table.height:
        return []
    rows = [
        [
            r["dimension"],
            r["judge"],
            percent(r["one"]),
            percent(r["three"]),
            "–" if r["low"] is None else f"{100 * r['low']:.1f} to {100 * r['high']:.1f}",
            r["verdict"],
        ]
        for r in table.iter_rows(named=True)
    ]
    columns = [
        "Dimension",
        "Judge",
        "One, %",
        "Three, %",
        "Three minus one, 95% interval",
        "Result",
    ]
    return [
        Table(
            columns,
            rows,
            "Do three auditors do better than one? One does as well where they gain under 5"
            " points.",
        )
    ]


def producers(drift: Drift) -> Section | None:
    figures = [*charts.influence(drift), *charts.together(drift)]
    if not figures:
        return None
    note = (
        "Attributes are what agents say influenced them. A model's own explanation is not evidence"
        " of a cause."
    )
    shares = producer_share(drift.hops, "group")
    rows = [
        [r["group"], r["hops"], r["producers"], percent(r["share"]), r["failed"]]
        for r in shares.to_dicts()
    ]
    columns = ["Group", "Hops", "By producers", "Producers, %", "Failed"]
    table = Table(
        columns,
        rows,
        "Who had a claim and rewrote it, by group; hops that failed are not in the share.",
    )
    return Section("Who rewrites", [Text(note, "note"), *figures, table], "producers")


def coverage(drift: Drift) -> Section:
    rows: list[list[Any]] = []
    for by in ("dimension", "run"):
        table = coverage_means(drift.coverage, by)
        rows += [
            [
                by,
                r[by],
                r["traces"],
                r["seed_coverage"],
                r["coverage"],
                r["seed_length"],
                r["length"],
            ]
            for r in table.iter_rows(named=True)
        ]
    columns = [
        "By",
        "Value",
        "Traces",
        "Coverage, seed",
        "Coverage, end",
        "Words, seed",
        "Words, end",
    ]
    blocks: list[Block] = [
        Text(
            "Coverage is the share of the context's clauses of which at least half the content"
            " words, numbers and names occur in the claim. It matches words only: it misses"
            " paraphrases and counts what is denied.",
            "note",
        ),
        Table(
            columns,
            rows,
            "What claims keep of their context, and at what length (table 2 of the paper).",
        ),
    ]
    if drift.model_coverage is not None and drift.model_coverage["entailed"].count():
        known = drift.model_coverage["entailed"].drop_nulls()
        mean, n = float(known.sum()) / known.len(), known.len()
        blocks.append(
            Text(
                f"Asked of a model instead: {mean:.3f} of the context's units, over {n:,} judged"
                " hops."
            )
        )
    return Section("Coverage and length", blocks, "coverage")


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
