"""The rates of the null rewriter: what a hop of the released traces does to the words of a text.

    python bench/evolve_null.py [ARCHIVE]

ARCHIVE is the released evolved-claims archive (default: in ../shared/data). Each hop that changed
the text is compared word by word with what it was given (difflib): words that went, words that
others took the place of, words that came, and the share of numbers that are gone. The defaults in
src/claimlab/evolve/rewrite/data/weights.toml are those of all hops, rounded; of the words that came
the null rewriter takes no more than it drops.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

import numpy as np
from harness import begin, parser
from parts.evolved import show

from claimlab.catalog.load import load
from claimlab.evolve.drift.hops import read_hops
from claimlab.evolve.rewrite.known.null import is_number, pieces

STEPS = {"all": (1, 99), "first rewrite": (1, 1), "second": (2, 2), "later": (3, 99)}


def counted(before: str, after: str) -> tuple[int, int, int, int, int, int]:
    """Pieces, those that went, were replaced and came; numbers, and those that went."""
    old, new = ([piece.strip().lower() for piece in pieces(text)] for text in (before, after))
    gone = replaced = come = 0
    for _, start, end, first, last in SequenceMatcher(None, old, new, False).get_opcodes():
        if old[start:end] != new[first:last]:
            both = min(end - start, last - first)
            gone, replaced = gone + end - start - both, replaced + both
            come += last - first - both
    numbers = [piece for piece in old if is_number(piece)]
    return len(old), gone, replaced, come, len(numbers), sum(n not in new for n in numbers)


def rates(archive: str) -> Iterator[str]:
    hops = read_hops([load("evolved-claims", archive, variant="traces")]).sort("trace_id", "hop")
    rewrites: dict[str, int] = {}
    rows = []
    for trace, before, after in hops.select("trace_id", "input", "output").iter_rows():
        if after and before != after:
            rewrites[trace] = rewrites.get(trace, 0) + 1
            rows.append((rewrites[trace], *counted(before, after)))
    table = np.array(rows)
    yield "| hops | number | words dropped | exchanged | added | numbers lost |"
    yield "|---|---|---|---|---|---|"
    for name, (low, high) in STEPS.items():
        part = table[(table[:, 0] >= low) & (table[:, 0] <= high)].sum(axis=0)
        size = int(((table[:, 0] >= low) & (table[:, 0] <= high)).sum())
        shares = [part[i] / part[1] for i in (2, 3, 4)] + [part[6] / part[5]]
        yield f"| {name} | {size:,} | " + " | ".join(f"{share:.3f}" for share in shares) + " |"
    yield ""
    yield f"Turns that rewrote: {(hops['role'] == 'producer').mean():.2f}."


def main() -> None:
    made = parser(__doc__)
    made.add_argument("archive", nargs="?")
    made.set_defaults(job="rates")
    show(begin(made), {"rates": rates})


if __name__ == "__main__":
    main()
