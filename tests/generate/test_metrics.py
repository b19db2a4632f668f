"""Single metrics on single texts: what each says, and when it has to say that it cannot tell."""

from __future__ import annotations

from typing import Any

import pytest

from claimlab.generate.filter.measure import read_table
from claimlab.generate.filter.metric import METRICS
from claimlab.generate.filter.texts import Batch, Text
from claimlab.text import details

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
    text = Text("t", "s", given.pop("text"), **given)
    return METRICS.get(metric).measure(Batch([text], [], read_table(None)))[0]


@pytest.mark.parametrize(
    ("metric", "about", "outcome"),
    [
        ("details", {"text": SOURCE.replace("45", "54")}, "failed"),
        ("details", {"text": SOURCE.replace("45", "x").replace("12", "45").replace("x", "12")}, "failed"),
        ("details", {"text": SOURCE.replace("June", "July")}, "failed"),
        ("details", {"text": SOURCE.replace(" 3 ", " three ")}, "passed"),
        ("details", {"text": "In June the council sold 45 boats to 12 fishermen."}, "passed"),
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
        ("surprise", {"text": SOURCE}, "not measured"),
    ],
)  # fmt: skip
def test_a_metric_says(metric: str, about: dict[str, Any], outcome: str) -> None:
    assert read(metric, **about).outcome == outcome


@pytest.mark.parametrize(
    ("log", "text", "outcome"),
    [
        ([{"before": "45 boats", "after": "54 boats"}], SOURCE.replace("45", "54"), "passed"),
        ([{"before": "45 boats", "after": "54 boats"}], SOURCE, "failed"),
        ([{"before": "45 boats", "after": "54 boats"}], SOURCE.replace("45", "54").replace("12", "21"), "failed"),
        ([{"before": "to 12 fishermen", "after": ""}], SOURCE.replace(" to 12 fishermen", ""), "passed"),
        ([{"before": "to 12 fishermen", "after": ""}], SOURCE, "failed"),
        ([{"before": "Velmore", "after": "Ostrel"}], SOURCE.replace("Velmore", "Marisett"), "failed"),
    ],
)
def test_altered_text_is_held_to_its_log(log: list[dict[str, str]], text: str, outcome: str) -> None:
    assert read("change-log", text=text, veracity="altered", log=tuple(log)).outcome == outcome


def test_a_number_has_one_spelling() -> None:
    assert details.numbers("1,000 1.000 1’000 ١٠٠٠ 1000") == ["1000"] * 5
    assert details.numbers("3.5 3,50 1.234,56 1,234.56") == ["3.5", "3.5", "1234.56", "1234.56"]
    assert details.numbers("COVID-19, N95 and the G7 in 2020") == ["2020"], "digits in a name are no number"


def test_a_text_that_breaks_a_metric_is_an_error_and_the_others_are_read() -> None:
    table = {**read_table(None), "structure": {"leftovers": ["("]}}  # not a regular expression
    texts = [Text("a", "a", None), Text("b", "b", "Some text.")]
    outcomes = [r.outcome for r in METRICS.get("structure").measure(Batch(texts, [], table))]
    assert outcomes == ["failed", "error"]
