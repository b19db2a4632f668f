"""Texts with too little in them to be a claim, counted after what carries no content is taken
away.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl
from pydantic import Field

from claimlab.clean.counting import count_tokens
from claimlab.clean.statistics import originals
from claimlab.clean.step import CleanStep
from claimlab.core.step import Outcome
from claimlab.core.types import JsonObject
from claimlab.text.normalise import EMOJI, strip_emoji
from claimlab.text.rows import by_slices
from claimlab.text.stopwords import stop_words
from claimlab.text.tokens import tokenize
from claimlab.text.urls import strip_urls

_MARKS = r"[\p{P}$+<=>^`|~]"  # punctuation, and the signs that ASCII counts as such


class TooShort(CleanStep):
    name: ClassVar[str] = "too-short"
    summary: ClassVar[str] = (
        "Drops texts of fewer than `minimum` tokens, counted without URLs, emoji and punctuation."
    )

    minimum: int = Field(default=3, ge=1)
    tokenizer: Literal["words", "cl100k"] = "words"
    without_urls: bool = True
    without_hosts: bool = (
        False  # host names with neither scheme nor path ("example.org"), where URLs go
    )
    without_emoji: bool = True
    without_punctuation: bool = True
    without_stop_words: bool = False
    lower: bool = False  # capitals cost more cl100k tokens than small letters
    # What is removed leaves one space; or nothing, and then the spaces on both sides stay and count
    # as tokens.
    blanks: Literal["tidied", "left"] = "tidied"
    table: str | None = None  # the cl100k table, where CLAIMLAB_CL100K does not name it

    def parameters(self) -> JsonObject:
        # A path says nothing on another machine; the table's content is fixed by its published
        # hash.
        return {k: v for k, v in super().parameters().items() if k != "table"}

    def apply(self, records: pl.DataFrame) -> Outcome:
        counts = by_slices(
            lambda part: count_tokens(self.bare(part), self.tokenizer, self.table), records
        )
        rows = pl.DataFrame({"id": records["id"], "n": counts}).filter(pl.col("n") < self.minimum)
        unit = "words" if self.tokenizer == "words" else "cl100k tokens"
        return Outcome.of(
            records,
            dropped={i: f"{n} {unit}, fewer than {self.minimum}" for i, n in rows.iter_rows()},
        )

    def bare(self, records: pl.DataFrame) -> pl.Series:
        """The texts as they are counted."""
        texts, tidied = records["text"], self.blanks == "tidied"
        if (
            self.without_urls
        ):  # from the text as it was: a second cleaning then counts what the first counted
            texts = strip_urls(originals(records), hosts=self.without_hosts, tidied=tidied)
        if self.without_emoji and tidied:
            texts = strip_emoji(texts)
        if self.without_stop_words:
            texts = without_stop_words(texts, records["language"])
        if (
            self.without_punctuation and self.tokenizer != "words"
        ):  # a word has no punctuation to begin with
            texts = texts.str.replace_all(*((r"\p{P}", " ") if tidied else (_MARKS, "")))
        if self.lower:
            texts = texts.str.to_lowercase()
        if tidied:
            return texts.str.replace_all(r"\s+", " ").str.strip_chars()
        texts = (
            texts.str.strip_chars()
        )  # before emoji are removed: the space before a final one stays
        return (texts.str.replace_all(EMOJI, "") if self.without_emoji else texts).str.replace_all(
            " +", " "
        )


def without_stop_words(texts: pl.Series, languages: pl.Series) -> pl.Series:
    """The words of each text without the stop words of its record's language, joined."""
    frame = pl.DataFrame({"words": tokenize(texts), "language": languages}).with_row_index("row")
    parts = []
    for (language,), part in frame.group_by("language", maintain_order=True):
        stop = list(stop_words(str(language))) if language is not None else []
        parts.append(
            part.with_columns(
                pl.col("words").list.eval(pl.element().filter(~pl.element().is_in(stop)))
            )
        )
    if not parts:
        return texts
    joined = pl.concat(parts).sort("row").select(pl.col("words").list.join(" ").alias(texts.name))
    return joined.to_series()


STEP = TooShort
