from __future__ import annotations

import polars as pl
import pytest
from parts.planted import clean_twin

from claimlab.audit.checks.feasibility import verdict_of
from claimlab.audit.feasibility_votes import (
    AGREED,
    QUESTION,
    agreement_of,
    combine,
    compare,
    votes_of,
)
from claimlab.audit.judge import ALONE, PROMISED, Opinion, Reading
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.audit.uncheckable import hints
from claimlab.core.dataset import Dataset


def votes(table: dict[str, list[str]]) -> pl.DataFrame:
    rows = [(r, f"a{i}", v) for r, answers in table.items() for i, v in enumerate(answers)]
    return pl.DataFrame(rows, schema=["record_id", "annotator", "answer"], orient="row")


def test_ties_go_down_for_the_lower_bound_and_up_for_the_upper() -> None:
    combined = combine(
        votes(
            {
                "a": ["feasible", "no"],
                "b": ["search", "feasible"],
                "c": ["no"],
                "d": ["no", "no", "search"],
            }
        )
    )
    assert combined.ids == ["a", "b", "c", "d"]
    assert combined.lower.tolist() == [0, 1, 0, 0]
    assert combined.upper.tolist() == [1, 1, 0, 0]
    assert combined.average.tolist() == [0.5, 1, 0, 0]
    assert combined.every.tolist() == [0, 1, 0, 0]
    assert combined.any.tolist() == [1, 1, 0, 1]
    assert combined.means() == (0.25, 0.375, 0.75)


def test_what_annotators_agreed_on_goes_before_their_votes() -> None:
    """Two of three said yes to the first forty, and were persuaded of no for ten of these; all said
    no to the last ten, but one."""
    data = clean_twin(size=60)
    ids = data.records["id"].to_list()[:50]
    voted = [["possible", "hard", "impossible"]] * 40 + [["impossible"] * 3] * 9
    voted.append(["impossible", "impossible", "hard"])
    rows = [
        (record, f"p{n}", QUESTION, answer)
        for record, answers in zip(ids, voted, strict=True)
        for n, answer in enumerate(answers)
    ]
    agreed = ["possible"] * 30 + ["impossible"] * 20
    rows += [(r, "consensus", AGREED, a) for r, a in zip(ids, agreed, strict=True)]
    columns = ["record_id", "annotator", "question", "value"]
    table = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        annotator_kind=pl.lit("human")
    )
    (found,) = audit(
        Dataset.build("x", data.records, {"annotations": table}), checks=["feasibility"], debug=True
    ).findings
    assert (found.n, found.score) == (50, pytest.approx(0.6))  # not 0.8, of the votes
    assert (found.details["lower"], found.details["upper"]) == (0, pytest.approx(0.82))
    assert found.why.startswith("Annotators agreed that 60.0% of 50 records are feasible")
    assert "say so of 0.0%, and at least one of 82.0%" in found.why
    table = table.filter(question=AGREED)
    (alone,) = audit(
        Dataset.build("x", data.records, {"annotations": table}), checks=["feasibility"], debug=True
    ).findings
    assert alone.score == found.score


def test_agreement_is_chance_corrected() -> None:
    assert agreement_of(votes({"a": ["no"]})) is None
    perfect = agreement_of(votes({"a": ["no", "no"], "b": ["search", "feasible"]}))
    assert perfect is not None
    assert (perfect["agreement"], perfect["kappa"]) == (1.0, 1.0)
    none = agreement_of(votes({"a": ["no", "feasible"], "b": ["feasible", "no"]}))
    assert none is not None
    assert none["kappa"] == pytest.approx(-1.0)


def test_the_threshold() -> None:
    assert verdict_of((0.5, 0.7)) == "fail"
    assert verdict_of((0.7, 0.8)) == "warn"
    assert verdict_of((0.76, 0.8)) == "pass"


def test_spellings_of_the_answers_and_strangers() -> None:
    data = clean_twin(size=60)
    ids = data.records["id"].to_list()[:4]
    table = pl.DataFrame(
        {
            "record_id": ids,
            "annotator": ["p"] * 4,
            "annotator_kind": ["human"] * 4,
            "question": ["feasibility"] * 4,
            "value": ["Possible", "HARD", "impossible", "dunno"],
        }
    )
    found = votes_of(Subject.of(Dataset.build("x", data.records, {"annotations": table})))
    assert found is not None
    assert found["answer"].to_list() == ["feasible", "search", "no"]


def test_without_people_or_judge_it_is_not_measured() -> None:
    data = clean_twin(size=60)
    result = audit(Dataset.build("x", data.records), checks=["feasibility"], debug=True)
    assert result.findings[0].verdict == "not-measured"
    assert "no feasibility annotations" in result.findings[0].why


class Judge:
    """A judge as a model is: it answers, fails on one record, and finds everything feasible once it
    may search.
    """

    name, standing = "test judge", None

    def readings(self, _: Subject) -> tuple[Reading, ...]:
        return (ALONE, PROMISED)

    def opinions(self, subject: Subject, reading: Reading, seed: int) -> dict[str, Opinion | None]:
        one = Opinion(
            rationale="No year.", missing=["time", "time"], answer="feasible with web search"
        )
        answers: dict[str, Opinion | None] = dict.fromkeys(subject.ids[:60], one)
        unclear = Opinion(rationale="Which mill?", missing=["place"], answer="not feasible")
        return {**answers, subject.ids[0]: None, subject.ids[1]: unclear}


def said(ids: list[str], answers: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "record_id": ids,
            "annotator": "p",
            "annotator_kind": "human",
            "question": QUESTION,
            "value": answers,
        }
    )


def test_a_model_judge_counts_failures_and_cannot_pass_or_fail_unvalidated() -> None:
    data = Dataset.build("x", clean_twin(size=90).records)
    promised, results, alone = audit(
        data, checks=["feasibility"], judge=Judge(), debug=True
    ).findings
    assert (promised.verdict, results.verdict, alone.verdict) == (
        "inconclusive",
        "not-measured",
        "warn",
    )
    assert (promised.n, promised.details["failed_answers"]) == (59, 1)
    assert "pass `provider`" in results.why
    assert alone.score == 0  # what needs a search is not feasible without one
    assert "unvalidated" in alone.why
    assert {row["kind"]: row["records"] for row in promised.details["missing"]}["time"] == 58
    assert [row["records"] for row in promised.details["answers"]] == [0, 58, 1]
    assert promised.details["explanations"][0]["explanation"] == "Which mill?"


def test_a_judge_that_agrees_with_annotators_can_pass_and_all_stand_side_by_side() -> None:
    records = clean_twin(size=90).records
    ids = records["id"].to_list()[:60]
    agreeing = said(ids, ["impossible" if i == 1 else "hard" for i in range(60)])
    opposed = said(ids, ["impossible" if i > 1 else "hard" for i in range(60)])
    for table, validated in ((agreeing, True), (opposed, False)):
        data = Dataset.build("x", records, {"annotations": table})
        people, promised, _, alone = audit(
            data, checks=["feasibility"], judge=Judge(), debug=True
        ).findings
        assert promised.details["validated"] is validated
        assert promised.verdict == ("pass" if validated else "inconclusive")
        rows = promised.details["side_by_side"]
        assert [(r["by"], r["reading"]) for r in rows] == [
            ("annotators", "with search"), ("annotators", "without search"),
            ("test judge", "with search (promised)"), ("test judge", "without search"),
        ]  # fmt: skip
        assert rows == people.details["side_by_side"] == alone.details["side_by_side"]
        assert rows[0]["lower"] <= rows[0]["average"] <= rows[0]["upper"]


def test_a_judge_is_compared_where_annotators_do_not_tie() -> None:
    table = votes({"a": ["feasible", "no"], "b": ["search"], "c": ["no"]})
    found = compare({"a": True, "b": True, "c": False, "d": True}, table, PROMISED)
    assert (found.records, found.agreement, found.kappa, found.validated) == (2, 1.0, 1.0, False)
    assert compare({"b": True}, table, ALONE).agreement == 0.0
    assert compare({"a": True}, None, PROMISED).records == 0


def test_hints_in_five_languages() -> None:
    frame = pl.DataFrame(
        {
            "id": list("abcdef"),
            "text": [
                "This photo shows him yesterday",
                "Vejam este vídeo",
                "Schaut euch das Video an",
                "Hier, cet homme",
                "The Velmore council sold 12 benches in 1931.",
                None,
            ],
            "language": ["eng", "por", "deu", "fra", "eng", None],
        }
    )
    found = dict(hints(frame).iter_rows())
    assert found["a"] == ["missing-time", "unseen-material"]
    assert found["b"] == ["unseen-material"]
    assert "unseen-material" in found["c"]
    assert set(found["d"]) == {"unnamed-person", "missing-time"}
    assert found["e"] == found["f"] == []
