"""A model that says whether claims can be checked, for the feasibility check; and what it is
asked.

With a search provider, or on an enriched dataset, it is also shown what a search finds, so that
"with search" is measured and not only promised. Whether it can be believed is for the check to say,
which compares it with annotators.

What a model is asked about feasibility: the guide's question (its appendix C.3), three answers,
rationale first.

The guide asks it twice, with and without the sentence that a search is at hand; where search
results are there, the model can also be shown them. The words are the prompt "feasibility"; the
kinds of missing information are those that the guide lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, get_args

import numpy as np
import polars as pl

from claimlab.audit.subject import Subject
from claimlab.core import sync
from claimlab.core.calls.pool import all_of
from claimlab.core.choices import each_of
from claimlab.core.errors import SearchFailed
from claimlab.core.run import Run
from claimlab.llm.judge import JudgeCase, ModelJudge, Reasoned
from claimlab.llm.messages import Request, untrusted
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Given, Prompt, Prompts, read_prompts
from claimlab.llm.provider import Provider
from claimlab.search.chain import ProviderChain
from claimlab.search.connect import named_chain
from claimlab.search.query import Query
from claimlab.text.langid import other_language

Reading = Literal["without search", "search promised", "search results"]
READINGS: tuple[Reading, ...] = get_args(Reading)
ALONE, PROMISED, RESULTS = READINGS
Answer = Literal["feasible", "feasible with web search", "not feasible"]
Kind = Literal["person", "place", "text", "media", "time", "no claim"]
CHARACTERS_READ = (
    1500  # characters of a text; the rest is rarely needed to see whether it can be checked
)
EVIDENCE_SHOWN = 5  # pieces of evidence
MAX_TOKENS = 400
_PARTS: dict[Reading, str] = {ALONE: "alone", PROMISED: "promised", RESULTS: "results"}
SAMPLE_RECORDS = 300  # as in the guide
QUERY = 300  # characters of a statement that are searched for


class Opinion(Reasoned):
    """A model's answer on one statement."""

    missing: list[Kind]
    answer: Answer

    def feasible(self, reading: Reading) -> bool:
        """Whether the statement counts as feasible: without a search, one that needs a search does
        not.
        """
        return self.answer == "feasible" if reading == ALONE else self.answer != "not feasible"


def case_of(
    prompt: Prompt, record: str, text: str, reading: Reading, results: Sequence[str] = ()
) -> JudgeCase:
    """The question about one statement; `results` are shown in the reading that has them."""
    system = [prompt.text("system"), prompt.text(_PARTS[reading]), prompt.text("ask")]
    data = [untrusted(text[:CHARACTERS_READ], "statement")]
    if reading == RESULTS:
        data.insert(0, untrusted("\n\n".join(results) or prompt.text("nothing_found"), "results"))
    return JudgeCase(record, "\n\n".join(system), "\n\n".join(data), text)


Snippets = Mapping[str, Sequence[str] | None]  # null: the search failed


class FeasibilityJudge:
    """`provider` is a model, `search` a chain of search providers; a refusal or a failed answer is
    null, and the tally counts it."""

    def __init__(
        self,
        provider: Provider,
        sample: int = SAMPLE_RECORDS,
        *,
        search: ProviderChain | None = None,
        prompts: Prompts | None = None,
    ) -> None:
        self.sample, self.search = sample, search
        prompt = (prompts or Prompts())["feasibility"]
        self.model = ModelJudge(
            provider,
            prompt,
            Opinion,
            value=lambda opinion: opinion.answer,
            max_tokens=MAX_TOKENS,
            differ=other_language,
        )

    @property
    def name(self) -> str:
        return f"model {self.model.model}"

    @property
    def standing(self) -> str | None:
        """A caveat from its profile, such as that the model is too small for results."""
        return self.model.standing

    def readings(self, subject: Subject) -> tuple[Reading, ...]:
        """The two of the guide, and the one with search results where there are any."""
        searched = self.search is not None or stored(subject)
        return READINGS if searched else (ALONE, PROMISED)

    def opinions(self, subject: Subject, reading: Reading, seed: int) -> dict[str, Opinion | None]:
        """By record id, for a sample drawn at random; null where the model or the search failed."""
        rows = self._rows(subject, reading, seed)
        results = self._searched(subject, rows) if reading == RESULTS else {}
        answers: dict[str, Opinion | None] = dict.fromkeys(rows["id"])
        cases = self._cases(rows, reading, results)
        opinions = self.model.judge(cases, label=f"judging, {reading}")
        return answers | {opinion.case: opinion.reply for opinion in opinions}

    def requests(self, subject: Subject, seed: int) -> Iterable[Request[Opinion]]:
        """What would be asked, for an estimate: search results are taken to be as long as they may
        be.
        """
        for reading in self.readings(subject):
            rows = self._rows(subject, reading, seed)
            stored_evidence = stored(subject) if self.search is None else {}
            longest = ["x" * (CHARACTERS_READ // EVIDENCE_SHOWN)] * EVIDENCE_SHOWN
            results = {i: stored_evidence.get(i, longest) for i in rows["id"]}
            yield from self.model.requests(self._cases(rows, reading, results))

    def searches(self, subject: Subject, seed: int) -> int:
        """How many searches would be made."""
        return 0 if self.search is None else self._rows(subject, RESULTS, seed).height

    def close(self) -> None:
        if self.search is not None:
            sync.run(self.search.close())

    def _rows(self, subject: Subject, reading: Reading, seed: int) -> pl.DataFrame:
        """Id and text of the sample. Without a provider, results are known only for records with
        evidence.
        """
        rows = subject.rows.drop_nulls("text").select("id", "text", "language")
        if reading == RESULTS and self.search is None:
            rows = rows.filter(pl.col("id").is_in(list(stored(subject))))
        if rows.height > self.sample:
            rows = rows[
                np.sort(np.random.default_rng(seed).permutation(rows.height)[: self.sample])
            ]
        return rows

    def _cases(self, rows: pl.DataFrame, reading: Reading, results: Snippets) -> list[JudgeCase]:
        """What is asked of the sample, without the records whose search failed."""
        return [
            case_of(self.model.prompt, i, text, reading, pieces)
            for i, text in rows.select("id", "text").iter_rows()
            if (pieces := results.get(i, ())) is not None
        ]

    def _searched(self, subject: Subject, rows: pl.DataFrame) -> Snippets:
        """Record id -> what a search found for it."""
        if self.search is None:
            return stored(subject)
        chain = self.search

        async def ask(row: tuple[str, str, str | None]) -> Sequence[str] | None:
            _, text, language = row
            try:
                results = await chain.search(
                    Query(text[:QUERY], language=language, max_results=EVIDENCE_SHOWN)
                )
            except SearchFailed:
                return None
            pieces = [(piece.title, piece.text) for piece in results.evidence[:EVIDENCE_SHOWN]]
            return [
                quoted for title, body in pieces if body != text and (quoted := _shown(title, body))
            ]

        questions = list(rows.iter_rows())
        snippets = sync.run(all_of(questions, ask, concurrency=16, label="searching"))
        return dict(zip(rows["id"], snippets, strict=True))


@contextmanager
def open_judge(
    run: Run,
    judge: str | FeasibilityJudge | None,
    sample: int,
    provider: str | Sequence[str],
    prompts: Given,
) -> Iterator[FeasibilityJudge | None]:
    """The judge that is named, with the search that it may use; what was opened here is closed
    here.
    """
    words = read_prompts(prompts, "audit")
    if not isinstance(judge, str):
        yield judge
        return
    names = each_of(provider)
    search = named_chain(names, run.calls) if names else None
    model_provider = open_provider(judge, calls=run.calls)
    model = FeasibilityJudge(model_provider, sample, search=search, prompts=words)
    try:
        yield model
    finally:
        model.close()


def stored(subject: Subject) -> dict[str, list[str]]:
    """The first pieces of evidence of each record, as text, without near-copies of it and without
    its own source.
    """
    table = subject.table("evidence")
    if table is None:
        return {}
    for guard in ("guard_copy", "guard_own_source"):
        if guard in table.columns:
            table = table.filter(~pl.col(guard).fill_null(False))
    out: dict[str, list[str]] = {}
    for record, title, text in (
        table.sort("record_id", "rank", maintain_order=True)
        .select("record_id", "title", "text")
        .iter_rows()
    ):
        if piece := _shown(title, text):
            out.setdefault(record, []).append(piece)
    return {record: pieces[:EVIDENCE_SHOWN] for record, pieces in out.items()}


def _shown(title: str | None, text: str | None) -> str:
    return ": ".join(part for part in (title, text) if part)[: CHARACTERS_READ // EVIDENCE_SHOWN]
