"""Whole scripts held out, by the language table."""

from __future__ import annotations

from claimlab.split.language_trait import LanguageTrait


class Script(LanguageTrait):
    name = "script"
    summary = "Whole scripts held out (Latn, Cyrl, Arab, Deva, ...)."
    column = "script"


WAY = Script()
