"""The base of ways that hold out what the language table says of languages: class, family, script, word order."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from claimlab.core.languages import Language, describe
from claimlab.split.hold_out import HoldOut, Trait
from claimlab.split.material import Material
from claimlab.split.way import Request


class LanguageTrait(HoldOut):
    column: ClassVar[str]  # of the language table

    def trait(self, material: Material, request: Request) -> Trait:  # noqa: ARG002
        counts = dict(material.records["language"].drop_nulls().value_counts().iter_rows())
        known = {code: told for code in counts if (told := describe(code)) is not None}
        value_of = {code: value for code, told in known.items() if (value := self.value(told, material)) is not None}
        values = material.records["language"].replace_strict(value_of, default=None, return_dtype=pl.String)
        notes = []
        unsure = sorted(c for c in value_of if self.column in known[c].uncertain)
        if unsure:
            rows = sum(counts[c] for c in unsure)
            cells = ", ".join(f"{c} ({value_of[c]}?)" for c in unsure)
            notes.append(f"The language table is not sure about {cells}: {rows:,} rows are used as it says.")
        strangers = sorted(set(counts) - set(value_of))
        if strangers:
            rows = sum(counts[c] for c in strangers)
            notes.append(f"Left out, since no {self.name} is known: {', '.join(strangers)} ({rows:,} rows).")
        return Trait(values.alias(self.name), f"the language has no {self.name} in the table, or is null", tuple(notes))

    def value(self, told: Language, material: Material) -> str | None:  # noqa: ARG002
        found: str | None = getattr(told, self.column)
        return found
