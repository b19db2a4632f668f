"""`claimlab evolve`: claims pass through a simulated society; what they became is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import claimlab_simulate as sim
from claimlab.cli.command import Call, verb
from claimlab.cli.output import (
    echo,
    emit,
    note,
    say,
    several,
    show_blocks,
    suggest,
    wants_json,
    written,
)
from claimlab.core.calls.calls import without_recordings
from claimlab.core.options import Argument
from claimlab.pages.blocks import Table
from claimlab_simulate.evolve.claims.seeding import Seeded
from claimlab_simulate.evolve.drift.attainment import one_against_three
from claimlab_simulate.evolve.drift.result import Drift
from claimlab_simulate.evolve.front import Evolved
from claimlab_simulate.evolve.learn import Adapter, forecast
from claimlab_simulate.evolve.validate.page import fit_table, summary_table
from claimlab_simulate.evolve.validate.result import CANNOT, Validation
from claimlab_simulate.evolve.worth.front import REPORT, Worth, by_topic, top_claims

app = verb(
    help="Claims in a simulated society: let them evolve, measure drift and check-worthiness."
)


@app.of(sim.evolve)
def run(call: Call[Evolved]) -> None:
    evolved = call()
    counts, parameters = evolved.lineage[-1].counts, evolved.lineage[-1].parameters
    written(evolved, more={"evolved": counts, "budget": evolved.budget})
    if not wants_json():
        echo(f"  {several(counts['turns'], 'turn')} of agents, each kept in traces.parquet")
        for name, n in counts.items():
            kind, _, what = name.partition(": ")
            if kind in ("claims", "turns") and what:
                echo(f"  {n:>8,} {kind} {what}")
            elif what:
                say(f"{kind.capitalize()}: {what} ({n:,}).")
    note(evolved.remarks, "evolve")
    standings = [part.get("standing") for part in (parameters["rewriter"], *parameters["auditors"])]
    for standing in dict.fromkeys(s for s in standings if s):
        say(f"Note: the model that rewrote claims is {standing}.")
    suggest(f"claimlab evolve drift {evolved.path} -o {evolved.path}-drift")


@app.of(sim.evolve_learn)
def learn(call: Call[Adapter]) -> None:
    say(forecast(call["data"], call["limit"]))
    learned, output = call(), call.output
    if wants_json():
        emit({"output": str(output), **vars(learned)})
    else:
        echo(f"Wrote {output}: an adapter learned from {several(learned.hops, 'hop')}.")
        echo(
            f"  loss per token on {several(learned.held_out, 'hop')} of held-out seeds:"
            f" {learned.loss_before:.2f} before, {learned.loss_after:.2f} after"
        )
    suggest(
        "claimlab evolve run DIR -o OUT --kind intervened --target all --rewriter learned"
        f" --adapter {output}"
    )


@app.of(sim.drift, page="output")
def drift(call: Call[Drift]) -> None:
    output, folders = call["output"], without_recordings(call["data"])
    drifted = call(data=folders)
    if wants_json():
        emit({"output": output and str(output), **drifted.to_json(), "datasets": drifted.stages})
    else:
        _print_drift(drifted)
    call.show_page()
    suggest(
        f"claimlab evolve worth {folders[0]} -o DIR"
        if output
        else "the same with -o DIR for a report"
    )


def _print_drift(drifted: Drift) -> None:
    counts = drifted.counts
    echo(f"{counts['traces']:,} traces, {counts['hops']:,} hops, {counts['failed_hops']:,} failed.")
    _print_curves(drifted)
    sure = drifted.details["low"].is_not_null()  # enough traces for an interval
    known = drifted.details.filter(sure) if sure.any() else drifted.details
    ends = known.group_by("kind", maintain_order=True).last()
    for row in ends.iter_rows(named=True):
        echo(
            f"  {row['kind']}: {100 * row['kept']:.0f}% kept at step {row['step']}, null model"
            f" {100 * row['null_kept']:.0f}%"
        )
    for row in drifted.attainment.drop_nulls("share").iter_rows(named=True):
        same = f", {row['untouched']:,} passed untouched" if row["untouched"] else ""
        echo(
            f"  {row['dimension']} ({row['setting']}, {row['judge']}):"
            f" {100 * row['share']:.1f}% attained{same}"
        )
    for row in one_against_three(drifted.attainment).iter_rows(named=True):
        echo(f"  {row['dimension']} ({row['judge']}), three auditors against one: {row['verdict']}")
    _print_judged(drifted)
    note(drifted.notes, "evolve drift")
    for folder, stage in drifted.stages.items():
        echo(f"  Wrote {folder}: {stage['records']:,} records")


def _print_curves(drifted: Drift) -> None:
    several_values = {
        by for by in ("run", "topology") if sum(key == by for key, _ in drifted.curves) > 1
    }
    for (by, value), curve in drifted.curves.items():
        if by != "all" and by not in several_values:
            continue
        name = "all traces" if by == "all" else f"{by} {value}"
        shape = (
            "slopes not known"
            if curve.ratio is None
            else f"the final slope is {100 * curve.ratio:.0f}% of the initial one"
        )
        end, noise = (
            "–" if figure is None else f"{figure:.3f}" for figure in (curve.end, curve.noise_end)
        )
        echo(f"  {name}: drift-lite {end} at the end, null model {noise}; {shape}")
    unrelated = drifted.curves["all", ""].unrelated
    if unrelated is not None:
        echo(f"  two unrelated claims: {unrelated:.3f}")


def _print_judged(drifted: Drift) -> None:
    if drifted.fuse is None:
        return
    last = drifted.fuse.groups.filter(drifted.fuse.groups["step"].is_null())
    for row in last.filter(last["by"].is_in(["all", "topology", "home"])).iter_rows(named=True):
        name = "all judged traces" if row["by"] == "all" else f"{row['by']} {row['value']}"
        total, scale = row["total_deviation"], drifted.fuse.reading.scale
        echo(
            f"  FUSE-EVAL, {name} ({row['traces']:,}): {total:.2f} on {scale} at the last judged"
            " hop"
        )


@app.of(sim.worth, page="output")
def worth(call: Call[Worth]) -> None:
    scored, output = call(), call.output
    if wants_json():
        assert scored.dataset is not None
        written(scored.dataset, more={"worth": scored.to_json()})
    else:
        _print_worth(scored, output)
    call.show_page(REPORT)
    suggest(f"claimlab export {output} --to csv -o DIR")


def _print_worth(scored: Worth, output: Path) -> None:
    top = [(f"{score:.3f}", text) for score, _, text in top_claims(scored, 5)]
    figures, view = scored.to_json(), scored.perspective
    known = several(figures["claims"] - figures["unscored"], "claim")
    echo(
        f"Wrote {output}: {known} scored ({figures['method']}), {figures['unscored']:,} without a"
        " score."
    )
    echo(
        f"  Highest possible score with depth {view.depth} and fan-out {view.fan_out}:"
        f" {scored.ceiling:.3f}"
    )
    show_blocks([Table(("Score", "Most check-worthy"), top)])
    echo()
    for row in by_topic(scored).head(10).drop_nulls("mean").iter_rows(named=True):
        echo(
            f"  {row['topic']}: mean {row['mean']:.3f}, quartiles {row['lower']:.3f} to"
            f" {row['upper']:.3f}"
        )
    if figures["worthy"] is not None:
        echo(f"  {figures['worthy']:,} at or above the threshold of {view.threshold:g}")
    for row in figures["conditions"] or ():
        echo(
            f"  {scored.by} {row['condition']}: mean {row['mean']:.3f}, distance"
            f" {row['distance']:.3f}"
        )
    if scored.people is not None:
        echo(
            "  Wasserstein distance from the annotators' scores:"
            f" {scored.people['wasserstein']:.3f}"
        )


@app.of(sim.validate_cascades, page="output")
def validate(call: Call[Validation]) -> None:
    validation, output = call(), call["output"]
    if wants_json():
        emit({"output": output and str(output), **validation.to_json()})
    else:
        counts = validation.counts
        echo(f"{counts['fit']:,} real cascades to fit, {counts['test']:,} to test.")
        show_blocks([fit_table(validation), summary_table(validation)])
        for kind, words in validation.failures.items():
            echo(f"  {kind} {words}")
        note([*validation.notes, CANNOT], "evolve validate")
    call.show_page()
    suggest("claimlab evolve run DIR -o OUT --kind cascade" if output else "the same with -o DIR")


@app.of(sim.seed_claims)
def seed(
    call: Call[Seeded],
    contexts: Annotated[
        Path, Argument("Source texts: a file (abstracts, or a column 'text') or a dataset folder.")
    ],
) -> None:
    seeded = call(contexts=contexts)
    more = {"seeded": seeded.counts, "dropped": seeded.dropped, "calls": seeded.calls}
    written(seeded.dataset, more=more)
    if not wants_json():
        for what, count in {**seeded.counts, **seeded.dropped}.items():
            echo(f"  {count:>8,} {what.replace('_', ' ')}")
    note(seeded.dataset.notes, "evolve seed")
    suggest(f"claimlab evolve run {call.output} -o {call.output}-evolved")
