"""How often the shares of a shortcut and of own signal are within their intervals, on planted
mixtures.

    python bench/defend_truth.py            # some minutes; --quick: half a minute

Test sets have the labels and groups of real ones (see compare_truth.py), drawn anew in every draw.
Shortcuts of known accuracy answer them, and a detector repeats them, knows the label, or guesses,
each with a known share.
"""

from __future__ import annotations

import json

import numpy as np
from compare_truth import TestSet, again, made, structures
from harness import begin, parser

from claimlab.core.stats.attribution import attribute

# the shares of one or two shortcuts, and of own signal; the rest are guesses
MIXTURES = (([0.3], 0.4), ([0.9], 0.0), ([0.1], 0.8), ([0.2, 0.3], 0.3))
RIGHT = (0.75, 0.65)  # accuracy of the shortcuts


def holds(known: TestSet, copies: list[float], own: float, draw: int) -> list[bool]:
    """Whether each interval holds its planted share."""
    rng = np.random.default_rng([draw, len(copies), int(100 * own)])
    drawn = again(known, rng)
    truth, n = drawn.labels, len(drawn.labels)
    shortcuts = [
        np.where(rng.random(n) < right, truth, 1 - truth) for right in RIGHT[: len(copies)]
    ]
    part = rng.choice(len(copies) + 2, size=n, p=[*copies, own, 1 - sum(copies) - own])
    answers = np.stack([*shortcuts, truth, rng.integers(2, size=n)])[part, np.arange(n)]
    one = attribute(truth, answers, shortcuts, drawn.groups, 2, seed=draw, draws=600)
    if one is None:
        return []
    planted = zip([*copies, own], [*one.shortcuts, one.own], strict=True)
    return [ends is not None and ends[0] <= share <= ends[1] for share, (_, ends) in planted]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--draws", type=int, default=400)
    options.add_argument("--structures", help="JSON instead of the datasets at hand")
    chosen = begin(options)
    sets = json.loads(chosen.structures) if chosen.structures else structures()
    print("| test set | repeats, own signal | intervals | hold |\n|---|---|---:|---:|")
    for name, kinds in sets.items():
        for copies, own in MIXTURES:
            draws = range(40 if chosen.quick else chosen.draws)
            held = [hit for draw in draws for hit in holds(made(kinds), copies, own, draw)]
            words = f"{' + '.join(map(str, copies))}, {own}"
            print(f"| {name} | {words} | {len(held):,} | {100 * np.mean(held):.1f} % |", flush=True)


if __name__ == "__main__":
    main()
