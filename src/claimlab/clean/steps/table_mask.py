"""Take out of texts what gives labels away, last of all. Words are chosen on train records only
where there is a split: what is masked in the test part must not depend on its labels.

Mask mail addresses, phone numbers and @handles. The text as it was is kept nowhere: that is the
point.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import Literal

import numpy as np
import polars as pl

from claimlab.clean.step import Change, CleanStep, Outcome, rewritten
from claimlab.core.record import meta_json
from claimlab.core.words import several
from claimlab.tasks import open_task
from claimlab.text.mask import Mask, any_of, masked
from claimlab.text.personal import mask_personal
from claimlab.text.telling import keywords, one_sided_words

WORDS_NAMED = 10  # words in a note or a reason


class MaskTellingStep(CleanStep):
    name = "mask"
    summary = (
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
        taken = tuple(dict.fromkeys(chain(self.words, *lists.values())))
        # First: a link without a word is no link.
        after = masked(texts, "urls") if "urls" in self.what else texts
        after = masked(after, "giveaways", taken)
        for kind in self.what:
            after = after if kind in lists else masked(after, kind)
        empty = "nothing is left without what was masked"
        why = pl.Series([self._why(words) for words in _held(texts, taken)], dtype=pl.String)
        return rewritten(records, after, why, empty, notes=tuple(notes))

    def _learnt_from(self, records: pl.DataFrame) -> tuple[pl.DataFrame, str]:
        """The records that words are chosen on, with their class, and what they are."""
        train = records.filter(split="train")
        part = train if train.height else records
        classes = open_task(self.task, records).labels(part).alias("class")
        known = part.with_columns(classes).drop_nulls(["class", "text"])
        return known, several(known.height, "train record" if train.height else "labelled record")

    def _words(self, kind: str, learnt: tuple[pl.DataFrame, str]) -> tuple[str, ...]:
        rows = learnt[0]
        if kind == "keywords":
            return keywords(rows["text"], rows["language"])
        labels = np.unique(rows["class"].to_numpy(), return_inverse=True)[1].astype(np.int64)
        return one_sided_words(rows["text"], labels) if len(np.unique(labels)) > 1 else ()

    def _why(self, words: list[str] | None) -> str:
        typed = [kind for kind in self.what if kind not in ("giveaways", "keywords")]
        return f"masked: {', '.join([*sorted(set(words or ())), *typed])}"


def _held(texts: pl.Series, words: tuple[str, ...]) -> list[list[str] | None]:
    """The words of each text that are masked."""
    if not words:
        return [None] * texts.len()
    return texts.str.to_lowercase().str.extract_all(any_of(words)).to_list()


def _listed(words: tuple[str, ...]) -> str:
    shown = ", ".join(f"'{word}'" for word in words[:WORDS_NAMED])
    return (
        f"{several(len(words), 'word')} ({shown}{', …' if len(words) > WORDS_NAMED else ''})"
        if words
        else "no word"
    )


Kind = Literal["mail", "phone", "handle"]


class MaskPersonalStep(CleanStep):
    name = "mask-personal"
    summary = (
        "Replaces mail addresses, phone numbers and @handles in texts; the originals are not kept."
    )

    kinds: tuple[Kind, ...] = ("mail", "phone", "handle")

    def apply(self, records: pl.DataFrame) -> Outcome:
        text, meta = mask_personal(records["text"], self.kinds), self._meta(records["meta"])
        touched = records["text"].ne_missing(text) | records["meta"].ne_missing(meta)
        changed: list[Change] = [
            (i, "text", None, None, "personal data masked") for i in records["id"].filter(touched)
        ]
        return Outcome.of(records, kept=records.with_columns(text=text, meta=meta), changed=changed)

    def _meta(self, meta: pl.Series) -> pl.Series:
        """The text that another step put aside, masked as well."""
        original = meta.str.json_path_match("$.original_text")
        masked = mask_personal(original, self.kinds)
        rows = zip(meta, original, masked, strict=True)
        values = [
            m if before == after else meta_json({**json.loads(m), "original_text": after})
            for m, before, after in rows
        ]
        return pl.Series("meta", values, dtype=pl.String)


ENTRIES = [MaskTellingStep, MaskPersonalStep]
