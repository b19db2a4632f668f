from __future__ import annotations

import polars as pl
import pytest

from claimlab.audit.checks.feasibility import agreement_of, combine, people_votes, verdict_of
from claimlab.audit.hints import hints
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.generate.planted import clean_twin


def votes(table: dict[str, list[str]]) -> pl.DataFrame:
    rows = [(r, f"a{i}", v) for r, answers in table.items() for i, v in enumerate(answers)]
    return pl.DataFrame(rows, schema=["record_id", "annotator", "answer"], orient="row")


def test_ties_go_down_for_the_lower_bound_and_up_for_the_upper() -> None:
    combined = combine(
        votes({"a": ["feasible", "no"], "b": ["search", "feasible"], "c": ["no"], "d": ["no", "no", "search"]})
    )
    assert combined.ids == ["a", "b", "c", "d"]
    assert combined.lower.tolist() == [0, 1, 0, 0]
    assert combined.upper.tolist() == [1, 1, 0, 0]
    assert combined.average.tolist() == [0.5, 1, 0, 0]


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
    found = people_votes(Subject.of(Dataset.build("x", data.records, {"annotations": table})))
    assert found is not None
    assert found["answer"].to_list() == ["feasible", "search", "no"]


def test_without_people_or_judge_it_is_not_measured() -> None:
    data = clean_twin(size=60)
    result = audit(Dataset.build("x", data.records), checks=["feasibility"], debug=True)
    assert result.findings[0].verdict == "not-measured"
    assert "Nobody has judged it" in result.findings[0].why


class Judge:
    """A judge as enrich hands one in: it answers, fails on one record, and says whether people checked it."""

    name, standing = "test judge", "Not compared with people."

    def __init__(self, validated: bool) -> None:
        self.validated = validated

    def judge(self, subject: Subject, *, search: bool, seed: int) -> dict[str, bool | None]:
        answers: dict[str, bool | None] = dict.fromkeys(subject.ids[:60], search)
        return {**answers, subject.ids[0]: None}


def test_a_model_judge_counts_failures_and_cannot_pass_unvalidated() -> None:
    data = Dataset.build("x", clean_twin(size=90).records)
    for validated, with_search in ((True, "pass"), (False, "warn")):
        one, two = audit(data, checks=["feasibility"], judge=Judge(validated), debug=True).findings
        assert one.verdict == with_search
        assert two.verdict == ("fail" if validated else "warn")
        assert one.details["failed_answers"] == 1
        assert one.n == 59


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
