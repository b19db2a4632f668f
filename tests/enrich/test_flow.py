"""The two-stage flow over a real local index: every end, the guard, the day of the claim, failures,
the budget.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.core.budget import Budget
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import estimated
from claimlab.core.dataset import Dataset
from claimlab.core.errors import BudgetSpent, ClaimlabError, ReplayMiss, SearchFailed, UsageError
from claimlab.core.journal import Journal
from claimlab.enrich.cost import cost
from claimlab.enrich.doors import open_doors
from claimlab.enrich.extract import Extraction
from claimlab.enrich.flow import Doors, EnrichSettings
from claimlab.enrich.front import read_countries
from claimlab.enrich.run import Enrichment, Shards, enrich_async
from claimlab.search.query import Query
from claimlab.search.results import Results, now

from .conftest import REVIEWS


class Access:
    """The words of a command, and how its calls are made."""

    def __init__(self, web: list[str], factcheck: list[str] | None = None, **words: Any) -> None:
        how = {name: words.pop(name) for name in ("mode", "cache", "budget") if name in words}
        self.calls = Calls(**how)
        self.words = {"web": web, "factcheck": factcheck or [], "words": True, **words}


def stages(settings: EnrichSettings | None) -> EnrichSettings:
    """By the paper's rule, under which a long query needs its claim: both stages are searched."""
    return replace(settings or EnrichSettings(), correspondence_rule="paper")


def run(
    dataset: Dataset, access: Access, settings: EnrichSettings | None = None, **more: Any
) -> Enrichment:
    async def whole() -> Enrichment:
        async with open_doors(calls=access.calls, **access.words) as doors:
            return await enrich_async(dataset, doors, stages(settings), **more)

    return asyncio.run(whole())


def enriched(
    dataset: Dataset, doors: Doors, settings: EnrichSettings | None = None, **more: Any
) -> Enrichment:
    return asyncio.run(enrich_async(dataset, doors, stages(settings), **more))


def ends(done: Enrichment) -> dict[str, str]:
    return dict(done.dataset.tables["enrichment"].select("record_id", "outcome").iter_rows())


def test_every_end_has_its_own_name(dataset: Dataset, reviews: Path, tmp_path: Path) -> None:
    done = run(dataset, Access([f"local:{reviews}"], cache=tmp_path / "c"))
    assert ends(done) == {
        "same": "corresponding", "deep": "corresponding", "other": "not-corresponding", "none": "no-claim", "link": "no-query",
    }  # fmt: skip
    claims = done.dataset.tables["claims"]
    assert claims.filter(pl.col("record_id") == "deep")["text"].to_list() == [
        "The harbour council of Velmore sold 412 wooden benches to visitors."
    ]
    assert set(claims["method"]) == {"offline"}
    assert "same" not in set(claims["record_id"])  # the first search was enough
    evidence = done.dataset.tables["evidence"].filter(pl.col("correspondence") >= 0.8)
    assert dict(evidence.select("record_id", "stage").iter_rows()) == {
        "same": "query",
        "deep": "claim",
    }
    assert evidence["verdict"].to_list() == ["false", "false"]
    assert evidence["stance"].to_list() == ["refutes", "refutes"]
    assert evidence["guard_factcheck"].all()
    assert evidence.filter(pl.col("record_id") == "same")["guard_copy"].to_list() == [True]
    assert done.summary["outcomes"]["corresponding"] == 2
    assert done.summary["needed_extraction"] == 3
    assert done.dataset.lineage[-1].step == "enrich"


def test_without_an_extractor_the_second_stage_is_left_out(
    dataset: Dataset, reviews: Path, tmp_path: Path
) -> None:
    done = run(dataset, Access([f"local:{reviews}"], extract="none", cache=tmp_path / "c"))
    assert ends(done)["deep"] == "not-corresponding"
    assert done.summary["needed_extraction"] == 3
    assert done.dataset.tables["claims"].height == 0


def test_fact_checks_are_searched_with_query_and_claim(
    dataset: Dataset, reviews: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "pages"
    empty.mkdir()
    (empty / "a.txt").write_text("Nothing of interest happened at the lake.", encoding="utf-8")
    done = run(dataset, Access([f"local:{empty}"], [f"local:{reviews}"], cache=tmp_path / "c"))
    found = done.dataset.tables["evidence"].filter(pl.col("correspondence") >= 0.8)
    assert dict(found.select("record_id", "stage").iter_rows()) == {
        "same": "factcheck-query",
        "deep": "factcheck-claim",
    }


def test_what_is_newer_than_the_claim_goes_and_what_has_no_date_stands_apart(
    dataset: Dataset, reviews: Path, tmp_path: Path
) -> None:
    done = run(
        dataset,
        Access([f"local:{reviews}"], cache=tmp_path / "c"),
        EnrichSettings(as_of="claim-date"),
    )
    found = done.dataset.tables["evidence"]
    assert (
        "https://checks.example/benches" not in found["url"].to_list()
    )  # September; the claim is of June
    assert ends(done) | {"other": ""} == {
        "same": "corresponding", "deep": "nothing-found", "other": "", "none": "no-claim", "link": "no-query",
    }  # fmt: skip
    undated = found.filter(pl.col("as_of") == "undated")
    assert set(undated["url"]) <= {"https://checks.example/quarry"}
    assert ends(done)["other"] == "nothing-found"  # all that was found has no date
    lines = done.dataset.tables["enrichment"]
    assert done.summary["undated"] == lines["undated"].sum() > 0


def test_undated_evidence_does_not_settle_correspondence(dataset: Dataset, tmp_path: Path) -> None:
    """The very words of the claim are found, but nobody knows when they were published: the claim
    is extracted and searched for as if nothing had been found."""
    review = {k: v for k, v in REVIEWS[0].items() if k != "datePublished"}
    (tmp_path / "undated.json").write_text(json.dumps([review]), encoding="utf-8")
    access = Access([f"local:{tmp_path / 'undated.json'}"], cache=tmp_path / "c")
    done = run(dataset, access, EnrichSettings(as_of="claim-date"))
    line = (
        done.dataset.tables["enrichment"].filter(pl.col("record_id") == "same").row(0, named=True)
    )
    assert (line["undated"], line["needed_extraction"], line["outcome"]) == (
        1,
        True,
        "nothing-found",
    )
    assert "same" in set(done.dataset.tables["claims"]["record_id"])
    (piece,) = done.dataset.tables["evidence"].filter(pl.col("record_id") == "same").to_dicts()
    assert (piece["as_of"], piece["corresponds"]) == ("undated", True), "it is kept, apart"


def test_one_day_for_all(dataset: Dataset, reviews: Path, tmp_path: Path) -> None:
    done = run(
        dataset,
        Access([f"local:{reviews}"], cache=tmp_path / "c"),
        EnrichSettings(as_of="2021-05-01"),
    )
    assert ends(done)["same"] == "nothing-found"


class Flaky:
    """A provider that fails for one record, notes what it was asked, and can break in ways nobody
    planned.
    """

    name = "flaky"

    def __init__(self, error: Exception | None = None) -> None:
        self.queries: list[Query] = []
        self.error = error

    def parameters(self) -> dict[str, Any]:
        return {}

    async def search(self, query: Query) -> Results:
        self.queries.append(query)
        if self.error is not None and "Marisett" in query.text:
            raise self.error
        return Results(query=query, provider=self.name, evidence=(), retrieved=now(), cost=0.0)


@pytest.mark.needs("pandas")
def test_a_failing_search_is_counted_and_stops_nobody(dataset: Dataset) -> None:
    flaky = Flaky(SearchFailed("flaky", "timeout", "No answer came.", "Try later."))
    done = enriched(dataset, Doors(flaky))
    assert repr(done).startswith(f"<Enrichment of '{dataset.name}': ")
    assert len(done) == done.to_pandas().shape[0] == dataset.records.height
    assert "<table" in done._repr_html_()
    assert ends(done)["same"] == "failed"
    assert ends(done)["deep"] == "nothing-found"
    assert done.summary["failures"] == {"query: timeout": 1}
    broken = enriched(dataset, Doors(Flaky(ZeroDivisionError("oh"))))
    assert (ends(broken)["same"], broken.summary["failures"]) == ("failed", {"flow: crash": 1})


def test_a_missing_key_stops_the_run_at_once(dataset: Dataset) -> None:
    with pytest.raises(SearchFailed, match="KEY"):
        enriched(dataset, Doors(Flaky(SearchFailed("flaky", "no-key", "Needs KEY.", "Set it."))))


def test_a_failed_extraction_is_a_failure_and_no_rule_steps_in(dataset: Dataset) -> None:
    class Refusing:
        name = "model: m"

        def parameters(self) -> dict[str, Any]:
            return {}

        async def extract(self, text: str, language: str | None, *, tag: str = "") -> Extraction:
            return Extraction(failure="refusal", detail="no")

    done = enriched(dataset, Doors(Flaky(), extractor=Refusing()))
    assert set(ends(done).values()) == {"failed", "no-query"}
    assert done.summary["failures"] == {"extract: refusal": 4}
    assert done.dataset.tables["claims"].height == 0


def test_language_and_country_go_with_every_record() -> None:
    rows = pl.DataFrame(
        {
            "id": ["a", "b", "c"], "text": ["one bridge", "duas pontes", "drei"], "language": ["eng", "por", None],
            "meta": ['{"country": "AO"}', None, None],
        }
    )  # fmt: skip
    flaky = Flaky()
    enriched(
        Dataset.build("x", rows),
        Doors(flaky),
        EnrichSettings(countries=read_countries(["pt=br", "US"])),
        concurrency=1,
    )
    assert [(q.language, q.country) for q in flaky.queries] == [
        ("eng", "AO"),
        ("por", "BR"),
        (None, "US"),
    ]
    with pytest.raises(UsageError, match="not a country"):
        read_countries(["Brazil"])


def test_the_same_question_is_not_asked_twice_at_once(tmp_path: Path, searx: Any) -> None:
    rows = pl.DataFrame(
        {"id": [str(i) for i in range(12)], "text": ["The same old bridge fell."] * 12}
    )
    run(
        Dataset.build("x", rows),
        Access(["searxng"], extract="none", cache=tmp_path / "c"),
        EnrichSettings(results=1),
    )
    assert sum(searx.asked.values()) == 1


def test_social_media_is_kept_in_the_complete_table_and_marked_for_the_filtered_one(
    tmp_path: Path,
) -> None:
    file = tmp_path / "posts.jsonl"
    text = "The night ferry of Brannock sank in 1931."
    file.write_text(
        json.dumps({"text": text + " So they say.", "url": "https://www.facebook.com/1"}) + "\n",
        encoding="utf-8",
    )
    done = run(
        Dataset.build("x", pl.DataFrame({"id": ["a"], "text": [text]})),
        Access([f"local:{file}"], cache=tmp_path / "c"),
    )
    line = done.dataset.tables["enrichment"].row(0, named=True)
    assert (line["outcome"], line["outcome_filtered"]) == ("corresponding", "nothing-found")
    assert done.dataset.tables["evidence"]["filtered"].to_list() == [True]


def test_a_spent_budget_keeps_what_was_done_and_a_larger_one_goes_on(
    dataset: Dataset, searx: Any, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    settings = EnrichSettings(
        results=1
    )  # SearXNG gives pages, each a call; one result is on the first

    def attempt(calls: int) -> Enrichment:
        access = Access(
            ["searxng"], extract="none", cache=tmp_path / "c", budget=Budget(calls=calls)
        )
        return run(dataset, access, settings, journal=Journal(out, {"n": 1}), concurrency=1)

    with pytest.raises(BudgetSpent):
        attempt(2)
    assert sum(searx.asked.values()) == 2
    assert sorted(Shards(Journal(out, {"n": 1}), dataset.records["id"].to_list()).done) == [
        "deep",
        "same",
    ]
    done = attempt(2)
    assert sum(searx.asked.values()) == 4
    assert max(searx.asked.values()) == 1
    assert done.summary["outcomes"]["not-corresponding"] == 4


def test_a_journal_of_another_run_or_a_torn_shard_is_not_taken_up(
    tmp_path: Path, dataset: Dataset
) -> None:
    ids = dataset.records["id"].to_list()
    first = Journal(tmp_path, {"n": 1})
    enriched(dataset, Doors(Flaky()), journal=first)
    assert set(Shards(Journal(tmp_path, {"n": 1}), ids).done) == {
        "same",
        "deep",
        "other",
        "none",
        "link",
    }
    assert Shards(Journal(tmp_path, {"n": 2}), ids).done == {}
    for file in tmp_path.rglob("*.json"):
        file.write_text('{"torn": {"record_id": "torn", "outc', encoding="utf-8")
    assert Shards(Journal(tmp_path, {"n": 1}), ids).done == {}


@pytest.mark.slow
def test_a_replay_asks_nobody_and_names_what_it_does_not_hold(
    dataset: Dataset, searx: Any, tmp_path: Path
) -> None:
    recorded = run(dataset, Access(["searxng"], cache=tmp_path / "c"))
    before = sum(searx.asked.values())
    searx.close()
    again = run(dataset, Access(["searxng"], cache=tmp_path / "c", mode="replay"))
    assert before == sum(searx.asked.values())
    for name, table in recorded.dataset.tables.items():
        assert table.equals(again.dataset.tables[name]), name
    other = Dataset.build("x", pl.DataFrame({"id": ["n"], "text": ["A question never asked"]}))
    with pytest.raises(ReplayMiss, match="never asked"):
        run(other, Access(["searxng"], cache=tmp_path / "c", mode="replay"))


def test_the_estimate_counts_calls_and_money_and_sends_nothing(
    dataset: Dataset, searx: Any, tmp_path: Path
) -> None:
    async def whole() -> dict[str, Any]:
        calls = Calls(cache=tmp_path / "c")
        async with open_doors(["searxng"], calls, factcheck=["google-factcheck"]) as doors:
            parts, facts = cost(dataset, doors, EnrichSettings(), calls)
            return estimated(parts, facts=facts)

    found = asyncio.run(whole())
    assert found["queries"] == 4
    searxng = found["parts"]["searxng"]
    assert (searxng["calls_least"], searxng["calls_most"], found["money_most"]) == (4, 8, 0.0)
    assert sum(searx.asked.values()) == 0
    assert found["sentences"][:2] == ["5 records.", "4 queries."]
    assert not (tmp_path / "c").exists(), "an estimate leaves no recording behind"


@pytest.mark.parametrize(
    ("access", "message"),
    [
        (Access(["local:nowhere"], mode="live"), "There is no 'nowhere'"),
        (Access(["local"], mode="live"), "needs a place"),
        (Access(["brave:there"], mode="live"), "only local:FOLDER"),
        (Access(["brave", "brave"], mode="live"), "in one chain twice"),
        (Access(["brave"], extract="model", mode="live"), "needs a profile"),
        (Access(["brave"], profile="embedded", mode="live"), "would not be asked"),
        (Access(["brave"], mode="replay", cache=Path("nowhere")), "no recording"),
        (Access(["brave"], mode="record"), "needs a folder"),
    ],
)
def test_wrong_settings_are_told_in_a_sentence(
    access: Access, message: str, dataset: Dataset
) -> None:
    with pytest.raises(ClaimlabError, match=message):
        run(dataset, access)


def test_clean_takes_up_the_fact_checks_that_correspond_and_no_others(
    dataset: Dataset, reviews: Path, tmp_path: Path
) -> None:
    """Every label is turned over. "other" is also brought a rating, but of another claim about the
    same quarry.
    """
    from claimlab.clean.front import clean
    from claimlab.clean.recipe import Recipe, RecipeStep

    turned = pl.col("veracity").replace({"true": "false", "false": "true"})
    dataset.records = dataset.records.with_columns(turned)
    done = run(dataset, Access([f"local:{reviews}"], cache=tmp_path / "c"))
    assert set(done.dataset.tables["evidence"].drop_nulls("rating")["record_id"]) >= {
        "same",
        "deep",
        "other",
    }
    cleaned = clean(done.dataset, Recipe("one", 1, (RecipeStep("fact-checks"),)))
    assert set(cleaned.dataset.tables["doubtful"]["id"]) == {"same", "deep"}


def test_what_corresponds_comes_first_then_the_claims_results_then_the_rest(
    dataset: Dataset, tmp_path: Path
) -> None:
    """The query finds only the noise around the claim; what a detector sees first must not be that
    noise.
    """
    rows = [
        {
            "text": "My neighbour told everybody to listen and share with all friends, so angry.",
            "url": "https://a.example/1",
        },
        {"text": "Wooden benches of the harbour were painted.", "url": "https://b.example/2"},
        {
            "text": "Harbour council of Velmore sold 412 wooden benches to visitors in May.",
            "url": "https://c.example/3",
        },
    ]
    (tmp_path / "pages.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = run(
        dataset,
        Access([f"local:{tmp_path / 'pages.jsonl'}"], cache=tmp_path / "c"),
        EnrichSettings(results=2),
    )
    found = done.dataset.tables["evidence"].filter(pl.col("record_id") == "deep").sort("rank")
    assert found["rank"].to_list() == [1, 2, 3]
    assert found["url"].str.slice(8, 1).to_list() == ["c", "b", "a"]
    assert found["corresponds"].to_list() == [True, False, False]
    assert found["stage"].to_list() == ["claim", "claim", "query"]


def test_what_the_index_itself_cut_by_the_day_is_counted(
    dataset: Dataset, reviews: Path, tmp_path: Path
) -> None:
    done = run(
        dataset,
        Access([f"local:{reviews}"], cache=tmp_path / "c"),
        EnrichSettings(as_of="claim-date"),
    )
    line = (
        done.dataset.tables["enrichment"].filter(pl.col("record_id") == "deep").row(0, named=True)
    )
    assert line["newer"] > 0, "the fact-check of the benches is of September, the claim of June"
    assert done.summary["newer_than_claim"] >= line["newer"]
    again = run(
        dataset,
        Access([f"local:{reviews}"], cache=tmp_path / "c", mode="replay"),
        EnrichSettings(as_of="claim-date"),
    )
    assert again.summary["newer_than_claim"] == done.summary["newer_than_claim"]


def test_a_dataset_is_searched_as_documents_or_as_fact_checks_by_the_option_it_is_named_in(
    dataset: Dataset, tmp_path: Path
) -> None:
    """The labels of another corpus reach nobody as a rating, unless the user calls its rows
    fact-checks.
    """
    claims = pl.DataFrame(
        {
            "id": ["x"],
            "text": [dataset.records["text"][0]],
            "label_raw": ["hoax"],
            "veracity": ["false"],
            "source": ["hoax.example"],
        }
    )
    Dataset.build("other", claims).write(tmp_path / "other")
    place = f"local:{tmp_path / 'other'}"
    done = run(dataset, Access([place], [place], cache=tmp_path / "c"))
    found = done.dataset.tables["evidence"].filter(pl.col("record_id") == "same")
    assert found.select("rating", "verdict", "guard_factcheck").rows() == [("hoax", "false", True)]
    plain = run(dataset, Access([place], cache=tmp_path / "d")).dataset.tables["evidence"]
    assert plain.filter(pl.col("corresponds")).select(
        "record_id", "rating", "guard_factcheck"
    ).rows() == [("same", None, False)]


def test_a_language_without_rules_ends_as_not_measured(reviews: Path, tmp_path: Path) -> None:
    texts = {"zh": "你好！大家早上好吗？", "en": "Good morning! How are you?"}
    records = pl.DataFrame(
        {"id": list(texts), "text": list(texts.values()), "language": ["zho", "eng"]}
    )
    done = run(Dataset.build("d", records), Access([f"local:{reviews}"], cache=tmp_path / "c"))
    assert ends(done) == {"zh": "not-measured", "en": "no-claim"}
    assert done.summary["outcomes"]["not-measured"] == 1
