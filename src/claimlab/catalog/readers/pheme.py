"""PHEME: tweets of nine breaking-news events, rumour or not, and what became of each rumour."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog import kit
from claimlab.core.types import JsonObject

SUFFIX = "-all-rnr-threads"
PARTS = ("annotation.json", "structure.json", "source-tweet*/*.json")


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
    rumours = {str(t["id"]): (event, t.get("VERACITY")) for event, t in _rumour_tweets(bundle)}
    rumour = (rows["rumour"] == "1").to_list()
    labels = [
        _label(r, rumours.get(i, ("", None))[1])
        for i, r in zip(rows["tweet_id"], rumour, strict=True)
    ]
    events = _events(rows, {i: event for i, (event, _) in rumours.items()})
    records = rows.select(
        *["tweet_id", "text"],
        id="pheme-" + pl.col("tweet_id"),
        label_raw=kit.as_text(labels),
        **kit.sent(rows["tweet_id"]),
        group=kit.as_text(events),
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
    """The authors' own layout, a folder for each thread: EVENT/rumours|non-rumours/THREAD with the
    source tweet, annotation.json and structure.json (who replied to whom). Copies without the
    tweets have ids and cascades.
    """
    files = bundle.match(*(f"*rumours/*/{name}" for name in PARTS))
    if not files:
        bundle.one("*rumours/*/source-tweet*/*.json")
    rows, edges = [], []
    for path, parts in _threads(files).items():
        marks, structure = (
            _object(bundle, parts[part]) if part in parts else {}
            for part in ("annotation", "structure")
        )
        tweet = {"id": path.name}
        if "tweet" in parts:
            tweet = kit.read_json_as(bundle.text(parts["tweet"]), parts["tweet"], dict)
        label = _label(path.parent.name == "rumours", _veracity(marks))
        more = {
            "category": marks.get("category"),
            "is_turnaround": marks.get("is_turnaround"),
            "thread": path.name,
        }
        row = _row(tweet, path.parent.parent.name.removesuffix(SUFFIX), label, more)
        rows.append(row)
        edges += [(row["id"], *edge) for edge in _replies(structure)]
    records = kit.record_rows(rows)
    when = kit.sent(records["tweet_id"])
    unseen = pl.col("text").is_null()
    records = records.with_columns(
        pl.when(unseen).then(when[name]).otherwise(name).alias(name)
        for name in ("date", "date_source")
    ).with_columns(kit.post_or_id(records["text"]))
    if not edges:
        return kit.Loaded(records)
    table, note = kit.cascades(_with_delays(edges))
    return kit.Loaded(records, {"cascade": table}, [note])


def _threads(files: Sequence[str]) -> dict[PurePosixPath, dict[str, str]]:
    """The files of each thread, by what they are: "tweet", "annotation", "structure"."""
    threads: dict[PurePosixPath, dict[str, str]] = {}
    for name in files:
        path = PurePosixPath(name)
        part = "tweet" if path.parent.name.startswith("source-tweet") else path.stem
        thread = path.parent.parent if part == "tweet" else path.parent
        threads.setdefault(thread, {})[part] = name
    return threads


def _object(bundle: kit.Bundle, name: str) -> JsonObject:
    """A JSON object; one of the published files has typographic quotation marks around its
    keys.
    """
    text = bundle.text(name)
    if name.endswith("structure.json"):
        text = re.sub("[\u201c\u201d]", '"', text)
    return kit.read_json_as(text, name, dict)


def _replies(structure: JsonObject) -> list[tuple[str | None, str]]:
    """(parent, child) of every tweet of a thread; a leaf is an empty list."""
    edges = []
    left: list[tuple[str | None, JsonObject]] = [(None, structure)]
    while left:
        parent, children = left.pop()
        if isinstance(children, dict):
            edges += [(parent, child) for child in children]
            left += list(children.items())
    return edges


def _with_delays(edges: list[tuple[str, str | None, str]]) -> pl.DataFrame:
    """Tweet ids say when they were written."""
    schema = dict.fromkeys(("record_id", "parent", "child"), pl.String)
    table = pl.DataFrame(edges, schema, orient="row")
    since = pl.col("child") - pl.col("child").first().over("record_id")
    times = table.with_columns(kit.tweet_time(table["child"]))
    delays = times.select(delay=since.dt.total_milliseconds() / 60_000)
    return table.with_columns(delays["delay"])


def _rumour_tweets(bundle: kit.Bundle) -> list[tuple[str, JsonObject]]:
    """(event, tweet) of every `EVENT-all-rnr-threads.rumours.json`."""
    tweets = []
    for name in bundle.match("*.rumours.json"):
        event = PurePosixPath(name).name.removesuffix(".rumours.json").removesuffix(SUFFIX)
        tweets += [(event, tweet) for tweet in kit.read_objects(bundle, name, ["id"])]
    return tweets


def _events(rows: pl.DataFrame, event_of: Mapping[str, str]) -> list[str | None]:
    """The event of each row. Rumours say theirs; the CSV lists each event's non-rumours just before
    its rumours.

    A block ends where the running number `index` starts again.
    """
    events: list[str | None] = [event_of.get(i) for i in rows["tweet_id"]]
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
