"""The drift report: what was measured, what was not, what a figure can and cannot carry."""

from __future__ import annotations

import polars as pl

from claimlab.core.types import JsonObject
from claimlab.pages.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Items,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    cell,
    excerpt,
    percent,
    short,
)
from claimlab.pages.charts import lines
from claimlab_simulate.evolve.drift.attainment import one_against_three
from claimlab_simulate.evolve.drift.curve import FLAT_BELOW
from claimlab_simulate.evolve.drift.figures import (
    dimension_figures,
    fuse_figures,
    influence_figures,
    step_figures,
    together_figures,
    trajectory_figures,
    verdict_figures,
)
from claimlab_simulate.evolve.drift.fuse import TOTAL
from claimlab_simulate.evolve.drift.hops import FEWEST_TRACES
from claimlab_simulate.evolve.drift.influence import producer_share
from claimlab_simulate.evolve.drift.lite import DIMENSIONS, DriftDimension
from claimlab_simulate.evolve.drift.result import Drift, coverage_means

STEPS_SHOWN = (1, 2, 3, 5, 10, 20, 30)  # steps in a table
KINDS = {"home": "group", "all": "all traces"}
VIEWER = "traces.html"
NOT_FUSE = (
    "drift-lite reads word lists and counts; it is not FUSE-EVAL, and its numbers are not to be"
    " compared with published ones. Certainty and temporal shift hardly separate released pairs:"
    " they are marked weak."
)
STANDING: tuple[Column[DriftDimension], ...] = (
    Column("Dimension", "title"),
    Column("Standing", lambda dimension: Cell("weak", tone="warn") if dimension.weak else "", cell),
    Column("Ceiling"),
    Column("Reached when", "ceiling_when"),
)
Made = Column[JsonObject]
BY_AND_VALUE = (Made("By", format=lambda by: KINDS.get(by, by)), Made("Value", format=short(60)))
CURVES = (
    *BY_AND_VALUE,
    Made("Traces"),
    Made("Early slope"),
    Made("Late slope"),
    Made("Late / early", "ratio"),
    Made("95% interval", lambda row: ends(*(row["ratio_interval"] or (None, None)))),
    Made("At the end", "end"),
    Made("Null model", "null_end"),
    Made("Difference, 95% interval", lambda row: ends(*(row["beyond_null"] or (None, None)))),
    Made("Flattens", lambda row: {None: "not known", True: "yes", False: "no"}[row["flattens"]]),
)
DETAILS = (
    *map(Made, ("Kind", "Step", "Traces", "Details")),
    Made("Kept, %", "kept", percent),
    Made("95% interval", lambda row: _shares(row)),
    Made("Changed, %", "changed", percent),
    Made("Lost, %", "lost", percent),
    Made("New for each 100", "new", percent),
    Made("Null model keeps, %", "null_kept", percent),
    Made("Difference, 95% interval", lambda row: _shares(row, "difference_")),
)
AGREEMENT = (
    Made("Dimension"),
    Made("Judges and runs", "judges"),
    Made("Pairs judged twice or more", "units"),
    Made("Krippendorff's alpha", "alpha"),
    Made("ICC(2,1)", "icc"),
)
SCORED = (
    Made("Traces"),
    Made("Total", TOTAL),
    Made("95% interval", lambda row: ends(row["low"], row["high"])),
)
STEPS = (
    Made("Dimension"),
    Made("Value", "target"),
    Made("Traces"),
    Made("Mean hops", "mean"),
    Made("Most hops", "most"),
    Made("At once, %", "at_once", percent),
)
PRODUCERS = (
    Made("Group"),
    Made("Hops"),
    Made("By producers", "producers"),
    Made("Producers, %", "share", percent),
    Made("Failed"),
)
COVERED = (
    *map(Made, ("By", "Value", "Traces")),
    Made("Coverage, seed", "seed_coverage"),
    Made("Coverage, end", "coverage"),
    Made("Words, seed", "seed_length"),
    Made("Words, end", "length"),
)


def report(drift: Drift, *, viewer: str | None = VIEWER) -> Report:
    """The whole page; `viewer` is the file name of the trace viewer beside it."""
    counts = drift.counts
    runs = drift.hops["run"].unique().sort().to_list()
    parts = (shape, details, dimensions, verdicts, fuse, targets, producers, coverage)
    links = [("Follow single traces", viewer)] if viewer else []
    intro = (
        f"{counts['traces']:,} traces, {counts['hops']:,} hops; {counts['failed_hops']:,} hops"
        " failed."
    )
    sections = [section for part in parts if (section := part(drift)) is not None]
    if drift.notes:
        sections.append(Section("Not measured", [Items(drift.notes)], tone="not-measured"))
    return Report(
        "Drift of claims",
        excerpt(", ".join(runs), 200),
        [Text(intro, links=links), tiles(drift), *sections],
    )


def tiles(drift: Drift) -> Tiles:
    whole, failed = drift.curves["all", ""], drift.counts["failed_hops"]
    return Tiles(
        [
            ("drift-lite at the end", number(whole.end), "plain"),
            ("null model at the end", number(whole.noise_end), "plain"),
            ("two unrelated claims", number(whole.unrelated), "plain"),
            ("late slope / early slope", number(whole.ratio), "plain"),
            ("hops failed", f"{failed:,}", "warn" if failed else "plain"),
        ]
    )


def shape(drift: Drift) -> Section:
    rows = [
        {"by": by, "value": value, "traces": curve.n[0], **curve.to_json()}
        for (by, value), curve in drift.curves.items()
    ]
    caption = (
        "Slopes per hop over the first and the last third of the hops; a late slope under"
        f" {FLAT_BELOW:g} of the early one counts as flat. Unknown where half of the traces took"
        " fewer than six"
        " hops. The null model changes as many words as each hop did, at random: an interval of the"
        " difference that holds 0 shows no more than word noise."
    )
    figures = [
        figure for by in ("topic", "topology", "home") for figure in trajectory_figures(drift, by)
    ]
    blocks: list[Block] = [Text(NOT_FUSE, "note"), *figures, Table.of(CURVES, rows, caption)]
    return Section("How fast claims move", blocks, "shape")


def details(drift: Drift) -> Section | None:
    """How long numbers, dates, names and the words that qualify a claim survive."""
    table = drift.details
    if not table.height:
        return None
    measured = table.filter(pl.col("traces") >= min(FEWEST_TRACES, table["traces"].max()))  # type: ignore[type-var]
    series = {
        str(kind): [(0.0, 100.0), *((s, 100 * k) for s, k in part["step", "kept"].rows())]
        for (kind,), part in measured.group_by("kind", maintain_order=True)
    }
    note = (
        "Read by rules, in the languages that have word lists; kinds that cannot be read in a"
        " language are not measured there. A detail that is said in other words counts as lost."
    )
    listed = table.filter(
        pl.col("step").is_in(STEPS_SHOWN) | (pl.col("step") == pl.col("step").max())
    )
    blocks: list[Block] = [
        Text(note, "note"),
        Figure(
            lines(series, across="hops", up="details kept, %", levels={}),
            "Details of the base claims that are still there after each hop, by kind.",
            "Lines of the share of details kept over hops, by kind",
            "details",
        ),
        Table.of(
            DETAILS,
            listed.to_dicts(),
            "What became of the details of the base claims. The null model changes as many words at"
            " random; an interval of the difference that holds 0 shows no more than word noise.",
        ),
    ]
    return Section("Details that survive", blocks, "details")


def dimensions(drift: Drift) -> Section:
    table = Table.of(STANDING, DIMENSIONS, "What each dimension of drift-lite can reach.")
    figures = dimension_figures(drift, "topic")
    if drift.hops["topology"].n_unique() > 1:
        figures += dimension_figures(drift, "topology")
    return Section("What moves", [*figures, table], "dimensions")


def verdicts(drift: Drift) -> Section | None:
    if not drift.verdict_shares:
        return None
    note = Text("Verdicts by a model are unvalidated: it was not compared with annotators.", "note")
    blocks: list[Block] = [note] if "verdicts" in drift.tallies else []
    for by in ("topology", "home", "topic", "hop"):
        blocks += verdict_figures(drift, by)
    caption = "From level to level, between neighbouring judged hops of a trace."
    moves = Table(["From", "To", "Hops"], drift.verdict_moves.rows(), caption)
    return Section("How true claims stay", [*blocks, moves], "verdicts")


def fuse(drift: Drift) -> Section | None:
    if drift.fuse is None:
        return None
    agreed = [{"dimension": name, **row} for name, row in drift.fuse.agreement().items()]
    caption = (
        "How well judges, or the runs of one judge, agree. One judge with one run has no agreement."
    )
    counts = (
        f"{drift.fuse.table.height:,} scores asked for, {drift.fuse.nulls:,} could not be read:"
        " those are null, not zero."
    )
    notes = dict.fromkeys(note for tally in drift.fuse.tallies.values() for note in tally["notes"])
    # such as that a model is too small
    standing = "".join(f" {note[:1].upper()}{note[1:]}." for note in notes)
    caution = "The judge is unvalidated: it was not compared with annotators."
    blocks: list[Block] = [
        Text(counts),
        Text(caution + excerpt(standing, 400), "note"),
        *fuse_figures(drift),
        *fuse_means(drift),
        Table.of(AGREEMENT, agreed, caption),
    ]
    return Section("FUSE-EVAL by a model", blocks, "fuse-eval")


def fuse_means(drift: Drift) -> list[Block]:
    """Total deviation by step, and the six dimensions at the end by network, group and topic."""
    if drift.fuse is None or not drift.fuse.groups.height:
        return []
    last = pl.col("step").is_null()
    tabled = pl.col("by") != "run"
    titles = [Made(name.replace("_", " "), name) for name in drift.fuse.reading.dimensions]
    few = f"No interval is given for fewer than {FEWEST_TRACES} traces; smaller topics are pooled."
    return [
        Table.of(
            (*BY_AND_VALUE, *SCORED, *titles),
            drift.fuse.groups.filter(last).to_dicts(),
            "FUSE-EVAL at the last judged hop of each trace, means (figures 12 and 15 to 18 of the"
            f" paper). {few}",
        ),
        Table.of(
            (*BY_AND_VALUE, Made("Step"), *SCORED),
            drift.fuse.groups.filter(~last & tabled).to_dicts(),
            "Total deviation by step (figure 7 and table 27 of the paper).",
        ),
    ]


def _shares(row: JsonObject, of: str = "") -> str:
    low, high = row[f"{of}low"], row[f"{of}high"]
    return ends(low and 100 * low, high and 100 * high, digits=1)


ATTAINED = (
    *map(Made, ("Setting", "Dimension", "Judge", "Traces", "Judged")),
    Made("Passed untouched", "untouched"),
    Made("Attained, %", "share", percent),
    Made("95% interval", _shares),
)
AGAINST = (
    Made("Dimension"),
    Made("Judge"),
    Made("One, %", "one", percent),
    Made("Three, %", "three", percent),
    Made("Three minus one, 95% interval", _shares),
    Made("Result", "verdict"),
)


def targets(drift: Drift) -> Section | None:
    if not drift.attainment.height:
        return None
    flattered = (
        "The auditors who guide a claim also decide when it has reached its target, which flatters"
        " the run. A release with only the successful traces does not show how many failed."
    )
    untouched = (
        "Traces that reached their target value. A seed that passed as it was is counted apart, and"
        " is not in the share."
    )
    three = "Do three auditors do better than one? One does as well where they gain under 5 points."
    compared = one_against_three(drift.attainment).to_dicts()
    blocks: list[Block] = [
        Text(flattered, "note"),
        Table.of(ATTAINED, drift.attainment.to_dicts(), untouched),
        *([Table.of(AGAINST, compared, three)] if compared else []),
        *step_figures(drift),
        Table.of(STEPS, drift.steps.to_dicts(), "Hops to the target."),
    ]
    return Section("Targets", blocks, "targets")


def producers(drift: Drift) -> Section | None:
    figures = [*influence_figures(drift), *together_figures(drift)]
    if not figures:
        return None
    note = (
        "Attributes are what agents say influenced them. A model's own explanation is not evidence"
        " of a cause."
    )
    shares = producer_share(drift.hops, "group").to_dicts()
    caption = "Who had a claim and rewrote it, by group; hops that failed are not in the share."
    blocks: list[Block] = [Text(note, "note"), *figures, Table.of(PRODUCERS, shares, caption)]
    return Section("Who rewrites", blocks, "producers")


def coverage(drift: Drift) -> Section:
    rows = [
        {**row, "by": by, "value": row[by]}
        for by in ("dimension", "run")
        for row in coverage_means(drift.coverage, by).to_dicts()
    ]
    note = (
        "Coverage is the share of the context's clauses of which at least half the content words,"
        " numbers and names occur in the claim. It matches words only: it misses paraphrases and"
        " counts what is denied."
    )
    caption = "What claims keep of their context, and at what length (table 2 of the paper)."
    blocks: list[Block] = [Text(note, "note"), Table.of(COVERED, rows, caption)]
    if drift.model_coverage is not None and drift.model_coverage["entailed"].count():
        entailed = drift.model_coverage["entailed"].drop_nulls()
        mean, n = float(entailed.sum()) / entailed.len(), entailed.len()
        words = (
            f"Asked of a model instead: {mean:.3f} of the context's units, over {n:,} judged hops."
        )
        blocks.append(Text(words))
    return Section("Coverage and length", blocks, "coverage")


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def ends(low: float | None, high: float | None, digits: int = 2) -> str:
    """An interval; a dash where there is none."""
    return "–" if low is None else f"{low:.{digits}f} to {high:.{digits}f}"
