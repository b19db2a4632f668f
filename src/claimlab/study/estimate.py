"""What a study would cost: the steps that cost nothing are made, those that ask a model or a search
are priced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from claimlab.core.call import in_storage
from claimlab.core.calls.estimate import estimate, in_words
from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.study.run import VERBS, Maker, asks, prepared
from claimlab.study.step import Node


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
        spending = [node for node in maker.nodes.values() if asks(node)]
        if not spending:
            raise UsageError(
                "No cell of this study asks a model or a search: it costs nothing.", "Run it."
            )
        ready = [node for node in spending if not any(asks(each) for each in node.before)]
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


def _sum(parts: Iterable[Mapping[str, Any]], name: str) -> float | None:
    amounts = [part[name] for part in parts]
    return None if None in amounts else sum(amounts)


_ESTIMATES = {
    "evolve": "claimlab.evolve.front.estimate_evolve",
    "generate": "claimlab.generate.front.estimate_generate",
    "quality_filter": "claimlab.generate.filter.front.estimate_quality_filter",
    "drift": "claimlab.evolve.drift.front.estimate_drift",
}


def _priced(maker: Maker, node: Node, cache: Path, mode: str) -> JsonObject:
    options = {**maker.options(node), "output": maker.place(node), "cache": cache, "mode": mode}
    source = maker.place(node.before[0])
    if node.verb in _ESTIMATES:
        home, _, name = _ESTIMATES[node.verb].rpartition(".")
        of_verb: Callable[..., JsonObject] = getattr(import_module(home), name)
        return of_verb(source, **options)
    return estimate(VERBS[node.verb].call, source, **options)
