"""Texts against references: the figures of sacreBLEU 2.6.0, which was run once on these pairs, and
a board of two systems.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import claimlab as cl
from claimlab.tasks.normalisation import bleu, chrf, word_overlap

PAIRS = [  # answer, reference, chrF, BLEU
    ("The ferry sank on Sunday.", "The ferry did not sink on Sunday.", 59.977, 27.222),
    ("Mayor sells lighthouse", "The mayor sold the old lighthouse to a bank", 34.908, 3.724),
    ("abc", "xyz", 0.0, 0.0),
    ("The bridge opened in 1931", "The bridge opened in 1931", 100.0, 100.0),
    ("a", "a b c d e f g h", 15.152, 0.091),
    ("Die Fähre fährt", "Fähre", 63.768, 27.516),
]


@pytest.mark.parametrize(("answer", "reference", "chrf_score", "bleu_score"), PAIRS)
def test_figures_are_those_of_sacrebleu(
    answer: str, reference: str, chrf_score: float, bleu_score: float
) -> None:
    assert 100 * chrf(answer, reference) == pytest.approx(chrf_score, abs=0.001)
    assert 100 * bleu(answer, reference) == pytest.approx(bleu_score, abs=0.001)


def test_words_count_as_often_as_both_hold_them() -> None:
    assert word_overlap("the THE ferry", "the ferry") == pytest.approx(0.8)
    assert word_overlap("", "") == chrf("", "x") == bleu("", "x") == 0


def test_systems_are_ranked_by_each_figure(tmp_path: Path) -> None:
    rows = []
    for i in range(40):
        reference = f"The bridge number {i} opened in {1900 + i}."
        rows += [(i, "good", reference, reference), (i, "poor", "A post about it", reference)]
    file = tmp_path / "texts.csv"
    with file.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines).writerows([("item", "system", "text", "reference"), *rows])
    boards = {board.title: board for board in cl.evaluate(file).boards}
    assert set(boards) == {"chrF", "BLEU", "word overlap"}
    for board in boards.values():
        assert [s.name for s in board.standings] == ["good", "poor"]
        assert board.standings[0].score == pytest.approx(1)
