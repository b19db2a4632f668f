"""Does a detector carry over to languages it was not trained on? Head to tail, multilingual vectors against n-grams.

    python bench/crosslingual.py [--data DIR] [--seeds 5]

Each dataset is split by `head-to-tail` (train on widely spoken languages, test on the others) with several seeds, and
the same split is given to `majority`, `tfidf` and `multilingual`. Shown are the mean macro-F1 over seeds and its range,
for all test records and for those in a language that the sentence encoder knows. No row is written anywhere. Real data
is read from ../shared/data, or from --data.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

import claimlab as cl
from claimlab.core.stats.scores import macro_f1_of
from claimlab.detect.detectors import multilingual
from claimlab.tasks.task import open_task
from claimlab.text.langid import identify
from claimlab.text.vectors import LANGUAGES, encode

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
SETS = {"nlp4if-2021": "nlp4if-2021.zip", "mumin": "mumin.zip"}
DETECTORS = ("majority", "tfidf", "multilingual")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    multilingual.encode = Remembered()  # type: ignore[attr-defined]
    for name, file in SETS.items():
        compare(name, with_languages(cl.load(name, arguments.data / file)), arguments.seeds)


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
        for detector in DETECTORS:
            run = cl.detect(parts, detector, seed=seed)
            for reading, score in measured(run).items():
                scores[detector, reading].append(score)
    for (detector, reading), values in scores.items():
        spread = f"{100 * min(values):.1f} to {100 * max(values):.1f}"
        print(f"  {reading:<18} {detector:<13} macro-F1 {100 * np.mean(values):.1f} ({spread}, {len(values)} seeds)")


def with_languages(dataset: cl.Dataset) -> cl.Dataset:
    """The language of each text, measured where the dataset does not say."""
    known = dataset.records["language"]
    if known.null_count() == known.len():
        measured = identify(dataset.records["text"])
        dataset.records = dataset.records.with_columns(language=pl.Series(measured, dtype=pl.String))
    return dataset


def describe(name: str, records: pl.DataFrame) -> None:
    labelled = records.with_columns(truth=open_task("veracity", records).labels(records)).drop_nulls("truth")
    print(name)
    for part in ("train", "test"):
        mine = labelled.filter(pl.col("split") == part)
        languages = mine["language"].value_counts(sort=True).head(6).rows()
        classes = mine["truth"].value_counts().sort("truth").rows()
        named = ", ".join(f"{language} {n:,}" for language, n in languages)
        print(f"  {part}: {mine.height:,} records ({', '.join(f'{c} {n:,}' for c, n in classes)}; {named} ...)")


def measured(run: cl.Dataset) -> dict[str, float]:
    """Macro-F1 over all test records, and over those in languages that the encoder knows."""
    task = open_task("veracity", run.records)
    rows = run.records.select("id", "language", truth=task.labels(run.records)).join(
        run.tables["predictions"].select(id="record_id", label="label"), on="id", how="left", maintain_order="left"
    )
    number = {c: i for i, c in enumerate(task.classes)}
    known = rows.filter(pl.col("language").is_in(sorted(LANGUAGES)))
    readings = {"all languages": rows, "encoder's languages": known}
    return {
        reading: macro_f1_of([number[t] for t in part["truth"]], [number[p] for p in part["label"]])
        for reading, part in readings.items()
        if part["truth"].n_unique() > 1
    }


if __name__ == "__main__":
    main()
