"""Counter-covid-19-misinformation: tweets on fake cures and 5G that spread misinformation, counter
it, or do neither.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.catalog import kit

TABLES = ("*.csv", "*.tsv", "*.xlsx")
NUMBERS = {
    "0": "misinformation",
    "1": "counter-misinformation",
    "2": "irrelevant",
}  # as the authors' classifier numbers them


def load(bundle: kit.Bundle) -> kit.Loaded:
    """The tweets that people annotated: the files whose name says so, or else those with a label
    column.
    """
    named = [n for n in bundle.match(*TABLES) if "annot" in n.lower() or "label" in n.lower()]
    return _load(bundle, named or bundle.match(*TABLES), labelled=True)


def load_all(bundle: kit.Bundle) -> kit.Loaded:
    """Every tweet of the collection; those without annotation have no label."""
    return _load(bundle, bundle.match(*TABLES), labelled=False)


def _load(bundle: kit.Bundle, names: Sequence[str], *, labelled: bool) -> kit.Loaded:
    parts = [_part(bundle, name) for name in names]
    frames = [p.drop_nulls("label_raw") if labelled else p for p in parts]
    if not any(p.height for p in frames):
        raise kit.UnreadableFile(
            f"'{bundle.path.name}' holds no {'annotated ' if labelled else ''}tweets.",
            "Give the folder 'data' of the repository COVID-Counter-Misinformation.",
        )
    rows = pl.concat(frames).sort(pl.col("label_raw").is_null(), maintain_order=True)
    # an annotated tweet is in the whole set again: it counts once, with its label
    once = rows.filter(pl.col("tweet_id").is_null() | pl.col("tweet_id").is_first_distinct())
    again = rows.height - once.height
    notes = (
        [f"{again:,} of {rows.height:,} rows repeat a tweet id and were left out."] if again else []
    )
    return kit.Loaded(
        once.with_columns(kit.unique_ids("counter-covid-19-misinformation", once["tweet_id"])),
        notes=notes,
    )


def _part(bundle: kit.Bundle, name: str) -> pl.DataFrame:
    raw, lower = kit.Table.read(bundle, name), name.lower()
    ids = kit.tweet_ids(raw.need("Tweet ID", "id", "id_str", "status_id"))
    text = raw.maybe("Text", "tweet", "full_text")
    topic = "5G" if "5g" in lower or "g5" in lower else "fake cures" if "cure" in lower else None
    # the authors state the code in the column's name: "label (0:misinformation, 1:
    # counter-misinformation, ...)"
    coded = next((c for c in raw.frame.columns if c.lower().startswith("label")), "label")
    label = raw.maybe(coded, "annotation", "class", "category_label")
    return raw.frame.select(
        text=text,
        kind=kit.post_or_id(text),
        label_raw=label.str.strip_suffix(".0").replace(NUMBERS),
        **kit.sent(ids),
        tweet_id=ids,
        topic=raw.maybe("topic").fill_null(topic) if topic else raw.maybe("topic"),
    )
