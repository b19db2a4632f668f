"""What each column of the files becomes: the outcome of the guess, shown before it is used."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from claimlab.core.errors import DataError, OutputExists, UsageError
from claimlab.core.labels import LabelMap, parse_map
from claimlab.core.record import KINDS
from claimlab.core.toml_file import bounded_text, parse_toml
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.exchange.importing.profile import verdict_of_parts
from claimlab.exchange.importing.propose import ASIDE, NO_COLUMN, OWN, ROLES, Pick, column_of
from claimlab.exchange.importing.readings import Reading
from claimlab.files.raw import literal_text

if TYPE_CHECKING:
    from claimlab.exchange.importing.layouts import Gathered

EXAMPLES, EXAMPLE_CHARACTERS = 2, 60  # texts of each value in a question, and characters of one
MOST_VALUES_SHOWN = 6  # values of a label that a question shows with examples


@dataclass
class ImportPlan:
    """The role of each column, and which go to `meta`; `values` has the labels or splits from file
    and folder names.
    """

    gathered: Gathered
    verdicts: LabelMap
    picks: dict[str, Pick] = field(default_factory=dict)
    meta: list[str] = field(default_factory=list)
    kind: str = "claim"
    values: dict[str, dict[str, str]] = field(default_factory=dict)  # role -> place -> what it says
    label_given: bool = False  # or that there is none
    map_given: bool = False  # whether the user said what labels mean
    open_flag: bool = False  # whether the label is a flag of which nothing says what it means
    rivals: list[Reading] = field(default_factory=list)  # readings of the label that come close
    # tasks other than veracity that files and texts beside them speak of, and how much
    topics: Mapping[str, float] = field(default_factory=dict)

    def column(self, role: str) -> str | None:
        return column_of(self.picks, role)

    def runner_up(self, role: str) -> str | None:
        """The next likely column of a role, of those that have no other."""
        used = {pick.column for pick in self.picks.values()}
        rivals = self.picks[role].rivals if role in self.picks else ()
        return next((rival.column for rival in rivals if rival.column not in used), None)

    @property
    def meta_and_topic(self) -> list[str]:
        """The columns that may still be the label, where none was found."""
        return [name for name in (*self.meta, self.column("topic"), self.column("group")) if name]

    def written(self, role: str, frame: pl.DataFrame | None = None) -> pl.Series | None:
        """The column of a role as the files have it (or some rows of them), JSON values as plain
        text.
        """
        name = self.column(role)
        if name is None:
            return None
        values = (self.gathered.frame if frame is None else frame)[name]
        if name in self.gathered.literal:
            values = literal_text(values)
        return replaced(values, self.values[role]) if role in self.values else values

    def save(self, file: str | Path, *, force: bool = False) -> None:
        """Write the choices as TOML, to be edited and passed to `import_files` as `plan`."""
        place = Path(file)
        if place.exists() and not force:
            raise OutputExists(place)
        place.write_text("\n".join([*self._choices(), *self._verdicts()]) + "\n", encoding="utf-8")

    def _choices(self) -> Iterator[str]:
        yield "# What each column becomes. A role that is not listed has no column."
        yield f"kind = {_quoted(self.kind)}  # {', '.join(KINDS[:3])}"
        yield "exact = true  # labels are compared as they are written"
        if self.verdicts.task is not None:
            yield f"task = {_quoted(self.verdicts.task)}  # of the labels, which are not verdicts"
        yield from ("", "[columns]")
        for role, pick in self.picks.items():
            if role not in (*ROLES, *OWN) or role in ASIDE:
                continue
            rival = f"; next: {_quoted(pick.rivals[0].column)}" if pick.rivals else ""
            yield f"{role} = {_quoted(pick.column or pick.value or '')}  # {pick.why}{rival}"
        others = [role for role in ROLES if role not in self.picks and role not in ASIDE]
        yield f"# without a column: {', '.join(others)}"
        yield f"# to meta: {shown(', '.join(map(_quoted, self.meta)), 100)}"

    def _verdicts(self) -> Iterator[str]:
        """A line for every label: its verdict where one is known, otherwise nothing yet, so that a
        plan that was not edited does and asks what the import itself does.
        """
        raw = self.written("label")
        if raw is None or self.verdicts.task is not None:
            return
        yield from ("", "# Say of each label what it means: true, false, mixed or unknown.")
        yield "[verdicts]"
        for value, n in tally(raw).iter_rows():
            verdict = self.verdicts.verdict(value) or verdict_of_parts(value, self.verdicts)
            comment = several(n, "row") + ("" if verdict else ", not known: fill it in")
            yield f'{_quoted(value)} = "{verdict or ""}"  # {comment}'

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
        cells = [("Use as", "Column", "Because of", "First value")]
        cells += [
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
            out.append(f"  kept in meta: {shown(', '.join(self.meta), 100)}")
        return out


@dataclass(frozen=True)
class ImportChoices:
    """What a plan file says: nothing of it is guessed again."""

    kind: str | None
    columns: dict[str, str]
    verdicts: LabelMap | None

    @classmethod
    def read(cls, file: str | Path) -> ImportChoices:
        """The choices in a file that `ImportPlan.save` wrote; a role that it does not name has no
        column.
        """
        place = Path(file)
        if not place.is_file():
            raise UsageError(
                f"There is no plan '{place}'.", "`guess_files(...).save(FILE)` writes one."
            )
        text = bounded_text(place)
        table = parse_toml(text, str(place))
        columns = table.get("columns")
        if not isinstance(columns, dict) or not set(columns) <= {*ROLES, *OWN}:
            known = ", ".join(role for role in ROLES if role not in ASIDE)
            raise DataError(
                f"The plan '{place}' does not say which column is what.",
                f'Add a table [columns] with lines such as text = "claim"; the roles are: {known}.',
            )
        absent = {role: NO_COLUMN for role in ROLES if role not in ASIDE}
        return cls(
            table.get("kind"),
            absent | {role: str(column) for role, column in columns.items() if role in ROLES},
            _map_in(table, text, str(place)),
        )


def _map_in(table: JsonObject, text: str, where: str) -> LabelMap | None:
    """The meaning of labels in a plan: a verdict each, or the task that they belong to."""
    if "task" in table:
        return LabelMap(str(table["task"]), {}, task=str(table["task"]))
    return parse_map(text, where) if table.get("verdicts") else None


def replaced(written: pl.Series, table: Mapping[str, str | None]) -> pl.Series:
    return written.replace_strict(table, default=None, return_dtype=pl.String) if table else written


def _quoted(words: str) -> str:
    """A text as TOML writes it, which is as JSON does."""
    return json.dumps(words, ensure_ascii=False)


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


def examples(labels: pl.Series, texts: pl.Series | None) -> list[str]:
    """A line for each value of a label: in how many rows, and what two of them say."""
    lines = []
    for value, rows in tally(labels).head(MOST_VALUES_SHOWN).iter_rows():
        said = "" if texts is None else _some_texts(texts.filter(labels == value))
        lines.append(f"'{shown(value, EXAMPLE_CHARACTERS)}' ({several(rows, 'row')}){said}")
    return lines


def _some_texts(texts: pl.Series) -> str:
    some = texts.drop_nulls().unique(maintain_order=True).head(EXAMPLES)
    words = ", ".join(f'"{shown(text, EXAMPLE_CHARACTERS)}"' for text in some)
    return f", e.g. {words}" if words else ""
