"""A model that says whether claims can be checked, for the feasibility check (`audit/asking.py` is what it is asked).

With a search provider, or on an enriched dataset, it is also shown what a search finds, so that "with search" is
measured and not only promised. Whether it can be believed is for the check to say, which compares it with annotators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from claimlab.audit.asking import ALONE, PROMISED, READ, RESULTS, SHOWN, Opinion, Reading, request_of
from claimlab.audit.subject import Subject
from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.errors import SearchFailed
from claimlab.core.progress import Progress, silent
from claimlab.llm.gather import gather_sync
from claimlab.llm.messages import Request
from claimlab.llm.provider import Provider
from claimlab.llm.tally import Tally
from claimlab.search.chain import Chain
from claimlab.search.query import Query

SAMPLE = 300  # as in the guide
QUERY = 300  # characters of a statement that are searched for
Found = Mapping[str, Sequence[str] | None]  # null: the search failed


class ModelJudge:
    """`provider` is a model, `search` a chain of search providers; a refusal or a failed answer is null, and `tally`
    counts it."""

    def __init__(
        self, provider: Provider, sample: int = SAMPLE, *, search: Chain | None = None, progress: Progress = silent
    ) -> None:
        self.provider, self.sample, self.search, self.progress = provider, sample, search, progress
        self.tally = Tally()

    @property
    def name(self) -> str:
        return f"model {self.provider.profile.chosen_model()}"

    @property
    def standing(self) -> str | None:
        """What its profile says of it, such as that it is too small for results."""
        return self.provider.profile.standing

    def readings(self, subject: Subject) -> tuple[Reading, ...]:
        """The two of the guide, and the one with search results where there are any."""
        return (ALONE, PROMISED, RESULTS) if self.search is not None or stored(subject) else (ALONE, PROMISED)

    def opinions(self, subject: Subject, reading: Reading, seed: int) -> dict[str, Opinion | None]:
        """By record id, for a sample drawn at random; null where the model or the search failed."""
        rows = self._rows(subject, reading, seed)
        found = self._searched(subject, rows) if reading == RESULTS else {}
        requests = _requests(rows, reading, found)
        answers: dict[str, Opinion | None] = dict.fromkeys(rows["id"].to_list())
        ids = list(requests)
        for index, answer in gather_sync(
            self.provider, list(requests.values()), progress=self.progress, label=f"judging, {reading}"
        ):
            self.tally.add(answer)
            answers[ids[index]] = answer.value
        return answers

    def requests(self, subject: Subject, seed: int) -> Iterable[Request[Opinion]]:
        """What would be asked, for an estimate: search results are taken to be as long as they may be."""
        for reading in self.readings(subject):
            rows = self._rows(subject, reading, seed)
            known = stored(subject) if self.search is None else {}
            longest = ["x" * (READ // SHOWN)] * SHOWN
            yield from _requests(rows, reading, {i: known.get(i, longest) for i in rows["id"].to_list()}).values()

    def searches(self, subject: Subject, seed: int) -> int:
        """How many searches would be made."""
        return 0 if self.search is None else self._rows(subject, RESULTS, seed).height

    def close(self) -> None:
        if self.search is not None:
            sync.run(self.search.close())

    def _rows(self, subject: Subject, reading: Reading, seed: int) -> pl.DataFrame:
        """Id and text of the sample. Without a provider, results are known only for records with evidence."""
        rows = subject.rows.filter(pl.col("text").is_not_null()).select("id", "text", "language")
        if reading == RESULTS and self.search is None:
            rows = rows.filter(pl.col("id").is_in(list(stored(subject))))
        if rows.height > self.sample:
            rows = rows[np.sort(np.random.default_rng(seed).permutation(rows.height)[: self.sample])]
        return rows

    def _searched(self, subject: Subject, rows: pl.DataFrame) -> Found:
        """Record id -> what a search found for it."""
        if self.search is None:
            return stored(subject)
        chain = self.search

        async def ask(row: tuple[str, str, str | None]) -> Sequence[str] | None:
            _, text, language = row
            try:
                results = await chain.search(Query(text[:QUERY], language=language, max_results=SHOWN))
            except SearchFailed:
                return None
            pieces = [(piece.title, piece.text) for piece in results.evidence[:SHOWN]]
            return [shown for title, body in pieces if body != text and (shown := _shown(title, body))]

        asked = list(rows.iter_rows())
        found = sync.run(all_of(asked, ask, concurrency=16, progress=self.progress, label="searching"))
        return dict(zip(rows["id"].to_list(), found, strict=True))


def _requests(rows: pl.DataFrame, reading: Reading, found: Found) -> dict[str, Request[Opinion]]:
    """By record id, without those whose search failed."""
    asked = rows.select("id", "text").iter_rows()
    results = {i: found.get(i, ()) for i in rows["id"].to_list()}
    return {i: request_of(i, text, reading, pieces) for i, text in asked if (pieces := results[i]) is not None}


def stored(subject: Subject) -> dict[str, list[str]]:
    """The first pieces of evidence of each record, as text, without near-copies of it and without its own source."""
    table = subject.table("evidence")
    if table is None:
        return {}
    for guard in ("guard_copy", "guard_own_source"):
        if guard in table.columns:
            table = table.filter(~pl.col(guard).fill_null(False))
    out: dict[str, list[str]] = {}
    for record, title, text in (
        table.sort("record_id", "rank", maintain_order=True).select("record_id", "title", "text").iter_rows()
    ):
        if shown := _shown(title, text):
            out.setdefault(record, []).append(shown)
    return {record: pieces[:SHOWN] for record, pieces in out.items()}


def _shown(title: str | None, text: str | None) -> str:
    return ": ".join(part for part in (title, text) if part)[: READ // SHOWN]
