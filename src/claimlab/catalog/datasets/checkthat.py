"""CheckThat! 2022, task 1: is a tweet worth checking, and does it hold a verifiable claim?"""

from __future__ import annotations

import re
from functools import partial
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, members, normalise, sent

SPLITS = {
    "train": "train",
    "dev": "dev",
    "dev_test": "dev-test",
    "test": "test",
    "test_gold": "test",
}


def load(bundle: Bundle, task: str) -> Loaded:
    """Every file CT22_LANGUAGE_TASK_PART.tsv; a test file without labels is left out where its gold
    twin is there.

    The labels say what to check, not what is true, so `veracity` stays null.
    """
    names = members(bundle, f"CT22_*_{task}_*.tsv")
    stems = {PurePosixPath(name).stem for name in names}
    parts = [pl.DataFrame()]
    for name in names:
        stem = PurePosixPath(name).stem
        match = re.match(r"CT22_([a-z]+)_1[A-D]_[a-z]+_(.+)$", stem)
        if match is None or f"{stem}_gold" in stems:
            continue
        raw = Table.read(bundle, name, delimiter="\t")
        parts.append(
            raw.frame.select(
                text=raw.need("tweet_text"),
                kind=pl.lit("post"),
                label_raw=raw.maybe(
                    "class_label", "check_worthiness"
                ),  # the Turkish files name it otherwise
                language=pl.lit(normalise(match[1]), pl.String),
                **sent(raw.need("tweet_id")),
                tweet_id=raw.need("tweet_id"),
                url=raw.need("tweet_url"),
                topic=raw.need("topic", "topic_id"),
                split=pl.lit(SPLITS.get(match[2]), pl.String),
            )
        )
    return Loaded(pl.concat(parts, how="diagonal"))


DATASET = Entry(
    card=Card(
        name="checkthat",
        title="CheckThat! 2022 task 1",
        summary=(
            "Tweets about the pandemic and politics in six languages: worth checking or not,"
            " holding a verifiable claim or not, harmful or not, and worth the attention of policy"
            " makers."
        ),
        size=None,
        modality=("tweets",),
        topic="Covid-19 and politics",
        region="International",
        languages=("ara", "bul", "nld", "eng", "spa", "tur"),
        language_count=6,
        labelling="Human",
        access=(
            "Clone or download the lab's GitLab repository; the zips inside it are read as they"
            " are."
        ),
        homepage="https://gitlab.com/checkthat_lab/clef2022-checkthat-lab/clef2022-checkthat-lab",
        citation=(
            "Nakov, Barrón-Cedeño, Da San Martino, Alam, Míguez, Caselli, Kutlu, Zaghouani, Li,"
            " Shaar, Mubarak, Nikolov and Kartal (2022), Overview of the CLEF-2022 CheckThat! Lab"
            " Task 1 on Identifying Relevant Claims in Tweets, CLEF."
        ),
        errata=(
            "The labels say check-worthy or not: nothing about truth.",
            "The description says yes and no; the files write 1 and 0 (1D: words).",
            (
                "The Turkish files of the first release have other names for two columns (topic_id,"
                " check_worthiness)."
            ),
            "The test files are published without labels.",
        ),
    ),
    variants={
        "check-worthy": partial(load, task="1A_checkworthy"),
        "claim": partial(load, task="1B_claim"),
        "harmful": partial(load, task="1C_harmful"),
        "attention": partial(load, task="1D_attentionworthy"),
    },
    real_rows={"check-worthy": 15373, "claim": 8816, "harmful": 8807, "attention": 8804},
    real_labels={"0": 9887, "1": 3556},
)
