"""The guide to misinformation data lists 75 datasets: each has its card, filed in its place, and
nothing else is.
"""

from __future__ import annotations

from collections import Counter

import pytest

from claimlab.catalog.load import DATASETS

NAMES = {
    "cdl-claims": """
        antivax check-covid claimskg climate-fever cmu-miscov19 coaid counter-covid-19-misinformation
        covid-19-disinformation covid-19-rumor covid-fact covid-vaccine-misinfo-mic defakts esoc-covid-19 fakecovid
        faviq fever feverous fibvid hover ifnd liar liar-new mediaeval mm-covid multiclaim nlp4if-2021 pheme
        pubhealthtab rumors snopes-fact-news truthseeker2023 twitter15 twitter16 verite wico x-fact
    """,
    "cdl-paragraphs": """
        banfakenews benjaminpoliticalnews celebrity ct-fan fa-kes fakenewsamt fakenewscorpus isot ti-cnn
    """,
    "cdl-listed": """
        buzzface buzzfeednews celeb-df covid19-fake-news dbpedia deepfaketimit faceforensics facebookhoax
        fact-check-tweet factoid fake-news-elections fakeddit fakehealth fakenews fakenewsnet fang-covid fcv-2018
        fnc-1 icwsm italian-disinformation med-mmhl misinfo-reaction-frames mr2 mumin nela-gt-2020 recovery reddit
        spanish-fake-news-corpus voterfraud2020 weibo21
    """,
}
SURVEY = {place: names.split() for place, names in NAMES.items()}
PLACES = {name: place for place, names in SURVEY.items() for name in names}


def test_the_list_itself_has_the_published_counts() -> None:
    assert {place: len(names) for place, names in SURVEY.items()} == {
        "cdl-claims": 36,
        "cdl-paragraphs": 9,
        "cdl-listed": 30,
    }
    assert len(PLACES) == 75, "no name stands in two places"


def test_every_dataset_of_the_guide_has_a_card() -> None:
    assert sorted(set(PLACES) - set(DATASETS.names())) == []


@pytest.mark.parametrize("name", DATASETS.names())
def test_a_card_is_filed_where_the_guide_has_it(name: str) -> None:
    assert DATASETS.get(name).card.survey == PLACES.get(name)


def test_the_cards_together_are_the_guide() -> None:
    """What the cards say adds up: 75 in all, unless cards are missing (which the test above
    names).
    """
    filed = Counter(
        DATASETS.get(n).card.survey for n in DATASETS.names() if DATASETS.get(n).card.survey
    )
    missing = Counter(PLACES[n] for n in set(PLACES) - set(DATASETS.names()))
    assert filed + missing == {"cdl-claims": 36, "cdl-paragraphs": 9, "cdl-listed": 30}
