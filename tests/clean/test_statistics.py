"""Text statistics and domains: numbers that can be counted by hand."""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.clean.front import clean
from claimlab.clean.recipe import parse_recipe
from claimlab.clean.statistics import describe
from claimlab.core.dataset import Dataset

ROWS = [
    {"id": "a", "text": "One two. Three four!", "veracity": "true"},
    {
        "id": "b",
        "text": "Look here: https://saude.gov.br/x www.a.example.com/1",
        "veracity": "true",
    },
    {"id": "c", "text": "abc (de) … f and http://anvisa.gov.br", "veracity": "false"},
    {"id": "d", "text": None, "veracity": "false"},
    {"id": "e", "text": "no label"},
]


def test_text_statistics_per_label() -> None:
    true, false = (
        describe(Dataset.build("made-up", pl.DataFrame(ROWS)))
        .texts.sort("label", descending=True)
        .iter_rows(named=True)
    )
    assert (true["label"], true["records"], true["url_percent"], true["words"]) == (
        "true",
        2,
        50.0,
        3.0,
    )
    assert true["sentences"] == pytest.approx((2 + 1) / 2)
    assert true["word_length"] == pytest.approx(((3 + 3 + 5 + 4) / 4 + (4 + 4) / 2) / 2)
    assert true["words_per_sentence"] == pytest.approx((4 / 2 + 2 / 1) / 2)
    assert (false["records"], false["url_percent"], false["words"]) == (1, 100.0, 4.0)


def test_domains_per_label_with_governments_as_one() -> None:
    found = describe(Dataset.build("made-up", pl.DataFrame(ROWS))).domains
    assert found.row(0, named=True) == {"domain": "gov.br", "mentions": 2, "false": 1, "true": 1}


def test_statistics_are_of_the_texts_before_urls_were_removed() -> None:
    data = Dataset.build("made-up", pl.DataFrame(ROWS))
    stripped = clean(data, parse_recipe('[[steps]]\nstep = "strip-urls"', "p")).dataset
    assert describe(stripped).texts.equals(describe(data).texts)
    assert describe(stripped).domains.equals(describe(data).domains)
