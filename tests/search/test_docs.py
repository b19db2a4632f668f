"""The examples on the page docs/search.md give what the page says, and its tables name what
exists.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from claimlab.core import packaged
from claimlab.search.connect import PROVIDERS
from claimlab.search.terms import terms

KINDS = packaged.toml("claimlab.search", "failures.toml")["search"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "search.md"


def test_examples_run() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted >= 10
    assert result.failed == 0


def test_every_provider_stands_in_the_table_with_its_price() -> None:
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (.*?) \| ([\d.]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(name for name, _, _ in rows) == PROVIDERS.names()
    for name, needs, price in rows:
        assert re.findall(r"`(\w+)`", needs) == list(getattr(PROVIDERS.get(name), "needs", ()))
        assert float(price) == terms(name).price


def test_every_kind_of_failure_is_named() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{kind}`" in text for kind in KINDS)
