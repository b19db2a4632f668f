"""`claimlab evolve worth`: how check-worthy claims are, under stated conditions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from claimlab.cli.output import ForceFlag, JsonFlag, LimitOption, SeedOption, echo, emit, progress_bar, say, several

if TYPE_CHECKING:
    from claimlab.core.dataset import Dataset
    from claimlab.core.progress import Progress
    from claimlab.evolve.worth.score import Perspective, Society
    from claimlab.evolve.worth.views import Worth

TABLE, REPORT, FILE = "worth", "worth-report", "worth.json"


def worth(
    folder: Annotated[Path, typer.Argument(help="A claimlab dataset folder.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the dataset with its scores and a report.")
    ],
    reading: Annotated[str, typer.Option(help="'free' (ours, unrounded), 'paper' or 'released'.")] = "free",
    background: Annotated[
        str | None, typer.Option(help="Such as time_node=sensitive,regulatory_pressure=high,trust_climate=low.")
    ] = None,
    user: Annotated[
        list[str] | None, typer.Option("--user", help="ATTRIBUTE=VALUE that users must have; may be repeated.")
    ] = None,
    perspective: Annotated[
        str | None, typer.Option(help="Content values that count, with weights if wanted: controversy=2,novelty.")
    ] = None,
    content_weight: Annotated[float | None, typer.Option(min=0, help="Weight of the content value.")] = None,
    propagation_weight: Annotated[float | None, typer.Option(min=0, help="Weight of the propagation ability.")] = None,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Score from which a claim is worthy.")] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="How deep a cascade may go (3).")] = None,
    fan_out: Annotated[int | None, typer.Option(min=1, help="How many others a user tells at most (3).")] = None,
    starts: Annotated[int | None, typer.Option(min=1, help="Cascades per claim (20; 1 as published).")] = None,
    population: Annotated[str, typer.Option(help="A file of users, or how many to draw.")] = "90",
    network: Annotated[str, typer.Option(help="A file, or a kind of network.")] = "dunbar",
    values: Annotated[Path | None, typer.Option(help="Another table of shifts and words (values.toml).")] = None,
    by: Annotated[
        str | None, typer.Option(help="Score under each value of this attribute or part of the background, too.")
    ] = None,
    people: Annotated[Path | None, typer.Option(help="People's scores to compare with: CSV with id and score.")] = None,
    judge: Annotated[str | None, typer.Option(help="Model profile that plays the users, instead of features.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="US dollars that the model may spend at most.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=0, help="Calls that the model may make at most.")] = None,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    force: ForceFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Score how check-worthy claims are, given the social background, the users and the perspective."""
    from claimlab.core.dataset import Dataset, refuse_overwrite
    from claimlab.evolve.worth.score import Perspective
    from claimlab.evolve.worth.spread import Bounds

    refuse_overwrite(output, force, reads=folder)
    dataset = Dataset.open(folder).limited(limit)
    bounds = Bounds(depth or 3, fan_out or 3)
    weights = _weights(perspective)
    view = Perspective.named(
        reading, dimensions=weights, content=content_weight, propagation=propagation_weight, threshold=threshold,
        bounds=bounds, starts=starts,
    )  # fmt: skip
    where = dict(_pair(u) for u in user or ())
    caps = (max_cost, max_calls)
    with progress_bar() as progress:
        society = _society(population, network, where, seed)
        found = _score(dataset, society, view, background, where, values, judge, caps, by, seed, progress)
    if people is not None:
        found.people = _compared(found, people, seed)
    manifest = _write(dataset, found, output, seed, force)
    if as_json:
        lineage = [step.model_dump() for step in manifest.lineage]
        emit({"output": str(output), "counts": manifest.counts, "lineage": lineage, "worth": found.to_json()})
        return
    _print(found, output)


def _weights(text: str | None) -> dict[str, float] | None:
    from claimlab.core.errors import UsageError

    if text is None:
        return None
    out = {}
    for part in text.split(","):
        name, _, weight = (p.strip() for p in part.partition("="))
        try:
            out[name] = float(weight) if weight else 1.0
        except ValueError:
            raise UsageError(f"'{weight}' is no weight.", "Write NAME=NUMBER, such as controversy=2.") from None
    return out


def _pair(text: str) -> tuple[str, str]:
    from claimlab.core.errors import UsageError

    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"'{text}' names no value.", "Write ATTRIBUTE=VALUE, such as 'education=higher education'.")
    return name.strip(), value.strip()


def _society(population: str, network: str, where: dict[str, str], seed: int) -> Society:
    from claimlab.evolve.society.open import open_network, open_population
    from claimlab.evolve.worth.score import Society

    people = open_population(population, seed)
    return Society.of(people, open_network(network, people, seed), where)


def _score(
    dataset: Dataset,
    society: Society,
    view: Perspective,
    background: str | None,
    where: dict[str, str],
    values: Path | None,
    judge: str | None,
    caps: tuple[float | None, int | None],
    by: str | None,
    seed: int,
    progress: Progress,
) -> Worth:
    from claimlab.core.errors import UsageError
    from claimlab.evolve.worth.conditions import conditional
    from claimlab.evolve.worth.score import worth as by_features
    from claimlab.evolve.worth.values import Background, Values
    from claimlab.evolve.worth.views import Worth

    if judge is None and any(cap is not None for cap in caps):
        raise UsageError("A cap was set, but without a model nothing is spent.", "Add --judge PROFILE.")
    if judge is not None and by is not None:
        raise UsageError("--by scores every claim several times, by features.", "Leave out --judge or --by.")
    told = dataset.records.drop_nulls("text")
    claims = list(told.select("id", "text").iter_rows())
    setting: dict[str, Any] = {
        "background": Background.parse(background), "perspective": view, "values": Values.read(values), "seed": seed,
        "progress": progress,
    }  # fmt: skip
    tally = None
    if judge is None:
        scores, method = by_features(claims, society, **setting), "features"
    else:
        from claimlab.core.budget import Budget
        from claimlab.core.calls.calls import Calls
        from claimlab.core.places import cache_folder
        from claimlab.evolve.worth.agents import worth_by_agents
        from claimlab.llm.open import open_provider

        calls = Calls(cache=cache_folder(), budget=Budget(money=caps[0], calls=caps[1]))
        provider = open_provider(judge, calls=calls)
        scores, counted = worth_by_agents(claims, society, provider, **setting)
        method, tally = f"agents played by {provider.profile.chosen_model()}", counted.summary()
    topics = told.select("id", "topic")
    return Worth(
        scores=scores.join(topics, on="id", maintain_order="left"), background=setting["background"], perspective=view,
        society=society, method=method, where=where, tally=tally, by=by, untold=dataset.records.height - told.height,
        conditions=conditional(claims, society, by, **setting) if by is not None else None,
    )  # fmt: skip


def _compared(found: Worth, people: Path, seed: int) -> dict[str, Any]:
    import polars as pl

    from claimlab.core.errors import DataError
    from claimlab.evolve.worth.compare import against_people
    from claimlab.files.read import user_table

    try:
        theirs = user_table(people, "id", "score").select("id", pl.col("score").cast(pl.Float64))
    except pl.exceptions.PolarsError as error:
        raise DataError(
            f"'{people}' cannot be read as scores: {error}.", "Give a table with the columns id and score."
        ) from None
    return against_people(found.scores, theirs, seed=seed)


def _write(dataset: Dataset, found: Worth, output: Path, seed: int, force: bool) -> Any:
    """The dataset with the table `worth` and, in a folder of its own, the report."""
    from claimlab.core.atomic import atomic_folder
    from claimlab.core.dataset import Lineage, refuse_overwrite
    from claimlab.evolve.worth.views import page
    from claimlab.pages.folder import Contents, fill

    told = found.to_json()
    step = Lineage(
        step="evolve worth",
        parameters={k: told[k] for k in ("method", "background", "users", "perspective")},
        seed=seed,
        inputs={"records.parquet": dataset.digest()},
        counts={"claims": told["claims"], "unscored": told["unscored"]},
    )
    table = found.scores.drop("topic").rename({"id": "record_id"})
    made = dataset.derive(dataset.records, step, {**dataset.tables, TABLE: table})
    refuse_overwrite(output, force)
    with atomic_folder(output) as building:
        manifest = made.write_into(building)
        fill(Contents("worth report", [page(found)], data={FILE: told}), building / REPORT)
    say(f"Report: {output / REPORT / 'index.html'}")
    return manifest


def _print(found: Worth, output: Path) -> None:
    told = found.to_json()
    echo(
        f"Wrote {output}: {several(told['claims'] - told['unscored'], 'claim')} scored ({told['method']}), "
        f"{told['unscored']:,} without a score."
    )
    echo(f"  The highest score that depth {found.perspective.bounds.depth} and fan-out "
               f"{found.perspective.bounds.fan_out} allow: {found.ceiling:.3f}")  # fmt: skip
    for row in told["by_topic"]:
        echo(f"  {row['topic']}: mean {row['mean']:.3f}, quartiles {row['lower']:.3f} to {row['upper']:.3f}")
    if told["worthy"] is not None:
        echo(f"  {told['worthy']:,} at or above the threshold of {found.perspective.threshold:g}")
    for row in told["conditions"] or ():
        echo(f"  {found.by} {row['condition']}: mean {row['mean']:.3f}, distance {row['distance']:.3f}")
    if found.people is not None:
        echo(f"  Wasserstein distance from people: {found.people['wasserstein']:.3f}")
