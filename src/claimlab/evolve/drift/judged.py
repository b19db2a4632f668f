"""What a model is asked about hops: FUSE-EVAL, how true a text still is, and which parts of its
context it states; and the tables that are made of the answers.

A model is one judge: it was not compared with people here, so whatever rests on it is marked
unvalidated. A failed answer is null, and the tally counts it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import BaseModel, Field, create_model

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UnknownName, check_name
from claimlab.core.stats.agreement import Scores, krippendorff
from claimlab.core.types import JsonObject
from claimlab.evolve.drift.hops import grouped, mean_interval
from claimlab.evolve.drift.lite import read
from claimlab.evolve.hop import evidence_texts
from claimlab.llm.judge import Case, ModelJudge, Reasoned, fenced
from claimlab.llm.prompts import Prompts
from claimlab.llm.provider import Provider

# Coverage: how much of its context a claim still carries, and at what length.  The context (the
# abstract that a seed was drawn from) is cut into units, its clauses. A unit is contained when at
# least half of its content words, numbers and names are in the claim. That asks for words, not for
# meaning: a unit said in other words is missed, one denied is found. `entailed` asks a model
# instead, and is the published way with another model.


CONTAINED = 0.5
LEAST_PIECES = 3  # pieces of information; a shorter clause does not count as a unit
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“(]?[A-Z0-9])")
_CLAUSE = re.compile(
    r"(?<=[,;:])\s+(?=(?:and|but|or|while|which|who|as|with|because|although|so)\b)|[;:]\s+|(?<!\s)\s+[–—]\s+"
)


def units(context: str) -> list[str]:
    """The clauses of a context."""
    sentences = [sentence for line in context.splitlines() for sentence in _SENTENCE.split(line)]
    clauses = [clause.strip(" ,;:") for one in sentences for clause in _CLAUSE.split(one.strip())]
    return [clause for clause in clauses if clause]


def contexts(dataset: Dataset) -> dict[str, str]:
    """Record id to the text of its context: the first piece of evidence that has one."""
    return {record: texts[0] for record, texts in evidence_texts(dataset).items()}


def contained(claim: str, context: str) -> float | None:
    """Share of the context's units that the claim contains; null when the context has none."""
    each = [read(unit).units for unit in units(context)]
    pieces = [unit for unit in each if len(unit) >= LEAST_PIECES]
    stated = read(claim).units
    held = sum(len(piece & stated) >= CONTAINED * len(piece) for piece in pieces)
    return held / len(pieces) if pieces else None


def coverage(hops: pl.DataFrame, sources: Mapping[str, str]) -> pl.DataFrame:
    """Per trace: coverage and length in words of its seed and of its last text; coverage is null
    without a context.
    """
    last = hops.filter(pl.col("hop") == pl.col("hops"))
    names = ("run", "trace_id", "topic", "dimension")
    rows = []
    for *about, record, base, end in last.select(*names, "record_id", "base", "output").iter_rows():
        context, texts = sources.get(record), (base, end)
        covered = [contained(t, context) if t and context else None for t in texts]
        lengths = [len(read(t).words) if t else None for t in texts]
        rows.append((*about, *covered, *lengths))
    schema: dict[str, pl.DataType] = {
        **dict.fromkeys(names, pl.String()),
        **dict.fromkeys(("seed_coverage", "coverage"), pl.Float64()),
        **dict.fromkeys(("seed_length", "length"), pl.Int64()),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


GRID = (1, 2, 3, 5, 10, 15, 20, 25, 30)  # the hops that are judged, and each trace's last
MOST_UNITS = 40
READ, PAIR_READ = 4_000, 2_000  # characters of a text: by itself, and beside its base
MAX_TOKENS, PAIR_TOKENS = 400, 500


def which_hops(words: str) -> pl.Expr:
    """The hops that judges are asked about: 'last', 'all', 'every:N' or 'spread' (GRID); the last
    of a trace is always among them.
    """
    hop, last = pl.col("hop"), pl.col("hop") == pl.col("hops")
    known = {"last": last, "all": hop > 0, "spread": last | hop.is_in(GRID)}
    name, _, number = words.partition(":")
    if name == "every" and number.isdecimal() and int(number):
        return last | (hop % int(number) == 0)
    if words not in known:
        raise UnknownName("choice of hops", words, [*known, "every:N"])
    return known[words]


def sample_hops(hops: pl.DataFrame, most: int, seed: int, which: str = "spread") -> pl.DataFrame:
    """Whole traces at random, each at the hops that `which` names, until `most` hops are drawn."""
    wanted = hops.filter(which_hops(which)).drop_nulls(["base", "output"])
    traces = wanted.select("run", "trace_id").unique().sort("run", "trace_id")
    order = np.random.default_rng(seed).permutation(traces.height)
    ranked = traces.with_columns(pl.Series("lot", np.argsort(order)))
    drawn = wanted.join(ranked, on=["run", "trace_id"]).sort("lot", "hop")
    return drawn.head(most).sort("run", "trace_id", "hop").drop("lot")


# FUSE-EVAL: a model scores how far a text has moved from its base claim, in six dimensions.
#
# The paper and its code differ, so both readings are here by name: the scale (`1-10` in the paper,
# `0-10` in the code) and what PD stands for (`paraphrasing degree` in the paper, `perspective
# deviation` in the code). An answer that cannot be read is null and counted; the code makes it 0,
# which would read as "nothing moved".

FIVE = (
    "sentiment_shift",
    "new_information",
    "certainty_shift",
    "stylistic_shift",
    "temporal_shift",
)
PRESETS = {"paper": ("1-10", "paraphrasing-degree"), "released": ("0-10", "perspective-deviation")}
TOTAL = "total_deviation"
PROMPT = "fuse-eval"


@dataclass(frozen=True)
class Reading:
    """One way to read the definition of FUSE-EVAL."""

    scale: str = "1-10"
    pd: str = "paraphrasing-degree"

    @classmethod
    def named(cls, name: str) -> Reading:
        check_name("reading of FUSE-EVAL", name, PRESETS)
        return cls(*PRESETS[name])

    @property
    def dimensions(self) -> tuple[str, ...]:
        return (*FIVE, self.pd.replace("-", "_"))

    @property
    def bounds(self) -> tuple[int, int]:
        low, _, high = self.scale.partition("-")
        return int(low), int(high)


@cache
def schema_of(reading: Reading) -> type[Reasoned]:
    low, high = reading.bounds
    fields: JsonObject = {name: (int, Field(ge=low, le=high)) for name in reading.dimensions}
    return create_model(
        f"FuseEval_{reading.scale}_{reading.pd}".replace("-", "_"), __base__=Reasoned, **fields
    )


class Level(Reasoned):
    verdict: Literal["True", "Mostly True", "Half True", "Mostly False", "False", "Pants on Fire"]


class Stated(Reasoned):
    stated: list[int]


class Inquiry(NamedTuple):
    """A judge, and what it is inquiry."""

    judge: ModelJudge[Any]
    cases: list[Case]


@dataclass(frozen=True)
class Judges:
    """The models to ask, and how much: hops are drawn at random, whole traces at a time."""

    providers: Sequence[Provider]
    reading: Reading = field(default_factory=Reading)
    runs: int = 1
    sample: int = 200
    prompts: Prompts = field(default_factory=Prompts)
    hops: str = "spread"

    def drawn(self, hops: pl.DataFrame, seed: int) -> pl.DataFrame:
        return sample_hops(hops, self.sample, seed, self.hops)

    def questions(self, drawn: pl.DataFrame, sources: Mapping[str, str]) -> dict[str, Inquiry]:
        """All judges score the hops, and the first also says how true each text is (compared with
        the base where it has no context) and which facts of its context it states.
        """
        rows = drawn.select("record_id", "base", "output").rows()
        scores = self.scores([(base, now) for _, base, now in rows])
        return {
            **{f"judge {number}": inquiry for number, inquiry in enumerate(scores, 1)},
            "verdicts": self.levels([(now, sources.get(i) or base) for i, base, now in rows]),
            "coverage": self.stated([(now, sources[i]) for i, _, now in rows if i in sources]),
        }

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[Inquiry]:
        """How far has each text moved, of (base, now)?"""
        prompt, (low, high) = self.prompts[PROMPT], self.reading.bounds
        lines = "\n".join(f"- {name}: {prompt.text(name)}" for name in self.reading.dimensions)
        system = prompt.text("system", low=low, high=high, questions=lines)
        texts = [{"original": base[:PAIR_READ], "current": now[:PAIR_READ]} for base, now in pairs]
        schema, most = schema_of(self.reading), PAIR_TOKENS
        return [
            Inquiry(
                ModelJudge(one, prompt, schema, _total, runs=self.runs, max_tokens=most),
                _cases(system, texts),
            )
            for one in self.providers
        ]

    def levels(self, claims: Sequence[tuple[str, str]]) -> Inquiry:
        """How true is each text, of (text, reference)?"""
        texts = [{"reference": one[:READ], "statement": text[:READ]} for text, one in claims]
        return self._first("verdict-level", Level, lambda reply: reply.verdict, texts)

    def stated(self, claims: Sequence[tuple[str, str]]) -> Inquiry:
        """Which units of its context does each text state, of (text, context)?"""
        texts = [
            {
                "facts": "\n".join(
                    f"{i}. {fact}" for i, fact in enumerate(units(context)[:MOST_UNITS], 1)
                ),
                "statement": text[:READ],
            }
            for text, context in claims
        ]
        return self._first("coverage", Stated, lambda reply: float(len(reply.stated)), texts)

    def _first(
        self,
        name: str,
        schema: type[Reasoned],
        value: Callable[[Any], str | float],
        texts: Sequence[Mapping[str, str]],
    ) -> Inquiry:
        """What the first of the models is asked about each text."""
        prompt = self.prompts[name]
        judge = ModelJudge(self.providers[0], prompt, schema, value, max_tokens=MAX_TOKENS)
        return Inquiry(judge, _cases(prompt.text("system"), texts))


def _cases(system: str, texts: Sequence[Mapping[str, str]]) -> list[Case]:
    return [Case(str(number), system, fenced(data)) for number, data in enumerate(texts)]


def _scores(reply: BaseModel) -> dict[str, int]:
    return reply.model_dump(exclude={"rationale"})


def _total(reply: BaseModel) -> float:
    return float(np.mean(list(_scores(reply).values())))


def judge_levels(
    inquiry: Inquiry,
) -> tuple[list[str | None], list[str | None]]:
    """The level of each text, and the rationale."""
    opinions = inquiry.judge.judge(inquiry.cases, label="Judging verdicts")
    levels = [None if opinion.value is None else str(opinion.value) for opinion in opinions]
    return levels, [opinion.rationale for opinion in opinions]


def entailed(
    inquiry: Inquiry,
    claims: Sequence[str],
) -> list[float | None]:
    """The share of the units of each of these contexts that the model finds in the text."""
    opinions = inquiry.judge.judge(inquiry.cases, label="Judging coverage")
    shares: list[float | None] = []
    for context, opinion in zip(claims, opinions, strict=True):
        known = range(1, len(units(context)[:MOST_UNITS]) + 1)
        reply = opinion.reply
        stated = () if reply is None else set(reply.stated).intersection(known)
        shares.append(len(stated) / len(known) if reply is not None and known else None)
    return shares


# Verdict drift: how true a claim still is, level by level, along its way.  Verdicts come from the
# traces (a run or a release that states them), from people or models in the annotation table
# (question "verdict" or "veracity-level", meta {"trace_id", "hop"}), or from a model judge. Without
# any of them verdict drift is not measured: no rule here guesses how true a text is.


# From true to false; six levels, as PolitiFact and the paper have them.
LEVELS = ("True", "Mostly True", "Half True", "Mostly False", "False", "Pants on Fire")
_FOLDED = {level.lower(): level for level in LEVELS}
QUESTIONS = ("verdict", "veracity-level")
START = "True"  # seeds are claims that were verified as true, unless the traces say otherwise


def level(word: str) -> str | None:
    """One of LEVELS, however it is spelled; null for anything else, which the caller counts."""
    plain = " ".join("".join(c if c.isalnum() else " " for c in word.lower()).split())
    return _FOLDED.get(plain)


def with_verdicts(hops: pl.DataFrame, annotations: pl.DataFrame | None = None) -> pl.DataFrame:
    """`hops` with `verdict` brought to LEVELS; annotations fill what the traces leave open."""
    out = hops.with_columns(pl.col("verdict").map_elements(level, return_dtype=pl.String))
    if annotations is None:
        return out
    # Several annotators: the middle level, the lower one when there are two; a vote would lose the
    # order.
    ranked = pl.Enum(LEVELS)
    middle = (
        annotations.filter(pl.col("question").is_in(QUESTIONS))
        .select(
            trace_id=pl.col("meta").str.json_path_match("$.trace_id"),
            hop=pl.col("meta").str.json_path_match("$.hop").cast(pl.Int32),
            given=pl.col("value").map_elements(level, return_dtype=pl.String).cast(ranked),
        )
        .drop_nulls()
        .group_by("trace_id", "hop")
        .agg(pl.col("given").sort().get((pl.len() - 1) // 2).cast(pl.String))
    )
    joined = out.join(middle, on=["trace_id", "hop"], how="left", maintain_order="left")
    return joined.with_columns(verdict=pl.coalesce("verdict", "given")).drop("given")


def verdict_shares(hops: pl.DataFrame, by: str) -> pl.DataFrame:
    """Share of each level among traces at their last judged hop, for each value of `by`."""
    known = hops.drop_nulls("verdict").sort("trace_id", "hop")
    last = known.group_by("run", "trace_id", maintain_order=True).last()
    return _shares(last.with_columns(pl.col(by).cast(pl.String).fill_null("not stated")), by)


def verdicts_by_hop(hops: pl.DataFrame) -> pl.DataFrame:
    """Share of each level among the traces that were judged at a hop, for each hop."""
    shares = _shares(hops.drop_nulls("verdict").with_columns(hop="depth"), "hop")
    return shares.with_columns(pl.col("hop").cast(pl.String))


def _shares(judged: pl.DataFrame, by: str) -> pl.DataFrame:
    counts = judged.group_by(by, "verdict").agg(n=pl.len())
    share = pl.col("n") / pl.col("n").sum().over(by)
    return counts.with_columns(share=share).sort(by, "verdict")


def verdict_moves(hops: pl.DataFrame) -> pl.DataFrame:
    """From level to level: how often a hop took a claim from one level to another, by neighbouring
    judged hops.
    """
    known = hops.drop_nulls("verdict").sort("run", "trace_id", "hop")
    before = pl.col("verdict").shift(1).over("run", "trace_id").fill_null(START)
    return (
        known.with_columns(before=before)
        .group_by("before", after=pl.col("verdict"))
        .agg(n=pl.len())
        .sort("before", "after")
    )


# Do judges agree? Krippendorff's alpha and the intraclass correlation, for scores with gaps.  Alpha
# takes any number of judges and skips what one of them left out. ICC(2,1) (two-way random, absolute
# agreement, one judge) needs every judge for every unit, so it is taken over the units that all
# judged.


def icc(scores: Scores) -> float | None:
    """ICC(2,1) over the units that every judge scored; null with fewer than two units or judges, or
    no variance.
    """
    full = scores[:, ~np.isnan(scores).any(axis=0)].T
    n, k = full.shape
    if n < 2 or k < 2:
        return None
    grand = full.mean()
    rows = k * ((full.mean(axis=1) - grand) ** 2).sum() / (n - 1)
    columns = n * ((full.mean(axis=0) - grand) ** 2).sum() / (k - 1)
    total = ((full - grand) ** 2).sum()
    error = (total - rows * (n - 1) - columns * (k - 1)) / ((n - 1) * (k - 1))
    below = rows + (k - 1) * error + k * (columns - error) / n
    return float((rows - error) / below) if below > 1e-12 else None


def agreement(scores: Scores) -> JsonObject:
    """Both, with how many units they rest on."""
    shared = int(((~np.isnan(scores)).sum(axis=0) >= 2).sum())
    return {
        "judges": len(scores),
        "units": shared,
        "alpha": krippendorff(scores),
        "icc": icc(scores),
    }


@dataclass
class Judged:
    """Scores of each judge, pair by pair; `table` has pair, judge, run, the six dimensions and the
    total. `hops` are the judged hops with the mean of their scores, `groups` the means by step,
    network, group and topic.
    """

    reading: Reading
    table: pl.DataFrame
    tallies: dict[str, JsonObject] = field(default_factory=dict)
    hops: pl.DataFrame = field(default_factory=pl.DataFrame)
    groups: pl.DataFrame = field(default_factory=pl.DataFrame)

    @property
    def nulls(self) -> int:
        return self.table[TOTAL].null_count()

    @property
    def names(self) -> tuple[str, ...]:
        """The six dimensions, and the total."""
        return (*self.reading.dimensions, TOTAL)

    def means(self) -> pl.DataFrame:
        """One row per pair: the mean over judges and runs that answered, and how many did."""
        means = pl.col(self.names).mean()
        pairs = self.table.group_by("pair", maintain_order=True)
        return pairs.agg(means, answers=pl.col(TOTAL).count()).sort("pair")

    def agreement(self) -> dict[str, JsonObject]:
        """Per dimension and for the total: how far judges (or the runs of one judge) agree."""
        who = self.table.with_columns(who=pl.col("judge") + "#" + pl.col("run").cast(pl.String))
        out = {}
        for name in self.names:
            wide = who.pivot(on="who", index="pair", values=name).drop("pair")
            scores = wide.cast(pl.Float64).fill_null(float("nan")).to_numpy().T
            out[name] = agreement(np.asarray(scores, dtype=np.float64))
        return out


def judge_pairs(
    questions: Sequence[Inquiry],
    reading: Reading,
) -> Judged:
    """The scores that every judge gives every pair in every run."""
    rows: list[JsonObject] = []
    tallies: dict[str, JsonObject] = {}
    for number, (judge, cases) in enumerate(questions, 1):
        name = judge.model if judge.model not in tallies else f"{judge.model} ({number})"
        opinions = judge.judge(cases, label=f"Judging ({name})")
        for pair, opinion in enumerate(opinions):
            for run, reply in enumerate(opinion.replies):
                scores = {} if reply is None else {**_scores(reply), TOTAL: _total(reply)}
                rows.append({"pair": pair, "judge": name, "run": run, **scores})
        tallies[name] = judge.tally.summary()
    schema = {"pair": pl.Int64, "judge": pl.String, "run": pl.Int64}
    kinds = {**schema, **dict.fromkeys(reading.dimensions, pl.Int64), TOTAL: pl.Float64}
    return Judged(reading, pl.DataFrame(rows, schema=kinds).sort("judge", "run", "pair"), tallies)


# FUSE-EVAL in tables: every score by hop and judge, and its means by step, network, group and
# topic.  The means have a row for each group and step (null: the last judged hop of each trace):
# its traces, the mean of each dimension and of the total, and the 95% interval of the total over
# traces. An interval needs 20 traces.


EACH = "run and topic"  # people's chains beside agents' (table 27)
MEANS_BY = ("all", "topology", "home", "topic", "run")
KEY = ("run", "trace_id", "hop", "depth", "topic", "topology", "home")


def scores(judged: Judged) -> pl.DataFrame:
    """One row per judged hop, judge and repeat: the six dimensions and the total, null where no
    answer was read.
    """
    repeats = judged.table.rename({"run": "repeat"})
    each = judged.hops.select("pair", *KEY).join(repeats, on="pair", how="left")
    return each.sort("pair", "judge", "repeat").select(*KEY, "judge", "repeat", *judged.names)


def means(judged: Judged, seed: int = 0) -> pl.DataFrame:
    """By network, group, topic and run, and by topic in each of several runs: the means at each
    judged step, and at the last judged hop of each trace.
    """
    known = judged.hops.drop_nulls(TOTAL).sort("run", "trace_id", "hop")
    known = known.with_columns(all=pl.lit(""), step="depth")
    rows: list[JsonObject] = []
    groups = {by: (by, pl.col(by)) for by in MEANS_BY}
    if known["run"].n_unique() > 1:
        groups[EACH] = "topic", pl.concat_str("run", "topic", separator=": ")
    for by, (column, value) in groups.items():
        steps = grouped(known, column).with_columns(value=value)
        ends = steps.group_by("value", "run", "trace_id", maintain_order=True).last()
        ends = ends.with_columns(step=pl.lit(None, dtype=pl.Int32)).select(steps.columns)
        both = pl.concat([steps, ends]).sort("value", "step", nulls_last=True, maintain_order=True)
        for (group, step), part in both.group_by("value", "step", maintain_order=True):
            # In a cascade a trace may have several texts at one depth: a trace counts once.
            traces = part.group_by("run", "trace_id", maintain_order=True)
            figures = traces.agg(pl.col(judged.names).mean()).select(judged.names)
            low, high = mean_interval(figures[TOTAL].to_numpy(), seed) or (None, None)
            mean = {one.name: float(np.mean(one.to_numpy())) for one in figures}
            row = {"by": by, "value": group, "step": step, "traces": figures.height}
            rows.append({**row, **mean, "low": low, "high": high})
    schema = {"by": pl.String, "value": pl.String, "step": pl.Int32, "traces": pl.Int64}
    numbers = dict.fromkeys((*judged.names, "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={**schema, **numbers})
