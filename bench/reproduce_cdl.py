"""Every published keyword and temporal figure whose data is at hand, against ours.

    python bench/reproduce_cdl.py [--data ../shared/data] [--only NAME ...] [--no-fair]

The published figures are those on the catalogue's cards (Tables 6 and 8 of the guide, per cent
macro-F1). For each one whose files are in `--data` it prints ours under protocol `cdl` on the
published split (seed 42), the mean over eight other split seeds with the lowest and the highest,
for time the same with a hold-out (`cdl-holdout`), and the `fair` score of the same data. A row
agrees within 0.3 points (time) or 2 points (keywords, whose forests are drawn by another generator
than R's). Where only a part of the files is at hand, the row says so. Nothing is left out for not
agreeing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harness import begin, parser, shared

from claimlab.audit import cdl
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.catalog.load import DATASETS, load
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.core.finding import Finding

TOLERANCE = {"time": 0.3, "keywords": 2.0}
SEEDS = range(8)
FEATURES = {"date": "date", "tweet id": "tweet id, first three digits"}
ZIPS = {"banfakenews": "banfakenews-humanbaseline", "ifnd": "ifnd-mirror-splits"}
VARIANTS = {
    "coaid": "engagements",
    "fibvid": "join",
    "covid-19-disinformation": "all-files",
    "mediaeval": "images",
    "banfakenews": "human-baseline",
    "isot": "titles",
}
MAPS = {("cmu-miscov19", "time"): "cdl-time", ("liar-new", "time"): "cdl-time"}
PARTS = {
    "banfakenews": "150 of 58,478 articles",
    "claimskg": "the 510 rated claims",
    "fever": "dev only",
    "feverous": "dev subset",
    "hover": "dev only",
    "ifnd": "another release (mirror)",
    "isot": "titles, no full texts",
    "mm-covid": "one class only",
    "pubhealthtab": "dev and test",
    "truthseeker2023": "one class only",
    "ct-fan": "English train and test",
    "nlp4if-2021": "train and dev",
}


@dataclass(frozen=True)
class Case:
    """One figure of the guide."""

    dataset: str
    check: str
    published: float
    target: str = "veracity"
    feature: str | None = None

    @property
    def name(self) -> str:
        return self.dataset + (" T-F-M" if self.target != "veracity" else "")

    @property
    def zip(self) -> str:
        return f"{ZIPS.get(self.dataset, self.dataset)}.zip"

    def load(self, data: Path) -> Dataset:
        maps = DATASETS.get(self.dataset).maps
        labels = MAPS.get((self.dataset, self.check), "cdl" if "cdl" in maps else None)
        return load(
            self.dataset,
            data / self.zip,
            variant=VARIANTS.get(self.dataset),
            map=labels,
            unmapped="unknown",
        )


def cases() -> Iterator[Case]:
    for name, entry in DATASETS.all().items():
        figures = entry.card.published
        if figures is None:
            continue
        if figures.temporal is not None and figures.temporal_feature is not None:
            yield Case(name, "time", figures.temporal, feature=FEATURES[figures.temporal_feature])
        if figures.keywords_tf is not None:
            yield Case(name, "keywords", figures.keywords_tf)
        if figures.keywords_tfm is not None:
            yield Case(name, "keywords", figures.keywords_tfm, "veracity-mixed")


def scores(case: Case, subject: Subject) -> dict[str, list[float]]:
    """Per protocol the score of the published split, then those of eight other seeds; nothing
    without input.
    """
    seeds, classes = (cdl.SEED, *SEEDS), len(subject.classes)
    if classes < 2 or cdl.cannot_split(subject) is not None:
        return {}
    if case.check == "time":
        values = cdl.days(subject) if case.feature == "date" else cdl.id_digits(subject)
        held = {"cdl": False, "cdl-holdout": True}
        found = {
            p: cdl.time_score(subject, values, hold_out=out, split_seeds=seeds)
            for p, out in held.items()
        }
        return {protocol: each for protocol, each in found.items() if each}
    words = cdl.most_frequent(subject.dataset.records["text"], 40)
    matrix = cdl.presence(subject.rows["text"], words)
    return (
        {"cdl": [cdl.keyword_score(matrix, subject.y, classes, seed) for seed in seeds]}
        if words
        else {}
    )


def row(case: Case, data: Path, fair: bool) -> str:
    cells = [case.name, VARIANTS.get(case.dataset, ""), PARTS.get(case.dataset, "")]
    try:
        dataset = case.load(data)
    except ClaimlabError as error:
        return line([*cells, "", f"{case.published:.1f}", f"not read: {error.problem}"])
    subject = Subject.of(dataset, case.target)
    found = scores(case, subject)
    cells += [f"{subject.n:,}", f"{case.published:.1f}"]
    if not found:
        return line([*cells, "not measured (no value, or one class)"])
    cells += [f"{100 * found['cdl'][0]:.1f}", spread(found["cdl"][1:])]
    if case.check == "time":
        cells += [f"{100 * found['cdl-holdout'][0]:.1f}", spread(found["cdl-holdout"][1:])]
    cells += [agrees(case, found)]
    return line([*cells, *(honest(case, dataset) if fair else ())])


def agrees(case: Case, found: dict[str, list[float]]) -> str:
    for protocol, each in found.items():
        if abs(100 * each[0] - case.published) <= TOLERANCE[case.check] + 1e-9:
            return "yes" if protocol == "cdl" else "as a hold-out"
    low, high = 100 * min(found["cdl"]), 100 * max(found["cdl"])
    return "no (within the seeds)" if low <= case.published <= high else "no"


def spread(each: list[float]) -> str:
    return f"{100 * np.mean(each):.1f} ({100 * min(each):.1f} to {100 * max(each):.1f})"


def honest(case: Case, dataset: Dataset) -> list[str]:
    """The `fair` score of the same data, its best baseline and the verdict."""
    found = audit(dataset, checks=[case.check], target=case.target, debug=True).findings
    every: list[Finding] = [f for finding in found for f in finding.every]
    case_of_check = next((f for f in every if case.feature in (None, f.feature)), every[0])
    if case_of_check.score is None or case_of_check.interval is None:
        return ["not measured", "", ""]
    low, high = case_of_check.interval
    shown = f"{100 * case_of_check.score:.1f} ({100 * low:.1f} to {100 * high:.1f})"
    return [shown, f"{100 * (case_of_check.baselines.best() or 0):.1f}", case_of_check.verdict]


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("--only", nargs="*", help="only these datasets")
    made.add_argument("--no-fair", action="store_true", help="only the published protocol")
    options = begin(made)
    shared(folder=options.data)
    wanted = [case for case in cases() if not options.only or case.dataset in options.only]
    for title, check in (("Temporal", "time"), ("Keywords", "keywords")):
        head = ["dataset", "view", "part", "rows", "published", "`cdl`, seed 42", "`cdl`, 8 seeds"]
        head += ["`cdl-holdout`, seed 42", "`cdl-holdout`, 8 seeds"] if check == "time" else []
        head += [
            "agrees",
            *(
                []
                if options.no_fair
                else ["`fair` (95 % interval)", "best baseline", "`fair` verdict"]
            ),
        ]
        print(f"\n### {title}\n\n{line(head)}\n|" + "---|" * len(head))
        of_check = [case for case in wanted if case.check == check]
        for case in of_check:
            if (options.data / case.zip).is_file():
                print(row(case, options.data, not options.no_fair), flush=True)
        missing = [case for case in of_check if not (options.data / case.zip).is_file()]
        if missing:
            print(
                "\nPublished, but not at hand: "
                + ", ".join(f"{c.name} {c.published:.1f}" for c in missing)
                + "."
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
