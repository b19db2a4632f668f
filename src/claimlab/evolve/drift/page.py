"""The drift report: what was measured, what was not, what a figure can and cannot carry.

Its pictures are the paper's figures 4 to 7, 12 and 19, drawn from whatever was measured: none where
there is nothing to draw, and the page then says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.evolve.drift.attainment import hardest, one_against_three
from claimlab.evolve.drift.fuse import TOTAL
from claimlab.evolve.drift.hops import LEAST
from claimlab.evolve.drift.judged import LEVELS
from claimlab.evolve.drift.lite import DIMENSIONS, FLAT, NAMES, Curve
from claimlab.evolve.drift.measure import (
    Drift,
    attribute_names,
    coverage_means,
    decomposition,
    producer_share,
)
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
from claimlab.pages.charts import bars, distinct, to_svg
from claimlab.pages.excerpt import excerpt
from claimlab.pages.heatmap import heatmap
from claimlab.pages.lines import lines

MANY = 12  # series in one picture
WORDS = {"home": "group (of traces that stayed in one)"}
VERDICT_COLOURS = dict(
    zip(LEVELS, ("#2f7d4f", "#7fb069", "#d9c14a", "#dd8a3e", "#c8453b", "#7d1f2f"), strict=True)
)  # from true to false, as a traffic light is read


def trajectory_figures(drift: Drift, by: str) -> list[Figure]:
    """Figure 7: mean drift at each hop, a line for each value of `by`; dashed: what unrelated
    claims score.
    """
    chosen = {value: c for (kind, value), c in drift.curves.items() if kind == by}
    series = {excerpt(v, 40): points(c) for v, c in list(chosen.items())[:MANY]}
    series = {name: p for name, p in series.items() if len(p) > 1}
    if not series:
        return []
    far = next(iter(chosen.values())).unrelated
    levels = {} if far is None else {"two unrelated claims": far}
    chart = lines(series, across="hops", up="drift-lite", levels=levels)
    caption = (
        f"Mean drift-lite after each hop, by {WORDS.get(by, by)} (figure 7 of the paper). Hops that"
        f" fewer than {LEAST} traces reached are not drawn."
    )
    return [
        Figure(
            to_svg(chart),
            caption,
            f"Lines of mean drift over hops by {by}",
            f"trajectories-by-{by}",
        )
    ]


def points(one: Curve) -> list[tuple[float, float]]:
    floor = min(LEAST, one.n[0])
    return [(h, m) for h, m, n in zip(one.hops, one.mean, one.n, strict=True) if n >= floor]


def dimension_figures(drift: Drift, by: str) -> list[Figure]:
    """Figure 12: which dimensions moved, for each value of `by`, at the end of the traces."""
    table = decomposition(drift.hops, by)
    if not table.height:
        return []
    titles = {d.name: d.title + (" (weak)" if d.weak else "") for d in DIMENSIONS}
    cells = [
        {"dimension": titles[name], by: excerpt(str(row[by]), 30), "value": row[name]}
        for row in table.head(MANY).iter_rows(named=True)
        for name in NAMES
        if row[name] is not None
    ]
    values = list(dict.fromkeys(c[by] for c in cells))
    chart = heatmap(
        cells,
        row="dimension",
        column=by,
        value="value",
        title="mean",
        order=list(titles.values()),
        columns=values,
        number=".2f",
    )
    caption = (
        f"The six dimensions of drift-lite at the last hop, mean by {by} (figure 12). Each runs"
        " from 0 to 1."
    )
    return [
        Figure(
            to_svg(chart), caption, f"Heat map of drift dimensions by {by}", f"dimensions-by-{by}"
        )
    ]


def step_figures(drift: Drift) -> list[Figure]:
    """Figure 4: the target of each dimension that took the most hops, its mean and its longest
    trace.
    """
    table = hardest(drift.steps)
    if not table.height:
        return []
    names = distinct(
        f"{excerpt(r['target'], 24)} (most {r['most']})" for r in table.iter_rows(named=True)
    )
    rows = [
        {"target": n, "hops": float(m)} for n, m in zip(names, table["mean"].to_list(), strict=True)
    ]
    chart = bars(rows, category="target", value="hops", title="hops to the target, mean", width=360)
    caption = (
        "The value of each dimension that took the most hops on average, of traces that attained"
        " it; the longest is in parentheses (figure 4)."
    )
    return [
        Figure(
            to_svg(chart),
            caption,
            "Bars of mean hops to the hardest target of each dimension",
            "steps",
        )
    ]


def influence_figures(drift: Drift) -> list[Figure]:
    """Figure 5: which attributes moved agents to become producers, by dimension."""
    if not drift.influence.height:
        return []
    cells = drift.influence.with_columns(pl.col("share") * 100).to_dicts()
    used = {c["attribute"] for c in cells}
    order = [a for a in (*attribute_names(), "other") if a in used]
    columns = drift.influence["dimension"].unique().sort().to_list()
    chart = heatmap(
        cells,
        row="attribute",
        column="dimension",
        value="share",
        title="% of hops",
        order=order,
        columns=columns,
    )
    caption = (
        "Share of producers' hops in which an agent named the attribute as an influence, in %"
        " (figure 5)."
    )
    return [Figure(to_svg(chart), caption, "Heat map of attributes by dimension", "influence")]


def together_figures(drift: Drift) -> list[Figure]:
    """Figure 19: attributes that were named in the same hop."""
    if not drift.together.height:
        return []
    used = set(drift.together["a"].to_list())
    order = [a for a in (*attribute_names(), "other") if a in used]
    chart = heatmap(
        drift.together.to_dicts(), row="a", column="b", value="n", title="hops", order=order
    )
    caption = (
        "How often two attributes were named in the same hop (figure 19). Empty: never together."
    )
    return [
        Figure(to_svg(chart), caption, "Heat map of attributes that are named together", "together")
    ]


def verdict_figures(drift: Drift, by: str) -> list[Figure]:
    """Figure 6: how true claims are at the end of their traces, for each value of `by`."""
    table = drift.verdict_shares.get(by)
    if table is None or not table.height:
        return []
    rows = _by_level(table.to_dicts(), by)
    chart = bars(
        rows,
        category="value",
        value="n",
        colour="verdict",
        colours=VERDICT_COLOURS,
        title="share of traces",
        stack="normalize",
        width=460,
    )
    caption = (
        f"Verdicts at the last judged hop by {WORDS.get(by, by)} (figure 6); the number of traces"
        " is in parentheses."
    )
    return [Figure(to_svg(chart), caption, f"Bars of verdict shares by {by}", f"verdicts-by-{by}")]


def _by_level(rows: Sequence[Mapping[str, Any]], by: str) -> list[JsonObject]:
    """Rows in the order of the levels, each value named with its number of traces."""
    sizes: dict[str, int] = {}
    for row in rows:
        sizes[row[by]] = sizes.get(row[by], 0) + row["n"]
    return [
        {
            "value": f"{excerpt(row[by], 34)} ({sizes[row[by]]:,})",
            "verdict": row["verdict"],
            "n": row["n"],
        }
        for row in sorted(rows, key=lambda r: (_in_order(r[by]), LEVELS.index(r["verdict"])))
    ]


def _in_order(value: str) -> tuple[int, str]:
    """Numbers by their size, names by the alphabet."""
    return (int(value), "") if value.isdigit() else (0, value)


def fuse_figures(drift: Drift) -> list[Figure]:
    """FUSE-EVAL of the judged hops, by topic."""
    if drift.fuse is None or drift.fuse_hops is None:
        return []
    known = drift.fuse_hops.drop_nulls(TOTAL).with_columns(pl.col("topic").fill_null("not stated"))
    means = (
        known.group_by("topic", "hop", maintain_order=True)
        .agg(pl.col(TOTAL).mean())
        .sort("topic", "hop")
    )
    series: dict[str, list[tuple[float, float]]] = {}
    for topic, hop, value in means.iter_rows():
        series.setdefault(excerpt(topic, 40), []).append((hop, value))
    if not series:
        return []
    reading = drift.fuse.reading
    chart = lines(series, across="hops", up=f"FUSE-EVAL ({reading.scale})", levels={})
    caption = (
        f"Mean FUSE-EVAL of the judged hops by topic; PD is the {reading.pd.replace('-', ' ')}."
    )
    return [Figure(to_svg(chart), caption, "Lines of FUSE-EVAL over hops by topic", "fuse-eval")]


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
        figures += trajectory_figures(drift, by)
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
        for d in DIMENSIONS
    ]
    table = Table(
        ["Dimension", "Standing", "Ceiling", "Reached when"],
        rows,
        "What each dimension of drift-lite can reach.",
    )
    figures = [
        f
        for by in ("topic", "topology")
        for f in dimension_figures(drift, by)
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
        figures += verdict_figures(drift, by)
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
        *fuse_figures(drift),
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
            *step_figures(drift),
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
    figures = [*influence_figures(drift), *together_figures(drift)]
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
