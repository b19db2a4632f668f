"""Every question under which a loader stores annotations is known: read by a check, or listed here
as read by none.

Feasibility judgements were once stored under a question that the check did not look for, and the
page said that nobody had judged.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from claimlab.audit.feasibility_votes import ANSWERS, QUESTION
from claimlab.catalog.load import DATASETS, load
from claimlab.core.labels import fold

SAMPLES = Path(__file__).with_name("samples")
READ = {QUESTION}
# Stored for their own sake, as patterns: no check reads them. A new question has to be put here, or
# a check to read it.
UNREAD = {
    "afacta": r"Q\d|claim|score 0-3|step .*|verifiable, .*",
    "banfakenews": "authentic or fake",
    "cdl-md": "rationale",
    "checkthat-2025-science": "scientific claim",
    "claimskg": "topic: .*",
    "climate-fever": "stance of .*",
    "cmu-miscov19": r"annotation\d",
    "covid-19-disinformation": r"q\d( \(fine\))?",
    "covid-vaccine-misinfo-mic": "theme: .*|contains .*|dominant .*|mentions .*|relevant .*",
    "liar-new": r"feasibility \(agreed\)",  # what the annotators agreed on is not one more vote
    "misinfo-reaction-frames": "effect_on_reader|pred_label|reader_action|spread|writer_intent",
    "nlp4if-2021": r"q\d",
    "truthseeker2023": "agrees with the statement .*",
}


def annotations(name: str, folder: Path) -> pl.DataFrame:
    """Question and value of everything that any variant of the dataset stores."""
    shutil.copytree(SAMPLES / name / "raw", folder)
    tables = [
        load(name, folder, variant=variant, unmapped="unknown").tables.get("annotations")
        for variant in DATASETS.get(name).variants
    ]
    known = [table.select("question", "value") for table in tables if table is not None]
    return (
        pl.concat(known)
        if known
        else pl.DataFrame(schema={"question": pl.String, "value": pl.String})
    )


@pytest.mark.parametrize(
    "name", sorted(path.name for path in SAMPLES.iterdir() if (path / "raw").is_dir())
)
def test_every_question_is_known(name: str, tmp_path: Path) -> None:
    found = annotations(name, tmp_path / "raw")
    questions = set(found["question"].to_list())
    assert sorted(q for q in questions - READ if not re.fullmatch(UNREAD.get(name, ""), q)) == []


def test_feasibility_answers_of_a_loader_are_words_that_the_check_knows(tmp_path: Path) -> None:
    found = annotations("liar-new", tmp_path / "raw").filter(pl.col("question") == QUESTION)
    assert found.height > 0
    assert {ANSWERS.get(fold(value)) for value in found["value"].to_list()} <= {
        "feasible",
        "search",
        "no",
    }
