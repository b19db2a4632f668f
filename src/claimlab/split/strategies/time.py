"""Train before, test after: cut at a day, so that nothing tested on was published on or before a
day trained on.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.split.material import Material, named
from claimlab.split.strategy import Impossible, Parts, Request

Days = npt.NDArray[np.datetime64]


class Time:
    name = "time"
    summary = "Train before, dev next, test after; the cut is a day (by the shares, or `before`)."
    takes = frozenset({"before"})

    def split(self, material: Material, request: Request) -> Parts:
        days = material.records["date"].dt.date()
        dated = days.is_not_null().to_numpy()
        known = np.sort(days.drop_nulls().to_numpy()).astype("datetime64[D]")
        if len(np.unique(known)) < 2:
            reason = (
                f"all dated rows are of {days.drop_nulls()[0]}"
                if len(known)
                else "no row has a date"
            )
            raise Impossible(
                f"Cannot split by time: {reason}.", 'Use another strategy, such as `by="group"`.'
            )
        test = (
            np.datetime64(request.before, "D")
            if request.before
            else cut(known, 1 - request.shares.test)
        )
        if not known[0] < test <= known[-1]:
            raise Impossible(
                f"No record is dated before {test}, or none on that day or later.",
                f"The dates go from {known[0]} to {known[-1]}: cut in between.",
            )
        earlier = known[known < test]
        dev = (
            cut(earlier, request.shares.of_rest[0])
            if request.shares.dev and earlier[0] < earlier[-1]
            else test
        )
        side = np.full(material.n, -1, np.int64)
        mine = days.filter(pl.Series(dated)).to_numpy().astype("datetime64[D]")
        side[dated] = np.where(mine >= test, 2, np.where(mine >= dev, 1, 0))
        missing = int((~dated).sum())
        notes = [
            f"Test starts on {test}"
            + (f", dev on {dev}." if dev < test else "; there is no dev set.")
        ]
        notes.append(f"Dates are: {origins(material.records)}.")
        return Parts(
            side=named(side),
            name=f"time:test-from={test}",
            whole=days.dt.to_string("%Y-%m-%d"),
            held_out=(f"from {test}",),
            left_out={"the row has no date": missing} if missing else {},
            notes=tuple(notes),
        )


def cut(days: Days, share: float) -> np.datetime64:
    """The day that parts sorted `days` nearest to `share`: rows of one day stay on one side, and no
    side is empty.
    """
    starts, first = np.unique(days, return_index=True)
    nearest = int(np.abs(first[1:] - share * len(days)).argmin()) + 1
    day: np.datetime64 = starts[nearest]
    return day


def origins(records: pl.DataFrame) -> str:
    """Where the dates come from: a tweet's number and a page's date are not equally sure."""
    dated = records.filter(pl.col("date").is_not_null())
    tally = dated.group_by(pl.col("date_source").fill_null("not said")).len()
    tally = tally.sort("len", "date_source", descending=[True, False])
    return ", ".join(f"{source} ({n:,})" for source, n in tally.iter_rows())


STRATEGY = Time()
