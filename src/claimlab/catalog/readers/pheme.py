"""PHEME: tweets of nine breaking-news events, rumour or not, and what became of each rumour."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog import kit
from claimlab.core.types import JsonObject

SUFFIX = "-all-rnr-threads"


def load_threads(bundle: kit.Bundle) -> kit.Loaded:
    """The CSV of all threads (texts stripped of links and signs), with event and veracity from the
    rumour files.

    The texts of the CSV are kept even where the rumour files have the original: only rumours have
    it, so mixing the two would give the class away.
    """
    needed = {
        "index": "index",
        "tweet_id": "tweetID",
        "text": "text",
        "rumour": ("rumour", "rumor"),
    }
    rows = kit.Table.read(bundle, bundle.one("*pheme*.csv", "*.csv")).pick(
        needed, {"mbib_label": "label"}
    )
    known = {str(t["id"]): (event, t.get("VERACITY")) for event, t in _rumour_tweets(bundle)}
    rumour = (rows["rumour"] == "1").to_list()
    labels = [
        _label(r, known.get(i, ("", None))[1])
        for i, r in zip(rows["tweet_id"], rumour, strict=True)
    ]
    events = _events(rows, {i: event for i, (event, _) in known.items()})
    records = rows.select(
        *["tweet_id", "text"],
        id="pheme-" + pl.col("tweet_id"),
        label_raw=pl.Series(labels, dtype=pl.String),
        **kit.sent(rows["tweet_id"]),
        group=pl.Series(events, dtype=pl.String),
        meta=kit.meta_column(rows, ["mbib_label"]),
    )
    return kit.Loaded(records)


def load_rumours(bundle: kit.Bundle) -> kit.Loaded:
    """The rumours alone, with their original texts: one JSON list of tweets per event, `VERACITY`
    added to each.
    """
    tweets = _rumour_tweets(bundle)
    if not tweets:
        bundle.one("*.rumours.json")  # says what is missing
    rows = [_row(tweet, event, _label(True, tweet.get("VERACITY"))) for event, tweet in tweets]
    return kit.Loaded(kit.record_rows(rows))


def load_release(bundle: kit.Bundle) -> kit.Loaded:
    """The authors' own layout: EVENT/rumours|non-rumours/THREAD/source-tweets/ID.json with
    annotation.json beside.
    """
    rows = []
    for name in bundle.match("*rumours/*/source-tweet*/*.json"):
        parts = PurePosixPath(name).parts
        thread, kind, event = parts[-3], parts[-4], parts[-5]
        tweet = kit.read_json_as(bundle.text(name), name, dict)
        note = f"{PurePosixPath(*parts[:-2]).as_posix()}/annotation.json"
        marks = kit.read_json_as(bundle.text(note), note, dict) if note in bundle.names() else {}
        label = _label(kind == "rumours", _veracity(marks))
        more = {
            "category": marks.get("category"),
            "is_turnaround": marks.get("is_turnaround"),
            "thread": thread,
        }
        rows.append(_row(tweet, event.removesuffix(SUFFIX), label, more))
    if not rows:
        bundle.one("*rumours/*/source-tweet*/*.json")
    return kit.Loaded(kit.record_rows(rows))


def _rumour_tweets(bundle: kit.Bundle) -> list[tuple[str, JsonObject]]:
    """(event, tweet) of every `EVENT-all-rnr-threads.rumours.json`."""
    tweets = []
    for name in bundle.match("*.rumours.json"):
        event = PurePosixPath(name).name.removesuffix(".rumours.json").removesuffix(SUFFIX)
        tweets += [(event, tweet) for tweet in kit.read_objects(bundle, name, ["id"])]
    return tweets


def _events(rows: pl.DataFrame, known: Mapping[str, str]) -> list[str | None]:
    """The event of each row. Rumours say theirs; the CSV lists each event's non-rumours just before
    its rumours.

    A block ends where the running number `index` starts again.
    """
    events: list[str | None] = [known.get(i) for i in rows["tweet_id"]]
    starts = [n for n, index in enumerate(rows["index"]) if index == "0"]
    blocks = list(zip(starts, [*starts[1:], rows.height], strict=True))
    for (start, end), (following, _) in pairwise(blocks):
        if (
            not any(events[start:end])
            and rows["rumour"][start] == "0"
            and rows["rumour"][following] == "1"
        ):
            events[start:end] = [events[following]] * (end - start)
    return events


def _label(rumour: bool, veracity: str | None) -> str:
    return (veracity or "rumour") if rumour else "non-rumour"


def _veracity(marks: JsonObject) -> str | None:
    """true | false | unverified from the two marks of annotation.json; null where they contradict
    or are absent.
    """
    wrong, right = str(marks.get("misinformation", "")), str(marks.get("true", "0"))
    if wrong == "1" and right == "1":
        return None
    return {"1": "false", "0": "true" if right == "1" else "unverified"}.get(wrong)


def _row(tweet: JsonObject, event: str, label: str, more: JsonObject | None = None) -> JsonObject:
    user, when = tweet.get("user") or {}, kit.moment(tweet.get("created_at") or "")
    counts = {"retweets": tweet.get("retweet_count"), "favourites": tweet.get("favorite_count")}
    return {
        "id": f"pheme-{tweet['id']}",
        "text": tweet.get("text"),
        "label_raw": label,
        "language": "eng" if tweet.get("lang") in ("en", None) else None,
        "date": when,
        "date_source": "date column" if when else None,
        "tweet_id": str(tweet["id"]),
        "author": user.get("screen_name"),
        "group": event,
        "meta": kit.meta_json({**counts, "verified": user.get("verified"), **(more or {})}),
    }
