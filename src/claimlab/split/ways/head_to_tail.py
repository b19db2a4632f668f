"""From languages with many resources to those with few: train on head, test on tail."""

from __future__ import annotations

from claimlab.core.languages import Language
from claimlab.split.language_trait import LanguageTrait
from claimlab.split.material import Material


class HeadToTail(LanguageTrait):
    name = "head-to-tail"
    summary = "Trained on languages with many resources (head), tested on those with few (tail)."
    column = "resource"
    default = ("tail",)

    def value(self, told: Language, material: Material) -> str | None:
        """What the dataset itself says of a language goes before the language table."""
        own = material.tables.get("languages")
        if own is not None and {"language", "resource"} <= set(own.columns):
            said = own.filter(own["language"] == told.iso3)["resource"].drop_nulls()
            if said.len():
                return str(said[0])
        return told.resource


WAY = HeadToTail()
