"""Write the folder of a shared task: public files without gold, the gold sealed with a secret, and
what participants are told.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from pathlib import Path
from typing import Annotated, get_args

import numpy as np
import polars as pl

from claimlab.core import packaged
from claimlab.core.call import in_storage
from claimlab.core.choices import one_of
from claimlab.core.errors import DataError
from claimlab.core.guard import seal_folder
from claimlab.core.options import Argument, Force, Option, OutputFolder, Setting
from claimlab.core.run import Run, Source
from claimlab.core.shown import Shown
from claimlab.core.stats.codes import codes_of
from claimlab.core.stats.deal import deal
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.detect.own_words import own_words
from claimlab.files.cells import escape_cells
from claimlab.publish.task.layout import (
    GAP_RULES,
    GOLD_FILE,
    HALVES,
    PUBLIC,
    SEALED,
    SECRET_BYTES,
    SECRET_FILE,
    SUBMISSIONS,
    TASK_FILE,
    TEST_FILE,
    GapRule,
    Gold,
    TaskFile,
    to_json,
)
from claimlab.tasks import open_task, own_task

KIND = "shared task"
SHOWN = ("id", "text", "language", "date")  # columns that are published
LEAST_TEST_RECORDS = 20


class SharedTask(Shown):
    """What was written, in counts."""

    def __init__(self, task: TaskFile, files: dict[str, int], folder: Path | None) -> None:
        self.task, self.files, self.folder = task, files, folder

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame({"file": list(self.files), "records": list(self.files.values())})

    def headline(self) -> str:
        private = f"{self.task.private:,} rank"
        return (
            f"'{self.task.name}': {several(self.task.records, 'test record')}, of which {private}"
        )

    def to_json(self) -> JsonObject:
        return {"task": self.task.model_dump(), "files": self.files}


@in_storage()
def publish_task_init(  # noqa: PLR0913
    data: Annotated[Source, Argument("A dataset with train and a labelled test.")],
    *,
    output: OutputFolder = None,
    name: Annotated[
        str | None, Option("Name of the task; that of the dataset, by default.")
    ] = None,
    task: Annotated[
        str | None, Option("A task or any column; what the labels are about, by default.")
    ] = None,
    per_team: Annotated[int, Setting("Most submissions of one team.", least=1)] = 3,
    public_share: Annotated[
        float, Setting("Share of the test whose scores are not for the ranks.", least=0, most=0.9)
    ] = 0.5,
    gaps: Annotated[
        str,
        Setting(
            f"The task's own rule for a missing answer, shown beside ours: {', '.join(GAP_RULES)}."
        ),
    ] = "wrong",
    secret: Annotated[
        str | None, Setting("The organiser's secret, 64 hexadecimal digits; drawn by default.")
    ] = None,
    force: Force = False,
) -> SharedTask:
    """Start a shared task: public files without gold, the gold sealed, and a README for
    participants.

    Send `public` to participants, keep `sealed`, and put what they send into `submissions`, as
    TEAM.csv or TEAM/RUN.csv.
    """
    rule = one_of(get_args(GapRule), gaps, "gaps")
    with Run("publish task", data, output, kind=KIND, force=force) as run:
        dataset = run.dataset
        chosen = open_task(own_task(dataset, task), dataset.records)
        labelled = dataset.records.with_columns(label=chosen.labels(dataset.records))
        test = labelled.filter(pl.col("split") == "test")
        _refuse_unfit(dataset.name, test)
        key = _key(secret)
        gold = Gold(_halves(test, key, public_share), key)
        classes = list(chosen.classes_in(dataset.records))
        public = {
            f"{side}.csv": _shown(labelled.filter(pl.col("split") == side), labelled=True)
            for side in ("train", "dev")
        }
        public = {file: rows for file, rows in public.items() if rows.height}
        shuffled = test.sample(fraction=1.0, shuffle=True, seed=_seed(key))
        public[TEST_FILE] = _shown(shuffled, labelled=False)
        written = {file: _csv(rows) for file, rows in public.items()}
        words = own_words(chosen, dataset.records)
        described = TaskFile(
            name=name or dataset.name,
            about=chosen.question or f"Which class has each record: {', '.join(classes)}?",
            classes=classes,
            labels=chosen.name,
            words=dict(words.of_data),
            written=list(words.written),
            records=test.height,
            test_sha256=hashlib.sha256(written[TEST_FILE].encode()).hexdigest(),
            gold_hmac=gold.sealed,
            per_team=per_team,
            private=gold.rows.filter(half="private").height,
            gaps=rule,
        )
        run.fill(lambda folder: _write(folder, described, gold, written))
    counts = {f"{PUBLIC}/{file}": rows.height for file, rows in public.items()}
    return SharedTask(described, counts, None if output is None else Path(output))


def _refuse_unfit(name: str, test: pl.DataFrame) -> None:
    unlabelled = test["label"].null_count()
    if test.height < LEAST_TEST_RECORDS or unlabelled:
        has = f"{several(unlabelled, 'test record')} without a label" if test.height else "no test"
        few = f"only {several(test.height, 'test record')}"
        raise DataError(
            f"'{name}' has {has if unlabelled or not test.height else few}.",
            "Give a dataset whose test has a label for every record, or leave the others out.",
        )


def _key(secret: str | None) -> bytes:
    if secret is None:
        return secrets.token_bytes(SECRET_BYTES)
    try:
        key = bytes.fromhex(secret)
    except ValueError:
        key = b""
    if len(key) != SECRET_BYTES:
        raise DataError(
            f"A secret has {2 * SECRET_BYTES} hexadecimal digits.",
            "Leave out `secret`: one is drawn.",
        )
    return key


def _seed(key: bytes) -> int:
    """For shuffles that cannot be repeated without the secret."""
    return int.from_bytes(hashlib.sha256(key + b"order").digest()[:4], "big")


def _halves(test: pl.DataFrame, key: bytes, public_share: float) -> pl.DataFrame:
    """Each record's half, groups whole and classes even, drawn with the secret."""
    groups = codes_of(test["group"])
    shares = (public_share, 1 - public_share)
    side = deal(codes_of(test["label"]), groups, shares, _seed(key))
    halves = pl.Series("half", np.array(HALVES)[side])
    group = pl.Series("group", groups).cast(pl.String)
    return test.select("id", "label").with_columns(halves, group)


def _shown(rows: pl.DataFrame, *, labelled: bool) -> pl.DataFrame:
    """The public columns, with the label in the words of the data where it is open."""
    columns = [pl.col(name) for name in SHOWN if rows[name].null_count() < rows.height]
    label = pl.coalesce("label_raw", "label").alias("label")
    return rows.filter(pl.col("label").is_not_null() | (not labelled)).select(
        *columns, *([label] if labelled else [])
    )


def _csv(rows: pl.DataFrame) -> str:
    out = io.StringIO()
    rows.with_columns(escape_cells(pl.col(pl.String).exclude("id"))).write_csv(out)
    return out.getvalue()


def _write(folder: Path, task: TaskFile, gold: Gold, files: dict[str, str]) -> None:
    texts: dict[str, str] = packaged.toml("claimlab.publish", "task.toml")["files"]
    classes = ", ".join(task.classes)
    example = "\n".join(["id,label", *(f"{i},{task.classes[0]}" for i in gold.rows["id"].head(2))])
    fields = {
        "name": task.name,
        "about": task.about,
        "classes": classes,
        "example": example,
        "limit": str(task.per_team),
        "records": f"{task.records:,}",
        "private": f"{task.private:,}",
        "gaps": ""
        if task.gaps == "wrong"
        else f"\n- The score by the task's own rule is next to it: {GAP_RULES[task.gaps]}.",
    }
    for name, text in texts.items():
        for field, value in fields.items():
            text = text.replace(f"<{field}>", value)
        _put(folder / name, text.lstrip("\n"))
    for name, text in files.items():
        _put(folder / PUBLIC / name, text)
    _put(folder / PUBLIC / TASK_FILE, to_json(task))
    _put(folder / SEALED / GOLD_FILE, gold.rows.write_csv())
    _put(folder / SEALED / SECRET_FILE, f"{gold.secret.hex()}\n")
    (folder / SEALED).chmod(0o700)
    for name in (GOLD_FILE, SECRET_FILE):
        (folder / SEALED / name).chmod(0o600)
    (folder / SUBMISSIONS).mkdir(exist_ok=True)
    seal_folder(folder, KIND)


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
