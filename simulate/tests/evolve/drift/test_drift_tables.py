"""Measures that are kept: FUSE-EVAL by hop and judge, means by group, verdicts with rationale,
attainment apart.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnknownName
from claimlab.tasks.table import ENTRIES
from claimlab_simulate.evolve.drift.attainment import attainment, one_against_three, steps_to_target
from claimlab_simulate.evolve.drift.curve import curve
from claimlab_simulate.evolve.drift.fuse import TOTAL
from claimlab_simulate.evolve.drift.hops import by_topic, read_hops
from claimlab_simulate.evolve.drift.independent import other_claims
from claimlab_simulate.evolve.drift.judged import Judges
from claimlab_simulate.evolve.drift.measure import measure
from claimlab_simulate.evolve.drift.result import Drift
from claimlab_simulate.evolve.drift.scores import scores as every_score
from claimlab_simulate.evolve.drift.stages import stages
from claimlab_simulate.evolve.drift.viewer import contents

from .test_drift_fuse import judge

Make = Callable[..., Dataset]


def by_hop(request: Any) -> str:
    """Later texts get higher scores: 3, 5, 7; every dimension the same but for sentiment, which is
    one higher.
    """
    text = request.messages[-1].content
    fields = request.schema.model_fields
    if "verdict" in fields:
        return json.dumps({"rationale": "Looms were sold.", "verdict": "Mostly False"})
    if "stated" in fields:
        return json.dumps({"rationale": "Counted.", "stated": [1]})
    score = 7 if "heard" in text else 5 if "Folks" in text else 3
    return json.dumps(
        {**dict.fromkeys(fields, score), "sentiment_shift": score + 1, "rationale": "It moved."}
    )


@pytest.fixture
def judged(looms: Make) -> Drift:
    return measure(
        [looms(40), looms(6, kind="scale-free", name="hubs")],
        judges=Judges([judge(by_hop)] * 2, sample=200),
    )


@pytest.mark.slow
def test_every_score_is_in_a_table_and_in_the_folder(judged: Drift) -> None:
    assert judged.fuse is not None
    scores = every_score(judged.fuse)
    assert scores.height == 2 * 46 * 3, "two judges, 46 traces, three hops"
    assert scores.filter(pl.col("hop") == 2)["sentiment_shift"].unique().to_list() == [6]
    files = contents(judged, traces=0).files
    assert {"hops.parquet", "fuse-eval.parquet", "fuse-eval-means.parquet"} <= set(files)
    hops = files["hops.parquet"]
    assert isinstance(hops, pl.DataFrame)
    assert hops.filter(pl.col("hop") == 3)["fuse_new_information"].unique().to_list() == [7.0]
    assert hops["new_information"].max() <= 1, "drift-lite's column of that name is another measure"  # type: ignore[operator]


@pytest.mark.slow
def test_means_by_step_network_and_topic_with_intervals_from_20_traces(judged: Drift) -> None:
    assert judged.fuse is not None
    means = judged.fuse.groups
    total = {(r["by"], r["value"], r["step"]): r for r in means.iter_rows(named=True)}
    assert [round(total["all", "", step][TOTAL], 3) for step in (1, 2, 3, None)] == [
        3.167,
        5.167,
        7.167,
        7.167,
    ]
    assert total["topology", "random", 3]["traces"] == 40
    assert total["topology", "random", 3]["low"] is not None
    assert total["topology", "scale-free", 3]["traces"] == 6
    assert total["topology", "scale-free", 3]["low"] is None, (
        "no interval from fewer than 20 traces"
    )
    assert total["all", "", None]["sentiment_shift"] == 8.0
    by_run = means.filter(by="run and topic", step=3)
    assert by_run["traces"].sum() == 46, "each trace has one topic, and is in one run"
    assert by_run["value"].n_unique() == by_run.height >= 3, "topics of two runs, side by side"
    assert judged.to_json()["fuse_eval"]["means"], "the means are in drift.json"
    assert judged.to_json()["fuse_eval"]["agreement"][TOTAL]["judges"] == 2


@pytest.mark.slow
def test_verdicts_keep_their_rationale_and_are_labels_for_six_classes(
    looms: Make, judged: Drift
) -> None:
    mine = judged.hops.filter(pl.col("run") == judged.hops["run"][0])
    assert mine["verdict_rationale"].unique().to_list() == ["Looms were sold."]
    evolved = stages(looms(40), mine, ["seed", "evolved"], label="verdict")
    table = evolved["evolved"].records
    assert table["label_raw"].unique().to_list() == ["Mostly False"]
    meta = json.loads(table["meta"][0])
    assert (meta["verdict_rationale"], meta["verdict_by"]) == ("Looms were sold.", "scripted")
    six = next(task for task in ENTRIES if task.name == "veracity-six")
    assert six.read(table).unique().to_list() == ["barely-true"], "Table 20 can be run on them"
    assert evolved["seed"].records["label_raw"].null_count() == evolved["seed"].records.height, (
        "nobody judged the seeds"
    )
    assert stages(looms(40), mine, ["evolved"])["evolved"].records[
        "label_raw"
    ].unique().to_list() == ["1"]
    with pytest.raises(UnknownName, match="label"):
        stages(looms(4), mine, ["evolved"], label="truth")


def test_topics_are_split_and_small_ones_pooled(looms: Make) -> None:
    dataset = looms(50)
    topics = [
        "health,taxes" if i < 25 else "Health, science" if i < 46 else f"rare {i}"
        for i in range(50)
    ]
    dataset.records = dataset.records.with_columns(pl.Series("topic", topics))
    split = by_topic(read_hops([dataset]))
    sizes = dict(split.group_by("topic").agg(pl.col("trace_id").n_unique()).iter_rows())
    assert sizes == {
        "health": 25,
        "taxes": 25,
        "Health, science": 21,
        "other (4 topics with fewer than 20 traces)": 4,
    }


def test_no_slope_and_no_interval_from_fewer_than_20_traces() -> None:
    def rising(traces: int) -> pl.DataFrame:
        rows = [(f"t{t}", hop, 1 - 0.5**hop) for t in range(traces) for hop in range(1, 13)]
        return pl.DataFrame(rows, schema=["trace_id", "depth", "drift"], orient="row")

    few, many = curve(rising(19)), curve(rising(20))
    assert (few.early, few.late, few.ratio_interval, few.flattens) == (None, None, None, None)
    assert many.flattens is True


def test_an_untouched_success_is_counted_apart(looms: Make) -> None:
    hops = read_hops([looms(8)]).with_columns(
        pl.when(pl.col("trace_id").is_in(["t0", "t1"]))
        .then("base")
        .otherwise("output")
        .alias("output")
    )
    row = attainment(hops).row(0, named=True)
    assert (row["traces"], row["judged"], row["untouched"], row["attained"]) == (8, 8, 2, 5)
    assert row["share"] == 5 / 6, "neither among those that arrived nor among those that set out"


def audited(auditors: int, attained: int, traces: int) -> list[dict[str, Any]]:
    return [
        {"run": f"r{auditors}", "trace_id": f"t{i}", "hop": 1, "hops": 1, "base": "a", "output": "b", "target": "x",
         "dimension": "style", "passed": i < attained, "auditors": auditors}
        for i in range(traces)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "three", "verdict"),
    [((300, 300), (300, 300), "one does as well"), ((150, 300), (290, 300), "three do better"),
     ((20, 30), (22, 30), "not decided"), ((5, 6), (6, 6), "too few traces"), ((5, 6), (290, 300), "too few traces")],
)  # fmt: skip
def test_one_auditor_is_compared_with_three(
    one: tuple[int, int], three: tuple[int, int], verdict: str
) -> None:
    table = one_against_three(attainment(pl.DataFrame([*audited(1, *one), *audited(3, *three)])))
    assert table["verdict"].to_list() == [verdict]


@pytest.mark.parametrize(
    ("one", "three", "low", "high"),
    [
        ((48, 80), (56, 70), 0.0524, 0.3339),
        ((56, 70), (48, 80), -0.3339, -0.0524),
        ((20, 20), (90, 100), -0.1744, 0.0672),
    ],
)
def test_the_interval_of_the_gain_is_newcombes(
    one: tuple[int, int], three: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe (1998), method 10: his example of 56 of 70 less 48 of 80; the last is as skewed as
    intervals come.
    """
    row = one_against_three(attainment(pl.DataFrame([*audited(1, *one), *audited(3, *three)]))).row(
        0, named=True
    )
    assert row["gain"] == pytest.approx(three[0] / three[1] - one[0] / one[1])
    assert (row["low"], row["high"]) == (
        pytest.approx(low, abs=5e-5),
        pytest.approx(high, abs=5e-5),
    )


def examples(n: int) -> Dataset:
    """Evolved claims: colloquial ones have an exclamation mark, and each belongs to the claim g0,
    g1, ...
    """
    rows = []
    for i in range(n):
        for value, text in (
            ("colloquial-emotional", f"Wow, mill {i} sold loads of looms!"),
            ("rational-official", f"Mill {i} sold looms."),
        ):
            change = {"dimension": "style", "value": value}
            note = {
                "synthetic": {
                    "label": "claim",
                    "origin": {"base_claim": f"base {i}"},
                    "changes": [change],
                }
            }
            rows.append(
                {
                    "id": f"e{i}-{value}",
                    "text": text,
                    "kind": "claim",
                    "group": f"g{i}",
                    "meta": json.dumps(note),
                }
            )
    return Dataset.build("examples", pl.DataFrame(rows), {}, synthetic=True)


def test_a_trained_judge_never_learned_from_the_claims_that_it_judges(
    looms: Make, tmp_path: Path
) -> None:
    data = examples(12)
    left = other_claims(data, {"g0", "g1"}, {"Mill 2 sold looms.", "base 3"})
    assert set(left.records["group"]) == {f"g{i}" for i in range(12)} - {"g0", "g1", "g3"}
    assert "Mill 2 sold looms." not in left.records["text"].to_list()
    data.write(tmp_path / "examples")
    released = {
        "dimension": "linguistic_style",
        "target_value": "Colloquial–Emotional",
    }  # as the released traces say it
    drifted = cl.drift(
        looms(6, **released), auditor="classifier", auditor_data=tmp_path / "examples"
    )
    assert set(drifted.attainment["judge"]) == {"own", "independent", "null model"}
    # All examples come from the claim that is judged: there is nothing else to learn from.
    same = data.records.with_columns(pl.lit("g0").alias("group"))
    Dataset.build("same", same, {}, synthetic=True).write(tmp_path / "same")
    one = looms(2)
    with pytest.raises(DataError, match="too few examples"):
        cl.drift(one, auditor="classifier", auditor_data=tmp_path / "same")


def test_steps_to_a_target_are_of_those_who_arrived() -> None:
    """Arrived after 1, 2 and 3 hops; one failed at its fourth, one was not judged."""
    ends = [(1, True), (2, True), (3, True), (4, False), (5, None)]
    hops = pl.DataFrame(
        [
            {"run": "r", "trace_id": f"t{n}", "hop": hop, "hops": n, "base": "a", "output": "b", "target": "x",
             "dimension": "style", "passed": passed if hop == n else False}
            for n, passed in ends for hop in range(1, n + 1)
        ]
    )  # fmt: skip
    (row,) = steps_to_target(hops).to_dicts()
    assert (row["traces"], row["mean"], row["most"], row["untouched"]) == (3, 2.0, 3, 0)
    assert row["at_once"] == pytest.approx(1 / 3)
