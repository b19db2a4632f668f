"""The language of each text, and the languages declared in three places against those found.

A sample has two languages, its own and English: the detected language of a text only decides which
of the two it is in. A detector's answer outside the pair (Croatian for Serbian) is noise; it is
counted, not believed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import polars as pl

from claimlab.core.languages import describe, normalise
from claimlab.core.words import several

ENGLISH = "eng"
_CARD = """
    ar bn de en es fa fr hi id it ja ko nl pl pt ru sv tr uk zh
    af am az bg ca ceb cs cy da el et eu fi ga gl gu ha he hr hu hy is ka kk km kn ku ky lo lt lv mk ml mr ms mt my ne
    no pa ps ro si sk sl sq sr sw ta te tg th tl ur uz vi xh yo
"""
_EXPERIMENTS = """
    eng deu nld spa por fra ita pol rus ces ukr fas ell afr dan nor swe ron cat hrv bos bul srp slk slv mkd hin ben pan
    mar guj nep urd sin kur sqi lit lav asm ori glg zho mya tha ara heb som hau orm amh ful tur aze kaz jpn kor ind msa
    tgl ban vie swa ibo zul tam tel mal hun fin est kat grn hat jam pap epo
"""
_SCRIPTS = """
    hat jam amh ibo ful zul pap afr ara aze ban ben bos bul cat ces dan deu ell eng est fas fin fra grn guj hau heb hin
    hrv hun ind ita jpn kat kor kur lav lit mal mar mkd msa mya nep nld nor orm pan per pol por ron rus sin slk som spa
    sqi srp swa swe tam tel tgl tha tur ukr urd vie zho
"""


@cache
def declared() -> dict[str, frozenset[str]]:
    """The three published lists. The 71 codes of the scripts name 70 languages: fas and per are
    both Persian.
    """
    lists = {"card": _CARD, "experiments": _EXPERIMENTS, "scripts": _SCRIPTS}
    codes = {place: [normalise(code) for code in text.split()] for place, text in lists.items()}
    return {
        place: frozenset(c for c in code_list if c is not None)
        for place, code_list in codes.items()
    }


@cache
def text_language(
    sample: str | None, detected: str | None, *, translated: bool
) -> tuple[str | None, bool]:
    """The language of a text, and whether the detector named neither it nor its pair."""
    expected = ENGLISH if translated else sample
    if detected is None:
        return expected, False
    candidates = {
        code
        for word in re.findall(r"[A-Za-z]{2,}", detected)
        if (code := normalise(word)) is not None
    }
    pair = candidates & {sample, ENGLISH}
    if len(pair) == 1:
        return pair.pop(), False
    return expected, bool(candidates) and not pair


@dataclass(frozen=True)
class Coverage:
    """What was declared against what was found. `whole` is false when only a part of the tree was
    asked for.
    """

    table: pl.DataFrame
    found: frozenset[str]
    whole: bool

    def sentences(self) -> list[str]:
        counts = ", ".join(f"{len(codes)} in the {place}" for place, codes in declared().items())
        sentences = [f"Texts in {several(len(self.found), 'language')}; declared are {counts}."]
        strangers = sorted(self.found - frozenset().union(*declared().values()))
        if strangers:
            sentences.append(f"Declared nowhere, but found: {', '.join(strangers)}.")
        missing = sorted(declared()["card"] - self.found)
        if missing and self.whole:
            count = several(len(missing), "language")
            sentences.append(f"{count} of the card without text here: {', '.join(missing)}.")
        bare = sorted(
            code for code in self.found if (facts := describe(code)) is None or facts.family is None
        )
        if bare:
            sentences.append(
                f"No family, script or word order is known for: {', '.join(bare)}; they belong to"
                " no group."
            )
        return sentences


def coverage(records: pl.DataFrame, classes: dict[str, str], *, whole: bool) -> Coverage:
    """One row per language found or declared: where it is declared, how much of it there is, what
    is known of it.
    """
    texts = dict(records["language"].drop_nulls().value_counts().iter_rows())
    samples = dict(
        records.group_by("language")
        .agg(pl.col("group").n_unique())
        .drop_nulls("language")
        .iter_rows()
    )
    codes = sorted(frozenset(texts).union(*declared().values()))
    rows = []
    for code in codes:
        facts = describe(code)
        rows.append(
            {
                "language": code,
                "name": facts.name if facts else None,
                **{f"in_{place}": code in listed for place, listed in declared().items()},
                "texts": texts.get(code, 0),
                "samples": samples.get(code, 0),
                "resource": classes.get(code),
                "family": facts.family if facts else None,
                "script": facts.script if facts else None,
                "word_order": facts.word_order if facts else None,
            }
        )
    return Coverage(pl.DataFrame(rows, infer_schema_length=None), frozenset(texts), whole)
