"""Shortcuts that well-known datasets hold, as the fair protocol measures them.

    python bench/shortcuts.py [--data ../shared/data]

Prints a Markdown table: dataset, the feature alone, its macro-F1 with interval, the floor it must
clear, the verdict.
"""

from __future__ import annotations

import sys

from harness import begin, parser, shared

from claimlab.audit.run import audit
from claimlab.catalog.load import load

# dataset, variant, check, feature (null: the check has one), least score in per cent
CASES: list[tuple[str, str | None, str, str | None, float]] = [
    ("isot", "titles", "surface", "case", 95),
    ("fakeddit", None, "source", None, 99),
    ("twitter15", None, "event", None, 90),
    ("covid19-fake-news", None, "length", None, 70),
]


def main() -> int:
    made = parser(__doc__, data=True)
    options = begin(made)
    reached = True
    print(
        "| dataset | feature alone | macro-F1 (95 % interval) | at least | verdict"
        " |\n|---|---|---|---|---|"
    )
    for name, variant, check, feature, least in CASES:
        result = audit(
            load(name, shared(f"{name}.zip", options.data), variant=variant),
            checks=[check],
            debug=True,
        )
        found = next(f for f in result.findings if feature in (None, f.feature))
        if found.score is None or found.interval is None:
            print(f"| {name} | {check} | not measured: {found.why} | {least} | {found.verdict} |")
            reached = False
            continue
        low, high = (100 * x for x in found.interval)
        reached &= 100 * found.score > least
        label = found.feature or check
        print(
            f"| {name} | {label} | {100 * found.score:.1f} ({low:.1f} to {high:.1f}) | {least} |"
            f" {found.verdict} |"
        )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
