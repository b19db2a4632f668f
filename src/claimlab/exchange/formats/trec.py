"""TREC: queries as a table without a header, and their answers as qrels, for retrieval tools."""

from __future__ import annotations

from pathlib import Path

from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.exchange.format import Format, FormatSettings, Written
from claimlab.tasks.matching import QRELS, as_qrels, as_word, qrels_of


class Trec(Format):
    name = "trec"
    summary = "Queries (queries.tsv) and their answers (TREC qrels), for retrieval tools."
    records = ("queries.tsv",)
    then = "see queries.tsv and qrels.trec in {}"

    def write(
        self, dataset: Dataset, folder: Path, settings: FormatSettings, progress: Progress = silent
    ) -> Written:
        rows = dataset.records.drop_nulls("text").select("id", "text")
        with (folder / "queries.tsv").open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(
                f"{as_word(id)}\t{' '.join(text.split())}\n" for id, text in rows.iter_rows()
            )
        left = sorted(set(dataset.tables) - {QRELS})
        notes = [f"Left out: the side tables ({', '.join(left)})."] if left else []
        qrels = qrels_of(dataset)
        if qrels is None:
            notes.append("The dataset has no table of answers (qrels).")
        else:
            (folder / "qrels.trec").write_text(as_qrels(qrels), encoding="utf-8", newline="\n")
        return Written({"queries": rows.height, "answered": len(qrels or ())}, notes)


FORMAT = Trec()
