"""The page of an overlap report, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from claimlab.claims.conflicts import Conflict
from claimlab.claims.contamination import views as of_model
from claimlab.claims.contamination.result import FILE as MODEL_FILE
from claimlab.claims.contamination.result import TABLE as MODEL_TABLE
from claimlab.claims.contamination.result import Contamination
from claimlab.claims.graph import KINDS
from claimlab.claims.result import FILE, KIND, Overlap
from claimlab.claims.shared import column_of
from claimlab.core.stats.interval import wilson
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.files.cells import escape_cells
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
    Figure,
    Fold,
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
    span,
)
from claimlab.pages.charts import heatmap
from claimlab.pages.folder import Contents

ROWS_LISTED = 60
HISTORIES_LISTED = 20  # claims whose records the page lists
MOST_DATASETS_IN_FIGURE = 40  # a larger matrix is a table only
_METHOD = (
    "Same text: case, punctuation and whitespace aside. Near-duplicate: Jaccard similarity of"
    " character 5-grams of at least 0.7, verified exactly. Few words changed: at least half of the"
    " words shared and 70% in the same order, in texts of six words or more.",
    "Same tweet and same address: the ids and URLs that the records name. An address that more than"
    " three claims of a dataset have is that of a page about many claims, and does not count.",
    "Same meaning: cosine of sentence vectors of at least 0.9 (0.8 across languages), in the 16"
    " languages of the encoder. Two model readers called two of three such pairs the same claim, so"
    " it is shown apart and not counted as shared.",
    "A share is of the records of the row. Each record is counted once, under its strongest kind."
    " Leaks use the published train and test splits where there are some, else all records.",
    "Sources disagree where both decide one text and their verdicts differ. Verdicts dated more"
    " than 30 days apart may have changed over time, and are counted apart; so are labels that both"
    " sources wrote alike, and whose label maps differ. Nearly the same text with another number, a"
    " negation, or another word in place of one is another claim, and no conflict.",
)
SPLIT: Columns[JsonObject] = (
    Column("Dataset", format=short(50)),
    Column("Split", missing="all"),
    Column("In", "other", short(50)),
    Column("Its split", "other_split", missing="all"),
    Column("Records"),
    Column("Shared"),
    Column("Share (%)", lambda row: row["shared"] / row["records"], percent),
)
LEAK: Columns[JsonObject] = (
    Column("Trained on", "train", short(50)),
    Column("Tested on", "test", short(50)),
    Column("Test records", "records"),
    Column("Seen in train", "seen"),
    Column("Share (%)", "share", percent),
)
TORN: Columns[JsonObject] = (
    Column("Dataset", "dataset", short(50)),
    Column("Other", "other", short(50)),
    Column("Claims of both", "claims"),
    Column("Disagree", "disagree"),
    Column("Share (%)", lambda row: row["disagree"] / row["claims"], percent),
    Column(
        "95% interval",
        lambda row: wilson(row["disagree"], row["claims"]) if row["claims"] >= 20 else None,
        span,
    ),
    Column("True against false", "opposed"),
    Column("Dated apart", "dated_apart"),
    Column("Another label map", "other_map"),
)
CLAIM: Columns[JsonObject] = (
    Column("Claim", "text", short(140)),
    Column("Datasets", "datasets", short(90)),
    Column("Records", "records"),
    Column("First seen", "first", str),
    Column("Last seen", "last", str),
    Column("Labels", "verdicts"),
    Column("Languages", "languages", short(40)),
)
RECORD: Columns[JsonObject] = (
    Column("Date", format=str),
    Column("Dataset", format=short(50)),
    Column("Label", "veracity"),
    Column("As written", "label_raw", short(40)),
    Column("Language", optional=True),
    Column("Text", format=short(200)),
)
SIDES: Columns[Conflict] = (
    Column("Same", lambda c: f"{c.similarity:.2f}"),
    Column(
        "Labels", lambda c: "; ".join(f"{s.dataset}: {s.veracity}" for s in c.sides), short(120)
    ),
    Column("Dated apart", "dated_apart"),
    Column("Another label map", "other_map"),
    Column("Text", lambda c: next((s.text for s in c.sides if s.text), None), short(160)),
)


def contents(overlap: Overlap) -> Contents:
    contamination = overlap.contamination
    data: dict[str, JsonObject] = {FILE: overlap.to_json()}
    files: dict[str, str | pl.DataFrame] = {
        "matrix.parquet": overlap.matrix,
        "matrix.csv": as_csv(overlap.matrix),
        "claims.parquet": overlap.clusters,
        "links.parquet": overlap.links,
        "conflicts.csv": as_csv(overlap.conflicts.table),
    }
    if contamination is not None:
        data[MODEL_FILE] = contamination.to_json()
        files[MODEL_TABLE] = contamination.records
    if overlap.unseen is not None:
        files["unseen.csv"] = as_csv(overlap.unseen.records.select("id"))
    return Contents(KIND, [page(overlap)], data=data, files=files)


def as_csv(table: pl.DataFrame) -> str:
    """A table for a spreadsheet: a stranger's text must start no formula."""
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    return table.with_columns(escape_cells(pl.col(texts))).write_csv() if texts else ""


def page(overlap: Overlap) -> Report:
    n = len(overlap.datasets)
    sentences = overlap.sentences() or ["These datasets share no claim."]
    blocks: Blocks = [Text(" ".join(sentences[:2]), "conclusion"), tiles(overlap)]
    blocks += [*_matrix(overlap), *_leaks(overlap), *_disagreement(overlap)]
    blocks += [*_claims(overlap), *_model(overlap.contamination)]
    missing = [
        f"{several(count, 'record')}: {why}." for why, count in overlap.graph.not_measured.items()
    ]
    if not overlap.by_meaning:
        missing.append("Paraphrases and translations were not looked for (`meaning`).")
    blocks.append(Section("Not measured", [Items(missing)], anchor="not-measured"))
    blocks.append(Section("How these figures were made", [Items(_METHOD)], anchor="method"))
    title = "What the datasets share" if n > 1 else f"Overlap of {excerpt(overlap.datasets[0], 60)}"
    counted = f"{several(n, 'dataset')}, {several(overlap.graph.rows.height, 'record')}."
    return Report(title, counted, blocks)


def tiles(overlap: Overlap) -> Tiles:
    n = len(overlap.datasets)
    counts = {
        "pairs of datasets share claims": f"{overlap.pairs():,} of {n * (n - 1) // 2:,}",
        "claims in several datasets": f"{overlap.clusters['claim'].n_unique():,}",
        "claims under different labels": f"{len(overlap.conflicts.conflicts):,}",
    }
    return Tiles([(name, count, "plain") for name, count in counts.items()])


def matrix_table(overlap: Overlap, names: Sequence[str]) -> Table:
    """Share of the row's records that the column holds, in percent; on hover, the counts by kind
    and examples.
    """
    cells = {(row["dataset"], row["other"]): row for row in overlap.whole.iter_rows(named=True)}
    rows: list[list[Cell | str]] = [
        [name, *(_cell(overlap, cells.get((name, other))) for other in names)] for name in names
    ]
    caption = "Share of the row's records that the column holds (%)."
    return Table(["", *names], rows, caption, sortable=False, upright=True)


def _cell(overlap: Overlap, row: JsonObject | None) -> Cell:
    if row is None:
        return Cell("")
    share = 100 * row["share"]
    text = "" if not row["shared"] else f"{share:.0f}" if share >= 1 else "<1"
    tone: Tone = "fail" if share >= 10 else "warn" if share >= 1 else "plain"
    title = hover(overlap, row) if row["shared"] else None
    return Cell(text, sort=share, tone=tone, title=title)


def hover(overlap: Overlap, row: Mapping[str, object]) -> str:
    """What a cell says when it is pointed at."""
    kinds = ", ".join(f"{kind} {row[column_of(kind)]:,}" for kind in KINDS if row[column_of(kind)])
    counted = (
        f"{row['shared']:,} of {row['records']:,} records of {row['dataset']} in {row['other']}:"
        f" {kinds}."
    )
    pairs = overlap.examples.get((str(row["dataset"]), str(row["other"])), [])
    listed = [f"{kind}: “{excerpt(example, 90)}”" for kind, example in pairs]
    return " ".join([counted, *listed])


def _matrix(overlap: Overlap) -> Blocks:
    n = len(overlap.datasets)
    if n < 2:
        return []
    blocks = [_figure(overlap)] if n <= MOST_DATASETS_IN_FIGURE else []
    folded = [Fold("As a table", [matrix_table(overlap, overlap.datasets)], open=not blocks)]
    by_split = overlap.matrix.filter(
        pl.col("shared") > 0, ~pl.all_horizontal(pl.col("split", "other_split").is_null())
    )
    if by_split.height:
        rows = by_split.sort("shared", descending=True, maintain_order=True).head(ROWS_LISTED)
        folded.append(Fold("By split", [Table.of(SPLIT, rows.iter_rows(named=True))]))
    return [Section("Overlap matrix", [*blocks, *folded], anchor="matrix")]


def _figure(overlap: Overlap) -> Figure:
    cells = [
        {
            "row": row["dataset"],
            "column": row["other"],
            "value": 100 * row["share"],
            "hover": hover(overlap, row),
        }
        for row in overlap.whole.filter(pl.col("shared") > 0).iter_rows(named=True)
    ]
    title = "share of the row's records that the column holds (%)"
    chart = heatmap(
        cells, row="row", column="column", value="value", title=title, order=overlap.datasets
    )
    caption = "Empty: nothing shared. Point at a cell for the counts by kind and for examples."
    return Figure(chart, caption, "Overlap matrix of the datasets.", "matrix")


def _leaks(overlap: Overlap) -> Blocks:
    if not overlap.leaks.height:
        return []
    rows = overlap.leaks.head(ROWS_LISTED).iter_rows(named=True)
    title = "What a train/test pair would leak"
    return [Section(title, [Table.of(LEAK, rows)], anchor="leaks")]


def _disagreement(overlap: Overlap) -> Blocks:
    conflicts = overlap.conflicts.conflicts
    blocks: Blocks = []
    if overlap.disagreement.height:
        ordered = overlap.disagreement.sort("claims", descending=True)
        blocks.append(Table.of(TORN, ordered.iter_rows(named=True)))
    if conflicts:
        summary = f"{several(len(conflicts), 'claim')} under different labels"
        blocks.append(Fold(summary, [Table.of(SIDES, conflicts[:ROWS_LISTED])]))
    return [Section("How often sources disagree", blocks, anchor="disagreement")] if blocks else []


def _claims(overlap: Overlap) -> Blocks:
    first = overlap.clusters.unique("claim", keep="first", maintain_order=True)
    if not first.height:
        return []
    table = Table.of(CLAIM, first.head(ROWS_LISTED).iter_rows(named=True))
    note = Text(
        "claims.parquet has a line for each record of every shared claim, links.parquet one for"
        " every two texts that are linked, with the evidence.",
        "note",
    )
    listed = overlap.clusters.filter(pl.col("claim") <= HISTORIES_LISTED)
    histories = [
        Fold(
            excerpt(str(records["text"][0]), 90),
            [Table.of(RECORD, records.head(ROWS_LISTED).iter_rows(named=True))],
        )
        for records in listed.partition_by("claim", maintain_order=True)
    ]
    title = f"Claims in several datasets ({first.height:,})"
    blocks: Blocks = [note, table, Section("Their records, oldest first", histories)]
    return [Section(title, blocks, anchor="claims")]


def _model(contamination: Contamination | None) -> Blocks:
    if contamination is None:
        return []
    title = f"What a model may know of {excerpt(contamination.dataset, 60)}"
    return [Section(title, of_model.blocks(contamination), anchor="model")]


def printed(overlap: Overlap) -> Table:
    """The matrix as a terminal shows it: the datasets that share something."""
    whole = overlap.whole.filter(pl.col("shared") > 0)
    names = [n for n in overlap.datasets if n in {*whole["dataset"], *whole["other"]}]
    return matrix_table(overlap, names)
