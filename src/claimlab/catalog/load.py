"""Load a catalogued dataset from the zip, folder or file its authors publish.

What a file has in writing and cannot be read is counted, shown by an example, and kept in `meta`.
Machine-made text always carries its label, origin and change log: where a loader did not, the least
that is known of any text whose `authorship` names a machine is written here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

import polars as pl

from claimlab.catalog.cards import CardRegistry
from claimlab.catalog.columns import numbered, tweet_ids
from claimlab.catalog.entry import Entry, Loaded, Loader
from claimlab.catalog.notes import odd_dates, question_of, rows_note, warnings
from claimlab.catalog.sources import COMMIT_TAIL, Brought, Sources, bring, held_against, sources_of
from claimlab.core.call import repeatable
from claimlab.core.dataset import MANIFEST, Dataset, Lineage, belonging, read_manifest
from claimlab.core.errors import Choice, DataError, UnreadableFile, UsageError
from claimlab.core.grants import at_work
from claimlab.core.labels import LabelMap, Unmapped, check_unmapped
from claimlab.core.run import Run
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.files.bundle import Bundle
from claimlab.files.media import media_of
from claimlab.tasks import TRUTH

DATASETS = CardRegistry(
    "dataset", package="claimlab.catalog.readers", attribute="DATASET", group="claimlab.datasets"
)
WORDS = {"date": ("date", "dates"), "tweet_id": ("tweet id", "tweet ids")}
CHANGES = {
    "MGT": "written by a model",
    "MTT": "translated by a machine",
    "HAT": "altered by a model from a person's text",
}


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


@repeatable("near")
def load(  # noqa: PLR0913
    name: str,
    source: str | Path | None = None,
    *,
    output: str | Path | None = None,
    variant: str | None = None,
    map: Mapping[str, str] | str | None = None,
    unmapped: str = "error",
    near: Sequence[str | Path] = (),
    limit: int | None = None,
    force: bool = False,
) -> Dataset:
    """The catalogued dataset `name`, read from `source`: the zip, folder or file that its authors
    publish. Without it, the pinned files are downloaded once and verified; those that lie in the
    folders `near` are found there by their hashes.

    `variant` and `map` choose among the named views and label maps of the dataset;
    `unmapped="unknown"` accepts labels that the map does not know. With `output`, the dataset is
    written there.
    """
    choice = check_unmapped(unmapped)
    reads = [] if source is None else [source]
    with Run("load", None, output, reads=reads, force=force) as run:
        if source is not None:
            return run.finish(_load(name, source, variant, map, choice, limit))
        sources = sources_or_why_not(name)
        refuse_received(name)
        brought = bring(name, sources, folders_at_hand(near))
        return run.finish(_load(name, brought.folder, variant, map, choice, limit, brought))


def refuse_received(name: str) -> None:
    """A received file, such as a study, downloads nothing by a name that it holds."""
    policy = at_work()
    if policy is not None and policy.allowed is not None:
        raise UsageError(
            f"'{policy.file.name}' names '{name}' without files, and downloads nothing itself.",
            f"Load it first, claimlab load {name} -o {name}, and name that folder.",
        )


def folders_at_hand(folders: Sequence[str | Path]) -> list[Path]:
    """The folders, each of which must be there."""
    paths = [Path(folder).expanduser() for folder in folders]
    for path in paths:
        if not path.exists():
            raise DataError(f"There is no folder '{path}'.", "Check `near`.")
    return paths


def sources_or_why_not(name: str) -> Sources:
    """The pinned sources of a dataset, or a sentence how else to get its files."""
    entry = DATASETS.get(name)
    entry.loader_named(None)
    sources = sources_of(name)
    if sources is None:
        raise UsageError(
            f"{entry.card.title} cannot be downloaded by name.",
            f"{entry.card.access} Then: claimlab load {name} FILES -o {name}",
        )
    return sources


def _load(
    name: str,
    source: str | Path,
    variant: str | None,
    map: Mapping[str, str] | str | None,
    unmapped: Unmapped,
    limit: int | None,
    brought: Brought | None = None,
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
        compared = [] if brought is not None else compared_files(name, bundle)
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
        notes=[*compared, *loaded.notes, *unread, *notes, *warnings(entry, records)],
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
                **({"sources": brought.to_json()} if brought is not None else {}),
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


def foretold(name: str) -> list[str]:
    """What a load by name will get: files, bytes, licence and citation; nothing where it cannot."""
    sources = sources_of(name) if name in DATASETS else None
    if sources is None:
        return []
    card = DATASETS.get(name).card
    size = "" if sources.size is None else f", {sources.size / 1e6:,.1f} MB"
    places = " and ".join(source.from_[: -len(COMMIT_TAIL)] for source in sources.sources)
    copy = [
        "These are a third party's copy: the publisher's own address cannot be pinned."
        for source in sources.sources
        if source.whose == "copy"
    ]
    return [
        f"{card.title}: {several(sources.number, 'file')}{size} from {places}",
        f"Licence: {card.licence or 'see ' + str(card.homepage)}. Cite: {card.citation}",
        *copy[:1],
    ]


def compared_files(name: str, bundle: Bundle) -> list[str]:
    """Whether the given files are the publisher's, where their hashes are known."""
    sources = sources_of(name)
    if sources is None:
        return []
    pinned = {PurePosixPath(f.called).name for s in sources.sources for f in s.files}
    given = [m for m in bundle.names() if PurePosixPath(m).name in pinned]
    digests = {member: hashlib.sha256(bundle.read(member)).hexdigest() for member in given}
    return [str(held) for held in held_against(sources, digests)]


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
    for name, (singular, plural) in WORDS.items():
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
            noun = plural if present > 1 else singular
            notes.append(
                f"{lost.len():,} of {present:,} {noun} cannot be read, such as '{lost[0]}': null,"
                f" and kept in meta as '{name}_as_written'."
            )
    return records, notes


def _with_meta(records: pl.DataFrame, more: Mapping[int, JsonObject]) -> pl.DataFrame:
    """`records` with more keys in the `meta` of some rows, where it does not have them."""
    meta = records["meta"].to_list()
    for row, keys in more.items():
        fields = json.loads(meta[row]) if meta[row] else {}
        if not keys.keys() <= fields.keys():
            meta[row] = json.dumps(keys | fields, ensure_ascii=False, sort_keys=True)
    return records.with_columns(pl.Series("meta", meta, dtype=pl.String))


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
