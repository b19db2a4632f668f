"""NLP4IF-2021: tweets about Covid-19 in English, Arabic and Bulgarian, with answers to seven
questions.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Card,
    Entry,
    Loaded,
    Table,
    answers,
    both,
    meta_column,
    sent,
)

QUESTIONS = {f"q{n}_label": f"q{n}" for n in range(1, 8)}
LANGUAGES = {"ar": ("arabic", "ara"), "bg": ("bulgarian", "bul"), "en": ("english", "eng")}


def load(bundle: Bundle) -> Loaded:
    """Training and development tweets with the data added later, the fullest labelled version."""
    return read(bundle, "prepared_additional")


def load_first(bundle: Bundle) -> Loaded:
    """The tweets of the first release, before data were added for English and Arabic."""
    return read(bundle, "prepared")


def load_test(bundle: Bundle) -> Loaded:
    """The test tweets, which were published without answers."""
    parts = []
    for short, (long, _) in LANGUAGES.items():
        for name in bundle.match(f"*{long}*test_input.tsv")[:1]:
            parts.append(part(bundle, name, short, "test"))
    if not parts:
        bundle.one("*test_input.tsv")  # says what is missing
    return build(pl.concat(parts), bundle)


def read(bundle: Bundle, folder: str) -> Loaded:
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
        kind=pl.lit("post"),
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


VERDICTS = {"no": "true", "yes": "false", "nan": "unknown"}

DATASET = Entry(
    card=Card(
        name="nlp4if-2021",
        title="NLP4IF-2021",
        summary=(
            "Tweets about Covid-19 in English, Arabic and Bulgarian from a shared task, with"
            " people's answers on whether they make a claim, seem false, matter, do harm or need"
            " checking."
        ),
        size=3_172,
        modality=("claims",),
        topic="Covid-19",
        region="International",
        languages=("ara", "bul", "eng"),
        labelling="Crowd-sourced",
        licence=None,
        access=(
            "Clone the shared task's repository; the folders 'prepared' and 'prepared_additional'"
            " are made from it by the code of one of its participants (Panda and Levitan)."
        ),
        homepage="https://gitlab.com/NLP4IF/nlp4if-2021",
        citation=(
            "Shaar, Alam, Da San Martino, Nikolov, Zaghouani, Nakov and Feldman (2021), Findings of"
            " the NLP4IF-2021 Shared Tasks on Fighting the COVID-19 Infodemic and Censorship"
            " Detection, NLP4IF workshop."
        ),
        errata=(
            (
                "The guide's size and shares fit neither release: the labelled tweets are 7,328"
                " (60.70% no, 6.82% yes, 32.48% not answered), or 4,072 in the first release."
            ),
            "The label is how false a tweet appears to an annotator, not a fact-check.",
            (
                "Some texts keep their links, some have the word URL instead, and links are rarer"
                " in the tweets called false. Dozens of the English texts are mis-decoded."
            ),
            (
                "The MIT licence in the copy that circulates is of a participant's code; none is"
                " stated for the tweets."
            ),
            "The guide's Table 4 spells the name NLP4F-2021.",
        ),
    ),
    maps=both(VERDICTS),
    variants={"labelled": load, "first-release": load_first, "test": load_test},
    real_rows={"labelled": 7_328, "first-release": 4_072, "test": 1_775},
    real_labels={"no": 4_448, "nan": 2_380, "yes": 500},
)
