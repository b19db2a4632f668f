"""What two datasets share means one thing: the same claim but for case, punctuation and white
space, or a near one.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.text.normalise import bare_form
from claimlab.text.shared import claims_of, same_claims

HARBOUR = "The harbour of Northport froze over in the winter of 1931."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It’s all over!", "its all over"),
        ("“Tea”, they say, is a metal", "Tea they say is a metal."),
        ("A right-to-work bill", "a right to work BILL"),
        ("¿Qué pasó?", "qué  pasó"),
        ("Straße", "STRASSE"),
        ("これは、本当です。", "これは本当です"),
        ("It\ufffds all over", "It's all over"),  # lost to a wrong encoding
    ],
)
def test_case_punctuation_and_white_space_make_no_other_claim(one: str, other: str) -> None:
    first, second = bare_form(pl.Series([one, other]))
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It cost 1.5 million", "It cost 15 million"),
        ("From 10-15 people", "From 1015 people"),
        ("In 20 12 people came", "In 2012 people came"),
        ("50% of all", "50 of all"),
        ("$5 a day", "5 a day"),
        ("a < b", "a > b"),
        ("résumé", "resume"),
        ("It is", "It is not"),
    ],
)
def test_what_may_carry_the_meaning_is_not_put_aside(one: str, other: str) -> None:
    first, second = bare_form(pl.Series([one, other]))
    assert first != second


def test_a_text_of_punctuation_keeps_it_and_an_empty_one_is_none() -> None:
    assert bare_form(pl.Series(["!!!", "?", " ", "", None])).to_list() == [
        "!!!",
        "?",
        None,
        None,
        None,
    ]
    assert same_claims(bare_form(pl.Series([None, "", "a"], dtype=pl.String))).of_row.tolist() == [
        -1,
        -1,
        0,
    ]


def test_every_row_of_a_claim_is_held_where_one_row_is() -> None:
    """Copies within a dataset, and a third dataset, hide nothing: each row is compared with each
    dataset.
    """
    near = HARBOUR.replace("winter", "winters")
    texts = pl.Series([HARBOUR, "Alone.", near, near.upper(), HARBOUR, None, "alone"])
    part = np.array([0, 0, 1, 1, 2, 2, 2])
    held = claims_of(texts, near=0.7).held(part, 3)
    assert held.astype(int).tolist() == [
        [1, 1, 1],
        [1, 0, 1],
        [1, 1, 1],
        [1, 1, 1],
        [1, 1, 1],
        [0, 0, 0],
        [1, 0, 1],
    ]
    same = claims_of(texts).held(part, 3)
    assert same.astype(int).tolist() == [
        [1, 0, 1],
        [1, 0, 1],
        [0, 1, 0],
        [0, 1, 0],
        [1, 0, 1],
        [0, 0, 0],
        [1, 0, 1],
    ]


def test_near_pairs_are_of_claims_with_their_best_similarity() -> None:
    near = HARBOUR.replace("winter", "winters")
    claims = claims_of(
        pl.Series([HARBOUR, HARBOUR.replace(".", "!"), near, "Something else altogether."]),
        near=0.7,
    )
    assert claims.of_row[0] == claims.of_row[1] != claims.of_row[2]
    assert {(a, b) for a, b in zip(claims.left, claims.right, strict=True)} == {
        (min(claims.of_row[[0, 2]]), max(claims.of_row[[0, 2]]))
    }
    plain = claims_of(pl.Series([HARBOUR, near]), near=0.7)
    assert claims.similarity.tolist() == plain.similarity.tolist()
