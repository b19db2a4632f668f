"""Verdict maps for BLUFF. A verdict is matched whole: "false" and "misleading" are false though
they contain no "fake", and a verdict that is on no list is an error that names it, never a silent
"real"."""

from __future__ import annotations

from claimlab.core.labels import LabelMap, general

# Every verdict that the card names. Satire says nothing of truth (rule A.5 of the guide, and the
# house's general map).
CARD = {
    "fake_news": "false",
    "real_news": "true",
    "false": "false",
    "misleading": "false",
    "mostly false": "false",
    "true": "true",
    "needs context": "mixed",
    "unverified": "unknown",
    "satire": "unknown",
}
STRICT = LabelMap("bluff/strict", CARD, note="the verdicts that the card names, and no other")
RATINGS = LabelMap(
    "bluff/ratings", {**general().verdicts, **CARD}, note="fact-checkers' ratings in many languages"
)
