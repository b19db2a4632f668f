"""Audit every dataset whose files are at hand, and write the site and the page "What the field's
datasets can carry".

    python bench/gallery.py [--data ../shared/data] [--only NAME ...] [--limit N] [--also DIR ...]
    [--site build/gallery-site] [-o docs/gallery.md]

One folder per dataset in `build/gallery` keeps what an audit came to: verdicts, scores and
intervals, no rows and no texts. A dataset whose files, limit and version of claimlab are unchanged
is not audited again, so a stopped run goes on where it was; `--page` only writes what is there.
`--also` puts folders of overlaps, boards and studies on the site.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from harness import ROOT, begin, parser, shared
from load_all import PARTS, views
from parts.gallery_page import Row, page

import claimlab as cl
from claimlab.audit.result import FILE, read_audits
from claimlab.catalog.load import DATASETS
from claimlab.core.digest import digest_file
from claimlab.core.errors import ClaimlabError
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.publish.aggregates import aggregate

LARGE = 500_000  # records: of larger datasets the first so many, and the page says so
NOTE = "note.json"


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


def audit_into(folder: Path, name: str, source: Path, limit: int) -> JsonObject:
    """Keep what the audit of one dataset comes to in `folder`, figures only; returns a note."""
    start = time.process_time()
    try:
        data, variant = loaded(name, source)
        records = len(data)
        audit = aggregate(cl.audit(data, limit=limit if records > limit else None))
    except ClaimlabError as error:
        (folder / FILE).unlink(missing_ok=True)
        return {"problem": str(error)}
    text = json.dumps({"audits": [audit.to_json()]}, ensure_ascii=False, indent=1)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")
    seconds = round(time.process_time() - start)
    return {"variant": variant, "records": records, "counts": audit.counts(), "seconds": seconds}


def kept(folder: Path) -> JsonObject:
    """The note on an earlier run, or nothing."""
    file = folder / NOTE
    note: JsonObject = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return note


def row_of(folder: Path) -> Row:
    note, has_audit = kept(folder), (folder / FILE).is_file()
    audit = read_audits(folder)[0] if has_audit else None
    return Row(folder.name, note.get("records"), audit, note.get("problem"))


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
    made.add_argument("--also", type=Path, nargs="+", default=[], help="more for the site")
    made.add_argument("--site", type=Path, default=ROOT / "build" / "gallery-site")
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
            if kept(folder).get("key") != key:
                folder.mkdir(parents=True, exist_ok=True)
                note = {"key": key, **audit_into(folder, name, source, options.limit)}
                (folder / NOTE).write_text(json.dumps(note, indent=1), "utf-8")
                result = note.get("problem") or note["counts"]
                print(f"{name}: {result} in {note.get('seconds')} s", flush=True)
    rows = [row_of(file.parent) for file in sorted(options.work.glob(f"*/{NOTE}"))]
    site = cl.publish_site([options.work, *options.also], options.site, force=True)
    options.output.write_text(page(rows), "utf-8")
    print(
        f"Wrote {options.site.name} ({site.headline()}) and {options.output.name}:"
        f" {several(len(rows), 'dataset')}."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
