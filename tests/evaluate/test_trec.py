"""Rankings are scored as pytrec_eval scores them, ranked like runs, and refused with a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.evaluate.items import rank_items
from claimlab.tasks.matching import as_qrels, as_run, figures, qrels_of, read_qrels, read_run

N = 120
Rankings = dict[str, list[tuple[str, float]]]


@pytest.fixture
def truth() -> dict[str, set[str]]:
    rng = np.random.default_rng(0)
    return {f"q{i}": {f"d{j}" for j in rng.choice(40, 1 + i % 3, replace=False)} for i in range(N)}


def ranked(truth: dict[str, set[str]], skill: float) -> Rankings:
    """Forty documents for each query; a right one is lifted by `skill`."""
    rng = np.random.default_rng(int(10 * skill))
    scores = {q: {f"d{j}": rng.random() for j in range(40)} for q in truth}
    return {
        query: sorted(
            ((d, s + skill * (d in truth[query])) for d, s in known.items()), key=lambda p: -p[1]
        )
        for query, known in scores.items()
    }


@pytest.mark.needs("pytrec_eval")
def test_the_figures_are_pytrec_evals(truth: dict[str, set[str]]) -> None:
    import pytrec_eval

    rankings = ranked(truth, 0.3)
    names = {"success_1": "success@1", "success_5": "success@5", "success_10": "success@10"}
    names |= {"recip_rank": "MRR", "map": "MAP"}
    judged = {q: dict.fromkeys(answers, 1) for q, answers in truth.items()}
    oracle = pytrec_eval.RelevanceEvaluator(judged, {"success", "recip_rank", "map"})
    theirs = oracle.evaluate({q: dict(ranking) for q, ranking in rankings.items()})
    ours = figures(rankings, truth)
    for name, own in names.items():
        mean = np.mean([one[name] for one in theirs.values()])
        assert ours[own]["value"] == pytest.approx(mean, abs=1e-9)


def test_runs_of_a_task_are_ranked_by_every_figure(
    truth: dict[str, set[str]], tmp_path: Path
) -> None:
    (tmp_path / "qrels.trec").write_text(as_qrels(truth))
    for name, skill in (("good", 0.9), ("poor", 0.1)):
        (tmp_path / f"{name}.trec").write_text(as_run(ranked(truth, skill)))
    files = [tmp_path / "poor.trec", tmp_path / "good.trec"]
    boards = {board.title: board for board in rank_items(files, draws=300)}
    assert set(boards) == {"success@1", "success@5", "success@10", "MRR", "MAP"}
    assert all(board.tied == ["good"] for board in boards.values())
    assert boards["MRR"].detectable is not None
    own = figures(read_run(files[1]), truth)["MRR"]["value"]
    assert boards["MRR"].standings[0].score == pytest.approx(own)
    (alone,) = [b for b in cl.evaluate(files[0], draws=300).boards if b.title == "MAP"]
    assert alone.standings[0].interval is not None
    (tmp_path / "qrels.trec").unlink()
    with pytest.raises(DataError, match="no labelled answers beside"):
        rank_items(files)


def test_answers_travel_with_the_queries(truth: dict[str, set[str]], tmp_path: Path) -> None:
    """As a side table, to TREC, and back."""
    import polars as pl

    truth["q0"] = set()
    (tmp_path / "qrels").write_text(as_qrels(truth))
    assert read_qrels(tmp_path / "qrels") == truth
    rows = [(q, d, 1) for q, answers in truth.items() for d in answers] + [("q0", "d1", 0)]
    table = pl.DataFrame(rows, schema=["record_id", "document", "relevance"], orient="row")
    records = pl.DataFrame({"id": [*truth], "text": [f"Claim\n{q}" for q in truth]})
    queries = Dataset.build("queries", records, {"qrels": table})
    assert qrels_of(queries) == truth
    cl.export(queries, "trec", output=tmp_path / "out")
    assert read_qrels(tmp_path / "out" / "qrels.trec") == truth
    assert (tmp_path / "out" / "queries.tsv").read_text().startswith("q0\tClaim q0\n")


def test_an_id_is_one_word_whatever_it_holds(tmp_path: Path) -> None:
    id, forged = "q 1", "d 0 1\nq2 0 d9 1"
    (tmp_path / "qrels").write_text(as_qrels({id: [forged], "q2": []}), "utf-8")
    assert read_qrels(tmp_path / "qrels") == {"q%201": {"d%200%201%0Aq2%200%20d9%201"}, "q2": set()}
    (tmp_path / "run").write_text(as_run({id: [(forged, 0.5)]}), "utf-8")
    assert list(read_run(tmp_path / "run")) == ["q%201"]
    rows = pl.DataFrame({"id": [id, "q\t2\nq3"], "text": ["one claim", "another"]})
    cl.export(rows, "trec", output=tmp_path / "out")
    words = (tmp_path / "out" / "queries.tsv").read_text("utf-8")
    assert words == "q%201\tone claim\nq%092%0Aq3\tanother\n"
