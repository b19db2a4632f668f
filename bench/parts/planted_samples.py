"""Generated samples whose quality is known: clean ones in three languages, and copies of some with
one defect each.

The quality filter is held to them: it must find every defect for the right reason, and lose next to
none of the clean samples. The clauses are those of the planted dataset, which are the same sentence
by sentence in all three languages.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.stats.streams import stream
from claimlab.core.types import JsonObject
from claimlab_simulate.generate.sample import GeneratedSample, original, rows
from parts.planted import LANGUAGES, SLOTS, material

DEFECTS = {
    "wrong-language": "the translation is not in its language",
    "truncated": "the text breaks off in the middle of a sentence",
    "copied-source": "the source, word for word",
    "unlogged-change": "a number that neither the source nor the log has",
    "missing-change": "a change that is logged and was not made",
    "repeated-text": "one sentence again and again",
    "swapped-numbers": "two numbers of real text have changed places",
}
REASONS = {  # the metrics that must say so
    "wrong-language": {"language"},
    "truncated": {"truncated"},
    "copied-source": {"copying", "change-log"},
    "unlogged-change": {"change-log"},
    "missing-change": {"change-log"},
    "repeated-text": {"repetition"},
    "swapped-numbers": {"details"},
}
DEGREES = ("minor", "moderate", "critical")
MODEL = "planted"
Facts = list[tuple[tuple[int, ...], int]]  # sentences: a clause for each slot, and the number


@dataclass
class Parts:
    """What one sample is made of, before it becomes rows: the defects are planted here."""

    number: int
    language: str
    other: str
    veracity: str
    degree: str
    facts: Facts
    text_facts: Facts
    changes: list[JsonObject] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    defect: str | None = None


def planted_samples(
    *, seed: int = 20, size: int = 300, each: int = 15
) -> tuple[Dataset, dict[str, list[str]]]:
    """`size` clean samples and `each` of every defect; and the ids of the samples with each
    defect.
    """
    samples = [_clean(i, seed) for i in range(size + each * len(DEFECTS))]
    truth: dict[str, list[str]] = {name: [] for name in DEFECTS}
    for i, parts in enumerate(samples[size:]):
        name = list(DEFECTS)[i % len(DEFECTS)]
        _plant(parts, name, stream(seed, "defect", i))
        truth[name].append(f"planted-{parts.number:05d}")
    records = [row for parts in samples for row in _rows(parts)]
    step = Lineage(
        step="generate", parameters={"dataset": "planted-samples", "size": len(samples)}, seed=seed
    )
    notes = ["Synthetic samples about invented places: for tests of the quality filter only."]
    frame = pl.DataFrame(records, infer_schema_length=None)
    return (
        Dataset.build(
            "planted-samples",
            frame,
            synthetic=True,
            licence="Apache-2.0",
            notes=notes,
            lineage=[step],
        ),
        truth,
    )


def _clean(number: int, seed: int) -> Parts:
    rng = stream(seed, "sample", number)
    language = LANGUAGES[number % 3]
    veracity, degree = ("real", "altered")[number % 2], DEGREES[number // 2 % 3]
    facts: Facts = []
    while len(facts) < 5:
        clauses = tuple(rng.randrange(len(_material()[language][slot])) for slot in SLOTS)
        amount = rng.randrange(21, 980)
        if all(clauses[0] != c[0] and clauses[1] != c[1] and amount != n for c, n in facts):
            facts.append((clauses, amount))
    altered, changes = list(facts), []
    if veracity == "altered":
        for at in rng.sample(range(len(facts)), 1 + (degree == "critical")):
            clauses, amount = facts[at]
            fresh = next(
                n
                for n in iter(lambda: rng.randrange(21, 980), None)
                if all(n != m for _, m in facts + altered)
            )
            altered[at] = clauses, fresh
            before, after = (
                _action(language, c, n) for c, n in ((clauses, amount), (clauses, fresh))
            )
            changes.append({"kind": "number", "degree": degree, "before": before, "after": after})
    else:
        changes.append({"kind": "rewrite", "degree": degree})
    parts = Parts(
        number, language, LANGUAGES[(number + 1) % 3], veracity, degree, facts, altered, changes
    )
    _write(parts)
    return parts


def _write(parts: Parts) -> None:
    """The four texts: the more is to change, the more sentences are turned round."""
    turned = {"minor": 1, "moderate": 3, "critical": 5}[parts.degree]
    for suffix, language in (("", parts.language), ("-translation", parts.other)):
        sentences = [
            _sentence(language, c, n, turned=i < turned)
            for i, (c, n) in enumerate(parts.text_facts)
        ]
        parts.texts[f"article{suffix}"] = " ".join(sentences)
        parts.texts[f"post{suffix}"] = (
            f"{sentences[0]} {sentences[1]} #{_material()['names']['topics'][0]}"
        )


def _plant(parts: Parts, defect: str, rng: random.Random) -> None:
    """One defect; a kind that needs real or altered text is given one of that kind."""
    parts.defect = defect
    wanted = {
        "unlogged-change": "altered",
        "missing-change": "altered",
        "swapped-numbers": "real",
    }.get(defect)
    if wanted and parts.veracity != wanted:
        parts.veracity = wanted
        parts.text_facts, parts.changes = (
            list(parts.facts),
            [{"kind": "rewrite", "degree": parts.degree}],
        )
        if wanted == "altered":
            clauses, amount = parts.facts[0]
            parts.text_facts[0] = clauses, 1_000 + amount
            before, after = (_action(parts.language, clauses, n) for n in (amount, 1_000 + amount))
            parts.changes = [
                {"kind": "number", "degree": parts.degree, "before": before, "after": after}
            ]
        _write(parts)
    article = parts.texts["article"]
    if defect == "wrong-language":
        parts.texts["article-translation"] = article
    elif defect == "truncated":
        parts.texts["article"] = article[: len(article) * rng.randrange(55, 80) // 100].rstrip(
            " .,"
        )
    elif defect == "copied-source":
        parts.texts["article"] = _source(parts)
    elif defect == "unlogged-change":
        clauses, amount = parts.text_facts[3]
        parts.texts["article"] = article.replace(str(amount), str(amount + 3_000))
    elif defect == "missing-change":
        parts.text_facts = list(parts.facts)
        _write(parts)
    elif defect == "repeated-text":
        parts.texts["article"] = article + " " + " ".join([article.rsplit(". ", 1)[-1]] * 5)
    elif defect == "swapped-numbers":
        one, other = str(parts.text_facts[1][1]), str(parts.text_facts[2][1])
        parts.texts["article"] = article.replace(one, "\0").replace(other, one).replace("\0", other)


def _rows(parts: Parts) -> list[JsonObject]:
    name = f"planted-{parts.number:05d}"
    seed = {
        "id": f"{name}-seed",
        "text": _source(parts),
        "kind": "article",
        "language": parts.language,
        "veracity": "true",
        "label_raw": "true",
        "topic": "planted",
        "source": "planted",
    }
    languages = {
        f"{form}{suffix}": language
        for form in ("article", "post")
        for suffix, language in (("", parts.language), ("-translation", parts.other))
    }
    sample = GeneratedSample(
        name,
        seed,
        parts.veracity,
        parts.degree,
        parts.texts,
        languages,
        {"model": MODEL, "made_by": "claimlab.generate.planted_samples"},
        parts.changes,
        {"chain_status": "complete"},
    )
    return [original(seed), *rows(sample)]


def _source(parts: Parts) -> str:
    return " ".join(_sentence(parts.language, c, n, turned=False) for c, n in parts.facts)


def _sentence(language: str, clauses: tuple[int, ...], number: int, *, turned: bool) -> str:
    """The clauses in the order of the slots; turned round, the source of the statement comes
    first.
    """
    words = [_material()[language][slot][pick] for slot, pick in zip(SLOTS, clauses, strict=True)]
    subject, action, when, reason, source = words
    action = action.format(n=number)
    if turned:
        return f"{source[0].upper()}{source[1:]}: {subject} {action} {reason}, {when}."
    return f"{subject} {action} {when} {reason}, {source}."


def _action(language: str, clauses: tuple[int, ...], number: int) -> str:
    return str(_material()[language]["action"][clauses[1]].format(n=number))


@cache
def _material() -> JsonObject:
    return material("planted")
