"""The page names every strategy, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from claimlab.split.strategy import SPLITTERS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "split.md"


def test_every_strategy_is_on_the_page() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## The strategies")[1].split("\n## ")[0]
    firsts = [
        line.split("|")[1]
        for line in table.splitlines()
        if line.startswith("| `") and "--by" not in line
    ]
    named = {name for cell in firsts for name in re.findall(r"`([a-z-]+)`", cell)}
    assert named == {name for name in SPLITTERS.names() if SPLITTERS.home(name)}
