"""The completion probe: a model that has read a text may go on with it word for word from its first
half. What counts is a run of eight words of the second half that the reply repeats. The control is
the same replies held against the second halves of other records in the same language: what the
model writes about the subject anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

import numpy as np
import polars as pl

from claimlab.claims.contamination.result import RULE, not_measured, paired
from claimlab.core.finding import Finding
from claimlab.core.stats.interval import mean_interval
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.llm.asking import Tally, gather_sync
from claimlab.llm.messages import Answer, Request, untrusted
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider
from claimlab.text.tokens import tokenize

PROMPT = "completion"
CHARACTERS_READ = 1_200
LEAST_RUN_WORDS = 8  # words in a row
OTHER_RECORDS = 5  # second halves of other records that a reply is held against
REPLY_TOKENS = 300
_WORDS_COMPARED = 150  # of a reply or half
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
    """At most `sample` records drawn at random, of those whose second half has at least
    `LEAST_RUN_WORDS` words.
    """
    with_text = records.drop_nulls("text").select("id", "group", "language", "text").sort("id")
    cuts = [_cut(text[:CHARACTERS_READ]) for text in with_text["text"]]
    first, second = (pl.Series([cut[k] for cut in cuts], dtype=pl.String) for k in (0, 1))
    table = with_text.select(
        "id", "group", "language", first=first, words=tokenize(second), before=tokenize(first)
    )
    long = table.filter(pl.col("words").list.len() >= LEAST_RUN_WORDS)
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
                max_tokens=REPLY_TOKENS,
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
    replies = tokenize(texts).list.head(_WORDS_COMPARED).to_list()
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
    words = case.words[:_WORDS_COMPARED]
    match = SequenceMatcher(None, words, reply, autojunk=False).find_longest_match()
    run = words[match.a : match.a + match.size]
    long = match.size >= LEAST_RUN_WORDS
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
    return list(islice(fitting, OTHER_RECORDS))


def completion_finding(
    table: pl.DataFrame,
    cases: Sequence[Half],
    model: str,
    tally: JsonObject,
    *,
    too_short: int,
    seed: int = 0,
) -> Finding:
    usable = table["completed"].is_not_null()
    rows, n = table.filter(usable), int(usable.sum())
    groups = pl.Series([case.group for case in cases], dtype=pl.String).filter(usable)
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
        f"{model} went on word for word (at least {LEAST_RUN_WORDS} words in a row) with"
        f" {several_of(hits, n, 'text')} from the first half; held against other records,"
        f" {100 * measured.control:.1f}% of the replies do.{missing}"
    )
    return measured.finding("completion", why, n, details, rows.filter("completed")["id"])
