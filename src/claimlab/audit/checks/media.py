"""Do images and videos give the label away, whatever they show?

The same image, or nearly the same (PDQ, at most 31 of 256 bits apart; the same file, path or
address), may be on both sides of a split or under different labels. Names, sizes and formats of
files, how many a record has and how many are missing are tested as shortcuts; text in images is
read as other texts of the records are. See `files/media.py` for where the facts come from.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from claimlab.audit.check import SHORTCUT_RULE, Findings, sampled
from claimlab.audit.checks.identifiers import Identifiers, words_in
from claimlab.audit.checks.near_duplicates import NearDuplicates
from claimlab.audit.checks.table import ColumnTest
from claimlab.audit.checks.text_columns import TextColumns
from claimlab.audit.features import Numbers
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.stats.deal import Codes
from claimlab.text.near import NearTexts

BITS, APART = 256, 31  # PDQ's own limit for the same image
ROWS = 1_024  # images that are compared with all others at a time
NAME = "media"
FACTS = {
    "missing": ("how many files a record has and lacks", ("files", "lacking")),
    "size": ("the bytes, width and height of its files", ("bytes", "width", "height")),
}


class _Copies(NearDuplicates):
    name, what, holding = NAME, "near-copy of their image", "image"
    needs = ()


class _Names(Identifiers):
    name = NAME


class _Texts(TextColumns):
    name = NAME


class Media(ColumnTest):
    name = NAME
    title = "Images and videos"
    question = "Are near-copies of an image on both sides, or do its files give the label away?"
    rule = f"Near-copies: the rule of `near-duplicates`. Files and their text: {SHORTCUT_RULE}"
    needs = ("classes",)

    def measure(self, subject: Subject) -> Findings:
        table = subject.table(NAME)
        known = None if table is None else of_rows(subject, table)
        if known is None or not known["files"].sum():
            yield self.unmeasured(subject, "The records have no images or videos.")
            return
        alike = replace(subject)
        alike.__dict__["near"] = near_images(known)
        for finding in _Copies().measure(alike):
            if finding.verdict == "pass" and not known["hash"].list.len().sum():
                why = "No image could be compared: no two have one path, address or file."
                finding = self.unmeasured(subject, why, finding.feature, finding.n)
            yield finding
        part = sampled(subject)
        rows = known[part.aligned(subject, pl.Series(subject.everyone)).to_numpy()]
        yield _Names()._one(part, "file name", words_in(rows["name"]))
        yield self.column(part, rows["format"], "format")
        for label, (why, columns) in FACTS.items():
            yield self._numbers(part, label, why, rows.select(columns))
        yield from _Texts()._both(subject, "text in the image", known["text"])

    def _numbers(self, part: Subject, label: str, why: str, facts: pl.DataFrame) -> Finding:
        known = facts.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
        if not known.any():
            return self.unmeasured(part, "No file is at hand.", label)
        matrix = facts.filter(known).cast(pl.Float64).to_numpy()
        why = f"A small tree on {why} alone"
        return self.shortcut(part.where(known), Numbers(matrix), why, label)


def of_rows(subject: Subject, table: pl.DataFrame) -> pl.DataFrame:
    """The facts of each row's media, those of the first file for numbers."""
    first = (pl.col(name).drop_nulls().first() for name in ("format", "bytes", "width", "height"))
    name = pl.col("place").str.split("?").list.first()
    facts = table.group_by("record_id", maintain_order=True).agg(
        *first,
        files=pl.len(),
        lacking=pl.col("missing").sum(),
        name=name.first(),
        text=pl.col("text").drop_nulls().str.join(" "),
        hash=pl.col("hash").drop_nulls().unique(maintain_order=True),
        same=pl.col("place").append(pl.col("sha256")).drop_nulls().unique(),
    )
    text = pl.when(pl.col("text") != "").then("text")
    return subject.beside(facts).with_columns(pl.col("files", "lacking").fill_null(0), text=text)


def near_images(known: pl.DataFrame) -> NearTexts:
    """Rows with a file in common are one; pairs of those have images nearly the same."""
    has = (known["files"] > 0).to_numpy()
    shared = known.with_row_index("row").explode("same").drop_nulls("same").select("row", "same")
    first = shared.with_columns(first=pl.col("row").first().over("same"))
    one = _joined(first["row"].to_numpy(), first["first"].to_numpy(), known.height)
    codes = np.unique(one[has], return_inverse=True)[1].ravel()
    text_of = np.full(known.height, -1, np.int64)
    text_of[has] = codes
    seen = pl.DataFrame({"text": text_of, "hash": known["hash"]}).explode("hash")
    images = seen.drop_nulls("hash").unique(maintain_order=True)
    a, b = close(images["hash"])
    of = images["text"].to_numpy()
    pairs = np.stack([of[a], of[b]], axis=1)
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return NearTexts(text_of, pairs, int(text_of.max(initial=-1)) + 1)


def _joined(a: Codes, b: Codes, n: int) -> Codes:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(a), np.int8), (a, b)), shape=(n, n))
    component: Codes = connected_components(graph, directed=False)[1].astype(np.int64)
    return component


def close(hashes: pl.Series) -> tuple[Codes, Codes]:
    """Pairs of hashes that differ in few bits."""
    packed = np.frombuffer(bytes.fromhex("".join(hashes)), np.uint8).reshape(-1, BITS // 8)
    signs = np.unpackbits(packed, axis=1).astype(np.float32) * 2 - 1
    pairs = [np.empty((2, 0), np.int64)]
    for start in range(0, len(signs), ROWS):
        same = signs[start : start + ROWS] @ signs[start:].T >= BITS - 2 * APART
        a, b = np.nonzero(np.triu(same, 1))
        pairs.append(np.stack([a, b]) + start)
    a, b = np.concatenate(pairs, axis=1)
    return a, b


CHECK = Media()
