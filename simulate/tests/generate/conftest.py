"""A writer for the chains: an endpoint on loopback that fills in forms for planted claims, in three
languages.

It takes a claim apart into its clauses, which are the same in all languages, and so it can edit,
alter and translate it without a model. It refuses, breaks off or writes nonsense where a test asks
for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import SLOTS, clean_twin, material
from parts.standin import Body, StandIn, own_profile

from claimlab.core.dataset import Dataset
from claimlab_simulate.generate.chain import find_chain

CODES = {"English": "eng", "Portuguese": "por", "German": "deu"}
Fault = Callable[
    [str, str], str | None
]  # of the source and the role ("form"): the whole answer, or null


def clauses(source: str) -> tuple[str, dict[str, int], int]:
    """The language of a claim, the clause of each slot, and its number."""
    words = material("planted")
    number = int(re.findall(r"\d+", source)[0])
    for language in CODES.values():
        picks = {
            slot: i
            for slot in SLOTS
            for i, part in enumerate(words[language][slot])
            if part.format(n=number) in source
        }
        if len(picks) == len(SLOTS):
            return language, picks, number
    raise ValueError(source)


def sentence(language: str, picks: dict[str, int], number: int) -> str:
    known = material("planted")[language]
    subject, action, when, reason, said = (known[slot][picks[slot]] for slot in SLOTS)
    return f"{said[0].upper()}{said[1:]}: {subject} {action.format(n=number)} {reason}, {when}."


def slots(body: Body) -> tuple[str, str, dict[str, dict[str, Any]]]:
    """The source, the role that is asked ("form" for all) and what every role writes."""
    system, data = (m["content"] for m in body["messages"][:2])
    source = re.findall(r"<source>\n(.*?)\n</source>", data, re.DOTALL)[0]
    language, picks, number = clauses(source)
    other = CODES[re.findall(r"its translation in (\w+)", system)[0]]
    altered = '"altered"' in system
    now = number + 1_000 if altered else number
    article, translation = sentence(language, picks, now), sentence(other, picks, now)
    action = material("planted")[language]["action"][picks["action"]]
    log = [{"kind": "number", "before": action.format(n=number), "after": action.format(n=now)}]
    values: dict[str, Any] = {
        "article": article, "translation": translation, "changes": log, "facts": [source], "tone": "plain",
        "post": f"{article} #news", "translated_post": f"{translation} #news",
    }  # fmt: skip
    roles = find_chain("altered" if altered else "real").roles
    filled = {
        role.name: {
            slot: values.get(slot, 4 if kind == "score" else [])
            for slot, kind in role.slots.items()
        }
        for role in roles
    }
    asked = re.findall(r"Your role now:\n(\w+):", system)
    return source, asked[0] if asked else "form", filled


class Writer:
    """The endpoint, and a profile that names it. `fault` may answer in its place."""

    def __init__(self, folder: Path) -> None:
        self.fault: Fault = lambda source, role: None  # noqa: ARG005
        self.server = StandIn(self.answer)
        self.file = folder / "writer.toml"

    @property
    def profile(self) -> str:
        words = f'[writer]\nbase_url = "{self.server.url}"\nmodel = "writer-1"\n'
        price = "[writer.prices.writer-1]\ninput = 1.0\noutput = 2.0\n"
        own_profile(self.file, words + price)
        return str(self.file)

    def answer(self, body: Body) -> str:
        source, role, filled = slots(body)
        planned = self.fault(source, role)
        return (
            json.dumps(filled if role == "form" else filled[role], ensure_ascii=False)
            if planned is None
            else planned
        )


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    one = Writer(tmp_path)
    with one.server:
        yield one


@pytest.fixture(scope="session")
def seeds() -> Dataset:
    """Claims in three languages that count as written by people here."""
    twin = clean_twin(size=240)
    odd = [
        phrase for language in CODES.values() for phrase in material("planted")[language]["photo"]
    ]
    whole = ~pl.any_horizontal(
        pl.col("text").str.starts_with(phrase) for phrase in odd
    )  # the others lack a clause
    people = twin.records.filter(whole).with_columns(
        pl.lit("HWT").alias("authorship"), pl.lit(None, pl.String).alias("meta")
    )
    return Dataset.build("seeds", people, licence="Apache-2.0")
