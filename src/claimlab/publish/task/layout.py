"""What the folder of a shared task holds: `public` for participants, `sealed`, which only the
organiser has, and `submissions`.

The gold is never in `public`, and nothing that is made of it but one HMAC with the organiser's
secret: with two classes, a hash of a label whose salt is known is two guesses.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from claimlab.core.errors import DataError, UnreadableFile
from claimlab.core.types import JsonObject
from claimlab.detect.own_words import OwnWords
from claimlab.detect.strict.asked import Asked
from claimlab.tasks import open_task

PUBLIC, SEALED, SUBMISSIONS = "public", "sealed", "submissions"
TASK_FILE, TEST_FILE, GOLD_FILE, SECRET_FILE = "task.json", "test.csv", "gold.csv", "secret"
FORMAT: Literal["claimlab task 1"] = "claimlab task 1"
SECRET_BYTES = 32
MOST_BYTES = 64 << 20  # of a file that is sent in
HALVES = ("public", "private")
GapRule = Literal["wrong", "no-class", "answered", "refused"]
GAP_RULES: dict[GapRule, str] = {
    "wrong": "a missing answer is a false positive of every other class",
    "no-class": "a missing answer is missed in its class, and no false positive of the others",
    "answered": "records without an answer are left out",
    "refused": "a file with a missing answer is refused",
}


class TaskFile(BaseModel):
    """What `public/task.json` says: enough to check a submission, nothing of the gold."""

    model_config = ConfigDict(extra="forbid")

    task: Literal["claimlab task 1"] = FORMAT
    name: str
    about: str
    labels: str  # the task or column that the labels are of
    classes: Annotated[list[str], Field(min_length=2, max_length=50)]
    words: dict[str, str | None]  # the data's own labels, folded -> the class; null: of none
    written: list[str]  # these labels as the data writes them
    records: int
    test_sha256: str
    gold_hmac: str
    per_team: Annotated[int, Field(ge=1)]
    private: int  # records of the half that ranks
    gaps: GapRule = "wrong"  # what the task itself makes of a missing answer

    @property
    def own_words(self) -> OwnWords:
        """The words in which answers may be given, as for the dataset that the task is of."""
        return OwnWords(
            open_task(self.labels), tuple(self.classes), self.words, tuple(self.written)
        )


@dataclass(frozen=True)
class Gold:
    """The labels of the test (`id`, `label`, `half`, `group`), and the organiser's secret."""

    rows: pl.DataFrame
    secret: bytes

    @property
    def sealed(self) -> str:
        """The HMAC of all labels: it shows later that none was changed, and says nothing before."""
        pairs = self.rows.sort("id").select("id", "label").rows()
        return keyed(self.secret, json.dumps(pairs, ensure_ascii=False))


def keyed(secret: bytes, text: str) -> str:
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


def read_task(folder: Path) -> tuple[TaskFile, Asked]:
    """The task in a public folder, or in the folder of an organiser, and what it asks."""
    place = folder / PUBLIC if (folder / PUBLIC / TASK_FILE).is_file() else folder
    file = place / TASK_FILE
    if not file.is_file():
        raise DataError(
            f"'{folder}' is not a shared task: it has no {TASK_FILE}.",
            "Name the folder that the organiser published.",
        )
    try:
        task = TaskFile.model_validate_json(file.read_bytes()[:MOST_BYTES])
        test = (place / TEST_FILE).read_bytes()
        rows = pl.read_csv(test, columns=["id", "text"], infer_schema=False)
    except (ValidationError, OSError, pl.exceptions.PolarsError) as error:
        why = str(error).partition("\n")[0]
        raise UnreadableFile(f"'{file}' cannot be read: {why}.", "Get the task again.") from None
    if hashlib.sha256(test).hexdigest() != task.test_sha256:
        raise UnreadableFile(
            f"'{place / TEST_FILE}' is not the file of this task: its sha256 is another.",
            "Get the task again.",
        )
    records = rows.with_columns(split=pl.lit("test"))
    return task, Asked(task.name, records, "test", task.own_words)


def read_gold(folder: Path, task: TaskFile, asked: Asked) -> Gold:
    """The sealed gold of an organiser's folder; refused unless it is what was sealed."""
    place = folder / SEALED
    try:
        secret = bytes.fromhex((place / SECRET_FILE).read_text("utf-8").strip())
        types = dict.fromkeys(("id", "label", "half", "group"), pl.String)
        rows = pl.read_csv(place / GOLD_FILE, schema_overrides=types)
        gold = Gold(rows.select("id", "label", "half", "group"), secret)
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        why = str(error).partition("\n")[0]
        raise UnreadableFile(
            f"The sealed gold in '{place}' cannot be read: {why}.",
            "Name the organiser's folder, the one that `publish task init` wrote.",
        ) from None
    if gold.sealed != task.gold_hmac or sorted(gold.rows["id"]) != sorted(asked.rows["id"]):
        raise UnreadableFile(
            f"The gold in '{place}' is not what was sealed: {TASK_FILE} has another HMAC.",
            "Restore the file, or publish the task again.",
        )
    return gold


def to_json(task: TaskFile) -> str:
    content: JsonObject = task.model_dump()
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
