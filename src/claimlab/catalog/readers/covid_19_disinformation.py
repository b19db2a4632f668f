"""COVID-19 Disinformation: ids of tweets in four languages, with people's answers to seven
questions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from claimlab.catalog import kit

QUESTIONS = [f"q{n}_label" for n in range(1, 8)]
LANGUAGES = {"arabic": "ara", "bulgarian": "bul", "dutch": "nld", "english": "eng"}
NAME = re.compile(r"disinfo_([a-z]+)_(binary|multiclass)_(train|dev|test)\.tsv$", re.IGNORECASE)


def load(bundle: kit.Bundle) -> kit.Loaded:
    """The binary answers of each language, every labelled tweet once, with the fine answers beside
    them.
    """
    names = [n for n in files(bundle, ["binary"]) if "multilang" not in n.lower()]
    raw = pl.concat([read(bundle, n) for n in names])
    raw = raw.with_columns(
        id=kit.distinct("covid-19-disinformation-" + raw["raw_id"]), tweet_id=raw["raw_id"]
    )
    fine = {n: re.sub("binary", "multiclass", n, flags=re.IGNORECASE) for n in names}
    beside = [read(bundle, f) if f in bundle.names() else None for f in fine.values()]
    annotations = [annotated(raw, "")]
    if all(f is not None for f in beside):
        finer = pl.concat([f for f in beside if f is not None])
        # the two files of a split list the same tweets in the same order, which is the only key
        # that never repeats
        if finer["raw_id"].equals(raw["raw_id"]):
            annotations.append(annotated(finer.with_columns(raw["id"]), " (fine)"))
    return kit.Loaded(records(raw), {"annotations": pl.concat(annotations)})


def load_all_files(bundle: kit.Bundle) -> kit.Loaded:
    """All files concatenated, for protocols that read them so: each tweet occurs about four
    times.
    """
    raw = pl.concat([read(bundle, n) for n in files(bundle, ["binary", "multiclass"])])
    stem = raw["language_name"] + "-" + raw["answers"] + "-" + raw["raw_id"]
    single = raw.filter(pl.col("language_name") != "multilang")
    spoken = dict(
        zip(single["raw_id"], single["language_name"], strict=True)
    )  # the joint files do not say
    raw = raw.with_columns(
        id=kit.distinct("covid-19-disinformation-" + stem),
        tweet_id=raw["raw_id"],
        language_name=raw["raw_id"].replace_strict(spoken, default=None, return_dtype=pl.String),
    )
    return kit.Loaded(
        records(raw),
        notes=["The files repeat each other: tweets come several times. Split by group."],
    )


def files(bundle: kit.Bundle, kinds: Sequence[str]) -> list[str]:
    names = [n for n in bundle.match("*.tsv") if (m := NAME.search(n)) and m[2].lower() in kinds]
    if not names:
        bundle.one(f"*disinfo_*_{kinds[0]}_*.tsv")  # says what is missing
    return names


def read(bundle: kit.Bundle, name: str) -> pl.DataFrame:
    match = NAME.search(name)
    if match is None:
        raise kit.UnreadableFile(
            f"'{name}' does not say its language and split.",
            "Give the files under their own names.",
        )
    language, kind, split = (part.lower() for part in match.groups())
    raw = kit.Table.read(bundle, name, delimiter="\t", quoted=False).pick(["tweet_id", *QUESTIONS])
    constants = {"language_name": pl.lit(language), "answers": pl.lit(kind), "split": pl.lit(split)}
    return raw.rename({"tweet_id": "raw_id"}).with_columns(**constants)


def records(raw: pl.DataFrame) -> pl.DataFrame:
    return raw.select(
        *["id", "tweet_id", "split"],
        label_raw="q2_label",
        language=pl.col("language_name").replace_strict(LANGUAGES, default=None),
        **kit.sent(raw["raw_id"]),
        group="raw_id",  # 223 Arabic tweets come twice, 96 of them in two splits
        meta=kit.meta_column(raw, ["answers"]),
    )


def annotated(raw: pl.DataFrame, grain: str) -> pl.DataFrame:
    """The answers; "NA" is a question that was not put or not settled."""
    questions = {q: q.removesuffix("_label") + grain for q in QUESTIONS}
    return kit.answers(raw, questions, annotator="aggregate", blank=["NA"])
