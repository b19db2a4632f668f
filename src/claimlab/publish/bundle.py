"""A bundle: one file with what a reader needs to derive the figures of a result again.

It holds the answers of each run, the ids, labels and groups of the records with a hash of each
text, the settings, and every figure that follows from them. The file is canonical JSON; each part
is named by its sha256 in an in-toto statement, and the statement by its own, which is the id of the
bundle. A bundle comes from a stranger: it is read under limits, nothing in it is opened, asked for
or run, and its figures are never taken as they are (`publish/bundle.py`).

Derive the figures of a received bundle again, and name what differs.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal, TypeGuard, Unpack

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from claimlab.claims.contamination.result import Contamination, read_contamination
from claimlab.core.atomic import atomic_bytes
from claimlab.core.call import in_storage
from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import ClaimlabError, DataError, UnreadableFile, UsageError
from claimlab.core.guard import refuse_file, refuse_input
from claimlab.core.licence import spdx
from claimlab.core.options import Argument, Force, Option, Place, Setting
from claimlab.core.record import to_records
from claimlab.core.run import Source
from claimlab.core.settings import each_of
from claimlab.core.shown import Shown
from claimlab.core.stats.deal import codes_of
from claimlab.core.stats.interval import DRAWS, Resampling
from claimlab.core.types import Json, JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.evaluate.front import LEFT_OUT, evaluate_runs, named_apart
from claimlab.evaluate.scored_run import About, Runs, ScoredRun, open_runs
from claimlab.evaluate.slices import COLUMN, mark
from claimlab.tasks import Task, open_task

BOARD = "board.json"  # of a folder that holds a leaderboard of bundles
FORMAT: Literal["claimlab result 1"] = "claimlab result 1"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:claimlab:result:1"
PACKAGES = ("numpy", "polars", "scipy")  # what the figures are computed with
# What a file of a stranger may ask of this machine.
MOST_BYTES = 64 << 20
MOST_ROWS = 1_000_000  # records times runs
MOST_DRAWS = 20_000
MOST_WORK = 1_000_000  # runs times draws: of few classes minutes, of many an hour
MOST_CLASSES = 50
NAME = 300  # characters
SAME_IN_BOTH = ("name", "dataset", "digest", "split")  # of a run and of what a bundle says of it

Name = Annotated[str, Field(max_length=NAME)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Texts = list[str | None]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Records(_Part):
    """The scored records, column by column. Groups are numbers: their names may quote a text."""

    id: list[str]
    label: list[Name]
    text_sha256: list[Sha256 | None]
    group: list[Annotated[int, Field(ge=1, lt=10**9)] | None]
    language: list[Name | None]
    kind: list[Name | None]
    authorship: list[Name | None]
    text: Texts | None = None


class Answered(_Part):
    """One run: what it said of each record, and how it was made."""

    name: Name
    dataset: Name
    digest: Name
    licence: Name | None
    task: Name
    classes: Annotated[list[Name], Field(max_length=MOST_CLASSES)]
    positive: Name | None
    split: Name | None
    detector: Name | None
    settings: JsonObject
    seed: int | None
    divided_by: Name | None
    division: Name | None
    strangers: int  # predictions and records that were left out: see `ScoredRun`
    unlabelled: int
    repeated: int
    untouched: int
    overlap: dict[str, int]  # records of the test that the split found in train
    contamination: dict[str, Name]  # verdicts on what the model may have known
    records: Sha256
    said: Texts
    abstained: Texts
    scores: list[dict[Name, float | None] | None]
    status: Texts | None  # of each record: whether the model may have known it


class Bundle(Shown, _Part):  # type: ignore[misc]  # goes row by row, as every result
    bundle: Literal["claimlab result 1"] = FORMAT
    id: Sha256
    statement: JsonObject
    made: JsonObject
    seed: Annotated[int, Field(ge=0)]
    draws: Annotated[int, Field(ge=200, le=MOST_DRAWS)]
    records: dict[Sha256, Records]
    runs: Annotated[list[Answered], Field(min_length=1)]
    figures: JsonObject

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame(self.statement["predicate"]["scores"], infer_schema_length=None)

    def headline(self) -> str:
        return f"{several(len(self.runs), 'run')}, id {self.id[:12]}"

    def opened(self) -> list[ScoredRun]:
        """The runs as an evaluation takes them."""
        tables = {key: _table(records) for key, records in self.records.items()}
        return [_scored(run, tables[run.records]) for run in self.runs]


def canonical(value: Json) -> bytes:
    """The one way to write a value: keys sorted, no whitespace, UTF-8."""
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    return text.encode()


def digest(value: Json) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def statement_of(content: JsonObject) -> JsonObject:
    """What the bundle claims, as in-toto states it: parts by their digests, and the scores."""
    parts = {f"records/{key}": value for key, value in content["records"].items()}
    parts |= {name: content[name] for name in ("runs", "figures")}
    runs = content["figures"].get("runs", [])
    scores = [
        {"name": run["name"], **{key: run["scores"][key] for key in ("n", "macro_f1", "accuracy")}}
        for run in runs
    ]
    return {
        "_type": STATEMENT,
        "subject": [
            {"name": name, "digest": {"sha256": digest(parts[name])}} for name in sorted(parts)
        ],
        "predicateType": PREDICATE,
        "predicate": {**{key: content[key] for key in ("made", "seed", "draws")}, "scores": scores},
    }


def figures_of(runs: Runs, **how: Unpack[Resampling]) -> JsonObject:
    """Every figure of the evaluation of `runs`, as plain JSON."""
    figures = evaluate_runs(runs, **how).to_json()
    del figures["tool"]
    plain: JsonObject = json.loads(json.dumps(_finite(figures), default=str))
    return plain


def _finite(value: Json) -> Json:
    """JSON has no infinity: such a figure is not measured."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@in_storage()
def publish_bundle(
    source: Annotated[
        Place | Sequence[Place],
        Argument("Run folders that claimlab detect wrote, or the folder of a study."),
    ],
    output: Annotated[Place, Option("File to write (.json).", short="-o", metavar="FILE")],
    *,
    contamination: Annotated[
        Place | None,
        Option("A folder that claimlab overlap wrote with a corpus, cut-off or model."),
    ] = None,
    texts: Annotated[
        bool, Setting("Put the texts in, too; only where the licence of the data allows it.")
    ] = False,
    draws: Annotated[
        int, Setting("Resamples behind each interval.", least=200, most=MOST_DRAWS)
    ] = DRAWS,
    seed: Annotated[int, Setting("Random seed.", least=0)] = 0,
    force: Force = False,
) -> Bundle:
    """Pack runs into one file from which every figure can be derived again."""
    places = [Path(one) for one in each_of(source)]
    file = Path(output)
    for place in places:
        refuse_input(file, place)
    refuse_file(file, force=force, kind="bundle", sign=f'"bundle":"{FORMAT}"')
    known = None if contamination is None else read_contamination(contamination)
    opened = [run for place in places for run in _runs_in(place)]
    if len(opened) * draws > MOST_WORK:
        raise UsageError(
            f"{several(len(opened), 'run')} with {draws:,} draws each are more work than a reader"
            " of the bundle accepts.",
            f"Use at most {MOST_WORK // len(opened):,} `draws`.",
        )
    records: dict[str, JsonObject] = {}
    runs = []
    names = named_apart([run for run, _ in opened])
    for run, (_, folder) in zip(names, opened, strict=True):
        rows = _records_of(run, with_texts=texts and _may_share(folder))
        records[digest(rows)] = rows
        runs.append(_answered(run, folder, digest(rows), known))
    content: JsonObject = {
        "bundle": FORMAT,
        "made": {
            "tool": f"claimlab {__version__}",
            **{name: version(name) for name in PACKAGES},
        },
        "seed": seed,
        "draws": draws,
        "records": records,
        "runs": runs,
    }
    packed = Bundle(id="0" * 64, statement={}, figures={}, **content)
    content["figures"] = figures_of(packed.opened(), seed=seed, draws=draws)
    content["statement"] = statement_of(content)
    content["id"] = digest(content["statement"])
    data = canonical(content)
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"The bundle would have {len(data) >> 20} MB; at most {MOST_BYTES >> 20} MB are read.",
            "Pack fewer runs.",
        )
    atomic_bytes(file, data)
    return Bundle.model_validate(content)


def _runs_in(place: Path) -> list[tuple[ScoredRun, Dataset]]:
    """The runs of a run folder, or of every cell of a study."""
    cells = place / "cells.json"
    if not cells.is_file():
        folders = {place: place.name}
    else:
        rows = json.loads(cells.read_text("utf-8"))
        folders = {
            place / "steps" / row["run"]: ", ".join(map(str, row["axes"].values()))
            for row in rows
            if row["failed"] is None
        }
    runs: list[tuple[ScoredRun, Dataset]] = []
    for folder, name in folders.items():
        if (folder / MANIFEST).is_file() or not cells.is_file():
            data = Dataset.open(folder)
            runs += [(run, data) for run in open_runs(data, name=name)]
    if not runs:
        raise DataError(f"The study '{place}' has no finished run.", "Run it first.")
    return runs


def _may_share(data: Dataset) -> bool:
    """Whether the licence lets anyone pass the texts on; if not, to ask for them is an error."""
    known = spdx(data.licence)
    if known is None or "-NC" in known:
        raise UsageError(
            f"The licence of '{data.name}' ({data.licence or 'none stated'}) does not let its texts"
            " be passed on.",
            "Leave out `texts`: hashes of the texts are always there.",
        )
    return True


def text_hashes(texts: pl.Series) -> Texts:
    return [
        None if text is None else hashlib.sha256(text.encode()).hexdigest()
        for text in texts.to_list()
    ]


def _records_of(run: ScoredRun, *, with_texts: bool) -> JsonObject:
    table = run.table
    rows: JsonObject = {
        "id": table["id"].to_list(),
        "label": table["truth"].to_list(),
        "text_sha256": text_hashes(table["text"]),
        # in their order: resampling goes by it
        "group": table["group"].rank("dense").cast(pl.Int64).to_list(),
    }
    rows |= {name: table[name].to_list() for name in ("language", "kind", "authorship")}
    return rows | ({"text": table["text"].to_list()} if with_texts else {})


def _answered(
    run: ScoredRun, data: Dataset, records: str, known: Contamination | None
) -> JsonObject:
    marked = run if known is None else mark(run, known)
    has_status = COLUMN in marked.table.columns
    split = next((step.counts for step in reversed(data.lineage) if step.step == "split"), {})
    return {
        **{name: getattr(run, name) for name in SAME_IN_BOTH},
        "licence": data.licence,
        "task": run.task.name,
        "classes": list(run.task.classes),
        "positive": run.task.positive,
        **{
            name: getattr(run.about, name)
            for name in ("detector", "settings", "seed", "divided_by", "division")
        },
        **{name: getattr(run, name) for name in LEFT_OUT},
        "overlap": {name: n for name, n in split.items() if name.startswith("test_in_train_")},
        "contamination": {f.check: f.verdict for f in known.findings if has_status}
        if known
        else {},
        "records": records,
        "said": marked.table["said"].to_list(),
        "abstained": marked.table["abstained"].to_list(),
        "scores": [None if one is None else json.loads(one) for one in marked.table["scores"]],
        "status": marked.table[COLUMN].to_list() if has_status else None,
    }


def _table(records: Records) -> pl.DataFrame:
    columns = records.model_dump(exclude={"label", "text_sha256", "group", "text"})
    groups = [None if n is None else f"{n:09d}" for n in records.group]
    frame = to_records(pl.DataFrame({**columns, "group": groups, "text": records.text}))
    return frame.with_columns(truth=pl.Series(records.label, dtype=pl.String))


def _scored(run: Answered, table: pl.DataFrame) -> ScoredRun:
    answers: dict[str, Texts] = {
        "said": run.said,
        "abstained": run.abstained,
        "scores": [None if one is None else json.dumps(one) for one in run.scores],
        "rationale": [None] * table.height,
        **({} if run.status is None else {COLUMN: run.status}),
    }
    table = table.with_columns(
        pl.Series(name, values, dtype=pl.String) for name, values in answers.items()
    )
    task = Task(
        run.task,
        "",
        lambda rows: rows["truth"],
        classes=tuple(run.classes),
        positive=run.positive,
    )
    return ScoredRun(
        **{name: getattr(run, name) for name in (*SAME_IN_BOTH, *LEFT_OUT)},
        task=task,
        table=table,
        classes=tuple(table["truth"].unique().sort().to_list()),
        about=About(run.detector, run.settings, run.seed, run.divided_by, (), run.division),
    )


def read_bundle(file: Path) -> tuple[Bundle, JsonObject]:
    """A received bundle and its content; refused unless it is whole and written as it should be."""
    if file.is_dir():
        raise UnreadableFile(
            f"'{file}' is a folder.", "Name one bundle; a folder of them is for: publish board"
        )
    if file.exists() and not file.is_file():
        raise refused(file, "it is not a plain file")
    try:
        with file.open("rb") as handle:
            data = handle.read(MOST_BYTES + 1)
    except OSError as error:
        raise UnreadableFile(f"'{file}' cannot be read: {error}.", "Check the path.") from None
    if len(data) > MOST_BYTES:
        raise refused(file, f"it has more than {MOST_BYTES >> 20} MB")
    try:
        content = json.loads(data)
        same = canonical(content) == data
        bundle = Bundle.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))[:NAME]
        raise refused(file, f"{where}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise refused(file, "it is not JSON") from None
    if not same:
        raise refused(file, "its bytes are not canonical JSON")
    _refuse_uneven(file, bundle)
    return bundle, content


def _refuse_uneven(file: Path, bundle: Bundle) -> None:
    """Every column has a value for every record, and all of them together are not too many."""
    sizes = {}
    for key, records in bundle.records.items():
        columns = [column for column in vars(records).values() if column is not None]
        sizes[key] = len(records.id)
        if set(map(len, columns)) != {sizes[key]}:
            raise refused(file, "columns of records differ in length")
        if len(set(records.id)) != len(records.id):
            raise refused(file, "an id occurs twice")
    for run in bundle.runs:
        if run.records not in sizes:
            raise refused(file, f"the records of '{run.name}' are missing")
        columns = [run.said, run.abstained, run.scores, *([run.status] if run.status else [])]
        if set(map(len, columns)) != {sizes[run.records]}:
            raise refused(file, f"'{run.name}' does not have one answer for each record")
    if len(bundle.runs) * bundle.draws > MOST_WORK:
        raise refused(file, f"it asks for more than {MOST_WORK:,} resamples of its runs")
    if sum(sizes[run.records] for run in bundle.runs) > MOST_ROWS:
        raise refused(file, f"it has more than {MOST_ROWS:,} answers")


def refused(file: Path, why: str) -> UnreadableFile:
    return UnreadableFile(
        f"'{file.name}' is not a bundle that can be used: {why}.", "Ask its author for it again."
    )


# What computing with the values of a stranger may end in: a seed of 400 digits, scores of no run.
_UNSCORED = (
    *(ClaimlabError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError),
    *(AttributeError, pl.exceptions.PolarsError),
)
SAME = 1e-9  # processors round sums differently in the last place


@dataclass(frozen=True, repr=False)
class Verified(Shown):
    """What came of it: `differences` is empty where every figure agrees."""

    file: str
    bundle: Bundle
    runs: list[ScoredRun]
    differences: list[str]
    figures: int  # how many were derived again
    compared: str | None  # the dataset that labels and texts were compared with

    @property
    def table(self) -> pl.DataFrame:
        return self.bundle.table

    def headline(self) -> str:
        runs = several(len(self.bundle.runs), "run")
        if self.differences:
            return f"{self.file} is not verified: {several(len(self.differences), 'difference')}"
        against = f"; texts and labels are those of {self.compared}" if self.compared else ""
        return f"{self.file} is verified: all {self.figures:,} figures of {runs} agree{against}"

    def to_json(self) -> JsonObject:
        return {
            "file": self.file,
            "id": self.bundle.id,
            "verified": not self.differences,
            **{name: getattr(self, name) for name in ("differences", "figures", "compared")},
            "scores": self.table.to_dicts(),
        }


@in_storage()
def publish_verify(
    file: Annotated[Place, Argument("A bundle that claimlab publish bundle wrote.")],
    *,
    data: Annotated[
        Source | None, Option("The dataset folder: compare its texts, labels and groups, too.")
    ] = None,
) -> Verified:
    """Derive every figure of a bundle again, offline, and name what differs."""
    known = None if data is None else Dataset.of(data)
    return derived(Path(file), lambda _: known)


def derived(file: Path, data_of: Callable[[str], Dataset | None]) -> Verified:
    """A bundle derived again; `data_of` gives the data of the name that a run states, if any."""
    bundle, content = read_bundle(file)
    try:
        runs = bundle.opened()
        figures = figures_of(runs, seed=bundle.seed, draws=bundle.draws)
        differences = [*differing(bundle.figures, figures), *_texts(bundle), *_seals(content)]
    except _UNSCORED as error:
        why = str(error).partition("\n")[0]
        raise refused(file, f"its answers cannot be scored ({why})") from None
    compared = {run.name: data_of(run.dataset) for run in bundle.runs}
    for run in bundle.runs:
        if (known := compared[run.name]) is not None:
            differences += _against(run, bundle.records[run.records], known)
    names = sorted({one.name for one in compared.values() if one is not None})
    return Verified(
        file.name, bundle, runs, differences, count_numbers(figures), ", ".join(names) or None
    )


def _seals(content: JsonObject) -> Iterator[str]:
    """Parts whose sha256 is not the one that the statement names, and a statement that is not the
    one of the id."""
    if digest(content["statement"]) != content["id"]:
        yield "statement: its sha256 is not the id of the bundle"
    yield from differing(content["statement"], statement_of(content), "statement")
    for key, records in content["records"].items():
        if digest(records) != key:
            yield f"records {key[:12]}: the sha256 of the part is {digest(records)[:12]}"


def _texts(bundle: Bundle) -> Iterator[str]:
    for records in bundle.records.values():
        if records.text is not None:
            hashes = text_hashes(pl.Series(records.text, dtype=pl.String))
            for name, stated, derived in zip(records.id, records.text_sha256, hashes, strict=True):
                if stated != derived:
                    yield f"record '{name}': the text is not the one of its sha256"


def differing(stated: Json, derived: Json, place: str = "") -> Iterator[str]:
    """Where two values differ, and how; numbers that differ in the last places do not."""
    if isinstance(stated, dict) and isinstance(derived, dict):
        for key in sorted({*stated, *derived}):
            inner = f"{place}.{key}" if place else key
            yield from differing(stated.get(key), derived.get(key), inner)
    elif isinstance(stated, list) and isinstance(derived, list) and len(stated) == len(derived):
        for at, (one, other) in enumerate(zip(stated, derived, strict=True)):
            name = other.get("name", at) if isinstance(other, dict) else at
            yield from differing(one, other, f"{place}[{name}]")
    elif not _same(stated, derived):
        words = f"the bundle says {_shown(stated)}, computed again it is {_shown(derived)}"
        yield _LONG_HASH.sub(r"\1", f"{place}: {words}")


_LONG_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")  # the start tells two apart


def _same(stated: Json, derived: Json) -> bool:
    if _is_number(stated) and _is_number(derived):
        return math.isclose(stated, derived, rel_tol=SAME, abs_tol=SAME)
    return type(stated) is type(derived) and bool(stated == derived)


def _shown(value: Json) -> str:
    if isinstance(value, list | dict):
        return several(len(value), "entry", "entries")
    return "nothing" if value is None else str(value)[:80]


def count_numbers(value: Json) -> int:
    if isinstance(value, dict):
        return sum(map(count_numbers, value.values()))
    if isinstance(value, list):
        return sum(map(count_numbers, value))
    return int(_is_number(value))


def _is_number(value: Json) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _against(run: Answered, records: Records, data: Dataset) -> Iterator[str]:
    """Where labels, texts and groups are not those of the data, and labelled records that the run
    leaves out."""
    labels = open_task(run.task, data.records).labels(data.records)
    theirs = data.records.with_columns(truth=labels)
    mine = pl.DataFrame({"id": records.id, "label": records.label, "group_": records.group})
    mine = mine.with_columns(text_=pl.Series(records.text_sha256, dtype=pl.String))
    both = mine.join(theirs, on="id", how="left", maintain_order="left")
    hashes = pl.Series(text_hashes(both["text"]), dtype=pl.String)
    wrong = {
        "is not in the data": ~both["id"].is_in(theirs["id"].implode()),
        "has another label in the data": both["label"].ne_missing(both["truth"]),
        "has another text in the data": both["text_"].ne_missing(hashes),
    }
    named: set[str] = set()
    for words, rows in wrong.items():
        for name in both.filter(rows)["id"].to_list():
            if name not in named:
                named.add(name)
                yield f"run '{run.name}', record '{name}' {words}"
    if (codes_of(both["group"].rank("dense")) != codes_of(both["group_"])).any():
        yield f"run '{run.name}': the groups of records are not those of the data"
    sides = both["split"].drop_nulls().unique()
    missing = theirs.filter(
        pl.col("truth").is_not_null()
        & pl.col("split").is_in(sides.implode())
        & ~pl.col("id").is_in(mine["id"].implode())
    ).height
    if missing:
        yield f"run '{run.name}' leaves out {several(missing, 'labelled record')} of its split"
