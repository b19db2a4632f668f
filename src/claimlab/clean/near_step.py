"""The base of the steps that look for near-duplicates, in memory or on disk."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from pydantic import Field

from claimlab.clean.step import CleanStep, Place, labels
from claimlab.core.digest import digest_file, digest_table, write_parquet
from claimlab.core.engine.names import current
from claimlab.core.stats.scores import Flags
from claimlab.core.types import JsonObject
from claimlab.text.neardup import Clusters, akin_clusters, find_clusters, stream_clusters
from claimlab.text.neardup.on_disk import needed, parse_memory

# How the search is done: the result is the same, so the lineage does not tell.
SEARCH_SETTINGS = {"stream", "memory", "work"}


class NearStep(CleanStep):
    """The base of steps that look for near-duplicates. `finder = "akin"` is for reaching published
    figures again.

    With `stream = "auto"` the search works on disk, in the work folder of the run, where it would
    need more than `memory` or the run names an engine; "always" and "never" settle it. The clusters
    are the same.
    """

    threshold: float = Field(default=0.7, gt=0, le=1)
    ngram: int = Field(default=5, ge=1)
    unit: Literal["char", "word"] = "char"
    recall: float = Field(default=0.99, gt=0, lt=1)
    finder: Literal["jaccard", "akin"] = "jaccard"
    stream: Literal["auto", "always", "never"] = "auto"
    memory: str = "8GB"
    work: Place | None = None

    def parameters(self) -> JsonObject:
        return self.model_dump(mode="json", exclude=SEARCH_SETTINGS | set(self.needs))

    def clusters(self, records: pl.DataFrame) -> Clusters:
        texts = records["text"]
        if self.finder == "akin":
            return akin_clusters(texts, threshold=self.threshold)
        large = needed(texts) + records.estimated_size() > parse_memory(self.memory)
        if self.stream == "always" or (self.stream == "auto" and (large or current().engine)):
            place = None if self.work is None else self.work(self.name)
            if place is not None:
                return self._streamed(texts, place)
            with tempfile.TemporaryDirectory(prefix="claimlab-near-") as folder:
                return self._streamed(texts, Path(folder))
        return find_clusters(texts, **self._search)

    @property
    def _search(self) -> JsonObject:
        return self.model_dump(include={"threshold", "ngram", "unit", "recall"})

    def _streamed(self, texts: pl.Series, folder: Path) -> Clusters:
        """The same on disk. A run that was stopped finds the texts it had written, and goes on from
        its last step.
        """
        frame = texts.to_frame("text")
        digest = digest_table(frame)
        file = folder / f"{digest[:16]}.parquet"  # a recipe may have the step twice, on other texts
        if not (file.exists() and digest_file(file) == digest):
            building = file.with_suffix(".building")
            write_parquet(frame, building)
            building.replace(file)
        clusters = stream_clusters(
            file, "text", workdir=folder / "search", memory=self.memory, **self._search
        )
        file.unlink()
        return clusters

    def near_to(self, records: pl.DataFrame, kept: Flags) -> dict[int, int]:
        """Row -> the first row of `kept` near it, for rows that are not kept themselves."""
        near, first = self._around(records)
        holders: dict[int, int] = {}
        for row in np.flatnonzero(kept).tolist():
            holders.setdefault(first.get(row, row), row)
        rows = {row for row in (*near, *first) if not kept[row]}
        out = {}
        for row in sorted(rows):
            text = first.get(row, row)
            others = [holders[other] for other in (text, *near[text]) if other in holders]
            if others:
                out[row] = min(others)
        return out

    def _around(self, records: pl.DataFrame) -> tuple[dict[int, set[int]], dict[int, int]]:
        """By the first row of each text, the first rows of the texts near it and its own; and by
        each later copy, the first row of its text.

        The finder pairs the copies of one text with its first copy only. Pairs come sorted by left.
        """
        pairs = list(self.clusters(records).pairs)
        first = {right: left for left, right, jaccard in pairs if jaccard == 1}
        near: dict[int, set[int]] = defaultdict(set)
        for left, right, _ in pairs:
            first_of_left, first_of_right = first.get(left, left), first.get(right, right)
            near[first_of_left] |= {first_of_left, first_of_right}
            near[first_of_right] |= {first_of_left, first_of_right}
        return near, first

    def contradicted(self, records: pl.DataFrame) -> dict[int, int]:
        """Row -> the first row near it that carries another label.

        The finder pairs the copies of one text with its first copy only, so labels are gathered for
        each distinct text: ten thousand copies cost ten thousand steps, not their square.
        """
        label = labels(records).to_list()
        near, first = self._around(records)
        rows = sorted({*near, *first})
        # Distinct text -> label -> its first row.
        holders: dict[int, dict[str, int]] = defaultdict(dict)
        for row in rows:
            if label[row] is not None:
                holders[first.get(row, row)].setdefault(label[row], row)
        out = {}
        for row in rows:
            against = [
                other
                for text in near[first.get(row, row)]
                for name, other in holders[text].items()
                if label[row] is not None and name != label[row]
            ]
            if against:
                out[row] = min(against)
        return out
