"""The Python twin of `claimlab evolve drift`.

drifted = cl.drift("walked", output="drift-report")
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Unpack

import polars as pl

from claimlab.core.call import repeatable
from claimlab.core.calls.estimate import Priced
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.guard import DATASET, refuse_taken
from claimlab.core.options import (
    Argument,
    CallOptions,
    Force,
    Limit,
    Option,
    OptionalFolder,
    Place,
    PromptFiles,
    Seed,
    Setting,
    divided,
    is_capped,
)
from claimlab.core.record import SCHEMA, SIDE_TABLES, meta_json
from claimlab.core.run import Run, Source, Stored, folders_of
from claimlab.core.settings import each_of, one_of
from claimlab.core.types import JsonObject
from claimlab.evolve.auditors.known.model import case_of as audit_case
from claimlab.evolve.auditors.known.model import judge_of as auditor_of
from claimlab.evolve.claims.model import Target
from claimlab.evolve.contracts import Question
from claimlab.evolve.drift.attainment import independent_ends, last_hops
from claimlab.evolve.drift.hops import read_hops
from claimlab.evolve.drift.judged import START, Inquiry, Judges, Reading, contexts, which_hops
from claimlab.evolve.drift.measure import Drift, measure
from claimlab.evolve.drift.noise import NOISE, with_noise
from claimlab.evolve.drift.viewer import KIND, Society, contents, society_of
from claimlab.evolve.society.network import read_network
from claimlab.evolve.society.population import Population
from claimlab.llm.estimate import estimate as estimate_calls
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import read_prompts
from claimlab.pages.folder import fill
from claimlab.text.changes import changes

# The seed, middle and evolved stage of traces as datasets: what the claims said before, halfway and
# after; and what the null model makes of the seeds, to test a detector on as well.
#
# Every record carries its label, origin and change log, and the hops that made it are its traces.
# Seeds are listed once however many traces start from them. A trace of one hop has no middle; it is
# counted, not invented.

NULL = "null"  # the seeds after as many words changed as on the way to `evolved`, at random
LEVELS = ("seed", "middle", "evolved", NULL)
STEP = "step-"  # with a number: the claims after that many hops
LABELS = ("source", "verdict")


def wanted_levels(words: str | Sequence[str]) -> list[str]:
    """The user's stages ("seed,middle"), checked: before anything is measured."""
    names = [name.strip() for name in ",".join(each_of(words)).split(",") if name.strip()]
    wrong = [name for name in names if name not in LEVELS and not _step(name)]
    if wrong or not names:
        named = f"There is no stage '{wrong[0]}'." if wrong else "No stage was named."
        raise UsageError(named, f"Choose among: {', '.join(LEVELS)}, {STEP}10 (any number).")
    return names


def _step(name: str) -> int:
    """The hop that the name of a stage says; 0 where it says none."""
    number = name.removeprefix(STEP)
    return int(number) if number != name and number.isdecimal() else 0


def stages(
    dataset: Dataset,
    hops: pl.DataFrame,
    names: Sequence[str] = LEVELS,
    prompts: Mapping[str, Any] | None = None,
    label: str = "source",
) -> dict[str, Dataset]:
    """Each wanted stage of one run as a dataset; `prompts` are the words that judges of its hops
    were asked with.

    `label` is what `label_raw` says: "source", the label of the claim, or "verdict", how true the
    text was judged to be on six levels (task `veracity-six`); texts that were not judged have none.
    """
    names = wanted_levels(names)
    one_of(LABELS, label, "label")
    line = main_line(hops if NOISE in hops.columns else with_noise(hops))
    return {name: _stage(dataset, line, name, prompts or {}, label) for name in names}


def main_line(hops: pl.DataFrame) -> pl.DataFrame:
    """Of a cascade only the hops that led to its last text, numbered anew; walks as they are."""
    branched = hops.filter(pl.col("parent").is_not_null().any().over("trace_id"))
    if not branched.height:
        return hops
    path: list[tuple[str, int]] = []
    for (trace,), part in branched.group_by("trace_id", maintain_order=True):
        parents = dict(part.select("hop", "parent").iter_rows())
        at: int | None = max(parents)
        while at:
            path.append((str(trace), at))
            at = parents.get(at)
    wanted = pl.DataFrame(path, schema={"trace_id": pl.String, "hop": pl.Int32}, orient="row")
    line = branched.join(wanted, on=["trace_id", "hop"], how="semi").sort("trace_id", "hop")
    walks = hops.join(branched.select("trace_id").unique(), on="trace_id", how="anti")
    return pl.concat([walks, line]).with_columns(
        hop=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("trace_id"),
        hops=pl.len().over("trace_id").cast(pl.Int32),
    )


def _stage(
    dataset: Dataset, hops: pl.DataFrame, name: str, prompts: Mapping[str, Any], label: str
) -> Dataset:
    rows = {r["id"]: r for r in dataset.records.iter_rows(named=True)}
    if name == NULL:
        hops = hops.with_columns(output=pl.col(NOISE), verdict=pl.lit(None, dtype=pl.String))
    chosen = hops.filter(pl.col("hop") == stop_of(name)).drop_nulls(
        "base" if name == "seed" else "output"
    )
    records: dict[str, JsonObject] = {}  # by trace, and seeds by claim
    owners: dict[str, str] = {}
    for hop in chosen.iter_rows(named=True):
        source = rows.get(hop["record_id"], {})
        key = (source.get("group") or hop["base"]) if name == "seed" else hop["trace_id"]
        if key not in records:
            records[key] = _record(source, hop, name, label)
            owners[records[key]["id"]] = hop["trace_id"]
    table = _traces(dataset, hops, owners, name)
    frame = pl.DataFrame(list(records.values()), schema=SCHEMA)
    traces = hops["trace_id"].n_unique()
    step = Lineage(
        step=f"evolve drift: {name}",
        parameters={
            "stage": name,
            "label": label,
            **({"prompts": dict(prompts)} if prompts else {}),
        },
        inputs={"records.parquet": dataset.digest()},
        counts={
            "traces": traces,
            "records": frame.height,
            "without_this_stage": traces - chosen.height,
        },
    )
    out = Dataset.build(
        f"{dataset.name}-{name}", frame, {"traces": table} if table.height else {}, synthetic=True
    )
    out.licence, out.card = dataset.licence, dataset.card
    out.lineage = [*dataset.lineage, step]
    return out


def stop_of(name: str) -> pl.Expr:
    """The hop at which a stage stands; the seed is what the first hop was given."""
    if name == "seed":
        return pl.lit(1, dtype=pl.Int32)
    if name in ("evolved", NULL):
        return pl.col("hops")
    if number := _step(name):
        return pl.lit(number, dtype=pl.Int32)
    # Halfway, rounded up; a trace of one hop has no middle, and hop 0 matches nothing.
    return pl.when(pl.col("hops") > 1).then((pl.col("hops") + 1) // 2).otherwise(0)


def _record(source: JsonObject, hop: JsonObject, name: str, wanted: str) -> JsonObject:
    """The record of one trace at one stage."""
    meta = json.loads(source.get("meta") or "{}")
    note: JsonObject = meta["synthetic"] if isinstance(meta.get("synthetic"), dict) else {}
    origin = {
        "trace": hop["trace_id"],
        "base_claim": hop["base"],
        "run": hop["run"],
        "made": note.get("origin"),
    }
    label = note.get("label") or source.get("label_raw") or "none given"
    unmoved = name == "seed" or hop["output"] == hop["base"]
    verdict = _verdict(source, hop, name)
    row = {column: source.get(column) for column in SCHEMA}
    row |= {
        "id": f"{hop['trace_id']}-{name}",
        "text": hop["base"] if name == "seed" else hop["output"],
        "kind": source.get("kind") or "claim",
        # A rewrite may be true no more: the verdict of the seed is not handed on to what it became.
        "veracity": source.get("veracity") if unmoved else None,
        "topic": hop["topic"],
        "group": source.get("group") or hop["trace_id"],
        "authorship": _authorship(source.get("authorship"), name),
        "split": None,
        "label_raw": (
            verdict.get("verdict_level") if wanted == "verdict" else source.get("label_raw")
        ),
        "meta": meta_json(
            {
                **meta,
                "stage": name,
                "topology": hop["topology"],
                "home": hop["home"],
                **verdict,
                "synthetic": {
                    "label": label,
                    "origin": origin,
                    "changes": _log(hop, name),
                },
            }
        ),
    }
    return row


def _log(hop: JsonObject, name: str) -> list[JsonObject]:
    if name == NULL:
        return changes(hop["base"], hop["output"])
    change = {
        "stage": name,
        "hops": hop["hop"],
        "of": hop["hops"],
        "dimension": hop["dimension"],
        "value": hop["target"],
    }
    return [] if name == "seed" else [change]


def _authorship(of_record: str | None, name: str) -> str | None:
    """The record speaks of what the claim became; a person's seed that was altered on the way was a
    person's.
    """
    if name == "seed":
        return None if of_record == "HAT" else of_record
    return of_record or "MGT"


def _verdict(source: JsonObject, hop: JsonObject, name: str) -> JsonObject:
    """How true the text of this stage was judged to be, why and by whom; of a seed, what its own
    label says.
    """
    if name == "seed":
        return {"verdict_level": START if source.get("veracity") == "true" else None}
    more = ("verdict_rationale", "verdict_by") if hop["verdict"] else ()
    return {"verdict_level": hop["verdict"], **{k: hop[k] for k in more if hop.get(k)}}


def _traces(
    dataset: Dataset, hops: pl.DataFrame, owners: dict[str, str], name: str
) -> pl.DataFrame:
    """The hops that led to each record of the stage, keyed by its new id; a seed has none behind
    it.
    """
    table = dataset.tables["traces"]
    if name in ("seed", NULL) or not owners:
        return table.clear().select(list(SIDE_TABLES["traces"]))
    until = hops.filter(pl.col("hop") <= stop_of(name)).select("trace_id", "round", "step")
    ids = pl.DataFrame({"new": list(owners), "trace_id": list(owners.values())})
    rows = table.join(until, on=["trace_id", "round", "step"], how="semi").join(ids, on="trace_id")
    return (
        rows.drop("record_id")
        .rename({"new": "record_id"})
        .select(table.columns)
        .sort("trace_id", "round", "step")
    )


class Measuring(CallOptions, total=False):
    """Who judges how far claims drifted, and on how many hops."""

    judge: Annotated[
        str | Sequence[str],
        Option("Model profile that scores FUSE-EVAL; may be repeated.", default=()),
    ]
    reading: Annotated[
        str, Setting("FUSE-EVAL as in the 'paper' or as 'released'.", default="paper")
    ]
    runs: Annotated[
        int, Setting("How often each judge is asked; agreement needs 2.", least=1, default=1)
    ]
    sample: Annotated[int, Setting("Number of hops that the judges score.", least=1, default=200)]
    hops: Annotated[
        str,
        Setting(
            "Which hops of a trace they score: 'last', 'all', 'every:N' or 'spread'.",
            default="spread",
        ),
    ]
    auditor: Annotated[
        str | None,
        Setting(
            "Independent judge of attainment: rules, classifier, or model (the first `judge`)."
        ),
    ]
    auditor_data: Annotated[
        Place | None, Setting("Dataset that the classifier auditor learns from.")
    ]
    prompts: PromptFiles


@repeatable("levels", writes="datasets")
def drift(
    data: Annotated[
        Stored | Sequence[Source],
        Argument("Dataset folders with traces; several are compared.", kind=Path),
    ],
    *,
    output: OptionalFolder = None,
    datasets: Annotated[
        Place | None, Option("Folder for the stages of the claims as datasets.")
    ] = None,
    levels: Annotated[str | Sequence[str], Setting("Which stages `datasets` writes.")] = LEVELS,
    stage_label: Annotated[
        str, Setting("Label of the stages: that of the claim ('source') or the judged 'verdict'.")
    ] = "source",
    population: Annotated[
        Place | None, Setting("File of the agents (ARCHIVE#MEMBER), if the traces have none.")
    ] = None,
    network: Annotated[
        Place | None, Setting("File of the network (ARCHIVE#MEMBER), if the traces have none.")
    ] = None,
    traces: Annotated[int, Setting("Traces in the viewer; 0 leaves it out.", least=0)] = 60,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
    **measuring: Unpack[Measuring],
) -> Drift:
    """Measure how far claims drifted from their base: curves, verdicts, targets, producers,
    coverage.

    With `output`, the report, its figures and the viewer are written there.
    """
    chosen, calls = divided(Measuring, measuring)
    sources = [data] if isinstance(data, Dataset | str | Path) else list(data)
    judges, auditor = each_of(chosen["judge"]), chosen["auditor"]
    wanted, named = wanted_levels(levels), one_of(LABELS, stage_label, "stage_label")
    if not judges and is_capped(calls):
        raise UsageError("A cap was set, but without a judge nothing is spent.", "Pass `judge`.")
    words = read_prompts(chosen["prompts"], "evolve drift")
    # before a model is opened, which may take a while
    reading, which = Reading.named(chosen["reading"]), chosen["hops"]
    which_hops(which)
    folders = folders_of(*sources)
    if datasets is not None and len(sources) == 1:
        for name in wanted:
            refuse_taken(Path(datasets) / name, force=force, kind=DATASET, reads=folders)
    with Run(
        "evolve drift",
        None,
        output,
        kind=KIND,
        reads=folders,
        force=force,
        seed=seed,
        **calls,
    ) as run:
        opened = [Dataset.of(source, limit) for source in sources]
        groups, society = _people(population, network, opened)
        providers = [open_provider(profile, calls=run.calls) for profile in judges]
        panel = Judges(providers, reading, chosen["runs"], chosen["sample"], words, which)
        if run.estimate:
            run.estimated(cost(opened, panel, auditor, run))
        drifted = measure(
            opened,
            groups=groups,
            judges=panel if providers else None,
            independent=lambda hops: independent_ends(
                hops, opened, auditor, chosen["auditor_data"], judges, words, run
            ),
            seed=seed,
        )
        drifted.prompts = words.lineage(*_asked(judges, auditor))
        societies = _societies(opened, drifted, society)
        run.fill(
            lambda folder: fill(contents(drifted, societies, traces=traces, seed=seed), folder)
        )
    if datasets is not None:
        drifted.stages = _write_stages(opened, drifted, Path(datasets), wanted, force, named)
    return drifted


def cost(
    opened: Sequence[Dataset], panel: Judges, auditor: str | None, run: Run
) -> dict[str, Priced]:
    """What the judges would be asked."""
    if not panel.providers:
        return {}
    hops = read_hops(opened)
    sources = {record: text for dataset in opened for record, text in contexts(dataset).items()}
    questions = panel.questions(panel.drawn(hops, run.seed or 0), sources)
    if auditor == "model":
        ends = last_hops(hops).drop_nulls(["output", "dimension"])
        voter = auditor_of(panel.providers[0], panel.prompts)
        cases = [
            audit_case(Question(text, Target.of(dimension, value), 0), voter.prompt)
            for text, dimension, value in ends.select("output", "dimension", "target").rows()
        ]
        questions["auditor"] = Inquiry(voter, cases)
    recording = run.calls.existing()
    return {
        name: estimate_calls(judge.requests(cases), judge.provider.profile, recording=recording)
        for name, (judge, cases) in questions.items()
    }


def _asked(judges: Sequence[str], auditor: str | None) -> list[str]:
    """The names of the prompts that these judges are asked with."""
    names = ["fuse-eval", "verdict-level", "coverage"] if judges else []
    return [*names, "auditor"] if auditor == "model" else names


def _people(
    population: str | Path | None, network: str | Path | None, opened: Sequence[Dataset]
) -> tuple[dict[str, str], Society | None]:
    """The groups of the agents and the network to draw, from files (or ARCHIVE#MEMBER), for traces
    that came without them; a network alone is of the agents that a run left.
    """
    if population is None and network is None:
        return {}, None
    if population is not None:
        people = Population.read(population)
    else:
        tables = [run.tables["agents"] for run in opened if "agents" in run.tables]
        if not tables:
            raise UsageError(
                "A network file names agents, and these traces came without theirs.",
                "Pass their file too, as `population`.",
            )
        people = Population.of(tables[0])
    groups = dict(
        people.agents.select("id", people.agents["group"].cast(pl.String)).drop_nulls().iter_rows()
    )
    if network is None:
        return groups, None
    return groups, Society(people.ids.to_list(), read_network(network, people), groups)


def _societies(
    opened: Sequence[Dataset], drifted: Drift, default: Society | None
) -> Mapping[str, Society]:
    """The network of each run: as the run left it, else the one that was given."""
    runs = drifted.hops["run"].unique(maintain_order=True).to_list()
    known = {run: society_of(dataset) or default for run, dataset in zip(runs, opened, strict=True)}
    return {run: society for run, society in known.items() if society is not None}


def _write_stages(
    opened: Sequence[Dataset],
    drifted: Drift,
    folder: Path,
    wanted: Sequence[str],
    force: bool,
    label: str,
) -> dict[str, dict[str, int]]:
    """Each stage of each run as a dataset folder below `folder`; the run's name is in it when there
    are several.
    """
    counts = {}
    runs = drifted.hops["run"].unique(maintain_order=True).to_list()
    for dataset, run in zip(opened, runs, strict=True):
        mine = drifted.hops.filter(drifted.hops["run"] == run)
        for name, stage in stages(dataset, mine, wanted, drifted.prompts, label).items():
            target = folder / (name if len(opened) == 1 else f"{run.replace(': ', '-')}-{name}")
            refuse_taken(target, force=force, kind=DATASET)
            stage.write(target, force=force)
            counts[str(target)] = {"records": stage.records.height, **stage.lineage[-1].counts}
    return counts
