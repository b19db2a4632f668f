"""A split after a real run of `claimlab clean` with people's decisions: what they changed is not
tested on.
"""

from __future__ import annotations

import polars as pl

from claimlab.clean.front import clean
from claimlab.split.run import split

from .conftest import Make


def test_rows_that_people_relabelled_are_kept_out_of_the_test(make: Make) -> None:
    dataset = make(200)
    swap = {"true": "false", "false": "true"}
    first = dataset.records.head(40)
    decided = pl.DataFrame(
        {
            "id": first["id"],
            "decision": [f"relabel {swap[v]}" for v in first["veracity"].to_list()],
            "reason": ["looked up"] * 40,
        }
    )
    cleaned = clean(dataset, "default", decisions=decided).dataset
    now = dict(cleaned.records.select("id", "veracity").iter_rows())
    relabelled = {i for i, v in first.select("id", "veracity").iter_rows() if now.get(i) == swap[v]}
    assert len(relabelled) >= 20, "or the test shows nothing"
    plain = split(cleaned, "random").dataset.records.filter(pl.col("split").is_in(["dev", "test"]))
    assert relabelled & set(plain["id"].to_list()), "without the option they are tested on"
    kept = split(cleaned, "random", changed_in_test=False)
    tested = kept.dataset.records.filter(pl.col("split").is_in(["dev", "test"]))
    assert not relabelled & set(tested["id"].to_list())
    assert kept.checked.sides()["test"] > 10
