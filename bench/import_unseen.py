"""Real files through `claimlab import` without a single option, as a stand-in for files that nobody here has seen.

    python bench/import_unseen.py [--data ../shared/data] [--only NAME] [--tables 6]

Each zip as it is published, and the larger tables in it one by one, are imported and compared with what the catalogue's
loader, which was written for them, makes of the same files: a text that both have must have the same label and date,
and the texts must be those of the loader. Per file: right, right but without the labels (which the report says in its
first line), refused, or SILENTLY WRONG. After a refusal the options that its message prints are tried, as a user would,
until one of them gives the right result; a VERDICT to fill in is taken from the loader. Exit code 1 when anything is
silently wrong. Nothing of the files is kept.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.catalog.load import DATASETS, load
from claimlab.core.errors import ClaimlabError
from claimlab.exchange.importer import import_files
from claimlab.files.bundle import Bundle
from claimlab.files.kinds import TABLES

RIGHT, BARE, REFUSED, WRONG = "right", "right, no labels", "refused", "SILENTLY WRONG"
ANSWERED = "refused, right with its options"
OPTION = re.compile(r"`(only|label|labels|text|join|tweet_id)=((?:'[^`]*')|(?:\[[^`]*\]))`")
STEPS, TRIES = 3, 40  # questions in a row that are answered, and imports that are tried in all
ENOUGH = 0.99  # of the records that both know, with the same label or date
END = 60  # characters at the end of a text
LEAST = 20  # records that both must know for a comparison

Options = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    outcome: str
    words: str


def truth(name: str, source: Path) -> pl.DataFrame | None:
    """What the loader makes of the files, over all variants: key, label and date of every record that has them."""
    if name not in DATASETS.names():
        return None
    entry = DATASETS.get(name)
    parts = []
    for variant in entry.variants:
        for labels in entry.maps or [None]:
            try:
                records = load(name, source, variant=variant, labels=labels).records
            except (ClaimlabError, pl.exceptions.PolarsError):
                continue
            parts.append(keyed(records))
    return pl.concat(parts).unique() if parts else None


def keyed(records: pl.DataFrame) -> pl.DataFrame:
    """Records by their text, or by their tweet id where there is no text."""
    text = pl.col("text").str.replace_all(r"\s+", " ").str.strip_chars()
    key = pl.coalesce(pl.when(text != "").then(text), pl.col("tweet_id"), pl.col("url"))
    return records.select(key.alias("key"), "veracity", "label_raw", pl.col("date").dt.date()).drop_nulls("key")


def judge(path: Path, published: pl.DataFrame | None) -> Verdict:
    """What an import without options comes to; after a refusal, whether the options in its message make it right."""
    verdict = attempt(path, published, {})
    if verdict.outcome != REFUSED:
        return verdict
    queue: list[tuple[Options, str]] = [({}, verdict.words)]
    for _ in range(TRIES):
        if not queue:
            break
        given, words = queue.pop(0)
        for more in answers(words, published):
            options = {**given, **more}
            outcome = attempt(path, published, options)
            if outcome.outcome in (RIGHT, "no loader"):
                return Verdict(ANSWERED, f"{options}: {outcome.words}")
            if outcome.outcome == REFUSED and len(options) < STEPS and set(options) != set(given):
                queue.append((options, outcome.words))
    return verdict


def answers(message: str, published: pl.DataFrame | None) -> list[Options]:
    """The options that a message prints, as arguments of the import."""
    out: list[Options] = []
    for name, words in OPTION.findall(message):
        value: Any = ast.literal_eval(words)
        if name == "labels" and "VERDICT" in value:
            value = ",".join(_filled(pair, published) for pair in value.split(","))
        if value not in ("none", "map.toml"):
            out.append({name: value})
    return out


def _filled(pair: str, published: pl.DataFrame | None) -> str:
    raw = pair.removesuffix("=VERDICT")
    known = published.filter(pl.col("label_raw") == raw)["veracity"].drop_nulls() if published is not None else []
    return f"{raw}={known[0] if len(known) else 'unknown'}"


def attempt(path: Path, published: pl.DataFrame | None, options: Options) -> Verdict:
    try:
        dataset, report = import_files(path, **options)
    except ClaimlabError as error:
        return Verdict(REFUSED, str(error))
    ours = keyed(dataset.records)
    found = Counter(dataset.records["veracity"].fill_null("none").to_list())
    labels = ", ".join(f"{k} {n:,}" for k, n in sorted(found.items()))
    words = f"{report.rows_read:,} rows, {report.records:,} records ({labels})"
    if published is None:
        return Verdict("no loader", words)
    faults = [*_labels(ours, published), *_dates(ours, published), *_texts(dataset.records, published, path)]
    if report.records + sum(report.refused.values()) != report.rows_read:
        faults.append("rows do not add up")
    if not report.labels and "none of them with a label" not in report.lines()[0]:
        faults.append("the lack of labels is not said")
    if faults:
        return Verdict(WRONG, f"{words}; {'; '.join(faults)}")
    bare = not report.labels and ours.join(published.drop_nulls("veracity"), on="key", how="semi").height > 0
    return Verdict(BARE if bare else RIGHT, words)


def _shares(ours: pl.DataFrame, published: pl.DataFrame, column: str) -> tuple[int, float]:
    """How many keys both give a value of `column` for, and the share of them where one of the values agrees."""
    mine = ours.drop_nulls(column).select("key", column).unique()
    theirs = published.drop_nulls(column).select("key", column).unique()
    both = mine.select("key").unique().join(theirs.select("key").unique(), on="key")
    same = mine.join(theirs, on=["key", column]).select("key").unique()
    return both.height, same.height / both.height if both.height else 1.0


def _labels(ours: pl.DataFrame, published: pl.DataFrame) -> list[str]:
    n, share = _shares(ours, published, "veracity")
    return [f"only {share:.1%} of {n:,} shared records have the loader's label"] if n and share < ENOUGH else []


def _dates(ours: pl.DataFrame, published: pl.DataFrame) -> list[str]:
    n, share = _shares(ours, published, "date")
    return [f"only {share:.1%} of {n:,} shared dates are the loader's"] if n and share < ENOUGH else []


def _texts(records: pl.DataFrame, published: pl.DataFrame, path: Path) -> list[str]:
    """The texts of a whole zip must be those of the loader; a single table may hold something else.

    A loader may put the title before the body, so that a text at the end of the loader's is the loader's too.
    """
    ours = keyed(records)
    ends = published.select(pl.col("key").str.tail(END).alias("end")).unique()
    if (
        ours.select(pl.col("key").str.tail(END).alias("end")).join(ends, on="end", how="semi").height
        > 0.9 * ours.height
    ):
        return []
    known = ours.join(published.select("key").unique(), on="key", how="semi").height
    if path.suffix == ".zip" and ours.height >= LEAST and known < 0.5 * ours.height:
        return [f"only {known:,} of {ours.height:,} texts are among the loader's"]
    repeats = ours.height / max(1, ours["key"].n_unique())
    whole = published.height / max(1, published["key"].n_unique())
    if repeats > 1.5 * max(whole, 1.2):
        return [f"every text occurs {repeats:.1f} times"]
    return []


def tables_of(source: Path, most: int, folder: Path) -> list[Path]:
    """The largest tables of a zip as files of their own."""
    out = []
    with Bundle.open(source) as bundle:
        names = [n for n in bundle.names() if Path(n).suffix.lower() in (*TABLES, ".txt") and bundle.size(n) > 2_000]
        for name in sorted(names, key=lambda n: -bundle.size(n))[:most]:
            place = folder / f"{len(out)}" / Path(name).name
            place.parent.mkdir()
            place.write_bytes(bundle.read(name))
            out.append(place)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--only", help="one dataset")
    parser.add_argument("--tables", type=int, default=6, help="tables of each zip that are tried by themselves")
    options = parser.parse_args()
    tally: Counter[tuple[str, str]] = Counter()
    for source in sorted(options.data.glob("*.zip")):
        if options.only not in (None, source.stem):
            continue
        published = truth(source.stem, source)
        with tempfile.TemporaryDirectory() as folder:
            for path in [source, *tables_of(source, options.tables, Path(folder))]:
                start = time.monotonic()
                verdict = judge(path, published)
                kind = "zips" if path == source else "tables"
                tally[kind, verdict.outcome] += 1
                label = source.stem if path == source else f"  {path.name}"
                print(
                    f"{label} | {verdict.outcome} | {verdict.words[:400]} | {time.monotonic() - start:.1f} s",
                    flush=True,
                )
    for kind in ("zips", "tables"):
        print(f"{kind}: " + ", ".join(f"{outcome} {n}" for (k, outcome), n in sorted(tally.items()) if k == kind))
    return 1 if any(outcome == WRONG for _, outcome in tally) else 0


if __name__ == "__main__":
    sys.exit(main())
