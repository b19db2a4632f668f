"""`cl.study_run`: the grid of a study file, made and scored; and what it would cost: the steps that
cost nothing are made, those that ask a model or a search are priced.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from claimlab.core.atomic import atomic_text
from claimlab.core.call import in_storage, note_call, repeatable
from claimlab.core.calls.estimate import estimate, in_words
from claimlab.core.engine.check import check_engine
from claimlab.core.engine.names import working
from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.study.file import Caps
from claimlab.study.page import write_tables
from claimlab.study.run import VERBS, WORK, Grid, Maker, prepared, share_steps
from claimlab.study.step import CELLS, Node


@repeatable("mode", "trust", "max_cost", "max_calls", "max_tokens", output="continued")
def study_run(
    study: str | Path,
    output: str | Path,
    *,
    only: Mapping[str, str] | Sequence[str] = (),
    mode: str = "record",
    trust: bool = False,
    max_cost: float | None = None,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    engine: str | None = None,
    progress: Progress = silent,
) -> Grid:
    """Run the grid of a study file and write its tables; what is done already is not done again.

    A file that names hosts, keys or paths outside its folder must have been allowed (`claimlab
    trust FILE`), unless `trust` says that it is yours. `only` keeps the cells with the given values
    (`{"detector": "tfidf"}`, or `["detector=tfidf"]`). Caps given here replace those of the file,
    and cover all cells and all starts together. With `engine`, steps that can spend nothing are
    shared among processes or machines; the others are made here, under one cap.
    """
    output = Path(output)
    caps = Caps(max_cost=max_cost, max_calls=max_calls, max_tokens=max_tokens)
    check_engine(engine)
    sharing = working(engine, output.absolute() / WORK)
    with (
        sharing,
        prepared(
            study, output, only, mode=mode, trust=trust, caps=caps, progress=progress
        ) as maker,
    ):
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


@in_storage(output="continued")
def study_estimate(
    study: str | Path,
    output: str | Path,
    *,
    only: Mapping[str, str] | Sequence[str] = (),
    mode: str = "record",
    trust: bool = False,
    progress: Progress = silent,
) -> JsonObject:
    """The least and the most that the steps which ask a model or a search would take together, and
    what they will probably take where at least 20 replies to the same prompt are recorded: run one
    seed first.

    Loading, cleaning and splitting cost nothing: they are done on the way and kept for the run
    itself. A step whose input must first be asked for cannot be priced, and is named.
    """
    output = Path(output)
    with prepared(study, output, only, mode=mode, trust=trust, progress=progress) as maker:
        maker.make_all(spend=False)
        spending = [node for node in maker.nodes.values() if node.asks]
        if not spending:
            raise UsageError(
                "No cell of this study asks a model or a search: it costs nothing.", "Run it."
            )
        ready = [node for node in spending if not any(each.asks for each in node.before)]
        parts = {node.name: _priced(maker, node, output / "calls", mode) for node in ready}
    later = [node.name for node in spending if node not in ready]
    least, most, expected = (
        _sum(parts.values(), name) for name in ("money_least", "money_most", "money_expected")
    )
    lines = [f"{name}: {line}" for name, part in parts.items() for line in part["sentences"][-1:]]
    lines += [f"{name}: not priced, its input must be asked for first." for name in later]
    return {
        "parts": parts,
        "not_priced": later,
        "money_least": least,
        "money_most": most,
        "money_expected": expected,
        "sentences": [*lines, f"In all: {in_words(least, most, expected)}."],
    }


def _sum(parts: Iterable[JsonObject], name: str) -> float | None:
    amounts = [part[name] for part in parts]
    return None if None in amounts else sum(amounts)


def _priced(maker: Maker, node: Node, cache: Path, mode: str) -> JsonObject:
    options = {**maker.options(node), "output": maker.place(node), "cache": cache, "mode": mode}
    source = maker.place(node.before[0])
    return estimate(VERBS[node.verb].call, source, **options)
