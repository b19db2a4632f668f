"""The strategy that cuts in time: train before, test after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.split.strategy import Impossible, Material, Parts, SplitRequest, named

Days = npt.NDArray[np.datetime64]


@dataclass(frozen=True)
class CutInTime:
    """Train before, test after: cut at a day, so that nothing tested on was published on or before
    a day trained on.
    """

    name: str
    summary: str
    takes: frozenset[str] = frozenset({"before"})

    def split(self, material: Material, request: SplitRequest) -> Parts:
        days = material.records["date"].dt.date()
        dated = days.is_not_null().to_numpy()
        row_days = days.drop_nulls().to_numpy().astype("datetime64[D]")
        sorted_days = np.sort(row_days)
        if len(np.unique(sorted_days)) < 2:
            reason = (
                f"all dated rows are of {sorted_days[0]}"
                if len(sorted_days)
                else "no row has a date"
            )
            raise Impossible(
                f"Cannot split by time: {reason}.", 'Use another strategy, such as `by="group"`.'
            )
        before = request.before
        test = np.datetime64(before, "D") if before else cut(sorted_days, 1 - request.shares.test)
        if not sorted_days[0] < test <= sorted_days[-1]:
            raise Impossible(
                f"No record is dated before {test}, or none on that day or later.",
                f"The dates go from {sorted_days[0]} to {sorted_days[-1]}: cut in between.",
            )
        dev, earlier = test, sorted_days[sorted_days < test]
        if request.shares.dev and earlier[0] < earlier[-1]:
            dev = cut(earlier, request.shares.of_rest[0])
        side = np.full(material.n, -1, np.int64)
        side[dated] = np.where(row_days >= test, 2, np.where(row_days >= dev, 1, 0))
        dev_words = f", dev on {dev}." if dev < test else "; there is no dev set."
        return Parts(
            side=named(side),
            name=f"time:test-from={test}",
            whole=days.dt.to_string("%Y-%m-%d"),
            held_out=(f"from {test}",),
            left_out={"the row has no date": int((~dated).sum())},
            notes=(
                f"Test starts on {test}{dev_words}",
                f"Dates are: {origins(material.records)}.",
            ),
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
    dated = records.drop_nulls("date")
    tally = dated.group_by(pl.col("date_source").fill_null("not said")).len()
    tally = tally.sort("len", "date_source", descending=[True, False])
    return ", ".join(f"{source} ({n:,})" for source, n in tally.iter_rows())
