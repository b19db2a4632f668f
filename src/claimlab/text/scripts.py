"""Scripts that write no spaces between words, as a character class for Polars patterns."""

from __future__ import annotations

# Thai, Lao, Burmese, Khmer, kana and Han, with their marks and extensions.
UNSPACED = (
    r"\x{e00}-\x{eff}\x{1000}-\x{109f}\x{1780}-\x{17ff}\x{19e0}-\x{19ff}\x{a9e0}-\x{a9ff}\x{aa60}-\x{aa7f}"
    r"\x{3005}-\x{3007}\x{303b}\x{3041}-\x{3096}\x{3099}-\x{30fa}\x{30fc}-\x{30ff}\x{31f0}-\x{31ff}"
    r"\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}\x{f900}-\x{faff}\x{ff66}-\x{ff9f}\x{1b000}-\x{1b16f}\x{20000}-\x{3ffff}"
)
