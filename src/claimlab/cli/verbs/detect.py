"""`claimlab detect`: fit a detector on a dataset's training rows and keep its prediction for every test row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claimlab.cli.output import (
    ForceFlag,
    JsonFlag,
    LimitOption,
    SeedOption,
    calls_beside,
    echo,
    emit,
    progress_bar,
    say,
    show_estimate,
    verb,
)

if TYPE_CHECKING:
    from claimlab.core.calls.calls import Calls
    from claimlab.core.dataset import Dataset
    from claimlab.core.progress import Progress
    from claimlab.detect.detector import Detector
    from claimlab.tasks.task import Task

app = verb()


@app.command()
def detect(
    folder: Annotated[Path, typer.Argument(help="A claimlab dataset folder with a split.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write the run to.")],
    detector: Annotated[
        str, typer.Option(help="Which detector: majority, stratified, tfidf, llm-zero-shot, ..., or one you added.")
    ] = "tfidf",
    task: Annotated[str, typer.Option(help="A task (veracity, veracity-mixed, ...) or any column.")] = "veracity",
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the detector, KEY=VALUE; again for more.")
    ] = None,
    evidence: Annotated[
        str, typer.Option(help="What it sees of the dataset's evidence: none, complete, filtered or guarded.")
    ] = "none",
    pieces: Annotated[int, typer.Option(min=1, max=50, help="Pieces of evidence for a record, at most.")] = 5,
    profile: Annotated[str | None, typer.Option(help="Model profile; see: claimlab llm profiles")] = None,
    model: Annotated[str | None, typer.Option(help="Another model of the same endpoint.")] = None,
    provider: Annotated[
        list[str] | None,
        typer.Option(help="Where llm-search searches: local:FOLDER, brave, ...; again for a fallback."),
    ] = None,
    search_profile: Annotated[
        str | None, typer.Option(help="Profile of a cheaper model that condenses search results.")
    ] = None,
    search_model: Annotated[str | None, typer.Option(help="Another model of that endpoint.")] = None,
    cache: Annotated[Path | None, typer.Option(help="Folder of recorded calls (OUTPUT.cache).")] = None,
    mode: Annotated[
        str, typer.Option(help="'record' (and resume), 'replay' (no network) or 'live' (no recording).")
    ] = "record",
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that this run may spend at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Paid calls, of models and search together.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=0, help="Tokens of models.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Print what the run would cost, and stop.")] = False,
    timed: Annotated[
        bool, typer.Option("--timed", help="Keep the seconds per prediction of local detectors too (they vary).")
    ] = False,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Train a detector on split 'train', tune it on 'dev', and keep its predictions for 'test'."""
    from claimlab.core.dataset import Dataset, refuse_overwrite
    from claimlab.core.settings import read as read_settings
    from claimlab.detect.detector import DETECTORS
    from claimlab.detect.open import open_handles
    from claimlab.tasks.task import open_task

    if not estimate:
        refuse_overwrite(output, force, reads=folder)
    chosen = DETECTORS.get(detector)
    told = read_settings(chosen, settings or (), of=f"the detector '{chosen.name}'")
    dataset = Dataset.open(folder).limited(limit)
    asked = open_task(task, dataset.records)
    options = {"seed": seed, "evidence": evidence, "pieces": pieces, "timed": timed}
    with progress_bar() as progress:
        calls = calls_beside(
            output, mode, cache, (max_cost, max_calls, max_tokens), estimate=estimate, progress=progress
        )
        words: dict[str, Any] = {
            "profile": profile,
            "model": model,
            "search_profile": search_profile,
            "search_model": search_model,
            "providers": provider or (),
        }
        _refuse_unasked(chosen, words)
        with open_handles(calls, **words) as opened:
            ready = chosen(**opened, **_screen(chosen, evidence), **told)
            ready.progress = progress  # training may take long too
            if estimate:
                _estimate(dataset, ready, asked, calls, options, as_json)
                return
            run = _run(dataset, ready, asked, output, options, progress=progress, resume=mode != "replay")
    calls.close()
    _finish(run, asked, dataset, output, calls, force=force, as_json=as_json)


def _refuse_unasked(chosen: type[Detector], words: dict[str, Any]) -> None:
    """A model or a search that the detector would never ask is a misunderstanding: say so before anything is spent."""
    from claimlab.core.errors import UsageError

    takes = chosen.handles
    if words["profile"] is not None and "model" not in takes:
        raise UsageError(f"The detector '{chosen.name}' asks no model.", "Leave --profile out, or choose an llm one.")
    if words["model"] is not None and words["profile"] is None:
        raise UsageError("--model names a model of a profile.", "Name the profile too, with --profile.")
    if words["search_model"] is not None and words["search_profile"] is None:
        raise UsageError("--search-model names a model of a profile.", "Name it too, with --search-profile.")
    if (words["providers"] or words["search_profile"]) and "search" not in takes:
        raise UsageError(
            f"The detector '{chosen.name}' does not search.",
            "Leave out --provider and --search-profile, or use --detector llm-search.",
        )


def _screen(chosen: type[Detector], evidence: str) -> dict[str, Any]:
    """What a searching detector may not see of what it finds: the same reading as of evidence found before."""
    if "search" not in chosen.handles or evidence not in ("filtered", "guarded"):
        return {}
    from claimlab.detect.detectors.llm_search import Screen
    from claimlab.enrich.guard import mark

    def barred(row: Any, pieces: Any) -> list[bool]:
        marks = mark(dict(row), pieces)
        if evidence == "filtered":
            return [m.filtered for m in marks]
        return [m.guard_factcheck or m.guard_own_source or m.guard_copy for m in marks]

    return {"screen": Screen(evidence, barred)}


def _run(
    dataset: Dataset,
    ready: Detector,
    asked: Task,
    output: Path,
    options: dict[str, Any],
    *,
    progress: Progress,
    resume: bool,
) -> Dataset:
    from claimlab.detect.run import detect as run_detector

    # A replay takes nothing but the recording: it must not pass because of what a stopped run left behind.
    work = _work(output) if resume else None
    try:
        return run_detector(dataset, ready, task=asked, work=work, progress=progress, **options)
    except KeyboardInterrupt:
        say("What was predicted is kept; run the same command again to go on from there.")
        raise


def _work(output: Path) -> Path:
    return output.parent / f".{output.name}.detecting"


def _finish(
    run: Dataset, asked: Task, dataset: Dataset, output: Path, calls: Calls, *, force: bool, as_json: bool
) -> None:
    from claimlab.detect.run import finish
    from claimlab.detect.scores import headline, scores_of

    manifest = run.write(output, force=force)
    finish(_work(output))
    if calls.budget.ledger is not None:
        calls.budget.ledger.close(complete=True)
    notes = run.notes[len(dataset.notes) :]
    for note in notes:
        say(f"Note: {note}")
    scores = scores_of(run, asked)
    if as_json:
        lineage = [step.model_dump() for step in manifest.lineage]
        more = {"scores": scores, "notes": notes, "budget": calls.budget.summary()}
        emit({"output": str(output), "counts": manifest.counts, "lineage": lineage, **more})
        return
    echo(f"Wrote {output}: {headline(run.lineage[-1].parameters['detector'], scores)}")


def _estimate(
    dataset: Dataset, ready: Detector, asked: Task, calls: Calls, options: dict[str, Any], as_json: bool
) -> None:
    from claimlab.detect.cost import estimate

    told = {key: options[key] for key in ("seed", "evidence", "pieces")}
    show_estimate(estimate(dataset, ready, calls, task=asked, **told), as_json)
