"""WICO Text (MediaEval 2020 FakeNews): tweet ids about 5G and other corona conspiracies."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, read_json_as, sent

FILES = {
    "5g_corona_conspiracy": ("5g*conspiracy_ids.json",),
    "other_conspiracy": ("other*conspiracy_ids.json",),
    "non_conspiracy": ("non*conspiracy_ids.json",),
}
TEST = ("test_tweet*ids.json", "test*ids.json")


def load_labelled(bundle: Bundle) -> Loaded:
    """The development ids: one JSON list of ids per class, the class being the file's name."""
    return Loaded(pl.concat(_records(bundle, patterns, label) for label, patterns in FILES.items()))


def load_all(bundle: Bundle) -> Loaded:
    """The development ids, then the unlabelled ids of the task's test part."""
    labelled = load_labelled(bundle).records
    return Loaded(pl.concat([labelled, _records(bundle, TEST, None)]))


def _records(bundle: Bundle, patterns: tuple[str, ...], label: str | None) -> pl.DataFrame:
    name = bundle.one(*patterns)
    ids = pl.Series(
        "tweet_id", [str(i) for i in read_json_as(bundle.text(name), name, list)], dtype=pl.String
    )
    return pl.DataFrame(ids).select(
        "tweet_id",
        id="wico-" + ids,
        label_raw=pl.lit(label, pl.String),
        **sent(ids),
        split=pl.lit("train" if label else "test"),
    )
