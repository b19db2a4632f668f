"""What the verbs cost on a million records: split, audit, detect, evaluate, and the pages of the
workspace.

    python bench/million.py                      all of them, in order
    python bench/million.py split keywords       some of them: split, keywords, audit, detect,
                                                 evaluate, pages
    python bench/million.py --rows 100000        smaller

The records are synthetic (bench/audit_speed.py). Every verb runs in a process of its own: processor
seconds and peak memory are its. Pages are asked for in one process, as a browser does, after the
first has been shown.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from audit_speed import synthetic
from harness import Row, apart, begin, best, parser, record

PARTS = ("split", "keywords", "audit", "detect", "evaluate", "pages")
PAGES = {
    "first page": "",
    "sorted by date": "?sort=-date",
    "sorted, next page": "?sort=-date&page=2",
    "one topic": "?topic=topic+3",
    "a word": "?q=zorvex",
    "a word that is nowhere": "?q=qqqqqq",
}


def do(part: str, place: str, rows: int) -> dict[str, Any]:
    """One verb, in a process of its own; the data as well, since a child counts its parent's memory
    as its peak.
    """
    import claimlab as cl

    folder = Path(place)
    if part == "data":
        synthetic(rows).write(folder / "data")
    elif part == "split":
        cl.split(folder / "data", "random", output=folder / "split", force=True)
    elif part == "keywords":
        cl.audit(folder / "data", checks=["keywords"], output=folder / "keywords", force=True)
    elif part == "audit":
        cl.audit(folder / "data", output=folder / "audit", force=True)
    elif part == "detect":
        cl.detect(folder / "split", output=folder / "run", force=True)
    elif part == "evaluate":
        cl.detect(folder / "split", "stratified", output=folder / "luck", force=True)
        began = time.process_time()
        cl.evaluate([folder / "run", folder / "luck"], output=folder / "report", force=True)
        return {"evaluate": time.process_time() - began}
    else:
        return pages(folder)
    return {}


def pages(folder: Path) -> dict[str, list[int]]:
    """Milliseconds of the first and the second answer."""
    from web_paging import opened

    client = opened(folder)
    entries = client.get("/api/").json()["entries"]
    place = next(
        entry["id"]
        for entry in entries
        if entry["name"] == "data" or entry["id"].startswith("data")
    )
    times: dict[str, list[int]] = {}
    for name, query in PAGES.items():
        for _ in range(2):
            cost = best(lambda query=query: client.get(f"/datasets/{place}{query}"), 1)  # type: ignore[misc]
            assert cost.result.status_code == 200, cost.result.text
            times.setdefault(f"{name}, ms", []).append(round(1000 * cost.cpu))
    return times


def main() -> None:
    made = parser(__doc__)
    made.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    made.add_argument("--rows", type=int, default=1_000_000)
    made.add_argument("--folder", type=Path, help="keep data and results here")
    options = begin(made)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if not (folder / "data").is_dir():
            apart(do, "data", folder, options.rows)
        print(
            f"| {options.rows:,} records | processor seconds | seconds by the clock | peak MB"
            " |\n|---|---|---|---|"
        )
        for part in options.parts or PARTS:
            cost = apart(do, part, folder, options.rows)
            print(f"| {part} | {cost.cpu:.1f} | {cost.wall:.0f} | {cost.memory:,.0f} |", flush=True)
            for name, figure in cost.result.items():
                print(f"  {name}: {figure}")
            record(Row("million", f"{part}, {options.rows:,} records", "", cost.cpu))


if __name__ == "__main__":
    main()
