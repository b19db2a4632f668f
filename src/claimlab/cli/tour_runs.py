"""The detection stage of the demo: two detectors on the fair split, kept as runs to look into."""

from __future__ import annotations

from typing import Any

from claimlab.cli.tour_state import Tour
from claimlab.core.dataset import Dataset
from claimlab.pages.blocks import Section, Table, Text, percent

DETECTORS = ("majority", "tfidf")


def run_detect(tour: Tour) -> None:
    """What the planted defects are worth to a detector: they make a dataset look easier than it
    is.
    """
    from claimlab.detect.run import detect

    split = Dataset.open(tour.folder / "split")
    rows: list[list[Any]] = []
    for name in DETECTORS:
        run = detect(split, name, seed=tour.seed, progress=tour.progress)
        run.write(tour.folder / "runs" / name)
        scores = run.report["scores"]
        rows.append(
            [name, run.records.height, percent(scores["accuracy"]), percent(scores["macro_f1"])]
        )
    sentence = (
        "Two detectors on the split that keeps near-duplicates together. Shortcuts that are in"
        " every part still help."
    )
    table = Table(["Detector", "Test records", "Accuracy", "Macro-F1"], rows, "Scores in %.")
    tour.sections.append(Section("The detectors", [Text(sentence), table]))
