"""How large a report is, and how long a browser takes to open it.

    python bench/report_open.py [--rows 20000] [--repeat 5]
    python bench/report_open.py --demo DIR

Audits synthetic records, writes the report, and opens its page in Chromium (Playwright) without a
network: the time until it has loaded, and until every table is laid out. There is no peer that
writes the same page; a page of the same bytes without a line of script or style is the least that
any page of that size needs. Without a browser, only the size. With `--demo`, the folder of a demo
is served instead, and the first paint of pages of the workspace is measured.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from audit_speed import synthetic
from harness import Row, begin, best, parser, record
from harness.browser import MISSING, chromium
from screenshots import served

LIMIT = 2_000_000  # bytes
LOADED = (
    "() => { const t = performance.getEntriesByType('navigation')[0]; return t.loadEventEnd -"
    " t.startTime; }"
)
APP = ("", "datasets/planted", "audits/audit", "runs/runs~tfidf")
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


def open_times(browser: Any, page: Path, repeat: int) -> float:
    """The least milliseconds until the page has loaded, by the browser's own clock."""
    times = []
    for _ in range(repeat):
        context = browser.new_context(offline=True)
        tab = context.new_page()
        tab.goto(page.as_uri(), wait_until="load")
        tab.wait_for_function(
            "() => performance.getEntriesByType('navigation')[0].loadEventEnd > 0"
        )
        times.append(float(tab.evaluate(LOADED)))
        context.close()
    return min(times)


def in_browser(page: Path, plain: Path, rows: int, repeat: int) -> None:
    what = f"report of {rows:,} records, time to open"
    with chromium() as browser:
        if browser is None:
            record(Row("report", what, "", None, note=MISSING))
            return
        ours, theirs = open_times(browser, page, repeat), open_times(browser, plain, repeat)
    record(Row("report", what, "text of the same size, no script", ours, theirs, "ms by the clock"))


def painted(demo: Path, repeat: int) -> None:
    """The first paint of pages of the workspace, in milliseconds after the answer was asked for."""
    with chromium() as browser:
        if browser is None:
            record(Row("report", "first paint", "", None, note=MISSING))
            return
        server, link = served(demo)
        try:
            context = browser.new_context()
            tab = context.new_page()
            tab.goto(link)
            tab.wait_for_selector(".card")
            address = link.partition("sign-in")[0]
            for name in APP:
                times = [paint_of(tab, address + name) for _ in range(repeat)]
                what = f"workspace, /{name}, first paint"
                record(Row("report", what, "the aim of 100 ms", min(times), 100.0, "ms"))
        finally:
            server.terminate()
            server.wait()


def paint_of(tab: Any, address: str) -> float:
    tab.goto(address, wait_until="load")
    tab.wait_for_function("() => performance.getEntriesByName('first-contentful-paint').length")
    return float(tab.evaluate(PAINTED))


def main() -> None:
    import claimlab as cl

    made = parser(__doc__)
    made.add_argument("--rows", type=int, default=20_000)
    made.add_argument("--repeat", type=int, default=5)
    made.add_argument("--demo", type=Path, help="a folder of `claimlab demo`")
    options = begin(made)
    if options.demo is not None:
        painted(options.demo, options.repeat)
        return
    with tempfile.TemporaryDirectory() as place:
        folder, data = Path(place), synthetic(options.rows)
        cost = best(lambda: cl.audit(data, output=folder / "report", force=True), 1)
        page, plain = folder / "report" / "index.html", folder / "plain.html"
        size = page.stat().st_size
        plain.write_text(
            "<!doctype html><meta charset=utf-8><p>" + "a synthetic claim " * (size // 18), "utf-8"
        )
        what = f"report of {options.rows:,} records"
        record(
            Row("report", f"{what}, size", "the limit of 2 MB", size / 1e6, LIMIT / 1e6, "MB"),
            Row("report", f"{what}, audit and writing", "", cost.cpu),
        )
        in_browser(page, plain, options.rows, options.repeat)


if __name__ == "__main__":
    main()
