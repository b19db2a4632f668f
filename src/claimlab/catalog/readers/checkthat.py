"""CheckThat! 2022, task 1: is a tweet worth checking, and does it hold a verifiable claim?"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, members, normalise, sent

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
