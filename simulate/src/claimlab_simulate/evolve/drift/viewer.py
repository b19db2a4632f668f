"""The trace viewer: one page on which a reader follows single claims through the network, hop by
hop.

The page is self-contained and bounded: so many traces, so many agents, so much text, and it says
what it leaves out. Claims, reasons and names are data of unknown origin: they travel as JSON that
cannot close its script element, and the page's own script writes them as text, never as markup.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.types import JsonObject
from claimlab.core.version import __version__
from claimlab.pages.blocks import excerpt
from claimlab.pages.folder import Contents
from claimlab.pages.look import names
from claimlab_simulate.evolve.drift.fuse import TOTAL as FUSE_TOTAL
from claimlab_simulate.evolve.drift.hops import groups_of
from claimlab_simulate.evolve.drift.lite import TOTAL, drift_lite
from claimlab_simulate.evolve.drift.page import VIEWER, report
from claimlab_simulate.evolve.drift.result import Drift
from claimlab_simulate.evolve.drift.scores import scores
from claimlab_simulate.evolve.society.network import Network

TRACES = 60
AGENTS = 240
TEXT = 700  # characters
MAX_BYTES = 2_000_000
_TIES = 2_500
ROUNDS = 120
FILE = "drift.json"
HOPS, FUSE, FUSE_MEANS = "hops.parquet", "fuse-eval.parquet", "fuse-eval-means.parquet"
KIND = "drift report"


@dataclass(frozen=True)
class ViewedSociety:
    """The agents by name, in the order of the network's rows, and the groups of those that are
    known.
    """

    ids: list[str]
    network: Network
    groups: Mapping[str, str] = field(default_factory=dict)

    def ties(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Each of these agents with each of its neighbours; those of another society have none."""
        row = {name: i for i, name in enumerate(self.ids)}
        return [
            (name, self.ids[other])
            for name in names
            if name in row
            for other in self.network.neighbours(row[name]).tolist()
        ]


Societies = Mapping[str, ViewedSociety]  # by the name of the run


def to_page(
    hops: pl.DataFrame, societies: Societies | None = None, *, most: int = TRACES, seed: int = 0
) -> str:
    """The page for at most `most` traces of `hops`; fewer where it would grow past its limit."""
    while True:
        page = _render(_data(hops, societies or {}, most, seed))
        if len(page.encode("utf-8")) <= MAX_BYTES or most <= 1:
            return page
        most //= 2


def choose(hops: pl.DataFrame, most: int, seed: int) -> pl.DataFrame:
    """The hops of the traces to show: half the longest ones, half at random, run by run in turn."""
    traces = (
        hops.filter(pl.col("hop") == 1).select("run", "trace_id", "hops").sort("run", "trace_id")
    )
    lot = np.random.default_rng(seed).permutation(traces.height)
    ranked = traces.with_columns(pl.Series("lot", lot)).with_columns(
        longest=pl.struct(-pl.col("hops"), "lot").rank("ordinal").over("run"),
        drawn=pl.col("lot").rank("ordinal").over("run"),
    )
    share = most // 2
    first = ranked.sort("longest", "run").head(share)
    rest = (
        ranked.join(first, on=["run", "trace_id"], how="anti")
        .sort("drawn", "run")
        .head(most - first.height)
    )
    wanted = pl.concat([first, rest]).select("run", "trace_id")
    return hops.join(wanted, on=["run", "trace_id"], how="semi").sort("run", "trace_id", "hop")


def _data(hops: pl.DataFrame, societies: Societies, most: int, seed: int) -> JsonObject:
    viewed = choose(hops, most, seed)
    # Traces as they were written are not measured yet: only those shown need it.
    if TOTAL not in viewed.columns:
        viewed = viewed.with_columns(
            drift_lite(viewed["base"].to_list(), viewed["output"].to_list())
        )
    total = hops.select("run", "trace_id").n_unique()
    drawn = viewed.select("run", "trace_id").n_unique()
    runs = viewed["run"].unique(maintain_order=True).to_list()
    kinds = sorted({excerpt(g, 60) for g in viewed["group"].drop_nulls().unique().to_list()})
    worlds, traces, notes = [], [], []
    for place_of, run in enumerate(runs):
        part = viewed.filter(pl.col("run") == run)
        world, number, note = _world(part, societies.get(run), kinds, AGENTS // len(runs), seed)
        worlds.append(world)
        notes.append(note)
        traces += [
            {**_trace(walk, number), "world": place_of}
            for _, walk in part.group_by("trace_id", maintain_order=True)
        ]
    share = (
        f"{drawn:,} of {total:,} traces: the longest, and others drawn at random."
        if drawn < total
        else f"All {total:,} traces."
    )
    limits = " ".join(dict.fromkeys(n for n in notes if n))
    limits_note = f"{share} {limits} Texts are cut to {TEXT} characters."
    return {
        "note": " ".join(limits_note.split()),
        "groups": kinds,
        "worlds": worlds,
        "traces": traces,
    }


def _world(
    part: pl.DataFrame, society: ViewedSociety | None, kinds: list[str], most: int, seed: int
) -> tuple[JsonObject, dict[str, int], str]:
    """The agents of one run with their places and ties, the number of each, and what was left
    out.
    """
    names, ties = _neighbourhood(part, society, most)
    members = (
        part.drop_nulls(["agent", "group"]).select("agent", "group").unique().sort("agent", "group")
    )
    groups = {**(society.groups if society is not None else {}), **dict(members.iter_rows())}
    number_of = {kind: number for number, kind in enumerate(kinds)}
    agents = [
        [
            excerpt(name, 60),
            round(float(x), 3),
            round(float(y), 3),
            number_of.get(excerpt(groups.get(name) or "", 60), -1),
        ]
        for name, (x, y) in zip(names, place(len(names), ties, seed=seed), strict=True)
    ]
    note = ""
    if society is None:
        note = "Where no network was given, only the hops themselves are drawn as ties."
    elif len(names) < society.network.size:
        note = (
            f"At most {most:,} agents of a network are drawn: those on these traces and their"
            " nearest."
        )
    return {"agents": agents, "ties": ties}, {name: i for i, name in enumerate(names)}, note


def _neighbourhood(
    viewed: pl.DataFrame, society: ViewedSociety | None, most: int
) -> tuple[list[str], list[tuple[int, int]]]:
    """The agents to draw, most visited first, and the ties among them."""
    visits = Counter(a for a in viewed["agent"].to_list() if a is not None)
    names = _most_first(visits)[:most]
    pairs: Iterable[tuple[str, str]] = _walked(viewed)
    limit = None
    if society is not None:
        beside = Counter(other for _, other in society.ties(names))
        fresh = [name for name in _most_first(beside) if name not in visits]
        names += fresh[: most - len(names)]
        pairs, limit = society.ties(names), _TIES
    number = {name: i for i, name in enumerate(names)}
    ties = {(number[a], number[b]) for a, b in pairs if a in number and b in number}
    return names, sorted({(min(tie), max(tie)) for tie in ties})[:limit]


def _most_first(counts: Counter[str]) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))


def _walked(viewed: pl.DataFrame) -> set[tuple[str, str]]:
    """Which agent handed a claim to which."""
    before = pl.col("agent").shift(1).over("run", "trace_id").alias("before")
    pairs = (
        viewed.sort("run", "trace_id", "hop").with_columns(before).drop_nulls(["before", "agent"])
    )
    return {(a, b) for a, b in pairs.select("before", "agent").iter_rows() if a != b}


def _trace(part: pl.DataFrame, number: dict[str, int]) -> JsonObject:
    rows = part.to_dicts()
    first = rows[0]
    goal = f"{first['dimension']}: {first['target']}" if first["target"] else None
    return {
        "id": excerpt(first["trace_id"], 80),
        "run": excerpt(first["run"], 60),
        "topic": _text(first["topic"], 60),
        "goal": _text(goal, 100),
        "base": _text(first["base"]),
        "hops": [_hop(row, number) for row in rows],
    }


def _hop(row: JsonObject, number: dict[str, int]) -> JsonObject:
    """One hop; what is null is left out, so that the page cannot take it for an empty word."""
    drift = row.get(TOTAL)
    raw = {
        "n": row["hop"],
        "round": row["round"],
        "step": row["step"],
        "role": row["role"],
        "passed": row["passed"],
        "at": number.get(row["agent"] or ""),
        "agent": _text(row["agent"], 60),
        "text": _text(row["output"]),
        "reason": _text(row["reason"]),
        "why": _text(row["why"]),
        "verdict": _text(row["verdict"], 40),
        "failure": _text(row["failure"], 200),
        "drift": None if drift is None else round(drift, 3),
        "from": row["parent"],
        "moved_by": [excerpt(a, 60) for a in row["attributes"]],
        "operators": [excerpt(o, 60) for o in row["operators"]],
        "votes": [_vote(v) for v in row["votes"]],
    }
    return {k: v for k, v in raw.items() if v is not None and v != []}


def _vote(vote: JsonObject) -> JsonObject:
    return {
        "auditor": _text(vote["auditor"], 60),
        "passed": vote["passed"],
        "reason": _text(vote["reason"] or vote["diagnosis"] or vote["failure"]),
    }


def _text(text: object, limit: int = TEXT) -> str | None:
    return None if text is None else excerpt(str(text), limit)


def _render(data: JsonObject) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    # "<" cannot occur in the JSON, so nothing in it can close the element or open a comment.
    packed = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    environment = Environment(
        loader=PackageLoader("claimlab_simulate.evolve.drift", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
    )
    environment.globals["look"] = lambda: Markup(names())
    template = environment.get_template("viewer.html.jinja")
    return template.render(data=Markup(packed), version=__version__)


def place(size: int, ties: Sequence[tuple[int, int]], *, seed: int = 0) -> npt.NDArray[np.float64]:
    """Positions in the unit square; tied agents draw together, all push each other apart."""
    if size == 0:
        return np.empty((0, 2))
    at = np.random.default_rng(seed).random((size, 2))
    ends = np.array(ties, dtype=np.int64).reshape(-1, 2)
    ideal = np.sqrt(1.0 / size)
    near, far = ends.T
    for heat in np.linspace(0.1, 0.002, ROUNDS):
        away = at[:, None, :] - at[None, :, :]
        distance = np.maximum(_lengths(away), 1e-3)
        move = (away * (ideal**2 / distance**2)).sum(axis=1)
        apart = at[near] - at[far]
        pull = apart * (_lengths(apart) / ideal)
        np.add.at(move, near, -pull)
        np.add.at(move, far, pull)
        # parts that nothing ties to the rest must not fly off
        move += 0.05 * (at.mean(axis=0) - at)
        length = np.maximum(_lengths(move), 1e-9)
        at = at + move / length * np.minimum(length, heat)
    low, high = at.min(axis=0), at.max(axis=0)
    return np.asarray((at - low) / np.maximum(high - low, 1e-9))


def _lengths(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    squares = (vectors**2).sum(axis=-1, keepdims=True)
    return np.asarray(np.sqrt(squares))


# A drift report on disk: `drift.json` holds every figure, the pages and pictures beside it are
# views of them.


def contents(
    drifted: Drift, societies: Societies | None = None, *, traces: int, seed: int = 0
) -> Contents:
    """What the report folder holds; `traces` is how many the viewer shows."""
    page = report(drifted, viewer=VIEWER if traces else None)
    files: dict[str, str | pl.DataFrame] = {HOPS: with_fuse(drifted)}
    if drifted.fuse is not None:
        files |= {FUSE: scores(drifted.fuse), FUSE_MEANS: drifted.fuse.groups}
    if traces:
        files[VIEWER] = to_page(drifted.hops, societies, most=traces, seed=seed)
    return Contents(KIND, [page], data={FILE: drifted.to_json()}, files=files)


def with_fuse(drifted: Drift) -> pl.DataFrame:
    """Every hop; those that were judged with the mean of their FUSE-EVAL scores, in columns that
    start with `fuse_`.
    """
    hops = drifted.hops.drop("votes")
    if drifted.fuse is None:
        return hops
    key = ["run", "trace_id", "hop"]
    names = (*drifted.fuse.reading.dimensions, FUSE_TOTAL)
    scored = drifted.fuse.hops.select(*key, pl.col(names).name.prefix("fuse_"))
    return hops.join(scored, on=key, how="left", maintain_order="left")


def society_of(dataset: Dataset) -> ViewedSociety | None:
    """The agents and ties that a run left beside its traces; null where it left none."""
    agents, edges = dataset.tables.get("agents"), dataset.tables.get("edges")
    if agents is None or edges is None or not agents.height:
        return None
    ids = agents["id"].to_list()
    number = {name: i for i, name in enumerate(ids)}
    inside = edges.filter(pl.col("source").is_in(ids) & pl.col("target").is_in(ids))
    source, target = (
        np.array([number[n] for n in inside[c].to_list()], dtype=np.int32)
        for c in ("source", "target")
    )
    return ViewedSociety(ids, Network.of_edges(len(ids), source, target), groups_of(dataset))
