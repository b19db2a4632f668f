"""Languages of a word order held out, by the language table."""

from __future__ import annotations

from claimlab.split.language_trait import LanguageTrait


class WordOrder(LanguageTrait):
    name = "word-order"
    summary = "Languages of a word order held out (SVO, SOV, VSO, ...)."
    column = "word_order"


WAY = WordOrder()
