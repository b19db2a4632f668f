"""Claims and the texts that answer them, wherever answers are known: fact-checks of posts and
debates, evidence of claims, the claim that a post makes, and translations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from harness import shared
from sklearn.linear_model import LogisticRegression

from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.search.fusion import RetrievedDocuments, SentenceEncoder
from claimlab.search.passage import said
from claimlab.search.query import Query
from claimlab.tasks.matching import qrels_of
from claimlab.text.kept_vectors import vectors_of
from claimlab.text.vectors import CHARACTERS_READ, LANGUAGES, spoken
from parts.index import index_of


@dataclass(frozen=True)
class Pool:
    """Texts, claims, and which texts answer each claim. `family` says what weights must not be
    learned on when they are tried here."""

    family: str
    texts: list[str]
    claims: list[str]
    relevant: list[set[int]]
    language: str | None = "eng"  # of the texts
    asked: list[str | None] | None = None  # languages of the claims where they are others

    @classmethod
    def of(
        cls, family: str, pairs: Iterable[tuple[str | None, str | None]], language: str | None
    ) -> Pool:
        """From claims and their answers; a text that occurs twice is one."""
        numbers: dict[str, int] = {}
        own: dict[str, set[int]] = {}
        for claim, text in pairs:
            if claim and text and claim.strip() and text.strip():
                own.setdefault(claim, set()).add(numbers.setdefault(text, len(numbers)))
        return cls(family, [*numbers], [*own], [*own.values()], language)


# The published matching sets: the variants of their queries and of their archive.
SETS = {
    "vo-lee-politifact": ("queries", "archive"),
    "known-lie": ("sentences", "politifact"),
    "checkthat-2020-task2": ("queries", "archive"),
}


def opened(name: str, folder: Path, variant: str | None = None) -> Dataset:
    file = next(f for f in (f"{name}.zip", f"{name}-samples.zip") if (folder / f).is_file())
    return load(name, shared(file, folder), variant=variant)


def matching(name: str, folder: Path) -> tuple[Dataset, Dataset, dict[str, set[str]]]:
    queries, archive = (opened(name, folder, variant) for variant in SETS[name])
    return queries, archive, qrels_of(queries) or {}


def fact_checks(name: str, folder: Path) -> Pool:
    queries, archive, answers = matching(name, folder)
    records = archive.records.unique("text", keep="first", maintain_order=True).drop_nulls("text")
    number = {text: i for i, text in enumerate(records["text"])}
    of = {id: number[text] for id, text in archive.records.select("id", "text").iter_rows() if text}
    rows = queries.records.filter(pl.col("id").is_in([q for q in answers if answers[q]]))
    relevant = [{of[one] for one in answers[id] if one in of} for id in rows["id"]]
    return Pool(name, [*number], rows["text"].to_list(), relevant)


def evidence(name: str, folder: Path, language: str | None = "eng", family: str = "") -> Pool:
    """Claims and their evidence, without what the dataset calls unrelated."""
    dataset = opened(name, folder)
    claims = dataset.records.select(record_id="id", claim="text")
    rows = dataset.tables["evidence"].filter(pl.col("stance").fill_null("") != "unrelated")
    rows = rows.join(claims, on="record_id", maintain_order="left")
    pairs = rows.select("claim", pl.coalesce("text", "title")).iter_rows()
    return Pool.of(family or name, pairs, language)


def normalised(language: str, folder: Path) -> Pool:
    """Posts and the claim that each makes."""
    file = shared("checkthat-2025-task2.zip", folder)
    rows = load("checkthat-2025-normalisation", file).records.filter(language=language)
    of = pl.col("meta").str.json_path_match("$['normalized claim']")
    return Pool.of("posts", rows.select("text", of).iter_rows(), language)


def statements(folder: Path) -> Pool:
    """Tweets that were searched for by words of a statement."""
    dataset = opened("truthseeker2023", folder)
    claims = dataset.tables["claims"].select(id="record_id", claim="text")
    rows = dataset.records.join(claims, on="id", maintain_order="left")
    return Pool.of("statements", rows.select("text", "claim").iter_rows(), "eng")


def translated(folder: Path) -> Pool:
    """Claims in many languages, and their English translations."""
    rows = opened("mumin", folder).records
    english = pl.col("meta").str.json_path_match("$.claim_en")
    pairs = rows.select("text", english=english).filter(pl.col("text") != pl.col("english"))
    made = Pool.of("translations", pairs.iter_rows(), "eng")
    return Pool(**{**vars(made), "asked": [None] * len(made.claims)})


POOLS: dict[str, Callable[[Path], Pool]] = {
    **{name: partial(fact_checks, name) for name in SETS},
    "truthseeker2023": statements,
    "multiclaim": partial(evidence, "multiclaim", language=None),
    **{
        f"posts, {code}": partial(normalised, code)
        for code in ("eng", "por", "deu", "fra", "ara", "pol")
    },
    "factck-br": partial(evidence, "factck-br", language="por"),
    **{n: partial(evidence, n) for n in ("climate-fever", "covid-fact", "healthver", "fnc-1")},
    **{n: partial(evidence, n, family="liar") for n in ("liar-plus", "politihop")},
    "mumin, translated": translated,
}
Asked = list[tuple[RetrievedDocuments, set[int]]]  # what both retrievers say, and the answers


def candidates_of(pool: Pool, most: int) -> Asked:
    """What the local index knows of at most so many claims that it can read."""
    index = index_of({str(i): text for i, text in enumerate(pool.texts)}, pool.language)
    index.meaning = SentenceEncoder(vectors_of, (), CHARACTERS_READ)
    held = range(index.manifest.documents)
    place = {int(index.document(n)["source_id"]): n for n in held}
    chosen = np.random.default_rng(0).permutation(len(pool.claims))[:most].tolist()
    claims = pl.Series([pool.claims[i] for i in chosen], dtype=pl.String)
    languages = [pool.asked[i] if pool.asked else pool.language for i in chosen]
    languages = spoken(claims, pl.Series(languages, dtype=pl.String))
    vectors_of([part for claim in claims for part in said(claim)])  # all at once: quicker
    return [
        (
            index.candidates(Query(claim, language=language), vectors_of(said(claim))),
            {place[one] for one in pool.relevant[i] if one in place},
        )
        for i, claim, language in zip(chosen, claims, languages, strict=True)
        if language in LANGUAGES
    ]


EACH = 150  # claims of a set that are learned from


def learned(sets: list[Asked]) -> tuple[np.ndarray, float]:
    """Each set weighs the same, whatever its size."""
    parts, labels, weights = [], [], []
    for asked in (one[:EACH] for one in sets):
        parts += [candidates.features() for candidates, _ in asked]
        labels += [[one in truth for one in c.documents] for c, truth in asked]
        weights += [np.full(len(c.documents), 1 / len(asked)) for c, _ in asked]
    # eight weights, hundreds of thousands of candidates: hardly regularised
    model = LogisticRegression(C=1e4, max_iter=3_000)
    model.fit(np.concatenate(parts), np.concatenate(labels), np.concatenate(weights))
    return model.coef_[0], float(model.intercept_[0])
