"""What a run has spent, on disk, so that a cap holds over all its starts and not over each of them.
One line of JSON when an amount is set aside and one when it is settled. A run that is killed in
between leaves the first without the second: the call may well have been charged for, so at the next
start all of it counts as spent.
"""

from __future__ import annotations

import json
from functools import reduce
from operator import add, sub
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

if TYPE_CHECKING:
    pass


class Units(NamedTuple):
    """What is counted, in whole numbers: sums of floats could slip past the cap."""

    money: int = 0  # billionths of a dollar
    tokens: int = 0
    calls: int = 0

    def plus(self, other: Units) -> Units:
        return Units(*map(add, self, other))

    def less(self, other: Units) -> Units:
        return Units(*map(sub, self, other))


class Ledger:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._next = 0
        self._file: TextIO | None = None
        self.opening, self.assumed = self._read()
        if any(self.opening):  # many lines become one
            short = path.with_name(f"{path.name}.new")
            short.write_text(_line("opening", self.opening, self.assumed), encoding="utf-8")
            short.replace(path)

    def hold(self, units: Units) -> int:
        """Note an amount set aside; the number names it when it is settled."""
        self._next += 1
        self._write(_line("hold", self._next, units))
        return self._next

    def settle(self, number: int, units: Units, *, assumed: bool) -> None:
        self._write(_line("assumed" if assumed else "settle", number, units))

    def correct(self, assumed: Units, actual: Units) -> None:
        """What was assumed of calls that are answered only later turns out to be `actual`."""
        self._write(_line("correct", assumed, actual))

    def close(self, *, complete: bool = False) -> None:
        """Keep the file for the next start, or remove it when the run is complete."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if complete:
            self.path.unlink(missing_ok=True)

    def _write(self, line: str) -> None:
        if self._file is None:  # a run that spends nothing leaves no file
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a", encoding="utf-8")
        self._file.write(line)
        self._file.flush()

    def _read(self) -> tuple[Units, Units]:
        spent, assumed = Units(), Units()
        reserved = {}
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.is_file() else []
        for line in lines:
            try:
                kind, first, last = json.loads(line)
            except ValueError:
                # the line that was being written when the run was killed: its call was never made
                continue
            units = Units(*last)
            if kind == "opening":
                spent, assumed = Units(*first), units
            elif kind == "correct":
                spent, assumed = spent.less(Units(*first)).plus(units), assumed.less(Units(*first))
            elif kind == "hold":
                reserved[first] = units
            else:
                reserved.pop(first, None)
                spent = spent.plus(units)
                assumed = assumed.plus(units) if kind == "assumed" else assumed
        unsettled = reduce(Units.plus, reserved.values(), Units())
        return spent.plus(unsettled), assumed.plus(unsettled)


def _line(kind: str, first: int | Units, units: Units) -> str:
    return json.dumps([kind, first, units]) + "\n"
