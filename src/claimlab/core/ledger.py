"""What a run has spent, on disk, so that a cap holds over all its starts and not over each of them.

One line of JSON when an amount is set aside and one when it is settled. A run that is killed in
between leaves the first without the second: the call may well have been charged for, so at the next
start all of it counts as spent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

Units = tuple[int, int, int]  # billionths of a dollar, tokens, calls


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
        spent, assumed = [0, 0, 0], [0, 0, 0]
        held: dict[int, Units] = {}
        for line in self._lines():
            try:
                kind, first, units = json.loads(line)
            except ValueError:
                # the line that was being written when the run was killed: its call was never made
                continue
            if kind == "opening":
                spent, assumed = list(first), list(units)
                continue
            if kind == "correct":
                _add(spent, [after - before for before, after in zip(first, units, strict=True)])
                _add(assumed, [-before for before in first])
                continue
            if kind == "hold":
                held[first] = units
                continue
            held.pop(first, None)
            _add(spent, units)
            if kind == "assumed":
                _add(assumed, units)
        for units in held.values():
            _add(spent, units)
            _add(assumed, units)
        return (spent[0], spent[1], spent[2]), (assumed[0], assumed[1], assumed[2])

    def _lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.is_file() else []


def _add(total: list[int], units: Sequence[int]) -> None:
    for i, more in enumerate(units):
        total[i] += more


def _line(kind: str, first: int | Units, units: Units) -> str:
    return json.dumps([kind, first, units]) + "\n"
