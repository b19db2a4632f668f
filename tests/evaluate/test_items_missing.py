"""Items that a system lacks are neither solved nor failed by it, and scores are of the items that
all systems have: counted by hand.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from claimlab.evaluate.items import rank_items


def table(folder: Path, answers: dict[str, str]) -> Path:
    """Right (1), wrong (0) and missing (-) answers of each system to items 0, 1, 2 ..."""
    rows = [
        f"item-{i:03d},{system},{right}"
        for system, given in answers.items()
        for i, right in enumerate(given)
        if right != "-"
    ]
    (folder / "t.csv").write_text("item,system,correct\n" + "\n".join(rows), encoding="utf-8")
    return folder / "t.csv"


def test_a_missing_item_is_left_out_for_all_and_counted(tmp_path: Path) -> None:
    """Of 100 items the second system lacks 40, all of which the first solved: on the other 60 the
    first solved 30 and the second 45."""
    file = table(tmp_path, {"first": "10" * 30 + "1" * 40, "second": "1110" * 15 + "-" * 40})
    (board,) = rank_items([file], draws=200)
    assert {one.name: one.score for one in board.standings} == {"second": 0.75, "first": 0.5}
    assert (board.records, board.groups) == (60, 60)
    assert board.dataset == "t.csv, 60 of 100 items (shared by all systems)"


def test_nothing_is_said_where_all_systems_have_all_items(tmp_path: Path) -> None:
    (board,) = rank_items([table(tmp_path, {"a": "10" * 30, "b": "01" * 30})], draws=200)
    assert board.dataset == "t.csv"


def test_too_few_items_in_common_are_counted(tmp_path: Path) -> None:
    (board,) = rank_items([table(tmp_path, {"a": "1" * 40 + "---", "b": "-" * 40 + "101"})])
    assert board.why == "the systems share 0 items."
    assert board.dataset == "t.csv, 0 of 43 items (shared by all systems)"


def resolved(folder: Path, system: str, solved: int, named: int, total: int) -> Path:
    (folder / system).mkdir()
    report = {
        "total_instances": total,
        "resolved_ids": [f"item-{i:03d}" for i in range(solved)],
        "unresolved_ids": [f"item-{i:03d}" for i in range(solved, named)],
    }
    (folder / system / "results.json").write_text(json.dumps(report), encoding="utf-8")
    return folder / system / "results.json"


def test_a_list_of_resolved_items_fails_the_others(tmp_path: Path) -> None:
    """Of 80 items one system names 60 and solved 40, the other names 50 and solved 20."""
    files = [resolved(tmp_path, "a", 40, 60, 80), resolved(tmp_path, "b", 20, 50, 80)]
    (board,) = rank_items(files, draws=200)
    assert {one.name: one.score for one in board.standings} == {"a": 0.5, "b": 0.25}
    assert board.records == 80
    assert "shared" not in board.dataset


def test_beside_such_a_list_a_table_still_fails_only_what_it_names(tmp_path: Path) -> None:
    """The table lacks ten of the 60 items that the list names: it is scored on its 50, where it
    solved 25 and the list 40."""
    files = [resolved(tmp_path, "a", 40, 60, 80), table(tmp_path, {"b": "10" * 25})]
    (board,) = rank_items(files, draws=200)
    assert {one.name: one.score for one in board.standings} == {"a": 0.8, "b": 0.5}
    assert board.records == 50
    assert board.dataset.endswith("50 of 80 items (shared by all systems)")


@pytest.mark.parametrize(("sizes", "points"), [((500, 500), "8.8"), ((100, 900), "19.6")])
def test_the_bound_of_counts_is_that_of_the_fewest_items(
    sizes: tuple[int, int], points: str, tmp_path: Path
) -> None:
    """1.96 · sqrt(1/500) is 8.8 points and 1.96 · sqrt(1/100) 19.6, whoever else has more."""
    file = tmp_path / "counts.csv"
    file.write_text(f"system,n,accuracy\na,{sizes[0]},0.81\nb,{sizes[1]},0.79\n", encoding="utf-8")
    (board,) = rank_items([file])
    assert board.why is not None
    assert f"A difference above {points} points is clear" in board.why
    assert board.records == max(sizes)
