"""What `claimlab evolve validate` found: where each kind of network fails."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import polars as pl

from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.validate.fit import Fit

CANNOT = (
    "The simulator cannot foresee how far a claim goes: every agent starts alike, so that no"
    " first post has the audience of a famous account, nothing reaches strangers through"
    " search, trends or the news, hops take no time of their own (delays are drawn from real"
    " ones), and agents take no stance."
)


@dataclass(repr=False)
class Validation(Shown):
    """`rows`: one for each kind of network and measure; `fits`: what was chosen for each kind."""

    rows: list[JsonObject]
    fits: dict[str, Fit]
    counts: JsonObject
    quantiles: dict[str, dict[str, list[tuple[float, float]]]]
    notes: list[str] = field(default_factory=list)

    @property
    def table(self) -> pl.DataFrame:
        return pl.DataFrame(self.rows, infer_schema_length=None)

    def headline(self) -> str:
        return "; ".join(f"{kind}: {words}" for kind, words in self.failures.items())

    @property
    def failures(self) -> dict[str, str]:
        """Where each kind of network fails, in words."""
        words = {}
        for kind in self.fits:
            verdicts = {r["measure"]: r["verdict"] for r in self.rows if r["network"] == kind}
            fails, warns = (
                [name for name, verdict in verdicts.items() if verdict == wanted]
                for wanted in ("fail", "warn")
            )
            words[kind] = f"fails on {', '.join(fails) or 'no measure'}"
            words[kind] += f", is above the real halves on {', '.join(warns)}" if warns else ""
        return words

    def to_json(self) -> JsonObject:
        return {
            "counts": self.counts,
            "fits": {kind: asdict(fit) for kind, fit in self.fits.items()},
            "failures": self.failures,
            "rows": self.rows,
            "notes": self.notes,
            "cannot": CANNOT,
        }
