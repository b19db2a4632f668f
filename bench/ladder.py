"""Does the verdict say what an expert says? The rung of each dataset, written down beforehand,
beside the one that an audit prints.

    python bench/ladder.py                   # all; the real ones from ../shared/data
    python bench/ladder.py --only "random labels"

`EXPERT` was written before the code that decides could be run: it is what a reader of each
dataset's paper and files would say it can carry. Real datasets are read where they are, and skipped
with a word where they are not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import polars as pl
from harness import DATA, begin, parser

import claimlab as cl
from claimlab.audit.ladder import Rung
from claimlab.audit.trial import enough_left
from claimlab.core.dataset import Dataset
from claimlab.core.demo import clean_twin, planted

# Rung by dataset: 1 cannot be scored, 2 the label is a column, 3 usable on one split only, 4 usable
# beside a property, 5 usable after cleaning, 6 usable.
EXPERT = {
    "isot": 2,  # subjects and files hold one class each: the label is where it was collected
    "liar": 3,  # by speaker
    "fang-covid": 2,  # 13 publishers, none with both classes
    "twitter15": 3,  # by time
    "covid-fact": 3,  # by pair: a claim and its altered twin stay together
    "fake-br": 4,  # beside length, whatever is masked
    "celebrity-amt": 3,  # by corpus
    "demo, planted": 4,  # sources, length and dates each give the label away
    "demo, clean twin": 6,
    "random labels": 6,  # no signal found
    "label = 24 publishers": 2,
    "label = year": 2,
    "copies of one class, and 40 words": 4,
    "20 records of a class": 1,
    "a tenth are copies of one class": 5,
}

REAL = ("isot", "liar", "fang-covid", "twitter15", "covid-fact", "fake-br", "celebrity-amt")
UNLISTED = ("celebrity-amt",)  # the catalogue does not have it
MOST = 15_000  # records, drawn at random
WORDS = (
    *("bridge", "river", "school", "harbour", "market", "library", "orchard", "mill", "tower"),
    *("garden", "window", "lantern", "copper", "meadow", "station", "council", "ferry", "museum"),
)
HINTS = {"true": ("report", "minister", "budget"), "false": ("shock", "secret", "cure")}


def claims(n: int, seed: int = 5, *, hints: float = 0.0) -> pl.DataFrame:
    """Claims with random labels; a share `hints` of them holds a word that tells the label."""
    chance = random.Random(seed)
    rows = []
    for i in range(n):
        label = "true" if i % 2 else "false"
        words = [*chance.choices(WORDS, k=chance.randint(6, 18)), str(chance.randint(1, 10**6))]
        if chance.random() < hints:
            words.insert(chance.randrange(len(words)), chance.choice(HINTS[label]))
        rows.append({"text": " ".join(words), "verdict": label})
    chance.shuffle(rows)
    return pl.DataFrame(rows)


def by_publisher(seed: int = 6) -> pl.DataFrame:
    """Twenty-four publishers, each of one class."""
    chance, table = random.Random(seed), claims(900, seed)
    names = [f"p{chance.randrange(12) + 12 * (label == 'true')}" for label in table["verdict"]]
    return table.with_columns(source=pl.Series(names))


def by_year(seed: int = 7) -> pl.DataFrame:
    """One class of one year, the other of the next."""
    chance, table = random.Random(seed), claims(900, seed)
    days = [
        date(2019 + (label == "true"), 1, 1) + timedelta(days=chance.randrange(364))
        for label in table["verdict"]
    ]
    return table.with_columns(date=pl.Series(days).cast(pl.String))


def copied(share: float, seed: int = 8, *, hints: float = 0.0) -> pl.DataFrame:
    """Claims of which true ones occur several times, until copies are `share` of the records."""
    chance, table = random.Random(seed), claims(800, seed, hints=hints)
    true = table.filter(verdict="true")
    rows = [chance.randrange(true.height // 2) for _ in range(int(800 * share / (1 - share)))]
    return pl.concat([table, true[rows]]).sample(fraction=1.0, shuffle=True, seed=seed)


def rare(seed: int = 9) -> pl.DataFrame:
    table = claims(600, seed)
    return pl.concat([table.filter(verdict="false"), table.filter(verdict="true").head(20)])


MADE: dict[str, Callable[[], pl.DataFrame | Dataset]] = {
    "demo, planted": lambda: planted()[0],
    "demo, clean twin": clean_twin,
    "random labels": lambda: claims(800),
    "label = 24 publishers": by_publisher,
    "label = year": by_year,
    "copies of one class, and 40 words": lambda: copied(0.4, hints=0.9),
    "20 records of a class": rare,
    "a tenth are copies of one class": lambda: copied(0.12),
}


def judged(dataset: Dataset) -> Rung:
    """The verdict of `claimlab check`, on a dataset that was loaded."""
    drawn = dataset.sampled(MOST, 0)
    cleaned = cl.clean(drawn).dataset
    return cl.audit(cleaned if enough_left(drawn, cleaned) else drawn).conclusion.verdict


def datasets(only: str | None, place: Path) -> Iterator[tuple[str, Dataset]]:
    for name in EXPERT:
        if only is not None and only not in name:
            continue
        file = place / f"{name}.zip"
        if name in MADE:
            made = MADE[name]()
            yield name, made if isinstance(made, Dataset) else cl.import_files(made)[0]
        elif file.exists():
            yield name, cl.import_files(file)[0] if name in UNLISTED else cl.load(name, file)
        else:
            print(f"{name}: not measured, there is no {file}")


def main() -> None:
    options = parser(__doc__, data=True)
    options.add_argument("--only", help="only datasets whose name has these words")
    chosen = begin(options)
    agreed = total = 0
    for name, dataset in datasets(chosen.only, chosen.data or DATA):
        start = time.perf_counter()
        rung = judged(dataset)
        took = time.perf_counter() - start
        total += 1
        agreed += rung.number == EXPERT[name]
        mark = "agrees" if rung.number == EXPERT[name] else f"EXPERT SAYS {EXPERT[name]}"
        print(f"{name}: {rung.number}, {mark} ({took:.0f} s)\n    {rung.sentence}", flush=True)
    print(f"{agreed} of {total} agree with the expert")


if __name__ == "__main__":
    main()
