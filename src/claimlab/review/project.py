"""A review on disk: `review.json` (the task, where its items come from, where its store is) and
`items.parquet`.

Both are written once, by `create`. The store beside them is made when the review is first opened,
from the items, so that the folder of a review without decisions is the same bytes for the same
input.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from claimlab.core.digest import digest_file, digest_json, write_parquet
from claimlab.core.errors import FileChanged, SchemaError
from claimlab.core.guard import seal_folder
from claimlab.core.tables import read_parquet
from claimlab.core.types import JsonObject
from claimlab.review.task import ClosedModel, ReviewTask

VERSION = 2
FILE, ITEMS, BATCHES, STORE = "review.json", "items.parquet", "batches.parquet", "review.sqlite"
DATABASE = "database"  # instead of the name of a file: where it is, only the user says
KIND = "review"
COLUMNS: dict[str, pl.DataType] = {
    "id": pl.String(),
    "position": pl.Float64(),
    "record_id": pl.String(),
    "other_id": pl.String(),
    "payload": pl.String(),  # JSON
    "gold": pl.String(),  # JSON
    "attention": pl.Boolean(),
    "uncertainty": pl.Float64(),
    "chance": pl.Float64(),  # of being drawn; null where it was not drawn at random
    "batch": pl.Int32(),
}


class Origin(ClosedModel):
    """Where the items come from: the dataset (a name and hashes, never a path), how they were
    chosen, and how many records of each label and prediction they were drawn from.
    """

    dataset: str
    fingerprint: str
    records: int
    chosen: JsonObject = {}
    population: tuple[JsonObject, ...] = ()


class Project(ClosedModel):
    version: int = VERSION
    task: ReviewTask
    seed: int = 0
    origin: Origin
    store: str = STORE  # a file in the folder, or DATABASE
    items: str = ""  # sha256 of items.parquet
    batches: str | None = None  # sha256 of batches.parquet, of a review by batches

    @property
    def in_folder(self) -> bool:
        """Whether the decisions are in a file beside the items; reviews of version 0.1 name an
        address here.
        """
        return self.store != DATABASE and "://" not in self.store

    @property
    def schema_name(self) -> str:
        """The schema of this review in a database that many share. The same task on the same items
        is the same review, wherever its folder is copied to."""
        return (
            f"review_{digest_json([self.task.model_dump(mode='json'), self.items, self.seed])[:16]}"
        )


def write(
    folder: Path, project: Project, items: pl.DataFrame, members: pl.DataFrame | None = None
) -> None:
    """Fill and seal a review's folder; `members` says which batch each record is in."""
    write_parquet(items, folder / ITEMS)
    hashes = {"items": digest_file(folder / ITEMS)}
    if members is not None:
        write_parquet(members, folder / BATCHES)
        hashes["batches"] = digest_file(folder / BATCHES)
    sealed = project.model_copy(update=hashes)
    text = (
        json.dumps(sealed.model_dump(mode="json"), ensure_ascii=False, indent=2, sort_keys=True)
        + "\n"
    )
    (folder / FILE).write_text(text, "utf-8")
    seal_folder(folder, KIND)


def read(folder: Path) -> Project:
    """The project in `folder`, refused where a file of it is not as it was written."""
    project = _read(folder / FILE)
    if project.in_folder and (Path(project.store).name != project.store or project.store == ".."):
        problem = f"'{folder / FILE}' names a store outside its folder."
        raise SchemaError(problem, "Make the review again.")
    for file, digest in ((folder / ITEMS, project.items), (folder / BATCHES, project.batches)):
        if digest is not None and (not file.is_file() or digest_file(file) != digest):
            raise FileChanged(folder, [file.name])
    return project


def _read(file: Path) -> Project:
    try:
        raw = json.loads(file.read_text("utf-8"))
        version = int(raw["version"])
        if not 1 <= version <= VERSION:
            problem = f"'{file.parent}' has version {version}; this claimlab reads up to {VERSION}."
            raise SchemaError(problem, "Upgrade with: pip install -U claimlab")
        return Project.model_validate(raw)
    except FileNotFoundError:
        todo = "Make one with: claimlab review create DIR -o FOLDER"
        raise SchemaError(f"'{file.parent}' is not a review (it has no {FILE}).", todo) from None
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, e["loc"])) for e in error.errors()[:5])
        problem = f"'{file}' has wrong fields: {fields}."
        raise SchemaError(problem, "Make the review again.") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SchemaError(f"'{file}' cannot be read: {error}.", "Make the review again.") from None


def item_rows(folder: Path) -> Iterator[JsonObject]:
    """The items as rows of the store."""
    table = read_parquet(folder / ITEMS).drop("chance", strict=False)
    for row in table.iter_rows(named=True):
        gold = None if row["gold"] is None else json.loads(row["gold"])
        yield {**row, "payload": json.loads(row["payload"]), "gold": gold, "revealed": None}
