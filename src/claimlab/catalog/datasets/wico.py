"""WICO Text (MediaEval 2020 FakeNews): tweet ids about 5G and other corona conspiracies."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, both, read_json_as, sent

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
        kind=pl.lit("id-only"),
        label_raw=pl.lit(label, pl.String),
        **sent(ids),
        split=pl.lit("train" if label else "test"),
    )


LABELS = {
    "5g_corona_conspiracy": "false",
    "other_conspiracy": "false",
    "non_conspiracy": "true",
    "undecidable": "unknown",
}

DATASET = Entry(
    card=Card(
        name="wico",
        title="WICO Text",
        summary=(
            "Tweets with corona keywords: promoting the 5G conspiracy, another conspiracy, or none."
            " Published as ids only."
        ),
        size=364_325,
        modality=("claims", "tweets"),
        topic="Covid-19",
        languages=("eng",),
        time_start="2020-01-17",
        time_end="2021-06-30",
        labelling="Human expert",
        access=(
            "Tweet ids were given to participants of MediaEval 2020 FakeNews and circulate in their"
            " repositories; the texts must be fetched from the platform."
        ),
        homepage="https://multimediaeval.github.io/editions/2020/tasks/fakenews/",
        citation=(
            "Pogorelov, Schroeder, Filkuková, Brenner and Langguth (2021), WICO Text: A Labeled"
            " Dataset of Conspiracy Theory and 5G-Corona Misinformation Tweets, Workshop on Open"
            " Challenges in Online Social Networks."
        ),
        errata=(
            (
                "Of the 364,325 tweets about 10,000 are labelled; the ids at hand are the 6,458"
                " labelled development ids of MediaEval 2020, and the published label shares are"
                " theirs."
            ),
            (
                "The published period does not fit these ids: their own time stamps run from"
                " 2012-11-06 to 2020-05-08, and 219 of the labelled tweets are older than"
                " 2020-01-17."
            ),
            (
                "'non_conspiracy' means that a tweet promotes no conspiracy. The guide counts it as"
                " true; its facts were not checked."
            ),
        ),
    ),
    maps=both(LABELS),
    variants={"labelled": load_labelled, "all": load_all},
    real_rows={"labelled": 6_458, "all": 9_688},
    real_labels={"non_conspiracy": 4_412, "5g_corona_conspiracy": 1_261, "other_conspiracy": 785},
)
