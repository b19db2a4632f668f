"""Does the local index find a claim's own evidence? Beside bm25s and rank_bm25, on the same texts,
in one run.

    python bench/retrieval.py [--data ../shared/data] [--every N]
                              [--why | --queries]
    (needs: pip install 'claimlab[bench]')

The pool is every distinct evidence sentence of a dataset; a claim's own sentences are the relevant
ones, and recall is their share among the first 5 or 20 found, averaged over claims that have any.
Every system gets the same sentences and claims. bm25s and rank_bm25 are run as their own pages show
(English stop words; lower-cased words) and again with Snowball stems and stop words, which is the
best either does. Seconds are of the processor, so that a busy machine does not blur them;
claimlab's include writing the index to disk, reading results back and building the evidence. --why
takes the local index apart instead: tantivy as it comes, with stems and stop words, with each query
word once, and the weight of the plain words; and bm25s with tantivy's k1. --queries compares the
time of a query with bm25s alone, in turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import tantivy
from harness import Row, begin, best, compare, need, parser, profiled, record, shared
from parts.index import index_of

from claimlab.catalog.load import load
from claimlab.search import local
from claimlab.search.analysis import analyzer
from claimlab.search.query import Query

DATASETS = ("climate-fever", "covid-fact")
DEPTH = 20
OURS = "claimlab local"
Search = Callable[[list[str]], list[list[int]]]


@dataclass(frozen=True)
class Pool:
    sentences: list[str]
    claims: list[str]
    relevant: list[set[int]]


def pool(name: str, data: Path, every: int) -> Pool:
    dataset = load(name, shared(f"{name}.zip", data))
    evidence = dataset.tables["evidence"].filter(pl.col("text").is_not_null())
    sentences = evidence["text"].unique(maintain_order=True).to_list()
    number = {sentence: i for i, sentence in enumerate(sentences)}
    own: dict[str, set[int]] = {}
    for claim, sentence in evidence.select("record_id", "text").iter_rows():
        own.setdefault(claim, set()).add(number[sentence])
    pairs = [(t, own[r]) for r, t in dataset.records.select("id", "text").iter_rows() if r in own][
        ::every
    ]
    claims, relevant = [text for text, _ in pairs], [relevant for _, relevant in pairs]
    return Pool(sentences, claims, relevant)


def recall(found: list[list[int]], relevant: list[set[int]], depth: int) -> float:
    return float(
        np.mean([len(r & set(f[:depth])) / len(r) for f, r in zip(found, relevant, strict=True)])
    )


def claimlab_local(sentences: list[str]) -> Search:
    index = index_of({str(i): sentence for i, sentence in enumerate(sentences)}, "eng")

    def search(claims: list[str]) -> list[list[int]]:
        queries = (Query(claim, language="eng", max_results=DEPTH) for claim in claims)
        return [[int(e.more["document"]) for e in index.search(query)] for query in queries]

    return search


def weighted(weight: float) -> Callable[[list[str]], Search]:
    """The local index with another weight for the plain words."""

    def build(sentences: list[str]) -> Search:
        search = claimlab_local(sentences)

        def changed(claims: list[str]) -> list[list[int]]:
            kept, local.EXACT_WEIGHT = local.EXACT_WEIGHT, weight
            try:
                return search(claims)
            finally:
                local.EXACT_WEIGHT = kept

        return changed

    return build


def bare_tantivy(field: str, *, once: bool) -> Callable[[list[str]], Search]:
    """tantivy with one field: its default words ("exact") or English stems without stop words
    ("lang_eng").
    """

    def build(sentences: list[str]) -> Search:
        words = analyzer(field)
        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("n", fast=True)
        builder.add_text_field("text", tokenizer_name="words", index_option="freq")
        schema = builder.build()
        index = tantivy.Index(schema)
        index.register_tokenizer("words", words)
        writer = index.writer(64 << 20, 1)
        for n, sentence in enumerate(sentences):
            writer.add_document(tantivy.Document(n=n, text=sentence))
        writer.commit()
        index.reload()
        searcher = index.searcher()

        def best(claim: str) -> list[int]:
            terms = words.analyze(claim)
            terms = list(dict.fromkeys(terms)) if once else terms
            clauses = [
                (tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", t, "freq"))
                for t in terms
            ]
            hits = searcher.search(tantivy.Query.boolean_query(clauses), DEPTH, count=False).hits
            return [
                int(n or 0) for n in searcher.fast_field_values("n", [where for _, where in hits])
            ]

        return lambda claims: [best(claim) for claim in claims]

    return build


def with_bm25s(stemmed: bool, k1: float = 1.5) -> Callable[[list[str]], Search]:
    def tokens(texts: list[str]) -> object:
        import bm25s
        import Stemmer

        stemmer = Stemmer.Stemmer("english") if stemmed else None
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    def build(sentences: list[str]) -> Search:
        import bm25s

        ranker = bm25s.BM25(k1=k1)
        ranker.index(tokens(sentences), show_progress=False)

        corpus = [{"id": number, "text": text} for number, text in enumerate(sentences)]

        def search(claims: list[str]) -> list[list[int]]:
            found, _ = ranker.retrieve(tokens(claims), corpus, k=DEPTH, show_progress=False)
            return [[int(one["id"]) for one in row] for row in found]

        return search

    return build


def with_rank_bm25(stemmed: bool) -> Callable[[list[str]], Search]:
    def build(sentences: list[str]) -> Search:
        import bm25s
        import Stemmer
        from rank_bm25 import BM25Okapi

        stemmer, stop = Stemmer.Stemmer("english"), set(bm25s.stopwords.STOPWORDS_EN)

        def tokens(text: str) -> list[str]:
            words = re.findall(r"\w+", text.lower())
            return stemmer.stemWords([w for w in words if w not in stop]) if stemmed else words

        ranker = BM25Okapi([tokens(s) for s in sentences])
        return lambda claims: [
            np.argsort(-ranker.get_scores(tokens(c)), kind="stable")[:DEPTH].tolist()
            for c in claims
        ]

    return build


SYSTEMS: dict[str, Callable[[list[str]], Search]] = {
    OURS: claimlab_local,
    "bm25s": with_bm25s(stemmed=False),
    "bm25s, stemmed": with_bm25s(stemmed=True),
    "rank_bm25": with_rank_bm25(stemmed=False),
    "rank_bm25, stemmed": with_rank_bm25(stemmed=True),
}


WHY: dict[str, Callable[[list[str]], Search]] = {
    "tantivy, plain": bare_tantivy("exact", once=False),
    "+ stems, stop words": bare_tantivy("lang_eng", once=False),
    "+ each word once": bare_tantivy("lang_eng", once=True),
    "+ plain words at .1": weighted(0.1),
    "+ plain words at .2": claimlab_local,
    "+ plain words at .3": weighted(0.3),
    "bm25s, stems, k1 1.5": with_bm25s(stemmed=True),
    "bm25s, stems, k1 1.2": with_bm25s(stemmed=True, k1=1.2),
}


def measure(
    data: Path, every: int, systems: dict[str, Callable[[list[str]], Search]]
) -> Iterator[dict[str, object]]:
    for name in DATASETS:
        task = pool(name, data, every)
        yield {"dataset": name, "claims": len(task.claims), "sentences": len(task.sentences)}
        for system, build in systems.items():
            if (
                not all(need(module) for module in ("bm25s", "rank_bm25", "Stemmer"))
                and "bm25" in system
            ):
                yield {"dataset": name, "missing": f"{system}: not installed"}
                continue
            build(task.sentences[:50])  # what is imported is not measured
            index = best(lambda build=build, task=task: build(task.sentences), 1)  # type: ignore[misc]
            asked = best(lambda index=index, task=task: index.result(task.claims), 3)  # type: ignore[misc]
            yield {
                "dataset": name,
                "system": system,
                "recall@5": recall(asked.result, task.relevant, 5),
                "recall@20": recall(asked.result, task.relevant, 20),
                "index_s": index.cpu,
                "query_ms": 1000 * asked.cpu / len(task.claims),
                "why": lambda index=index, task=task: profiled(lambda: index.result(task.claims)),
            }


def queries(data: Path, every: int) -> None:
    """The time of a query with its texts, ours and that of bm25s with stems, three goes in turn."""
    for name in DATASETS:
        task = pool(name, data, every)
        both = {system: SYSTEMS[system](task.sentences) for system in (OURS, "bm25s, stemmed")}
        jobs = {system: lambda ask=ask, t=task: ask(t.claims) for system, ask in both.items()}
        ours, theirs = (1000 * cost.cpu / len(task.claims) for cost in compare(jobs, 3).values())
        record(Row("retrieval", f"a query, {name}", "bm25s, stemmed", ours, theirs, "processor ms"))
        print(f"{name}: {ours:.2f} ms beside {theirs:.2f}, {ours / theirs:.1f} times")


def against_peers(rows: list[dict[str, Any]]) -> None:
    """Ours against the best that each peer does."""
    for name in DATASETS:
        ours = next((r for r in rows if r["dataset"] == name and r.get("system") == OURS), None)
        for peer in ("bm25s", "rank_bm25"):
            theirs = [
                r
                for r in rows
                if r["dataset"] == name and str(r.get("system", "")).startswith(peer)
            ]
            if ours is None or not theirs:
                record(
                    Row(
                        "retrieval",
                        f"recall@5, {name}",
                        peer,
                        ours and ours["recall@5"],
                        None,
                        note="not installed",
                    )
                )
                continue
            top = max(theirs, key=lambda row: float(row["recall@5"]))
            behind = top["query_ms"] < ours["query_ms"]
            record(
                Row(
                    "retrieval",
                    f"recall@5, {name}",
                    top["system"],
                    ours["recall@5"],
                    top["recall@5"],
                    "",
                    more=True,
                ),
                Row(
                    "retrieval",
                    f"a query, {name}",
                    top["system"],
                    ours["query_ms"],
                    top["query_ms"],
                    "processor ms",
                    why=ours["why"]() if behind else "",
                    note="ours is read from an index on disk",
                ),
                Row(
                    "retrieval",
                    f"building the index, {name}",
                    top["system"],
                    ours["index_s"],
                    top["index_s"],
                ),
            )


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--every", type=int, default=1, help="take every Nth claim, for a quick look")
    made.add_argument("--why", action="store_true", help="take the local index apart instead")
    made.add_argument("--queries", action="store_true", help="the time of a query beside bm25s")
    options = begin(made)
    if options.queries:
        queries(options.data, options.every)
        return
    rows = []
    for row in measure(options.data, options.every, WHY if options.why else SYSTEMS):
        rows.append(row)
        if "claims" in row:
            print(f"\n{row['dataset']}: {row['claims']:,} claims, {row['sentences']:,} sentences")
            print(f"{'':20} recall@5  recall@20  index s  query ms")
        elif "missing" in row:
            print(row["missing"])
        else:
            line = "{system:20} {recall@5:8.4f}  {recall@20:9.4f}  {index_s:7.2f}  {query_ms:8.2f}"
            print(line.format(**row), flush=True)
    if not options.why:
        against_peers(rows)


if __name__ == "__main__":
    main()
