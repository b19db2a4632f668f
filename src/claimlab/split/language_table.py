"""Hold out by a property of a row's language in the language table: class, family, script, word
order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from claimlab.core.languages import Language, describe
from claimlab.core.words import several
from claimlab.split.hold_out import Trait
from claimlab.split.strategy import Material, SplitRequest


@dataclass(frozen=True)
class LanguageTable:
    """Reads `column` of the language table for every row; `value` reads it where the dataset has a
    say too.
    """

    name: str
    column: str
    value: Callable[[Language, Material], str | None] | None = None

    def __call__(self, material: Material, request: SplitRequest) -> Trait:  # noqa: ARG002
        counts = dict(material.records["language"].drop_nulls().value_counts().iter_rows())
        languages = {code: language for code in counts if (language := describe(code)) is not None}
        cells = {
            code: self.value(described, material) if self.value else getattr(described, self.column)
            for code, described in languages.items()
        }
        value_of = {code: value for code, value in cells.items() if value is not None}
        values = material.records["language"].replace_strict(
            value_of, default=None, return_dtype=pl.String
        )
        notes = []
        unsure = sorted(c for c in value_of if self.column in languages[c].uncertain)
        if unsure:
            rows = sum(counts[c] for c in unsure)
            examples = ", ".join(f"{c} ({value_of[c]}?)" for c in unsure)
            notes.append(
                f"The language table is not sure about {examples}: {several(rows, 'row')} used"
                " as it says."
            )
        strangers = sorted(set(counts) - set(value_of))
        if strangers:
            rows = sum(counts[c] for c in strangers)
            notes.append(
                f"Left out, since no {self.name} is known: {', '.join(strangers)}"
                f" ({several(rows, 'row')})."
            )
        return Trait(
            values.alias(self.name),
            f"the language has no {self.name} in the table, or is null",
            tuple(notes),
        )


def resource_of(language: Language, material: Material) -> str | None:
    """What the dataset itself states about a language has priority over the language table."""
    own = material.tables.get("languages")
    if own is not None and {"language", "resource"} <= set(own.columns):
        resource = own.filter(own["language"] == language.iso3)["resource"].drop_nulls()
        if resource.len():
            return str(resource[0])
    return language.resource
