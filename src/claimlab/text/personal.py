"""Personal data that a rule can find: mail addresses, phone numbers and @handles. Names, addresses
and what people say of themselves take more than a rule: a scan that finds nothing is not a proof.
Phone numbers are those with a country code (+55 11 ...), with an area code in parentheses, or in
three groups joined by dashes or dots; bare digits are left alone, because years, amounts and
identifiers look the same.
"""

from __future__ import annotations

import polars as pl

_MAIL = r"[\p{L}\p{N}][\p{L}\p{N}._%+\-]*@[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)*\.\p{L}{2,24}"
_PHONE = (
    r"(?:\+\d{1,3}[ .\-](?:\(\d{1,4}\)[ .\-]?)?\d{1,5}(?:[ .\-]?\d{2,5}){1,4}|\+\d{10,14}"
    r"|\(\d{2,4}\) ?\d{3,5}[ .\-]\d{3,5}"
    r"|\d{3}-\d{3}-\d{4}|\d{3}\.\d{3}\.\d{4}"
    r"|\d{2} 9\d{4}-\d{4})"
)
_HANDLE = r"@[A-Za-z0-9_]{2,30}"
MASKED_HANDLE = "@user"

# What comes before a match, so that a part of a link, of a longer number or of a mail address is
# not taken for one; it is put back. What follows a number must not be a digit: Polars has no
# lookahead, so it is matched and put back too.
PATTERNS = {
    "mail": (rf"(^|[^\p{{L}}\p{{N}}._%+\-@/]){_MAIL}", "${1}[email]"),
    "phone": (rf"(^|[^\p{{L}}\p{{N}}._+\-/=&#]){_PHONE}($|[^\p{{L}}\p{{N}}])", "${1}[phone]${2}"),
    "handle": (rf"(^|[^\p{{L}}\p{{N}}._%+\-@/]){_HANDLE}", f"${{1}}{MASKED_HANDLE}"),
}


def scan_personal(texts: pl.Series) -> pl.DataFrame:
    """How often each kind occurs: kind, records that have one, occurrences. Handles that are masked
    do not count.
    """
    rows = []
    for kind, (pattern, _) in PATTERNS.items():
        counts = texts.str.count_matches(pattern)
        if kind == "handle":
            counts = counts - texts.str.count_matches(rf"{MASKED_HANDLE}($|[^A-Za-z0-9_])")
        rows.append((kind, int((counts > 0).sum()), int(counts.sum() or 0)))
    return pl.DataFrame(
        rows, schema={"kind": pl.String, "records": pl.Int64, "occurrences": pl.Int64}, orient="row"
    )


def mask_personal(texts: pl.Series, kinds: tuple[str, ...] = tuple(PATTERNS)) -> pl.Series:
    """The texts with [email], [phone] and @user in place of what was found."""
    for kind in kinds:
        pattern, replacement = PATTERNS[kind]
        # Matches that touch share the character between them: the second pass takes those that the
        # first could not.
        texts = texts.str.replace_all(pattern, replacement).str.replace_all(pattern, replacement)
    return texts
