"""Published temporal and keyword figures against ours, and what a fair protocol says of the same data.

    python bench/reproduce_cdl.py [--data ../shared/data] [--no-fair]

Prints one table (Markdown) per check: the published macro-F1, ours under protocol `cdl`, the difference, the tolerance,
and the `fair` score with its interval, best baseline and verdict.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from claimlab.audit.check import ProtocolName
from claimlab.audit.result import Audit
from claimlab.audit.run import audit
from claimlab.catalog.load import load


@dataclass(frozen=True)
class Case:
    dataset: str
    published: float
    tolerance: float
    variant: str | None = None
    labels: str = "cdl"
    target: str = "veracity"
    feature: str | None = None


TEMPORAL = [
    Case("twitter15", 85.6, 0.3, feature="tweet id, first three digits"),
    Case("wico", 40.7, 0.3, feature="tweet id, first three digits"),
    Case("antivax", 46.8, 0.3, feature="tweet id, first three digits"),
    Case("cmu-miscov19", 45.6, 0.3, labels="cdl-time", feature="tweet id, first three digits"),
    Case("covid-19-disinformation", 46.5, 0.3, variant="all-files", feature="tweet id, first three digits"),
    Case("coaid", 48.3, 0.3, variant="engagements", feature="date"),
]
KEYWORDS = [
    Case("covid-fact", 40.6, 2.0),
    Case("coaid", 60.9, 2.0, variant="engagements"),
    Case("fibvid", 53.3, 2.0, variant="join"),
    Case("liar", 39.5, 2.0),
    Case("liar", 22.9, 2.0, target="veracity-mixed"),
    Case("feverous", 37.4, 2.0),
    Case("verite", 39.9, 2.0),
    Case("climate-fever", 44.9, 3.5),
    Case("climate-fever", 26.7, 3.5, target="veracity-mixed"),
    Case("hover", 38.1, 3.5),
]


def run(case: Case, check: str, protocol: ProtocolName, data: Path) -> Audit:
    loaded = load(case.dataset, data / f"{case.dataset}.zip", variant=case.variant, labels=case.labels)
    return audit(loaded, checks=[check], protocol=protocol, target=case.target, debug=True)


def row(case: Case, check: str, data: Path, fair: bool) -> tuple[str, bool]:
    ours = next(f for f in run(case, check, "cdl", data).findings if case.feature in (None, f.feature))
    assert ours.score is not None
    score = 100 * ours.score
    good = abs(score - case.published) <= case.tolerance
    view = " ".join(filter(None, [case.variant, "T-F-M" if case.target.endswith("mixed") else None, case.labels]))
    cells = [
        case.dataset,
        view,
        f"{case.published:.1f}",
        f"{score:.1f}",
        f"{score - case.published:+.1f}",
        f"{case.tolerance}",
    ]
    cells.append("yes" if good else "NO")
    if fair:
        honest = next(f for f in run(case, check, "fair", data).findings if case.feature in (None, f.feature))
        if honest.score is None or honest.interval is None:
            cells += ["not measured", honest.why, ""]
        else:
            low, high = honest.interval
            best = honest.baselines.best() or 0
            cells += [
                f"{100 * honest.score:.1f} ({100 * low:.1f} to {100 * high:.1f})",
                f"{100 * best:.1f}",
                honest.verdict,
            ]
    return "| " + " | ".join(cells) + " |", good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--no-fair", action="store_true", help="only the published protocol")
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"The real datasets are not at {options.data}: nothing to compare.")
        return 0
    everything = True
    for title, check, cases in (("Temporal", "time", TEMPORAL), ("Keywords", "keywords", KEYWORDS)):
        head = ["dataset", "view", "published", "cdl", "difference", "allowed", "within"]
        head += [] if options.no_fair else ["fair (95 % interval)", "best baseline", "fair verdict"]
        print(f"\n### {title}\n\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
        for case in cases:
            line, good = row(case, check, options.data, not options.no_fair)
            everything &= good
            print(line, flush=True)
    return 0 if everything else 1


if __name__ == "__main__":
    sys.exit(main())
