"""Texts that are not in the language they should be in: the one that is kept, or the one their
record names.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl
from pydantic import field_validator

from claimlab.clean.step import CleanStep
from claimlab.core.errors import MissingExtra
from claimlab.core.languages import CONFUSABLE, normalise, require, same
from claimlab.core.step import Outcome
from claimlab.core.words import several


class Language(CleanStep):
    """A text on which the identifier abstains stays, unless `unsure` says otherwise: no evidence is
    no reason.
    """

    name: ClassVar[str] = "language"
    summary: ClassVar[str] = (
        "Compares the language of each text with `keep`, or with the record's own; fills empty ones."  # noqa: E501
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
        filled = rows.filter(pl.col("code").is_not_null()) if self.fill else rows.clear()
        changed = filled.select(
            "id",
            column=pl.lit("language"),
            before=pl.lit(None, pl.String),
            after="code",
            reason=pl.lit(f"identified by {self.method}"),
        )
        language = rows.select(pl.coalesce("own", "code")).to_series() if self.fill else rows["own"]
        gone = dict(rows.filter(pl.col("why").is_not_null()).select("id", "why").iter_rows())
        silent = seen.null_count() - records["text"].null_count()
        notes = (
            (
                (
                    f"{several(silent, 'text has', 'texts have')} no identified language"
                    f" ({self.unsure}: `unsure`)"
                ),
            )
            if silent
            else ()
        )
        return Outcome.of(
            records,
            kept=records.with_columns(language.alias("language")),
            dropped=gone if self.action == "drop" else None,
            doubtful=gone if self.action == "doubtful" else None,
            changed=changed,
            notes=notes,
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
        return None, (
            (self.keep or seen) if own is None and seen is not None else None
        )  # `keep` may be one like it

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
        from claimlab.core.engine import over_rows
        from claimlab.text.langid import identify

        return over_rows(identify, texts, name="language")
    try:
        from lingua import LanguageDetectorBuilder
    except ImportError:
        raise MissingExtra("Language identification by lingua", "lingua") from None
    detector = LanguageDetectorBuilder.from_all_languages().build()
    answers = detector.detect_languages_in_parallel_of([text or "" for text in texts.to_list()])
    return [None if a is None else normalise(a.iso_code_639_3.name.lower()) for a in answers]


STEP = Language
