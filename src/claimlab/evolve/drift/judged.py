"""What a model is asked besides FUSE-EVAL: how true a text still is, and which parts of its context
it states.

A model is one judge: it was not compared with people here, so whatever rests on it is marked
unvalidated. A failed answer is null, and the tally counts it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.evolve.drift.lite import Reader
from claimlab.llm.judge import ModelJudge
from claimlab.llm.messages import untrusted
from claimlab.llm.opinion import Case, Reasoned
from claimlab.llm.prompts import Prompt, Prompts
from claimlab.llm.provider import Provider

# Coverage: how much of its context a claim still carries, and at what length.  The context (the
# abstract that a seed was drawn from) is cut into units: sentences, or clauses. A unit is contained
# when at least half of its content words, numbers and names are in the claim. That asks for words,
# not for meaning: a unit said in other words is missed, one denied is found. `entailed` asks a
# model instead (judged.py), and is the published way with another model.


CONTAINED = 0.5
LEAST = 3  # pieces of information; a shorter clause does not count as a unit
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"“(]?[A-Z0-9])")
_CLAUSE = re.compile(
    r"(?<=[,;:])\s+(?=(?:and|but|or|while|which|who|as|with|because|although|so)\b)|[;:]\s+|(?<!\s)\s+[–—]\s+"
)


def units(context: str, *, cut: str = "clauses") -> list[str]:
    """The sentences of a context, or their clauses."""
    sentences = [
        s.strip() for line in context.splitlines() for s in _SENTENCE.split(line) if s.strip()
    ]
    if cut == "sentences":
        return sentences
    return [c.strip(" ,;:") for s in sentences for c in _CLAUSE.split(s) if c.strip(" ,;:")]


def contexts(dataset: Dataset) -> dict[str, str]:
    """Record id to the text of its context: the first piece of evidence that has one."""
    table = dataset.tables.get("evidence")
    if table is None:
        return {}
    rows = table.drop_nulls("text").sort("record_id", "rank", maintain_order=True)
    return dict(
        rows.unique("record_id", keep="first", maintain_order=True)
        .select("record_id", "text")
        .iter_rows()
    )


class Contained:
    """Coverage by words; contexts are cut and read once."""

    def __init__(
        self, reader: Reader | None = None, *, cut: str = "clauses", share: float = CONTAINED
    ) -> None:
        self.reader, self.cut, self.share = reader or Reader(), cut, share
        self._units: dict[str, list[frozenset[str]]] = {}

    def of(self, claim: str, context: str) -> float | None:
        """Share of the context's units that the claim contains; null when the context has none."""
        if context not in self._units:
            each = [self.reader.read(u).units for u in units(context, cut=self.cut)]
            self._units[context] = [u for u in each if len(u) >= LEAST]
        pieces = self._units[context]
        stated = self.reader.read(claim).units
        return (
            sum(len(p & stated) >= self.share * len(p) for p in pieces) / len(pieces)
            if pieces
            else None
        )


def coverage(
    hops: pl.DataFrame, sources: Mapping[str, str], reader: Reader | None = None
) -> pl.DataFrame:
    """Per trace: coverage and length in words of its seed and of its last text; coverage is null
    without a context.
    """
    reader = reader or Reader()
    contained = Contained(reader)
    last = hops.filter(pl.col("hop") == pl.col("hops"))
    rows = []
    for row in last.iter_rows(named=True):
        context = sources.get(row["record_id"])
        texts: Sequence[str | None] = (row["base"], row["output"])
        covered = [contained.of(t, context) if t and context else None for t in texts]
        lengths = [len(reader.read(t).words) if t else None for t in texts]
        rows.append(
            (row["run"], row["trace_id"], row["topic"], row["dimension"], *covered, *lengths)
        )
    named = dict.fromkeys(("run", "trace_id", "topic", "dimension"), pl.String())
    shares = dict.fromkeys(("seed_coverage", "coverage"), pl.Float64())
    schema: dict[str, pl.DataType] = {
        **named,
        **shares,
        **dict.fromkeys(("seed_length", "length"), pl.Int64()),
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


GRID = (1, 2, 3, 5, 10, 15, 20, 25, 30)  # the hops that are judged, and each trace's last
MOST_UNITS = 40
READ = 4_000
MAX_TOKENS = 400


class Level(Reasoned):
    verdict: Literal["True", "Mostly True", "Half True", "Mostly False", "False", "Pants on Fire"]


class Stated(Reasoned):
    stated: list[int]


def sample_hops(hops: pl.DataFrame, most: int, seed: int) -> pl.DataFrame:
    """Whole traces at random, each at the hops of GRID and at its last, until `most` hops are
    drawn.
    """
    wanted = hops.filter(pl.col("hop").is_in(GRID) | (pl.col("hop") == pl.col("hops")))
    wanted = wanted.drop_nulls(["base", "output"])
    traces = wanted.select("run", "trace_id").unique().sort("run", "trace_id")
    order = np.random.default_rng(seed).permutation(traces.height)
    ranked = traces.with_columns(pl.Series("lot", np.argsort(order)))
    drawn = wanted.join(ranked, on=["run", "trace_id"]).sort("lot", "hop")
    return drawn.head(most).sort("run", "trace_id", "hop").drop("lot")


def level_judge(provider: Provider, prompts: Prompts | None = None) -> ModelJudge[Level]:
    """Says how true a text still is."""
    prompt = (prompts or Prompts())["verdict-level"]
    return ModelJudge(
        provider, prompt, Level, value=lambda reply: reply.verdict, max_tokens=MAX_TOKENS
    )


def level_cases(claims: Sequence[tuple[str, str]], prompt: Prompt) -> list[Case]:
    """How true is each (text, reference)?"""
    return [
        Case(
            str(number),
            prompt.text("system"),
            f"{untrusted(reference[:READ], 'reference')}\n\n{untrusted(text[:READ], 'statement')}",
        )
        for number, (text, reference) in enumerate(claims)
    ]


def judge_levels(
    claims: Sequence[tuple[str, str]], judge: ModelJudge[Level], *, progress: Progress = silent
) -> tuple[list[str | None], list[str | None]]:
    """(text, reference) pairs to levels, and to the rationale of each."""
    opinions = judge.judge(
        level_cases(claims, judge.prompt), progress=progress, label="Judging verdicts"
    )
    levels = [None if opinion.value is None else str(opinion.value) for opinion in opinions]
    return levels, [opinion.rationale for opinion in opinions]


def stated_judge(provider: Provider, prompts: Prompts | None = None) -> ModelJudge[Stated]:
    """Says which facts of its context a text states."""
    prompt = (prompts or Prompts())["coverage"]
    return ModelJudge(
        provider,
        prompt,
        Stated,
        value=lambda reply: float(len(reply.stated)),
        max_tokens=MAX_TOKENS,
    )


def stated_cases(claims: Sequence[tuple[str, str]], prompt: Prompt) -> list[Case]:
    """Which units of the context does each (text, context) state?"""
    return [
        Case(
            str(number),
            prompt.text("system"),
            f"{untrusted(_numbered(units(context)[:MOST_UNITS]), 'facts')}\n\n{untrusted(text[:READ], 'statement')}",  # noqa: E501
        )
        for number, (text, context) in enumerate(claims)
    ]


def entailed(
    claims: Sequence[tuple[str, str]], judge: ModelJudge[Stated], *, progress: Progress = silent
) -> list[float | None]:
    """(text, context) pairs to the share of the context's units that the model finds in the
    text.
    """
    opinions = judge.judge(
        stated_cases(claims, judge.prompt), progress=progress, label="Judging coverage"
    )
    shares: list[float | None] = []
    for (_, context), opinion in zip(claims, opinions, strict=True):
        known = len(units(context)[:MOST_UNITS])
        stated = (
            {i for i in opinion.reply.stated if 1 <= i <= known}
            if opinion.reply is not None
            else set()
        )
        shares.append(len(stated) / known if opinion.reply is not None and known else None)
    return shares


def _numbered(facts: Sequence[str]) -> str:
    return "\n".join(f"{i}. {fact}" for i, fact in enumerate(facts, 1))


# Verdict drift: how true a claim still is, level by level, along its way.  Verdicts come from the
# traces (a run or a release that states them), from people or models in the annotation table
# (question "verdict" or "veracity-level", meta {"trace_id", "hop"}), or from a model judge (see
# judged.py). Without any of them verdict drift is not measured: no rule here guesses how true a
# text is.


# From true to false; six levels, as PolitiFact and the paper have them.
LEVELS = ("True", "Mostly True", "Half True", "Mostly False", "False", "Pants on Fire")
_FOLDED = {level.lower(): level for level in LEVELS}
QUESTIONS = ("verdict", "veracity-level")
START = "True"  # seeds are claims that were verified as true, unless the traces say otherwise


def level(word: str | None) -> str | None:
    """One of LEVELS, however it is spelled; null for anything else, which the caller counts."""
    if word is None:
        return None
    plain = " ".join("".join(c if c.isalnum() else " " for c in word.lower()).split())
    return _FOLDED.get(plain)


def with_verdicts(hops: pl.DataFrame, annotations: pl.DataFrame | None = None) -> pl.DataFrame:
    """`hops` with `verdict` brought to LEVELS; annotations fill what the traces leave open."""
    out = hops.with_columns(
        pl.Series("verdict", [level(v) for v in hops["verdict"].to_list()], dtype=pl.String)
    )
    if annotations is None:
        return out
    rows = []
    for value, meta in (
        annotations.filter(pl.col("question").is_in(QUESTIONS)).select("value", "meta").iter_rows()
    ):
        where = json.loads(meta) if meta else {}
        if "trace_id" in where and "hop" in where and (verdict := level(value)):
            rows.append((str(where["trace_id"]), int(where["hop"]), verdict))
    if not rows:
        return out
    labels = pl.DataFrame(
        rows, schema={"trace_id": pl.String, "hop": pl.Int32, "given": pl.String}, orient="row"
    )
    # Several annotators: the middle level, the lower one when there are two; a vote would lose the
    # order.
    rank = {name: i for i, name in enumerate(LEVELS)}
    middle = (
        labels.with_columns(
            pl.col("given").replace_strict(rank, return_dtype=pl.Int32).alias("rank")
        )
        .group_by("trace_id", "hop")
        .agg(pl.col("rank").quantile(0.5, "lower").cast(pl.Int32))
        .with_columns(
            pl.col("rank")
            .replace_strict(dict(enumerate(LEVELS)), return_dtype=pl.String)
            .alias("given")
        )
    )
    joined = out.join(
        middle.select("trace_id", "hop", "given"),
        on=["trace_id", "hop"],
        how="left",
        maintain_order="left",
    )
    return joined.with_columns(pl.coalesce("verdict", "given").alias("verdict")).drop("given")


def verdicts_measured(hops: pl.DataFrame) -> bool:
    return hops["verdict"].null_count() < hops.height


def verdict_shares(hops: pl.DataFrame, by: str, at: int | None = None) -> pl.DataFrame:
    """Share of each level among traces at hop `at` (null: each trace's last judged hop), for each
    value of `by`.
    """
    known = hops.drop_nulls("verdict").sort("trace_id", "hop")
    chosen = (
        known.filter(pl.col("hop") == at)
        if at is not None
        else known.group_by("run", "trace_id", maintain_order=True).last()
    )
    return (
        chosen.group_by(pl.col(by).cast(pl.String).fill_null("not stated"), "verdict")
        .agg(pl.len().alias("n"))
        .with_columns((pl.col("n") / pl.col("n").sum().over(by)).alias("share"))
        .sort(by, "verdict")
    )


def verdicts_by_hop(hops: pl.DataFrame) -> pl.DataFrame:
    """Share of each level among the traces that were judged at a hop, for each hop."""
    return (
        hops.drop_nulls("verdict")
        .group_by(pl.col("depth").alias("hop"), "verdict")
        .agg(pl.len().alias("n"))
        .with_columns((pl.col("n") / pl.col("n").sum().over("hop")).alias("share"))
        .sort("hop", "verdict")
        .with_columns(pl.col("hop").cast(pl.String))
    )


def verdict_moves(hops: pl.DataFrame, start: str = START) -> pl.DataFrame:
    """From level to level: how often a hop took a claim from one level to another, by neighbouring
    judged hops.
    """
    known = hops.drop_nulls("verdict").sort("run", "trace_id", "hop")
    before = pl.col("verdict").shift(1).over("run", "trace_id").fill_null(start)
    return (
        known.with_columns(before.alias("before"))
        .group_by("before", pl.col("verdict").alias("after"))
        .agg(pl.len().alias("n"))
        .sort("before", "after")
    )
