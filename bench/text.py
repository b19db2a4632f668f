"""Speed of the text room on made-up posts, each function beside the usual way to do the same, in
one run.

    python bench/text.py [ROWS]        (default 180,000; the usual way is timed on a tenth and
                                       scaled)

Processor seconds, so that a busy machine does not blur them; ratios carry over between machines.
Packages that are no dependency of claimlab (emoji, tldextract, budoux, rjieba) are compared where
installed, and named where they are not.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
from harness import Row, begin, best, parser, record

from claimlab.text.normalise import normal_form, strip_emoji
from claimlab.text.repair import repair_mojibake
from claimlab.text.tokens import _icu_words, tokenize
from claimlab.text.urls import domains, find_urls, strip_urls

SHARE = 10
Comparison = tuple[str, Callable[[pl.Series], Any], str, Callable[[list[str]], Any] | None]


def posts(rows: int, seed: int = 0) -> pl.Series:
    """Posts of 10 to 40 invented words with the frequencies of real ones, some with a link, an
    emoji or an accent.
    """
    draw = np.random.default_rng(seed)
    letters = np.array(list("aaeeioourstnlmcdbfgpvhzé"))
    vocabulary = np.array(["".join(draw.choice(letters, n)) for n in draw.integers(2, 11, 20_000)])
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    words = vocabulary[draw.choice(len(vocabulary), size=(rows, 40), p=weights / weights.sum())]
    lengths, extra = draw.integers(10, 41, rows), draw.random(rows)
    tails = [
        f" https://t.co/{i:08x}" if e < 0.5 else " 😷👍🏿" if e < 0.7 else "."
        for i, e in enumerate(extra)
    ]
    return pl.Series([" ".join(w[:n]) + t for w, n, t in zip(words, lengths, tails, strict=True)])


def comparisons() -> Iterator[Comparison]:
    yield (
        "tokenize",
        tokenize,
        "re.findall",
        lambda texts: [re.findall(r"\w+", t.lower()) for t in texts],
    )
    yield "normal_form", normal_form, "", None
    yield (
        "find_urls",
        find_urls,
        "re.findall",
        lambda texts: [re.findall(r"https?://\S+", t) for t in texts],
    )
    yield "strip_urls", strip_urls, "", None
    yield "strip_emoji", strip_emoji, "emoji", _each("emoji", "replace_emoji")
    yield "repair_mojibake", repair_mojibake, "ftfy, every row", _each("ftfy", "fix_encoding")
    yield (
        "find_urls + domains",
        lambda s: domains(find_urls(s).explode()),
        "tldextract",
        _tldextract(),
    )


def _each(package: str, name: str) -> Callable[[list[str]], Any] | None:
    if importlib.util.find_spec(package) is None:
        return None
    function = getattr(importlib.import_module(package), name)
    return lambda texts: [function(text) for text in texts]


def _tldextract() -> Callable[[list[str]], Any] | None:
    if importlib.util.find_spec("tldextract") is None:
        return None
    import tldextract

    extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    return lambda texts: [
        extract(url) for text in texts for url in re.findall(r"https?://\S+", text)
    ]


def segmenters() -> Iterator[tuple[str, str, Callable[[str], list[str]] | None]]:
    """Cutting scripts without spaces: ICU has a dictionary for each, the others for one or
    three.
    """
    samples = {
        "Chinese": "这种疫苗在今年春天获得批准之前已经在数千人身上进行了测试",
        "Japanese": "このワクチンは今春承認される前に何千人もの人々でテストされました",
        "Thai": "วัคซีนนี้ได้รับการทดสอบกับผู้คนหลายพันคนก่อนที่จะได้รับการอนุมัติ",
    }
    for name, sample in samples.items():
        yield f"{name}, ICU", sample, _icu_words
    rjieba = importlib.import_module("rjieba") if importlib.util.find_spec("rjieba") else None
    yield "Chinese, rjieba", samples["Chinese"], rjieba.cut if rjieba else None
    budoux = importlib.import_module("budoux") if importlib.util.find_spec("budoux") else None
    parser = budoux.load_default_japanese_parser() if budoux else None
    yield "Japanese, budoux (phrases)", samples["Japanese"], parser.parse if parser else None


def timed(run: Callable[[Any], Any], texts: Any) -> float:
    return best(lambda: run(texts), 2).cpu


def main() -> None:
    made = parser(__doc__)
    made.add_argument("rows", type=int, nargs="?", default=180_000)
    texts = posts(begin(made).rows)
    part = texts.head(texts.len() // SHARE).to_list()
    print(f"{texts.len():,} posts of {texts.str.len_chars().mean():.0f} characters")
    for name, ours, other, theirs in comparisons():
        seconds = timed(ours, texts)
        ratio = ""
        if theirs is not None:
            peer = SHARE * timed(theirs, part)
            ratio = f"{peer / seconds:6.1f} times {other}"
            record(Row("text", name, other, seconds, peer))
        elif other:
            ratio = f"       {other} is not installed"
        print(f"{name:22} {seconds:6.2f} s {ratio}")
    for name, sample, cut in segmenters():
        speed = "not installed"
        if cut is not None:
            seconds = timed(lambda text, cut=cut: [cut(text) for _ in range(2000)], sample)
            speed = f"{2000 * len(sample) / seconds / 1e6:.1f} M characters/s"
        print(f"{name:28} {speed}")


if __name__ == "__main__":
    main()
