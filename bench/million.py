"""What the verbs cost on a million records: split, audit, detect, evaluate, and the pages of the workspace.

    python bench/million.py                      all of them, in order
    python bench/million.py split keywords       some of them: split, keywords, audit, detect, evaluate, pages
    python bench/million.py --rows 100000        smaller

The records are synthetic (bench/audit_speed.py). Every verb runs in a process of its own: processor seconds and peak
memory are its. Pages are asked for in one process, as a browser does, after the first has been shown.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from audit_speed import synthetic
from harness import Row, begin, in_child, parser, record

PARTS = ("split", "keywords", "audit", "detect", "evaluate", "pages")
PAGES = {
    "first page": "", "sorted by date": "?sort=-date", "sorted, next page": "?sort=-date&page=2",
    "one topic": "?topic=topic+3", "a word": "?q=zorvex", "a word that is nowhere": "?q=qqqqqq",
}  # fmt: skip


def do(part: str, folder: Path, rows: int) -> None:
    """One verb, in a process of its own; the data as well, since a child counts its parent's memory as its peak."""
    import claimlab as cl

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
        print(json.dumps({"evaluate": time.process_time() - began}))
    else:
        pages(folder)


def pages(folder: Path) -> None:
    from starlette.testclient import TestClient

    from claimlab.web.app import create_app

    client = TestClient(create_app(folder), base_url="http://127.0.0.1:8765")
    entries = client.get("/api/").json()["entries"]
    place = next(entry["id"] for entry in entries if entry["name"] == "data" or entry["id"].startswith("data"))
    for name, query in PAGES.items():
        times = []
        for _ in range(2):
            began = time.process_time()
            answer = client.get(f"/datasets/{place}{query}")
            times.append(time.process_time() - began)
            assert answer.status_code == 200, answer.text
        print(json.dumps({name: [round(1000 * seconds) for seconds in times]}))


def main() -> None:
    made = parser(__doc__)
    made.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    made.add_argument("--rows", type=int, default=1_000_000)
    made.add_argument("--folder", type=Path, help="keep data and results here")
    made.add_argument("--do", help="internal")
    options = begin(made) if "--do" not in sys.argv else made.parse_args()
    if options.do:
        return do(options.do, options.folder, options.rows)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        itself = [sys.executable, __file__, "--folder", str(folder), "--rows", str(options.rows)]
        if not (folder / "data").is_dir():
            in_child([*itself, "--do", "data"])
        print(f"| {options.rows:,} records | processor seconds | seconds by the clock | peak MB |\n|---|---|---|---|")
        for part in options.parts or PARTS:
            cost = in_child([*itself, "--do", part])
            print(f"| {part} | {cost.cpu:.1f} | {cost.wall:.0f} | {cost.memory:,.0f} |", flush=True)
            for line in cost.result.splitlines():
                print(f"  {line}")
            record(Row("million", f"{part}, {options.rows:,} records", "", cost.cpu))
    return None


if __name__ == "__main__":
    main()
