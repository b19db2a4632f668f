"""The best fact-checks for each query, in a table, and what they come to in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import polars as pl

from claimlab.core.digest import digest_json
from claimlab.core.shown import Shown
from claimlab.core.stats.interval import FEW_UNITS, Interval
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.search.evidence import Evidence, FactCheckReview
from claimlab.tasks.matching import Decision

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


def match_of(hit: Evidence) -> JsonObject:
    """A fact-check that may answer a query. `score` orders them: from 0 to 1 where meaning was
    compared, else BM25. It is no probability. `words` is its BM25, `meaning` its cosine."""
    review, more, score = hit.review or FactCheckReview(), hit.more, hit.score or 0.0
    meaning = more.get("meaning")
    return {
        "id": factcheck_id(more.get("document"), hit.url, hit.text),
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
    by_words: int = 0  # queries that were compared by words alone

    @property
    def table(self) -> pl.DataFrame:
        return self.rows

    def headline(self) -> str:
        return f"of {several(self.queries, 'query', 'queries')}: {self.conclusion()}"

    def conclusion(self) -> str:
        """Whether there is an answer, and how sure that is."""
        by_words = self.rows["meaning"].null_count()
        if self.rows.is_empty():
            claims = "claim" if self.queries == 1 else "claims"
            if self.by_words == self.queries:
                compared = "It was" if self.queries == 1 else "They were"
                return (
                    f"No fact-check in the archive shares a word with the {claims}."
                    f" {compared} compared by words only."
                )
            return f"Nothing in the archive is near the {claims}."
        if self.decision is None:
            return (
                "Scores only: read the claims to see which say the same. Labelled queries"
                f" would show from which score on a match can be trusted.{BM25 if by_words else ''}"
            )
        target = f"precision {self.decision.asked:g} {where(self.decision.unanswered)}"
        if self.decision.threshold is None:
            return f"No query is answered at {target}: {self.decision.why}."
        n = self.rows.filter("answer")["query"].n_unique()
        answered = f"{several(n, 'query', 'queries')} answered, for {target}."
        if self.decision.precision is None:
            return f"{answered} No labelled query that was kept apart is answered."
        measured = "; ".join(
            f"{within(at['precision'], at['interval'])} {where(at['unanswered'])}"
            for at in self.decision.at
            if at["precision"] is not None
        )
        source = f" (from {self.decision.source}{self.grouped})" if self.decision.source else ""
        right = self.decision.no_match
        no_match = "" if right is None else f' "No match" is right in {right:.2f}.'
        return (
            f"{answered} Measured on queries that did not choose the threshold: {measured}{source}."
            f"{no_match}"
        )

    @property
    def grouped(self) -> str:
        """How many groups the labelled queries form, in words; empty where each is its own."""
        units = {} if self.decision is None else self.decision.units
        if not units or units["column"] is None:
            return ""
        few = ", which is few" if units["effective"] < FEW_UNITS else ""
        return f", {units['records']:,} of {several(units['units'], 'group')}{few}"

    def to_json(self) -> JsonObject:
        return {
            "tool": f"claimlab {__version__}",
            "queries": self.queries,
            "conclusion": self.conclusion(),
            "decision": None if self.decision is None else asdict(self.decision),
            "scores": self.scores,
            "by_words": self.by_words,
            "not_measured": dict(self.not_measured),
        }


def where(unanswered: float) -> str:
    """A share of claims without an answer, in words."""
    return f"where {unanswered:.0%} of the claims have no answer"


def within(value: float, ends: Interval | None) -> str:
    return f"{value:.2f}" + (f", 95% interval {ends[0]:.2f} to {ends[1]:.2f}" if ends else "")


def factcheck_id(own: str | None, url: str | None, text: str | None) -> str:
    """The id of a fact-check; one without is named by its address and which of its claims it is."""
    return own or f"{url or ''}#{digest_json(text)[:8]}"
