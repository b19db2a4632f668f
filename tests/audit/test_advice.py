"""Advice: each rule has its sentence, only alarms give any, and what was not measured is never a
pass.
"""

from __future__ import annotations

import pytest

from claimlab.audit.advice import advise, conclude, name_of, reason
from claimlab.audit.advice_rules import RULES, rule_for
from claimlab.audit.check import CHECKS
from claimlab.audit.ladder import SplitTrial
from claimlab.audit.remedy import RemedyCase
from claimlab.core.finding import Baselines, Finding, Verdict


def finding(
    check: str,
    feature: str | None = None,
    verdict: Verdict = "fail",
    score: float | None = 0.9,
    **more: object,
) -> Finding:
    values = {
        "score": None if verdict == "not-measured" else score,
        "difference": 0.4,
        "why": "So it was planted.",
    }
    baselines = Baselines(majority=0.5)
    return Finding.model_validate(
        {
            "check": check,
            "protocol": "fair",
            "verdict": verdict,
            "feature": feature,
            "baselines": baselines,
            **values,
            **more,
        }
    )


PLANTED = [
    (finding("near-duplicates", "across a random split", details={"share": 0.37, "leaked": 37}), "split",
     "Do not report a random-split score: 37.0% of the test records have a near-duplicate in train. Keep "
     "near-duplicates on one side."),
    (finding("copies", details={"share": 0.4, "copies": 1492}), "clean",
     "how often a text occurs gives the label away (macro-F1 90.0; copies of an earlier record: 1,492, 40.0% of all)"),
    (finding("identifiers", "url"), "drop", "Do not give the column 'url' to a model: it alone"),
    (finding("order"), "split", "the position in the file gives the label away (macro-F1 90.0)"),
    (finding("text-columns", "meta.evidence"), "report", "reads the column 'meta.evidence' instead of the claim (macro-F1 90.0)"),
    (finding("time", "weekday"), "report", "(macro-F1 of weekday 90.0): do not give times to a model"),
    (finding("near-duplicates", "across the given split", details={"share": 0.15, "verdict_cleaned": "pass"}), "report",
     "in the data as published, 15.0% of the test records have a copy in train. Cleaning removed these"),
    (finding("near-duplicates", "across the given split", details={"share": 0.25, "verdict_cleaned": "fail"}), "clean",
     "before its copies are out of train: 25.0% of the"),
    (finding("near-duplicates", "across the given split", "warn", details={"share": 0.008}), "clean",
     "before its copies are out of train: 0.8% of the"),
    (finding("near-duplicates", "under different labels", details={"contradicting_records": 48}), "review",
     "labels contradict each other (near-duplicates 48), or set them aside."),
    (finding("identical-texts", None, "warn", details={"conflicting_records": 2}), "review", "(identical-texts 2)"),
    (finding("url-conflicts", details={"conflicting_records": 30}), "review", "(url-conflicts 30)"),
    (finding("paraphrases", "across a random split", details={"share": 0.1}), "report", "10.0% of the test records are paraphrases"),
    (finding("source", "source", score=0.999), "split",
     "The column 'source' alone gives the label away (macro-F1 of source 99.9): do not give it to a model, and hold out "
     "whole values or report results per value."),
    (finding("url", "domain"), "split", "hold out whole sites or report"),
    (finding("url", "presence of a URL"), "clean", "Remove URLs from the texts"),
    (finding("time", "date"), "split", '(macro-F1 of date 90.0): train on the past'),
    (finding("language", "language"), "report", "Report results by 'language'"),
    (finding("cascade"), "report", "what their shape alone reaches (macro-F1 90.0)"),
    (finding("media", "across the given split", details={"share": 0.1, "leaked": 4}), "review", "on the other side of a split (4)"),
    (finding("media", "size"), "report", "(macro-F1 of size 90.0)"),
    (finding("time-bound", None, "warn", records=["a", "b"], details={"share": 0.12}), "review", "judged otherwise later (2 records)"),
    (finding("columns", "meta.party"), "drop", "Drop the column 'meta.party' before training: it alone"),
    (finding("missing", details={"filled": [{"column": "author"}]}), "drop", "Drop the column 'author', or fill it"),
    (finding("balance", "split", score=None), "split", "same label shares on every side."),
    (finding("balance", "kind", score=None), "report", "Report results by 'kind': label shares differ"),
    (finding("giveaways", details={"words": [{"word": "bombshell"}]}), "clean", "only in one class ('bombshell')"),
    (finding("giveaways", "one-sided words", score=None, details={"words": [{"word": "shocking"}]}), "clean",
     "only in one class ('shocking'), report the score with and without them"),
    (finding("evidence", "claim alone", "warn"), "report", "the claim alone reaches a macro-F1 of 90.0"),
    (finding("evidence", "evidence alone"), "report", "reads the evidence alone (macro-F1 90.0)"),
    (finding("evidence", "rationale", "warn", None, details={"suspects": 7, "share": 0.1}), "review", "Review the 7 labels"),
    (finding("surface", "case"), "clean", "they give the label away (macro-F1 of case 90.0)"),
    (finding("length"), "report", "reach on the same split: macro-F1 of length 90.0."),
    (finding("keywords", "40 words"), "report", "macro-F1 of 40 words 90.0."),
    (finding("one-class", None, "fail", None, n=9), "collect", "Add records of another class"),
    (finding("one-class", None, "fail", None, n=0, classes={}), "collect", "No record has a label"),
    (finding("one-class", None, "warn", None), "report", "Report results per class"),
    (finding("label-errors", None, "warn", None, details={"suspects": 12, "share": 0.1}), "review", "Review the 12 labels"),
    (finding("feasibility", "people", score=0.4), "report", "only 40.0% of the claims can"),
    (finding("of-another-package"), "report", "Look at 'of-another-package' before"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("planted", "action", "words"),
    PLANTED,
    ids=[f"{name_of(p[0])}-{p[0].verdict}-{p[0].n}" for p in PLANTED],
)
def test_a_planted_finding_gets_the_advice_of_its_rule(
    planted: Finding, action: str, words: str
) -> None:
    (advice,) = advise([planted])
    assert advice.action == action
    assert words in advice.text
    assert advice.verdict == planted.verdict
    assert advice.findings == (name_of(planted),)
    assert "–" not in advice.text, "a figure is missing"
    assert "{" not in reason(planted)


def test_every_rule_is_planted_and_every_check_has_one_of_its_own() -> None:
    assert {RULES.index(rule_for(planted)) for planted, _, _ in PLANTED} == set(range(len(RULES)))
    own = {name for rule in RULES for name in rule.checks}
    assert set(CHECKS.names()) <= own


def test_a_sentence_holds_no_command_of_either_face() -> None:
    for planted, _, _ in PLANTED:
        (advice,) = advise([planted])
        assert "`" not in advice.text
        assert advice.commands  # tests/audit/test_followed.py runs them


@pytest.mark.parametrize("verdict", ["pass", "inconclusive", "not-measured"])
def test_only_a_fail_or_a_warning_gives_advice(verdict: Verdict) -> None:
    assert advise([finding("source", "source", verdict)]) == ()


def test_findings_of_one_rule_are_one_piece_of_advice_the_gravest_first() -> None:
    columns = [finding("columns", f"meta.k{i}", "warn", 0.6 + i / 100) for i in range(6)]
    one, other = advise([*columns, finding("length")])
    assert (one.verdict, other.verdict) == ("fail", "warn")
    assert "'meta.k5', 'meta.k4', 'meta.k3' and 3 more before training: each alone" in other.text
    assert "up to 65.0" in other.text
    assert len(other.findings) == 6


def test_a_conclusion_says_what_was_not_told() -> None:
    clean = conclude(
        [
            finding("length", None, "pass"),
            finding("time", None, "not-measured"),
            finding("url", "domain", "inconclusive"),
        ]
    )
    assert clean.text.startswith("Nothing was found in what could be measured (1 pass).")
    assert "The rest (1 inconclusive and 1 not measured) is not a pass." in clean.text
    assert (clean.passed, clean.inconclusive, clean.not_measured) == (
        ("length",),
        ("url (domain)",),
        ("time",),
    )
    assert clean.advice == ()
    assert conclude([finding("time", None, "not-measured")]).text.endswith("That is not a pass.")
    assert conclude([finding("length"), finding("surface", "case", "warn")]).text == (
        "1 fail and 1 warn: do not report a score on this dataset without these steps."
    )
    assert conclude([finding("length", None, "warn")]).text == "1 warn: report a score with care."


def test_names_from_data_cannot_format_a_sentence() -> None:
    (advice,) = advise([finding("columns", "meta.{top}{0}")])
    assert "'meta.{top}{0}'" in advice.text


def test_what_was_not_measured_is_not_called_usable() -> None:
    absent = [finding("time", str(n), "not-measured") for n in range(3)]
    assert conclude(absent).usable == "Usable as far as known: nothing could be measured."
    passed = [finding("length", None, "pass"), finding("copies", None, "pass")]
    assert conclude([*passed, *absent]).usable == "Usable: nothing found."
    missing = finding("author", "author", "not-applicable", None, difference=None)
    conclusion = conclude([*passed, absent[0], missing])
    assert conclusion.not_applicable == ("author",)
    assert conclusion.not_measured == ("time (0)",)


def test_records_that_contradict_each_other_may_be_pairs() -> None:
    some, most = (
        finding("url-conflicts", details={"share": share}, difference=None) for share in (0.1, 0.99)
    )
    (review,) = (one for one in advise([most, some]) if one.action == "review")
    assert "made of pairs with opposite labels" in review.text
    assert "pairs" not in advise([some])[0].text


def test_findings_come_by_points_leaks_too() -> None:
    """A near-copy of 0.3% of the test moves a score by 0.3 points: it is not the first thing."""
    leak = finding(
        "near-duplicates", "across a random split", "warn", None, difference=None,
        details={"share": 0.003, "leaked": 3},
    )  # fmt: skip
    conclusion = conclude([leak, finding("length"), finding("source", "source", difference=0.12)])
    assert [one.findings for one in conclusion.advice] == [
        ("length",),
        ("source",),
        ("near-duplicates (across a random split)",),
    ]
    assert conclusion.first is conclusion.advice[0]


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (4, "'source' alone says a little about the label: 4 points (macro-F1 of source 90.0)"),
        (9.9, "alone says a little about the label: 10 points"),
        (10, "'source' alone gives part of the label away (macro"),
        (25, "'source' alone gives the label away (macro-F1 of source 90.0)"),
    ],
)
def test_words_follow_the_effect(points: float, words: str) -> None:
    (advice,) = advise([finding("source", "source", difference=points / 100)])
    assert words in advice.text
    (timing,) = advise([finding("time", "date", difference=points / 100)])
    often = {4: "slightly ", 9.9: "slightly ", 10: "somewhat ", 25: ""}[points]
    assert f"collected at {often}different times" in timing.text


def test_a_split_that_cannot_be_made_is_not_advised() -> None:
    why = "test would have 0 'true'"
    planted = {"source": "source", "time": "date", "near-duplicates": "across a random split"}
    trials = [SplitTrial(name=name, by="column", why_not=why) for name in planted]
    found = [finding(check, feature, details={"share": 0.4}) for check, feature in planted.items()]
    for advice in advise(found, RemedyCase((), "DIR", trials=trials)):
        assert why in advice.text
        assert not [
            call for call in advice.commands if call.function == "split" and "by" in call.options
        ]
    wider = SplitTrial(name="source", by="column", column="source", shares="50/10/40")
    (advice,) = advise(found[:1], RemedyCase((), "DIR", trials=[wider]))
    assert advice.commands[0].options["shares"] == "50/10/40"
