"""Texts that are not in the language they should be in: the one that is kept, or the one their record names."""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl
from pydantic import field_validator

from claimlab.clean.step import CleanStep
from claimlab.core.errors import MissingExtra
from claimlab.core.languages import CONFUSABLE, normalise, require, same
from claimlab.core.step import Change, Outcome
from claimlab.core.words import several


class Language(CleanStep):
    """A text on which the identifier abstains stays, unless `unsure` says otherwise: no evidence is no reason."""

    name: ClassVar[str] = "language"
    summary: ClassVar[str] = (
        "Compares the language of each text with `keep`, or with the record's own; fills empty ones."
    )

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
        languages = identify_by(self.method, records["text"])
        gone: dict[str, str] = {}
        filled: dict[str, str] = {}
        for i, own, seen in zip(records["id"].to_list(), records["language"].to_list(), languages, strict=True):
            wanted, known = self.keep or own, seen or own
            if wanted and known and not same(known, wanted, equivalent=CONFUSABLE):
                gone[i] = self._why(seen, own)
            elif seen is None and self.unsure == "drop":
                gone[i] = f"{self.method} does not know the language of the text"
            elif own is None and seen is not None:
                filled[i] = self.keep or seen  # of languages that count as one, the one that was asked for
        changed: list[Change] = [
            (i, "language", None, code, f"identified by {self.method}") for i, code in filled.items()
        ]
        rest = records
        if self.fill and filled:
            column = [filled.get(i, own) for i, own in records.select("id", "language").iter_rows()]
            rest = records.with_columns(pl.Series("language", column, dtype=pl.String))
        silent = sum(seen is None for seen in languages) - records["text"].null_count()
        notes = (
            (f"{several(silent, 'text has', 'texts have')} no identified language ({self.unsure}: `unsure`)",)
            if silent
            else ()
        )
        return Outcome.of(
            records,
            kept=rest,
            dropped=gone if self.action == "drop" else None,
            doubtful=gone if self.action == "doubtful" else None,
            changed=changed if self.fill else None,
            notes=notes,
        )

    def _why(self, seen: str | None, own: str | None) -> str:
        if seen is None:
            return f"the record names {own}, not {self.keep}"
        return f"the text is {seen}, not {self.keep}" if self.keep else f"the text is {seen}, the record names {own}"


def identify_by(method: str, texts: pl.Series) -> list[str | None]:
    """ISO 639-3 codes by our vote, or by lingua, which published work used."""
    if method == "vote":
        from claimlab.core.engine import over_rows
        from claimlab.text.langid import identify

        return over_rows(identify, texts.to_list(), name="language")
    try:
        from lingua import LanguageDetectorBuilder
    except ImportError:
        raise MissingExtra("Language identification by lingua", "lingua") from None
    detector = LanguageDetectorBuilder.from_all_languages().build()
    answers = detector.detect_languages_in_parallel_of([text or "" for text in texts.to_list()])
    return [None if a is None else normalise(a.iso_code_639_3.name.lower()) for a in answers]


STEP = Language
