"""Results that others published item by item: each format in its real shape with synthetic content,
planted truth, and what is refused.
"""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sklearn.metrics import f1_score
from typer.testing import CliRunner

import claimlab as cl
from claimlab.cli.app import app
from claimlab.core.errors import DataError
from claimlab.core.stats.possible import possible_together
from claimlab.evaluate.items import FORMATS, as_score, check_papers, rank_items

SKILLS = {"good": 0.92, "twin": 0.92, "poor": 0.6}
Results = dict[str, dict[str, int]]


@pytest.fixture
def results() -> Results:
    """Right and wrong answers of three systems to 240 items, two of them equally skilled."""
    rng = random.Random(1)
    hard = {f"item-{i:03d}": rng.random() for i in range(240)}
    return {
        system: {item: int((level + rng.random()) / 2 < skill) for item, level in hard.items()}
        for system, skill in SKILLS.items()
    }


def as_csv(results: Results, folder: Path) -> list[Path]:
    rows = [f"{i},{s},{right}" for s, items in results.items() for i, right in items.items()]
    (folder / "t.csv").write_text("item,system,correct\n" + "\n".join(rows), encoding="utf-8")
    return [folder / "t.csv"]


def as_lines(results: Results, folder: Path) -> list[Path]:
    rows = [
        json.dumps({"item": i, "system": s, "score": float(right)})
        for s, items in results.items()
        for i, right in items.items()
    ]
    (folder / "t.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return [folder / "t.jsonl"]


def as_inspect(results: Results, folder: Path) -> list[Path]:
    files = []
    for system, items in results.items():
        files.append(folder / f"2026-01-01_task_{system}.eval")
        with zipfile.ZipFile(files[-1], "w") as log:
            log.writestr("header.json", json.dumps({"eval": {"task": "t", "model": system}}))
            for item, right in items.items():
                scores = {"match": {"value": "C" if right else "I", "answer": "x"}}
                sample = {"id": item, "epoch": 1, "input": "Bridge 7 opened.", "scores": scores}
                log.writestr(f"samples/{item}_epoch_1.json", json.dumps(sample))
    return files


def as_lm_eval(results: Results, folder: Path) -> list[Path]:
    files = []
    for system, items in results.items():
        (folder / system).mkdir()
        files.append(folder / system / "samples_task_2026-01-01T00-00-00.jsonl")
        rows = [
            {
                "doc_id": number,
                "doc": {"question": item},
                "target": "x",
                "filter": name,
                "metrics": ["exact_match"],
                "exact_match": float(right if name == "strict" else 1),
            }
            for number, (item, right) in enumerate(items.items())
            for name in ("strict", "flexible")
        ]
        files[-1].write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return files


def as_helm(results: Results, folder: Path) -> list[Path]:
    files = []
    for system, items in results.items():
        (folder / system).mkdir()
        spec = {"name": f"task:model={system}", "adapter_spec": {"model": system}}
        (folder / system / "run_spec.json").write_text(json.dumps(spec), encoding="utf-8")
        rows = [
            {
                "instance_id": item,
                "train_trial_index": 0,
                "stats": [
                    {"name": {"name": "num_references"}, "count": 1, "sum": 4, "mean": 4},
                    {"name": {"name": "exact_match"}, "count": 1, "sum": right, "mean": right},
                ],
            }
            for item, right in items.items()
        ]
        files.append(folder / system / "per_instance_stats.json")
        files[-1].write_text(json.dumps(rows), encoding="utf-8")
    return files


def as_resolved(results: Results, folder: Path) -> list[Path]:
    files = []
    for system, items in results.items():
        (folder / system).mkdir()
        report = {
            "total_instances": len(items),
            "resolved_ids": [item for item, right in items.items() if right],
        }
        files.append(folder / system / "results.json")
        files[-1].write_text(json.dumps(report), encoding="utf-8")
    return files


WRITERS = [as_csv, as_lines, as_inspect, as_lm_eval, as_helm, as_resolved]


def test_every_format_is_written_here() -> None:
    assert set(FORMATS.names()) == {
        "csv-or-lines",
        "inspect-log",
        "lm-eval",
        "helm",
        "swe-bench",
        "texts",  # tests/tasks/test_normalisation.py
        "trec",
    }


@pytest.mark.parametrize("write", WRITERS)
def test_each_format_gives_the_same_board(
    write: Callable[[Results, Path], list[Path]], results: Results, tmp_path: Path
) -> None:
    (board,) = rank_items(write(results, tmp_path), draws=500)
    assert {one.name: round(one.score * 240) for one in board.standings} == {
        system: sum(items.values()) for system, items in results.items()
    }
    assert sorted(board.tied) == ["good", "twin"]
    assert board.ranks["poor"] == "3"
    assert board.above == ("poor",)
    assert (board.records, board.groups) == (240, 240)
    assert board.detectable is not None
    assert 0.01 < board.detectable < 0.2


@pytest.mark.parametrize("write", WRITERS)
def test_the_page_of_each_format(
    write: Callable[[Results, Path], list[Path]], results: Results, tmp_path: Path
) -> None:
    files = [str(file) for file in write(results, tmp_path)]
    done = CliRunner().invoke(
        app, ["evaluate", *files, "-o", str(tmp_path / "out"), "--draws", "300"]
    )
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    for text in (done.stdout, page):
        assert "cannot be told apart" in text
        assert "1-2" in text
        assert "points of mean score" in " ".join(text.split())
    saved = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))
    assert saved["boards"][0]["standings"][2]["ranks"] == [3, 3]


def test_groups_of_items_are_not_independent(results: Results, tmp_path: Path) -> None:
    """Ten copies of every item make no difference clearer, once they are named as groups."""
    rows = ["item,system,correct,group"]
    for system, items in results.items():
        rows += [f"{i}-{n},{system},{right},{i}" for i, right in items.items() for n in range(10)]
    (tmp_path / "copies.csv").write_text("\n".join(rows), encoding="utf-8")
    (copies,) = rank_items([tmp_path / "copies.csv"], draws=500)
    (single,) = rank_items(as_csv(results, tmp_path), draws=500)
    assert (copies.records, copies.groups) == (2_400, 240)
    assert copies.detectable == pytest.approx(single.detectable, rel=0.1)


def test_only_counts(tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text("system,n,accuracy\na,500,81.2\nb,500,79.0\n", encoding="utf-8")
    (board,) = rank_items([file])
    assert board.why is not None
    assert "A difference above 8.8 points is clear" in board.why
    assert board.standings[0].ranks is None
    assert board.standings[0].interval == pytest.approx((0.7753, 0.8439), abs=1e-3)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("id,label\n1,true\n", encoding="utf-8")
    with pytest.raises(DataError, match="no results item by item"):
        cl.evaluate(other)
    empty = tmp_path / "words.csv"
    empty.write_text("item,system,correct\n1,a,perhaps\n", encoding="utf-8")
    with pytest.raises(DataError, match="Row 1 of 'words.csv' has no result"):
        cl.evaluate(empty)
    assert [as_score(v) for v in ("C", "I", True, "0.25", "?", None)] == [1, 0, 1, 0.25, None, None]


def test_an_inspect_log_without_its_header_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "cut.eval"
    with zipfile.ZipFile(log, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", "{}")
    with pytest.raises(DataError, match="not a complete Inspect log"):
        rank_items([log])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no results item by item"),
        (b"\xff\xfe\x00x,y\n", "no results item by item"),
        (b"system,accuracy,n\n", "no rows"),
        (b"system,accuracy,n\na,high,100\n", "has 'high' as its accuracy"),
        (b"system,accuracy,n\na,150,100\n", "has '150' as its accuracy"),
        (b"system,accuracy,n\na,,100\n", "has '' as its accuracy"),
        (b"system,accuracy,n\na,0.9,\n", "no whole number of items above 0"),
        (b"system,accuracy,n\na,0.9,0\n", "no whole number of items above 0"),
        (b"system,accuracy,f1,n\na,0.9,good,10\n", "has 'good' as its f1"),
        (b"system,accuracy,n,positives,negatives\na,0.9,10,few,2\n", "not whole numbers"),
    ],
)
def test_a_bad_table_of_scores_gets_a_sentence(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "published.csv"
    file.write_bytes(content)
    with pytest.raises(DataError, match=problem):
        cl.evaluate(file)


def test_scores_that_no_confusion_table_gives_are_named(tmp_path: Path) -> None:
    """80 of 100 positives and 150 of 200 negatives are right; the second row prints another F1."""
    file = tmp_path / "published.csv"
    file.write_text(
        "system,positives,negatives,accuracy,precision,recall,f1\n"
        "sound,100,200,76.7,61.5,80.0,69.6\n"
        "unsound,100,200,76.7,61.5,80.0,72.6\n"
    )
    (board,) = cl.evaluate(file).boards
    assert board.records == 300
    assert "The scores of unsound are impossible" in str(board.why)
    assert [one.score for one in board.standings] == pytest.approx([0.767, 0.767])
    file.write_text("system,n,accuracy\nsound,many,0.8\n")
    with pytest.raises(DataError, match="no whole number"):
        cl.evaluate(file)


@pytest.mark.slow
def test_scores_are_possible_exactly_where_a_table_of_two_classes_gives_both() -> None:
    """Every table of 14 records, written out: what one gives is possible, anything else is not."""
    n, given = 14, set()
    for right in range(n + 1):
        for hits in range(right + 1):
            for missed in range(n - right + 1):  # of the first class
                truth = [1] * (hits + missed) + [0] * (n - hits - missed)
                said = [1] * hits + [0] * missed + [0] * (right - hits) + [1] * (n - right - missed)
                f1 = f1_score(truth, said, average="macro", labels=[0, 1], zero_division=0)
                given.add((f"{100 * right / n:.2f}", f"{100 * f1:.2f}"))
    scores = {f1 for _, f1 in given}
    for accuracy in {accuracy for accuracy, _ in given}:
        for macro_f1 in scores:
            known = (accuracy, macro_f1) in given
            close = any(a == accuracy and abs(float(f) - float(macro_f1)) < 0.02 for a, f in given)
            if known or not close:  # 0.01 apart: one of them may be cut off instead of rounded
                assert possible_together(n, accuracy, macro_f1) is known, (accuracy, macro_f1)
            if known:
                assert possible_together(None, accuracy, macro_f1)
    assert not possible_together(None, "0.811", "0.814")
    assert not possible_together(None, "0.90", "0.40")


def test_the_papers_of_the_catalogue_are_checked() -> None:
    result = CliRunner().invoke(app, ["evaluate", "--check-scores"])
    assert result.exit_code == 0, result.output
    assert "3 of 32 rows are impossible" in result.output
    assert "81.1" in result.output
    assert "Gemini" not in result.output
    rows = check_papers()
    above = [float(row["macro_f1"]) > float(row["accuracy"]) + 0.1001 for row in rows]
    assert [not row["possible"] for row in rows] == above
    assert {row["accuracy"] for row in rows} >= {"80.00", "77.50"}  # as many digits as printed


def test_two_scores_and_a_size_are_enough_to_be_impossible(tmp_path: Path) -> None:
    file = tmp_path / "published.csv"
    file.write_text(
        "system,n,accuracy,macro_f1\nsound,290,0.814,0.811\nunsound,290,0.811,0.814\n"
        "between,290,0.8115,0.8\n"
    )
    (board,) = cl.evaluate(file).boards
    assert "The scores of unsound, between are impossible" in str(board.why)  # 235 or 236 of 290
