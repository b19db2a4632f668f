"""What must not be split is in one group: pairs, rewritten texts and their source, posts about one
statement.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import DATASETS, load
from claimlab.catalog.readers.fake_br import day
from claimlab.core.dataset import Dataset


def meta(records: pl.DataFrame, key: str) -> list[object]:
    return [json.loads(m).get(key) if m else None for m in records["meta"]]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2017-11-30", datetime(2017, 11, 30)),
        ("13/12/2017", datetime(2017, 12, 13)),
        ("3/1/2018", datetime(2018, 1, 3)),
        ("28/2/18", datetime(2018, 2, 28)),
        ("06/02/2017 18h43", datetime(2017, 2, 6)),
        ("24 de julho de 2017", datetime(2017, 7, 24)),
        ("1 de março de 2016", datetime(2016, 3, 1)),
        ("03/09/0201", None),
        ("31/02/2017", None),
        ("ontem", None),
        ("", None),
    ],
)
def test_days_of_fake_br(written: str, expected: datetime | None) -> None:
    assert day(written) == expected


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("variant", ["full", "normalised"])
def test_fake_br_comes_in_pairs(real_data: Path, variant: str) -> None:
    records = load("fake-br", real_data / "fake-br.zip", variant=variant).records
    pairs = records.group_by("group").agg(pl.len(), pl.col("veracity").n_unique().alias("classes"))
    assert pairs.height == 3_600
    assert set(pairs["len"]) == {2}
    assert set(pairs["classes"]) == {2}
    dated = records["date"].drop_nulls()
    assert dated.len() == (7_197 if variant == "full" else 7_193)
    assert set(dated.dt.hour()) == {0}, "an hour would tell the classes apart"
    assert dated.dt.year().min() >= 2009


@pytest.mark.slow
@pytest.mark.realdata
def test_fakeddit_keeps_a_picture_battle_together(real_data: Path) -> None:
    records = load("fakeddit", real_data / "fakeddit.zip").records
    edited = records.filter(pl.col("source") == "psbattle_artwork")
    assert edited["group"].null_count() == 0
    starts = records.filter((pl.lit("fakeddit-") + pl.col("group")) == pl.col("id"))
    assert starts.height > 100
    assert set(starts["source"]) == {"photoshopbattles"}
    assert records["source"].n_unique() == 21
    single = records.group_by("source").agg(pl.col("veracity").n_unique())["veracity"]
    assert set(single) == {1}, "a subreddit has one class: the card warns of it"
    assert records["date"].null_count() == 0
    assert "\n" in "".join(records["text"]), "titles with line breaks are whole"


@pytest.mark.slow
@pytest.mark.realdata
def test_f3_ties_a_rewrite_to_its_source(real_data: Path) -> None:
    dataset = load("f3", real_data / "f3.zip")
    assert dataset.synthetic
    people = dataset.records.filter(pl.col("authorship") == "HWT")
    model = dataset.records.filter(pl.col("authorship") == "MGT")
    assert (people.height, model.height) == (10_815, 2_536)
    by_text = dict(zip(people["text"], people["group"], strict=True))
    found = 0
    for group, kept in zip(model["group"], meta(model, "synthetic"), strict=True):
        assert isinstance(kept, dict)
        assert set(kept) == {"label", "origin", "changes"}
        source = kept["origin"]["source_text"]
        if source in by_text:
            assert by_text[source] == group
            found += 1
    assert found > 2_000
    assert model["group"].n_unique() == 2_100
    assert all(s is None for s in meta(people, "synthetic"))


@pytest.mark.slow
@pytest.mark.realdata
def test_truthseeker_groups_by_statement_and_says_it_has_one_class(real_data: Path) -> None:
    dataset = load("truthseeker2023", real_data / "truthseeker2023.zip")
    assert dataset.records["group"].n_unique() == 54
    assert any("Only one class ('true')" in note for note in dataset.notes)
    claims = dataset.tables["claims"]
    assert claims.group_by("claim_id").agg(pl.col("text").n_unique())["text"].max() == 1


@pytest.mark.slow
@pytest.mark.realdata
def test_evolved_claims_share_a_group_with_their_seed(real_data: Path) -> None:
    source = real_data / "evolved-claims.zip"
    evolved = load("evolved-claims", source).records
    seeds = load("evolved-claims", source, variant="seed240").records
    assert set(evolved["group"]) == set(seeds["group"])
    assert seeds["group"].n_unique() == 240
    mixed = load("evolved-claims", source, variant="detection").records
    stripped = mixed.filter(pl.Series([t == "context-stripped" for t in meta(mixed, "type")]))
    origins = set(mixed.filter(pl.col("label_raw") == "1")["group"])
    assert stripped.height == 1_200
    assert set(stripped["group"]) <= origins


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "file", "variant", "other", "view", "share"),
    [
        ("claimskg", "claimskg", "all", "liar", None, 0.5),
        ("quantemp", "quantemp-part", None, "liar", None, 0.15),
        ("politifact-plusplus", "politifact-plusplus", None, "fakenewsnet", "listed", 0.5),
        ("checkthat-2025-science", "checkthat-2025-task4", "stance", "fever", None, 0.99),
    ],
)
def test_datasets_of_one_family_share_claims(
    real_data: Path,
    name: str,
    file: str,
    variant: str | None,
    other: str,
    view: str | None,
    share: float,
) -> None:
    assert DATASETS.get(name).card.family == DATASETS.get(other).card.family is not None

    def headlines(dataset: Dataset) -> set[str]:
        """The first line of each text, without signs and case."""
        lines = dataset.records["text"].drop_nulls().str.split("\n").list.first()
        return set(lines.str.to_lowercase().str.replace_all(r"\W+", " ").str.strip_chars())

    mine = headlines(load(name, real_data / f"{file}.zip", variant=variant))
    theirs = headlines(load(other, real_data / f"{other}.zip", variant=view))
    assert len(mine & theirs) > share * len(mine)
