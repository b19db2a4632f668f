"""Whether the audit's verdicts can be believed, measured on real datasets. Each part writes its
tables as Markdown.

    python bench/audit_truth.py alarms     labels permuted within their groups: how often is there
                                           an alarm, per check?
    python bench/audit_truth.py power      defects planted at graded strengths: how often is each
                                           found?
    python bench/audit_truth.py agreement  findings worked out again with scikit-learn alone
    python bench/audit_truth.py days       records that `time-bound` reports, and `--runs` of each
                                           dataset, drawn by `--seed`, to read

`-o FILE` keeps every measurement as a line of JSON, and goes on from those that are there.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import begin, parser, shared
from parts.audit_days import days, show_days
from parts.audit_plants import PLANTS, Plant

from claimlab.audit.checks.text_columns import SHARED
from claimlab.audit.run import audit, default_checks
from claimlab.audit.subject import Subject
from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding
from claimlab.core.stats.interval import wilson
from claimlab.core.stats.permute import Exchange

# Pairs, sets of three, events of unequal size, claims with several texts; few rows; a rare class;
# plain ones.
SETS = {
    "fake-br": "pairs of a true and a false text",
    "verite": "sets of three",
    "twitter15": "events of one class",
    "covid-fact": "claims with their altered versions",
    "check-covid": "claims about one article",
    "factck-br": "a rare class, repeated claims",
    "liar-new": "a rare class",
    "coaid": "a rare class",
    "benjaminpoliticalnews": "small",
    "climate-fever": "small, unbalanced",
    "liar": "plain",
    "covid19-fake-news": "plain",
    "covid-19-disinformation": "four languages, times of day",
}
# Checks that count copies, conflicts, records or annotators' answers: permuted labels are no test
# of them.
COUNTING = (
    "feasibility",
    "identical-texts",
    "near-duplicates",
    "one-class",
    "paraphrases",
    "time-bound",  # its part on labels: tests/audit/test_clock_and_links.py
    "url-conflicts",
)
TESTED = tuple(check for check in default_checks("fair") if check not in COUNTING)
ALARMS = ("warn", "fail")
ONLY: list[str] = []  # datasets, where not all are asked for
CHECKS: list[str] = []  # checks, likewise
SEEDS = [0]  # the last one draws examples
DONE: set[str] = set()  # runs whose measurements are kept already
FEWEST = 19  # permutations by which p can be 0.05
SEVERAL = ("balance", "evidence", "giveaways", "identifiers", "surface", "time", "url")
Row = dict[str, Any]


def sample(name: str, data: Path, rows: int) -> Subject:
    """About `rows` labelled records of a dataset, whole groups at a time."""
    subject = Subject.of(load(name, shared(f"{name}.zip", data)))
    order = np.random.default_rng(0).permutation(int(subject.groups.max()) + 1)
    rank = np.argsort(order)[subject.groups]
    sizes = np.cumsum(np.bincount(rank))
    return subject.take(np.flatnonzero(rank <= np.searchsorted(sizes, min(rows, subject.n))))


def relabelled(subject: Subject, labels: np.ndarray[Any, np.dtype[np.int64]]) -> Dataset:
    """The same records and side tables with other labels."""
    names = pl.Series("veracity", [subject.classes[k] for k in labels])
    rows = subject.rows.with_columns(names)
    tables = {
        name: table.join(
            rows.select(record_id="id"), on="record_id", how="semi", maintain_order="left"
        )
        for name, table in subject.dataset.tables.items()
        if name in ("evidence", "annotations")
    }
    return Dataset.build(subject.dataset.name, rows, tables)


def scored(data: Dataset, checks: tuple[str, ...], seed: int) -> list[Finding]:
    """Every measurement of one audit, whichever finding it is part of."""
    chosen = [check for check in checks if not CHECKS or check in CHECKS]
    findings = audit(data, checks=chosen, seed=seed, debug=True).findings if chosen else []
    return [f for finding in findings for f in finding.every]


def by_row(finding: Finding) -> bool:
    """Whether the test is of one column of categories, with rows split at random: groups mean
    nothing to it.
    """
    return "purity" in finding.details


def alarms(data: Path, runs: int, rows: int) -> Iterator[list[Row]]:
    """The measurements of audits, with every check that labels matter to, of data in which labels
    mean nothing.
    """
    subjects = {name: sample(name, data, rows) for name in ONLY or SETS}
    for run in range(runs):
        for name, subject in subjects.items():
            if f"{name} {run}" not in DONE:
                yield [
                    {
                        "key": f"{name} {run}",
                        "set": name,
                        "n": subject.n,
                        "check": called(f),
                        "verdict": f.verdict,
                        "p": f.p,
                        "permutations": f.permutations,
                        "difference": f.difference_interval,
                    }
                    for f in meaningless(subject, run)
                ]


def meaningless(subject: Subject, run: int) -> list[Finding]:
    """What an audit says of permuted labels. Labels are permuted within groups; for columns of
    categories, which are tested without regard to groups, freely, which takes a second audit where
    there are groups."""
    rng = np.random.default_rng([run, 7])
    within, _ = Exchange(subject.y, subject.groups).draw(rng, np.zeros((1, subject.n), np.int8))
    found = scored(relabelled(subject, within), TESTED, run)
    if int(subject.groups.max()) + 1 < subject.n:
        freely = scored(relabelled(subject, rng.permutation(subject.y)), TESTED, run)
        found = [f for f in found if not by_row(f)] + [f for f in freely if by_row(f)]
    return [f for f in found if f.verdict != "not-measured" or f.check == "label-errors"]


def called(f: Finding) -> str:
    """The measurement's name in the tables: the check, and the feature where a check has
    several.
    """
    if f.check == "columns":
        return "columns: categories" if by_row(f) else "columns: numbers"
    if f.check == "text-columns":
        return f"text-columns: {'overlap' if SHARED in (f.feature or '') else 'text'}"
    if f.check == "identifiers" and (f.feature or "").startswith("meta."):
        return "identifiers: in `meta`"
    return f"{f.check}: {f.feature}" if f.check in SEVERAL and f.feature else f.check


def alarm_tables(rows: list[Row]) -> None:
    for title, column in (("check", "check"), ("dataset", "set")):
        tally: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            tally[row[column]].append(row)
        print(
            f"\n| {title} | scored | warn | fail | share of alarms (95 % interval) | inconclusive |"
        )
        print("|---|---|---|---|---|---|")
        for name, mine in [*sorted(tally.items()), ("all", rows)]:
            counts = Counter(r["verdict"] for r in mine)
            n, alarms = len(mine) - counts["not-measured"], counts["warn"] + counts["fail"]
            heading = f"{name} ({SETS[name]}; {mine[0]['n']:,} records)" if name in SETS else name
            low, high = wilson(alarms, n) or (0.0, 1.0)
            share = (
                f"{100 * alarms / n:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
                if n
                else "not measured"
            )
            unsure = f"{100 * counts['inconclusive'] / n:.0f} %" if n else ""
            print(
                f"| {heading} | {n:,} | {counts['warn']} | {counts['fail']} | {share} | {unsure} |"
            )
    print(f"\n{len({r['key'] for r in rows})} runs.")


STRENGTHS = (0.0, 0.05, 0.1, 0.2, 0.4)


def power(data: Path, runs: int, rows: int) -> Iterator[list[Row]]:
    """The measurements that should notice a planted defect. The texts are real, the labels mean
    nothing, and a share of one class is marked; the check runs alone, so that its p is corrected
    for its own measurements only.
    """
    plants = [plant for plant in PLANTS if not CHECKS or plant.check in CHECKS]
    subjects = {base: sample(base, data, rows) for base in {plant.base for plant in plants}}
    for run in range(runs):
        for plant in plants:
            for strength in STRENGTHS:
                key = f"{plant.seen_by[0]} {strength} {run}"
                if key not in DONE and not (plant.dear and run >= runs // 2):
                    yield planted(key, plant, subjects[plant.base], strength, run)


def planted(key: str, plant: Plant, subject: Subject, strength: float, run: int) -> list[Row]:
    rng = np.random.default_rng([run, round(100 * strength), 11])
    labels = Exchange(subject.y, subject.groups).draw(rng, np.zeros((1, subject.n), np.int8))[0]
    clean = relabelled(subject, subject.y if plant.real else labels)
    chosen = (rng.random(subject.n) < strength) & (clean.records["veracity"] == "false").to_numpy()
    checks = tuple(dict.fromkeys(name.partition(":")[0] for name in plant.seen_by))
    verdicts = {called(f): f.verdict for f in scored(plant.mark(clean, chosen), checks, run)}
    return [
        {
            "key": key,
            "check": name,
            "what": plant.what,
            "base": plant.base,
            "strength": strength,
            "n": subject.n,
            "verdict": verdicts.get(name, "not-measured"),
        }
        for name in plant.seen_by
    ]


def power_table(rows: list[Row]) -> None:
    print("\nAlarms (fails among them), by the share of one class that is marked:\n")
    print("| check | planted | into | " + " | ".join(f"{100 * s:.0f} %" for s in STRENGTHS) + " |")
    print("|---|---|---|" + "---|" * len(STRENGTHS))
    for check, what in dict.fromkeys(
        (r["check"], r["what"]) for r in sorted(rows, key=lambda r: str(r["check"]))
    ):
        cases = [r for r in rows if (r["check"], r["what"]) == (check, what)]
        cells = []
        for strength in STRENGTHS:
            verdicts = Counter(r["verdict"] for r in cases if r["strength"] == strength)
            alarms = sum(verdicts[v] for v in ALARMS)
            cells.append(f"{alarms} of {verdicts.total()} ({verdicts['fail']})")
        print(
            f"| {check} | {what} | {cases[0]['base']}, {cases[0]['n']:,} | "
            + " | ".join(cells)
            + " |"
        )


FEATURES: dict[str, Callable[[str], list[float]]] = {
    "length": lambda t: [len(t), len(t.split())],
    "case": lambda t: [
        x / max(1, len(t))
        for x in (
            sum(map(str.isupper, t)),
            len(re.findall(r"\b[A-Z]{2,}\b", t)),
            len(re.findall(r"\b[A-Z][a-z]", t)),
        )
    ],
    "digits": lambda t: [sum(map(str.isdecimal, t)) / max(1, len(t))],
}
CASES = [
    (name, feature)
    for name in ("fake-br", "liar", "covid19-fake-news", "covid19-br")
    for feature in FEATURES
]


def agreement(data: Path, runs: int, rows: int) -> Iterator[list[Row]]:
    """One row per finding: ours, and the same question answered with scikit-learn and none of our
    code.
    """
    for name, feature in CASES:
        subject = sample(name, data, rows)
        check = "length" if feature == "length" else "surface"
        (ours,) = [
            f
            for f in scored(Dataset.build(name, subject.rows), (check,), 0)
            if f.feature in (None, feature)
        ]
        groups = (
            subject.rows["group"]
            .fill_null(pl.Series([f"row {i}" for i in range(subject.n)]))
            .to_list()
        )
        numbers = np.array([FEATURES[feature](text or "") for text in subject.rows["text"]])
        theirs = by_scikit_learn(numbers, subject.y, np.array(groups), runs)
        yield [
            {
                "key": f"{name} {feature}",
                "set": name,
                "feature": feature,
                "n": subject.n,
                "ours": ours.score,
                "best": (ours.score or 0) - (ours.difference or 0),
                "verdict": ours.verdict,
                **theirs,
            }
        ]


def by_scikit_learn(x: Any, y: Any, groups: Any, runs: int) -> dict[str, Any]:
    from sklearn.dummy import DummyClassifier
    from sklearn.metrics import f1_score
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    names, number = np.unique(groups, return_inverse=True)
    pairs = len(names) < len(groups)
    kind = StratifiedGroupKFold if pairs else StratifiedKFold
    # Labels are permuted within the pairs, so folds that are even for the true labels are even for
    # those too.
    folds = [list(kind(4, shuffle=True, random_state=r).split(x, y, groups)) for r in range(3)]

    def guesses(labels: Any, repeats: int, model: Any) -> list[Any]:
        return [cross_val_predict(model, x, labels, cv=f) for f in folds[:repeats]]

    def score(labels: Any, answers: list[Any], rows: Any = slice(None)) -> float:
        return float(
            np.mean(
                [f1_score(labels[rows], a[rows], average="macro", zero_division=0) for a in answers]
            )
        )

    tree = DecisionTreeClassifier(
        max_leaf_nodes=20, min_samples_leaf=5, class_weight="balanced", random_state=0
    )
    rng = np.random.default_rng(0)
    permuted = []
    for _ in range(runs):
        order = np.lexsort((rng.random(len(y)), number if pairs else rng.random(len(y))))
        labels = np.empty_like(y)
        labels[np.argsort(number, kind="stable") if pairs else np.arange(len(y))] = y[order]
        permuted.append(score(labels, guesses(labels, 3, tree)))
    answers = guesses(y, 3, tree)
    point = score(y, answers)
    majority = score(y, guesses(y, 1, DummyClassifier(strategy="most_frequent")))
    best = max(majority, 1 / len(np.unique(y)), float(np.mean(permuted)))
    members = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
    draws = [
        score(
            y,
            answers,
            np.concatenate([members[g] for g in rng.integers(len(names), size=len(names))]),
        )
        for _ in range(200)
    ]
    low, high = np.quantile(draws, [0.025, 0.975]) - best
    alarm = low > 0 and (1 + sum(p >= point for p in permuted)) / (1 + runs) <= 0.05
    verdict = (
        ("fail" if low > 0.05 else "warn") if alarm else "pass" if high < 0.05 else "inconclusive"
    )
    if runs < FEWEST:
        verdict = f"not judged: {runs} permutations, {FEWEST} are needed"
    return {"theirs": point, "theirs_best": best, "theirs_verdict": verdict}


def agreement_table(rows: list[dict[str, Any]]) -> None:
    columns = (
        "dataset",
        "feature",
        "records",
        "claimlab",
        "scikit-learn",
        "difference",
        "best baselines",
        "verdict",
    )
    print(f"\n| {' | '.join(columns)} | scikit-learn's |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        gap = f"{100 * (r['ours'] - r['theirs']):+.1f}"
        best = f"{100 * r['best']:.1f} / {100 * r['theirs_best']:.1f}"
        scores = f"{100 * r['ours']:.1f} | {100 * r['theirs']:.1f} | {gap} | {best}"
        print(
            f"| {r['set']} | {r['feature']} | {r['n']:,} | {scores} | {r['verdict']} |"
            f" {r['theirs_verdict']} |"
        )


PARTS: dict[
    str,
    tuple[Callable[[Path, int, int], Iterator[list[Row]]], Callable[[list[Row]], None], int, int],
] = {
    "alarms": (alarms, alarm_tables, 16, 600),
    "power": (power, power_table, 20, 1_000),
    "agreement": (agreement, agreement_table, 20, 3_000),
    "days": (lambda data, runs, _: days(data, SEEDS[-1], runs), show_days, 5, 0),
}


def kept(file: Path) -> list[Row]:
    """The measurements of an earlier run, which this one goes on from."""
    return (
        [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        if file.is_file()
        else []
    )


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("part", choices=PARTS)
    made.add_argument(
        "--runs", type=int, help="runs per dataset or strength; permutations for scikit-learn"
    )
    made.add_argument(
        "--rows", type=int, help="records taken of each dataset, whole groups at a time"
    )
    made.add_argument("--seed", type=int, default=0, help="draws the examples (days)")
    made.add_argument("--only", nargs="+", default=[], help="datasets (alarms)")
    made.add_argument("--checks", nargs="+", default=[], help="checks (alarms, power)")
    made.add_argument(
        "-o",
        "--output",
        type=Path,
        help="keep the measurements here, as JSON lines; go on from them",
    )
    made.add_argument(
        "--tables", nargs="+", type=Path, help="only show the tables of kept measurements"
    )
    options = begin(made)
    ONLY.extend(options.only)
    CHECKS.extend(options.checks)
    SEEDS.append(options.seed)
    work, show, runs, size = PARTS[options.part]
    if options.tables:
        show([row for file in options.tables for row in kept(file)])
        return 0
    rows = kept(options.output) if options.output else []
    DONE.update(row["key"] for row in rows)
    keep = options.output.open("a", encoding="utf-8") if options.output else None
    for more in work(options.data, options.runs or runs, options.rows or size):
        rows += more
        if keep and more:
            print("\n".join(map(json.dumps, more)), file=keep, flush=True)
    show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
