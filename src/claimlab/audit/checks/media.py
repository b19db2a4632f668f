"""Do images and videos give the label away, whatever they show?

The same image, or nearly the same (PDQ, at most 31 of 256 bits apart; the same file, path or
address), may be on both sides of a split or under different labels. Names, sizes and formats of
files, how many a record has and how many are missing are tested as shortcuts; text in images is
read as other texts of the records are. See `files/media.py` for where the facts come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl

from claimlab.audit.check import SHORTCUT_RULE, Findings, sampled
from claimlab.audit.checks.identifiers import Identifiers, words_in
from claimlab.audit.checks.near_duplicates import NearDuplicatesCheck
from claimlab.audit.checks.table import ColumnTest
from claimlab.audit.checks.text_columns import TextColumns
from claimlab.audit.features import Numbers
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding
from claimlab.core.stats.codes import Codes, joined
from claimlab.text.near import NearTexts

APART = 31  # PDQ's own limit for the same image
CHUNKS, WIDE = 16, 16  # of a hash, and bits in each
PAIRS_AT_ONCE = 1 << 21  # pairs that are compared at a time
NAME = "media"
FACTS = {
    "missing": ("how many files a record has and lacks", ("files", "lacking")),
    "size": ("the bytes, width and height of its files", ("bytes", "width", "height")),
}


class _Copies(NearDuplicatesCheck):
    name, what, holding = NAME, "near-copy of their image", "an image"
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
        facts = None if table is None else of_rows(subject, table)
        if table is None or facts is None or not facts["files"].sum():
            yield self.absent(subject, "The records have no images or videos.")
            return
        alike, every = replace(subject), replace(subject.with_hidden)
        alike.__dict__.update(near=near_images(facts), with_hidden=every)
        every.__dict__["near"] = near_images(of_rows(every, table))
        for finding in _Copies().measure(alike):
            if finding.verdict == "pass" and not facts["hash"].list.len().sum():
                why = "No image could be compared: no two have one path, address or file."
                finding = self.unmeasured(subject, why, finding.feature, finding.n)
            yield finding
        part = sampled(subject)
        rows = facts[part.aligned(subject, pl.Series(subject.everyone)).to_numpy()]
        yield _Names()._one(part, "file name", words_in(rows["name"]))
        yield self.column(part, rows["format"], "format")
        for label, (why, columns) in FACTS.items():
            yield self._numbers(part, label, why, rows.select(columns))
        yield from _Texts()._both(subject, "text in the image", facts["text"])

    def _numbers(self, part: Subject, label: str, why: str, facts: pl.DataFrame) -> Finding:
        described = facts.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
        if not described.any():
            return self.unmeasured(part, "No file is at hand.", label)
        matrix = facts.filter(described).cast(pl.Float64).to_numpy()
        why = f"A small tree on {why} alone"
        return self.shortcut(part.where(described), Numbers(matrix), why, label)


CHECK = Media()


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


def near_images(facts: pl.DataFrame) -> NearTexts:
    """Rows with a file in common are one; pairs of those have images nearly the same."""
    has = (facts["files"] > 0).to_numpy()
    shared = facts.with_row_index("row").explode("same").drop_nulls("same").select("row", "same")
    first = shared.with_columns(first=pl.col("row").first().over("same"))
    by_first = joined(first["row"].to_numpy(), first["first"].to_numpy(), facts.height)
    codes = np.unique(by_first[has], return_inverse=True)[1].ravel()
    text_of = np.full(facts.height, -1, np.int64)
    text_of[has] = codes
    seen = pl.DataFrame({"text": text_of, "hash": facts["hash"]}).explode("hash")
    images = seen.drop_nulls("hash").unique(maintain_order=True)
    a, b = close(images["hash"])
    of = images["text"].to_numpy()
    pairs = np.stack([of[a], of[b]], axis=1)
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return NearTexts(text_of, pairs, int(text_of.max(initial=-1)) + 1)


def close(hashes: pl.Series) -> tuple[Codes, Codes]:
    """Pairs of hashes that differ in at most `APART` bits, without comparing all with all.

    Lay a hash out as a ring of 16 chunks. From some chunk on, such a pair differs in at most 31/16
    bits per chunk, however many chunks one looks at (the pigeonring of Qin and Xiao): in at most
    one bit of that chunk, and in at most three of it and the next."""
    packed = np.frombuffer(bytes.fromhex("".join(hashes)), np.uint8)
    chunks = packed.view(np.uint16).reshape(-1, CHUNKS)
    ones = np.array([number.bit_count() for number in range(1 << WIDE)], np.uint8)
    pairs = [np.empty((2, 0), np.int64)]
    for number in range(CHUNKS):
        order = np.argsort(chunks[:, number], kind="stable")
        own = chunks[order, number].astype(np.int64)
        following = chunks[order, (number + 1) % CHUNKS]
        edges = np.searchsorted(own, np.arange((1 << WIDE) + 1))
        for flipped in (0, *(1 << bit for bit in range(WIDE))):
            first = edges[own ^ flipped] if flipped else np.arange(1, len(own) + 1)
            many = np.where(own & flipped, 0, edges[(own ^ flipped) + 1] - first)
            for a, b in _ranges(first, many):
                near = ones[following[a] ^ following[b]] <= (2 if flipped else 3)
                a, b = order[a[near]], order[b[near]]
                near = ones[chunks[a] ^ chunks[b]].sum(axis=1, dtype=np.int64) <= APART
                pairs.append(np.sort([a[near], b[near]], axis=0))
    a, b = np.unique(np.concatenate(pairs, axis=1), axis=1)
    return a, b


def _ranges(first: Codes, many: Codes) -> Iterator[tuple[Codes, Codes]]:
    """Each place beside the `many` places from `first` on, some millions at a time."""
    cuts = np.searchsorted(
        np.cumsum(many), np.arange(PAIRS_AT_ONCE, int(many.sum()), PAIRS_AT_ONCE)
    )
    for begin, end in pairwise([0, *cuts.tolist(), len(many)]):
        some = many[begin:end]
        place = np.repeat(np.arange(begin, end), some)
        since = np.arange(len(place)) - np.repeat(np.cumsum(some) - some, some)
        yield place, first[place] + since
