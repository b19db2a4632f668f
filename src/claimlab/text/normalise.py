"""Normal forms of texts: for comparing (case, width, accents) and for cleaning (emoji, invisible
characters). Every function takes a string series and returns one of the same length; null stays
null.
"""

from __future__ import annotations

import polars as pl

from claimlab.text.folding import identity
from claimlab.text.rows import change_where, cut_out, not_ascii

# Characters whose lower case is already their folded NFKC form, alone and side by side: letters of
# Latin, Greek, Cyrillic, Hebrew, Arabic, kana, Han and Hangul, punctuation, pictures. Texts made of
# these take the fast way.
_PLAIN = (
    r"[\x{00}-\x{7f}\x{a0}\x{ab}\x{bb}\x{bf}-\x{de}\x{e0}-\x{12f}\x{134}-\x{13e}\x{141}-\x{148}\x{14a}-\x{17e}"
    r"\x{386}\x{388}-\x{38a}\x{38c}\x{38e}-\x{3a1}\x{3a4}-\x{3c1}\x{3c3}-\x{3ce}\x{400}-\x{481}\x{48a}-\x{52f}"
    r"\x{5d0}-\x{5ea}\x{60c}\x{61b}\x{61d}-\x{64a}\x{66a}-\x{66f}\x{679}-\x{6d5}\x{6ee}\x{6ef}\x{6fa}-\x{6ff}\x{2010}\x{2012}-\x{2015}"
    r"\x{2018}-\x{2022}\x{20ac}\x{3001}-\x{3029}\x{3041}-\x{3096}\x{30a1}-\x{30fe}\x{4e00}-\x{9fff}\x{ac00}-\x{d7a3}"
    r"\x{1f300}-\x{1f6d7}\x{1f900}-\x{1f9ff}]"
)

# Accents of Latin, Greek and Cyrillic. Not all of \p{Mn}: in Hindi, Thai or Arabic that would
# delete the vowels.
_ACCENTS = "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f]"

# Text that happens to have an emoji look: kept unless the writer asked for the emoji (variation
# selector 16).
_TEXTUAL = r"©®™‼⁉ℹ\x{2194}-\x{2199}\x{21a9}\x{21aa}Ⓜ〰〽㊗㊙"
_PICTURE = rf"(?:[\p{{Extended_Pictographic}}--[{_TEXTUAL}]]|[{_TEXTUAL}]\x{{fe0f}})"
_TONES = r"\x{1f3fb}-\x{1f3ff}"
_MODIFIER = rf"[{_TONES}\x{{e0020}}-\x{{e007f}}\x{{fe0e}}\x{{fe0f}}\x{{20e3}}]"
EMOJI = (
    # one emoji, or several joined into one
    rf"(?:{_PICTURE}{_MODIFIER}*(?:\x{{200d}}{_PICTURE}{_MODIFIER}*)*"
    r"|[\x{1f1e6}-\x{1f1ff}]+"  # flags are pairs of regional letters
    r"|[0-9#*]\x{fe0f}?\x{20e3}"  # keycaps
    rf"|[{_TONES}])+"
)

# What a reader cannot see: controls (no tab, no line end), soft hyphens, zero-width and direction
# marks, fillers, tags.
_HIDDEN = (
    r"[\x{00}-\x{08}\x{0e}-\x{1f}\x{7f}-\x{84}\x{86}-\x{9f}\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}"
    r"\x{180b}-\x{180f}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}\x{feff}\x{ffa0}\x{fff9}-\x{fffb}"
    r"\x{e0000}-\x{e007f}]"
)
# Where such a character carries meaning: a joiner inside a word of a script that shapes its letters
# (Persian, Hindi, Burmese, Khmer, ...) or inside an emoji, and the tags that make a flag of a
# nation.
_SHAPED = r"\p{Arabic}\p{Syriac}\p{Mongolian}\x{900}-\x{dff}\x{1000}-\x{109f}\x{1780}-\x{17ff}"
_MEANT = (
    r"\x{1f3f4}[\x{e0020}-\x{e007e}]{1,8}\x{e007f}"
    rf"|[\p{{Extended_Pictographic}}{_TONES}]\x{{fe0f}}?\x{{200d}}"
    rf"|[{_SHAPED}][\x{{200c}}\x{{200d}}]"
)

# numbers first: they stay as they are
_ASIDE = r"(\p{Nd}+(?:[\p{P}\s]+\p{Nd}+)+)|[\p{P}--[%‰]]|\p{Sk}|\x{fffd}|\s"


def normal_form(texts: pl.Series) -> pl.Series:
    """The form in which two texts count as the same: their `identity`, whitespace collapsed and
    stripped.

    Case folding goes further than lower case: "STRASSE", "Straße" and "strasse" are one text.
    """
    folded = change_where(texts, ~texts.str.contains(f"^{_PLAIN}*$"), _fold)
    return folded.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()


def bare_form(texts: pl.Series) -> pl.Series:
    """The form in which two texts make the same claim: `normal_form` without punctuation, white
    space and characters that were lost to a wrong encoding.

    What may carry the meaning stays: what stands between digits (1.5 is not 15), %, currencies and
    other signs. A text of punctuation alone keeps it; an empty one is null.
    """
    normal = normal_form(texts)
    bare = normal.str.replace_all(_ASIDE, "$1")
    form = pl.when(bare != "").then(bare).when(normal != "").then(normal)
    return pl.select(form.alias(texts.name)).to_series()


def strip_accents(texts: pl.Series) -> pl.Series:
    """`texts` without the accents of Latin, Greek and Cyrillic letters; vowel signs of other
    scripts stay.
    """

    def strip(rows: pl.Series) -> pl.Series:
        return rows.str.normalize("NFD").str.replace_all(_ACCENTS, "").str.normalize("NFC")

    return change_where(texts, not_ascii(texts), strip)


def strip_emoji(texts: pl.Series) -> pl.Series:
    """`texts` without emoji: with their tones and joiners, flags, keycaps. ©, ® and ™ are text and
    stay.
    """
    return cut_out(texts, EMOJI)


def strip_invisible(texts: pl.Series) -> pl.Series:
    """`texts` without invisible characters, except the joiners that a script or an emoji needs."""
    return change_where(
        texts,
        texts.str.contains(_HIDDEN),
        lambda rows: rows.str.replace_all(f"({_MEANT})|{_HIDDEN}", "$1"),
    )


def _fold(rows: pl.Series) -> pl.Series:
    return pl.Series(rows.name, [identity(row) for row in rows.to_list()], dtype=pl.String)
