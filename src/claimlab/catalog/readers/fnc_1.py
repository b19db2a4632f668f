"""FNC-1: headlines and article bodies with the stance of one towards the other."""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, meta_column, numbered

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


def articles(bundle: Bundle, stem: str) -> pl.DataFrame:
    raw = Table.read(bundle, bundle.one(f"{stem}_bodies.csv"))
    return raw.pick({"body_id": "Body ID", "body": "articleBody"}).with_columns(
        split=pl.lit(PARTS[stem])
    )
