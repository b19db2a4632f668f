"""A bundle: one file with what a reader needs to derive the figures of a result again.

It holds the answers of each run, the ids, labels and groups of the records with a hash of each
text, the settings, and every figure that follows from them. The file is canonical JSON; each part
is named by its sha256 in an in-toto statement, and the statement by its own, which is the id of the
bundle. A bundle comes from a stranger: it is read under limits, nothing in it is opened, asked for
or run, and its figures are never taken as they are (`publish/verify.py`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Literal, Unpack

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from claimlab.claims.contamination.result import Contamination, read_contamination
from claimlab.core.atomic import atomic_bytes
from claimlab.core.call import in_storage
from claimlab.core.choices import each_of
from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.errors import DataError, UnreadableFile, UsageError
from claimlab.core.guard import refuse_file, refuse_input
from claimlab.core.licence import spdx
from claimlab.core.options import Argument, Force, Option, Place, Setting
from claimlab.core.record import to_records
from claimlab.core.shown import Shown
from claimlab.core.stats.interval import DRAWS, Resampling
from claimlab.core.toml_file import OF_OURS, read_json
from claimlab.core.types import Json, JsonObject
from claimlab.core.version import __version__
from claimlab.core.words import several
from claimlab.evaluate.evaluation import LEFT_OUT, evaluate_runs, named_apart
from claimlab.evaluate.memorised import STATUS_COLUMN, mark
from claimlab.evaluate.scored_run import RunOrigin, Runs, ScoredRun, open_runs
from claimlab.tasks import Task
from claimlab.text.roles import NUMBERED, roles_in
from claimlab.text.unit import TIME, Unit, days_of, unit_values

BOARD = "board.json"  # of a folder that holds a leaderboard of bundles
# 2: records name their units, and a score holds for these
FORMAT: Literal["claimlab result 2"] = "claimlab result 2"
Format = Literal["claimlab result 1", "claimlab result 2"]
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
SEALED = "sealed"  # among the figures of a bundle without labels
LEAST_SECRET_BYTES = 32
SAME_IN_BOTH = ("name", "dataset", "digest", "split")  # of a run and of what a bundle says of it
Name = Annotated[str, Field(max_length=NAME)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Texts = list[str | None]


class _BundlePart(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Records(_BundlePart):
    """The scored records, column by column. Groups are numbers: their names may quote a text."""

    id: list[str]
    label: list[Name]
    text_sha256: list[Sha256 | None]
    group: list[Annotated[int, Field(ge=1, lt=10**9)] | None]
    language: list[Name | None]
    kind: list[Name | None]
    authorship: list[Name | None]
    text: Texts | None = None
    # who or what each record comes from, as numbers; of a split in time, the day since 1970
    roles: dict[Name, list[int | None]] = {}


class Answered(_BundlePart):
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
    unit: Name | None = None  # the column that the split held out
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


class ResultBundle(Shown, _BundlePart):  # type: ignore[misc]  # goes row by row, as every result
    """A published result: what others need to compute its figures again."""

    bundle: Format = FORMAT
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
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
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
    secret: Annotated[
        Place | None,
        Option(
            "File with a shared task's secret: the bundle then holds an HMAC of each label, and of"
            " the figures the scores alone.",
            metavar="FILE",
        ),
    ] = None,
    texts: Annotated[
        bool, Setting("Put the texts in, too; only where the licence of the data allows it.")
    ] = False,
    draws: Annotated[
        int, Setting("Resamples behind each interval.", least=200, most=MOST_DRAWS)
    ] = DRAWS,
    seed: Annotated[int, Setting("Random seed.", least=0)] = 0,
    force: Force = False,
) -> ResultBundle:
    """Pack runs into one file from which every figure can be derived again.

    It holds the label of each record. Where labels are hidden, give the `secret` of the task: only
    who has the labels and the secret can derive the figures then.
    """
    key = None if secret is None else read_secret(Path(secret))
    places = [Path(place) for place in each_of(source)]
    file = Path(output)
    for place in places:
        refuse_input(file, place)
    refuse_file(file, force=force, kind="bundle", sign='"bundle":"claimlab result ')
    contamination_report = None if contamination is None else read_contamination(contamination)
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
        runs.append(_answered(run, folder, digest(rows), contamination_report))
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
    packed = ResultBundle(id="0" * 64, statement={}, figures={}, **content)
    content["figures"] = figures_of(packed.opened(), seed=seed, draws=draws)
    if key is not None:
        content = sealed(content, key)
    content["statement"] = statement_of(content)
    content["id"] = digest(content["statement"])
    data = canonical(content)
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"The bundle would have {len(data) >> 20} MB; at most {MOST_BYTES >> 20} MB are read.",
            "Pack fewer runs.",
        )
    atomic_bytes(file, data)
    return ResultBundle.model_validate(content)


def sealed(content: JsonObject, key: bytes) -> JsonObject:
    """The content with an HMAC for each label, and of the figures nothing but each run's scores:
    a table of errors beside the answers would give labels away.
    """
    records = {}
    for rows in content["records"].values():
        pairs = zip(rows["id"], rows["label"], strict=True)
        hidden = {**rows, "label": [label_hmac(key, i, label) for i, label in pairs]}
        hidden |= {"group": [None] * len(rows["id"])}  # a group may be of one class
        records[digest(hidden)] = hidden
    new = dict(zip(content["records"], records, strict=True))
    runs = [{**run, "records": new[run["records"]]} for run in content["runs"]]
    kept = ("n", "macro_f1", "accuracy")
    scores = [
        {"name": run["name"], "scores": {name: run["scores"][name] for name in kept}}
        for run in content["figures"]["runs"]
    ]
    return {**content, "records": records, "runs": runs, "figures": {SEALED: True, "runs": scores}}


def label_hmac(key: bytes, record: str, label: str) -> str:
    return hmac.new(key, f"{record}\0{label}".encode(), hashlib.sha256).hexdigest()


def read_secret(file: Path) -> bytes:
    """The secret in a file that `publish task init` wrote."""
    try:
        key = bytes.fromhex(file.read_text("utf-8").strip())
    except (OSError, ValueError):
        key = b""
    if len(key) < LEAST_SECRET_BYTES:
        raise DataError(
            f"'{file}' holds no secret of {2 * LEAST_SECRET_BYTES} hexadecimal digits.",
            "Name the file 'sealed/secret' of a shared task.",
        )
    return key


def _runs_in(place: Path) -> list[tuple[ScoredRun, Dataset]]:
    """The runs of a run folder, or of every cell of a study."""
    cells = place / "cells.json"
    if not cells.is_file():
        folders = {place: place.name}
    else:
        rows = read_json(cells, most=OF_OURS)
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
    licence = spdx(data.licence)
    if licence is None or "-NC" in licence:
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
    rows["roles"] = _roles_of(run)
    return rows | ({"text": table["text"].to_list()} if with_texts else {})


def _roles_of(run: ScoredRun) -> dict[str, list[int | None]]:
    """The columns that may be the unit of the records; days of a split in time are kept as they
    are."""
    columns = roles_in(run.table)
    own = unit_values(run.table, run.unit)
    if run.unit.column == TIME:
        own = days_of(run.table)
    if own is not None:
        columns[run.unit.column] = own
    numbers = {
        name: values if name == TIME else values.rank("dense") for name, values in columns.items()
    }
    numbers.pop("group", None)  # which every bundle has
    return {name: values.cast(pl.Int64).to_list() for name, values in numbers.items()}


def _answered(
    run: ScoredRun, data: Dataset, records: str, contamination: Contamination | None
) -> JsonObject:
    marked = run if contamination is None else mark(run, contamination)
    has_status = STATUS_COLUMN in marked.table.columns
    split = next((step.counts for step in reversed(data.lineage) if step.step == "split"), {})
    return {
        **{name: getattr(run, name) for name in SAME_IN_BOTH},
        "licence": data.licence,
        "task": run.task.name,
        "classes": list(run.task.classes),
        "positive": run.task.positive,
        **{
            name: getattr(run.about, name)
            for name in ("detector", "settings", "seed", "divided_by", "division", "unit")
        },
        **{name: getattr(run, name) for name in LEFT_OUT},
        "overlap": {name: n for name, n in split.items() if name.startswith("test_in_train_")},
        "contamination": {f.check: f.verdict for f in contamination.findings if has_status}
        if contamination
        else {},
        "records": records,
        "said": marked.table["said"].to_list(),
        "abstained": marked.table["abstained"].to_list(),
        "scores": [
            None if score is None else json.loads(score) for score in marked.table["scores"]
        ],
        "status": marked.table[STATUS_COLUMN].to_list() if has_status else None,
    }


def _table(records: Records) -> pl.DataFrame:
    columns = records.model_dump(exclude={"label", "text_sha256", "group", "text", "roles"})
    groups = [None if n is None else f"{n:09d}" for n in records.group]
    frame = to_records(pl.DataFrame({**columns, "group": groups, "text": records.text}))
    roles = [
        pl.Series(f"{NUMBERED}{name}", numbers, dtype=pl.Int64)
        for name, numbers in records.roles.items()
    ]
    return frame.with_columns(pl.Series("truth", records.label, dtype=pl.String), *roles)


def _scored(run: Answered, table: pl.DataFrame) -> ScoredRun:
    answers: dict[str, Texts] = {
        "said": run.said,
        "abstained": run.abstained,
        "scores": [None if score is None else json.dumps(score) for score in run.scores],
        "rationale": [None] * table.height,
        **({} if run.status is None else {STATUS_COLUMN: run.status}),
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
        about=RunOrigin(
            run.detector, run.settings, run.seed, run.divided_by, (), run.division, unit=run.unit
        ),
        unit=Unit(run.unit) if run.unit else Unit(),
    )


def read_bundle(file: Path) -> tuple[ResultBundle, JsonObject]:
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
        bundle = ResultBundle.model_validate(content)
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


def _refuse_uneven(file: Path, bundle: ResultBundle) -> None:
    """Every column has a value for every record, and all of them together are not too many."""
    sizes = {}
    for key, records in bundle.records.items():
        own = {name: column for name, column in vars(records).items() if name != "roles"}
        columns = [
            column for column in (*own.values(), *records.roles.values()) if column is not None
        ]
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
