"""The ratings that ClaimsKG's sites write, in their languages, beyond the general map of fact-checkers' ratings.

Compared after folding (case, accents, "_" and "-"), so each is written once.
"""

from __future__ import annotations

from claimlab.catalog.kit import general

_TRUE = (
    # what the files at hand hold
    "true", "mostly true", "correct", "correct attribution",
    # other ratings of the sites
    "mostly correct", "truth", "mostly truth", "reported as truth", "likely true", "authorship confirmed", "legit", "t",
    "vrai", "totalement vrai", "plutôt vrai",
    "правда", "это так", "видимо так", "скорее так", "скорее правда", "пока скорее так",
    "صحيح", "सच",
)  # fmt: skip
_FALSE = (
    "false", "mostly false", "pants on fire", "incorrect", "fake", "not true", "misleading", "miscaptioned", "misattributed",
    "legend", "altered image", "altered photo/video",
    "barely true", "fiction", "mostly fiction", "reported as fiction", "incorrect attribution", "verdict false", "fal", "scam",
    "dangerously fake", "likely false", "false and misleading", "false or misleading", "partly false and misleading",
    "altered photo", "altered", "f",
    "faux", "plutôt faux", "trompeur", "montage", "inexact",
    "неправда", "не факт", "не факт увы",
    "زائف", "مضلل", "झूठ", "भ्रामक",
)  # fmt: skip
_MIXED = (
    "mixed", "mixture", "partly false", "partlyfalse", "somewhat true", "somewhat false", "missing context", "decontextualized",
    "half true", "half false", "partlytrue", "partly true", "partially true", "partially false", "true/false", "exaggerated",
    "understated", "disputed", "outdated", "truth & misleading", "truth! & fiction! & unproven!", "truth! but an opinion!",
    "truth! but postponed!", "unclear and partially true", "photo out of context", "video lacks context", "m",
    "mixture of true and false information", "mixture of accurate and inaccurate information",
    "mélangé", "presque", "imprécis", "exagéré", "manque de contexte", "contexte manquant", "propos sortis de leur contexte",
    "да но", "так но", "это так но", "скорее так но", "не факт но", "возможно но", "искажение",
    "زائف جزئيا",
)  # fmt: skip
_UNKNOWN = (
    "unproven", "unknown", "other", "satire", "originated as satire",
    "labeled satire", "labelled satire", "lost legend", "recall", "unfounded", "unsubstantiated", "no evidence", "uncertain",
    "unclear", "unofficial", "commentary", "pending investigation", "depends on where you vote", "checked", "verdict",
    "not recommended", "full flop", "half flip", "no flip", "u",
    "infondé", "incertain", "douteux", "article satirique", "parodie",
    "сомнительно", "пока сомнительно", "пока не факт",
    "ساخر",
)  # fmt: skip

RATINGS: dict[str, str] = {
    **general().verdicts,
    **dict.fromkeys(_TRUE, "true"),
    **dict.fromkeys(_FALSE, "false"),
    **dict.fromkeys(_MIXED, "mixed"),
    **dict.fromkeys(_UNKNOWN, "unknown"),
}

# ClaimsKG's own four classes, where one rating means one class on every site: whatever is only mostly or partly so is a
# mixture, and so are the steps between; legends, old news and altered images are "other".
NORMALISED: dict[str, str] = {
    **RATINGS,
    **dict.fromkeys(
        ("mostly true", "mostly correct", "mostly truth", "mostly false", "barely true", "likely true", "likely false",
         "plutôt vrai", "plutôt faux", "скорее так", "скорее правда", "пока скорее так"),
        "mixed",
    ),
    **dict.fromkeys(("legend", "outdated", "understated", "altered image", "altered photo"), "unknown"),
}  # fmt: skip
