"""Words that a user wrote: as a choice, as one or several, and as a name for files and anchors;
counts in sentences.
"""

from __future__ import annotations

import pytest

from claimlab.core.choices import each_of, one_of
from claimlab.core.errors import UnknownName
from claimlab.core.plain import slug
from claimlab.core.words import several, several_of, verb


def test_one_of_a_few_or_the_near_miss() -> None:
    assert one_of(("fair", "cdl"), "cdl", "protocol") == "cdl"
    near = "'fare' is not a choice of `protocol`. Did you mean 'fair'"
    with pytest.raises(UnknownName, match=near):
        one_of(("fair", "cdl"), "fare", "protocol")


def test_one_name_is_not_its_letters() -> None:
    assert each_of("brave") == ("brave",)
    assert each_of(["brave", "local:docs"]) == ("brave", "local:docs")
    assert each_of(()) == ()


@pytest.mark.parametrize(
    ("text", "plain", "any_script"),
    [
        ("Fake News, 2020", "fake-news-2020", "Fake-News-2020"),
        ("São Paulo", "s-o-paulo", "São-Paulo"),
        ("../a/b", "a-b", "a-b"),
        ("谣言", "", "谣言"),
    ],
)
def test_a_slug_is_safe_as_a_file_name(text: str, plain: str, any_script: str) -> None:
    assert slug(text) == plain
    assert slug(text, any_script=True) == any_script


def test_a_slug_is_cut() -> None:
    assert (len(slug("a" * 99)), len(slug("a" * 99, longest=80))) == (60, 80)


def test_plurals_agree_with_their_number() -> None:
    assert (several(1, "record"), several(1_200, "record"), several(0, "row")) == (
        "1 record",
        "1,200 records",
        "0 rows",
    )
    assert (several_of(1, 50, "prediction"), several_of(1, 1, "row")) == (
        "1 of 50 predictions",
        "1 of 1 row",
    )
    assert (verb(1), verb(2), verb(1, "has", "have")) == ("is", "are", "has")
