"""Whole families of languages held out, by the language table."""

from __future__ import annotations

from claimlab.split.language_trait import LanguageTrait


class Family(LanguageTrait):
    name = "family"
    summary = "Whole families of languages held out (Indo-European, Turkic, Uralic, ...)."
    column = "family"


WAY = Family()
