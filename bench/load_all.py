"""Load every real dataset, in every variant that was counted, and set its label shares beside the
published ones.

    python bench/load_all.py [--data ../shared/data] [--only NAME]
    python bench/load_all.py --decay    what is left of each dataset whose rows have lost their
                                        texts, written for the cards (catalog/data/decay.toml)

Prints one table (Markdown). `difference` is ours less the published, in percentage points, for the
label shares under the map `cdl` and those on the card (Table 5 of the guide). For the views in
EXACT all four must agree to the second decimal; the command exits 1 when one of them does not, when
a row count is not the expected one, or when a dataset does not load.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from harness import begin, parser, shared

from claimlab.catalog.decay import decay
from claimlab.catalog.entry import Entry
from claimlab.catalog.load import DATASETS, load
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.core.words import several

# The views that the published shares were counted on, where the same files are at hand.
EXACT = {
    ("climate-fever", "claims"),
    ("covid-fact", "claims"),
    ("fibvid", "join"),
    ("coaid", "engagements"),
    ("cmu-miscov19", "tweets"),
    ("twitter15", "texts"),
    ("verite", "pairs"),
    ("wico", "labelled"),
}
ROUNDING = 0.005
PARTS = {"mumin-pt": "mumin"}  # a dataset that is read from another's files
# Files that are not called like the dataset, and those that no loader is for: other people's
# copies, another edition.
FILES = {
    "averitec-train": "averitec",
    "banfakenews-humanbaseline": "banfakenews",
    "cdl-eval-parts": "cdl-md",
    "checkthat-2019-task1": "checkthat-2019",
    "checkthat-2021-task3": None,
    "checkthat-2022-task1-2": "checkthat",
    "checkthat-2024-task1": "checkthat-2024",
    "checkthat-2025-task1": "checkthat-2025-subjectivity",
    "checkthat-2025-task2": "checkthat-2025-normalisation",
    "checkthat-2025-task4": "checkthat-2025-science",
    "clan-samples": "clan",
    "communitynotes-sample": "communitynotes",
    "ex-fever-part": "ex-fever",
    "factors-part": None,
    "fire-datasets": "fire",
    "ifnd-mirror-splits": None,
    "mr2-sample": "mr2",
    "multiclaim-samples": "multiclaim",
    "pheme-germanwings-rumours": None,
    "pheme-threads-rumours": None,
    "quantemp-part": "quantemp",
    "twitter15-trees": None,
    "xfact-label-maps": None,
}
# More files of a dataset, and the variant that reads them.
MORE = {
    "pheme-germanwings-rumours": ("pheme", "release"),
    "pheme-threads-rumours": ("pheme", "release"),
    "twitter15-trees": ("twitter15", "texts"),
}
MAPS = {"factors-part": "factors", "xfact-label-maps": "x-fact"}  # rating words, no records
# Why the default variant has other numbers than the README of the data, where it has.
REASONS = {
    "checkthat-2022-task2a": "1,405 queries there, without the 202 of dev-test",
    "checkthat-2022-task1-2": "rows of some English files only",
    "checkthat-2024-task1": "rows by language, and of the Spanish part none",
    "checkthat-2025-task4": "rows of the labelled parts",
    "counter-covid-19-misinformation": "2 x 2,400 there",
    "evolved-claims": "counts are in another file",
    "mr2-sample": "5 items there, the same in three parts",
    "politifact-plusplus": "97 / 194 / 97 / 132 by file there",
}
FIELDS = ("text", "label_raw", "date", "tweet_id", "author", "source", "url", "topic", "language")
OTHER_FILES = (".md", ".tiktoken")  # about the data, or no records
HEAD = (
    "dataset",
    "file",
    "variant",
    "map",
    "rows",
    "expected",
    "labels",
    "README",
    "verdicts",
    "groups",
    "dated",
    "filled, %",
    "side tables",
    "seconds",
    "difference",
    "exact",
)


DECAY = Path(__file__).parents[1] / "src/claimlab/catalog/data/decay.toml"
DECAY_HEAD = """\
# What is left of datasets whose rows have lost their texts, as cards show it:
# python bench/load_all.py --decay
"""


@dataclass
class Row:
    cells: list[str]
    notes: list[str]
    good: bool


def views(data: Path, only: str | None) -> Iterator[tuple[str, Path, Entry, str]]:
    """Every dataset of the catalogue whose files are at hand, in every variant."""
    found = {source.stem: source for source in data.glob("*.zip")}
    sources = {name: source for stem, source in found.items() if (name := FILES.get(stem, stem))}
    sources |= {name: sources[whole] for name, whole in PARTS.items() if whole in sources}
    for name, source in sorted(sources.items()):
        if only in (None, name) and name in DATASETS:
            entry = DATASETS.get(name)
            for variant in entry.variants:
                yield name, source, entry, variant


def measure(name: str, source: Path, entry: Entry, variant: str) -> Row:
    labels = "cdl" if "cdl" in entry.maps else next(iter(entry.maps), None)
    start = time.perf_counter()
    try:
        dataset = load(name, source, variant=variant, map=labels)
    except ClaimlabError as error:
        blank = [""] * (len(HEAD) - 3)
        return Row([name, source.name, variant, *blank], [f"does not load: {error}"], False)
    seconds = time.perf_counter() - start
    more = source.stem in MORE
    records, expected = dataset.records, None if more else entry.real_rows.get(variant)
    apart = difference(records, entry) if labels == "cdl" else None
    must = (name, variant) in EXACT
    met = apart is not None and all(abs(points) < ROUNDING for points in apart.values())
    as_expected = expected in (None, records.height)
    wrong_labels = None if more else unexpected_labels(records, entry, variant)
    cells = [
        name,
        source.name,
        variant,
        labels or "–",
        f"{records.height:,}",
        "–" if expected is None else "yes" if as_expected else f"NO: {expected:,}",
        wrong_labels or labels_of(records, entry, variant),
        stated(source, records) if more or variant == next(iter(entry.variants)) else "",
        verdicts(records),
        counted(records, "group"),
        dated(records),
        filled(records),
        tables(dataset),
        f"{seconds:.1f}",
        "–" if apart is None else ", ".join(f"{v} {points:+.2f}" for v, points in apart.items()),
        ("yes" if met else "NO") if must else "",
    ]
    warned = [
        note
        for note in dataset.notes
        if note.startswith("Only one class") or "cannot be read" in note
    ]
    return Row(cells, warned, as_expected and not wrong_labels and (met or not must))


def labels_of(records: pl.DataFrame, entry: Entry, variant: str) -> str:
    """How many labels the files hold, and whether they are those expected, label by label, where
    that was counted.
    """
    given = records["label_raw"].drop_nulls()
    counted = variant == next(iter(entry.variants)) and entry.real_labels
    return (
        f"{given.len():,} in {given.n_unique():,}" + (", as expected" if counted else "")
        if given.len()
        else "–"
    )


def unexpected_labels(records: pl.DataFrame, entry: Entry, variant: str) -> str | None:
    if variant != next(iter(entry.variants)) or not entry.real_labels:
        return None
    tally = dict(records["label_raw"].drop_nulls().value_counts().iter_rows())
    wrong = sorted(
        k for k in {*tally, *entry.real_labels} if tally.get(k) != entry.real_labels.get(k)
    )
    return (
        "NO: "
        + ", ".join(f"{k} {tally.get(k, 0):,}, not {entry.real_labels.get(k, 0):,}" for k in wrong)
        if wrong
        else None
    )


def stated(source: Path, records: pl.DataFrame) -> str:
    """Whether the README of the data names these numbers of rows and labels, in all or by split."""
    readme = source.with_name("README.md")
    lines = readme.read_text(encoding="utf-8").splitlines() if readme.is_file() else []
    names = {line: re.split(r"[,/ ]+", line.split("|")[1]) for line in lines if line[:1] == "|"}
    row = next((line for line, files in names.items() if source.stem in files), "")
    numbers = {int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\d|\d", row)}

    def named(part: pl.DataFrame, *columns: str) -> bool:
        groups: list[int] = part.drop_nulls(columns).group_by(columns).len()["len"].to_list()
        return bool(groups) and {*groups} <= numbers

    by_split = any(named(records, *columns) for columns in (["split"], ["split", "label_raw"]))
    rows = records.height in numbers or by_split or named(records, "label_raw")
    words = ["rows equal" if rows else REASONS.get(source.stem, "rows not given")]
    if records["label_raw"].count():
        parts = [records, *records.drop_nulls("split").partition_by("split")]
        equal = any(named(part, "label_raw") for part in parts)
        words.append("labels equal" if equal else "labels not given")
    return "; ".join(words)


def without_loader(data: Path) -> list[str]:
    """What is to be said of each file that no loader reads."""
    out = []
    for file in sorted(data.iterdir()):
        name = FILES.get(file.stem, file.stem)
        entry = DATASETS.get(name) if name in DATASETS.names() else None
        if entry is not None and not entry.variants:
            out.append(f"- {file.name}: has no loader. {entry.no_loader}")
        elif file.stem in MAPS:
            out.append(
                f"- {file.name}: rating words; see `claimlab labels show {MAPS[file.stem]}`."
            )
        elif entry is None and file.stem not in MORE and file.suffix not in OTHER_FILES:
            out.append(
                f"- {file.name}: no dataset of the catalogue; read it with `claimlab import`."
            )
    return out


def difference(records: pl.DataFrame, entry: Entry) -> dict[str, float] | None:
    """Ours less the published share of each verdict that either has, both rounded as published."""
    if entry.card.shares is None:
        return None
    tally = dict(records["veracity"].value_counts().iter_rows())
    ours = {
        v: round(100 * tally.get(v, 0) / records.height, 2) for v in entry.card.shares.model_dump()
    }
    published = {v: share or 0.0 for v, share in entry.card.shares.model_dump().items()}
    return {v: round(ours[v] - published[v], 2) for v in ours if ours[v] or published[v]}


def verdicts(records: pl.DataFrame) -> str:
    tally = (
        records["veracity"]
        .fill_null("none")
        .value_counts()
        .sort("count", "veracity", descending=True)
    )
    return ", ".join(f"{verdict} {n:,}" for verdict, n in tally.iter_rows())


def counted(records: pl.DataFrame, column: str) -> str:
    known = records[column].drop_nulls()
    return f"{known.n_unique():,}" if known.len() else "–"


def dated(records: pl.DataFrame) -> str:
    share = records["date"].is_not_null().mean()
    sources = records["date_source"].drop_nulls().unique().sort().to_list()
    return f"{100 * float(share):.0f} % ({', '.join(sources)})" if sources else "–"  # type: ignore[arg-type]


def filled(records: pl.DataFrame) -> str:
    """The share of rows that have each field, of those that any row has."""
    shares = {c: 100 * (1 - records[c].null_count() / records.height) for c in FIELDS}
    return ", ".join(f"{c} {share:.0f}" for c, share in shares.items() if share)


def tables(dataset: Dataset) -> str:
    return (
        ", ".join(f"{name} {table.height:,}" for name, table in sorted(dataset.tables.items()))
        or "–"
    )


def readable(entry: Entry, variant: str) -> bool:
    """Whether the files that this variant reads are at hand, or may be."""
    return variant in entry.real_rows or not entry.real_rows


def write_decay(data: Path) -> None:
    """The decay of every dataset at hand that has rows without a text, in its first variant."""
    parts, seen = [DECAY_HEAD], set()
    for name, source, entry, variant in views(data, None):
        if name in seen or not readable(entry, variant):
            continue
        seen.add(name)
        left = decay(name, source, variant=variant)
        if left.table["at_hand"].sum() < left.table["listed"].sum():
            facts = {"day": str(left.day), **left.facts()}
            lines = [f"{key} = {json.dumps(value)}" for key, value in facts.items()]
            parts.append("\n".join([f"[{name}]", *lines]) + "\n")
    DECAY.write_text("\n".join(parts), encoding="utf-8")
    print(f"Wrote {DECAY.name}: {several(len(parts) - 1, 'dataset')} of {len(seen)}.")


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("--only", help="one dataset")
    made.add_argument("--decay", action="store_true", help="write what the cards say of decay")
    options = begin(made)
    shared(folder=options.data)
    if options.decay:
        write_decay(options.data)
        return 0
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    good, notes, start, seen = True, [], time.perf_counter(), set()
    more = [
        (name, options.data / f"{stem}.zip", DATASETS.get(name), variant)
        for stem, (name, variant) in MORE.items()
        if options.only in (None, name) and (options.data / f"{stem}.zip").is_file()
    ]
    for name, source, entry, variant in [*views(options.data, options.only), *more]:
        if source.stem not in MORE and not readable(entry, variant):
            if (name, variant) not in MORE.values():
                notes.append(
                    f"- {name} ({variant}): not tried, since it reads files that are not at hand."
                )
            continue
        row = measure(name, source, entry, variant)
        print("| " + " | ".join(row.cells) + " |", flush=True)
        good &= row.good
        notes += [f"- {name} ({variant}): {note}" for note in row.notes]
        seen.add(name)
    notes += without_loader(options.data) if options.only is None else []
    print(
        "\n".join(
            [
                "",
                f"{several(len(seen), 'dataset')} in {time.perf_counter() - start:.0f} s.",
                "",
                *notes,
            ]
        )
    )
    if options.only is None and (unseen := {name for name, _ in EXACT} - seen):
        print(f"Not at hand, though their shares must agree: {', '.join(sorted(unseen))}.")
        good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
