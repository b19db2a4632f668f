"""MediaEval "Verifying Multimedia Use" (2015, 2016): posts that share an image or video of an
event, real or fake.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.catalog import kit
from claimlab.core.words import several, verb

LABELS = ("real", "fake", "humor", "humour")
# "sandyA_fake_46" and "attacks_paris_1" without their tails
FULL_NAME = r"[_ ]*(?:(?:fake|real|reals|fakes)[_ ]*)?\d*$"


def load_all(bundle: kit.Bundle) -> kit.Loaded:
    """Both editions concatenated. 2016 was built on 2015, so posts repeat, also across train and
    test.
    """
    loaded = load(bundle, ["2015", "2016"])
    again = loaded.records.filter(
        pl.col("tweet_id").is_duplicated() & pl.col("tweet_id").is_not_null()
    ).height
    return kit.Loaded(
        loaded.records,
        notes=[f"{again:,} rows share their tweet with another row: the editions overlap."],
    )


def load_images(bundle: kit.Bundle) -> kit.Loaded:
    """`tweets_images.txt`: tweet ids with their images and event, no texts. A tweet with several
    images has several columns of them, so a row is read from both ends."""
    name = bundle.one("tweets_images.txt")
    lines = [line.split("\t") for line in bundle.text(name).splitlines()[1:] if line.strip()]
    whole = [c[-2].strip() in LABELS for c in lines]  # two lines break off before the label
    rows = [
        (c[0], *((",".join(c[1:-2]), *c[-2:]) if w else (",".join(c[1:]), None, None)))
        for c, w in zip(lines, whole, strict=True)
    ]
    schema = dict.fromkeys(("number", "image", "label_raw", "group"), pl.String)
    raw = pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.all().str.strip_chars())
    broken = whole.count(False)
    records = raw.select(
        "label_raw",
        "group",
        id=kit.unique_ids("mediaeval-images", raw["number"]),
        **kit.sent(raw["number"]),
        tweet_id="number",
        meta=kit.meta_column(raw, ["image"]),
    )
    return kit.Loaded(
        records,
        notes=(
            [
                f"{several(broken, 'line')} of '{name}' {verb(broken, 'breaks', 'break')} off"
                " before the label."
            ]
            if broken
            else []
        ),
    )


def load(bundle: kit.Bundle, editions: Sequence[str]) -> kit.Loaded:
    """Tab-separated files with a header and no quoting; the columns changed their names between the
    editions.
    """
    frames = []
    parts = [p for p in kit.lists_of("mediaeval")["parts"] if p["edition"] in editions]
    for part in parts:
        for name in kit.first_matched(bundle, part["files"])[:1]:
            frames.append(_part(bundle, name, part["edition"], part["split"]))
    if not frames:
        raise kit.UnreadableFile(
            f"'{bundle.path.name}' holds none of: {', '.join(p['files'][0] for p in parts)}.",
            "Give the repository image-verification-corpus as published.",
        )
    return kit.Loaded(pl.concat(frames))


def _part(bundle: kit.Bundle, name: str, edition: str, split: str) -> pl.DataFrame:
    raw = kit.Table.read(bundle, name, delimiter="\t", quoted=False)
    number = raw.need("tweetId", "post_id")
    extra = raw.pick((), {"image": ("imageId(s)", "imageId")}).with_columns(edition=pl.lit(edition))
    first_image = extra["image"].str.split(",").list.first().str.strip_chars()
    return raw.frame.select(
        id=kit.unique_ids(f"mediaeval-{edition}-{split}", number),
        text=kit.blank_to_null(
            raw.need("tweetText", "post_text", "text").str.replace_all(r"\n", "\n", literal=True)
        ),
        label_raw=raw.maybe("label"),
        **kit.dated(
            {"date column": raw.maybe("timestamp"), "snowflake id": kit.tweet_time(number)}
        ),
        tweet_id=number,
        author=raw.maybe("username"),
        group=kit.blank_to_null(first_image.str.replace(FULL_NAME, "")),
        split=pl.lit(split),
        meta=kit.meta_column(extra, ["image", "edition"]),
    )
