"""The null rewriter: what a hop of the released traces does to the words of a text, from which its
rates are taken, and whether its logs are exact.

    python bench/evolve_null.py rates [ARCHIVE]
    python bench/evolve_null.py logs [ARCHIVE] [--hops 10000]

ARCHIVE is the released evolved-claims archive (default: in ../shared/data). `rates` compares each
hop that changed the text word by word with what it was given: words that went, words that others
took the place of, words that came, the share of numbers that are gone, and of names and dates of
several words that lost the first and kept the last. The defaults in
simulate/src/claimlab_simulate/evolve/rewrite/data/weights.toml are those of all hops, rounded; of
the words that came the null rewriter takes no more than it drops. `logs` walks the released seeds
by word noise, applies the log of every hop to its parent, and counts where the child does not come
out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import begin, parser
from parts.evolved import show

from claimlab.catalog.load import load
from claimlab.text.changes import applied, is_number, is_word, pieces
from claimlab_simulate.evolve.drift.hops import read_hops
from claimlab_simulate.evolve.rewrite.known.null import Edits, Null, compounds
from claimlab_simulate.evolve.rewrite.weights import Weights
from claimlab_simulate.evolve.rewriter import Request

STEPS = {"all": (1, 99), "first rewrite": (1, 1), "second": (2, 2), "later": (3, 99)}
WALK = 30  # hops from a seed


def counted(before: str, after: str) -> tuple[int, ...]:
    """Words, those that went, were exchanged and came; numbers, and those that went; names and
    dates of several words, and those that lost the first.
    """
    parts, edits = pieces(before), Edits.observed(before, after)
    new = {piece.strip().lower() for piece in pieces(after)}
    names = [before[one.start : one.end].lower().split() for one in compounds(before, "eng")]
    blurred = sum(name[-1] in new and name[0] not in new for name in names)
    words, numbers = (sum(map(of, parts)) for of in (is_word, is_number))
    changed = (edits.drop, edits.exchange, edits.take)
    return (words, *changed, numbers, edits.numbers, len(names), blurred)


def rates(archive: str) -> Iterator[str]:
    hops = read_hops([load("evolved-claims", archive, variant="traces")]).sort("trace_id", "hop")
    rewrites: dict[str, int] = {}
    rows = []
    for trace, before, after in hops.select("trace_id", "input", "output").iter_rows():
        if after and before != after:
            rewrites[trace] = rewrites.get(trace, 0) + 1
            rows.append((rewrites[trace], *counted(before, after)))
    table = np.array(rows)
    yield "| hops | number | words dropped | exchanged | added | numbers lost | names blurred |"
    yield "|---|---|---|---|---|---|---|"
    for name, (low, high) in STEPS.items():
        inside = (table[:, 0] >= low) & (table[:, 0] <= high)
        part = table[inside].sum(axis=0)
        shares = [*part[2:5] / part[1], part[6] / part[5], part[8] / part[7]]
        yield (
            f"| {name} | {inside.sum():,} | "
            + " | ".join(f"{share:.3f}" for share in shares)
            + " |"
        )
    yield ""
    yield f"Turns that rewrote: {(hops['role'] == 'producer').mean():.2f}."


def logs(archive: str, hops: int) -> Iterator[str]:
    seeds = load("evolved-claims", archive, variant="seed240").records["text"].to_list()
    null = Null(Weights.read().null, {"eng": seeds})
    wrong = changed = 0
    text = ""
    for number in range(hops):
        text = text if number % WALK else seeds[number // WALK % len(seeds)]
        turn = null.turn(Request(text, {}, number, language="eng"))
        wrong += applied(text, list(turn.operators)) != turn.text
        changed += turn.text != text
        text = turn.text
    yield f"{hops:,} hops, {changed:,} of which changed the text: {wrong} logs that are not exact."


def main() -> None:
    made = parser(__doc__)
    jobs = made.add_subparsers(dest="job", required=True)
    for name in ("rates", "logs"):
        jobs.add_parser(name).add_argument("archive", nargs="?")
    jobs.choices["logs"].add_argument("--hops", type=int, default=10_000)
    show(begin(made), {"rates": rates, "logs": logs})


if __name__ == "__main__":
    main()
