"""A review as files and back: tables, the files of other tools, and one HTML page per annotator for
work offline.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from urllib.parse import unquote

import polars as pl
import polars.selectors as cs

from claimlab.core.call import repeatable
from claimlab.core.choices import one_of
from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError, UsageError
from claimlab.core.guard import seal_folder
from claimlab.core.options import OUTPUT, Argument, Force, Option, Place
from claimlab.core.remote import to_read
from claimlab.core.run import Run
from claimlab.core.types import JsonObject
from claimlab.files.bundle import Bundle
from claimlab.files.cells import escape_cells, unescape_cells
from claimlab.files.read import user_table
from claimlab.review.merge import DecisionRow, Imported, time_of
from claimlab.review.outside import FORMS, form_of
from claimlab.review.page import page
from claimlab.review.review import AnyReview, Review
from claimlab.review.status import written
from claimlab.review.task import ReviewTask
from claimlab.review.tool_answers import file_name, json_lines
from claimlab.review.votes import Ballot

To = Literal["csv", "jsonl", "html", "label-studio", "potato", "doccano"]
TO: tuple[To, ...] = get_args(To)
KIND = "review export"
WHO = ("item", "record_id", "other_id", "annotator", "role", "round", "value", "comment")
COLUMNS = {
    **dict.fromkeys(WHO, pl.String),
    "seconds": pl.Float64,
    **dict.fromkeys(("at", "key"), pl.String),
}
MOST_BYTES_READ = 256 * 2**20  # bytes of a file that is read


@repeatable()
def review_export(
    review: AnyReview,
    output: Annotated[Place, OUTPUT],
    to: Annotated[
        str,
        Option(
            "'csv', 'jsonl', 'html' (a page to work offline), 'label-studio', 'potato', 'doccano'."
        ),
    ] = "csv",
    *,
    people: Annotated[
        Sequence[str], Option("Only this annotator; may be repeated.", flag="--annotator")
    ] = (),
    force: Force = False,
) -> list[Path]:
    """Write decisions as tables, pages to work offline, or the files of another tool.

    Tables have annotators and comments; there is one page per annotator. Gives the files.
    """
    form = one_of(TO, to, "to")
    opened = Review.of(review)
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
    if to == "html":
        return _pages(review, people)
    ballots = [b for b in review.ballots() if not people or b.name in people]
    if to == "csv":
        rows = [{**row, "value": written(row["value"])} for row in _rows(ballots)]
        table = pl.DataFrame(rows, schema=COLUMNS)
        return {"decisions.csv": table.with_columns(escape_cells(cs.string())).write_csv()}
    if to == "jsonl":
        return {"decisions.jsonl": json_lines(_rows(ballots))}
    # The second vote comes after the first, and takes its place.
    latest = {(b.item, b.person): b for b in ballots if b.round != "final"}
    by_item: dict[str, list[Ballot]] = {}
    for ballot in latest.values():
        by_item.setdefault(ballot.item, []).append(ballot)
    return FORMS[to].write(review.task, review.every_item(), by_item)


def _pages(review: Review, people: Sequence[str]) -> dict[str, str]:
    names = people or [p.name for p in review.people() if p.role == "annotator"]
    if not names:
        raise UsageError("This review has no annotators yet.", "Add annotators first.")
    return {f"{file_name(name)}.html": page(review, name) for name in names}


def _rows(ballots: Sequence[Ballot]) -> list[JsonObject]:
    rows = [{**vars(b), "annotator": b.name, "at": b.at.isoformat()} for b in ballots]
    return [{name: row[name] for name in COLUMNS} for row in rows]


def review_import(
    review: AnyReview,
    source: Annotated[Place, Argument("A file, an archive or a folder of decisions.")],
    *,
    annotator: Annotated[str | None, Option("Who decided, where the file does not say.")] = None,
) -> Imported:
    """Merge decisions from files: of claimlab, an offline page, Label Studio, Potato or doccano.

    The predictions of a run are a model's votes. Reading a file again changes nothing.
    """
    opened, source = Review.of(review), to_read(source)
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


def _predicted(review: Review, run: Dataset, annotator: str | None) -> list[DecisionRow]:
    """The predictions of a run as the votes of a model, on the items under review."""
    table = run.tables.get("predictions")
    if table is None:
        raise DataError(f"'{run.name}' has no predictions.", "Pass a run, or a file of decisions.")
    values = {c.sets or c.value: c.value for c in reversed(review.task.choices)}
    item_of = {row.record_id: name for name, row in review.about().items() if row.other_id is None}
    return [
        DecisionRow(
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
        for place in sorted(source.rglob("*")):
            if place.suffix in (".json", ".jsonl", ".csv") and not place.name.startswith("."):
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
    if (size := source.stat().st_size) > MOST_BYTES_READ:
        raise DataError(
            f"The file has {size:,} bytes.", f"Split it: at most {MOST_BYTES_READ:,} are read."
        )
    name = source.parent.name if source.name == "user_state.json" else source.name
    yield name, _json(source.name, source.read_bytes())


def _json(name: str, data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
        if name.endswith(".jsonl"):
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"'{name}' is not valid JSON: {error!s:.200}.", "Export it again."
        ) from None


def _parse(review: Review, name: str, content: Any, annotator: str | None) -> Iterator[DecisionRow]:
    """The rows of a file, whatever it is; a file that holds no decisions has none."""
    who = annotator or unquote(Path(name).stem)
    lines = content if isinstance(content, list) else [content]
    first = next((line for line in lines if isinstance(line, Mapping)), {})
    try:
        if "decisions" in first:
            yield from _offline(review, first)
        elif "value" in first and "item" in first:
            yield from (_own(review.task, line, who) for line in lines)
        elif (form := form_of(first)) is not None:
            yield from form.read(review.task, lines, who)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        problem = (
            f"'{name}' is not a file of decisions that claimlab can read ({type(error).__name__}:"
            f" {error!s:.100})."
        )
        raise DataError(problem, "Export it again.") from None


def _offline(review: Review, content: Mapping[str, Any]) -> Iterator[DecisionRow]:
    """What an offline page saved."""
    if content.get("review") != review.project.schema_name:
        raise DataError(
            "The file belongs to another review.",
            "Import it into the review that the page was made of.",
        )
    for line in content["decisions"]:
        yield _own(review.task, line, str(content["annotator"]))


def _own(task: ReviewTask, line: Mapping[str, Any], who: str) -> DecisionRow:
    value = line["value"]
    if isinstance(value, str) and task.kind in ("ordinal", "span"):
        value = json.loads(value)
    seconds = line.get("seconds")
    return DecisionRow(
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
