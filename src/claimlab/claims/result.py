"""What `overlap` returns: the matrix, what train/test pairs leak, disagreement, shared claims, and
what a model may know.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from claimlab.claims.conflicts import Conflicts
from claimlab.claims.contamination.result import Contamination
from claimlab.claims.graph import Graph
from claimlab.claims.shared import Examples, examples
from claimlab.core.dataset import Dataset
from claimlab.core.shown import Shown
from claimlab.core.stats.interval import wilson
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several, several_of, verb

KIND = "overlap report"
FILE = "overlap.json"


@dataclass(frozen=True, repr=False)
class Overlap(Shown):
    """`matrix` counts for every two parts the records that they share, `leaks` what a detector
    trained on one has seen of the other, `disagreement` how often two sources differ, `clusters`
    the claims that several have, `links` why; `conflicts` lists claims under different verdicts.
    `unseen` is the first dataset without what the others contain, `contamination` what a model may
    know of it.
    """

    graph: Graph
    matrix: pl.DataFrame
    leaks: pl.DataFrame
    disagreement: pl.DataFrame
    clusters: pl.DataFrame
    conflicts: Conflicts
    links: pl.DataFrame
    unseen: Dataset | None = None
    contamination: Contamination | None = None

    @cached_property
    def examples(self) -> Examples:
        return examples(self.links)

    @property
    def datasets(self) -> tuple[str, ...]:
        return self.graph.names

    @property
    def by_meaning(self) -> bool:
        """Whether paraphrases and translations were looked for."""
        return self.graph.meaning

    @property
    def table(self) -> pl.DataFrame:
        return self.matrix

    @property
    def whole(self) -> pl.DataFrame:
        """The matrix between whole datasets, with the share."""
        whole = self.matrix.filter(pl.col("split").is_null() & pl.col("other_split").is_null())
        return whole.with_columns(share=pl.col("shared") / pl.col("records"))

    def headline(self) -> str:
        n, pairs = len(self.datasets), self.pairs()
        shared = f"{several_of(pairs, n * (n - 1) // 2, 'pair')} {verb(pairs, 'shares', 'share')}"
        records = several(self.graph.rows.height, "record")
        return f"of {several(n, 'dataset')}, {records}: {shared} claims"

    def pairs(self) -> int:
        """How many pairs of datasets share a claim."""
        return self.whole.filter(
            (pl.col("shared") > 0) & (pl.col("dataset") < pl.col("other"))
        ).height

    def sentences(self) -> list[str]:
        """What follows, most important first: how much of a dataset another holds, the worst leak,
        the worst disagreement, what was not measured.
        """
        sentences = [self._held(), self._leak(), *self._other_maps(), self._disagreement()]
        sentences += [
            f"Not measured: {several(n, 'record')} ({why})."
            for why, n in self.graph.not_measured.items()
            if n
        ]
        return [sentence for sentence in sentences if sentence]

    def _held(self) -> str:
        """The most of a dataset that another holds, where no leak says as much of it."""
        order = ("share", "dataset", "other")
        most = self.whole.filter(pl.col("shared") > 0, pl.col("dataset") != pl.col("other"))
        most = most.sort(order, descending=[True, False, False]).head(1)
        least = 0.0 if not self.leaks.height else self.leaks["share"][0]
        return "".join(
            f"{row['other']} holds {several_of(row['shared'], row['records'], 'record')}"
            f" of {row['dataset']} ({100 * row['share']:.0f}%)."
            for row in most.filter(pl.col("share") > least).iter_rows(named=True)
        )

    def _leak(self) -> str:
        if not self.leaks.height:
            return ""
        worst = self.leaks.row(0, named=True)
        seen = several_of(worst["seen"], worst["records"], "test record")
        if worst["train"] == worst["test"]:
            return f"The train split of {worst['test']} holds {seen} ({100 * worst['share']:.0f}%)."
        return (
            f"Trained on {worst['train']} and tested on {worst['test']}, a detector has seen"
            f" {seen} ({100 * worst['share']:.0f}%)."
        )

    def _other_maps(self) -> list[str]:
        """The datasets whose sources wrote the same label, and that mean another thing by it."""
        maps = dict(zip(self.graph.names, self.graph.maps, strict=False))
        apart = self.disagreement.filter(pl.col("other_map") > 0)
        sentences = []
        for row in apart.sort("other_map", descending=True).head(1).iter_rows(named=True):
            pair = row["dataset"], row["other"]
            named = " and ".join(maps.get(name) or f"that of {name}" for name in pair)
            sentences.append(
                f"Another label map ({named}), not noise: {pair[0]} and {pair[1]} give another"
                f" label to {several_of(row['other_map'], row['claims'], 'claim')} with the same"
                " text, where their sources wrote the same. Load both with one map."
            )
        return sentences

    def _disagreement(self) -> str:
        torn = self.disagreement.filter(pl.col("disagree") > 0)
        if not torn.height:
            return ""
        row = torn.sort("disagree", descending=True).row(0, named=True)
        ends = wilson(row["disagree"], row["claims"])
        share = (
            f"{100 * row['disagree'] / row['claims']:.0f}%, 95% interval {100 * ends[0]:.0f} to"
            f" {100 * ends[1]:.0f}"
            if ends is not None and row["claims"] >= 20
            else "too few for an interval"
        )
        seen = (
            f"{row['dataset']} and {row['other']} disagree on"
            f" {several_of(row['disagree'], row['claims'], 'claim')} with the same text ({share})"
        )
        if not row["opposed"]:
            return (
                f"{seen}, never as true against false under one label map: no sign of label noise."
            )
        wrong = row["opposed"] / (2 * row["claims"])
        return (
            f"{seen}, on {row['opposed']:,} as true against false: at least {100 * wrong:.0f}% of"
            " their labels on these claims are wrong, a floor for label noise."
        )

    def to_json(self) -> JsonObject:
        return {
            "tool": f"claimlab {__version__}",
            "datasets": self.graph.sizes,
            "sentences": self.sentences(),
            "matrix": self.whole.drop("split", "other_split").to_dicts(),
            "leaks": self.leaks.to_dicts(),
            "disagreement": self.disagreement.to_dicts(),
            "claims": self.clusters["claim"].n_unique(),
            "conflicts": self.conflicts.counts(),
            "not_measured": self.graph.not_measured,
            "unseen": None if self.unseen is None else len(self.unseen),
            "contamination": None if self.contamination is None else self.contamination.to_json(),
        }
