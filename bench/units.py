"""How often verdicts over dependent records are wrong, on planted truth.

    python bench/units.py                  # every setting; --runs 20: under a minute
    python bench/units.py --only "12 publishers"
    python bench/units.py --records        # the same, where each record is taken as a unit
    python bench/units.py --power          # how often a detector that is 10 points better is found
    python bench/units.py --deals 40       # labels dealt at random to the publishers of FANG-COVID

Records come in units (publishers, authors, events, days). Detectors know nothing of the labels, or
all know equally much, and the records of a unit share what makes them easy: a normal effect on the
logit of being right. Everything is then done as `claimlab evaluate` and `claimlab defend` do it,
and compared with the truth.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from harness import begin, parser

import claimlab as cl
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import ClaimlabError
from claimlab.core.record import to_records, to_side_table
from claimlab.core.stats.attribution import attribute
from claimlab.core.stats.scores import Flags, Floats, Ints
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.board import rank_runs
from claimlab.evaluate.chance import against_chance
from claimlab.evaluate.compare import compare
from claimlab.evaluate.defend.subgroups import search
from claimlab.evaluate.evaluation import evaluate_run
from claimlab.evaluate.every_value import pooled
from claimlab.evaluate.scored_run import ScoredRun, about_of, score
from claimlab.evaluate.units import in_one_unit
from claimlab.tasks import open_task

DRAWS = 600
SKILL = 1.1  # of detectors that know something, on the logit: right on three of four records
CLASSES = np.array(["false", "true"])
SD_OF_07 = 0.5  # of the effects of units: an intraclass correlation of .07
GAIN_OF_TEN_POINTS = 0.63  # on the logit: from 74 to 84% right, beside effects of that sd
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
COVERED = 20_000  # units over which the true accuracy of a setting is averaged


@dataclass(frozen=True)
class Setting:
    """`sizes` are the records of each unit; labels are given to whole units with `purity`."""

    name: str
    column: str | None  # that the split held out
    sizes: tuple[int, ...]
    purity: float | None  # null: labels are given to records
    correlated: float = 0.0  # of the effects of neighbouring units
    hidden: bool = False  # the split and the records do not say what the units are

    def units(self) -> Ints:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def labels(self, rng: np.random.Generator) -> Ints:
        units = self.units()
        if self.purity is None:
            return rng.integers(0, 2, len(units))
        given = rng.permutation(np.arange(len(self.sizes)) % 2)[units]
        return np.where(rng.random(len(units)) < self.purity, given, 1 - given)

    def effects(self, rng: np.random.Generator, sd: float) -> Floats:
        """One number for each record, shared by its unit."""
        fresh = rng.normal(size=len(self.sizes))
        effects = fresh.copy()
        for i in range(1, len(fresh)):
            effects[i] = self.correlated * effects[i - 1]
            effects[i] += np.sqrt(1 - self.correlated**2) * fresh[i]
        return np.asarray(sd * effects[self.units()])


def zipf(units: int, records: int) -> tuple[int, ...]:
    """Sizes that fall with the rank."""
    share = 1 / np.arange(1, units + 1)
    return tuple(np.maximum(1, np.round(records * share / share.sum())).astype(int).tolist())


SETTINGS = (
    Setting("independent", None, (1,) * 300, None),
    Setting("4 publishers", "source", (75,) * 4, 1.0),
    Setting("12 publishers", "source", (25,) * 12, 1.0),
    Setting("30 publishers", "source", (13,) * 30, 1.0),
    Setting("120 authors, Zipf", "author", zipf(120, 400), 0.9),
    Setting("25 events", "group", (20,) * 25, None),
    Setting("60 days", "date", (8,) * 60, None, 0.9),
)


def dataset_of(setting: Setting, labels: Ints) -> Dataset:
    """All records are the test part of a split that held out the column of the setting."""
    units = setting.units()
    first = datetime(2024, 1, 1)
    columns = {
        "id": [f"r{i}" for i in range(len(labels))],
        "text": [f"A statement of some words, number {i}." for i in range(len(labels))],
        "veracity": CLASSES[labels].tolist(),
        "topic": [f"topic {i % 8}" for i in range(len(labels))],
        "split": ["test"] * len(labels),
    }
    if setting.hidden:
        pass
    elif setting.column == "date":
        columns["date"] = [first + timedelta(days=int(unit)) for unit in units]
    elif setting.column is not None:
        columns[setting.column] = [f"{setting.column} {unit}" for unit in units]
    return Dataset.build("simulated", to_records(pl.DataFrame(columns)))


def split_of(setting: Setting) -> Lineage:
    """The step of the lineage that says what was held out."""
    strategies = {None: "random", "source": "source", "group": "event", "date": "time"}
    column = None if setting.hidden else setting.column
    parameters: JsonObject = {"by": strategies.get(column, "column")}
    if parameters["by"] == "column":
        parameters["column"] = setting.column
    return Lineage(step="split", parameters=parameters, seed=0)


def run_of(name: str, dataset: Dataset, setting: Setting, answers: Ints) -> ScoredRun:
    """The answers of a detector as `claimlab evaluate` reads them."""
    labels = pl.DataFrame({"record_id": dataset.records["id"], "label": CLASSES[answers]})
    predictions = to_side_table("predictions", labels)
    task = open_task("veracity", dataset.records)
    about = about_of([split_of(setting)])
    return score(name, predictions, dataset, task, split="test", about=about)


def ignorant(setting: Setting, sd: float, rng: np.random.Generator) -> Ints:
    """Answers that know nothing of the labels, and are alike within a unit."""
    effect = setting.effects(rng, sd)
    return (rng.random(len(effect)) < 1 / (1 + np.exp(-effect))).astype(np.int64)


def right(setting: Setting, sd: float, skill: float, rng: np.random.Generator) -> Flags:
    """Which records a detector of some skill gets right."""
    effect = skill + setting.effects(rng, sd)
    return np.asarray(rng.random(len(effect)) < 1 / (1 + np.exp(-effect)))


Verdict = bool | None  # null: refused


def starred(setting: Setting, sd: float, rng: np.random.Generator, seed: int) -> Verdict:
    """Is a detector that knows nothing starred?"""
    dataset = dataset_of(setting, setting.labels(rng))
    run = run_of("ignorant", dataset, setting, ignorant(setting, sd, rng))
    chance = against_chance(in_one_unit([run]), seed=seed, draws=DRAWS)
    return None if chance.p is None else chance.p < 0.05


def _two(
    setting: Setting, sd: float, rng: np.random.Generator, gain: float = 0.0
) -> list[ScoredRun]:
    labels = setting.labels(rng)
    dataset = dataset_of(setting, labels)
    runs = []
    for name, skill in (("first", SKILL + gain), ("second", SKILL)):
        hits = right(setting, sd, skill, rng)
        runs.append(run_of(name, dataset, setting, np.where(hits, labels, 1 - labels)))
    return runs


def better(setting: Setting, sd: float, rng: np.random.Generator, seed: int) -> Verdict:
    """Is one of two equal detectors called better?"""
    comparison = compare(*in_one_unit(_two(setting, sd, rng)), seed=seed, draws=DRAWS)
    if comparison.interval is None:
        return None
    low, high = comparison.interval
    return low > 0 or high < 0


def ranked(setting: Setting, sd: float, rng: np.random.Generator, seed: int) -> Verdict:
    """Is one of two equal detectors ranked above the other?"""
    boards, _ = rank_runs(in_one_unit(_two(setting, sd, rng)), seed=seed, draws=DRAWS)
    if not boards or boards[0].why is not None:
        return None
    return len(boards[0].tied) == 1


def fails_somewhere(setting: Setting, sd: float, rng: np.random.Generator, seed: int) -> Verdict:
    """Is a subgroup said to fail where none does?"""
    result = search(in_one_unit(_two(setting, sd, rng))[0], seed=seed)
    return None if result.why is not None else bool(result.found)


def knows(setting: Setting, sd: float, rng: np.random.Generator, seed: int) -> Verdict:
    """Is a detector that knows nothing said to know the label, beside a shortcut?"""
    labels = setting.labels(rng)
    dataset = dataset_of(setting, labels)
    answers = ignorant(setting, sd, rng)
    (run,) = in_one_unit([run_of("ignorant", dataset, setting, answers)])
    shortcut = ignorant(setting, sd, rng)
    shares = attribute(labels, answers, [shortcut], run.answers.cluster, 2, seed=seed, draws=DRAWS)
    return None if shares is None or shares.own[1] is None else shares.own[1][0] > 0


def held(setting: Setting, sd: float, rng: np.random.Generator, seed: int) -> Verdict:
    """Does the interval of the accuracy hold the true one?"""
    run = in_one_unit(_two(setting, sd, rng))[1]
    ends = evaluate_run(run, by=[], seed=seed, draws=DRAWS).intervals["accuracy"]
    if ends is None:
        return None
    effects = sd * np.random.default_rng(1).normal(size=COVERED)
    true = float(np.mean(1 / (1 + np.exp(-(SKILL + effects)))))
    low, high = ends
    return low <= true <= high


QUESTIONS: dict[str, Callable[[Setting, float, np.random.Generator, int], Verdict]] = {
    "star": starred,
    "better": better,
    "ranked": ranked,
    "knows the label": knows,
    "subgroup": fails_somewhere,
    "coverage": held,
}


def rates(setting: Setting, sd: float, runs: int) -> Iterator[tuple[str, str]]:
    """For each question the share of runs that say yes, and how many were refused."""
    for question, ask in QUESTIONS.items():
        rng = np.random.default_rng([len(question), len(setting.sizes), int(100 * sd)])
        verdicts = [ask(setting, sd, rng, seed) for seed in range(runs)]
        answered = [verdict for verdict in verdicts if verdict is not None]
        if not answered:
            yield question, "refused"
            continue
        refused = f" ({several(runs - len(answered), 'run')} refused)"
        share = 100 * sum(answered) / len(answered)
        yield question, f"{share:.1f}%{refused if len(answered) < runs else ''}"


def power(runs: int) -> float:
    """How often a detector that is 10 points better is found, with 30 even units of 33 records
    whose errors have an intraclass correlation of .07."""
    even = Setting("30 even units", "source", (33,) * 30, None)
    rng = np.random.default_rng(11)
    found = 0
    for seed in range(runs):
        pair = in_one_unit(_two(even, SD_OF_07, rng, GAIN_OF_TEN_POINTS))
        ends = compare(*pair, seed=seed, draws=DRAWS).interval
        found += ends is not None and ends[0] > 0
    return found / runs


def dealt(deals: int) -> Counter[str]:
    """Of the headlines of FANG-COVID with labels dealt at random to their publishers: how often
    TF-IDF is starred after a split by publisher, or refused."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with zipfile.ZipFile(DATA / "fang-covid.zip") as archive:
            archive.extractall(place / "raw")
        cl.load("fang-covid", place / "raw", output=place / "data")
        real = Dataset.open(place / "data")
        records = real.records.drop_nulls("source")
        names = records["source"].unique().sort()
        verdicts: Counter[str] = Counter()
        for seed in range(deals):
            rng = np.random.default_rng(seed)
            label = rng.permutation(np.arange(len(names)) % 2)
            words = dict(zip(names, CLASSES[label].tolist(), strict=True))
            given = records.with_columns(veracity=pl.col("source").replace_strict(words))
            try:
                parts = cl.split(Dataset.build("dealt", given), by="source", seed=seed).dataset
                run = cl.detect(parts, detector="tfidf", output=place / f"run-{seed}")
                (result,) = cl.evaluate(run, by=[], draws=DRAWS).runs
            except ClaimlabError as error:  # a part of one class
                verdicts[error.problem.split(":")[0]] += 1
                continue
            refused = result.chance.p is None
            verdicts["refused" if refused else "star" if result.chance.beaten else "no star"] += 1
        return verdicts


def every_value(runs: int, hints: float) -> Counter[str]:
    """How often a detector that is tested on all of 14 publishers, each once, has a star; a share
    `hints` of the records holds a word that tells the label."""
    found: Counter[str] = Counter()
    for seed in range(runs):
        rng = np.random.default_rng([seed, int(100 * hints)])
        false, words = rng.permutation(14) % 2 == 1, np.array([f"word{i}" for i in range(40)])
        rows = [
            {
                "id": f"{unit}-{i}",
                "text": " ".join(
                    [*rng.choice(words, 8), *rng.choice(words[unit : unit + 4], 3), f"n{unit}x{i}"]
                    + [("report", "shock")[int(false[unit])]] * int(rng.random() < hints)
                ),
                "veracity": "false" if false[unit] else "true",
                "source": f"publisher {unit}",
            }
            for unit in range(14)
            for i in range(8)
        ]
        made = cl.split(Dataset.build("all", pl.DataFrame(rows)), by="source", every=True)
        run = pooled([split.dataset for split in made.all], "tfidf", shuffles=19)
        p = cl.evaluate(run).runs[0].chance.p
        found["refused" if p is None else "starred" if p <= 0.05 else "not"] += 1
    return found


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--runs", type=int, default=200, help="of each setting and question")
    made.add_argument("--only", help="one setting")
    made.add_argument("--sd", type=float, default=1.0, help="of the effects of units")
    made.add_argument("--records", action="store_true", help="take each record as a unit")
    made.add_argument("--power", action="store_true", help="only the power")
    made.add_argument("--deals", type=int, help="only FANG-COVID, its labels dealt so often")
    made.add_argument("--every-value", action="store_true", help="only `split --all`, pooled")
    options = begin(made)
    if options.every_value:
        for hints in (0.0, 0.5):
            found = dict(every_value(options.runs, hints))
            print(f"{100 * hints:.0f}% of the records hold a hint: {found}", flush=True)
        return
    if options.power:
        print(f"a detector 10 points better is found in {100 * power(options.runs):.1f}%")
        return
    if options.deals:
        print(dict(dealt(options.deals)))
        return
    for setting in SETTINGS:
        if options.only in (None, setting.name):
            tried = replace(setting, hidden=options.records)
            cells = dict(rates(tried, options.sd, options.runs))
            print(setting.name, cells, flush=True)


if __name__ == "__main__":
    main()
