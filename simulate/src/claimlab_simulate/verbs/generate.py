"""`claimlab generate`: benchmark text with label, origin and change log, and the filter that
decides what to keep.
"""

from __future__ import annotations

from typing import Annotated

import claimlab_simulate as sim
from claimlab.cli.command import Call, verb
from claimlab.cli.output import (
    echo,
    emit,
    say,
    several,
    show_blocks,
    show_estimate,
    suggest,
    wants_json,
    written,
)
from claimlab.core.options import Option, parameters_of
from claimlab_simulate.generate import front
from claimlab_simulate.generate.filter.metric import METRICS
from claimlab_simulate.generate.filter.result import Filtered
from claimlab_simulate.generate.filter.views import summary
from claimlab_simulate.generate.front import Generated
from claimlab_simulate.generate.views import coverage_blocks, sample_blocks

app = verb(help="Benchmark text: make it with a label, an origin and a change log, and filter it.")


def _preview(call: Call[Generated]) -> None:
    words = {
        name: call.options[name] for name in parameters_of(front.preview) if name in call.options
    }
    generated, cost = Call(front.preview, words)()
    if wants_json():
        emit(
            {
                "samples": generated.tables["chains"].to_dicts(),
                "texts": generated.records.to_dicts(),
                "estimate": cost,
            }
        )
        return
    show_blocks(sample_blocks(generated), most=110)
    show_estimate(cost)
    suggest("the same without --preview")


@app.of(front.generate)
def run(
    call: Call[Generated],
    preview: Annotated[
        bool, Option("Show five samples and what the whole would cost, and write nothing.")
    ] = False,
) -> None:
    if preview:
        _preview(call)
        return
    generated, output = call(), call.output
    counts = generated.lineage[-1].counts
    written(generated, more={"generated": counts, "coverage": generated.coverage})
    if not wants_json():
        _print(generated, counts)
    suggest(f"claimlab generate filter {output} -o {output}-good --report {output}-quality")


def _print(generated: Generated, counts: dict[str, int]) -> None:
    complete = counts.get("chains: complete", 0)
    echo(f"  {several(counts['samples'], 'sample')}, {complete:,} complete")
    for name, n in counts.items():
        kind, _, what = name.partition(": ")
        if kind == "chains" and what not in ("", "complete"):
            say(f"Note: {several(n, 'chain')} stopped: {what}.")
    if again := counts.get("answers asked for again", 0):
        say(
            f"Note: {several(again, 'answer')} could not be read and had to be asked for once more."
        )
    show_blocks(coverage_blocks(generated), most=100)
    if generated.standing:
        say(f"Note: the model that wrote texts is {generated.standing}.")


def _metrics() -> dict[str, str]:
    return {
        name: f"{one.summary}{'' if one.gate else ' (information only)'}; needs {one.needs}"
        for name, one in METRICS.all().items()
    }


@app.of(sim.quality_filter, "filter", lists={"metrics": _metrics}, page="report")
def filter_(call: Call[Filtered]) -> None:
    filtered, output = call(), call["output"]
    call.show_page()
    if not wants_json():
        show_blocks(summary(filtered))
    if output is not None or wants_json():
        written(filtered.dataset, more={"quality": filtered.to_json()})
    if output is not None:
        suggest(f"claimlab review create {output} -o REVIEW --task keep --sample 50")
