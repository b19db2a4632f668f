"""Real files through `claimlab import` without a single option, as if nobody here had seen them.

    python bench/import_unseen.py [--data ../shared/data] [--only NAME] [--tables 6]

Each zip as it is published, and the larger tables in it one by one, are imported and compared with
what the catalogue's loader, which was written for them, makes of the same files: a text that both
have must have the same label and date, and the texts must be those of the loader. Per file: right,
right but without the labels (which the report says in its first line), refused, or SILENTLY WRONG.
After a refusal the first option that its message prints is taken as it is printed, and no other.
What only a person can know is filled in from the loader and counted apart: what a code means, and
which of the columns that the message lists is the label. Exit code 1 when anything is silently
wrong, by itself or with the options of a message. Nothing of the files is kept.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from harness import begin, parser, shared
from load_all import FILES

from claimlab.catalog.load import DATASETS, load
from claimlab.core.errors import ClaimlabError
from claimlab.exchange.importer import guess_files, import_files
from claimlab.files.bundle import Bundle
from claimlab.files.kinds import TABLE_SUFFIXES

RIGHT, BARE, REFUSED, WRONG = "right", "right, no labels", "refused", "SILENTLY WRONG"
UNKNOWN = "read, no loader to compare with"
ANSWERED, FILLED = (
    "refused, right as its message says",
    "refused, right once its message is filled in",
)
OPTION = re.compile(
    r"`(only|label|map|text|join|tweet_id|sheet|delimiter)=((?:'[^`]*')|(?:\[[^`]*\]))`"
)
COLUMN = re.compile(r"'([^']+)'")
OTHERS = (  # another table or question of the same archive
    "records or labels that the loader does not read"
)
STEPS = 4  # questions in a row that are answered
ENOUGH = 0.99  # of the records that both know, with the same label or date
END = 60  # characters at the end of a text
LEAST = 20  # records that both must know for a comparison

# What the authors say of codes, of files that no loader is for.
CODES = {"ifnd-mirror-splits": {"1": "true", "0": "false"}}

Options = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    outcome: str
    words: str


class Expected:
    """What the files should come to: the records of the loader, in all variants, or what the
    authors say of codes.
    """

    def __init__(self, records: pl.DataFrame | None, codes: dict[str, str], folder: Path) -> None:
        self.records, self.codes = records, codes
        self.folder = folder  # for the map that a person would fill in

    @classmethod
    def of(cls, source: Path, folder: Path) -> Expected:
        name = FILES.get(source.stem, source.stem)
        return cls(
            None if name is None else truth(name, source), CODES.get(source.stem, {}), folder
        )

    def labels(self, path: Path, given: Options) -> pl.DataFrame | None:
        """Each label as it is written and how often the loader gives which verdict to the records
        that have it.
        """
        if self.records is None:
            return None
        try:
            imported = keyed(import_files(path, unmapped="unknown", **given)[0].records).select(
                "key", "label_raw"
            )
        except ClaimlabError:
            return None
        both = imported.drop_nulls().join(
            self.records.select("key", "veracity").drop_nulls(), on="key"
        )
        return both.group_by("label_raw", "veracity").len().sort("len", "veracity")

    def meaning(self, path: Path, given: Options) -> dict[str, str]:
        """What each label means: the commonest verdict that the loader gives to it."""
        table = None if self.codes else self.labels(path, given)
        return (
            self.codes if table is None else dict(table.select("label_raw", "veracity").iter_rows())
        )

    def label_column(self, path: Path, columns: list[str], given: Options) -> str:
        """Of the columns that a message lists, the one that decides the loader's verdicts best."""
        sure = {}
        for column in columns:
            table = self.labels(path, {**given, "label": column})
            sure[column] = (
                0
                if table is None
                else int(table.group_by("label_raw").agg(pl.col("len").max())["len"].sum())
            )
        return max(columns, key=lambda column: sure[column])


def truth(name: str, source: Path) -> pl.DataFrame | None:
    """What the loader makes of the files, over all variants: key, label and date of every record
    that has them.
    """
    if name not in DATASETS.names():
        return None
    entry = DATASETS.get(name)
    parts = []
    for variant in entry.variants:
        try:
            records = load(name, source, variant=variant).records
        except (ClaimlabError, pl.exceptions.PolarsError):
            continue
        parts += [keyed(records, *order) for order in (("text",), ("tweet_id",), ("url",))]
    return pl.concat(parts).unique() if parts else None


def keyed(records: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Records by their text, or by their tweet id or link where there is no text; or by the columns
    named.
    """
    tidy = pl.col("text").str.replace_all(r"\s+", " ").str.strip_chars()
    keys = {
        "text": pl.when(tidy != "").then(tidy),
        "tweet_id": pl.col("tweet_id"),
        "url": pl.col("url"),
    }
    key = pl.coalesce(keys[name] for name in names or keys)
    return records.select(
        key.alias("key"), "veracity", "label_raw", pl.col("date").dt.date()
    ).drop_nulls("key")


def judge(path: Path, expected: Expected) -> Verdict:
    """What an import without options comes to; after a refusal, what the first option that its
    message prints does.

    Nothing else is tried, but what only a person can know is filled in: the verdict of each code,
    and which of several columns that the message lists holds the label. An answer may lead to the
    next question.
    """
    options: Options = {}
    filled = False
    first = verdict = attempt(path, expected, options)
    for _ in range(STEPS):
        if (
            verdict.outcome != REFUSED
            or (answer := first_answer(verdict.words, path, expected, options)) is None
        ):
            break
        more, by_hand = answer
        if options.get(next(iter(more))) == next(iter(more.values())):
            break  # the same answer again
        options, filled = {**options, **more}, filled or by_hand
        verdict = attempt(path, expected, options)
    if first.outcome != REFUSED or not options:
        return first
    if verdict.outcome in (RIGHT, UNKNOWN):
        return Verdict(FILLED if filled else ANSWERED, f"{_shown(options)}: {verdict.words}")
    return Verdict(f"{REFUSED}, then {verdict.outcome}", f"{_shown(options)}: {verdict.words}")


def _shown(options: Options) -> str:
    return ", ".join(f"{name}={str(value)[:120]}" for name, value in options.items())


def first_answer(
    message: str, path: Path, expected: Expected, given: Options
) -> tuple[Options, bool] | None:
    """The first option of a message, as an argument of the import, and whether a person had to fill
    something in.
    """
    found = [(name, ast.literal_eval(words)) for name, words in OPTION.findall(message)]
    offered = [(name, value) for name, value in found if value != "none"]
    if not offered:
        return None
    name, value = offered[0]
    if value == "map.toml":
        return {"map": filled_map(path, expected, given)}, True
    if name == "map" and "=" in str(value):  # otherwise a task
        pairs = [pair.rpartition("=") for pair in str(value).split(",")]
        meaning = expected.meaning(path, given)  # of two codes, the message has both ways round
        known = {raw: v for raw, _, v in pairs if v != "VERDICT" and len(pairs) != 2}
        return {
            name: ",".join(
                f"{raw}={known.get(raw) or meaning.get(raw, 'unknown')}" for raw, _, _ in pairs
            )
        }, True
    columns = COLUMN.findall(message.partition("may be the label: ")[2].partition(". ")[0])
    if name == "label" and len(columns) > 1:
        return {name: expected.label_column(path, columns, given)}, True
    return {name: value}, False


def filled_map(path: Path, expected: Expected, given: Options) -> Path:
    """The plan of an import as a map, with the verdicts that a person who knows the data would
    fill in.
    """
    file = expected.folder / "map.toml"
    file.unlink(missing_ok=True)
    meaning = expected.meaning(path, given)
    with contextlib.suppress(ClaimlabError):
        guess_files(path, ask=False, **given).save(file)
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        raw = line.partition(" = ")[0]
        known = line.startswith('"') and "fill it in" in line
        lines.append(f'{raw} = "{meaning.get(json.loads(raw), "unknown")}"' if known else line)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def attempt(path: Path, expected: Expected, options: Options) -> Verdict:
    published = expected.records
    try:
        dataset, report = import_files(path, **options)
    except ClaimlabError as error:
        return Verdict(REFUSED, str(error))
    ours = keyed(dataset.records)
    found = Counter(dataset.records["veracity"].fill_null("none").to_list())
    labels = ", ".join(f"{k} {n:,}" for k, n in sorted(found.items()))
    words = f"{report.rows_read:,} rows, {report.records:,} records ({labels})"
    if published is None:
        wrong = _documented(dataset.records, expected.codes)
        return (
            Verdict(WRONG, f"{words}; {wrong}")
            if wrong
            else Verdict(RIGHT if expected.codes else UNKNOWN, words)
        )
    faults = [
        *_labels(ours, published),
        *_dates(ours, published),
        *_texts(dataset.records, published, path, "only" in options),
    ]
    if report.records + sum(report.refused.values()) != report.rows_read:
        faults.append("rows do not add up")
    unlabelled = dataset.records["label_raw"].null_count() == dataset.records.height
    if unlabelled and "without labels" not in report.lines()[0]:
        faults.append("the lack of labels is not said")
    if faults == [OTHERS] or ("map" in options and faults and faults == _labels(ours, published)):
        return Verdict(OTHERS, f"{words}; {'; '.join(faults)}")
    if faults:
        return Verdict(WRONG, f"{words}; {'; '.join(faults)}")
    bare = (
        not report.labels
        and ours.join(published.drop_nulls("veracity"), on="key", how="semi").height > 0
    )
    return Verdict(BARE if bare else RIGHT, words)


def _documented(records: pl.DataFrame, codes: dict[str, str]) -> str | None:
    """Where there is no loader: whether every code has the verdict that the authors give it."""
    pairs = records.select("label_raw", "veracity").drop_nulls().unique().iter_rows()
    wrong = sorted(raw for raw, verdict in pairs if codes.get(raw, verdict) != verdict)
    return f"the wrong verdict for {', '.join(wrong)}" if wrong else None


def _shares(ours: pl.DataFrame, published: pl.DataFrame, column: str) -> tuple[int, float]:
    """How many keys both give a value of `column` for, and the share of them where one of the
    values agrees.
    """
    mine = ours.drop_nulls(column).select("key", column).unique()
    theirs = published.drop_nulls(column).select("key", column).unique()
    both = mine.select("key").unique().join(theirs.select("key").unique(), on="key")
    same = mine.join(theirs, on=["key", column]).select("key").unique()
    return both.height, same.height / both.height if both.height else 1.0


def _labels(ours: pl.DataFrame, published: pl.DataFrame) -> list[str]:
    n, share = _shares(ours, published, "veracity")
    return (
        [f"only {share:.1%} of {n:,} shared records have the loader's label"]
        if n and share < ENOUGH
        else []
    )


def _dates(ours: pl.DataFrame, published: pl.DataFrame) -> list[str]:
    n, share = _shares(ours, published, "date")
    return (
        [f"only {share:.1%} of {n:,} shared dates are the loader's"] if n and share < ENOUGH else []
    )


def _texts(records: pl.DataFrame, published: pl.DataFrame, path: Path, chosen: bool) -> list[str]:
    """The texts of a whole zip must be those of the loader; a single table may hold something else.

    A loader may put the title before the body, so that a text at the end of the loader's is the
    loader's too.
    """
    ours = keyed(records)
    ends = published.select(pl.col("key").str.tail(END).alias("end")).unique()
    if (
        ours.select(pl.col("key").str.tail(END).alias("end"))
        .join(ends, on="end", how="semi")
        .height
        > 0.9 * ours.height
    ):
        return []
    shared = ours.join(published.select("key").unique(), on="key", how="semi").height
    if path.suffix == ".zip" and ours.height >= LEAST and shared < 0.5 * ours.height:
        few = chosen and shared < 0.1 * ours.height
        return (
            [OTHERS]
            if few
            else [f"only {shared:,} of {ours.height:,} texts are among the loader's"]
        )
    repeats = ours.height / max(1, ours["key"].n_unique())
    whole = published.height / max(1, published["key"].n_unique())
    if repeats > 1.5 * max(whole, 1.2):
        return [f"every text occurs {repeats:.1f} times"]
    return []


def tables_of(source: Path, most: int, folder: Path) -> list[Path]:
    """The largest tables of a zip as files of their own."""
    out: list[Path] = []
    with Bundle.open(source) as bundle:
        names = [
            n
            for n in bundle.names()
            if Path(n).suffix.lower() in (*TABLE_SUFFIXES, ".txt") and bundle.size(n) > 2_000
        ]
        for name in sorted(names, key=lambda n: -bundle.size(n))[:most]:
            place = folder / f"{len(out)}" / Path(name).name
            place.parent.mkdir()
            place.write_bytes(bundle.read(name))
            out.append(place)
    return out


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("--only", nargs="*", help="these datasets")
    made.add_argument(
        "--tables", type=int, default=6, help="tables of each zip that are tried by themselves"
    )
    options = begin(made)
    tally: Counter[tuple[str, str]] = Counter()
    for source in sorted(shared(folder=options.data).glob("*.zip")):
        if options.only and source.stem not in options.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            expected = Expected.of(source, Path(folder))
            for path in [source, *tables_of(source, options.tables, Path(folder))]:
                start = time.monotonic()
                verdict = judge(path, expected)
                kind = "zips" if path == source else "tables"
                tally[kind, verdict.outcome] += 1
                label = source.stem if path == source else f"  {path.name}"
                print(
                    f"{label} | {verdict.outcome} | {verdict.words[:400]} |"
                    f" {time.monotonic() - start:.1f} s",
                    flush=True,
                )
    for kind in ("zips", "tables"):
        print(
            f"{kind}: "
            + ", ".join(f"{outcome} {n}" for (k, outcome), n in sorted(tally.items()) if k == kind)
        )
    return 1 if any(WRONG in outcome for _, outcome in tally) else 0


if __name__ == "__main__":
    sys.exit(main())
