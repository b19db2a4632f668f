"""Side tables that loaders fill: traces, annotations, evidence, against the published files."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def test_traces_of_evolved_claims_are_whole(real_data: Path) -> None:
    dataset = load("evolved-claims", real_data / "evolved-claims.zip")
    traces = dataset.tables["traces"]
    assert (traces.height, traces["trace_id"].n_unique()) == (5_005, 2_868)
    assert set(traces["role"]) == {"producer", "bystander"}
    assert traces["agent"].n_unique() == 90
    final = dict(zip(dataset.records["id"], dataset.records["text"], strict=True))
    base = dict(zip(dataset.records["id"], dataset.records["meta"], strict=True))
    for (record_id,), walk in traces.group_by("record_id", maintain_order=True):
        given, made = walk["input"].to_list(), walk["output"].to_list()
        assert given[1:] == made[:-1], "each step starts from what the one before made"
        assert made[-1] == final[record_id]
        assert given[0] == json.loads(base[str(record_id)])["synthetic"]["origin"]["base_claim"]
    last = traces.group_by("record_id", maintain_order=True).last()
    assert last["passed"].sum() == 2_868 - 14, "14 walks end on a negative audit, as the card says"
    assert (last.group_by("round").len()["len"].sum(), traces["round"].max()) == (2_868, 3)


def test_every_evolved_record_says_where_it_comes_from(real_data: Path) -> None:
    source = real_data / "evolved-claims.zip"
    for variant in ("evolved", "detection", "seed240"):
        dataset = load("evolved-claims", source, variant=variant)
        assert dataset.synthetic
        assert set(dataset.records["authorship"]) == {"MGT"}
        for cell in dataset.records["meta"]:
            assert set(json.loads(cell)["synthetic"]) == {"label", "origin", "changes"}


def test_policlaim_keeps_every_answer(real_data: Path) -> None:
    dataset = load("afacta", real_data / "afacta.zip")
    tested = dataset.records.filter(pl.col("split") == "test")
    answers = dataset.tables["annotations"].filter(
        pl.col("record_id").is_in(tested["id"].implode())
    )
    tally = answers.group_by("annotator", "annotator_kind", "question").len()
    per = {(who, kind, what): n for who, kind, what, n in tally.rows()}
    assert per["annotator 1", "human", "claim"] == per["annotator 2", "human", "claim"] == 816
    for model in ("gpt-4", "gpt-3.5", "llama", "zephyr"):
        assert per[model, "model", "score 0-3"] == 816, "every file joins by its sentence"
    samples = {
        who: sum(w == who and q.startswith("verifiable, sample") for w, _, q in per)
        for who in ("gpt-3.5", "gpt-4")
    }
    assert samples == {"gpt-3.5": 19, "gpt-4": 11}
    assert answers.filter(pl.col("question") == "step 2: verifiable")["rationale"].null_count() == 0

    both = answers.filter(pl.col("question") == "claim").group_by("record_id").agg("value")
    agreed = both.filter(pl.col("value").list.n_unique() == 1).join(
        tested, left_on="record_id", right_on="id"
    )
    assert agreed.height == 698
    assert agreed.filter(pl.col("value").list.first() != pl.col("label_raw")).is_empty()


def test_policlaim_gives_no_label_to_what_nobody_checked(real_data: Path) -> None:
    records = load("afacta", real_data / "afacta.zip", variant="all").records
    tiers = pl.Series([json.loads(cell)["tier"] for cell in records["meta"]])
    assert dict(tiers.value_counts().rows()) == {"bronze": 5_320, "silver": 4_336, "gold": 2_769}
    assert set(records.filter(tiers != "gold")["label_raw"]) == {None}
    assert records["veracity"].drop_nulls().is_empty()


def test_truthseeker_keeps_what_the_crowd_said(real_data: Path) -> None:
    answers = load("truthseeker2023", real_data / "truthseeker2023.zip").tables["annotations"]
    three = answers.filter(pl.col("question").str.contains("3 answers"))
    assert dict(three["value"].value_counts().rows()) == {"Agree": 9_544, "Disagree": 456}


def test_factck_br_reviews_are_evidence(real_data: Path) -> None:
    dataset = load("factck-br", real_data / "factck-br.zip")
    reviews = dataset.tables["evidence"]
    assert reviews["record_id"].to_list() == dataset.records["id"].to_list()
    assert set(reviews["publisher"]) == {
        "aosfatos.org",
        "apublica.org",
        "piaui.folha.uol.com.br/lupa",
    }
    assert reviews["verdict"].to_list() == dataset.records["veracity"].to_list()
    assert reviews["published"].null_count() == 0
    assert reviews.filter(pl.col("text") == "Empty").is_empty()
    assert dataset.records["group"].n_unique() == 984


def test_covid19_br_keeps_the_row_by_which_decisions_name_it(real_data: Path) -> None:
    dataset = load("covid19-br", real_data / "covid19-br.zip")
    assert [json.loads(cell)["row"] for cell in dataset.records["meta"]] == list(range(2_898))
    assert dataset.tables["evidence"].height == 66
    assert dataset.records["source"].drop_nulls().is_empty(), (
        "the source column is the check, not the sender"
    )


def test_mm_covid_joins_its_two_files(real_data: Path) -> None:
    dataset = load("mm-covid", real_data / "mm-covid.zip")
    assert any("Only one class ('false')" in note for note in dataset.notes)
    assert dataset.records["date"].null_count() == 341
    assert set(dataset.records["date"].drop_nulls().dt.year()) <= {2019, 2020}
    clustered = [cell for cell in dataset.records["meta"] if "Main heading" in json.loads(cell)]
    assert len(clustered) == 1_763, "headings reach the items that stand in both files"


def test_fnc_1_pairs_are_whole_and_carry_a_stance(real_data: Path) -> None:
    dataset = load("fnc-1", real_data / "fnc-1.zip")
    bodies = dataset.tables["evidence"]
    assert bodies["text"].null_count() == 0
    assert bodies["stance"].to_list() == dataset.records["label_raw"].to_list()
    assert dataset.records["veracity"].drop_nulls().is_empty()
    assert any("train_stances.csv" in note for note in dataset.notes)


def test_mumin_pt_says_how_to_get_portuguese(real_data: Path) -> None:
    dataset = load("mumin-pt", real_data / "mumin.zip")
    assert dataset.records.height == 13_205
    assert any("the recipe pt-afc" in note for note in dataset.notes)
