"""Operators that put a phrase round a statement, or take one away: who says so, how one feels, what
others think.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from claimlab.core.types import JsonObject
from claimlab.evolve.rewrite.english.clause import parse
from claimlab.evolve.rewrite.operators.operator import Change, Operator, targets
from claimlab.evolve.rewrite.operators.statement import Phrase, phrases, tables, take_apart

PLAIN = ("stance=neutral", "expression=fact", "style=rational-official")
TONE = 0.2  # of VADER's compound score, from which a statement sounds good or bad


def wrap_operators() -> Iterator[Operator]:
    for owner, table in tables().items():
        yield Operator(
            owner,
            table["summary"],
            table["kind"],
            _put(owner, table),
            targets(*table.get("serves", ())),
        )
    yield Operator("unwrap", "The phrase round a statement goes", "drop", _unwrap, targets(*PLAIN))


def _put(owner: str, table: JsonObject) -> Change:
    def change(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
        statement = take_apart(text)
        if statement.phrase is not None and statement.phrase.owner == owner:
            return text
        if "tone" in table and tone(statement.body) != table["tone"]:
            return text
        phrase = draw.choice(_fitting(owner, table, statement.body))
        closed = (
            statement.body.split()[-1].lower() in ("too", "well") or ", which " in statement.body
        )
        if phrase.after and not phrase.before and closed:  # ", which ..., which ..." reads badly
            return text
        return replace(statement, phrase=phrase, mark=phrase.mark).text()

    return change


def _fitting(owner: str, table: JsonObject, body: str) -> list[Phrase]:
    """The phrases of a table that fit the tense of a statement."""
    clause = parse(body)
    wrong = table.get("now" if clause is not None and clause.past else "past", ())
    return [phrase for phrase in phrases()[owner] if phrase.after not in wrong]


def _unwrap(text: str, draw: random.Random, context: str | None) -> str:  # noqa: ARG001
    statement = take_apart(text)
    return text if statement.phrase is None else replace(statement, phrase=None, mark=".").text()


def tone(text: str) -> str:
    """How a statement sounds: good, bad or plain."""
    score = _analyser().polarity_scores(text)["compound"]
    return "bad" if score < -TONE else "good" if score > TONE else "plain"


@cache
def _analyser() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()
