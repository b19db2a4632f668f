"""Conditions on the columns of records."""

from __future__ import annotations

import polars as pl
import pytest

from claimlab.core.errors import UsageError
from claimlab.core.record import conditions, matching

RECORDS = pl.DataFrame(
    {
        "id": ["a", "b", "c"],
        "language": ["eng", "swa", None],
        "topic": ["x", None, "y"],
        "meta": ['{"stage": "seed"}', '{"stage": "evolved", "n": 3}', None],
    }
)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, [True, True, True]),
        ({"topic": ["x", "y"]}, [True, False, True]),
        ({"topic": ["null"]}, [False, True, False]),
        ({"meta.stage": ["evolved", "null"]}, [False, True, True]),
        ({"meta.n": [3]}, [False, True, False]),
        ({"meta.stage": ["evolved"], "topic": ["x"]}, [False, False, False]),
        ({"resource": ["head"]}, [True, False, False]),
        ({"resource": ["tail"]}, [False, True, False]),
    ],
)
def test_records_match_where_every_column_has_one_of_its_values(
    where: dict[str, list[object]], expected: list[bool]
) -> None:
    assert matching(RECORDS, where).to_list() == expected


def test_several_values_of_a_column_are_alternatives() -> None:
    assert conditions(["a=1", "b = x=y", "a=2"], "train_where") == {"a": ("1", "2"), "b": ("x=y",)}
    assert conditions({"a": "1", "b": ["2", "3"]}, "train_where") == {"a": ("1",), "b": ("2", "3")}
    with pytest.raises(UsageError, match="train_where"):
        conditions(["a"], "train_where")
