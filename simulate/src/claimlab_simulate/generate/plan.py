"""The plan of a generation: one configuration of a chain for each seed, and what the plan covers.

A configuration is a chain, one or more of its techniques, a degree, a direction (English to another
language, or back) and a model. For every language of seeds the configurations that fit are shuffled
once and dealt in turn, so that each comes up before any comes up twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.stats.streams import stream
from claimlab.core.types import JsonObject
from claimlab_simulate.generate.chain import Chain
from claimlab_simulate.generate.seeds import draw, seeds_of

ENGLISH = "eng"


@dataclass(frozen=True)
class Configuration:
    chain: Chain
    techniques: tuple[str, ...]
    degree: str
    source: str
    target: str
    model: str

    @property
    def direction(self) -> str:
        return f"{self.source} to {self.target}"

    @property
    def other(self) -> str:
        """The language that is not English."""
        return self.target if self.source == ENGLISH else self.source

    def facts(self) -> JsonObject:
        """What coverage is counted over."""
        return {
            "chain": self.chain.name,
            "technique": " + ".join(self.techniques),
            "degree": self.degree,
            "direction": self.direction,
            "model": self.model,
        }


@dataclass(frozen=True)
class Job:
    """One seed and what is to be made of it."""

    number: int
    seed: JsonObject
    configuration: Configuration

    @property
    def id(self) -> str:
        return f"{self.configuration.chain.name}-{self.seed['id']}"


def space(
    chain: Chain, source: str, languages: Sequence[str], models: Sequence[str]
) -> Iterator[Configuration]:
    """Every configuration that fits a seed in the language `source`."""
    others = [language for language in languages if language != source]
    targets = others if source == ENGLISH else [ENGLISH]
    together = [names for size in chain.together for names in combinations(chain.techniques, size)]
    for techniques, degree, target, model in product(together, chain.degrees, targets, models):
        if all(degree in chain.agree.get(name, chain.degrees) for name in techniques):
            yield Configuration(chain, techniques, degree, source, target, model)


def jobs(
    dataset: Dataset,
    chains: Sequence[Chain],
    languages: Sequence[str],
    models: Mapping[str, Sequence[str]],
    size: int,
    *,
    seed: int,
    by: Sequence[str],
) -> list[Job]:
    """`size` jobs in all, the same number for each chain; a seed is used once, whatever the chain.
    `models` are those that may fill in a chain, by its name."""
    used: set[str] = set()
    out: list[Job] = []
    for at, chain in enumerate(chains):
        share = size // len(chains) + (at < size % len(chains))
        rows = seeds_of(dataset, chain.veracity, languages)
        drawn = draw(rows, share + len(used), seed=seed, by=by)
        fresh = [row for row in drawn if row["id"] not in used][:share]
        used |= {row["id"] for row in fresh}
        decks: dict[str, list[Configuration]] = {}
        dealt: Counter[str] = Counter()
        for row in fresh:
            language = row["language"]
            if language not in decks:
                decks[language] = list(space(chain, language, languages, models[chain.name]))
                stream(seed, "deck", chain.name, language).shuffle(decks[language])
            deck = decks[language]
            if not deck:
                raise UsageError(
                    "There is no language to translate into.", "Pass another in `languages`."
                )
            out.append(Job(len(out), row, deck[dealt[language] % len(deck)]))
            dealt[language] += 1
    return out


def coverage(planned: Sequence[Job], completed: Sequence[bool]) -> list[JsonObject]:
    """For each value of each dimension: how many samples were planned, and how many are
    complete.
    """
    chosen = [job.configuration for job in planned]
    rows = [{"language": choice.other, **choice.facts()} for choice in chosen]
    out = []
    for dimension in rows[0] if rows else ():
        every = Counter(row[dimension] for row in rows)
        complete = Counter(row[dimension] for row, ok in zip(rows, completed, strict=True) if ok)
        out += [
            {"dimension": dimension, "value": value, "planned": n, "complete": complete[value]}
            for value, n in sorted(every.items())
        ]
    return out
