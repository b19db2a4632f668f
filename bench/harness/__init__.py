"""What the scripts in bench/ share: how to time, what ran where, peers in the same run, data,
results.

from harness import begin, compare, parser

options = begin(parser(__doc__))          # prints the machine, the versions and which kernel runs
times = compare({"claimlab": ours, "Polars": theirs}, repeat=3)
record(Row("import", "CSV", "Polars", times["claimlab"].cpu, times["Polars"].cpu))
"""

from __future__ import annotations

from harness.data import DATA, ROOT, code_of, need, package_index, shared, unmeasured
from harness.machine import busy, kernel, machine, versions
from harness.results import Row, begin, parser, record, rows_of
from harness.timing import (
    Cost,
    Killed,
    apart,
    best,
    compare,
    cpu_seconds,
    in_child,
    peak_mb,
    profiled,
)

__all__ = [
    "DATA",
    "ROOT",
    "Cost",
    "Killed",
    "Row",
    "apart",
    "begin",
    "best",
    "busy",
    "code_of",
    "compare",
    "cpu_seconds",
    "in_child",
    "kernel",
    "machine",
    "need",
    "package_index",
    "parser",
    "peak_mb",
    "profiled",
    "record",
    "rows_of",
    "shared",
    "unmeasured",
    "versions",
]
