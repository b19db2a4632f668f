"""What is kept of a claim's life: every hop, with the released step fields and all that shaped it;
failures too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, get_args

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, ReplayMiss, UsageError
from claimlab.core.types import JsonObject
from claimlab_simulate.evolve.claims.model import Target

# done: a walk that nothing steered; success and failure: by the vote; unaudited: steered, and no
# auditor was asked
Status = Literal["done", "success", "failure", "unaudited"]
# The fields of a hop that are columns of the table `traces`, and those in the meta of a row.
COLUMNS = ("round", "step", "agent", "role", "input", "output", "passed", "reason")
NOTED = ("operators", "votes", "diagnosis", "hub", "parent", "depth", "seed", "failure", "cost")


@dataclass(frozen=True)
class Start:
    """A claim before anybody has touched it."""

    id: str
    text: str
    language: str | None = None
    context: str | None = None
    evidence: tuple[str, ...] = ()
    target: Target | None = None

    @property
    def goal(self) -> JsonObject:
        """The target as it is noted in `meta`; empty where nothing steers."""
        if self.target is None:
            return {}
        return {"dimension": self.target.dimension, "target_value": self.target.value}

    @property
    def key(self) -> str:
        """Of the life of this claim towards this target: its record, its trace, its random
        streams.
        """
        return "-".join([self.id, *self.goal.values()])


@dataclass(frozen=True)
class Hop:
    round: int
    step: int
    agent: str
    role: str
    input: str
    output: str
    passed: bool | None = None
    reason: str | None = None  # of the vote
    attributes: list[str] = field(default_factory=list)
    why: str | None = None  # the agent's own reason
    operators: list[JsonObject] = field(default_factory=list)
    votes: list[JsonObject] = field(default_factory=list)
    diagnosis: str | None = None  # what the agent was told to change
    hub: str | None = None  # whose opinion was in the air
    parent: int | None = (
        None  # cascades: the step that this agent had the claim from (0: the start)
    )
    depth: int | None = None
    seed: int | None = None
    failure: str | None = None
    cost: float | None = 0.0  # US dollars; null: not known


@dataclass(frozen=True)
class Life:
    key: str
    status: Status
    text: str  # what the claim became
    hops: list[Hop]

    def to_json(self) -> JsonObject:
        return asdict(self)

    @classmethod
    def from_json(cls, values: JsonObject) -> Life:
        return cls(**{**values, "hops": [Hop(**hop) for hop in values["hops"]]})


def evidence_texts(dataset: Dataset) -> dict[str, list[str]]:
    """Record id to the texts of its evidence, the nearest first; none for records without any."""
    table = dataset.tables.get("evidence")
    if table is None:
        return {}
    ranked = table.drop_nulls("text").sort("rank", maintain_order=True)
    return dict(ranked.group_by("record_id", maintain_order=True).agg("text").iter_rows())


# Traces that were kept, as lives that can be lived again: the released ones, or those of an earlier
# run.


Key = tuple[str, Target | None]  # the text that a life began with, and where it was steered


class TraceRecording:
    """Lives by what they began with; two claims with one text are distinguished by the id, where
    the traces say it.
    """

    def __init__(self, dataset: Dataset) -> None:
        if "traces" not in dataset.tables:
            raise DataError(
                f"'{dataset.name}' holds no traces.",
                "Give a dataset that claimlab evolve run has written.",
            )
        self.name = dataset.name
        self.digest = dataset.files.get("traces.parquet") or dataset.digest()
        self._lives: dict[Key, list[tuple[str | None, Life]]] = {}
        table = dataset.tables["traces"].sort("round", "step", maintain_order=True)
        for (trace_id,), rows in table.group_by("trace_id", maintain_order=True):
            hops = [_hop(row) for row in rows.iter_rows(named=True)]
            notes = json.loads(rows["meta"][0] or "{}")
            steered = notes.get("dimension")
            target = Target.of(steered, notes["target_value"]) if steered else None
            status: Status = notes["status"] if notes.get("status") in get_args(Status) else "done"
            life = Life(str(trace_id), status, hops[-1].output, hops)
            begun = self._lives.setdefault((hops[0].input, target), [])
            begun.append((notes.get("claim"), life))

    @classmethod
    def open(cls, folder: str | Path | None) -> TraceRecording:
        if folder is None:
            raise UsageError(
                "There is nothing to replay.", "Pass `recording`, a dataset with traces."
            )
        return cls(Dataset.open(folder))

    def life(self, text: str, target: Target | None, claim: str) -> Life:
        """The recorded life of a claim; ReplayMiss where there is none."""
        lives = self._lives.get((text, target), [])
        for recorded, life in lives:
            if recorded == claim:
                return life
        if not lives:
            towards = f" towards {target}" if target else ""
            raise ReplayMiss(
                f"'{self.name}' holds no life of claim '{claim}'{towards}.",
                "Replay the claims that it was recorded with, or leave this one out.",
            )
        return lives[0][1]

    def lives(self) -> Iterator[tuple[str, Target | None, Life]]:
        """Every life, with the text that it began with and where it was steered."""
        for (text, target), begun in self._lives.items():
            yield from ((text, target, life) for _, life in begun)

    def hop(self, start: Start, round: int, step: int) -> Hop:
        for hop in self.life(start.text, start.target, start.id).hops:
            if (hop.round, hop.step) == (round, step):
                return hop
        raise ReplayMiss(
            f"The life of '{start.id}' ends before round {round}, step {step}.",
            "Ask for fewer steps.",
        )


def _hop(row: JsonObject) -> Hop:
    meta = json.loads(row["meta"] or "{}")
    noted = {name: meta[name] for name in NOTED if meta.get(name) is not None}
    return Hop(
        **{name: row[name] for name in COLUMNS},
        attributes=meta.get("influencing_attributes") or [],
        why=meta.get("influencing_reason"),
        **{"votes": _released_vote(row), **noted},
    )


def _released_vote(row: JsonObject) -> list[JsonObject]:
    """The released steps hold the first auditor's word alone."""
    if row["passed"] is None:
        return []
    reason = {"reason": row["reason"]} if row["reason"] is not None else {}
    return [{"auditor": "released", "passed": row["passed"], **reason}]
