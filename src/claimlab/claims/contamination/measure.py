"""Whether a model may know a test set: by word sequences of corpora, dates and completions.

Dates against the model's knowledge cut-off: a record dated after it cannot have been read in
training. One dated before may have been read or not, so dates never show contamination: they pass,
or leave it open.

The completion probe: a model that has read a text may go on with it word for word from its first
half. What counts is a run of eight words of the second half that the reply repeats. The control is
the same replies held against the second halves of other records in the same language: what the
model writes about the subject anyway.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from claimlab.claims.contamination.corpora import files_in, names_of, overlap
from claimlab.claims.contamination.result import (
    PROTOCOL,
    RULE,
    Contamination,
    not_measured,
    paired,
    text_keys,
    with_status,
)
from claimlab.core import packaged, sync
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.estimate import Priced
from claimlab.core.errors import DataError, UsageError
from claimlab.core.finding import Finding, Verdict
from claimlab.core.run import Run
from claimlab.core.stats.interval import mean_interval, wilson
from claimlab.core.types import Json, JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.llm.estimate import estimate
from claimlab.llm.judge import Tally, gather_sync
from claimlab.llm.messages import Answer, Request, untrusted
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import find_profile
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider
from claimlab.text.tokens import tokenize

PROMPT = "completion"
READ = 1_200  # characters of a text
RUN = 8  # words in a row
OTHERS = 5  # second halves of other records that a reply is held against
MAX_TOKENS = 300
_WORDS = 150  # of a reply or half
COMPLETION = {
    **dict.fromkeys(("id", "failure"), pl.String),
    "verbatim": pl.Float64,
    "completed": pl.Boolean,
    **dict.fromkeys(("verbatim_control", "completed_control"), pl.Float64),
}


@dataclass(frozen=True)
class Half:
    """A text cut in two; `words` are those of the second half, `before` those of the first."""

    id: str
    group: str | None
    language: str | None
    first: str
    words: Sequence[str]
    before: Sequence[str]


def halves(records: pl.DataFrame, sample: int, seed: int) -> list[Half]:
    """At most `sample` records drawn at random, of those whose second half has at least `RUN`
    words.
    """
    known = records.drop_nulls("text").select("id", "group", "language", "text").sort("id")
    cuts = [_cut(text[:READ]) for text in known["text"]]
    first, second = (pl.Series([cut[k] for cut in cuts], dtype=pl.String) for k in (0, 1))
    table = known.select(
        "id", "group", "language", first=first, words=tokenize(second), before=tokenize(first)
    )
    long = table.filter(pl.col("words").list.len() >= RUN)
    order = np.random.default_rng(seed).permutation(long.height)[:sample]
    return [Half(**row) for row in long[sorted(order.tolist())].iter_rows(named=True)]


def _cut(text: str) -> tuple[str, str]:
    """At the space nearest to the middle; in the middle where there is none near it, as in
    Chinese.
    """
    middle, reach = len(text) // 2, max(10, len(text) // 10)
    spaces = [m.start() for m in re.finditer(r"\s", text) if abs(m.start() - middle) <= reach]
    at = min(spaces, key=lambda place: (abs(place - middle), place), default=middle)
    return text[:at], text[at:]


class Probe:
    """The model of `provider`, asked to go on with a text."""

    def __init__(self, provider: Provider, prompt: Prompt, *, seed: int = 0) -> None:
        self.provider, self.prompt, self.seed = provider, prompt, seed
        self.tally = Tally()

    def requests(self, cases: Sequence[Half]) -> list[Request[Any]]:
        return [
            Request.of(
                untrusted(case.first, "beginning"),
                system=self.prompt.text("system"),
                max_tokens=MAX_TOKENS,
                seed=self.seed % (1 << 31),
                tag=case.id,
                prompt_name=self.prompt.name,
            )
            for case in cases
        ]

    def ask(self, cases: Sequence[Half]) -> list[Answer[Any]]:
        """Answers in the order of the cases."""
        requests = self.requests(cases)
        replies = gather_sync(self.provider, requests, label="completing")
        answers = [answer for _, answer in sorted(replies, key=lambda pair: pair[0])]
        for answer in answers:
            self.tally.add(answer)
        return answers


def completions(cases: Sequence[Half], answers: Sequence[Answer[Any]]) -> pl.DataFrame:
    """A row for each case: the longest run that came back, as a share of the second half; the same
    against others.
    """
    texts = pl.Series([a.text if a.ok else None for a in answers], dtype=pl.String)
    replies = tokenize(texts).list.head(_WORDS).to_list()
    rows = []
    for number, (case, reply) in enumerate(zip(cases, replies, strict=True)):
        row: JsonObject = {"id": case.id, "failure": answers[number].failure}
        others = _others(cases, number)
        if reply is not None and others:
            share, completed = run_share(reply, case)
            control = np.mean([run_share(reply, other, case.before) for other in others], axis=0)
            row |= {
                "verbatim": share,
                "completed": completed,
                "verbatim_control": float(control[0]),
                "completed_control": float(control[1]),
            }
        rows.append(row)
    return pl.DataFrame(rows, schema=COMPLETION)


def run_share(reply: Sequence[str], case: Half, before: Sequence[str] = ()) -> tuple[float, bool]:
    """The longest run of the second half in the reply, as a share of that half, and whether it is
    long enough to count. A run that the first half has as well was copied from there."""
    words = case.words[:_WORDS]
    match = SequenceMatcher(None, words, reply, autojunk=False).find_longest_match()
    run = words[match.a : match.a + match.size]
    long = match.size >= RUN
    copied = any(
        first[i : i + len(run)] == run
        for first in (case.before, before)
        for i in range(len(first) - len(run) + 1)
    )
    return match.size / len(words), long and not copied


def _others(cases: Sequence[Half], number: int) -> list[Half]:
    """The next records of the same language, of other groups and with other second halves."""
    case, n = cases[number], len(cases)
    later = (cases[(number + step) % n] for step in range(1, n))
    fitting = (
        other
        for other in later
        if other.language == case.language
        and other.words != case.words
        and (case.group is None or other.group != case.group)
    )
    return list(islice(fitting, OTHERS))


def completion_finding(
    table: pl.DataFrame,
    cases: Sequence[Half],
    model: str,
    tally: JsonObject,
    *,
    too_short: int,
    seed: int = 0,
) -> Finding:
    known = table["completed"].is_not_null()
    rows, n = table.filter(known), int(known.sum())
    groups = pl.Series([case.group for case in cases], dtype=pl.String).filter(known)
    own = rows["completed"].to_numpy().astype(np.float64)
    measured = paired(own, rows["completed_control"].to_numpy(), groups, seed=seed) if n else None
    details: JsonObject = {
        "model": model,
        "asked": len(cases),
        "measured": n,
        "too_short": too_short,
        "answers": dict(tally),
    }
    if measured is None:
        why = (
            f"{several(n, 'usable reply', 'usable replies')}: a verdict needs {RULE.min_units}"
            " groups of records."
        )
        return not_measured("completion", why, n, details)
    shares = {name: rows[name].to_numpy() for name in ("verbatim", "verbatim_control")}
    details |= {name: [float(v.mean()), mean_interval(v, seed=seed)] for name, v in shares.items()}
    details |= {"control": measured.control, "groups": measured.groups}
    hits, lost = int(own.sum()), len(cases) - n
    missing = (
        f" {several(lost, 'reply', 'replies')} {verb(lost)} missing or refused." if lost else ""
    )
    why = (
        f"{model} went on word for word (at least {RUN} words in a row) with"
        f" {several_of(hits, n, 'text')} from the first half; held against other records,"
        f" {100 * measured.control:.1f}% of the replies do.{missing}"
    )
    return measured.finding("completion", why, n, details, rows.filter("completed")["id"])


PROBES = 100


@dataclass(frozen=True)
class Suspicion:
    """What a model may have read (`corpora`), until when (`cutoff`), and which model to ask
    (`profile`); `probes` records are completed.
    """

    corpora: tuple[Path, ...] = ()
    cutoff: str | date | None = None
    profile: str | None = None
    model: str | None = None
    probes: int = PROBES
    prompts: Prompts = field(default_factory=Prompts)
    split: str | None = None

    def __bool__(self) -> bool:
        return bool(self.corpora) or self.cutoff is not None or self.profile is not None

    @property
    def day(self) -> date | None:
        """The cut-off that was given, or the one that is known of the model to be asked."""
        if self.cutoff is not None:
            return cutoff_day(self.cutoff)
        if self.profile is None:
            return None
        stated = cutoff_of(find_profile(self.profile).with_model(self.model).chosen_model())
        return None if stated is None else cutoff_day(stated)

    def part(self, records: pl.DataFrame) -> pl.DataFrame:
        """The records that are measured."""
        part = records if self.split is None else records.filter(split=self.split)
        if not part.height:
            raise DataError(
                f"There are no records in the split '{self.split}'.",
                "Check the name of the split.",
            )
        return part


def contamination_of(run: Run, suspicion: Suspicion) -> Contamination:
    """What is measured of the run's dataset, each measurement beside its control."""
    day, seed = suspicion.day, run.seed or 0
    records = suspicion.part(run.dataset.records)
    table = records.select("id").with_columns(text_keys(records))
    findings: list[Finding] = []
    settings: JsonObject = {"seed": seed, "corpora": names_of(suspicion.corpora)}
    if suspicion.corpora:
        known = [_known(corpus) for corpus in suspicion.corpora]
        journal = run.journal(split=suspicion.split, corpora=known)
        columns, finding = overlap(
            records, suspicion.corpora, journal=journal, seed=seed, progress=run.progress
        )
        findings.append(finding)
        table = table.hstack(columns.drop("id", "control"))
    if day is not None:
        table = table.with_columns(dated(records, day))
        findings.append(cutoff_finding(table["dated"], day))
    if suspicion.profile is not None:
        columns, finding, question = _ask(run, records, suspicion)
        findings.append(finding)
        settings |= question
        table = table.join(columns, on="id", how="left", maintain_order="left")
    name, digest = run.dataset.name, run.dataset.digest()
    return Contamination(name, digest, suspicion.split, findings, with_status(table), settings)


def costs(run: Run, suspicion: Suspicion) -> tuple[dict[str, Priced], int]:
    """What the probe would cost, by model, and how many records it would ask about."""
    if suspicion.profile is None:
        raise UsageError(
            "No model is asked: it costs nothing.", "Leave out `estimate`, or pass `profile`."
        )
    seed = run.seed or 0
    with _probe(run.calls, suspicion, seed) as probe:
        cases = halves(suspicion.part(run.dataset.records), suspicion.probes, seed)
        endpoint = probe.provider.profile
        part = estimate(probe.requests(cases), endpoint, recording=run.calls.existing())
        return {endpoint.chosen_model(): part}, len(cases)


@contextmanager
def _probe(calls: Calls, suspicion: Suspicion, seed: int) -> Iterator[Probe]:
    assert suspicion.profile is not None
    provider = open_provider(suspicion.profile, model=suspicion.model, calls=calls)
    try:
        yield Probe(provider, suspicion.prompts[PROMPT], seed=seed)
    finally:
        sync.run(provider.close())


def _ask(
    run: Run, records: pl.DataFrame, suspicion: Suspicion
) -> tuple[pl.DataFrame, Finding, JsonObject]:
    seed = run.seed or 0
    enough = halves(records, records.height, seed)
    cases = halves(records, suspicion.probes, seed)
    with _probe(run.calls, suspicion, seed) as probe:
        answers = probe.ask(cases)
        name, standing = probe.provider.profile.chosen_model(), probe.provider.profile.standing
    table = completions(cases, answers)
    tally = {
        key: value
        for key, value in probe.tally.summary().items()
        if key not in ("from_cache", "spent", "calls")
    }
    tally["notes"] = [*tally["notes"], *([standing] if standing else [])]
    finding = completion_finding(
        table, cases, name, tally, too_short=records.height - len(enough), seed=seed
    )
    words = suspicion.prompts.lineage(PROMPT)
    return table, finding, {"model": name, "probes": len(cases), "prompts": words}


def _known(corpus: Path) -> list[Json]:
    """What a corpus is known by in the key of a run: a changed file is read again."""
    return [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files_in(corpus)]


_DAY = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


def cutoff_day(words: str | date) -> date:
    """A day, the end of a month or year, or what the vendor of a model has stated."""
    if isinstance(words, date):
        return words
    match = _DAY.fullmatch(words.strip()) or _DAY.fullmatch(cutoff_of(words) or "")
    if match is None:
        raise UsageError(
            f"`cutoff` '{words}' is not a date, and the cut-off of a model of that name is not"
            " known.",
            f"Pass a date such as 2024-06, or one of: {', '.join(sorted(_stated()))}.",
        )
    year, month, day = (int(part or 0) for part in match.groups())
    try:
        last = calendar.monthrange(year, month or 12)[1]
        return date(year, month or 12, day or last)
    except ValueError:
        raise UsageError(
            f"`cutoff` '{words}' is not a valid date.", "Write it as 2024-06-30."
        ) from None


def _stated() -> dict[str, str]:
    """The cut-offs that vendors have stated, by the name of the model."""
    content = packaged.toml("claimlab.claims.contamination", "cutoffs.toml")
    return dict(content["models"])


def cutoff_of(model: str) -> str | None:
    """What the vendor has stated of a model, by the longest name that its own name starts with;
    null if unknown.
    """
    table = _stated()
    name = model.lower().rpartition("/")[2]
    fitting = [
        known for known in table if re.match(rf"(?:meta-)?{re.escape(known)}(?![\w.])", name)
    ]
    return table[max(fitting, key=len)] if fitting else None


def dated(records: pl.DataFrame, day: date) -> pl.Series:
    """ "after" or "until" the cut-off; null for a record without a date."""
    after = pl.col("date").dt.date() > day
    side = pl.when(after).then(pl.lit("after")).when(~after).then(pl.lit("until"))
    return records.select(dated=side).to_series()


def cutoff_finding(sides: pl.Series, day: date) -> Finding:
    n, undated = sides.len(), sides.null_count()
    after, until = (int((sides == side).sum()) for side in ("after", "until"))
    details = {"cutoff": day.isoformat(), "after": after, "until": until, "undated": undated}
    spread = wilson(n - after, n)
    if n < RULE.min_units or spread is None or undated == n:
        why = "No record has a date." if n and undated == n else f"Only {several(n, 'record')}."
        return not_measured("cutoff", why, n, details)
    verdict: Verdict = "pass" if spread[1] < RULE.margin else "inconclusive"
    why = (
        f"{after:,} of {several(n, 'record')} {'is' if after == 1 else 'are'} dated after"
        f" {day.isoformat()}, {until:,} earlier and {undated:,} without a date. A model with this"
        " cut-off may have read the earlier ones in training."
    )
    return Finding(
        check="cutoff",
        protocol=PROTOCOL,
        verdict=verdict,
        why=why,
        n=n,
        score=(n - after) / n,
        interval=spread,
        margin=RULE.margin,
        details=details,
    )
