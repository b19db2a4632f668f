"""A loader for a dataset that is one table: which file, and which of its columns is what."""

from __future__ import annotations

from collections.abc import Sequence

from claimlab.catalog.columns import languages, post_or_id
from claimlab.catalog.entry import Loaded, Loader
from claimlab.catalog.ids import unique_ids
from claimlab.catalog.table import Names, Table
from claimlab.catalog.times import dated
from claimlab.core.settings import each_of
from claimlab.files.bundle import Bundle
from claimlab.text.snowflake import tweet_time

Spelt = str | Sequence[str]  # a column, under any of the names it has in copies


def one_table(
    name: str,
    about: str,
    *,
    files: Sequence[str],
    label: Spelt,
    text: Spelt = (),
    otherwise: Spelt = (),
    id: Spelt = (),
    kind: str = "claim",
    language: Spelt = (),
    date: Spelt = (),
    formats: Sequence[str] = (),
    tweet_id: Spelt = (),
    author: Spelt = (),
    source: Spelt = (),
    url: Spelt = (),
    topic: Spelt = (),
    meta: Names = (),
    western: bool = False,
) -> Loader:
    """Dataset `name` from the first of `files` (globs, the best first); `about` says what the
    variant reads.

    A text that is missing is taken from the column `otherwise`, a date without a column from the
    tweet id. Labels that a spreadsheet made floats ("1.0") are whole numbers again; `formats` are
    those of the dates, for `strptime`.
    """

    def load(bundle: Bundle) -> Loaded:
        raw = Table.read(bundle, bundle.one(*files), western=western)
        texts = (
            raw.need(*each_of(text)).fill_null(raw.maybe(*each_of(otherwise)))
            if text
            else raw.maybe()
        )
        times = {f"{each_of(date)[0]} column": raw.maybe(*each_of(date))} if date else {}
        tweets = raw.need(*each_of(tweet_id)) if tweet_id else raw.maybe()
        records = raw.frame.select(
            **{"id": unique_ids(name, raw.maybe(*each_of(id)))} if id else {},
            text=texts,
            kind=post_or_id(texts).replace("post", kind),
            label_raw=raw.need(*each_of(label)).str.strip_suffix(".0"),
            **({"language": languages(raw.maybe(*each_of(language)))} if language else {}),
            **dated({**times, "snowflake id": tweet_time(tweets)}, *formats),
            tweet_id=tweets,
            author=raw.maybe(*each_of(author)),
            source=raw.maybe(*each_of(source)),
            url=raw.maybe(*each_of(url)),
            topic=raw.maybe(*each_of(topic)),
            **({"meta": raw.meta(meta)} if meta else {}),
        )
        return Loaded(records)

    load.__doc__ = about
    return load
