"""Take out of texts what gives labels away, last of all. Words are chosen on train records only
where there is a split: what is masked in the test part must not depend on its labels.

Mask mail addresses, phone numbers and @handles. The text as it was is kept nowhere: that is the
point.
"""

from __future__ import annotations

import json
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from claimlab.clean.step import CleanStep
from claimlab.core.record import meta_json
from claimlab.core.step import Change, Outcome
from claimlab.core.words import several
from claimlab.tasks import open_task
from claimlab.text.mask import Mask, any_of, mask_personal, masked
from claimlab.text.telling import keywords, one_sided_words

NAMED = 10  # words in a note or a reason


class MaskTelling(CleanStep):
    name: ClassVar[str] = "mask"
    summary: ClassVar[str] = (
        "Takes out of texts what gives labels away: giveaways (one-sided words), keywords (the 40"
        " most frequent), urls, punctuation, digits, case, typography, whitespace; and `words`."
    )

    what: tuple[Mask, ...] = ("giveaways",)
    words: tuple[str, ...] = ()  # these as well
    task: str = "veracity"  # whose labels say which words are one-sided

    def apply(self, records: pl.DataFrame) -> Outcome:
        texts, lists, notes = records["text"], {}, []
        if chosen := [kind for kind in self.what if kind in ("giveaways", "keywords")]:
            learnt = self._learnt_from(records)
            lists = {kind: self._words(kind, learnt) for kind in chosen}
            notes = [
                f"{kind}: {_listed(words)}, chosen on {learnt[1]}" for kind, words in lists.items()
            ]
        taken = tuple(
            dict.fromkeys([*self.words, *(word for words in lists.values() for word in words)])
        )
        after = (
            masked(texts, "urls") if "urls" in self.what else texts
        )  # first: a link without a word is no link
        after = masked(after, "giveaways", taken)
        for kind in self.what:
            after = after if kind in lists else masked(after, kind)
        rows = records.select("id", before="text").with_columns(
            after.alias("after"), self._held(texts, taken)
        )
        touched = rows.filter(pl.col("before") != pl.col("after"))
        blank = pl.col("after").str.strip_chars() == ""
        changed = [
            (i, "text", a, b, self._why(words))
            for i, a, b, words in touched.filter(~blank).iter_rows()
        ]
        dropped = dict.fromkeys(
            touched.filter(blank)["id"].to_list(), "nothing is left without what was masked"
        )
        return Outcome.of(
            records,
            kept=records.with_columns(after.alias("text")),
            dropped=dropped,
            changed=changed,
            notes=tuple(notes),
        )

    def _held(self, texts: pl.Series, words: tuple[str, ...]) -> pl.Series:
        """The words of each text that are masked."""
        if not words:
            return pl.Series("held", [None] * texts.len(), dtype=pl.List(pl.String))
        return texts.str.to_lowercase().str.extract_all(any_of(words)).alias("held")

    def _learnt_from(self, records: pl.DataFrame) -> tuple[pl.DataFrame, str]:
        """The records that words are chosen on, with their class, and what they are."""
        train = records.filter(pl.col("split") == "train")
        part = train if train.height else records
        known = part.with_columns(
            open_task(self.task, records).labels(part).alias("class")
        ).drop_nulls(["class", "text"])
        return known, several(known.height, "train record" if train.height else "labelled record")

    def _words(self, kind: str, learnt: tuple[pl.DataFrame, str]) -> tuple[str, ...]:
        rows = learnt[0]
        if kind == "keywords":
            return keywords(rows["text"], rows["language"].drop_nulls().unique().to_list())
        labels = np.unique(rows["class"].to_numpy(), return_inverse=True)[1].astype(np.int64)
        return one_sided_words(rows["text"], labels) if len(np.unique(labels)) > 1 else ()

    def _why(self, words: list[str] | None) -> str:
        typed = [kind for kind in self.what if kind not in ("giveaways", "keywords")]
        return f"masked: {', '.join([*sorted(set(words or ())), *typed])}"


def _listed(words: tuple[str, ...]) -> str:
    shown = ", ".join(f"'{word}'" for word in words[:NAMED])
    return (
        f"{several(len(words), 'word')} ({shown}{', …' if len(words) > NAMED else ''})"
        if words
        else "no word"
    )


Kind = Literal["mail", "phone", "handle"]


class MaskPersonal(CleanStep):
    name: ClassVar[str] = "mask-personal"
    summary: ClassVar[str] = (
        "Replaces mail addresses, phone numbers and @handles in texts; the originals are not kept."
    )

    kinds: tuple[Kind, ...] = ("mail", "phone", "handle")

    def apply(self, records: pl.DataFrame) -> Outcome:
        text, meta = mask_personal(records["text"], self.kinds), self._meta(records["meta"])
        touched = (records["text"] != text).fill_null(False) | (records["meta"] != meta).fill_null(
            False
        )
        changed: list[Change] = [
            (i, "text", None, None, "personal data masked")
            for i in records["id"].filter(touched).to_list()
        ]
        return Outcome.of(
            records,
            kept=records.with_columns(text.alias("text"), meta.alias("meta")),
            changed=changed,
        )

    def _meta(self, meta: pl.Series) -> pl.Series:
        """The text that another step put aside, masked as well."""
        original = meta.str.json_path_match("$.original_text")
        masked = mask_personal(original, self.kinds)
        rows = zip(meta.to_list(), original.to_list(), masked.to_list(), strict=True)
        values = [
            m if before == after else meta_json({**json.loads(m), "original_text": after})
            for m, before, after in rows
        ]
        return pl.Series("meta", values, dtype=pl.String)


ENTRIES = [MaskTelling, MaskPersonal]
