"""What each column of the files becomes: the outcome of the guess, shown before it is used."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import polars as pl

from claimlab.core.labels import LabelMap
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.exchange.importing.layouts import Gathered
from claimlab.exchange.importing.propose import OWN, ROLES, Pick

# different values, and characters of one, that a column may have to be offered as the label
FEW, LONGEST = 8, 40


@dataclass
class Plan:
    """The role of each column, and which go to `meta`; `values` has the labels or splits from file
    and folder names.
    """

    gathered: Gathered
    verdicts: LabelMap
    picks: dict[str, Pick] = field(default_factory=dict)
    meta: list[str] = field(default_factory=list)
    kind: str = "claim"
    values: dict[str, dict[str, str]] = field(default_factory=dict)  # role -> place -> what it says

    def column(self, role: str) -> str | None:
        pick = self.picks.get(role)
        return pick.column if pick else None

    def few_values(self) -> dict[str, dict[str, int]]:
        """Where no label was found: the columns that may be it, with how often each of their few
        values occurs.
        """
        if "label" in self.picks:
            return {}
        out: dict[str, dict[str, int]] = {}
        known = self.gathered.frame.columns
        columns = [name for name in (*self.meta, self.column("topic")) if name in known]
        for column in filter(None, columns):
            counts = tally(self.gathered.text(column))
            table: dict[str, int] = dict(counts.iter_rows()) if 2 <= counts.height <= FEW else {}
            if sum(table.values()) >= 2 * FEW and max(map(len, table)) <= LONGEST:
                out[column] = table
        return out

    def to_json(self) -> JsonObject:
        tables = self.gathered.tables
        return {
            "files": [
                {"file": t.name, **t.layout.parameters(), "refused": t.refused.total}
                for t in tables
            ],
            "ignored_files": self.gathered.ignored,
            "rows": self.gathered.frame.height,
            "kind": self.kind,
            "map": f"{self.verdicts.name}@{self.verdicts.version}",
            "columns": {
                role: {"column": pick.column, "value": pick.value, **asdict(pick)}
                for role, pick in self.picks.items()
            },
            "meta": self.meta,
        }

    def lines(self) -> list[str]:
        """A small table for a person: which column becomes what, why, and an example."""
        picks = {role: self.picks[role] for role in (*ROLES, *OWN) if role in self.picks}
        cells = [
            (role, p.column or f"({p.value})", p.why, p.example or "") for role, p in picks.items()
        ]
        if "kind" not in picks:
            cells.append(("kind", f"({self.kind})", "change it with `kind`", ""))
        widths = [max(len(shown(row[i], 40)) for row in cells) for i in range(3)]
        out = [f"{self.gathered.describe()}: {several(self.gathered.frame.height, 'row')}"]
        for row in cells:
            start = "  ".join(
                shown(cell, 40).ljust(width) for cell, width in zip(row[:3], widths, strict=True)
            )
            out.append(f"  {start}  {shown(row[3], 48)}".rstrip())
        out += [f"  no {role} column" for role in ("text", "label") if role not in picks]
        if self.meta:
            out.append(f"  to meta: {shown(', '.join(self.meta), 100)}")
        return out


def tally(values: pl.Series) -> pl.DataFrame:
    """How often each value occurs, the commonest first."""
    counts = values.drop_nulls().alias("value").value_counts(name="n")
    return counts.sort(["n", "value"], descending=[True, False])


def shown(words: str, most: int) -> str:
    """One line of at most `most` characters; control characters of a file never reach the
    terminal.
    """
    line = "".join(c if c.isprintable() else " " for c in " ".join(words[: 4 * most].split()))
    return line if len(line) <= most else line[: most - 1] + "…"
