"""Rankings of documents (a TREC run), scored by the qrels beside them: the task `matching`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import polars as pl

from claimlab.core.errors import DataError
from claimlab.core.tables import read_parquet
from claimlab.evaluate.items import ItemFormat, ItemScore
from claimlab.tasks.matching import FIGURES, read_qrels, read_run

DECISION = "right decisions"


class TrecRun(ItemFormat):
    summary = "a TREC run (query Q0 document rank score name) with a file of qrels in its folder"

    def fits(self, file: Path) -> bool:
        with file.open(encoding="utf-8") as lines:
            cells = lines.readline().split()
        return len(cells) == 6 and cells[1].upper() == "Q0"

    def read(self, file: Path) -> Iterator[ItemScore]:
        """Of each query that has an answer every figure; and, where a run says which of its best it
        stands by, of each query whether that decision is right."""
        qrels, rankings = read_qrels(_qrels_of(file)), read_run(file)
        system = file.resolve().parent.name if file.stem == "run" else file.stem
        answers = _answers(file)
        for query, truth in qrels.items():
            ids = [id for id, _ in rankings.get(query, [])]
            if truth:
                for name, figure in FIGURES.items():
                    yield ItemScore(query, system, figure(ids, truth), metric=name)
            if answers is not None:
                right = _decided(answers.get(query), truth)
                yield ItemScore(query, system, float(right), metric=DECISION)


FORMAT = TrecRun()


def _decided(answer: str | None, truth: Collection[str]) -> bool:
    return answer in truth if answer is not None else not truth


def _answers(file: Path) -> dict[str, str] | None:
    """The best of each query that `match` answered; null where nothing was decided."""
    table = file.with_name("matches.parquet")
    if not table.is_file():
        return None
    rows = read_parquet(table, columns=["query", "id", "answer"])
    answered = rows.filter(pl.col("answer").is_not_null())
    return (
        dict(answered.filter("answer").select("query", "id").iter_rows())
        if answered.height
        else None
    )


def _qrels_of(run: Path) -> Path:
    named = [run.with_suffix(".qrels"), run.with_name("qrels.trec"), run.with_name("qrels")]
    beside = [*named, *sorted(run.resolve().parent.glob("*.qrels"))]
    qrels = next((file for file in beside if file.is_file()), None)
    if qrels is None:
        raise DataError(
            f"There are no labelled answers beside '{run.name}'.",
            f"Put the TREC qrels into its folder, as '{named[0].name}' or 'qrels.trec'.",
        )
    return qrels
