"""Tweets about Covid-19 with people's answers to seven questions (does it contain a claim, is that
false, is it harmful ...): COVID-19 Disinformation, and NLP4IF-2021, which adds to a part of it. The
label is the answer to the second.
"""

from __future__ import annotations

import re

import polars as pl

from claimlab.catalog import kit

QUESTIONS = {f"q{n}_label": f"q{n}" for n in range(1, 8)}
CODES = {"arabic": "ara", "bulgarian": "bul", "dutch": "nld", "english": "eng"}
SHORT = {"ar": "arabic", "bg": "bulgarian", "en": "english"}
NAME = re.compile(r"disinfo_([a-z]+)_(binary|multiclass)_(train|dev|test)\.tsv$", re.IGNORECASE)


def disinformation(bundle: kit.Bundle) -> kit.Loaded:
    """The binary answers of each language, every labelled tweet once, with the fine answers beside
    them.
    """
    single = _tweets(bundle).filter(pl.col("language_name") != "multilang")
    raw, finer = (single.filter(answers=kind) for kind in ("binary", "multiclass"))
    raw = raw.with_columns(id=kit.distinct("covid-19-disinformation-" + raw["tweet_id"]))
    annotations = [_answers(raw, "NA")]
    # the two files of a split list the same tweets in the same order, which is the only key that
    # never repeats
    if finer["tweet_id"].equals(raw["tweet_id"]):
        annotations.append(_answers(finer.with_columns(raw["id"]), "NA", " (fine)"))
    return kit.Loaded(_disinformation(raw), {"annotations": pl.concat(annotations)})


def all_disinformation(bundle: kit.Bundle) -> kit.Loaded:
    """All files concatenated, for protocols that read them so: each tweet occurs about four
    times.
    """
    raw = _tweets(bundle)
    stem = raw["language_name"] + "-" + raw["answers"] + "-" + raw["tweet_id"]
    single = raw.filter(pl.col("language_name") != "multilang")
    # the joint files do not say the language
    spoken = dict(single.select("tweet_id", "language_name").iter_rows())
    raw = raw.with_columns(
        id=kit.distinct("covid-19-disinformation-" + stem),
        language_name=raw["tweet_id"].replace_strict(spoken, default=None, return_dtype=pl.String),
    )
    note = "The files repeat each other: tweets come several times. Split by group."
    return kit.Loaded(_disinformation(raw), notes=[note])


def _tweets(bundle: kit.Bundle) -> pl.DataFrame:
    """The rows of every file, with what its name says."""
    parts = []
    for name in bundle.match("*.tsv"):
        if match := NAME.search(name):
            language, kind, split = (pl.lit(part.lower()) for part in match.groups())
            rows = _table(bundle, name).pick(["tweet_id", *QUESTIONS])
            parts.append(rows.with_columns(language_name=language, answers=kind, split=split))
    if not parts:
        bundle.one("*disinfo_*_binary_*.tsv")  # says what is missing
    return pl.concat(parts)


def _disinformation(raw: pl.DataFrame) -> pl.DataFrame:
    return raw.select(
        *["id", "tweet_id", "split"],
        label_raw="q2_label",
        language=pl.col("language_name").replace_strict(CODES, default=None),
        **kit.sent(raw["tweet_id"]),
        group="tweet_id",  # 223 Arabic tweets come twice, 96 of them in two splits
        meta=kit.meta_column(raw, ["answers"]),
    )


def nlp4if(bundle: kit.Bundle, folder: str) -> kit.Loaded:
    parts = []
    for split in ("train", "dev"):
        for short in SHORT:
            name = bundle.one(f"{folder}/{split}.{short}.tsv", f"{split}.{short}.tsv")
            parts.append(_part(bundle, name, short, split))
    raw = _with_ids(bundle, pl.concat(parts))
    return kit.Loaded(_nlp4if(raw, "q2_label"), {"annotations": _answers(raw, "nan")})


def nlp4if_test(bundle: kit.Bundle) -> kit.Loaded:
    """The test tweets, which were published without answers."""
    files = {short: [f"*{language}*test_input.tsv"] for short, language in SHORT.items()}
    parts = [
        _part(bundle, name, short, "test") for short, name in kit.present(bundle, files).items()
    ]
    return kit.Loaded(_nlp4if(_with_ids(bundle, pl.concat(parts)), None))


def _part(bundle: kit.Bundle, name: str, short: str, split: str) -> pl.DataFrame:
    questions = {} if split == "test" else {q: q for q in QUESTIONS}
    needed = {"tweet_no": "tweet_no", "text": ("tweet_text", "text"), **questions}
    rows = _table(bundle, name).pick(needed)
    return rows.with_columns(short=pl.lit(short), split=pl.lit(split))


def _nlp4if(raw: pl.DataFrame, label: str | None) -> pl.DataFrame:
    return raw.select(
        *["id", "text", "split", "tweet_id"],
        label_raw=pl.col(label) if label else pl.lit(None, pl.String),
        language=pl.col("short").replace_strict(SHORT).replace_strict(CODES),
        **kit.sent(raw["tweet_id"]),
        meta=kit.meta_column(raw, ["tweet_no"]),
    )


def _with_ids(bundle: kit.Bundle, raw: pl.DataFrame) -> pl.DataFrame:
    """The tweets with their ids, by language, split and number. They are in separate files; later
    releases repeat and extend earlier ones.
    """
    key = ["short", "split", "tweet_no"]
    tables = [pl.DataFrame(schema=dict.fromkeys(("tweet_no", "tweet_id", *key[:2]), pl.String))]
    for short, language in SHORT.items():
        for split in ("train", "dev", "test"):
            ending = "test_input_ids" if split == "test" else f"{split}_ids"
            # the latest release first
            for name in reversed(bundle.match(f"*{language}_{ending}.tsv")):
                ids = _table(bundle, name).pick(["tweet_no", "tweet_id"])
                tables.append(ids.with_columns(short=pl.lit(short), split=pl.lit(split)))
    ids = pl.concat(tables).unique(key, keep="first", maintain_order=True)
    joined = raw.join(ids, on=key, how="left", maintain_order="left")
    return joined.with_columns(id=pl.format("nlp4if-2021-{}-{}-{}", *key))


def _table(bundle: kit.Bundle, name: str) -> kit.Table:
    """Quotation marks are part of the tweets."""
    return kit.Table.read(bundle, name, delimiter="\t", quoted=False)


def _answers(raw: pl.DataFrame, blank: str, grain: str = "") -> pl.DataFrame:
    """The answers; `blank` is a question that was not put or not settled."""
    questions = {column: question + grain for column, question in QUESTIONS.items()}
    return kit.answers(raw, questions, annotator="aggregate", blank=[blank])
