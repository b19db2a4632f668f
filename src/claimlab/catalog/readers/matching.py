"""Matching sets: posts or sentences, and the fact-checks that answer them. Each has two variants:
the queries, with the side table `qrels`, and the archive, whose ids `qrels` names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Literal

import polars as pl

from claimlab.catalog import kit

Part = Literal["queries", "archive"]
Pair = tuple[str, str]
RUN_OF_TREC = ("query", "iteration", "document", "relevance")


def _queries(records: pl.DataFrame, pairs: Iterable[Pair]) -> kit.Loaded:
    """Queries with their answers; queries that share an answer are a group."""
    rows = [{"record_id": q, "document": d, "relevance": 1} for q, d in dict.fromkeys(pairs)]
    qrels = kit.side_rows("qrels", rows)
    first = qrels.unique("record_id", keep="first", maintain_order=True)
    groups = records.join(first, left_on="id", right_on="record_id", how="left")["document"]
    return kit.Loaded(records.with_columns(group=groups), {"qrels": qrels})


def _archive(ids: pl.Series, claims: pl.Series, titles: pl.Series, **more: pl.Series) -> kit.Loaded:
    """Fact-checked claims; the headline of the check is in front, because queries resemble both."""
    text = kit.title_and_body(titles, claims)
    return kit.Loaded(pl.DataFrame({"id": ids, "text": text, **more}))


def _pairs(bundle: kit.Bundle, name: str, part: str = "") -> list[Pair]:
    """The lines of a TREC qrels file that name an answer."""
    rows = kit.Table.read(bundle, name, delimiter="\t", columns=RUN_OF_TREC).frame
    answers = rows.filter(pl.col("relevance").cast(pl.String) != "0")
    return [(f"{part}{q}", d) for q, d in answers.select("query", "document").rows()]


def checkthat_2020(bundle: kit.Bundle, part: Part) -> kit.Loaded:
    """Tweets of the three parts, or the claims of version 3."""
    if part == "archive":
        name = bundle.one("*v3*/verified_claims.docs.tsv", "verified_claims.docs.tsv")
        claims = kit.Table.read(bundle, name, delimiter="\t")
        return _archive(_numbers(claims), claims.need("vclaim"), claims.need("title"))
    tables, pairs = [], []
    places = {"train": "*v3*/train/", "dev": "*v3*/dev/", "test": "*test-input*/"}
    for split, place in places.items():
        name = bundle.one(f"{place}tweets.queries.tsv")
        raw = kit.Table.read(bundle, name, delimiter="\t")
        columns = {"id": _numbers(raw), "text": raw.need("tweet_content")}
        tables.append(raw.frame.select(**columns, split=pl.lit(split)))
        pairs += _pairs(bundle, bundle.one(f"{place}tweet-vclaim-pairs.qrels"))
    return _queries(pl.concat(tables), pairs)


def _numbers(table: kit.Table) -> pl.Series:
    """The first column, which has no name."""
    return table.need(table.frame.columns[0])


def checkthat_2022(bundle: kit.Bundle, part: Part) -> kit.Loaded:
    """Tweets of four parts, or claims as one JSON file each. Ids of the two tests overlap: those
    of the test of the year before say so."""
    if part == "archive":
        files = kit.members(bundle, "*vclaims/*.json")
        rows = [json.loads(bundle.text(name)) for name in files]
        claims = kit.Table("vclaims", kit.frame_of(rows))
        return _archive(
            claims.need("vclaim_id"),
            claims.need("vclaim"),
            claims.maybe("title"),
            **kit.dated({"date column": claims.maybe("date")}),
        )
    tables = []
    lists = kit.lists_of("checkthat-2022-task2a")
    answers = {
        split: _pairs(bundle, bundle.one(pattern), earlier)
        for split, (pattern, earlier) in lists["qrels"].items()
    }
    for pattern, earlier in lists["queries"]:
        raw = kit.Table.read(
            bundle, bundle.one(pattern), delimiter="\t", columns=("id", "text"), quoted=None
        )
        tables.append(pl.DataFrame({"id": earlier + raw.need("id"), "text": raw.need("text")}))
    split_of = {query: split for split, pairs in answers.items() for query, _ in pairs}
    records = pl.concat(tables)
    splits = kit.as_text(split_of.get(id) for id in records["id"])
    return _queries(
        records.with_columns(split=splits), [pair for pairs in answers.values() for pair in pairs]
    )


def vo_lee(bundle: kit.Bundle, part: Part) -> kit.Loaded:
    """Tweets, or articles of PolitiFact; two maps give both the numbers that the pairs name."""

    def read(name: str) -> dict[str, dict[str, object]]:
        file = bundle.one(f"Politifact/{name}.json", f"{name}.json")
        return kit.read_json_as(bundle.text(file), file, dict)

    if part == "archive":
        number = read("article_mapped")
        articles = {
            url: article for url, article in read("articles_content").items() if url in number
        }
        claims = [" ".join(_body(article)) for article in articles.values()]
        return _archive(
            kit.as_text(str(number[url]) for url in articles),
            kit.as_text(claims),
            kit.as_text(_text(article.get("headerTitle")) for article in articles.values()),
            url=kit.as_text(articles),
        )
    number = read("query_mapped")
    rows = [
        {
            "id": str(number[key]),
            "text": _text(query["OriginalTweetContent_Raw"]),
            "tweet_id": key,
        }
        for key, query in read("queries_content").items()
        if key in number
    ]
    name = bundle.one("*query_article_interaction.csv")
    raw = kit.Table.read(bundle, name, delimiter=",", columns=("query", "document"))
    return _queries(kit.record_rows(rows), raw.frame.cast(pl.String).rows())


def _text(value: object) -> str | None:
    return str(value) if value else None


def _body(article: dict[str, object]) -> list[str]:
    """The claim and the first paragraphs."""
    paragraphs = article.get("body-text")
    first: Sequence[object] = paragraphs[:5] if isinstance(paragraphs, list) else ()
    return [text for part in (article.get("claim"), *first) if (text := _text(part))]


def known_lie(bundle: kit.Bundle, part: Part) -> kit.Loaded:
    """Debate sentences, or the claims of PolitiFact: those of the pairs, and what is left of the
    site where that file is there."""
    tables = []
    for name in kit.members(bundle, "*politifact/fact-checking/2*.csv"):
        stem = name.rsplit("/", 1)[-1].removesuffix(".csv")
        raw = kit.Table.read(bundle, name)
        columns = raw.pick(kit.lists_of("known-lie")["sentences"])
        tables.append(columns.with_columns(kit.numbered(stem, raw.height, 1), topic=pl.lit(stem)))
    rows = pl.concat(tables).with_columns(document=pl.coalesce("url", "claim"))
    whole = rows.drop_nulls(["text", "claim"])
    if part == "queries":
        return _queries(
            rows.select("id", "text", "author", "topic"), whole.select("id", "document").rows()
        )
    claims = whole.unique("document", keep="last", maintain_order=True)
    columns = claims.select(id="document", text="claim", title="title")
    for name in bundle.match("*remaining_politifacts.csv"):
        rest = kit.Table.read(bundle, name, columns=[str(n) for n in range(7)]).frame
        ids = kit.numbered("politifact", rest.height)
        left = rest.select(ids, text=pl.col("1").cast(pl.String))
        columns = pl.concat([left, columns], how="diagonal")
    return _archive(columns["id"], columns["text"], columns["title"])
