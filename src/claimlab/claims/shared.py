"""What datasets share, counted from the graph: the matrix, what a train/test pair leaks, the claims
that several datasets have, and the records that no other dataset contains.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from claimlab.claims.graph import KINDS, MEANING, NEARLY, SAME, SURE_KINDS, TWEET, Graph
from claimlab.core.stats.codes import Codes, joined
from claimlab.core.stats.scores import Flags
from claimlab.core.types import JsonObject
from claimlab.text.tokens import spaced

TRAIN, TEST = "train", "test"
LEAST_WORDS = 6  # fewer may be the same by accident
EXAMPLES_KEPT = 3
OF_RECORD = {"dataset": "", "id": "_id", "text": "_text"}
HISTORY = ("first", "last", "datasets", "verdicts", "languages", "records")


Part = tuple[str, str | None]  # a dataset, and one of its splits or null
Examples = dict[tuple[str, str], list[tuple[str, str]]]


def column_of(kind: str) -> str:
    """The column of the matrix that counts this kind."""
    return kind.replace(" ", "_").replace("-", "_")


def matrix(graph: Graph) -> pl.DataFrame:
    """A line for every two parts: how many records of the first the second holds, by the strongest
    kind. A part is a dataset (split is null) or one of its splits.
    """
    texts = ("dataset", "split", "other", "other_split")
    parts, of_part = _parts(graph)
    long = (spaced(graph.rows["text"]).str.count_matches(r"\S+") >= LEAST_WORDS).fill_null(False)
    before = np.zeros((graph.rows.height, len(parts)), np.bool_)
    counted: dict[str, list[list[int]]] = {}

    def by_part(rows: Flags) -> list[list[int]]:
        return [rows[rows_of_part].sum(axis=0).tolist() for rows_of_part in of_part]

    for number, kind in enumerate(KINDS):
        found = graph.by(KINDS[: number + 1]).held_by(of_part)
        counted[column_of(kind)] = by_part(found & ~before)
        before = found
        if kind == SURE_KINDS[-1]:
            counted["short"] = by_part(found & ~long.to_numpy()[:, None])
    rows: list[JsonObject] = []
    for a, here in enumerate(parts):
        for b, there in enumerate(parts):
            if here == there or (here[0] == there[0] and None in (here[1], there[1])):
                continue  # a whole dataset holds all of its splits
            counts = {name: table[a][b] for name, table in counted.items()}
            shared = sum(counts[column_of(kind)] for kind in SURE_KINDS)
            names = dict(zip(texts, (*here, *there), strict=True))
            rows.append({**names, "records": int(of_part[a].sum()), "shared": shared, **counts})
    numbers = ("records", "shared", *map(column_of, KINDS), "short")
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Int64)
    return pl.DataFrame(rows, schema=schema)


def _parts(graph: Graph) -> tuple[list[Part], list[Flags]]:
    """Every dataset, then its splits, and which rows each has."""
    part, split = graph.part, graph.rows["split"]
    masks: dict[Part, Flags] = {}
    for number, name in enumerate(graph.names):
        masks[name, None] = rows_of_dataset = part == number
        for side in split.filter(pl.Series(rows_of_dataset)).drop_nulls().unique().sort():
            masks[name, side] = rows_of_dataset & (split == side).fill_null(False).to_numpy()
    return [*masks], [*masks.values()]


def leaks(table: pl.DataFrame) -> pl.DataFrame:
    """What a detector that is trained on one dataset has seen of the test records of another: the
    published splits where there are some, else all records; most first.
    """

    def published(column: str, side: str) -> pl.Expr:
        has = table.filter(split=side)["dataset"].unique().to_list()
        return pl.when(pl.col(column).is_in(has)).then(pl.lit(side))

    wanted = (
        pl.col("split").eq_missing(published("dataset", TEST)),
        pl.col("other_split").eq_missing(published("other", TRAIN)),
        pl.col("shared") > 0,
    )
    share = pl.col("shared") / pl.col("records")
    leaking = table.filter(wanted).select(
        "records", train="other", test="dataset", seen="shared", share=share
    )
    columns = ("train", "test", "records", "seen", "share")
    return leaking.select(columns).sort(["share", "train", "test"], descending=[True, False, False])


def clusters(graph: Graph) -> pl.DataFrame:
    """The claims that several datasets have, a line for each record, with the history of the whole:
    when first and last seen, by whom, under which verdicts and in which languages. Most datasets
    first.
    """
    code = _components(graph)
    rows = graph.rows.with_columns(pl.col("date").dt.date(), cluster=pl.Series(code))
    rows = rows.filter(pl.col("cluster") >= 0)
    rows = rows.filter(pl.col("part").n_unique().over("cluster") > 1)
    listed = {"datasets": "dataset", "verdicts": "veracity", "languages": "language"}
    history = rows.group_by("cluster", maintain_order=True).agg(
        first=pl.col("date").min(),
        last=pl.col("date").max(),
        records=pl.len(),
        size=pl.col("part").n_unique(),
        **{n: pl.col(c).drop_nulls().unique().sort().str.join("; ") for n, c in listed.items()},
    )
    history = history.sort(["size", "records", "cluster"], descending=[True, True, False])
    numbered = history.with_columns(claim=pl.int_range(1, pl.len() + 1))
    order = ["dataset", "id", "text", "label_raw", "veracity", "language", "date", "split"]
    return (
        numbered.join(rows.select("cluster", *order, "part"), on="cluster", maintain_order="left")
        .sort("claim", "date", "part", "id", nulls_last=True)
        .select("claim", *order, *HISTORY)
    )


def _components(graph: Graph) -> Codes:
    """A code per row: rows whose claims are the same or linked by near-duplicates or a tweet, also
    through others; -1 without a claim. Looser links would chain different claims together."""
    links = graph.by((NEARLY, TWEET))
    of_node = joined(links.left, links.right, graph.claims)
    out = np.full(graph.rows.height, -1, np.int64)
    has_claim = graph.of_row >= 0
    out[has_claim] = of_node[graph.of_row[has_claim]]
    return out


def unseen(graph: Graph, others: Sequence[int]) -> Flags:
    """Which records of the first dataset none of `others` contains, by any kind of edge; a record
    without a text, tweet or address is not among them: it cannot be compared."""
    first = graph.part == 0
    contained = graph.by(KINDS).held_by([graph.part == other for other in others])
    return np.asarray((~contained.any(axis=1) & (graph.of_row >= 0))[first])


def evidence(graph: Graph) -> pl.DataFrame:
    """Why two datasets are said to share a claim: a line for every two of their texts that are
    linked, with a record of each, the kind and its score; those that are not the same text first.
    """
    with_claim = graph.rows.filter(pl.col("claim") >= 0)
    with_claim = with_claim.unique(["claim", "part"], keep="first", maintain_order=True)
    records_of_claim = with_claim.select("claim", "part", "dataset", "id", "text")
    same = records_of_claim.select(
        left="claim", right="claim", kind=pl.lit(SAME), score=1.0
    ).unique()
    turned = graph.links.rename({"left": "right", "right": "left"}).select(graph.links.columns)
    lines = (
        pl.concat([graph.links, turned, same])
        .join(records_of_claim, left_on="left", right_on="claim")
        .join(records_of_claim, left_on="right", right_on="claim", suffix="_other")
        .filter(pl.col("part") < pl.col("part_other"))
        .sort(pl.col("kind") == SAME, "left", "right", "part", "part_other")
    )
    theirs = {f"other{end}": f"{name}_other" for name, end in OF_RECORD.items()}
    return lines.select(*OF_RECORD, "kind", "score", **theirs)


def examples(links: pl.DataFrame) -> Examples:
    """For every two datasets a few texts of the first that the second has, with the kind."""
    sure = links.filter(pl.col("kind") != MEANING).drop_nulls(["text", "other_text"])
    columns = ("dataset", "text", "other", "other_text", "kind")
    out: Examples = {}
    for here, text, there, other_text, kind in sure.select(columns).iter_rows():
        for pair, said in (((here, there), text), ((there, here), other_text)):
            listed = out.setdefault(pair, [])
            if len(listed) < EXAMPLES_KEPT:
                listed.append((kind, said))
    return out
