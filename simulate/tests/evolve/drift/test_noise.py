"""The null model beside traces: as many words changed, at random; and details that survive."""

from __future__ import annotations

import polars as pl

from claimlab_simulate.evolve.drift.noise import NOISE, survival, with_noise

BASE = "The old mill of Garrow sold 300 looms in 1931 because of the frost."
STEPS = (BASE.replace("old mill", "new shop"), "The shop of Garrow sold looms in 1931.")


def hops(traces: int) -> pl.DataFrame:
    rows = [
        {
            "run": "r",
            "trace_id": f"t{i}",
            "hop": hop,
            "hops": 2,
            "depth": hop,
            "parent": None,
            "base": BASE,
            "input": before,
            "output": after,
            "language": "eng",
        }
        for i in range(traces)
        for hop, (before, after) in enumerate(((BASE, STEPS[0]), STEPS), 1)
    ]
    return pl.DataFrame(rows, schema_overrides={"parent": pl.Int32})


def test_noise_changes_as_many_words_and_edits_add_up() -> None:
    table = with_noise(hops(30), seed=1)
    first, second = (table.filter(pl.col("hop") == hop)[NOISE].to_list() for hop in (1, 2))
    words = set(BASE.split())
    assert {len(text.split()) for text in first} == {len(BASE.split())}, "two were exchanged"
    assert all(len(set(text.split()) - words) <= 2 for text in first)
    assert len(set(first)) > 10, "places are drawn at random"
    assert all(len(text.split()) < len(BASE.split()) for text in second)
    assert with_noise(hops(30), seed=1).equals(table)


def test_a_hop_that_changed_nothing_makes_no_noise() -> None:
    still = hops(3).with_columns(input=pl.lit(BASE), output=pl.lit(BASE))
    assert set(with_noise(still)[NOISE]) == {BASE}


def test_details_are_followed_hop_by_hop() -> None:
    table = survival(with_noise(hops(25)), seed=1)
    kept = {(r["kind"], r["step"]): r["kept"] for r in table.iter_rows(named=True)}
    assert kept["number", 1] == 1.0
    assert kept["number", 2] == 0.0
    assert kept["date", 2] == 1.0
    assert kept["cause", 1] == 1.0
    assert kept["cause", 2] == 0.0
    number = table.filter((pl.col("kind") == "number") & (pl.col("step") == 2)).row(0, named=True)
    assert number["lost"] == 1.0
    assert number["low"] == number["high"] == 0.0
    assert number["null_kept"] < 1.0
    assert (
        survival(with_noise(hops(19)))["low"].null_count() == survival(with_noise(hops(19))).height
    )
