"""The trace viewer: hostile text stays text, the page is bounded and says what it leaves out, the
same seed draws it so.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.pages.blocks import Figure, walk
from claimlab.pages.html import to_html
from claimlab_simulate.evolve.drift import viewer
from claimlab_simulate.evolve.drift.measure import measure
from claimlab_simulate.evolve.drift.page import report
from claimlab_simulate.evolve.drift.viewer import place, society_of

Make = Callable[..., Dataset]
SECONDS_LATE = 0.5
# How far what is seen has moved since the page was opened.
SHIFTS = """() => new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; })
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 100);
})"""
HOSTILE = '</script><script>alert(1)</script><!-- <b onclick="x()">'


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    assert found is not None
    data: dict[str, Any] = json.loads(found.group(1))
    return data


def hops_of(data: Dataset) -> pl.DataFrame:
    return measure([data]).hops


def test_hostile_text_cannot_leave_its_place(looms: Make) -> None:
    hops = hops_of(looms()).with_columns(
        pl.lit(HOSTILE).alias("output"),
        pl.lit(HOSTILE).alias("reason"),
        pl.lit(HOSTILE).alias("agent"),
    )
    page = viewer.to_page(hops)
    assert page.count("<script") == page.count("</script>") == 2  # the data and our own code
    assert "<!--" not in page
    assert data_of(page)["traces"][0]["hops"][0]["text"] == HOSTILE  # nothing is lost either
    assert "innerHTML" not in page
    assert "needs JavaScript" in page


def test_votes_reasons_and_the_way(looms: Make) -> None:
    made = looms()
    society = society_of(made)
    assert society is not None
    shown = data_of(viewer.to_page(hops_of(made), {"looms": society}))
    last = shown["traces"][0]["hops"][2]
    assert [v["passed"] for v in last["votes"]] == [True] * 3
    assert last["reason"] == "It fits."
    assert last["drift"] > 0
    assert shown["worlds"][0]["agents"][last["at"]][0] == "a0"
    assert {frozenset(shown["worlds"][0]["agents"][i][0] for i in tie) for tie in shown["worlds"][0]["ties"]} == {
        frozenset({"a0", "a1"}), frozenset({"a1", "a2"}),
    }  # fmt: skip
    assert shown["groups"] == ["North", "South"]
    assert "verdict" not in last  # null is left out, never an empty word


def test_every_run_has_its_own_network(looms: Make) -> None:
    runs = [looms(2, name="one"), looms(2, name="two")]
    society = society_of(runs[0])
    assert society is not None
    shown = data_of(viewer.to_page(measure(runs).hops, {"one": society}))
    assert [t["world"] for t in shown["traces"]] == [0, 0, 1, 1]
    assert [len(w["ties"]) for w in shown["worlds"]] == [
        2,
        2,
    ]  # the network's, and the two hops that were walked


def test_the_page_is_bounded_and_says_so(looms: Make) -> None:
    hops = hops_of(looms(50))
    page = viewer.to_page(hops, most=10)
    shown = data_of(page)
    assert len(shown["traces"]) == 10
    assert shown["note"].startswith("10 of 50 traces")
    assert "Where no network was given" in shown["note"]
    long = hops.with_columns(pl.lit("word " * 5_000).alias("output"))
    assert (
        max(len(h["text"]) for t in data_of(viewer.to_page(long))["traces"] for h in t["hops"])
        <= viewer.TEXT
    )
    assert page == viewer.to_page(hops, most=10)
    assert page != viewer.to_page(hops, most=10, seed=1)


def test_half_of_the_traces_are_the_longest(looms: Make) -> None:
    hops = hops_of(looms(20)).filter((pl.col("hop") == 1) | (pl.col("trace_id") == "t7"))
    hops = hops.with_columns(pl.len().over("trace_id").cast(pl.Int32).alias("hops"))
    assert "t7" in viewer.choose(hops, 2, seed=0)["trace_id"].to_list()


def test_a_layout_draws_tied_agents_together() -> None:
    ring = [(i, i + 1) for i in range(9)] + [(i, i + 1) for i in range(10, 19)]
    at = place(20, ring, seed=3)
    assert at.min() >= 0
    assert at.max() <= 1
    tied = np.mean([np.linalg.norm(at[a] - at[b]) for a, b in ring])
    apart = np.mean([np.linalg.norm(at[a] - at[b]) for a in range(10) for b in range(10, 20)])
    assert tied < 0.6 * apart
    assert np.array_equal(at, place(20, ring, seed=3))
    assert place(0, []).shape == (0, 2)
    assert place(1, []).shape == (1, 2)


def test_the_report_has_the_figures_and_escapes(looms: Make) -> None:
    made = looms(30, verdict="Half True")
    made.records = made.records.with_columns(pl.lit(HOSTILE).alias("topic"))
    page = report(measure([made, looms(30, kind="clustered", name="other")]))
    names = {b.name for b in walk(page.blocks) if isinstance(b, Figure)}
    assert {
        "trajectories-by-topic",
        "dimensions-by-topic",
        "steps",
        "influence",
        "together",
        "verdicts-by-topology",
    } <= names
    html = to_html(page)
    assert "<script>alert" not in html
    assert "drift-lite" in html
    assert "not FUSE-EVAL" in html
    assert "weak" in html


@pytest.mark.slow
def test_nothing_jumps_where_the_data_arrives_late(looms: Make, browser: Any) -> None:
    """A browser paints what it has: here all above the data, and the rest half a second later."""
    page = viewer.to_page(hops_of(looms()))
    start, late = page.split('<script id="data"')
    server = ThreadingHTTPServer(("127.0.0.1", 0), in_two_parts(start, f'<script id="data"{late}'))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        opened = browser.new_page(viewport={"width": 390, "height": 900})
        opened.goto(f"http://127.0.0.1:{server.server_port}/")
        assert opened.locator("#title").inner_text() == "Hop 1 of 3"
        assert opened.evaluate(SHIFTS) < 0.01
        opened.close()
    finally:
        server.shutdown()
        server.server_close()


def in_two_parts(first: str, second: str) -> type[BaseHTTPRequestHandler]:
    class TwoParts(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(first.encode())
            time.sleep(SECONDS_LATE)
            self.wfile.write(second.encode())

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    return TwoParts
