"""A review as files and back: tables, the files of other tools, and one HTML page per annotator for
work offline.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import unquote

import polars as pl
import polars.selectors as cs

from claimlab.core.call import repeatable
from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.guard import seal_folder
from claimlab.core.remote import to_read
from claimlab.core.run import Run
from claimlab.core.settings import one_of
from claimlab.core.types import JsonObject
from claimlab.files.bundle import Bundle
from claimlab.files.cells import escape_cells, unescape_cells
from claimlab.files.read import user_table
from claimlab.review.by_file import page
from claimlab.review.merge import Imported, Row, time_of
from claimlab.review.outside import FORMS, file_name
from claimlab.review.results import written
from claimlab.review.review import Review
from claimlab.review.shapes import Item
from claimlab.review.task import Task
from claimlab.review.votes import Ballot

To = Literal["csv", "jsonl", "html", "label-studio", "potato", "doccano"]
TO: tuple[To, ...] = get_args(To)
KIND = "review export"
COLUMNS = {
    "item": pl.String,
    "record_id": pl.String,
    "other_id": pl.String,
    "annotator": pl.String,
    "role": pl.String,
    "round": pl.String,
    "value": pl.String,
    "comment": pl.String,
    "seconds": pl.Float64,
    "at": pl.String,
    "key": pl.String,
}
BIGGEST = 256 * 2**20  # bytes of a file that is read


@repeatable()
def review_export(
    review: Review | str | Path,
    output: str | Path,
    to: str = "csv",
    *,
    people: Sequence[str] = (),
    force: bool = False,
) -> list[Path]:
    """Write a review into the folder `output`: its decisions with annotators and comments as "csv"
    or "jsonl"; one "html" page per annotator, which works offline; or the files of "label-studio",
    "potato" or "doccano". `people` limits it to some annotators. Gives the files."""
    form = one_of(TO, to, "to")
    opened = review if isinstance(review, Review) else Review.open(review)
    chosen = [opened.person(name).name for name in people]
    contents = _contents(opened, form, chosen)
    with Run("review", None, output, kind=KIND, reads=[opened.folder], force=force) as run:
        run.fill(lambda folder: _write(folder, contents))
    return [Path(output) / name for name in contents]


def _write(folder: Path, contents: Mapping[str, str]) -> None:
    for name, text in contents.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", errors="surrogatepass")
    seal_folder(folder, KIND)


def _contents(review: Review, to: To, people: Sequence[str]) -> dict[str, str]:
    ballots = [b for b in review.ballots() if not people or b.name in people]
    if to == "html":
        names = people or [p.name for p in review.people() if p.role == "annotator"]
        if not names:
            raise UsageError("This review has no annotators yet.", "Add annotators first.")
        return {f"{file_name(name)}.html": page(review, name) for name in names}
    if to == "csv":
        table = pl.DataFrame(_rows(review, ballots), schema=COLUMNS)
        return {"decisions.csv": table.with_columns(escape_cells(cs.string())).write_csv()}
    if to == "jsonl":
        lines = [
            json.dumps({**row, "value": b.value})
            for row, b in zip(_rows(review, ballots), ballots, strict=True)
        ]
        return {"decisions.jsonl": "".join(f"{line}\n" for line in lines)}
    by_item: dict[str, list[Ballot]] = {}
    latest = {
        (b.item, b.person): b for b in ballots if b.round != "final"
    }  # the second vote comes after the first
    for ballot in latest.values():
        by_item.setdefault(ballot.item, []).append(ballot)
    return FORMS[to].write(review.task, _shown(review), by_item)


def _shown(review: Review) -> list[Item]:
    """Every item as an annotator sees it."""
    return review.every_item()


def _rows(review: Review, ballots: Sequence[Ballot]) -> list[JsonObject]:
    about = review.about()
    return [
        {
            "item": b.item,
            "record_id": about[b.item].record_id,
            "other_id": about[b.item].other_id,
            "annotator": b.name,
            "role": b.role,
            "round": b.round,
            "value": written(b.value),
            "comment": b.comment,
            "seconds": b.seconds,
            "at": b.at.isoformat(),
            "key": b.key,
        }
        for b in ballots
    ]


def review_import(
    review: Review | str | Path, source: str | Path, *, annotator: str | None = None
) -> Imported:
    """Merge the decisions in `source` into a review: a file that `review_export` or an offline page
    made, or the annotations of Label Studio, Potato or doccano (a file, an archive, or a folder of
    them), or a run: its predictions are a model's votes. `annotator` names who decided where a file
    does not. Reading a file again changes nothing.
    """
    opened, source = review if isinstance(review, Review) else Review.open(review), to_read(source)
    if (Path(source) / MANIFEST).is_file():
        rows = _predicted(opened, Dataset.open(source), annotator)
    else:
        rows = [
            row
            for name, content in _read(Path(source))
            for row in _parse(opened, name, content, annotator)
        ]
    if not rows:
        raise DataError(f"'{source}' holds no decisions.", "Check that it is the right file.")
    return opened.merge(rows)


def _predicted(review: Review, run: Dataset, annotator: str | None) -> list[Row]:
    """The predictions of a run as the votes of a model, on the items under review."""
    table = run.tables.get("predictions")
    if table is None:
        raise DataError(f"'{run.name}' has no predictions.", "Pass a run, or a file of decisions.")
    values = {c.sets or c.value: c.value for c in reversed(review.task.choices)}
    item_of = {row.record_id: name for name, row in review.about().items() if row.other_id is None}
    return [
        Row(
            item_of[record],
            annotator or name or run.name,
            values.get(label, label),
            model=True,
            comment=rationale,
        )
        for record, name, label, rationale in table.select(
            "record_id", "run", "label", "rationale"
        ).iter_rows()
        if record in item_of and label is not None
    ]


def _read(source: Path) -> Iterator[tuple[str, Any]]:
    """The name and content of every file that may hold decisions: JSON, or a table as a list of
    rows.
    """
    if source.is_dir():
        wanted = {".json", ".jsonl", ".csv"}
        places = [
            p
            for p in sorted(source.rglob("*"))
            if p.suffix in wanted and not p.name.startswith(".")
        ]
        for place in places:
            yield from _read(place)
        return
    if not source.is_file():
        raise DataError(f"There is no file '{source}'.", "Check the path.")
    if source.suffix == ".zip":
        with Bundle.open(source) as archive:
            for name in archive.names():
                if name.endswith((".json", ".jsonl")):
                    yield name, _json(name, archive.read(name))
        return
    if source.suffix == ".csv":
        table = user_table(source, "item", "annotator", "value")
        yield source.name, table.with_columns(unescape_cells(cs.string())).to_dicts()
        return
    _refuse_big(source.stat().st_size)
    name = source.parent.name if source.name == "user_state.json" else source.name
    yield name, _json(source.name, source.read_bytes())


def _refuse_big(size: int) -> None:
    if size > BIGGEST:
        raise DataError(f"The file has {size:,} bytes.", f"Split it: at most {BIGGEST:,} are read.")


def _json(name: str, data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
        return (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if name.endswith(".jsonl")
            else json.loads(text)
        )
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"'{name}' is not valid JSON: {error!s:.200}.", "Export it again."
        ) from None


def _parse(review: Review, name: str, content: Any, annotator: str | None) -> Iterator[Row]:
    """The rows of a file, whatever it is; a file that holds no decisions has none."""
    who = annotator or unquote(Path(name).stem)
    lines = content if isinstance(content, list) else [content]
    first = next((line for line in lines if isinstance(line, Mapping)), None)
    try:
        if first is None:
            return
        if "decisions" in first:
            yield from _offline(review, first)
        elif "annotations" in first and "data" in first:
            yield from FORMS["label-studio"].read(review.task, lines, who)
        elif "instance_id_to_label_to_value" in first or "label_annotations" in first:
            yield from FORMS["potato"].read(review.task, content, who)
        elif "value" in first and "item" in first:
            yield from (_own(review.task, line, who) for line in lines)
        elif "label" in first or "labels" in first:
            yield from FORMS["doccano"].read(review.task, lines, who)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        problem = (
            f"'{name}' is not a file of decisions that claimlab can read ({type(error).__name__}:"
            f" {error!s:.100})."
        )
        raise DataError(problem, "Export it again.") from None


def _offline(review: Review, content: Mapping[str, Any]) -> Iterator[Row]:
    """What an offline page saved."""
    if content.get("review") != review.project.schema_name:
        raise DataError(
            "The file belongs to another review.",
            "Import it into the review that the page was made of.",
        )
    for line in content["decisions"]:
        yield _own(review.task, line, str(content["annotator"]))


def _own(task: Task, line: Mapping[str, Any], who: str) -> Row:
    value = line["value"]
    if isinstance(value, str) and task.kind in ("ordinal", "span"):
        value = json.loads(value)
    seconds = line.get("seconds")
    return Row(
        item=str(line["item"]),
        annotator=str(line.get("annotator") or who),
        value=value,
        model=line.get("role") == "model",
        round=str(line.get("round") or "first"),
        comment=line.get("comment") or None,
        seconds=None if seconds in (None, "") else float(seconds),
        at=time_of(line.get("at")),
        key=line.get("key") or None,
    )
