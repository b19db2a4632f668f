"""Falling back from provider to provider, and recording what was answered so that it can be given
again.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.core.calls.calls import Calls
from claimlab.core.errors import BudgetSpent, ReplayMiss, SearchFailed, UsageError
from claimlab.search.chain import ProviderChain
from claimlab.search.evidence import Evidence, FactCheckReview
from claimlab.search.query import Query
from claimlab.search.recorded import Recorded
from claimlab.search.results import Results

WHEN = datetime(2026, 11, 1, 12)


class Planned:
    """A provider that does what it is told, and counts its calls."""

    def __init__(
        self, name: str, *plan: int | Exception, cost: float | None = 0.01, settings: str = ""
    ) -> None:
        self.name = name
        self.plan = list(plan)
        self.cost = cost
        self.settings = settings
        self.calls = 0

    def parameters(self) -> dict[str, Any]:
        return {"settings": self.settings}

    async def search(self, query: Query) -> Results:
        step = self.plan[min(self.calls, len(self.plan) - 1)]
        self.calls += 1
        await asyncio.sleep(0)
        if isinstance(step, Exception):
            raise step
        pieces = [
            Evidence(
                title=f"{self.name} {i}",
                text="Água é vida — 水",
                url=f"https://{self.name}.example/{i}",
                retrieved=WHEN,
                provider=self.name,
                query=query.text,
                published=datetime(2021, 3, 4, 5, 6, 7),
                dated_from="page",
                score=0.1 + i,
                review=FactCheckReview(
                    publisher="P", rating="Falso", claim_date=datetime(2021, 1, 1)
                ),
                more={"engines": ["a", "b"]},
            )
            for i in range(step)
        ]
        return Results(
            query, self.name, tuple(pieces), WHEN, cost=self.cost, malformed=1, notes=("a note",)
        )


def failing(kind: str = "timeout") -> SearchFailed:
    return SearchFailed("x", kind, f"It failed ({kind}).", "Wait.", tries=3)


def search(provider: Any, text: str = "água") -> Results:
    return asyncio.run(provider.search(Query(text, language="por")))


def test_the_first_answer_wins_and_the_story_is_told() -> None:
    last = Planned("c", 1)
    found = search(ProviderChain([Planned("a", failing()), Planned("b", 0), Planned("d", 2), last]))
    assert (found.provider, len(found.evidence), last.calls) == ("d", 2, 0)
    assert [(a.provider, a.outcome, a.kind) for a in found.attempts] == [
        ("a", "failed", "timeout"),
        ("b", "empty", None),
        ("d", "answered", None),
    ]
    assert found.attempts[0].reason == "It failed (timeout). Wait."
    assert found.cost == pytest.approx(0.02), "the empty answer was paid for too"


def test_an_empty_answer_is_an_answer_when_so_chosen() -> None:
    second = Planned("b", 2)
    found = search(ProviderChain([Planned("a", 0), second], fall_back="on-failure"))
    assert (found.provider, found.evidence, second.calls) == ("a", (), 0)


def test_nothing_found_anywhere_is_empty_with_every_attempt() -> None:
    found = search(ProviderChain([Planned("a", 0), Planned("b", failing())]))
    assert found.evidence == ()
    assert [a.outcome for a in found.attempts] == ["empty", "failed"]


def test_when_all_fail_each_reason_is_kept() -> None:
    with pytest.raises(
        SearchFailed, match=r"a: It failed \(timeout\).*b: It failed \(refused\)"
    ) as caught:
        search(ProviderChain([Planned("a", failing()), Planned("b", failing("refused"))]))
    assert caught.value.kind == "all-failed"
    assert [a.provider for a in caught.value.attempts] == ["a", "b"]  # type: ignore[attr-defined]
    with pytest.raises(SearchFailed) as caught:
        search(ProviderChain([Planned("a", failing())]))
    assert caught.value.kind == "timeout", "a chain of one fails as that one does"


def test_a_spent_budget_ends_the_chain() -> None:
    second = Planned("b", 1)
    with pytest.raises(BudgetSpent):
        search(ProviderChain([Planned("a", BudgetSpent("Spent.", "Raise it.")), second]))
    assert second.calls == 0


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    assert search(ProviderChain([Planned("a", 0, cost=None), Planned("b", 1)])).cost is None


def test_chains_are_checked() -> None:
    with pytest.raises(UsageError, match="empty"):
        ProviderChain([])
    with pytest.raises(UsageError, match="not a way to fall back"):
        ProviderChain([Planned("a", 1)], fall_back="sometimes")  # type: ignore[arg-type]


def test_a_recorded_answer_is_given_again_at_no_cost(tmp_path: Path) -> None:
    calls = Calls(cache=tmp_path)
    provider = Planned("a", 3)
    first = search(Recorded(provider, calls))
    again = search(Recorded(provider, calls))
    assert provider.calls == 1
    assert (first.cost, again.cost) == (0.01, 0.0)
    assert again.evidence == first.evidence
    assert (again.malformed, again.notes, again.retrieved) == (1, ("a note",), WHEN)


def test_a_question_asked_twice_at_once_is_paid_for_once(tmp_path: Path) -> None:
    provider = Planned("a", 1)
    recorded = Recorded(provider, Calls(cache=tmp_path))

    async def together() -> list[Results]:
        return await asyncio.gather(*(recorded.search(Query("água")) for _ in range(5)))

    assert len(asyncio.run(together())) == 5
    assert provider.calls == 1


def test_a_replay_gives_the_same_table_byte_for_byte(tmp_path: Path) -> None:
    calls = Calls(cache=tmp_path)
    live = search(Recorded(Planned("a", 3), calls))
    calls.close()
    replayed = search(Recorded(Planned("a"), Calls("replay", tmp_path)))
    tables = [
        pl.DataFrame([piece.row("r1", rank, None) for rank, piece in enumerate(found.evidence)])
        for found in (live, replayed)
    ]
    files = [tmp_path / "live.parquet", tmp_path / "replayed.parquet"]
    for table, file in zip(tables, files, strict=True):
        table.write_parquet(file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert tables[0]["verdict"].to_list() == ["false"] * 3


@pytest.mark.parametrize("other", ["query", "provider", "settings"])
def test_a_call_that_was_not_recorded_is_named(other: str, tmp_path: Path) -> None:
    calls = Calls(cache=tmp_path)
    search(Recorded(Planned("a", 1), calls))
    of, settings, text = (
        ("b" if other == "provider" else "a"),
        ("x" if other == "settings" else ""),
        "água",
    )
    with pytest.raises(ReplayMiss) as caught:
        replay = Recorded(Planned(of, settings=settings), Calls("replay", tmp_path))
        search(replay, text="fogo" if other == "query" else text)
    assert f"no answer of {of}" in str(caught.value)
    assert ("fogo" if other == "query" else "gua") in str(caught.value)


def test_a_failure_replays_as_that_failure_and_is_asked_again_when_recording(
    tmp_path: Path,
) -> None:
    calls = Calls(cache=tmp_path)
    flaky = Planned("a", failing("rate-limited"), 2)
    chain = ProviderChain([Recorded(flaky, calls), Recorded(Planned("b", 1), calls)])
    live = search(chain)
    offline = Calls("replay", tmp_path)
    replay = ProviderChain([Recorded(Planned("a"), offline), Recorded(Planned("b"), offline)])
    replayed = search(replay)
    assert replayed.attempts == live.attempts, "the replay tells the same story"
    assert replayed.evidence == live.evidence
    assert search(chain).provider == "a", "recording again asks where a failure was recorded"
    assert search(replay).provider == "a"
    assert flaky.calls == 2
