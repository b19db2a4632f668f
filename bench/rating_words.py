"""How much of what fact-checkers write the general label map knows, and a sheet for a reader who
checks what it says.

    python bench/rating_words.py
    python bench/rating_words.py --draw 60 --seed 1 --sheet sheet.csv
    python bench/rating_words.py --read sheet.csv

The first counts the words of tests/core/rating_words.toml and lists those that stay unknown.
The second draws words of the map at random, the same number of every language where there are
enough, without what the map says of them. Somebody who did not write the map fills in the
column `reading` (true, false, mixed, unknown, or ? for a word that they cannot read); the third
compares, with an interval, and lists every difference.
"""

from __future__ import annotations

import csv
import random
import tomllib
from importlib import resources
from pathlib import Path

from harness import ROOT, begin, parser

from claimlab.core.labels import general
from claimlab.core.record import VERACITIES
from claimlab.core.stats.interval import wilson

WORDS = ROOT / "tests" / "core" / "rating_words.toml"
COLUMNS = ("language", "rating", "reading")


def coverage() -> None:
    """Known of each list, and what is not."""
    lists = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    guide = [word for words in lists["guide"].values() for word in words]
    agree = sum(general().verdict(w) == v for v, words in lists["guide"].items() for w in words)
    print(f"{'list':12} {'words':>6} {'known':>6}  unknown")
    show("guide", guide)
    for language, listed in lists["claimreview"].items():
        show(language, listed["ratings"])
    print(f"guide: {agree} of {len(guide)} under the guide's own class")


def show(name: str, words: list[str]) -> None:
    unknown = [word for word in words if general().verdict(word) is None]
    print(f"{name:12} {len(words):6} {len(words) - len(unknown):6}  {'; '.join(unknown)}")


def drawn(number: int, seed: int) -> list[tuple[str, str]]:
    """`number` words of the map with their language: one of each language in turn, at random."""
    text = (resources.files("claimlab.core") / "data" / "labels_ratings.toml").read_text("utf-8")
    rng = random.Random(seed)
    bags = {
        language: [word for words in table.values() for word in words]
        for language, table in tomllib.loads(text)["verdicts"].items()
    }
    for words in bags.values():
        rng.shuffle(words)
    order = rng.sample(sorted(bags), len(bags))
    sheet: list[tuple[str, str]] = []
    while len(sheet) < number and any(bags.values()):
        sheet += [(language, bags[language].pop()) for language in order if bags[language]]
    return sheet[:number]


def compared(sheet: Path) -> None:
    """How often the reader and the map agree, and where they do not."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["reading"].strip() in VERACITIES]
    apart = [row for row in rows if general().verdict(row["rating"]) != row["reading"].strip()]
    ends = wilson(len(rows) - len(apart), len(rows))
    interval = f" (95% interval {100 * ends[0]:.0f} to {100 * ends[1]:.0f})" if ends else ""
    print(f"{len(rows) - len(apart)} of {len(rows)} read alike{interval}")
    for row in apart:
        ours = general().verdict(row["rating"])
        print(f"{row['language']}: {row['rating']!r} is {ours} in the map, {row['reading']} read")


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--draw", type=int, metavar="N", help="how many words to draw")
    made.add_argument("--seed", type=int, default=0, help="of the draw")
    made.add_argument("--sheet", type=Path, metavar="FILE", help="where the drawn words go")
    made.add_argument("--read", type=Path, metavar="FILE", help="a sheet that somebody filled in")
    options = begin(made)
    if options.read is not None:
        compared(options.read)
    elif options.draw:
        rows = [(*word, "") for word in drawn(options.draw, options.seed)]
        target = options.sheet or Path("sheet.csv")
        with target.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *rows])
        print(f"{len(rows)} words in {target}")
    else:
        coverage()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
