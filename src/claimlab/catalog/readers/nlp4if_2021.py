"""NLP4IF-2021: tweets about Covid-19 in English, Arabic and Bulgarian, with answers to seven
questions.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    Table,
    answers,
    meta_column,
    sent,
)

QUESTIONS = {f"q{n}_label": f"q{n}" for n in range(1, 8)}
LANGUAGES = {"ar": ("arabic", "ara"), "bg": ("bulgarian", "bul"), "en": ("english", "eng")}


def load_test(bundle: Bundle) -> Loaded:
    """The test tweets, which were published without answers."""
    parts = []
    for short, (long, _) in LANGUAGES.items():
        for name in bundle.match(f"*{long}*test_input.tsv")[:1]:
            parts.append(part(bundle, name, short, "test"))
    if not parts:
        bundle.one("*test_input.tsv")  # says what is missing
    return build(pl.concat(parts), bundle)


def load(bundle: Bundle, folder: str) -> Loaded:
    parts = []
    for split in ("train", "dev"):
        for short in LANGUAGES:
            name = bundle.one(f"{folder}/{split}.{short}.tsv", f"{split}.{short}.tsv")
            parts.append(part(bundle, name, short, split))
    return build(pl.concat(parts), bundle)


def part(bundle: Bundle, name: str, short: str, split: str) -> pl.DataFrame:
    """One file. Quote marks are part of the tweets."""
    raw = Table.read(bundle, name, delimiter="\t", quoted=False)
    labelled = [] if split == "test" else list(QUESTIONS)
    needed = {"tweet_no": "tweet_no", "text": ("tweet_text", "text"), **{q: q for q in labelled}}
    return raw.pick(needed).with_columns(short=pl.lit(short), split=pl.lit(split))


def build(raw: pl.DataFrame, bundle: Bundle) -> Loaded:
    raw = raw.join(
        ids_of(bundle), on=["short", "split", "tweet_no"], how="left", maintain_order="left"
    )
    raw = raw.with_columns(id=pl.format("nlp4if-2021-{}-{}-{}", "short", "split", "tweet_no"))
    labelled = "q2_label" in raw.columns
    records = raw.select(
        *["id", "text", "split"],
        label_raw=pl.col("q2_label") if labelled else pl.lit(None, pl.String),
        language=pl.col("short").replace_strict({s: iso for s, (_, iso) in LANGUAGES.items()}),
        **sent(raw["raw_id"]),
        tweet_id="raw_id",
        meta=meta_column(raw, ["tweet_no"]),
    )
    # "nan" is a question that was not put or not settled
    tables = (
        {"annotations": answers(raw, QUESTIONS, annotator="aggregate", blank=["nan"])}
        if labelled
        else {}
    )
    return Loaded(records, tables)


def ids_of(bundle: Bundle) -> pl.DataFrame:
    """Tweet ids by language, split and number. They are in separate files; later releases repeat
    and extend earlier ones.
    """
    tables = [
        pl.DataFrame(schema=dict.fromkeys(("tweet_no", "raw_id", "short", "split"), pl.String))
    ]
    for short, (long, _) in LANGUAGES.items():
        for split, ending in (
            ("train", "train_ids"),
            ("dev", "dev_ids"),
            ("test", "test_input_ids"),
        ):
            for name in reversed(bundle.match(f"*{long}_{ending}.tsv")):  # the latest release first
                raw = Table.read(bundle, name, delimiter="\t", quoted=False)
                ids = raw.pick({"tweet_no": "tweet_no", "raw_id": "tweet_id"})
                tables.append(ids.with_columns(short=pl.lit(short), split=pl.lit(split)))
    return pl.concat(tables).unique(
        ["short", "split", "tweet_no"], keep="first", maintain_order=True
    )
