"""What annotators decided about the predictions of a run in a review, and the command that starts
one.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from claimlab.core import packaged
from claimlab.core.errors import DataError
from claimlab.core.plain import slug
from claimlab.core.remote import is_remote
from claimlab.detect.own_words import speller
from claimlab.evaluate.eqa.study import RunFile
from claimlab.evaluate.scored_run import ScoredRun


@dataclass(frozen=True)
class Judgement:
    """One item of a review: what it came to (null while it is open), how, by whom; and what the
    annotators saw.
    """

    question: str
    value: str | None
    how: str
    annotators: str | None
    comments: str | None
    text: str | None
    said: str | None

    def words(self) -> str | None:
        """The decision in a line; null where there is none yet."""
        if self.value is None:
            return None if self.annotators is None else f"{self.how} ({self.annotators})"
        who = f" ({self.annotators})" if self.annotators else ""
        return f"{self.value}{who}" + (f" – {self.comments}" if self.comments else "")


def read_judgements(home: Path, folder: str) -> dict[str, Judgement]:
    """By record id, the items of the review in `folder` that are about one record."""
    from claimlab.review.project import (
        item_rows,  # only where a review is named: a report needs no store
    )
    from claimlab.review.review import Review
    from claimlab.review.shapes import Payload

    review = Review.open(folder if is_remote(folder) else home / folder)
    try:
        rows = {row["item"]: row for row in review.results().iter_rows(named=True)}
        payloads = {
            row["id"]: Payload.model_validate(row["payload"]) for row in item_rows(review.folder)
        }
    finally:
        review.close()
    question = review.task.question
    return {
        row["record_id"]: Judgement(
            question,
            row["value"],
            row["how"],
            row["annotators"],
            row["comments"],
            payloads[name].text,
            None if (model := payloads[name].model) is None else model.label,
        )
        for name, row in rows.items()
        if row["record_id"] is not None and row["other_id"] is None
    }


def about_run(judged: Mapping[str, Judgement], run: ScoredRun) -> tuple[dict[str, Judgement], int]:
    """The judgements that are about this run: same text, and, where annotators saw a prediction,
    the same one; and how many are about its records, but about another text or prediction."""
    rows = {
        i: (text, label) for i, text, label in run.table.select("id", "text", "said").iter_rows()
    }
    on_records = {i: judgement for i, judgement in judged.items() if i in rows}
    if judged and not on_records:
        raise DataError(
            f"The review of the run '{run.name}' is about none of its records.",
            "Name the folder of a review of this run, or leave `review` out.",
        )
    spell = speller(run.classes)
    about_it = {
        i: judgement
        for i, judgement in on_records.items()
        if judgement.text == rows[i][0]
        and (judgement.said is None or spell(judgement.said.strip()) == rows[i][1])
    }
    return about_it, len(on_records) - len(about_it)


def review_command(
    listed: RunFile, run: ScoredRun, records: Sequence[str], *, is_folder: bool
) -> str:
    """The command that starts a review of exactly these examples, to be run where the EQA file
    is.
    """
    words = packaged.toml("claimlab.evaluate.eqa", "review.toml")
    data = shlex.quote(listed.path if is_folder else str(listed.dataset))
    task = "label" if run.table["rationale"].is_null().all() else "rationale"
    folder = f"review-{slug(run.name)}"
    start = words["folder" if is_folder else "table"].format(data=data, task=task, folder=folder)
    return " ".join(
        [start, *(shlex.quote(words["record"].format(record=record)) for record in records)]
    )
