"""`cl.match` and `claimlab match`: which fact-checks of an archive answer a claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import polars as pl

from claimlab.claims.match_lookup import Lookup, vectors_of_texts
from claimlab.claims.match_masked import Answers
from claimlab.claims.match_task import task_files
from claimlab.claims.match_views import KIND, contents
from claimlab.claims.matches import SCHEMA, Matches, match_of
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
from claimlab.core.progress import progress
from claimlab.core.run import Run, Source
from claimlab.core.types import JsonObject
from claimlab.pages.folder import fill
from claimlab.search.fusion import SentenceEncoder
from claimlab.search.local import LocalIndex, build_index
from claimlab.tasks.matching import (
    Decision,
    Ranking,
    decide,
    figures,
    qrels_of,
    read_qrels,
)
from claimlab.text.vectors import CHARACTERS_READ

MATCHES_KEPT = 10
LACKING = "labelled answers that are not in the archive (they count as no answer)"
SINGLE_QUERY = "text"  # the id of a query that is one text


@repeatable()
def match(  # noqa: PLR0913
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
    best: Annotated[int, Setting("Matches of each query.", least=1, most=100)] = MATCHES_KEPT,
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
    unanswered: Annotated[
        float | None,
        Setting(
            "The share of claims without an answer in the archive for which the precision is to"
            " hold; with `qrels`. Default: the share among the labelled queries, at least 0.3.",
            least=0,
            most=0.9,
        ),
    ] = None,
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
        lookup = Lookup(opened, records)
        rankings = _ask(lookup, best)
        plain: dict[str, Ranking] = {
            query: [(found["id"], found["score"]) for found in matches]
            for query, matches in rankings.items()
        }
        labelled = qrels_of(run.dataset) if qrels is None else read_qrels(Path(qrels))
        answers = None if labelled is None else Answers.of(labelled, opened, plain)
        truth = None if answers is None else answers.qrels
        decision, scores = None, {}
        if answers is not None:
            groups = _groups(records)
            decision = decide(
                plain,
                answers.qrels,
                precision,
                unanswered=unanswered,
                masked=answers.masked(lookup, progress),
                groups=groups,
            )
            scores = figures(plain, answers.qrels, groups=groups)
            missing[LACKING] = answers.lacking
        missing |= lookup.not_measured
        missing["queries without a text"] = len(run.dataset) - records.height
        table = _table(records, rankings, decision)
        unmeasured = {why: n for why, n in missing.items() if n}
        result = Matches(table, records.height, decision, scores, unmeasured, lookup.by_words)
        files = contents(result, plain, truth)
        if mteb:
            files = replace(files, files={**files.files, **task_files(opened, records, truth)})
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
    return Dataset.build(SINGLE_QUERY, pl.DataFrame({"id": [SINGLE_QUERY], "text": [text]}))


def _open(source: Path, words: bool) -> tuple[LocalIndex, dict[str, int]]:
    """The archive, kept in the cache by its place; and what is not measured of it."""
    folder = cache_folder() / "archives" / digest_json(str(source.resolve()))[:16]
    documents = build_index(source, folder, factcheck=True).documents
    if words:
        return LocalIndex(folder), {}
    index = LocalIndex(folder, SentenceEncoder(vectors_of_texts, (), CHARACTERS_READ))
    try:
        _ = index.vectors
    except MissingExtra:
        why = "fact-checks by meaning (the extra 'vectors' is absent)"
        return LocalIndex(folder), {why: documents}
    return index, {}


def _ask(lookup: Lookup, best: int) -> dict[str, list[JsonObject]]:
    ids = lookup.claims["id"].to_list()
    matches = {}
    for number, id in enumerate(ids):
        progress("matching", number, len(ids))
        matches[id] = [match_of(hit) for hit in lookup.best(id, best)]
    progress("matching", len(ids), len(ids))
    return matches


def _groups(records: pl.DataFrame) -> dict[str, str]:
    """The group of each claim that has one: a debate, a thread, an event."""
    return dict(records.select("id", "group").drop_nulls().iter_rows())


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
            **found,
            "answer": None
            if decision is None
            else rank == 1 and threshold is not None and found["score"] >= threshold,
        }
        for query, ranking in rankings.items()
        for rank, found in enumerate(ranking, 1)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)
