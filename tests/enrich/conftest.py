"""Made-up records, fact-checks and pages, a local index over them, and real servers on loopback
that count.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.search import terms

LONG = (
    "Listen everybody! You will not believe what happened. I was so angry when my neighbour told me. "
    "The harbour council of Velmore sold 412 wooden benches to visitors. Please share this with all your friends now."
)
RECORDS = [
    {"id": "same", "text": "The water board of Marisett stored 90 barrels of rainwater underground.", "veracity": "false",
     "date": datetime(2021, 6, 1), "url": "https://gazette.example/marisett"},
    {"id": "deep", "text": LONG, "veracity": "false", "date": datetime(2021, 6, 1)},
    {"id": "other", "text": "A quarry near Ostrel shipped granite to the moon.", "veracity": "true", "date": datetime(2021, 6, 1)},
    {"id": "none", "text": "Zyx qqq wvv.", "veracity": "true", "date": None},
    {"id": "link", "text": "https://pictures.example/1 🙂", "veracity": "true", "date": None},
]  # fmt: skip
REVIEWS = [
    {"@type": "ClaimReview", "claimReviewed": "The water board of Marisett stored 90 barrels of rainwater underground",
     "url": "https://checks.example/marisett", "datePublished": "2021-05-02", "inLanguage": "en",
     "author": {"name": "Velmore Checks"}, "reviewRating": {"alternateName": "False"}},
    {"@type": "ClaimReview", "claimReviewed": "The harbour council of Velmore sold 412 wooden benches",
     "url": "https://checks.example/benches", "datePublished": "2021-09-02", "inLanguage": "en",
     "author": {"name": "Velmore Checks"}, "reviewRating": {"alternateName": "False"}},
    {"@type": "ClaimReview", "claimReviewed": "A quarry near Ostrel closed its gates",
     "url": "https://checks.example/quarry", "inLanguage": "en",
     "author": {"name": "Velmore Checks"}, "reviewRating": {"alternateName": "True"}},
]  # fmt: skip


@pytest.fixture
def dataset() -> Dataset:
    return Dataset.build(
        "made-up", pl.DataFrame(RECORDS).with_columns(pl.lit("eng").alias("language"))
    )


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    file = tmp_path / "reviews.json"
    file.write_text(json.dumps(REVIEWS), encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def own_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Indexes of this test's own, and no waiting for the calls of another."""
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "user-cache"))
    monkeypatch.setattr(terms, "_buckets", {})


class Searx:
    """A server that answers as a SearXNG instance does, counts every question, and can hold one
    back.
    """

    def __init__(self, answer: Callable[[str], list[dict[str, Any]]]) -> None:
        self.asked: Counter[str] = Counter()
        self.hold: Callable[[int], bool] = lambda _: False
        self.held = threading.Event()
        self.closing = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                words = parse_qs(urlsplit(self.path).query)["q"][0]
                with outer._lock:
                    outer.asked[words] += 1
                    number = sum(outer.asked.values())
                if outer.hold(number):
                    outer.held.set()
                    outer.closing.wait(60)
                    return
                body = json.dumps({"query": words, "results": answer(words)}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()


def unrelated(words: str) -> list[dict[str, Any]]:
    """Something is found, and it does not correspond."""
    return [{"title": "A page", "url": f"https://news.example/{len(words)}", "content": "The weather was mild.",
             "publishedDate": "2021-01-02"}]  # fmt: skip


@pytest.fixture
def searx(monkeypatch: pytest.MonkeyPatch) -> Iterator[Searx]:
    server = Searx(unrelated)
    monkeypatch.setenv("SEARXNG_URL", server.url)
    yield server
    server.close()
