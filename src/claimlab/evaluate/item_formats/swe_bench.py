"""Lists of resolved ids, as SWE-bench publishes them: a report of one run, or `results.json` in a
folder named after the system."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from claimlab.evaluate.items import ItemFormat, ItemScore, opened

RESOLVED = ("resolved_ids", "resolved")
TOTAL = "total_instances"


class ResolvedIds(ItemFormat):
    summary = "a list of resolved ids (SWE-bench)"
    names_all = False

    def fits(self, file: Path) -> bool:
        content = opened(file)
        return isinstance(content, dict) and any(
            isinstance(content.get(name), list) for name in RESOLVED
        )

    def read(self, file: Path) -> Iterator[ItemScore]:
        """Every id that any list of the file names."""
        content = opened(file)
        assert isinstance(content, dict)
        resolved = {str(i) for name in RESOLVED for i in content.get(name) or ()}
        lists = [value for value in content.values() if isinstance(value, list)]
        every = dict.fromkeys(str(i) for value in lists for i in value)
        plain = file.stem in ("results", "report")
        system = file.resolve().parent.name if plain else file.stem
        for item in every:
            yield ItemScore(item, system, float(item in resolved))

    def items(self, file: Path) -> int | None:
        content = opened(file)
        total = content.get(TOTAL) if isinstance(content, dict) else None
        return total if isinstance(total, int) else None


FORMAT = ResolvedIds()
