"""The part that only the author can write, in a short TOML file: read, checked, and refused while it says nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from claimlab.core import packaged
from claimlab.core.arguments import in_storage
from claimlab.core.errors import DataError, OutputExists
from claimlab.core.remote import local_name
from claimlab.core.toml_file import read_toml

QUESTIONS = {
    "aim": "What is this evaluation meant to prove?",
    "intended_generalisation": "To which data, populations, places, languages and times should the method generalise?",
    "shifts_in_scope": "Which differences between the data used here and the data met in use does it cover?",
    "shifts_out_of_scope": "Which differences does it not cover?",
}
SHORTEST = 12  # characters of an answer
_PLACEHOLDER = re.compile(
    r"(?i)\b(to ?do|tb[ad]|fix ?me|xxx+|lorem ipsum|placeholder|fill (this|me) in|your (answer|text|title)( here)?)\b"
)
_BRACKETED = re.compile(r"[<\[{(].*[>\]})]")


Place = Annotated[str, AfterValidator(local_name)]  # what is in object storage is fetched


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Formulation(_Part):
    aim: str = ""
    intended_generalisation: str = ""
    shifts_in_scope: str = ""
    shifts_out_of_scope: str = ""


class Data(_Part):
    datasets: list[Place] = []
    audits: list[Place] = []
    contamination: list[Place] = []
    target: str = "veracity"


class RunFile(_Part):
    name: str = Field(min_length=1)
    path: Place = Field(min_length=1)
    dataset: str | None = None
    split: str | None = None


class Inspection(_Part):
    notes: str = ""
    seed: int = 0


class Study(_Part):
    title: str
    formulation: Formulation
    data: Data = Data()
    runs: list[RunFile] = []
    inspection: Inspection = Inspection()


def read_study(file: Path) -> Study:
    """The study in `file`; refused, naming every gap at once, while a question is unanswered."""
    study = read_toml(file, Study, kind="study file", start="new_study")
    gaps = unanswered(study)
    if gaps:
        raise DataError(
            f"'{file}' leaves open: {'; '.join(gaps)}.",
            "Answer each in a sentence; a report without them would claim more than was said.",
        )
    if not study.data.datasets:
        raise DataError(f"'{file}' names no dataset.", 'Add one: datasets = ["DIR"] under [data].')
    return study


def unanswered(study: Study) -> list[str]:
    """The questions whose answer is missing or a placeholder."""
    answers = study.formulation.model_dump()
    gaps = [f"{name} ({question})" for name, question in QUESTIONS.items() if not is_answer(answers[name], question)]
    return ["title", *gaps] if is_empty(study.title) else gaps


def is_answer(text: str, question: str) -> bool:
    plain = " ".join(text.split())
    return not is_empty(plain) and len(plain) >= SHORTEST and plain.casefold() != question.casefold()


def is_empty(text: str) -> bool:
    """Whether `text` says nothing: blank, a known placeholder, all in brackets, or the same letters over and over."""
    plain = text.strip().strip("\"'")
    letters = {c for c in plain.casefold() if c.isalnum()}
    return (
        len(letters) < 3
        or plain.casefold() in ("n/a", "none", "nothing", "unknown", "not applicable")
        or _PLACEHOLDER.search(plain) is not None
        or _BRACKETED.fullmatch(plain) is not None
    )


@in_storage()
def new_study(file: str | Path) -> None:
    """Write a study file with the questions to answer; an existing file is never replaced."""
    file = Path(file)
    if file.exists():
        raise OutputExists(file, todo="Choose another file: a study is never replaced.")
    file.parent.mkdir(parents=True, exist_ok=True)
    text = packaged.text("claimlab.evaluate.eqa", "study.toml")
    file.write_text(text, encoding="utf-8")
