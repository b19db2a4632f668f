"""Is what `corresponds` about the same thing? Precision and recall on pairs whose truth is known by
rule.

    python bench/correspondence.py [--data DIR] [--pairs 100] [--seed 1] [--show N]

Pairs that belong together:
  review    a claim of FactCk.BR and the review of it (title and body), of reviews that treat one
            claim only
  link      two messages of COVID19.BR with different texts whose one link is the same article
  supports, refutes    a claim of Climate-FEVER, and a sentence that annotators say does so
Pairs that do not. A text is searched for as enrich does, and of the results the one with the
largest share is taken:
  before    a message of COVID19.BR that names the pandemic, and a claim that FactCk.BR's agencies
            reviewed in 2016-2019
  article   the same, and an article of Fake.br (2010-2018), of which the best 1,000 characters are
            read
  other     a claim of FactCk.BR, and a review that was published half a year before or after its
            own
  not enough    a claim of Climate-FEVER, and a sentence on its topic that settles nothing

The floors were chosen on 450 pairs of the kinds before, article and other, drawn with seed 0.

Each text is asked about as `claimlab enrich` does: its query and, where that does not correspond,
its offline claim. No row is written anywhere; --show prints some pairs to look at. Real data is
read from ../shared/data, or from --data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from harness import begin, parser, shared
from parts.index import index_of
from parts.shares import share

from claimlab.catalog.load import load
from claimlab.enrich.checkworthy import best_claims
from claimlab.enrich.correspondence import (
    LEAST_SHARE_OF_PAPER,
    Match,
    Rarity,
    corresponds,
    matches,
    shares,
)
from claimlab.enrich.query import make_queries, prepared
from claimlab.search.analysis import EXACT, terms_of
from claimlab.search.fusion import SentenceEncoder
from claimlab.search.passage import best_passage
from claimlab.search.query import Query
from claimlab.text.guard import is_social
from claimlab.text.vectors import CHARACTERS_READ, LANGUAGES, encode

PASSAGE = 1000  # characters, as the local provider gives them
HITS = 5
APART = 183  # days between a claim's own review and one that is surely of another claim
_LINK = re.compile(r"https?://\S+")
_ARTICLE = re.compile(r"https?://[^/\s]+/\S*\w+-\w+-\w+-\w+")  # an address with a headline in it
_PANDEMIC = re.compile(r"covid|corona|pandemia|quarentena|cloroquina", re.IGNORECASE)


Search = Callable[[str], list[dict[str, Any]]]


class Pair(NamedTuple):
    kind: str
    true: bool
    text: str
    found: str
    language: str = "por"


def pairs(data: Path, each: int, seed: int) -> list[Pair]:
    """At most `each` pairs of a kind, drawn by the seed."""
    rng = np.random.default_rng(seed)
    checks = load("factck-br", shared("factck-br.zip", data))
    evidence = checks.tables["evidence"].select(id="record_id", title="title", body="text")
    reviews = (
        checks.records.select("id", "text", "group", "date")
        .join(evidence, on="id", maintain_order="left")
        .filter(pl.col("text").is_not_null() & (pl.len().over("group") == 1))
    )
    articles = load("fake-br", shared("fake-br.zip", data)).records.filter(
        pl.col("text").is_not_null()
    )
    messages = (
        load("covid19-br", shared("covid19-br.zip", data)).records["text"].drop_nulls().to_list()
    )
    pandemic = _drawn(sorted({m for m in messages if _PANDEMIC.search(m)}), rng)
    review = pl.concat_str(
        [pl.col(name) for name in ("text", "title", "body")], separator=". ", ignore_nulls=True
    )
    kinds: list[Iterator[Pair]] = [
        _review(reviews, rng),
        _link(messages, rng),
        _before("before", _searcher(reviews.select("id", "date", text=review)), pandemic),
        _before("article", _searcher(articles.select("id", "date", "text")), pandemic),
        _other(_searcher(reviews.select("id", "date", text=review)), reviews, rng),
    ]
    kinds += [_climate(data, stance, rng) for stance in ("SUPPORTS", "REFUTES", "NOT_ENOUGH_INFO")]
    return [pair for kind in kinds for _, pair in zip(range(each), kind, strict=False)]


def _climate(data: Path, stance: str, rng: np.random.Generator) -> Iterator[Pair]:
    dataset = load("climate-fever", shared("climate-fever.zip", data))
    claims = dataset.records.select(record_id="id", claim="text")
    held = dataset.tables["evidence"].filter(pl.col("stance") == stance)
    rows = held.select("record_id", "text").join(claims, on="record_id", maintain_order="left")
    kind = "not enough" if stance == "NOT_ENOUGH_INFO" else stance.lower()
    for row in _drawn(rows.to_dicts(), rng):
        yield Pair(kind, kind != "not enough", row["claim"], row["text"], "eng")


def _review(reviews: pl.DataFrame, rng: np.random.Generator) -> Iterator[Pair]:
    for row in _drawn(reviews.drop_nulls("body").to_dicts(), rng):
        yield Pair("review", True, row["text"], f"{row['title']}. {row['body']}")


def _link(messages: list[str], rng: np.random.Generator) -> Iterator[Pair]:
    by_link: dict[str, list[str]] = {}
    for text in messages:
        links = set(_LINK.findall(text))
        words = " ".join(_LINK.sub(" ", text).split())
        if (
            len(links) == 1
            and _ARTICLE.match(link := links.pop())
            and not is_social(link)
            and len(words) >= 40
        ):
            by_link.setdefault(link, []).append(words)
    for link in _drawn(sorted(by_link), rng):
        texts = list(dict.fromkeys(by_link[link]))
        if len(texts) > 1:
            yield Pair("link", True, texts[0], texts[1])


def _before(kind: str, search: Search, messages: list[str]) -> Iterator[Pair]:
    for text in messages:
        if found := search(text):
            yield Pair(kind, False, text, _likest(text, [row["text"] for row in found]))


def _other(search: Search, reviews: pl.DataFrame, rng: np.random.Generator) -> Iterator[Pair]:
    for row in _drawn(reviews.drop_nulls("date").to_dicts(), rng):
        near = [
            other
            for other in search(row["text"])
            if abs((other["date"] - row["date"]).days) > APART
        ]
        if near:
            yield Pair(
                "other", False, row["text"], _likest(row["text"], [other["text"] for other in near])
            )


def _searcher(documents: pl.DataFrame) -> Search:
    """The hits for what is asked of a text."""
    rows = {row["id"]: row for row in documents.to_dicts()}
    index = index_of({i: row["text"] for i, row in rows.items()}, "por")

    def search(text: str) -> list[dict[str, Any]]:
        hits = [
            hit
            for words in asked(text)
            for hit in index.search(Query(words, "por", max_results=HITS))
        ]
        return [rows[hit.more["document"]] for hit in hits]

    return search


def _likest(text: str, found: list[str]) -> str:
    """The document that would most easily be taken for one on the same thing: with the largest
    share of the words.
    """
    return max(
        found,
        key=lambda document: max((match.held for match in matched(text, document)), default=0.0),
    )


def _drawn(items: list[Any], rng: np.random.Generator) -> list[Any]:
    return [items[int(i)] for i in rng.permutation(len(items))]


def asked(text: str, language: str = "por") -> list[str]:
    """What enrich asks of a text: its query and its offline claim, where it has one."""
    whole = pl.Series([text])
    query, plain = make_queries(whole)[0], prepared(whole, "paper")[0]
    claims = best_claims(plain, language) if plain else []
    return list(dict.fromkeys([*([query.text] if query else []), *claims]))


def matched(
    text: str,
    document: str,
    language: str = "por",
    rarity: Rarity | None = None,
    meaning: SentenceEncoder | None = None,
) -> list[Match]:
    """How the document fits what is asked of the text."""
    out = [matches(words, [document], language, rarity, meaning) for words in asked(text, language)]
    return [match for some in out for match in some if match is not None]


def scored(held: list[tuple[Pair, list[Match]]], rule: Callable[[Match], bool]) -> dict[str, Any]:
    """Precision, recall and the share of each kind that corresponds, with 95 % Wilson intervals."""
    said = [(pair, any(map(rule, found))) for pair, found in held]
    right = sum(pair.true for pair, yes in said if yes)
    out = {
        "precision": share(right, sum(yes for _, yes in said)),
        "recall": share(right, sum(pair.true for pair, _ in said)),
    }
    for kind in dict.fromkeys(pair.kind for pair, _ in said):
        mine = [yes for pair, yes in said if pair.kind == kind]
        out[f"corresponds: {kind}"] = share(sum(mine), len(mine))
    return out


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--pairs", type=int, default=100, help="of each kind")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument(
        "--show", type=int, default=0, help="print so many pairs that are judged wrongly"
    )
    given = begin(made)
    drawn = pairs(given.data, given.pairs, given.seed)
    rarity = {
        language: Rarity(pair.text for pair in drawn if pair.language == language)
        for language in ("por", "eng")
    }
    rules: dict[str, Callable[[Match], bool]] = {
        "share of a whole passage, 0.8": lambda match: match.share >= LEAST_SHARE_OF_PAPER,
        "paper": lambda match: corresponds(match, "paper"),
        "measured, words alone": lambda match: corresponds(match._replace(cosine=None)),
        "measured": corresponds,
    }
    meaning = SentenceEncoder(encode, LANGUAGES, CHARACTERS_READ)
    unseen = [
        (pair, matched(pair.text, pair.found, pair.language, rarity[pair.language], meaning))
        for pair in drawn
    ]
    whole = [
        (
            pair,
            [
                match._replace(share=share)
                for match, share in zip(found, _shares(pair), strict=False)
                if share
            ],
        )
        for pair, found in unseen
    ]
    for pair, found in [(p, f) for p, f in unseen if any(map(corresponds, f)) != p.true][
        : given.show
    ]:
        print(pair, found)
    tables = {
        name: scored(whole if "whole" in name else unseen, rule) for name, rule in rules.items()
    }
    print(json.dumps({"pairs": len(unseen), **tables}, indent=1))


def _shares(pair: Pair) -> list[float | None]:
    """As it was before: of the words asked for, those in the best 1,000 characters."""
    out = []
    for words in asked(pair.text, pair.language):
        terms = set(terms_of(words, EXACT, pair.language))
        out += shares(words, [best_passage(pair.found, terms, PASSAGE)], pair.language)
    return out


if __name__ == "__main__":
    main()
