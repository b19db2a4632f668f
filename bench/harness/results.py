"""What a script found: rows of ours against a peer, printed, and written as JSON for `make
bench`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.data import DATA, for_children
from harness.machine import banner

_rows: list[Row] = []
_file: Path | None = None


@dataclass(frozen=True)
class Row:
    """One measure. `ours` and `theirs` are costs, the less the better, unless `more` says that more
    is better; null is "not measured". The ratio says how many times better ours is: above 1 we are
    ahead."""

    area: str
    measure: str
    peer: str  # "" where there is none to compare with
    ours: float | None
    theirs: float | None = None
    unit: str = "processor s"
    more: bool = False
    note: str = ""
    why: str = ""  # the profile of ours, where we are behind

    @property
    def key(self) -> str:
        return f"{self.area} | {self.measure} | {self.peer}"

    @property
    def ratio(self) -> float | None:
        if self.ours is None or self.theirs is None or not self.ours or not self.theirs:
            return None
        return self.ours / self.theirs if self.more else self.theirs / self.ours


def parser(doc: str | None, *, data: bool = False) -> argparse.ArgumentParser:
    """A parser with the script's docstring as help, and the options that all of them have; `data`:
    published data.
    """
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument(
        "--json", type=Path, metavar="FILE", help="also write the measures to this file"
    )
    if data:
        made.add_argument(
            "--data",
            type=Path,
            metavar="DIR",
            default=DATA,
            help="the folder of published datasets",
        )
    return made


def begin(
    made: argparse.ArgumentParser, arguments: Sequence[str] | None = None
) -> argparse.Namespace:
    """Parse, and say what runs where before anything is measured."""
    global _file
    options = made.parse_args(arguments)
    _file = options.json
    for_children()
    sys.excepthook = in_a_sentence
    del options.json  # the rest is the script's own
    for line in banner():
        print(line, file=sys.stderr, flush=True)
    return options


def in_a_sentence(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """What claimlab refuses is said as its command line says it; everything else is a fault, with
    its traceback.
    """
    if kind.__module__ == "claimlab.core.errors":
        print(f"Error: {error}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


def record(*rows: Row) -> None:
    """Print rows as they are measured, and keep them for the file of --json."""
    for row in rows:
        _rows.append(row)
        print(shown(row), flush=True)
    if _file is not None:
        _file.write_text(
            json.dumps([asdict(row) for row in _rows], indent=1) + "\n", encoding="utf-8"
        )


def rows_of(file: Path) -> list[Row]:
    content: list[dict[str, Any]] = (
        json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    )
    return [Row(**row) for row in content]


def shown(row: Row) -> str:
    ours = "not measured" if row.ours is None else f"{row.ours:,.4g} {row.unit}"
    against = f" against {row.peer}" if row.peer else ""
    theirs = "" if row.theirs is None else f" ({row.theirs:,.4g})"
    ratio = "" if row.ratio is None else f": {row.ratio:.2f} times as good"
    return (
        f"> {row.area}, {row.measure}:"
        f" {ours}{against}{theirs}{ratio}{f' ({row.note})' if row.note else ''}"
    )
