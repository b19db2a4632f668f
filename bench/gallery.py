"""Audit every dataset whose files are at hand, and write the page "What the field's datasets can
carry".

    python bench/gallery.py [--data ../shared/data] [--only NAME ...] [--limit N] [-o
    docs/gallery.md]

One folder per dataset in `build/gallery` keeps what an audit came to: verdicts, scores and
intervals, no rows and no texts. A dataset whose files, limit and version of claimlab are unchanged
is not audited again, so a stopped run goes on where it was; `--page` only writes the page of what
is there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from harness import ROOT, begin, parser, shared
from load_all import PARTS, views
from parts.gallery_page import page

import claimlab as cl
from claimlab.audit.run import default_checks
from claimlab.catalog.load import DATASETS
from claimlab.core.digest import digest_file
from claimlab.core.errors import ClaimlabError
from claimlab.core.words import several

LARGE = 500_000  # records: of larger datasets the first so many, and the page says so
SUMMARY = "summary.json"


def loaded(name: str, source: Path) -> tuple[cl.Dataset, str | None]:
    """The dataset in its default variant, or in the first one whose files are at hand; and which
    that is.
    """
    variants = list(DATASETS.get(name).variants)
    for variant in variants[:-1]:
        try:
            return cl.load(name, source, variant=variant), variant
        except ClaimlabError:
            continue
    return cl.load(name, source, variant=variants[-1]), variants[-1]


def summary(name: str, source: Path, limit: int) -> dict[str, Any]:
    """What the audit of one dataset comes to: figures only."""
    start = time.process_time()
    base = {"dataset": name, "checks": {}}
    try:
        data, variant = loaded(name, source)
        records = len(data)
        audit = cl.audit(data, limit=limit if records > limit else None)
    except ClaimlabError as error:
        return {**base, "problem": str(error)}
    checks = {}
    for check in default_checks("fair"):
        worst = audit.worst(check)
        if worst is not None:
            best = worst.baselines.best()
            checks[check] = {
                "verdict": worst.verdict,
                "feature": worst.feature,
                "score": worst.score,
                "interval": worst.interval,
                "best": best,
                "difference": worst.difference_interval,
                "p": worst.p_adjusted,
                "n": worst.n,
                "why": worst.why,
            }
    return {
        **base,
        "variant": variant,
        "records": records,
        "audited": audit.records,
        "labelled": audit.labelled,
        "counts": audit.counts(),
        "conclusion": audit.conclusion.to_json(),
        "checks": checks,
        "seconds": round(time.process_time() - start),
    }


def kept(folder: Path, key: dict[str, Any]) -> dict[str, Any] | None:
    """The summary of an earlier run of the same thing, or null."""
    file = folder / SUMMARY
    known: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return known if known.get("key") == key else None


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("--only", nargs="+", default=[], help="datasets")
    made.add_argument(
        "--limit", type=int, default=LARGE, help="records audited of a larger dataset"
    )
    made.add_argument(
        "--work", type=Path, default=ROOT / "build" / "gallery", help="where summaries are kept"
    )
    made.add_argument(
        "--page", action="store_true", help="audit nothing: write the page of what is kept"
    )
    made.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "gallery.md")
    options = begin(made)
    if not options.page:
        sources = {name: source for name, source, _, _ in views(shared(folder=options.data), None)}
        chosen = {
            name: source
            for name, source in sources.items()
            if name not in PARTS and (not options.only or name in options.only)
        }
        for name, source in sorted(chosen.items(), key=lambda item: item[1].stat().st_size):
            key = {"files": digest_file(source), "version": cl.__version__, "limit": options.limit}
            folder = options.work / name
            if kept(folder, key) is None:
                result = {"key": key, **summary(name, source, options.limit)}
                folder.mkdir(parents=True, exist_ok=True)
                (folder / SUMMARY).write_text(json.dumps(result, indent=1), "utf-8")
                print(
                    f"{name}: {result.get('problem') or result['counts']} in"
                    f" {result.get('seconds')} s",
                    flush=True,
                )
    results = [
        json.loads(file.read_text("utf-8")) for file in sorted(options.work.glob(f"*/{SUMMARY}"))
    ]
    options.output.write_text(page(results), "utf-8")
    print(f"Wrote {options.output.name}: {several(len(results), 'dataset')}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
