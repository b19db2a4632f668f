"""Snapshots: the page's text is kept by its hash, its date and review mend the result, a refusal is
counted.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import polars as pl
import pytest

from claimlab.core import sync
from claimlab.core.dataset import Dataset
from claimlab.core.fetch.addresses import Guard
from claimlab.enrich.flow import Doors, EnrichSettings
from claimlab.enrich.run import enrich_async
from claimlab.search.evidence import Evidence
from claimlab.search.query import Query
from claimlab.search.results import Results
from claimlab.search.snapshot import PageFetcher

PAGE = (
    b'<html><head><title>Ferry</title><meta property="article:published_time" content="2021-03-04"></head>'
    b"<body><p>The night ferry of Brannock sank in 1931, and this page says a little more about it.</p></body></html>"
)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


class Two:
    """One result on the page's server, one at an address that must not be fetched; neither says its
    date.
    """

    name = "two"

    def __init__(self, port: int) -> None:
        self.urls = [f"http://page.example:{port}/a", "http://127.0.0.9/private"]

    def parameters(self) -> dict[str, Any]:
        return {}

    async def search(self, query: Query) -> Results:
        when = datetime(2022, 1, 1)
        found = [
            Evidence(None, "ferry of Brannock", url, when, self.name, query.text)
            for url in self.urls
        ]
        return Results(query=query, provider=self.name, evidence=tuple(found), retrieved=when)


def test_pages_are_kept_dated_and_refused(port: int) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"] if host == "page.example" else [host]

    guard = Guard(ports={80, port}, allowed_numbers=["127.0.0.1"], resolve=resolve)
    rows = {
        "id": ["a"],
        "text": ["The night ferry of Brannock sank in 1931"],
        "date": [datetime(2021, 3, 1)],
    }
    done = sync.run(
        enrich_async(
            Dataset.build("x", pl.DataFrame(rows)),
            Doors(Two(port), pages=PageFetcher(guard)),
            EnrichSettings(as_of="claim-date"),
        )
    )
    (page,) = done.dataset.tables["pages"].rows(named=True)
    assert "sank in 1931" in page["text"]
    assert (done.summary["pages"], done.summary["pages_refused"]) == (1, {"private-address": 1})
    # The page is of 4 March, the claim of the 1st: the date that only the page knew keeps it out.
    assert done.summary["newer_than_claim"] == 1
    assert done.dataset.tables["evidence"]["url"].to_list() == ["http://127.0.0.9/private"]
    assert done.dataset.tables["evidence"]["as_of"].to_list() == ["undated"]
