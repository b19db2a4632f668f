"""The run on records that were seen before, by its training or by what an overlap folder knows, and
on the others.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np
import polars as pl

from claimlab.claims.contamination.result import FILE, KNOWN, read_contamination
from claimlab.core.errors import DataError, MissingExtra
from claimlab.core.progress import progress
from claimlab.core.stats.interval import Resampling
from claimlab.core.tables import read_parquet
from claimlab.detect.detector import Part
from claimlab.evaluate.defend.contrast import difference_among
from claimlab.evaluate.defend.result import PARAPHRASED, SEEN, Alarms, SeenBefore
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.slices import contrast, slice_run
from claimlab.text.shared import NEAR_JACCARD, claims_of
from claimlab.text.vectors import CHARACTERS_READ, nearest, readable

SEEN_COLUMN, THE_OTHERS = "seen_before", "the others"
MOST_TEXTS_COMPARED, RECORDS_AT_ONCE = (
    50_000,
    500,
)  # texts of training, and test records, compared in meaning


def seen_before(run: ScoredRun, train: Part, **how: Unpack[Resampling]) -> list[SeenBefore]:
    """The run on test records that training has nearly the same, and on the others; and, of the
    others, on those that it has in other words.
    """
    texts, training_texts = run.table["text"], train.records["text"]
    if texts.null_count() == texts.len():
        return [SeenBefore(why="the records have no text")]
    claims = claims_of(pl.concat([texts, training_texts]), near=NEAR_JACCARD)
    part = np.repeat([0, 1], [texts.len(), training_texts.len()])
    in_training = claims.held(part, 2)[:, 1]
    seen = pl.Series(in_training[: texts.len()])
    return [_sides(run, seen, SEEN, **how), paraphrased(run, train, ~seen, **how)]


def paraphrased(
    run: ScoredRun, train: Part, new: pl.Series, **how: Unpack[Resampling]
) -> SeenBefore:
    """The run on those of the `new` records that have a paraphrase in training, and on the rest."""
    tables = [table.select("text", "language") for table in (run.table, train.records)]
    both = pl.concat(tables)
    is_test = np.arange(both.height) < run.table.height
    is_readable = readable(both["text"], both["language"])
    rows = np.flatnonzero(is_readable[is_test] & new.to_numpy())
    trained = np.flatnonzero(is_readable & ~is_test)
    if not len(rows) or not 0 < len(trained) <= MOST_TEXTS_COMPARED:
        why = (
            "it needs texts in one of the 16 languages of the encoder, at most"
            f" {MOST_TEXTS_COMPARED:,}"
            " of them in training"
        )
        return SeenBefore(PARAPHRASED, why=why)
    texts = both["text"].str.slice(0, CHARACTERS_READ)
    language = both["language"].fill_null("").rank("dense").to_numpy()
    alike: list[bool | None] = [None] * run.table.height
    try:
        for start in range(0, len(rows), RECORDS_AT_ONCE):
            progress("paraphrases", start, len(rows))
            part = rows[start : start + RECORDS_AT_ONCE]
            across = language[part][:, None] != language[trained][None, :]
            some, others = texts.gather(part).to_list(), texts.gather(trained).to_list()
            for row, near in zip(part, nearest(some, others, across)[2].tolist(), strict=True):
                alike[row] = near
    except MissingExtra:
        why = "the encoder is not installed (pip install 'claimlab[vectors]')"
        return SeenBefore(PARAPHRASED, why=why)
    return _sides(run, pl.Series(alike, dtype=pl.Boolean), PARAPHRASED, **how)


def _sides(
    run: ScoredRun, marked_rows: pl.Series, what: str, **how: Unpack[Resampling]
) -> SeenBefore:
    """The run on the records that are `held` (null: not known), and on the others."""
    names = {True: what, False: THE_OTHERS}
    side = marked_rows.replace_strict(names, default=None, return_dtype=pl.String)
    marked = replace(run, table=run.table.with_columns(side.alias(SEEN_COLUMN)))
    cells = slice_run(marked, SEEN_COLUMN, **how).cells
    difference = contrast(marked, SEEN_COLUMN, what, THE_OTHERS, **how)
    return SeenBefore(
        what, int(marked_rows.sum()), int((~marked_rows).sum()), tuple(cells), difference
    )


def known_from(
    run: ScoredRun, folder: Path, **how: Unpack[Resampling]
) -> tuple[list[SeenBefore], Alarms | None]:
    """What an overlap folder knows of the records: which are also in other datasets, which occur in
    corpora, and which are dated until the cut-off; and false alarms after it."""
    claims, seen, alarms = folder / "claims.parquet", [], None
    if claims.is_file():
        shared = read_parquet(claims, columns=["dataset", "id"]).filter(dataset=run.dataset)
        in_others = run.table["id"].is_in(shared["id"].implode())
        seen.append(_sides(run, in_others, "are also in another dataset", **how))
    if (folder / FILE).is_file():
        report = read_contamination(folder)
        ids = run.table.select("id")
        contaminated = ids.join(report.records, on="id", how="left", maintain_order="left")
        if "status" in contaminated.columns and report.settings.get("corpora"):
            in_corpora = contaminated["status"] == KNOWN
            seen.append(_sides(run, in_corpora, "occur in the corpora", **how))
        if "dated" in contaminated.columns:
            cutoff = str(report["cutoff"].details["cutoff"])
            words = f"are dated until the cut-off {cutoff}"
            seen.append(_sides(run, contaminated["dated"] == "until", words, **how))
            alarms = false_alarms(run, contaminated["dated"], cutoff, **how)
    elif not claims.is_file():
        raise DataError(
            f"'{folder}' was not written by claimlab overlap.",
            "Pass as `overlap` a folder with claims.parquet or contamination.json.",
        )
    return seen, alarms


def false_alarms(
    run: ScoredRun, dated: pl.Series, cutoff: str, **how: Unpack[Resampling]
) -> Alarms | None:
    """True claims called false after the cut-off and until it; null for other classes."""
    if not {"true", "false"} <= set(run.answers.classes):
        return None
    true_claims = ((run.table["truth"] == "true") & dated.is_not_null()).to_numpy()
    false = (run.table["said"] == "false").fill_null(False).to_numpy()
    after = (dated == "after").fill_null(False).to_numpy()
    sides = false[true_claims], after[true_claims], run.answers.cluster[true_claims]
    return Alarms(cutoff, difference_among("true claims", *sides, **how))
