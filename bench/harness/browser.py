"""A browser to look at pages with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.data import need

MISSING = "Chromium or Playwright is not installed"


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium under Playwright; null where either is not installed."""
    place, api = (
        shutil.which("chromium") or shutil.which("chromium-browser"),
        need("playwright.sync_api"),
    )
    if place is None or api is None:
        yield None
        return
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        yield browser
        browser.close()
