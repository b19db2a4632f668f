"""What is to be made: the configuration space, enumerated, and one configuration for each seed,
drawn with a seed.

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
from claimlab.generate.chains import Chain
from claimlab.generate.seeds import draw

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
    targets = (
        [language for language in languages if language != source]
        if source == ENGLISH
        else [ENGLISH]
    )
    together = [c for n in chain.together for c in combinations(chain.techniques, n)]
    for techniques, degree, target, model in product(together, chain.degrees, targets, models):
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
    classed: dict[str, str] | None = None,
) -> list[Job]:
    """`size` jobs in all, the same number for each chain; a seed is used once, whatever the chain.
    `models` are those that may fill in a chain, by its name."""
    used: set[str] = set()
    out: list[Job] = []
    for at, chain in enumerate(chains):
        share = size // len(chains) + (at < size % len(chains))
        wanted = share + len(used)
        drawn = draw(
            dataset,
            wanted,
            seed=seed,
            by=by,
            languages=languages,
            classed=classed,
            veracity=chain.veracity,
        ).rows
        fresh = [row for row in drawn if row["id"] not in used][:share]
        used |= {row["id"] for row in fresh}
        decks: dict[str, list[Configuration]] = {}
        dealt: Counter[str] = Counter()
        for row in fresh:
            language = row["language"]
            if language not in decks:
                decks[language] = list(space(chain, language, languages, models[chain.name]))
                stream(seed, "deck", chain.name, language).shuffle(decks[language])
                if not decks[language]:
                    raise UsageError(
                        "There is no language to translate into.", "Pass another in `languages`."
                    )
            deck = decks[language]
            out.append(Job(len(out), row, deck[dealt[language] % len(deck)]))
            dealt[language] += 1
    return out


def coverage(rows: Sequence[JsonObject], done: Sequence[bool]) -> list[JsonObject]:
    """For each value of each dimension: how many samples were planned, and how many are
    complete.
    """
    out = []
    for dimension in rows[0] if rows else ():
        planned = Counter(row[dimension] for row in rows)
        complete = Counter(row[dimension] for row, ok in zip(rows, done, strict=True) if ok)
        out += [
            {"dimension": dimension, "value": value, "planned": n, "complete": complete[value]}
            for value, n in sorted(planned.items())
        ]
    return out
