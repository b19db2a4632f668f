"""`cl.match` and `claimlab match`: which fact-checks of an archive answer a claim."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.digest import digest_json
from claimlab.core.errors import MissingExtra, UsageError
from claimlab.core.options import (
    Argument,
    Force,
    Limit,
    Option,
    OptionalFolder,
    Place,
    Setting,
)
from claimlab.core.places import cache_folder
from claimlab.core.progress import Progress, progress
from claimlab.core.run import Run, Source
from claimlab.core.shown import Shown
from claimlab.core.stats.interval import Interval
from claimlab.core.stats.scores import Floats32
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Columns,
    Report,
    Section,
    Table,
    Text,
    percent,
    short,
    span,
)
from claimlab.pages.folder import Contents, fill
from claimlab.search.analysis import said
from claimlab.search.evidence import Evidence, Review
from claimlab.search.fusion import Meaning
from claimlab.search.local import LocalIndex, build_index
from claimlab.search.query import Query
from claimlab.tasks.matching import (
    Decision,
    Qrels,
    Ranking,
    as_qrels,
    as_run,
    decide,
    figures,
    qrels_of,
    read_qrels,
)
from claimlab.text.vectors import LANGUAGES, spoken

KIND = "list of matches"
BEST = 10
LISTED = 100
WHOLE = 1 << 20  # characters of a fact-check
SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "query": pl.String,
    "asked": pl.String,
    "rank": pl.Int64,
    "id": pl.String,
    **dict.fromkeys(("score", "words", "meaning"), pl.Float64),
    **dict.fromkeys(("text", "title", "verdict", "publisher"), pl.String),
    "date": pl.Datetime("us"),
    "url": pl.String,
    "answer": pl.Boolean,
}
BM25 = (
    " BM25 adds up the words in common, rare ones most; it has no highest value, and does not say"
    " how alike two claims are."
)
ONE = "text"  # the id of a query that is one text
# Where mteb finds the three tables. It reads all of them in one format, so the answers are there as
# JSON lines beside the TSV of BEIR.
MTEB = """---
configs:
- config_name: default
  data_files: [{split: test, path: qrels/test.jsonl}]
- config_name: corpus
  data_files: [{split: corpus, path: corpus.jsonl}]
- config_name: queries
  data_files: [{split: queries, path: queries.jsonl}]
---
"""


def match_of(hit: Evidence) -> JsonObject:
    """A fact-check that may answer a query. `score` orders them: from 0 to 1 where meaning was
    compared, else BM25. It is no probability. `words` is its BM25, `meaning` its cosine."""
    review, more, score = hit.review or Review(), hit.more, hit.score or 0.0
    meaning = more.get("meaning")
    return {
        "id": _id(more.get("document"), hit.url, hit.text),
        "score": score,
        "words": more.get("words", score) or None,
        "meaning": meaning,
        "text": hit.text,
        "title": hit.title,
        "verdict": review.verdict or review.rating,
        "publisher": more.get("publisher") or review.publisher,
        "date": hit.published,
        "url": hit.url,
    }


@dataclass(frozen=True, repr=False)
class Matches(Shown):
    """The best fact-checks for each query. `answer` in the table is null unless labelled queries
    said from which score on to answer (`decision`); `scores` are then measured, too."""

    rows: pl.DataFrame
    queries: int
    decision: Decision | None = None
    scores: JsonObject = field(default_factory=dict)
    not_measured: Mapping[str, int] = field(default_factory=dict)

    @property
    def table(self) -> pl.DataFrame:
        return self.rows

    def headline(self) -> str:
        return f"of {several(self.queries, 'query', 'queries')}: {self.conclusion()}"

    def conclusion(self) -> str:
        """Whether there is an answer, and how sure that is."""
        if self.rows.is_empty():
            claims = "claim" if self.queries == 1 else "claims"
            return f"Nothing in the archive is near the {claims}."
        if self.decision is None:
            by_words = self.rows["meaning"].null_count()
            return (
                "Scores only: read the claims to see which say the same. Labelled queries"
                f" would show from which score on a match can be trusted.{BM25 if by_words else ''}"
            )
        target = f"precision {self.decision.asked:g}"
        if self.decision.threshold is None:
            return f"No score reaches the {target} on the labelled queries: no query is answered."
        measured = (
            "no labelled query that was kept apart is answered"
            if self.decision.precision is None
            else f"measured {_within(self.decision.precision, self.decision.interval)}"
        )
        n = self.rows.filter("answer")["query"].n_unique()
        answered = f"{several(n, 'query', 'queries')} answered at the {target} ({measured})."
        if self.decision.no_match is None:
            return answered
        right = _within(self.decision.no_match, self.decision.no_match_interval)
        return f'{answered} "No match" is right in {right}.'

    def to_json(self) -> JsonObject:
        return {
            "tool": f"claimlab {__version__}",
            "queries": self.queries,
            "conclusion": self.conclusion(),
            "decision": None if self.decision is None else asdict(self.decision),
            "scores": self.scores,
            "not_measured": dict(self.not_measured),
        }


def _within(value: float, ends: Interval | None) -> str:
    return f"{value:.2f}" + (f", 95% interval {ends[0]:.2f} to {ends[1]:.2f}" if ends else "")


@repeatable()
def match(
    queries: Annotated[
        Source | None, Argument("The claims to look up: a claimlab dataset folder or a file.")
    ] = None,
    *,
    archive: Annotated[
        Place | None,
        Option(
            "Where to look: a dataset of fact-checks, a folder of documents or a ClaimReview dump.",
            required=True,
        ),
    ] = None,
    text: Annotated[str | None, Option("One claim to look up, instead of a dataset.")] = None,
    output: OptionalFolder = None,
    best: Annotated[int, Setting("Matches of each query.", least=1, most=100)] = BEST,
    words: Annotated[bool, Setting("By words alone, without sentence vectors.")] = False,
    qrels: Annotated[
        Place | None,
        Option(
            "Labelled answers (TREC qrels): measure, and decide which queries have a match."
            " Default: the table 'qrels' of the queries, where there is one."
        ),
    ] = None,
    precision: Annotated[
        float, Setting("How often a given match should be right; with `qrels`.", least=0.5, most=1)
    ] = 0.9,
    mteb: Annotated[
        bool,
        Setting("Also write archive, claims and answers as a task that mteb reads; with `qrels`."),
    ] = False,
    limit: Limit = None,
    force: Force = False,
) -> Matches:
    """Find the fact-checks that claims already have: by words, meaning and both.

    Without labelled queries there are scores and no yes: a best match exists for every claim.
    """
    claims = _claims(queries, text)
    if archive is None:
        raise UsageError("There is no archive to look in.", "Pass `archive`.")
    with Run(
        "match",
        claims,
        output,
        kind=KIND,
        reads=[Path(archive), *([] if qrels is None else [Path(qrels)])],
        limit=limit,
        force=force,
    ) as run:
        records = run.dataset.records.filter(pl.col("text").str.strip_chars() != "")
        opened, missing = _open(Path(archive), words)
        truth = _kept(qrels_of(run.dataset) if qrels is None else read_qrels(Path(qrels)), opened)
        rankings = _ask(opened, records, best, progress)
        plain: dict[str, Ranking] = {
            query: [(one["id"], one["score"]) for one in matches]
            for query, matches in rankings.items()
        }
        decision = None if truth is None else decide(plain, truth, precision)
        scores = {} if truth is None else figures(plain, truth)
        missing["queries without a text"] = len(run.dataset) - records.height
        table = _table(records, rankings, decision)
        unmeasured = {why: n for why, n in missing.items() if n}
        result = Matches(table, records.height, decision, scores, unmeasured)
        files = contents(result, plain, truth)
        if mteb:
            files = replace(files, files={**files.files, **_task(opened, records, truth)})
        run.fill(lambda folder: fill(files, folder))
    return result


def _claims(queries: Source | None, text: str | None) -> Source:
    """What is looked up: a dataset, or one text as one."""
    if queries is not None and text is None:
        return queries
    if text is None or queries is not None:
        which = ("There are two things", "There is nothing")[text is None]
        raise UsageError(f"{which} to look up.", "Pass either `queries` or `text`.")
    if not text.strip():
        raise UsageError("The text to look up is empty.", "Pass a claim as `text`.")
    return Dataset.build(ONE, pl.DataFrame({"id": [ONE], "text": [text]}))


def _open(source: Path, words: bool) -> tuple[LocalIndex, dict[str, int]]:
    """The archive, kept in the cache by its place; and what is not measured of it."""
    folder = cache_folder() / "archives" / digest_json(str(source.resolve()))[:16]
    documents = build_index(source, folder, factcheck=True).documents
    if words:
        return LocalIndex(folder), {}
    index = LocalIndex(folder, Meaning(_encode, ()))
    try:
        _ = index.vectors
    except MissingExtra:
        why = "fact-checks by meaning (the extra 'vectors' is absent)"
        return LocalIndex(folder), {why: documents}
    return index, {}


def _kept(truth: Qrels | None, archive: LocalIndex) -> Qrels | None:
    """Each answer that repeats another fact-check as the one that the archive keeps."""
    if truth is None:
        return None
    same = archive.repeats
    return {query: {same.get(id, id) for id in ids} for query, ids in truth.items()}


def _task(archive: LocalIndex, records: pl.DataFrame, truth: Qrels | None) -> dict[str, str]:
    """The files of a retrieval task as mteb and BEIR read them: documents, queries, answers."""
    if not truth:
        raise UsageError("A task of mteb needs labelled answers.", "Pass `qrels`.")
    documents = map(archive.document, range(archive.manifest.documents))
    corpus = [
        {"_id": _id(d.get("source_id"), d.get("url"), d["text"]), "title": d.get("title") or ""}
        | {"text": d["text"]}
        for d in documents
    ]
    texts = dict(records.select("id", "text").iter_rows())
    queries = [{"_id": id, "text": text} for id, text in texts.items() if truth.get(id)]
    held = {one["_id"] for one in corpus}
    answers = [(q["_id"], d) for q in queries for d in sorted(truth[q["_id"]]) if d in held]
    judged = [{"query-id": query, "corpus-id": one, "score": 1} for query, one in answers]
    parts = {"qrels/test": judged, "corpus": corpus, "queries": queries}
    files = {
        f"mteb/{name}.jsonl": "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        for name, rows in parts.items()
    }
    lines = ["query-id\tcorpus-id\tscore", *(f"{query}\t{one}\t1" for query, one in answers)]
    return {**files, "mteb/README.md": MTEB, "mteb/qrels/test.tsv": "\n".join(lines) + "\n"}


def _id(own: str | None, url: str | None, text: str | None) -> str:
    """The id of a fact-check; one without is named by its address and which of its claims it is."""
    return own or f"{url or ''}#{digest_json(text)[:8]}"


def _encode(texts: Sequence[str]) -> Floats32:
    from claimlab.text.kept_vectors import vectors_of

    return vectors_of(texts)


def _ask(
    archive: LocalIndex, records: pl.DataFrame, best: int, progress: Progress
) -> dict[str, list[JsonObject]]:
    texts = records["text"].to_list()
    parts = [said(text) for text in texts] if archive.vectors is not None else []
    vectors = _encode([one for each in parts for one in each])
    ends = np.cumsum([len(each) for each in parts]).tolist()
    languages = spoken(records["text"], records["language"]) if parts else []
    matches = {}
    for number, (id, text, language) in enumerate(
        records.select("id", "text", "language").iter_rows()
    ):
        progress("matching", number, len(texts))
        query, own = Query(text, language=language, max_results=best), None
        if parts and languages[number] in LANGUAGES:
            query = replace(query, language=languages[number])
            own = vectors[ends[number] - len(parts[number]) : ends[number]]
        hits = archive.search(query, passage=WHOLE, vectors=own)
        matches[id] = [match_of(hit) for hit in hits]
    progress("matching", len(texts), len(texts))
    return matches


def _table(
    records: pl.DataFrame, rankings: Mapping[str, Sequence[JsonObject]], decision: Decision | None
) -> pl.DataFrame:
    texts = dict(records.select("id", "text").iter_rows())
    threshold = None if decision is None else decision.threshold
    rows = [
        {
            "query": query,
            "asked": texts[query],
            "rank": rank,
            **one,
            "answer": None
            if decision is None
            else rank == 1 and threshold is not None and one["score"] >= threshold,
        }
        for query, ranking in rankings.items()
        for rank, one in enumerate(ranking, 1)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def shown_score(match: JsonObject) -> Cell:
    """The score, with its name where words alone made it."""
    score = match["score"]
    return Cell(f"BM25 {score:.1f}" if match["meaning"] is None else f"{score:.2f}", sort=score)


MATCH: Columns[JsonObject] = (
    Column("Claim", "asked", short(120)),
    Column("Score", shown_score),
    Column("Best match", "text", short(160)),
    Column("Verdict", "verdict", optional=True),
    Column("Date", lambda row: row["date"] and row["date"].date(), str, optional=True),
    Column("Publisher", "publisher", short(40), optional=True),
    Column("Link", "url", short(60), optional=True),
    Column("Answer", "answer", optional=True),
)


def contents(
    matches: Matches, rankings: Mapping[str, Ranking], qrels: Qrels | None = None
) -> Contents:
    first = matches.rows.filter(rank=1).head(LISTED)
    blocks: Blocks = [Text(matches.conclusion(), "conclusion")]
    if matches.scores:
        rows = [
            (name, percent(one["value"]), span(one["interval"]))
            for name, one in matches.scores.items()
            if isinstance(one, dict)
        ]
        blocks.append(Section("Scores", [Table(("Figure", "Value (%)", "95% interval"), rows)]))
    blocks.append(Section("The best match of each claim", [Table.of(MATCH, first.to_dicts())]))
    page = Report("Checked before?", f"{several(matches.queries, 'query', 'queries')}.", blocks)
    files: dict[str, str | pl.DataFrame] = {
        "matches.parquet": matches.rows,
        "run.trec": as_run(rankings),
        **({} if qrels is None else {"qrels.trec": as_qrels(qrels)}),
    }
    return Contents(KIND, [page], data={"match.json": matches.to_json()}, files=files)
