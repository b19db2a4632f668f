"""How much a detector's score owes to the split: random against fair, and languages it was not
trained on.

    python bench/detect_splits.py random [--data ../shared/data] [--seeds 3]
    python bench/detect_splits.py languages [--data ../shared/data] [--seeds 5]

`random` prints macro-F1 (mean over seeds, lowest and highest) of `tfidf` and of the majority class
under several splits, with the share of test rows whose text or group is in train. A split that
cannot be made is listed with the reason. `languages` splits by `head-to-tail` (train on widely
spoken languages, test on the others) and gives the same split to `majority`, `tfidf` and
`multilingual`: mean macro-F1 over seeds and its range, for all test records and for those in a
language that the sentence encoder knows. No row is written anywhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

import numpy as np
import polars as pl
from harness import begin, parser, shared

import claimlab as cl
from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.core.stats.scores import macro_f1_of
from claimlab.detect.detector import DETECTORS
from claimlab.detect.detectors import multilingual
from claimlab.detect.run import detect
from claimlab.detect.tables import scores_of
from claimlab.split.run import Split, split
from claimlab.tasks import open_task
from claimlab.tasks.table import VERACITY as TASK
from claimlab.text.langid import identify
from claimlab.text.vectors import LANGUAGES, encode

DATASETS = ("twitter15",)
STRATEGIES = ("random", "group", "event")


def macro_f1(done: Split, detector: str, seed: int) -> float:
    return 100 * float(
        scores_of(detect(done.dataset, DETECTORS.get(detector)(), seed=seed), TASK)["macro_f1"]
    )


def row(dataset: Dataset, strategy: str, seeds: int) -> str:
    made = []
    for seed in range(seeds):
        try:
            made.append(split(dataset, strategy, seed=seed))
        except ClaimlabError as error:
            return f"{dataset.name:<14} {strategy:<16} not made: {error.problem}"
    scores = [macro_f1(one, "tfidf", seed) for seed, one in enumerate(made)]
    floor = [macro_f1(one, "majority", seed) for seed, one in enumerate(made)]
    leaks = [one.checked.leaks[0] for one in made]
    text = fmean(100 * leak.texts / leak.rows for leak in leaks)
    group = fmean(100 * (leak.group or 0) / leak.rows for leak in leaks)
    span = f"{fmean(scores):5.1f} ({min(scores):.1f} to {max(scores):.1f})"
    return (
        f"{dataset.name:<14} {strategy:<16} {span:<22} {fmean(floor):5.1f} {text:8.1f} {group:8.1f}"
    )


SETS = {"nlp4if-2021": "nlp4if-2021.zip", "mumin": "mumin.zip"}
COMPARED = ("majority", "tfidf", "multilingual")


class Remembered:
    """Vectors are made once for all seeds: the texts are the same in each of them."""

    def __init__(self) -> None:
        self.known: dict[str, np.ndarray] = {}

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        new = sorted({text for text in texts if text not in self.known})
        self.known |= dict(zip(new, encode(new), strict=True))
        return np.stack([self.known[text] for text in texts])


def compare(name: str, dataset: cl.Dataset, seeds: int) -> None:
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for seed in range(seeds):
        parts = cl.split(dataset, by="head-to-tail", seed=seed).dataset
        if not seed:
            describe(name, parts.records)
        for detector in COMPARED:
            run = cl.detect(parts, detector, seed=seed)
            for reading, score in measured(run).items():
                scores[detector, reading].append(score)
    for (detector, reading), values in scores.items():
        spread = f"{100 * min(values):.1f} to {100 * max(values):.1f}"
        print(
            f"  {reading:<18} {detector:<13} macro-F1 {100 * np.mean(values):.1f} ({spread},"
            f" {len(values)} seeds)"
        )


def with_languages(dataset: cl.Dataset) -> cl.Dataset:
    """The language of each text, measured where the dataset does not say."""
    known = dataset.records["language"]
    if known.null_count() == known.len():
        measured = identify(dataset.records["text"])
        dataset.records = dataset.records.with_columns(
            language=pl.Series(measured, dtype=pl.String)
        )
    return dataset


def describe(name: str, records: pl.DataFrame) -> None:
    labelled = records.with_columns(
        truth=open_task("veracity", records).labels(records)
    ).drop_nulls("truth")
    print(name)
    for part in ("train", "test"):
        of_part = labelled.filter(pl.col("split") == part)
        languages = of_part["language"].value_counts(sort=True).head(6).rows()
        classes = of_part["truth"].value_counts().sort("truth").rows()
        named = ", ".join(f"{language} {n:,}" for language, n in languages)
        print(
            f"  {part}: {of_part.height:,} records ({', '.join(f'{c} {n:,}' for c, n in classes)};"
            f" {named} ...)"
        )


def measured(run: cl.Dataset) -> dict[str, float]:
    """Macro-F1 over all test records, and over those in languages that the encoder knows."""
    task = open_task("veracity", run.records)
    rows = run.records.select("id", "language", truth=task.labels(run.records)).join(
        run.tables["predictions"].select(id="record_id", label="label"),
        on="id",
        how="left",
        maintain_order="left",
    )
    number = {c: i for i, c in enumerate(task.classes)}
    known = rows.filter(pl.col("language").is_in(sorted(LANGUAGES)))
    readings = {"all languages": rows, "encoder's languages": known}
    return {
        reading: macro_f1_of([number[t] for t in part["truth"]], [number[p] for p in part["label"]])
        for reading, part in readings.items()
        if part["truth"].n_unique() > 1
    }


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("what", choices=("random", "languages"))
    made.add_argument("--seeds", type=int)
    options = begin(made)
    if options.what == "random":
        print(
            f"{'dataset':<14} {'split':<16} {'tfidf macro-F1':<22} {'floor':>5} {'text %':>8}"
            f" {'group %':>8}"
        )
        for name in DATASETS:
            dataset = load(name, shared(f"{name}.zip", options.data))
            for strategy in STRATEGIES:
                print(row(dataset, strategy, options.seeds or 3), flush=True)
        return
    multilingual.encode = Remembered()  # type: ignore[attr-defined]
    for name, file in SETS.items():
        compare(name, with_languages(cl.load(name, shared(file, options.data))), options.seeds or 5)


if __name__ == "__main__":
    main()
