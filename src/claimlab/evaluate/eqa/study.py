"""The part that only the author can write, in a short TOML file: read, checked, and refused while
it says nothing.

Which shifts are in scope is a form, so that the report can hold each against the splits of the
runs. Files of earlier versions have two answers in free text instead; they are read as before, and
the report says what that costs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from claimlab.core import packaged
from claimlab.core.call import in_storage
from claimlab.core.errors import DataError, OutputExists
from claimlab.core.grants import Wanted, named_in
from claimlab.core.remote import local_name
from claimlab.core.toml_file import read_toml

QUESTIONS = {
    "aim": "What is this evaluation meant to prove?",
    "intended_generalisation": (
        "To which data, populations, places, languages and times should the method generalise?"
    ),
    "shifts_in_scope": (
        "Which differences between the data used here and the data met in use does it cover?"
    ),
    "shifts_out_of_scope": "Which differences does it not cover?",
}
Scope = Literal["", "in scope", "out of scope", "left open"]
# Top-level tables of a file for `claimlab study`, which is another kind of file.
GRIDS = ("grid", "part")
GRID = (
    "is a study for `claimlab study`, not the file of an EQA report",
    "Run it with: claimlab study run {file} -o DIR. Start the file of a report with `new_study`.",
)
EXAMPLES_SHOWN = 25  # correct predictions that are shown of a run, and as many wrong ones
LEAST_ANSWER_CHARACTERS = 12  # characters of an answer
_PLACEHOLDER = re.compile(
    r"(?i)\b(to ?do|tb[ad]|fix ?me|xxx+|lorem ipsum|placeholder|fill (this|me) in|your"
    r" (answer|text|title)( here)?)\b"
)
_PLACES = ("datasets", "audits", "contamination", "defences")  # under [data]
_BRACKETED = re.compile(r"[<\[{(].*[>\]})]")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Formulation(_Part):
    aim: str = ""
    intended_generalisation: str = ""
    shifts_in_scope: str = ""
    shifts_out_of_scope: str = ""


class InScope(_Part):
    """Whether a shift is in scope, and the runs or splits that test it, if the author names any."""

    scope: Scope = "left open"
    tested_by: Annotated[
        list[str], BeforeValidator(lambda v: [v] if isinstance(v, str) else v)
    ] = []

    @model_validator(mode="before")
    @classmethod
    def _in_a_word(cls, raw: Any) -> Any:
        return {"scope": raw} if isinstance(raw, str) else raw

    @model_validator(mode="after")
    def _claims_belong_to_a_scope(self) -> InScope:
        if self.tested_by and self.scope != "in scope":
            raise ValueError('tested_by needs scope = "in scope"')
        return self


class Shifts(_Part):
    """The form; a shift without a line is left open."""

    time: InScope = InScope()
    source: InScope = InScope()
    topic: InScope = InScope()
    language: InScope = InScope()
    platform: InScope = InScope()

    def each(self) -> dict[str, InScope]:
        return {name: getattr(self, name) for name in type(self).model_fields}


class Data(_Part):
    datasets: list[str] = []
    audits: list[str] = []
    contamination: list[str] = []
    defences: list[str] = []
    target: str | None = None  # what the labels are about, unless named


class RunFile(_Part):
    name: str = Field(min_length=1)
    path: str = Field(min_length=1)
    dataset: str | None = None
    split: str | None = None
    review: str | None = None  # the folder of a review of its predictions


class Inspection(_Part):
    notes: str = ""
    seed: int = 0


class Study(_Part):
    title: str
    formulation: Formulation
    shifts: Shifts | None = None
    data: Data = Data()
    runs: list[RunFile] = []
    inspection: Inspection = Inspection()


def read_study(file: Path) -> Study:
    """The study in `file`; refused, naming every gap at once, while a question is unanswered."""
    study = read_toml(
        file, Study, kind="EQA file", start="new_study", unlike=dict.fromkeys(GRIDS, GRID)
    )
    gaps = unanswered(study)
    if gaps:
        raise DataError(
            f"'{file}' leaves open: {'; '.join(gaps)}.",
            "Answer each, in a sentence where it asks for one; a report without them would claim"
            " more than was said.",
        )
    if not study.data.datasets:
        raise DataError(f"'{file}' names no dataset.", 'Add one: datasets = ["DIR"] under [data].')
    return study


def fetched(study: Study) -> Study:
    """The same study, with local copies of what is in object storage in place of its addresses."""
    data = {name: [local_name(path) for path in getattr(study.data, name)] for name in _PLACES}
    runs = [run.model_copy(update={"path": local_name(run.path)}) for run in study.runs]
    return study.model_copy(update={"data": study.data.model_copy(update=data), "runs": runs})


def wanted_by_answers(study: Study, file: Path) -> list[Wanted]:
    """What the file names outside its own folder."""
    home = file.absolute().parent
    of_runs = {"__all__": {"path", "dataset", "review"}}
    paths = study.model_dump(include={"data": set(_PLACES), "runs": of_runs})
    return sorted(set(named_in(paths, home, base=home)))


def unanswered(study: Study) -> list[str]:
    """The questions whose answer is missing or a placeholder."""
    answers = study.formulation.model_dump()
    in_words = {
        name: q
        for name, q in QUESTIONS.items()
        if study.shifts is None or not name.startswith("shifts_")
    }
    gaps = [
        f"{name} ({question})"
        for name, question in in_words.items()
        if not is_answer(answers[name], question)
    ]
    blank = (
        []
        if study.shifts is None
        else [name for name, promise in study.shifts.each().items() if not promise.scope]
    )
    if blank:
        gaps.append(
            f'{", ".join(blank)} under [shifts] ("in scope", "out of scope" or "left open")'
        )
    return ["title", *gaps] if is_empty(study.title) else gaps


def is_answer(text: str, question: str) -> bool:
    plain = " ".join(text.split())
    return (
        not is_empty(plain)
        and len(plain) >= LEAST_ANSWER_CHARACTERS
        and plain.casefold() != question.casefold()
    )


def is_empty(text: str) -> bool:
    """Whether `text` says nothing: blank, a known placeholder, all in brackets, or the same letters
    over and over.
    """
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
    """Write an EQA file with the questions to answer; an existing file is never replaced."""
    file = Path(file)
    if file.exists():
        raise OutputExists(file, todo="Choose another file: answers are never replaced.")
    file.parent.mkdir(parents=True, exist_ok=True)
    text = packaged.text("claimlab.evaluate.eqa", "eqa.toml")
    file.write_text(text, "utf-8")
