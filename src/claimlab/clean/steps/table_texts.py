"""Texts that are broken, too short to be a claim, or not in the language they should be in.

HTML entities become the signs they stand for, broken encodings are repaired and invisible
characters removed; emoji are kept. Loaders leave entities where they are: texts stay as published,
and an audit finds them where one class has more of them. Short texts are counted after what carries
no content is taken away. The right language is the one that is kept, or the one that a record
names.
"""

from __future__ import annotations

from typing import Literal

import polars as pl
from pydantic import Field, field_validator

from claimlab.clean.statistics import originals
from claimlab.clean.step import CleanStep, Outcome, reasons, rewritten
from claimlab.clean.token_counts import count_tokens
from claimlab.core.errors import MissingExtra
from claimlab.core.languages import CONFUSABLE, normalise, require, same
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.text.normalise import EMOJI, strip_emoji, strip_invisible
from claimlab.text.repair import half_read, repair_mojibake, unescape_entities
from claimlab.text.rows import by_slices, change_where
from claimlab.text.stopwords import stop_words
from claimlab.text.tokens import tokenize
from claimlab.text.urls import strip_urls

_MARKS = r"[\p{P}$+<=>^`|~]"  # punctuation, and the signs that ASCII counts as such


class RepairTextStep(CleanStep):
    name = "repair-text"
    summary = (
        "Repairs mojibake, replaces HTML entities and removes invisible and control characters;"
        " emoji are kept."
    )

    entities: bool = True
    mojibake: bool = True
    invisible: bool = True

    def apply(self, records: pl.DataFrame) -> Outcome:
        texts = records["text"]
        plain = unescape_entities(texts) if self.entities else texts
        repaired = repair_mojibake(plain) if self.mojibake else plain
        visible = repaired
        if self.invisible:  # but for what a later repair needs
            visible = change_where(repaired, ~half_read(repaired), strip_invisible)
        # In one chunk: Polars fails to join texts in many small ones.
        causes = {
            "HTML entities replaced": (texts != plain).rechunk(),
            "broken encoding repaired": (plain != repaired).rechunk(),
            "invisible characters removed": (repaired != visible).rechunk(),
        }
        parts = [pl.when(here).then(pl.lit(reason)) for reason, here in causes.items()]
        why = pl.concat_str(parts, separator=" and ", ignore_nulls=True)
        return rewritten(records, visible, why, "contains only invisible characters")


class TooShortStep(CleanStep):
    name = "too-short"
    summary = (
        "Drops texts of fewer than `minimum` tokens, counted without URLs, emoji and punctuation;"
        " or calls them doubtful."
    )

    minimum: int = Field(default=3, ge=1)
    # Texts with as many letters are long enough however few words they have: a claim of two words
    # is whole in Arabic or Russian. A syllable of Hangul or kana counts as two, a character of Han
    # as three. 0: letters are not counted.
    letters: int = Field(default=0, ge=0)
    # What has no letter and no digit is dropped all the same: it says nothing.
    action: Literal["drop", "doubtful"] = "drop"
    tokenizer: Literal["words", "cl100k"] = "words"
    without_urls: bool = True
    without_hosts: bool = False  # where URLs go: also "example.org", without scheme and path
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
        rows = records.with_columns(n=counts).filter(pl.col("n") < self.minimum)
        letters = letters_of(self.bare(rows))
        rows = rows.with_columns(letters=letters)
        if self.letters:
            rows = rows.filter(pl.col("letters") < self.letters)
        unit = "words" if self.tokenizer == "words" else "cl100k tokens"
        why = pl.format(f"{{}} {unit}, fewer than {self.minimum}", "n")
        if self.action == "drop":
            return Outcome.of(records, dropped=reasons(rows, why))
        empty = pl.col("letters") == 0
        return Outcome.of(
            records,
            dropped=reasons(rows.filter(empty), why),
            doubtful=reasons(rows.filter(~empty), why),
        )

    def bare(self, records: pl.DataFrame) -> pl.Series:
        """The texts as they are counted."""
        texts, tidied = records["text"], self.blanks == "tidied"
        if self.without_urls:
            # From the text as it was: a second cleaning then counts what the first counted.
            texts = strip_urls(originals(records), hosts=self.without_hosts, tidied=tidied)
        if self.without_emoji and tidied:
            texts = strip_emoji(texts)
        if self.without_stop_words:
            texts = without_stop_words(texts, records["language"])
        if self.without_punctuation and self.tokenizer != "words":
            # A word has no punctuation to begin with.
            texts = texts.str.replace_all(*((r"\p{P}", " ") if tidied else (_MARKS, "")))
        if self.lower:
            texts = texts.str.to_lowercase()
        if tidied:
            return texts.str.replace_all(r"\s+", " ").str.strip_chars()
        texts = texts.str.strip_chars()  # before emoji go: the space before a final one stays
        bare = texts.str.replace_all(EMOJI, "") if self.without_emoji else texts
        return bare.str.replace_all(" +", " ")


def letters_of(texts: pl.Series) -> pl.Series:
    """How much each text holds, in letters of an alphabet: digits count as letters, a syllable of
    Hangul or kana as two letters, and a character of Han as three.
    """
    plain = texts.str.normalize("NFC")
    # Vowel signs from Hindi to Khmer are letters, accents are not.
    counts = plain.str.count_matches(r"[\p{L}\p{N}[\p{M}&&[\x{900}-\x{109f}\x{1780}-\x{17ff}]]]")
    syllables = plain.str.count_matches(r"[\p{Hangul}\p{Hiragana}\p{Katakana}]")
    return (counts + syllables + 2 * plain.str.count_matches(r"\p{Han}")).rename("letters")


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


class LanguageStep(CleanStep):
    """A text on which the identifier abstains stays, unless `unsure` says otherwise: no evidence is
    no reason.
    """

    name = "language"
    summary = "Compares the language of each text with `keep`, or with the record's own; fills empty ones."  # noqa: E501

    keep: str | None = None
    method: Literal["vote", "lingua"] = "vote"
    action: Literal["drop", "doubtful"] = "drop"
    unsure: Literal["keep", "drop"] = "keep"
    fill: bool = True

    @field_validator("keep")
    @classmethod
    def _known(cls, code: str | None) -> str | None:
        return None if code is None else require(code)

    def apply(self, records: pl.DataFrame) -> Outcome:
        seen = pl.Series("seen", identify_by(self.method, records["text"]), dtype=pl.String)
        rows = records.select("id", own="language").with_columns(seen)
        judged = pl.DataFrame(
            [
                (own, seen, *self._judge(own, seen))
                for own, seen in rows.select("own", "seen").unique().iter_rows()
            ],
            schema=dict.fromkeys(("own", "seen", "why", "code"), pl.String),
            orient="row",
        )
        rows = rows.join(
            judged, on=["own", "seen"], how="left", nulls_equal=True, maintain_order="left"
        )
        filled = rows.drop_nulls("code") if self.fill else rows.clear()
        changed = filled.select(
            "id",
            column=pl.lit("language"),
            before=pl.lit(None, pl.String),
            after="code",
            reason=pl.lit(f"identified by {self.method}"),
        )
        language = rows.select(pl.coalesce("own", "code")).to_series() if self.fill else rows["own"]
        gone = reasons(rows.drop_nulls("why"), pl.col("why"))
        silent = seen.null_count() - records["text"].null_count()
        note = f"{several(silent, 'text has', 'texts have')} no identified language"
        return Outcome.of(
            records,
            kept=records.with_columns(language=language),
            dropped=gone if self.action == "drop" else None,
            doubtful=gone if self.action == "doubtful" else None,
            changed=changed,
            notes=(f"{note} ({self.unsure}: `unsure`)",) if silent else (),
        )

    def _judge(self, own: str | None, seen: str | None) -> tuple[str | None, str | None]:
        """Why a record of this language, whose text is identified as that one, goes; or the
        language it gets.
        """
        wanted, known = self.keep or own, seen or own
        if wanted and known and not same(known, wanted, equivalent=CONFUSABLE):
            return self._why(seen, own), None
        if seen is None and self.unsure == "drop":
            return f"{self.method} does not know the language of the text", None
        # `keep` may be one like it.
        return None, (self.keep or seen) if own is None and seen is not None else None

    def _why(self, seen: str | None, own: str | None) -> str:
        if seen is None:
            return f"the record names {own}, not {self.keep}"
        return (
            f"the text is {seen}, not {self.keep}"
            if self.keep
            else f"the text is {seen}, the record names {own}"
        )


def identify_by(method: str, texts: pl.Series) -> list[str | None]:
    """ISO 639-3 codes by our vote, or by lingua, which published work used."""
    if method == "vote":
        from claimlab.core.engine.run import over_rows
        from claimlab.text.langid import identify

        return over_rows(identify, texts, name="language")
    try:
        from lingua import LanguageDetectorBuilder
    except ImportError:
        raise MissingExtra("Language identification by lingua", "lingua") from None
    detector = LanguageDetectorBuilder.from_all_languages().build()
    answers = detector.detect_languages_in_parallel_of([text or "" for text in texts])
    return [None if a is None else normalise(a.iso_code_639_3.name.lower()) for a in answers]


ENTRIES = [RepairTextStep, TooShortStep, LanguageStep]
