"""`cl.study_run`: the grid of a study file, made and scored; and what it would cost: the steps that
cost nothing are made, those that ask a model or a search are priced.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Unpack

from claimlab.core.atomic import atomic_text
from claimlab.core.call import note_call, repeatable
from claimlab.core.calls.estimate import Estimated, cost_of, estimating, in_words, really_working
from claimlab.core.engine.cluster import check_engine
from claimlab.core.engine.names import working
from claimlab.core.errors import UsageError
from claimlab.core.options import OUTPUT, AskOptions, Engine, InPython, Option, Place
from claimlab.core.types import JsonObject
from claimlab.study.file import StudyCaps, StudyPath
from claimlab.study.page import write_tables
from claimlab.study.run import CALLED, WORK, Grid, Maker, prepared, share_steps
from claimlab.study.step import CALLS, CELLS, Node


@repeatable("mode", "trust", "max_cost", "max_calls", "max_tokens", output="continued")
def study_run(
    study: StudyPath,
    output: Annotated[Place, OUTPUT],
    *,
    only: Annotated[
        Mapping[str, str] | Sequence[str],
        Option("Only these cells; repeatable.", metavar="AXIS=VALUE"),
    ] = (),
    trust: Annotated[
        bool, InPython("Allow what the file names outside its folder, without asking.")
    ] = False,
    engine: Engine = None,
    **calls: Unpack[AskOptions],
) -> Grid:
    """Run the grid, each step once, and write its tables. The same command goes on where it was
    stopped.

    A file that names hosts, keys or paths outside its folder must have been allowed (`claimlab
    trust FILE`), unless `trust` says that it is yours. Caps given here replace those of the file,
    and cover all cells and all starts together. With `engine`, steps that can spend nothing are
    shared among processes or machines; the others are made here, under one cap. For an estimate,
    loading, cleaning and splitting are done and kept; a step whose input must first be asked for
    cannot be priced, and is named.
    """
    output, mode = Path(output), calls.get("mode", "record")
    caps = StudyCaps.model_validate({name: calls.get(name) for name in StudyCaps.model_fields})
    check_engine(engine)
    planned = partial(prepared, study, output, only, mode=mode, trust=trust)
    if estimating():
        with really_working(), planned() as maker:
            raise Estimated(_estimate(maker, mode))
    with working(engine, output.absolute() / WORK), planned(caps=caps) as maker:
        share_steps(maker)
        maker.make_all()
        grid = maker.grid
        rows = [
            {"axes": dict(c.axes), "run": c.node.name, "failed": grid.reason(c)} for c in grid.cells
        ]
        atomic_text(output / CELLS, json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
        grid.entries = write_tables(grid)
        note_call(output, output)
        shutil.rmtree(output / WORK, ignore_errors=True)
    return grid


def _estimate(maker: Maker, mode: str) -> JsonObject:
    """The least and the most that the steps which ask a model or a search would take together, and
    what they will probably take where at least 20 replies to the same prompt are recorded: run one
    seed first.
    """
    maker.make_all(spend=False)
    spending = [node for node in maker.nodes.values() if node.asks]
    if not spending:
        raise UsageError(
            "No cell of this study asks a model or a search: it costs nothing.", "Run it."
        )
    ready = [node for node in spending if not any(each.asks for each in node.before)]
    parts = {node.name: _priced(maker, node, mode) for node in ready}
    later = [node.name for node in spending if node not in ready]
    names = ("money_least", "money_most", "money_expected")
    sums = {name: _sum(parts.values(), name) for name in names}
    lines = [f"{name}: {line}" for name, part in parts.items() for line in part["sentences"][-1:]]
    lines += [f"{name}: not priced, its input must be asked for first." for name in later]
    return {
        "parts": parts,
        "not_priced": later,
        **sums,
        "sentences": [*lines, f"In all: {in_words(*sums.values())}."],
    }


def _sum(parts: Iterable[JsonObject], name: str) -> float | None:
    amounts = [part[name] for part in parts]
    return None if None in amounts else sum(amounts)


def _priced(maker: Maker, node: Node, mode: str) -> JsonObject:
    options = {**maker.options(node), "output": maker.place(node), "mode": mode}
    options["cache"] = maker.grid.output / CALLS
    source = maker.place(node.before[0])
    return cost_of(CALLED[node.verb].call, source, **options)
