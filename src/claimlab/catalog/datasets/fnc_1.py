"""FNC-1: headlines and article bodies with the stance of one towards the other."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Card, Entry, Loaded, Table, meta_column, numbered

PARTS = {"train": "train", "competition_test": "test"}


def stances(bundle: Bundle) -> Loaded:
    """One record per (headline, body) pair: the headline is the text, the body its evidence with a
    stance.

    `label_raw` is the stance. It says nothing of truth, so `veracity` stays null. Many pairs share
    a body: they form a group.
    """
    pairs, notes = [], []
    for stem, split in PARTS.items():
        names = bundle.match(f"{stem}_stances.csv")
        if names:
            raw = Table.read(bundle, names[0]).pick(
                {"body_id": "Body ID", "text": "Headline", "stance": "Stance"}
            )
            pairs.append(
                raw.join(articles(bundle, stem), on="body_id", how="left", maintain_order="left")
            )
        elif bundle.match(f"{stem}_bodies.csv"):
            notes.append(
                f"{stem}_stances.csv is not among these files, so the {split} bodies have no"
                " headline or stance."
            )
    if not pairs:
        bundle.one("*_stances.csv")  # raises, and says what is there
    raw = pl.concat(pairs)
    group = pl.format("{}-body-{}", "split", "body_id")
    records = raw.select(
        numbered("fnc-1", raw.height),
        *["text", "split"],
        kind=pl.lit("claim"),
        label_raw="stance",
        group=group,
        meta=meta_column(raw, ["stance", "body_id"]),
    )
    evidence = raw.select(
        "stance",
        record_id=records["id"],
        evidence_id=group,
        rank=pl.lit(1),
        text="body",
        provider=pl.lit("bodies file"),
    )
    return Loaded(records, {"evidence": evidence}, notes)


def bodies(bundle: Bundle) -> Loaded:
    """The article bodies alone, without labels."""
    parts = [articles(bundle, stem) for stem in PARTS if bundle.match(f"{stem}_bodies.csv")]
    if not parts:
        bundle.one("*_bodies.csv")
    records = pl.concat(parts).select(
        "split",
        id=pl.format("fnc-1-{}-body-{}", "split", "body_id"),
        text="body",
        kind=pl.lit("article"),
    )
    return Loaded(records)


def articles(bundle: Bundle, stem: str) -> pl.DataFrame:
    raw = Table.read(bundle, bundle.one(f"{stem}_bodies.csv"))
    return raw.pick({"body_id": "Body ID", "body": "articleBody"}).with_columns(
        split=pl.lit(PARTS[stem])
    )


DATASET = Entry(
    card=Card(
        name="fnc-1",
        title="FNC-1",
        summary=(
            "Pairs of a headline and an article body, labelled by whether the body agrees with,"
            " disagrees with, discusses or has nothing to do with the headline; a stance task, not"
            " a veracity one."
        ),
        size=49_972,
        modality=("articles",),
        topic="Various",
        languages=("eng",),
        labelling="Human (stances from a rumour corpus; unrelated pairs made at random)",
        access="Clone or download the challenge's GitHub repository.",
        homepage="https://github.com/FakeNewsChallenge/fnc-1",
        citation=(
            "Pomerleau and Rao (2017), The Fake News Challenge: Exploring How Artificial"
            " Intelligence Technologies Could Be Leveraged to Combat Fake News,"
            " fakenewschallenge.org."
        ),
        errata=(
            (
                "The labels are stances: no veracity can be read from them, though the set is"
                " listed with misinformation data."
            ),
            (
                "The files at hand lack train_stances.csv: 25,413 test pairs are whole (every body"
                " is there), the 1,683 training bodies have no pairs."
            ),
            "72% of the test pairs are 'unrelated', which shared words alone give away.",
            "10 article texts occur in both the training and the test bodies, with different ids.",
        ),
        has_evidence=True,
    ),
    variants={"stances": stances, "bodies": bodies},
    real_rows={"stances": 25_413, "bodies": 2_587},
    real_labels={"unrelated": 18_349, "discuss": 4_464, "agree": 1_903, "disagree": 697},
)
