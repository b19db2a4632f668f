"""Load a catalogued dataset from the zip, folder or file its authors publish.

What a file has in writing and cannot be read is counted, shown by an example, and kept in `meta`.
Machine-made text always carries its label, origin and change log: where a loader did not, the least
that is known of any text whose `authorship` names a machine is written here. Dates that a dataset
cannot have (after it was published, outside the time its card gives, or decades too early) are
often those of a page as it was fetched, or of a wrong century: they are counted and named, not
removed. And a part of a dataset must not pass for the whole: its rows are compared with those
published.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path

import polars as pl

from claimlab.catalog.cards import CardRegistry
from claimlab.catalog.columns import EARLY, earliest, numbered, tweet_ids
from claimlab.catalog.entry import Card, Entry, Loaded, Loader
from claimlab.core.call import repeatable
from claimlab.core.dataset import MANIFEST, Dataset, Lineage, belonging, read_manifest
from claimlab.core.errors import Choice, UnreadableFile, check_name
from claimlab.core.labels import LabelMap, Unmapped, built_in_maps, check_unmapped, load_map
from claimlab.core.record import VERACITIES
from claimlab.core.run import Run
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.files.bundle import Bundle
from claimlab.files.media import media_of
from claimlab.tasks import TASKS, TRUTH, Task, not_verdicts

DATASETS = CardRegistry(
    "dataset", package="claimlab.catalog.readers", attribute="DATASET", group="claimlab.datasets"
)


def all_maps() -> dict[str, LabelMap]:
    """Every label map by its address: the built-in ones (`ratings`), then those of each dataset
    (`liar/a5`), its default first.
    """
    own = {
        f"{name}/{key}": one
        for name, entry in DATASETS.all().items()
        for key, one in entry.maps.items()
    }
    return {name: load_map(name) for name in built_in_maps()} | own


def find_map(address: str) -> LabelMap:
    """The map at `address`, or in a TOML file; an unknown one is an error that names similar
    addresses.
    """
    if address.endswith(".toml") or address in built_in_maps():
        return load_map(address)
    known = all_maps()
    check_name("label map", address, known)
    return known[address]


def summary(one: LabelMap) -> dict[str, int | str]:
    """Version, how many values lead to each verdict, and the note."""
    values = list(one.verdicts.values())
    return {"version": one.version, **{v: values.count(v) for v in VERACITIES}, "note": one.note}


def _name_variants(error: UnreadableFile, entry: Entry, bundle: Bundle, tried: str) -> None:
    """Let the error name the other variants that can read these files."""
    for other, loader in entry.variants.items():
        if other == tried:
            continue
        with suppress(UnreadableFile):
            n = read(loader, bundle, entry).records.height
            error.choices = [*error.choices, Choice("variant", other, several(n, "record"))]
    if error.choices:
        named = " or ".join(map(str, error.choices))
        instead = f"These files are read with {named} instead of '{tried}'."
        error.todo = f"{error.todo} {instead}".lstrip()
        error.args = (f"{error.problem} {error.todo}",)


@repeatable()
def load(
    name: str,
    source: str | Path,
    *,
    output: str | Path | None = None,
    variant: str | None = None,
    map: Mapping[str, str] | str | None = None,
    unmapped: str = "error",
    limit: int | None = None,
    force: bool = False,
) -> Dataset:
    """The catalogued dataset `name`, read from `source`: the zip, folder or file that its authors
    publish.

    `variant` and `map` choose among the named views and label maps of the dataset;
    `unmapped="unknown"` accepts labels that the map does not know. With `output`, the dataset is
    written there.
    """
    choice = check_unmapped(unmapped)
    with Run("load", None, output, reads=[source], force=force) as run:
        return run.finish(_load(name, source, variant, map, choice, limit))


def _load(
    name: str,
    source: str | Path,
    variant: str | None,
    map: Mapping[str, str] | str | None,
    unmapped: Unmapped,
    limit: int | None,
) -> Dataset:
    entry = DATASETS.get(name)
    chosen, loader = entry.loader_named(variant)
    verdicts = entry.map_named(map)
    with Bundle.open(source) as bundle:
        try:
            loaded = read(loader, bundle, entry)
        except UnreadableFile as error:
            if variant is None:
                _name_variants(error, entry, bundle, chosen)
            raise
        inputs, members = bundle.hashes(), bundle.names()
    loaded.records, unread = keep_unread(completed(loaded.records))
    if loaded.records.is_empty():
        raise UnreadableFile(
            f"'{source}' gave no records as {entry.card.title}.", "Give the files as published."
        )
    records = loaded.records if limit is None else loaded.records.head(limit)
    if "id" not in records.columns:
        records = records.with_columns(numbered(entry.card.name, records.height))
    records, notes = mapped(records, verdicts, unmapped)
    records, machine_made = marked(records, entry.card.title)
    dataset = Dataset.build(
        entry.card.name,
        records,
        loaded.tables if limit is None else belonging(loaded.tables, records["id"]),
        card=entry.card.name,
        licence=entry.card.licence,
        synthetic=loaded.synthetic or machine_made,
        notes=[*loaded.notes, *unread, *notes, *warnings(entry, records)],
    )
    dataset.lineage = [
        Lineage(
            step="load",
            parameters={
                "dataset": entry.card.name,
                "variant": chosen,
                "map": f"{verdicts.name}@{verdicts.version}" if verdicts else None,
                "unmapped": unmapped,
                "limit": limit,
                **({"task": task} if (task := question_of(entry.card)) != TRUTH else {}),
            },
            inputs=inputs,
            counts={"records": records.height},
        )
    ]
    tables, notes = media_of(dataset.records, [bundle.path], members)
    dataset.tables |= tables
    dataset.notes += [*notes, *odd_dates(dataset.records["date"], entry.card)]
    dataset.notes += rows_note(entry, chosen, loaded.records.height)
    return dataset


def read(loader: Loader, bundle: Bundle, entry: Entry) -> Loaded:
    """Run a loader; a file that is not laid out as published gives a sentence, not a traceback."""
    try:
        loaded = loader(bundle)
    except (
        KeyError,
        IndexError,
        TypeError,
        ValueError,
        AttributeError,
        pl.exceptions.PolarsError,
    ) as error:
        raise UnreadableFile(
            f"'{bundle.path.name}' is not laid out as {entry.card.title} ({type(error).__name__}:"
            f" {error}).",
            f"Give the files as published (claimlab catalog show {entry.card.name}), or use"
            " claimlab import.",
        ) from error
    if "language" not in loaded.records.columns and len(entry.card.languages) == 1:
        loaded.records = loaded.records.with_columns(language=pl.lit(entry.card.languages[0]))
    return loaded


def completed(records: pl.DataFrame) -> pl.DataFrame:
    """`records` with nulls in those of these columns that a loader left out."""
    nothing = pl.lit(None, pl.String)
    names = ("text", "label_raw", "authorship", "meta")
    return records.with_columns(nothing.alias(n) for n in names if n not in records.columns)


def mapped(
    records: pl.DataFrame, verdicts: LabelMap | None, unmapped: Unmapped
) -> tuple[pl.DataFrame, list[str]]:
    """Fill `veracity` from `label_raw`, unless the loader did."""
    if "veracity" in records.columns or verdicts is None:
        return records, []
    result = verdicts.apply(records["label_raw"], unmapped=unmapped)
    notes = []
    if result.unmapped:
        n = sum(result.unmapped.values())
        notes.append(
            f"{several(n, 'row')} set to unknown: the map lacks"
            f" {several(len(result.unmapped), 'label')}."
        )
    return records.with_columns(result.veracity), notes


def warnings(entry: Entry, records: pl.DataFrame) -> list[str]:
    """What a user must know at once: data of one class, ids without text."""
    notes = []
    classes = (
        set(records["veracity"].drop_nulls()) - {"unknown"}
        if "veracity" in records.columns
        else set()
    )
    if len(classes) == 1:
        notes.append(
            f"Only one class ('{next(iter(classes))}') is in these files: {entry.card.title} as"
            " given cannot train or test a detector."
        )
    task = question_of(entry.card)
    if task != TRUTH:
        notes.append(not_verdicts(task))
    if records["text"].null_count() == records.height:
        notes.append(
            "These files hold ids without text: checks of text are not possible until the texts are"
            " fetched."
        )
    return notes


def question_of(card: Card) -> str:
    """The task that the labels of a dataset answer, where it is a choice between classes."""
    task = TASKS.get(card.task) if card.task in TASKS.names() else None
    return TRUTH if task is None or task.metric != Task.metric else task.name


WORDS = {"date": ("date", "dates"), "tweet_id": ("tweet id", "tweet ids")}


def keep_unread(records: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """`records` without the columns of raw values, whose unread ones are in `meta` as
    NAME_as_written; and a note each.

    `date_raw` is written by `times.dated`. A `tweet_id` that is not one (a spreadsheet rounds them)
    becomes null.
    """
    if "tweet_id" in records.columns:
        raw = records["tweet_id"].cast(pl.String).str.strip_chars()
        ids = tweet_ids(raw)
        records = records.with_columns(tweet_id=ids, tweet_id_raw=raw.set(ids.is_not_null(), None))
    notes = []
    for name, (one, many) in WORDS.items():
        column = f"{name}_raw"
        if column not in records.columns:
            continue
        unread = records[column]
        records = records.drop(column)
        lost = unread.drop_nulls()
        if lost.len():
            rows = unread.is_not_null().arg_true().to_list()
            written = {row: {f"{name}_as_written": unread[row]} for row in rows}
            records = _with_meta(records, written)
            present = int((records[name].is_not_null() | unread.is_not_null()).sum())
            notes.append(
                f"{lost.len():,} of {present:,} {many if present > 1 else one} cannot be read, such"
                f" as '{lost[0]}': null, and kept in meta as '{name}_as_written'."
            )
    return records, notes


def _with_meta(records: pl.DataFrame, more: Mapping[int, JsonObject]) -> pl.DataFrame:
    """`records` with more keys in the `meta` of some rows, where it does not have them."""
    meta = records["meta"].to_list()
    for row, keys in more.items():
        known = json.loads(meta[row]) if meta[row] else {}
        if not keys.keys() <= known.keys():
            meta[row] = json.dumps(keys | known, ensure_ascii=False, sort_keys=True)
    return records.with_columns(pl.Series("meta", meta, dtype=pl.String))


CHANGES = {
    "MGT": "written by a model",
    "MTT": "translated by a machine",
    "HAT": "altered by a model from a person's text",
}


def marked(records: pl.DataFrame, title: str) -> tuple[pl.DataFrame, bool]:
    """`records` with the mark on every machine-made row that lacks it, and whether there is any
    such row.
    """
    machine = records.with_row_index("row").filter(pl.col("authorship").is_in(list(CHANGES)))
    origin = f"{title}, as published"
    marks = {
        row: {
            "synthetic": {
                "changes": [CHANGES[author]],
                "label": label or "none given",
                "origin": origin,
            }
        }
        for row, author, label in machine.select("row", "authorship", "label_raw").iter_rows()
    }
    return _with_meta(records, marks), bool(marks)


def holds_factchecks(folder: Path) -> bool:
    """Whether the card of the dataset in `folder` says so; what is not a dataset, or has no card,
    is not.
    """
    card = read_manifest(folder).card if (folder / MANIFEST).is_file() else None
    return card is not None and card in DATASETS and DATASETS.get(card).card.factchecks


ROUNDING = 0.015  # percentage points: the guide rounds to two decimals
# copies lose a row or two to deduplication and deleted posts; more than one in fifty is another
# thing
TOLERANCE = 0.02


def published_rows(entry: Entry, variant: str) -> int | None:
    """The rows `variant` should have: as its entry states, or the card's size for a default that is
    not yet tested. Null if the entry says that no count is published."""
    if variant in entry.published_rows:
        return entry.published_rows[variant]
    default = next(iter(entry.variants), None)
    return entry.card.size if variant == default and not entry.tested else None


def rows_note(entry: Entry, variant: str, count: int) -> list[str]:
    """A sentence when there are other numbers of rows than published, by more than the tolerance,
    or fewer than were counted in the published files.
    """
    expected, counted = published_rows(entry, variant), entry.real_rows.get(variant, 0)
    where, missing = "Published", 0 if expected is None else abs(count - expected)
    if expected is None:
        where, expected, missing = "Counted in the published files", counted, counted - count
    if missing <= TOLERANCE * expected:
        return []
    return [
        f"{where}: {expected:,} rows, found: {count:,}. These files may be a part or another"
        f" version of {entry.card.title}, with other label shares."
    ]


def differences(entry: Entry) -> list[str]:
    """Where the published files that the loader was tested on differ from the card: rows, and
    shares of labels.
    """
    if not entry.tested:
        return []
    default = next(iter(entry.variants))
    stated, counted = entry.published_rows.get(default, entry.card.size), entry.real_rows[default]
    where = f"in the files that were tested (variant '{default}')"
    out = []
    if stated not in (None, counted):
        out.append(f"Rows: {stated:,} published, {counted:,} {where}.")
    verdicts = entry.maps.get("cdl")
    if entry.card.shares is None or verdicts is None or not entry.real_labels:
        return out
    tally = dict.fromkeys(VERACITIES, 0)
    for raw, n in entry.real_labels.items():
        tally[verdicts.verdict(raw) or "unknown"] += n
    tally["unknown"] += counted - sum(entry.real_labels.values())
    shares = {
        v: (share or 0, 100 * tally[v] / counted)
        for v, share in entry.card.shares.model_dump().items()
    }
    apart = [f"{v} {p:.2f}% and {f:.2f}%" for v, (p, f) in shares.items() if abs(f - p) >= ROUNDING]
    return [*out, f"Shares of labels, published and {where}: {'; '.join(apart)}."] if apart else out


_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")


def odd_dates(times: pl.Series, card: Card) -> list[str]:
    """What to say of the dates of a loaded dataset."""
    days = times.dt.date().drop_nulls()
    late, why = _end(card)
    start = card.time_start and card.time_start[:4]
    early = date(int(start), 1, 1) if start else earliest(days)
    after = days.filter(days > late).sort() if late else days.clear()
    before = days.filter(days < early).sort() if early else days.clear()
    notes = []
    if late and (n := after.len()):
        notes.append(
            f"{several(n, 'record')} {verb(n)} dated after {late.year} (up to {after[-1]}), {why}."
        )
    if early and (n := before.len()):
        since = f"the card gives {card.time_start} as the start" if start else EARLY
        notes.append(
            f"{several(n, 'record')} {verb(n)} dated before {early.year} (from {before[0]}):"
            f" {since}."
        )
    return notes


def _end(card: Card) -> tuple[date | None, str]:
    """The last day that its records can be of, and why: the end its card gives, or the year of its
    paper.
    """
    year, why = card.time_end, f"though the card gives {card.time_end} as the end"
    if not year:
        year = max(_YEAR.findall(card.citation), default=None)
        why = f"though {card.title} was published in {year}"
    return (date(int(year[:4]), 12, 31) if year else None), why
