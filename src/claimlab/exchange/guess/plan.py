"""What each column of the files becomes: the outcome of the guess, shown before it is used."""

from __future__ import annotations

from dataclasses import dataclass, field

from claimlab.core.labels import LabelMap
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.exchange.guess.roles import ROLES
from claimlab.exchange.read.gathered import Gathered
from claimlab.files.typed import literal_text

FEW, LONGEST = (
    8,
    40,
)  # different values, and characters of one, that a column may have to be offered as the label
OWN = ("veracity", "kind", "authorship")  # columns that claimlab itself writes


@dataclass(frozen=True)
class Pick:
    """One guess. `column` is null when a constant (`value`) was given instead, such as a language
    code.
    """

    column: str | None
    why: str
    example: str | None = None
    given: bool = False
    value: str | None = None


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
        out: dict[str, dict[str, int]] = {}
        frame = self.gathered.frame
        columns = [
            c for c in (*self.meta, self.column("topic")) if c is not None and c in frame.columns
        ]
        for column in columns if "label" not in self.picks else []:
            values = (
                literal_text(frame[column]) if column in self.gathered.literal else frame[column]
            )
            known = values.drop_nulls().alias("value")
            counts = known.value_counts(name="n").sort(["n", "value"], descending=[True, False])
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
                role: {
                    "column": p.column,
                    "value": p.value,
                    "why": p.why,
                    "example": p.example,
                    "given": p.given,
                }
                for role, p in self.picks.items()
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


def shown(words: str, most: int) -> str:
    """One line of at most `most` characters; control characters of a file never reach the
    terminal.
    """
    line = "".join(c if c.isprintable() else " " for c in " ".join(words[: 4 * most].split()))
    return line if len(line) <= most else line[: most - 1] + "…"
