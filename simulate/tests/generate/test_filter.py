"""The quality filter on samples whose defects are known: each is found for its reason, and clean
samples stay.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import clean_twin
from parts.planted_samples import DEFECTS, REASONS, planted_samples
from parts.standin import Body, StandIn, own_profile

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab_simulate.generate.filter.front import quality_filter
from claimlab_simulate.generate.filter.metric import METRICS, QualityMetric
from claimlab_simulate.generate.filter.reading import Reading

VECTORS = {"similarity", "translated-pair"}  # they take seconds to load
QUICK = sorted(set(METRICS.names()) - VECTORS)
JUDGED = [
    "factual", "logical", "semantic", "contextual", "change_validity", "technique", "alteration", "accuracy", "fluency",
    "terminology", "localisation", "coherence",
]  # fmt: skip


@pytest.fixture(scope="module")
def planted() -> tuple[Dataset, dict[str, list[str]]]:
    return planted_samples(size=60, each=6)


def reasons(filtered: Any) -> dict[str, set[str]]:
    return {
        v.sample: {r.split(":")[0] for r in v.reasons} if v.verdict == "failed" else set()
        for v in filtered.verdicts
    }


def check(filtered: Any, truth: dict[str, list[str]]) -> None:
    found, bad = reasons(filtered), {sample for samples in truth.values() for sample in samples}
    for defect, samples in truth.items():
        missed = [sample for sample in samples if not found[sample] & REASONS[defect]]
        assert not missed, f"{defect} was not found for its reason in {missed}"
    clean = [v for v in filtered.verdicts if v.sample not in bad]
    lost = [v for v in clean if v.verdict != "passed"]
    assert len(lost) <= 0.02 * len(clean), lost


@pytest.mark.slow
def test_each_planted_defect_is_found_for_its_reason(
    planted: tuple[Dataset, dict[str, list[str]]],
) -> None:
    assert set(planted[1]) == set(DEFECTS)
    check(quality_filter(planted[0], metrics=QUICK), planted[1])


@pytest.mark.slow
def test_with_every_metric_at_most_two_in_a_hundred_clean_samples_are_lost() -> None:
    dataset, truth = planted_samples(size=150, each=4, seed=7)
    check(quality_filter(dataset), truth)


@pytest.mark.slow
def test_what_left_keeps_its_reason_and_people_stay(
    planted: tuple[Dataset, dict[str, list[str]]], tmp_path: Path
) -> None:
    dataset, truth = planted
    filtered = quality_filter(
        dataset, metrics=QUICK, output=tmp_path / "good", report=tmp_path / "report"
    )
    written = Dataset.open(tmp_path / "good")
    everything = sorted([*written.records["id"], *written.tables["dropped"]["id"]])
    assert everything == sorted(dataset.records["id"]), "no record is lost or doubled"
    people = dataset.records.filter(pl.col("authorship") == "HWT")
    assert set(people["id"]) <= set(written.records["id"])
    assert written.tables["dropped"]["reason"].null_count() == 0
    data = json.loads((tmp_path / "report" / "quality.json").read_text(encoding="utf-8"))
    funnel = data["funnel"]
    assert (
        funnel["generated"]
        >= funnel["free of defects"]
        >= funnel["passed the metrics"]
        >= funnel["passed"]
    )
    assert (
        funnel["passed"]
        == filtered.count("passed")
        == len(filtered.verdicts) - sum(map(len, truth.values()))
    )
    assert data["passed_without"]["sentiment"] > 0, (
        "sentiment is measured in English only, and the report counts it"
    )
    again = quality_filter(dataset, metrics=QUICK, output=tmp_path / "again")
    assert again.dataset.digest() == filtered.dataset.digest()


def test_a_metric_that_breaks_never_passes_a_sample(
    planted: tuple[Dataset, dict[str, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(batch: Any) -> list[Reading]:
        raise ZeroDivisionError("planned")

    broken = QualityMetric("consistency", "breaks", "nothing", breaks)
    short = QualityMetric(
        "consistency", "answers for one text", "nothing", lambda _: [Reading("passed")]
    )
    for metric in (broken, short):
        monkeypatch.setitem(vars(METRICS), "get", lambda _, m=metric: m)
        filtered = quality_filter(planted[0], metrics=["breaks"])
        assert {v.verdict for v in filtered.verdicts} == {"undecided"}
        assert filtered.count("passed") == 0
        assert (
            "error" in {r["metric"]: "error" for r in filtered.by_metric() if r["errors"]}.values()
        )
        doubtful = filtered.dataset.tables["doubtful"]
        assert doubtful["reason"].str.contains("ZeroDivisionError|did not answer").all()
        monkeypatch.undo()


def test_a_sample_of_which_nothing_is_measured_is_undecided(
    planted: tuple[Dataset, dict[str, list[str]]],
) -> None:
    filtered = quality_filter(planted[0], metrics=["sentiment"])
    assert filtered.count("passed") == 0, "sentiment is information: it passes nothing"
    complete = quality_filter(planted[0], metrics=["structure", "sentiment"], complete=True)
    loose = quality_filter(planted[0], metrics=["structure", "sentiment"])
    assert complete.count("passed") < loose.count("passed") == len(loose.verdicts)


@pytest.mark.slow
def test_a_vote_and_an_average_forgive_what_all_does_not(
    planted: tuple[Dataset, dict[str, list[str]]],
) -> None:
    counts = {
        a: quality_filter(planted[0], metrics=QUICK, aggregate=a).count("passed")
        for a in ("all", "vote", "average")
    }
    assert counts["all"] < counts["vote"]
    assert counts["all"] <= counts["average"]


def judge_all(rating: dict[str, int]) -> Any:
    def answer(body: Body) -> str:
        asked = body["messages"][0]["content"]
        features = [name for name in JUDGED if f"- {name}:" in asked]
        return json.dumps({"rationale": "So.", **{name: rating.get(name, 4) for name in features}})

    return answer


def test_the_judge_applies_the_reading_that_is_named(
    planted: tuple[Dataset, dict[str, list[str]]], tmp_path: Path
) -> None:
    dataset = planted[0]
    profile = tmp_path / "mine.toml"
    rating = {"factual": 2, "logical": 2, "semantic": 2, "contextual": 2, "alteration": 3}
    with StandIn(judge_all(rating)) as server:
        own_profile(profile, f'[mine]\nbase_url = "{server.url}"\nmodel = "m"\n')
        words: dict[str, Any] = {
            "profile": str(profile),
            "metrics": ["structure"],
            "cache": tmp_path / "calls",
        }
        table = quality_filter(dataset, reading="table", **words)
        calls = server.counts()["served"]
        text = quality_filter(dataset, reading="text", **words)
        assert server.counts()["served"] == calls, "both readings are of the same answers"
    altered = {v.sample for v in table.verdicts if v.first.veracity == "altered"}
    passed = {
        name: {v.sample for v in f.verdicts if v.verdict == "passed"}
        for name, f in (("table", table), ("text", text))
    }
    assert passed["table"] == altered, "low consistency is what the table asks of altered text"
    assert not passed["text"]
    assert table.judge is not None
    assert table.to_json()["agreement"] == []


def test_a_refusal_of_the_judge_is_not_measured(
    planted: tuple[Dataset, dict[str, list[str]]], tmp_path: Path
) -> None:
    profile = tmp_path / "mine.toml"
    with StandIn(lambda _: "I cannot help with that.") as server:
        own_profile(profile, f'[mine]\nbase_url = "{server.url}"\nmodel = "m"\n')
        filtered = quality_filter(planted[0], profile=str(profile), metrics=["structure"])
    rows = [r for r in filtered.by_metric() if r["stage"] == "judge"]
    assert rows
    assert all(r["passed"] == r["failed"] == 0 and r["not_measured"] > 0 for r in rows)
    readings = filtered.readings().filter(pl.col("metric") == "judge factual")
    assert readings["reason"].str.contains("refusal").all()


def test_agreement_with_annotators_is_over_samples(
    planted: tuple[Dataset, dict[str, list[str]]], tmp_path: Path
) -> None:
    dataset, truth = planted
    bad = {sample for samples in truth.values() for sample in samples}
    rows = dataset.records.filter(pl.col("id").str.ends_with("-article"))
    wrong = pl.col("id").str.strip_suffix("-article").is_in(list(bad))
    decision = pl.when(wrong).then(pl.lit("remove")).otherwise(pl.lit("keep")).alias("decision")
    rows.select("id", decision).write_csv(tmp_path / "people.csv")
    agreed = quality_filter(dataset, metrics=QUICK, decisions=tmp_path / "people.csv").agreement
    assert [(r["who"], r["samples"], r["agree"], r["kappa"]) for r in agreed] == [
        ("filter", 102, 1.0, 1.0)
    ]
    loose = quality_filter(
        dataset, metrics=["structure"], decisions=tmp_path / "people.csv"
    ).agreement
    assert loose[0]["agree"] == pytest.approx(60 / 102)
    assert loose[0]["kappa"] == 0


def test_any_dataset_folder_can_be_filtered(tmp_path: Path) -> None:
    from parts.planted import planted as claims

    dataset, truth = claims(size=240)
    filtered = quality_filter(dataset, metrics=["structure", "language", "near-duplicates"])
    assert len(filtered.verdicts) == len(dataset)
    found = {
        v.sample for v in filtered.verdicts if any(r.startswith("language") for r in v.reasons)
    }
    planted_wrong = set(truth.records["wrong-language"])
    assert len(planted_wrong & found) >= 0.9 * len(planted_wrong)


def test_the_published_tables_of_bluff_can_be_filtered() -> None:
    import claimlab as cl

    raw = Path(__file__).parents[3] / "tests" / "catalog" / "samples" / "bluff" / "raw"
    filtered = quality_filter(
        cl.load("bluff", raw), metrics=["structure", "language", "copying", "edit-distance"]
    )
    generated = next(v for v in filtered.verdicts if v.first.degree)
    assert len(generated.texts) == 4, "the article and the post, each in two languages"
    assert {"copying", "edit-distance"} <= set(generated.unmeasured), (
        "its seed is not among the processed files"
    )


def test_own_thresholds_replace_only_what_they_name(
    planted: tuple[Dataset, dict[str, list[str]]], tmp_path: Path
) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[edit-distance]\nchanged.any = [0.9, 1.0]\n", encoding="utf-8")
    filtered = quality_filter(planted[0], metrics=["edit-distance"], thresholds=own)
    assert filtered.count("failed") == len(filtered.verdicts)
    own.write_text("[nothing]\nx = 1\n", encoding="utf-8")
    with pytest.raises(ClaimlabError, match="'nothing', which is not a metric"):
        quality_filter(planted[0], thresholds=own)


def test_the_verb_prints_the_funnel_and_lists_its_metrics(
    planted: tuple[Dataset, dict[str, list[str]]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    planted[0].write(tmp_path / "generated")
    folder = str(tmp_path / "generated")
    assert run(["generate", "filter", folder, "--metric", "language", "--metric", "structure"]) == 0
    out = capsys.readouterr().out
    assert "96 of 102 samples passed" in out
    assert run(["generate", "filter", folder, "--metrics"]) == 0
    assert "information only" in capsys.readouterr().out
    assert run(["generate", "filter", folder, "--metric", "langage"]) == 2
    assert "language" in capsys.readouterr().err
    assert run(["generate", "filter", folder, "--set", "aggregate=mean"]) == 2


def test_every_sample_is_counted_for_every_metric() -> None:
    """Passed, failed, not measured or without a meaning: no sample is missing from a row of the
    table.
    """
    people = clean_twin(size=40)
    people.records = people.records.with_columns(pl.lit("HWT").alias("authorship"))
    rows = quality_filter(
        people, metrics=["copying", "language", "edit-distance", "structure"]
    ).by_metric()
    counts: dict[str, int] = {}
    for row in rows:
        parts = (row["passed"], row["failed"], row["not_measured"], row["does_not_apply"])
        counts[row["metric"]] = counts.get(row["metric"], 0) + sum(parts)
    assert counts == dict.fromkeys(counts, 40)
    assert (
        sum(row["does_not_apply"] for row in rows if row["metric"] == "copying") == 40
    )  # nothing was copied from


def test_figures_from_elsewhere_are_gates_where_they_have_limits(tmp_path: Path) -> None:
    data = planted_samples(size=8, each=0)[0]
    ids = [row["id"] for row in data.records.iter_rows(named=True) if row["authorship"] != "HWT"]
    lines = [f"{name},{0.5 if name == ids[0] else 0.95},0.1" for name in ids[:-1]]
    (tmp_path / "s.csv").write_text("\n".join(["id,bertscore,novelty", *lines]), encoding="utf-8")
    plain = quality_filter(data, metrics=["structure"], scores=tmp_path / "s.csv")
    assert plain.count("passed") == quality_filter(data, metrics=["structure"]).count("passed"), (
        "without limits they are information"
    )
    (tmp_path / "t.toml").write_text(
        '[scores.bertscore]\ndimension = "consistency"\nreal = { at_least = 0.9 }\n'
        "altered = { at_least = 0.9 }\n",
        encoding="utf-8",
    )
    held = quality_filter(
        data, metrics=["structure"], scores=tmp_path / "s.csv", thresholds=tmp_path / "t.toml"
    )
    gate = next(gate for gate in held.gates if gate.name == "bertscore")
    outcomes = {text.id: r.outcome for text, r in zip(held.texts, gate.readings, strict=True)}
    assert (outcomes[ids[0]], outcomes[ids[1]], outcomes[ids[-1]]) == (
        "failed",
        "passed",
        "not measured",
    )
    assert any("bertscore: bertscore 0.50" in r for v in held.verdicts for r in v.reasons)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("name,bertscore\na,1\n", "no figures by id"),
        ("id,bertscore\na,1\nb,high\n", "no number in column 'bertscore' of id 'b', but 'high'"),
        ("id,bertscore\na,1\na,2\n", "several rows"),
    ],
)
def test_a_wrong_file_of_figures_is_a_sentence(tmp_path: Path, table: str, words: str) -> None:
    (tmp_path / "s.csv").write_text(table, encoding="utf-8")
    with pytest.raises(ClaimlabError, match=words):
        quality_filter(planted_samples(size=4, each=0)[0], scores=tmp_path / "s.csv")
