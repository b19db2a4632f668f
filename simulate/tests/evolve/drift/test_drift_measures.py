"""Measures over traces with a known truth, and the stages that fall out as datasets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.exchange.synthetic import require_labels
from claimlab.llm.prompts import Prompts
from claimlab_simulate.evolve.auditor import Question, Vote
from claimlab_simulate.evolve.drift import attainment, coverage, features, stages, verdicts
from claimlab_simulate.evolve.drift.attainment import judge_ends
from claimlab_simulate.evolve.drift.hops import read_hops
from claimlab_simulate.evolve.drift.influence import attribute, influence, producer_share, together
from claimlab_simulate.evolve.drift.measure import measure

Make = Callable[..., Dataset]


def test_hops_are_numbered_through_and_know_their_run(looms: Make) -> None:
    hops = read_hops([looms()])
    first = hops.filter(pl.col("trace_id") == "t0")
    assert first["hop"].to_list() == first["depth"].to_list() == [1, 2, 3]
    assert first["base"].unique().to_list() == ["The mill in Garrow sold 300 looms in 1931."]
    assert set(hops["topology"]) == {"random"}
    assert set(hops["auditors"]) == {3}
    assert first["group"].to_list() == ["North", "South", "North"]
    assert first["home"].null_count() == 3  # it crossed groups


def test_rounds_do_not_start_the_count_again(looms: Make) -> None:
    data = looms(1)
    later = data.tables["traces"].with_columns(pl.lit(2, pl.Int32).alias("round"))
    data.tables["traces"] = pl.concat([data.tables["traces"], later])
    assert read_hops([data])["hop"].to_list() == [1, 2, 3, 4, 5, 6]


def test_runs_of_one_name_are_kept_apart(looms: Make) -> None:
    assert read_hops([looms(), looms()])["run"].unique().sort().to_list() == [
        "1: looms",
        "2: looms",
    ]


def test_a_dataset_without_traces_is_refused(looms: Make) -> None:
    data = looms()
    del data.tables["traces"]
    with pytest.raises(DataError, match="has no traces"):
        read_hops([data])


def test_attainment_by_setting_with_an_independent_word(looms: Make) -> None:
    runs = [looms(auditors=n, name=f"run{n}") for n in (0, 1, 3)]
    told = {("run0", "t0"): True, ("run0", "t1"): False, ("run0", "t2"): None, ("run1", "t0"): True}
    table = attainment.attainment(read_hops(runs), told)
    own = {r["setting"]: r for r in table.filter(pl.col("judge") == "own").to_dicts()}
    assert own["three auditors"]["share"] == own["one auditor"]["share"] == 0.75
    assert own["direct"]["share"] is None
    assert own["direct"]["unjudged"] == 4
    other = {r["setting"]: r for r in table.filter(pl.col("judge") == "independent").to_dicts()}
    assert (other["direct"]["attained"], other["direct"]["judged"]) == (1, 2)
    assert (other["one auditor"]["attained"], other["one auditor"]["judged"]) == (1, 1)
    assert other["three auditors"]["judged"] == 0  # the word on one run is not the word on another


def test_an_auditor_that_took_no_part_judges_each_run_by_its_own_texts(looms: Make) -> None:
    class Exclaims:
        name = "exclaims"

        async def judge(self, question: Question) -> Vote:
            return Vote(
                self.name,
                question.text.endswith("!") if question.target.dimension == "style" else None,
            )

        async def close(self) -> None: ...

        def describe(self) -> dict[str, str]:
            return {"auditor": self.name}

    loud, quiet = looms(2, name="loud"), looms(2, name="quiet")
    traces = quiet.tables["traces"]
    quiet.tables["traces"] = traces.with_columns(pl.col("output").str.strip_chars("!"))
    ends = judge_ends(read_hops([loud, quiet]), Exclaims())
    assert ends == {(run, t): run == "loud" for run in ("loud", "quiet") for t in ("t0", "t1")}


def test_people_spoke_of_one_run_only(looms: Make) -> None:
    one, two = looms(1, name="one"), looms(1, name="two")
    said = {
        "record_id": "t0",
        "annotator": "p",
        "annotator_kind": "human",
        "question": "verdict",
        "value": "False",
    }
    one.tables["annotations"] = pl.DataFrame(
        [{**said, "meta": json.dumps({"trace_id": "t0", "hop": 2})}]
    )
    known = measure([one, two]).hops.drop_nulls("verdict")
    assert known.select("run", "hop").rows() == [("one", 2)]


def test_steps_count_only_what_arrived(looms: Make) -> None:
    (row,) = attainment.steps_to_target(read_hops([looms()])).to_dicts()
    assert (row["traces"], row["mean"], row["most"], row["at_once"]) == (3, 3.0, 3, 0.0)


@pytest.mark.parametrize(
    ("word", "name"),
    [("Big Five", "big_five"), ("agreeableness & conscientiousness", "big_five"), ("moderate ideology", "ideology"),
     ("higher_education", "education"), ("social worker", "job"), ("political_leaning", "ideology"), ("shoe size", "other")],
)  # fmt: skip
def test_attributes_are_known_by_many_words(word: str, name: str) -> None:
    assert attribute(word) == name


def test_what_moves_producers_and_what_goes_together(looms: Make) -> None:
    hops = read_hops([looms()])
    assert set(influence(hops).select("attribute", "share").iter_rows()) == {
        ("big_five", 1.0),
        ("job", 1.0),
    }
    assert together(hops).rows() == [("big_five", "job", 12), ("job", "big_five", 12)]
    bystanders = hops.with_columns(pl.lit("bystander").alias("role"))
    assert influence(bystanders).height == 0
    assert producer_share(hops, "group")["share"].to_list() == [1.0, 1.0]


def test_verdicts_from_the_traces(looms: Make) -> None:
    hops = verdicts.with_verdicts(
        read_hops([looms(1)]).with_columns(pl.Series("verdict", ["true", "HALF-TRUE", "no idea"]))
    )
    assert hops["verdict"].to_list() == ["True", "Half True", None]
    assert verdicts.verdict_moves(hops).rows() == [("True", "Half True", 1), ("True", "True", 1)]
    assert verdicts.verdict_shares(hops, "topology").select(
        "topology", "verdict", "share"
    ).rows() == [("random", "Half True", 1.0)]


def test_verdicts_by_hop(looms: Make) -> None:
    hops = verdicts.with_verdicts(read_hops([looms(2, verdict="half true")]))
    assert verdicts.verdicts_by_hop(hops).rows() == [
        (str(n), "Half True", 2, 1.0) for n in (1, 2, 3)
    ]


def test_verdicts_by_people_take_the_middle_level(looms: Make) -> None:
    said = [
        {"record_id": "t0", "annotator": f"p{i}", "annotator_kind": "human", "question": "verdict", "value": value,
         "rationale": None, "meta": json.dumps({"trace_id": "t0", "hop": 3})}
        for i, value in enumerate(["True", "Mostly False", "False"])
    ]  # fmt: skip
    hops = verdicts.with_verdicts(read_hops([looms(1)]), pl.DataFrame(said))
    assert hops["verdict"].to_list() == [None, None, "Mostly False"]


def test_coverage_finds_what_is_still_said(looms: Make) -> None:
    data = looms()
    found = coverage.coverage(read_hops([data]), coverage.contexts(data))
    assert found["seed_coverage"].to_list() == [0.5] * 4  # one clause of the two is in the seed
    assert found["coverage"].to_list() == [0.0] * 4
    assert found["seed_length"].to_list() == [9] * 4
    assert coverage.coverage(read_hops([data]), {})["coverage"].null_count() == 4


def test_nothing_that_was_not_measured_looks_measured(looms: Make) -> None:
    data = looms()
    del data.tables["evidence"]
    found = measure([data])
    assert found.verdict_shares == {}
    assert found.fuse is None
    assert [n.split(" is ")[0] for n in found.notes] == ["Verdict drift", "FUSE-EVAL", "Coverage"]
    json.dumps(found.to_json())


TEXT = "The mill in Garrow sold 300 looms in 1931."


def test_the_same_traces_give_the_same_figures(looms: Make) -> None:
    assert measure([looms()]).to_json() == measure([looms()]).to_json()


def test_the_words_of_judges_are_in_the_report_and_in_the_lineage_of_stages(looms: Make) -> None:
    words = Prompts().lineage("fuse-eval")
    drifted = measure([looms()])
    drifted.prompts = words
    assert drifted.to_json()["prompts"] == words
    assert set(words["fuse-eval"]) == {"version", "sha256"}
    data = looms()
    plain, asked = (
        stages.stages(data, read_hops([data]), ["seed"], given)["seed"] for given in (None, words)
    )
    assert "prompts" not in plain.lineage[-1].parameters
    assert asked.lineage[-1].parameters["prompts"] == words


def test_stages_are_datasets_with_label_origin_and_trace(looms: Make) -> None:
    data = looms()
    made = stages.stages(data, read_hops([data]))
    assert {n: d.records.height for n, d in made.items()} == {
        "seed": 2,
        "middle": 4,
        "evolved": 4,
        "null": 4,
    }  # seeds once each
    for one in made.values():
        assert one.synthetic
        require_labels(one)
    assert made["seed"].records["text"].unique().to_list() == [
        "The mill in Garrow sold 300 looms in 1931."
    ]
    assert made["middle"].records["text"].unique().to_list() == [
        "Folks say the mill in Garrow sold looms!"
    ]
    assert made["middle"].tables["traces"].height == 8
    assert made["evolved"].tables["traces"].height == 12
    assert set(made["evolved"].tables["traces"]["record_id"]) == set(made["evolved"].records["id"])
    assert set(made["evolved"].records["group"]) == {"g0", "g1"}


def test_an_evolved_text_does_not_inherit_the_verdict_of_its_seed(looms: Make) -> None:
    """Two traces of a record with a verdict: one whose text moved, and one that came back to its
    base at the end.
    """
    data = looms(2)
    data.records = data.records.with_columns(pl.lit("true").alias("veracity"))
    back = (
        pl.when((pl.col("trace_id") == "t1") & (pl.col("step") == 3))
        .then(pl.lit(TEXT))
        .otherwise("output")
    )
    data.tables["traces"] = data.tables["traces"].with_columns(back.alias("output"))
    made = stages.stages(data, read_hops([data]))
    assert made["seed"].records["veracity"].to_list() == ["true"], "both traces start from one seed"
    assert made["middle"].records["veracity"].to_list() == [None, None]
    ends = dict(made["evolved"].records.select("id", "veracity").iter_rows())
    assert ends == {"t0-evolved": None, "t1-evolved": "true"}, (
        "a verdict is on a text: it holds where that is the same"
    )


def test_a_seed_is_not_called_altered(looms: Make) -> None:
    data = looms()
    data.records = data.records.with_columns(pl.lit("HAT").alias("authorship"))
    made = stages.stages(data, read_hops([data]))
    assert made["seed"].records["authorship"].null_count() == 2
    assert set(made["evolved"].records["authorship"]) == {"HAT"}


def test_a_trace_of_one_hop_has_no_middle(looms: Make) -> None:
    data = looms()
    data.tables["traces"] = data.tables["traces"].filter(
        (pl.col("step") == 1) | (pl.col("trace_id") == "t0")
    )
    middle = stages.stages(data, read_hops([data]), ["middle"])["middle"]
    assert middle.records["id"].to_list() == ["t0-middle"]
    assert middle.lineage[-1].counts["without_this_stage"] == 3
    with pytest.raises(UsageError, match="no stage 'late'"):
        stages.stages(data, read_hops([data]), ["late"])


def test_a_stage_after_a_number_of_hops(looms: Make) -> None:
    data = looms()
    data.tables["traces"] = data.tables["traces"].filter(
        (pl.col("step") == 1) | (pl.col("trace_id") == "t0")
    )
    hops = read_hops([data])
    second = stages.stages(data, hops, ["step-2"])["step-2"]
    said = data.tables["traces"].filter(step=2)["output"].to_list()
    assert second.records.select("id", "text").rows() == [("t0-step-2", *said)]
    assert second.tables["traces"]["step"].to_list() == [1, 2]
    assert second.lineage[-1].counts["without_this_stage"] == 3
    for wrong in ("step-", "step-0", "2"):
        with pytest.raises(UsageError, match=f"no stage '{wrong}'"):
            stages.stages(data, hops, [wrong])


def test_of_a_cascade_the_line_to_the_last_text_is_kept(looms: Make) -> None:
    hops = read_hops([looms(1)]).with_columns(pl.Series("parent", [0, 0, 1], dtype=pl.Int32))
    line = stages.main_line(hops)
    assert line["step"].to_list() == [1, 3]
    assert line["hop"].to_list() == [1, 2]
    assert line["hops"].to_list() == [2, 2]


@pytest.mark.realdata
@pytest.mark.slow
def test_released_traces(real_data: Path) -> None:
    """What the paper says of length and of hops, from the 2,868 released traces."""
    data = load("evolved-claims", real_data / "evolved-claims.zip", variant="traces")
    found = measure([data])
    assert found.counts == {"traces": 2_868, "hops": 5_005, "failed_hops": 0, "unmeasured_hops": 0}
    lengths = dict(found.coverage.group_by("dimension").agg(pl.col("length").mean()).iter_rows())
    published = {
        "linguistic_style": 26.95,
        "granularity": 34.50,
        "causal_structure": 27.64,
        "stance_polarity": 29.20,
    }
    for dimension, words in published.items():
        assert lengths[dimension] == pytest.approx(words, rel=0.03)
    means = found.coverage.select("seed_coverage", "coverage").mean().row(0)
    assert 0.08 < means[0] < 0.16
    assert 0.08 < means[1] < 0.18
    rows = found.attainment.to_dicts()
    assert (
        sum(r["traces"] - r["attained"] - r["untouched"] for r in rows) == 14
    )  # the card says so, too
    assert sum(r["untouched"] for r in rows) == 82, (
        "successes that are the untouched seed are counted apart"
    )


@pytest.mark.realdata
@pytest.mark.slow
def test_rule_rewrites_rise_fast_then_flatten(real_data: Path) -> None:
    """Seeds of the paper, 30 steps: late slope under a fifth of the early one, and still nearer to
    the base than unrelated claims are to each other. All 240 on three networks:
    bench/evolve_drift.py curve."""
    from claimlab_simulate.evolve.front import evolve

    seeds = load("evolved-claims", real_data / "evolved-claims.zip", variant="seed240", limit=80)
    run = evolve(seeds)
    whole = measure([run]).curves["all", ""]
    assert whole.flattens is True
    assert whole.end is not None
    assert whole.unrelated is not None
    assert 0.1 < whole.end < whole.unrelated < whole.ceiling


@pytest.mark.needs("pandas")
def test_drift_is_shown_hop_by_hop(looms: Make) -> None:
    found = measure([looms(2)])
    assert repr(found).startswith(f"<Drift 2 traces, {found.hops.height} hops, ")
    assert len(found) == found.hops.height
    assert "votes" not in found.table.columns
    assert found.to_pandas().shape == found.table.shape
    assert "<table" in found._repr_html_()


@pytest.mark.parametrize(
    ("claim", "share"),
    [
        (
            "Garrow sold looms.",
            0.5,
        ),  # half of the first unit is contained: enough; nothing of the second
        ("Garrow sold bread.", 0.0),  # less than half
        ("Garrow sold looms, and the river Tolm froze.", 1.0),
    ],
)
def test_half_of_a_unit_contains_it_and_three_pieces_make_one(claim: str, share: float) -> None:
    """Units of six and of three pieces; the last sentence has two, and is none."""
    context = "Garrow sold looms, carts, nets and ropes. The river Tolm froze. Mayors slept."
    assert [len(features.read(unit).units) for unit in coverage.units(context)] == [6, 3, 2]
    assert coverage.contained(claim, context) == share


def test_the_share_of_producers_is_of_the_hops_that_did_not_fail() -> None:
    roles = ["producer", "producer", "spreader", "failed", "failed"]
    hops = pl.DataFrame({"group": ["North"] * 5, "role": roles})
    assert producer_share(hops, "group").rows() == [("North", 5, 2, 2, 2 / 3)]


def test_a_trace_with_a_hop_of_no_known_group_has_no_home(looms: Make) -> None:
    data = looms(2)
    agents = data.tables["agents"]
    data.tables["agents"] = agents.with_columns(group=pl.lit("North"))
    assert set(read_hops([data])["home"]) == {"North"}
    data.tables["agents"] = agents.with_columns(group=pl.lit("North")).slice(1)
    hops = read_hops([data])
    torn = hops.filter(pl.col("group").is_null().any().over("trace_id"))
    assert torn.height
    assert torn["home"].null_count() == torn.height
