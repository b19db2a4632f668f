"""Details of a text: one spelling in every language, and what became of each."""

from __future__ import annotations

import pytest

from claimlab.text.changes import applied, changes
from claimlab.text.details import DetailChange, compared, details, readable

LEEDS = (
    "On 14 March 2023, the council of Leeds approved £1.2 million for trees in Headingley because"
    " floods may last 3 days; not all agreed."
)


def read(text: str, language: str) -> list[tuple[str, str]]:
    return [(one.kind, one.value) for one in details(text, language)]


def test_every_kind_is_read() -> None:
    assert read(LEEDS, "eng") == [
        ("date", "2023-03-14"),
        ("name", "leeds"),
        ("number", "1200000 GBP"),
        ("place", "headingley"),
        ("cause", "cause"),
        ("modality", "may"),
        ("number", "72 h"),
        ("negation", "not"),
        ("quantity", "all"),
    ]


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("1,2 milhão de libras", "por", "1200000 GBP"),
        ("1,2 millones de libras", "spa", "1200000 GBP"),
        ("R$ 30 mil", "por", "30000 BRL"),
        ("45 por ciento", "spa", "45 %"),
        ("duas semanas", "por", "336 h"),
        ("zwei Wochen", "deu", "336 h"),
        ("US$ 3 billion", "eng", "3000000000 USD"),
        ("5 km", "eng", "5000 m"),
        ("120 km/h", "spa", "120 km/h"),
        ("300 acres", "por", "121.41 ha"),
        ("40 metros cuadrados", "spa", "40 m²"),
        ("C$40 million", "eng", "40000000 CAD"),
        ("3 p.m.", "eng", "3 p.m."),
        ("١٠٠٠", "arb", "1000"),
        ("关闭了47天", "cmn", "47"),
    ],
)
def test_a_number_and_its_unit_have_one_spelling(text: str, language: str, value: str) -> None:
    assert read(text, language) == [("number", value)]


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("14 de março de 2023", "por", "2023-03-14"),
        ("14 de marzo de 2023", "spa", "2023-03-14"),
        ("14. März 2023", "deu", "2023-03-14"),
        ("March 14, 2023", "eng", "2023-03-14"),
        ("2023-03-14", "eng", "2023-03-14"),
        ("they met in May", "eng", "?-05-?"),
        ("it rained in 1931", "eng", "1931-?-?"),
    ],
)
def test_a_date_has_one_spelling(text: str, language: str, value: str) -> None:
    assert ("date", value) in read(text, language)


def test_may_is_a_month_only_where_it_is_one() -> None:
    assert read("they may go", "eng") == [("modality", "may")]


@pytest.mark.parametrize(
    ("before", "after", "language"),
    [
        ("200 mg of the drug", "200 g of the drug", "eng"),
        ("40 °C in the shade", "40 °F in the shade", "eng"),
        ("900 barrels of oil", "900 gallons of oil", "eng"),
        ("30 megawatts", "30 kilowatts", "eng"),
        ("6 feet tall", "6 inches tall", "eng"),
        ("a fine of 700 yuan", "a fine of 700 rubles", "eng"),
        ("pagou 500 francos", "pagou 500 coroas", "por"),
        ("mede 30 centímetros", "mede 30 milímetros", "por"),
        ("40 metros cuadrados", "40 metros cúbicos", "spa"),
        ("a dose de 200 miligramas", "a dose de 200 gramas", "por"),
    ],
)
def test_another_unit_is_another_detail(before: str, after: str, language: str) -> None:
    assert [one.outcome for one in compared(before, after, language)] == ["changed"]


def test_what_cannot_be_read_is_not_compared() -> None:
    assert "name" not in readable("Der Rat kaufte Bäume", "deu")
    assert "number" not in readable("4万5千条船", "zho")
    assert "cause" not in readable("mvua kwa sababu", "swh")
    assert compared("A 2019 report", "Ripoti ya 2019", "eng", "swh") == [
        DetailChange("number", "kept", "2019", "2019")
    ]


def test_details_are_kept_changed_lost_or_new() -> None:
    other = LEEDS.replace("14 March ", "").replace("£", "€").replace(" in Headingley", "")
    outcomes = {(one.kind, one.outcome) for one in compared(LEEDS, f"{other} Bonn won.", "eng")}
    assert ("date", "changed") in outcomes, "its year is left"
    assert ("number", "changed") in outcomes, "pounds became euros"
    assert ("place", "lost") in outcomes
    assert ("name", "kept") in outcomes
    new = compared("It rained.", "It rained for 3 days.", "eng")
    assert new == [DetailChange("number", "new", None, "72 h")]


def test_a_log_takes_one_text_to_the_other() -> None:
    other = "In Leeds, the council approved 2 million euros for trees."
    assert applied(LEEDS, changes(LEEDS, other)) == other
