"""BLUFF: false and synthetic content in many languages. The reader is the package
claimlab.catalog.bluff.
"""

from __future__ import annotations

from claimlab.catalog.bluff.reader import read, read_seeds
from claimlab.catalog.bluff.tongues import declared
from claimlab.catalog.bluff.verdicts import RATINGS, STRICT
from claimlab.catalog.kit import Bundle, Card, Entry, Loaded


def per_field(bundle: Bundle) -> Loaded:
    return read(bundle, rule="per-field")


def per_sample(bundle: Bundle) -> Loaded:
    return read(bundle, rule="per-sample")


def standard_verdicts(bundle: Bundle) -> Loaded:
    """The metadata's fake_news and real_news instead of the fact-checkers' own verdicts."""
    return read(bundle, verdict="standard")


def generated(bundle: Bundle) -> Loaded:
    return read(bundle, sources=("generated",))


def human(bundle: Bundle) -> Loaded:
    return read(bundle, sources=("human",))


def raw_human(bundle: Bundle) -> Loaded:
    """The articles as they were collected, with dates and addresses."""
    return read(bundle, sources=("raw-human",))


DATASET = Entry(
    card=Card(
        name="bluff",
        title="BLUFF",
        summary=(
            "Fact-checkers' articles and news rewritten, falsified and translated by 19 language"
            " models, as articles and posts, each in its language and in English."
        ),
        size=201_279,
        modality=("articles", "posts", "generated"),
        topic="Various",
        region="International",
        languages=tuple(sorted(declared()["card"])),
        language_count=78,
        labelling="Human expert (fact-checkers' verdicts); generated texts by construction",
        licence="CC BY-NC-SA 4.0 (code: MIT)",
        access="Hugging Face hub: jsl5710/BLUFF (about 3.9 GB); the test lists are withheld.",
        homepage="https://github.com/jsl5710/BLUFF",
        citation=(
            "Lucas, Murtagh-White, Uchendu, Al-Lawati, Yamashita, Macko, Srba, Moro and Lee, BLUFF:"
            " Benchmarking in Low-resoUrce Languages for detecting Falsehoods and Fake news (under"
            " review)."
        ),
        errata=(
            "Read from the data card and the public repository; not tested on the published files.",
            (
                "Three language lists: 78 in the card, 76 in the experiment notes, 71 codes"
                " (Persian twice) in the scripts; 59 languages are in all three. Any ISO 639 code"
                " is read, and what was found is reported against each list."
            ),
            (
                "Authorship is one flag per sample in the card (variant 'per-sample') and one per"
                " text in the experiment notes (variant 'per-field', the default, where even a"
                " human sample's post counts as machine-made)."
            ),
            (
                "Degrees are minor, moderate, critical in the card, other words in the scripts, the"
                " notes and the datasheet; all are read as those three."
            ),
            (
                "Two lists of 36 techniques: keys are read by the one of the generation scripts."
                " The keys 37 to 39 are not named alike anywhere, and are kept as numbers."
            ),
            (
                "The text of a human sample is a fact-checker's article ABOUT a claim; its verdict"
                " is that of the claim."
            ),
            (
                "The resource class comes from the metadata; the lists of 20 'big-head' languages"
                " in the card and in the notes differ."
            ),
            (
                "Cross-lingual lists leave one group out in the card, and train on one group in the"
                " notes; the lists are read as they are. The card counts 12 families; its 78"
                " languages form 14."
            ),
            (
                "The size is 122,836 human and 78,443 generated samples, up to four texts each; the"
                " repository also gives 79,559 generated ones and 79 languages."
            ),
        ),
    ),
    maps={"strict": STRICT, "ratings": RATINGS},
    variants={
        "per-field": per_field,
        "per-sample": per_sample,
        "standard-verdicts": standard_verdicts,
        "generated": generated,
        "human": human,
        "raw-human": raw_human,
        "seeds": read_seeds,
    },
)
