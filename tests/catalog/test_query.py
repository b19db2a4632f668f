"""Filters take what was asked for and nothing that is not known; wrong values name the near
miss.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from claimlab.catalog.entry import Card, Entry, Loaded, Quality, loader_state
from claimlab.catalog.front import catalog, days, everything, phrases
from claimlab.core.errors import UnknownName, UsageError


def entry(name: str, *, loader: bool = True, tested: bool = False, **card: Any) -> Entry:
    fields = {
        "title": name.upper(),
        "summary": "A made-up dataset for tests.",
        "size": 100,
        "modality": ("claims",),
        "topic": "Various",
        "access": "Nowhere.",
        "citation": "Nobody (2020).",
        **card,
    }
    variants = {"all": lambda bundle: Loaded(bundle)} if loader else {}
    real = {"all": 1} if tested else {}
    return Entry(
        Card(name=name, **fields),
        variants=variants,
        no_loader=None if loader else "It is made up.",
        real_rows=real,
    )


POOL = [
    entry("plague", topic="Covid-19 and politics", region="Brazil & India", languages=("por", "eng"), size=50,
          time_start="2020-03", time_end="2021", licence="CC BY-NC 4.0", survey="cdl-claims",
          quality=Quality(keywords="pass", temporal="fail"), tested=True),
    entry("ballots", topic="Election", region="USA", languages=("eng",), size=5_000, time_start="2016-09-19",
          time_end="2016-09-27", modality=("articles", "images"), licence="MIT", has_evidence=True,
          quality=Quality(keywords="fail", temporal="pass", feasibility="pass")),
    entry("vague", size=None, language_count=40, loader=False, survey="cdl-listed"),
]  # fmt: skip


def names(**wanted: Any) -> list[str]:
    return [e.card.name for e in catalog(POOL, **wanted).entries]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["plague", "ballots", "vague"]),
        ({"topic": ["covid"]}, ["plague"]),
        ({"topic": "covid"}, ["plague"]),
        ({"topic": ["POLITICS"]}, ["plague"]),
        ({"topic": ["covid", "election"]}, ["plague", "ballots"]),
        ({"region": ["india"]}, ["plague"]),
        ({"language": ["pt-BR"]}, ["plague"]),
        ({"language": ["Portuguese"]}, ["plague"]),
        ({"language": ["en"]}, ["plague", "ballots"]),
        ({"language": ["swa"]}, []),  # a language, though of no dataset: nothing found, no error
        ({"modality": ["images"]}, ["ballots"]),
        ({"licence": ["cc"]}, ["plague"]),
        ({"licence": ["none"]}, ["vague"]),
        ({"min_size": 51}, ["ballots"]),
        ({"max_size": 50}, ["plague"]),
        ({"min_size": 50, "max_size": 5_000}, ["plague", "ballots"]),
        ({"since": "2020"}, ["plague"]),
        ({"since": "2021-12-31"}, ["plague"]),  # an end of "2021" reaches to its last day
        ({"since": "2022"}, []),
        ({"until": "2020-02-29"}, ["ballots"]),
        ({"until": "2020-03"}, ["plague", "ballots"]),
        ({"quality": ["keywords=pass"]}, ["plague"]),
        ({"quality": ["time=fail", "keywords=pass"]}, ["plague"]),
        ({"quality": ["temporal=pass"]}, ["ballots"]),
        ({"quality": ["feasibility=not-assessed"]}, ["plague", "vague"]),
        ({"quality": ["time=pass", "feasibility=pass"]}, ["ballots"]),
        ({"survey": ["cdl"]}, ["plague", "vague"]),
        ({"survey": ["cdl-listed"]}, ["vague"]),
        ({"evidence": True}, ["ballots"]),
        ({"loadable": True}, ["plague", "ballots"]),
        ({"tested": True}, ["plague"]),
        ({"topic": ["covid"], "language": ["eng"], "quality": ["keywords=pass"]}, ["plague"]),
        ({"topic": ["covid"], "modality": ["images"]}, []),
    ],
)  # fmt: skip
def test_each_filter(wanted: dict[str, Any], found: list[str]) -> None:
    assert names(**wanted) == found


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"topic": ["covdi-19"]}, "There is no topic named 'covdi-19'. Did you mean 'covid-19'"),
        ({"topic": [""]}, "There is no topic named ''"),
        ({"region": ["Brasil"]}, "Did you mean 'brazil'"),
        ({"licence": ["nit"]}, "Did you mean 'mit'"),
        ({"modality": ["image"]}, "Did you mean 'images'"),
        (
            {"language": ["Portugese"]},
            "There is no language named 'Portugese'. Did you mean 'portuguese'",
        ),
        ({"survey": ["claims"]}, "Did you mean 'cdl-claims'"),
        ({"quality": ["keyword=pass"]}, "Did you mean 'keywords'"),
        (
            {"quality": ["keywords=passed"]},
            "There is no verdict named 'passed'. Did you mean 'pass'",
        ),
        ({"quality": ["keywords"]}, "`quality=keywords=pass`"),
        ({"since": "yesterday"}, "'yesterday' is not a date. Give a year"),
        ({"since": "2020-13"}, "not a date"),
        ({"until": "2021-02-30"}, "not a date"),
        ({"since": "2021", "until": "2020"}, "`since=2021` is after `until=2020`"),
        ({"min_size": 2, "max_size": 1}, "`min_size=2` is above `max_size=1`"),
    ],
)
def test_wrong_values_are_sentences(wanted: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        catalog(POOL, **wanted)
    assert sentence in str(error.value)


def test_an_unknown_filter_is_no_silent_yes() -> None:
    with pytest.raises(TypeError):
        catalog(POOL, topics=["covid"])


def test_days() -> None:
    assert days("2020") == (date(2020, 1, 1), date(2020, 12, 31))
    assert days("2020-02") == (date(2020, 2, 1), date(2020, 2, 29))
    assert days("2020-02-03") == (date(2020, 2, 3), date(2020, 2, 3))


def test_which_filter_to_loosen() -> None:
    assert catalog(POOL, topic=["election"], survey=["cdl"]).alone() == [
        ("`topic=election`", 1),
        ("`survey=cdl`", 2),
    ]


def test_state_of_the_loader() -> None:
    assert [loader_state(e) for e in POOL] == [
        "tested on the published files",
        "not yet tested",
        "none",
    ]


def test_lists_in_prose() -> None:
    assert phrases("Politics & Celebrities") == ["Politics", "Celebrities"]
    assert phrases("Covid-19 and politics") == ["Covid-19", "Politics"]
    assert phrases("Bandits") == ["Bandits"]


def test_the_whole_catalogue_can_be_asked() -> None:
    """Dates and topics of every card are such that the filters understand them."""
    assert len(catalog(since="1900", until="2100")) == sum(
        bool(e.card.time_start or e.card.time_end) for e in everything()
    )
    with pytest.raises(UnknownName):
        catalog(topic=["no such topic"])


def test_the_listing_is_a_table_with_what_the_cards_say() -> None:
    listing = catalog(POOL, language="pt")
    assert (len(listing), listing.headline()) == (1, "1 of 3 datasets")
    assert listing.table.row(0) == (
        "plague", "PLAGUE", 50, ["claims"], "Covid-19 and politics", "Brazil & India", ["por", "eng"], "CC BY-NC 4.0",
        "tested on the published files",
    )  # fmt: skip
    assert listing.notes == (
        "1 dataset with only a number of languages cannot be matched by `language`.",
    )
    assert catalog(POOL).notes == ()
