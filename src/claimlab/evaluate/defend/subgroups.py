"""Where a run fails: subgroups of records found by search, corrected for how many were looked at.

A subgroup is a value of one trait, a frequent word, or two of these together. Whether a record was
answered right is permuted among the records, groups kept together; a subgroup counts where its
share of wrong answers, in standard errors, is above the largest of any subgroup in all but 5% of
the permutations (max-T; Westfall and Young 1993).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from claimlab.core.stats.chance import LEVEL
from claimlab.core.stats.permute import Exchange
from claimlab.core.stats.scores import Flags, Floats, Ints
from claimlab.evaluate.defend.result import PERMUTATIONS, SubgroupSearch, WeakSubgroup
from claimlab.evaluate.evaluation import telling
from claimlab.evaluate.scored_run import ScoredRun
from claimlab.evaluate.sufficiency import LEAST_RECORDS
from claimlab.text.telling import held_words, keywords, presence

LEAST_SHARE = 0.02  # of the records
MOST_SUBGROUPS = 1_000  # subgroups that are looked at, the largest first
SAME_RECORDS_SHARE = (
    0.8  # of the records of two subgroups together: then the second says nothing new
)


@dataclass(frozen=True)
class _Candidate:
    traits: frozenset[str]  # the columns that it is made of
    name: str
    rows: Flags


def search(run: ScoredRun, *, seed: int = 0) -> SubgroupSearch:
    """The subgroups in which `run` fails more often than elsewhere."""
    answers = run.answers
    if (why := run.units.why_not) is not None:
        return SubgroupSearch(why=f"there are only {why}")
    wrong = ~answers.right
    if wrong.all() or not wrong.any():
        return SubgroupSearch(why=f"{'no' if wrong.all() else 'every'} answer is right")
    candidates = _candidates(run)
    if not candidates:
        return SubgroupSearch(why="no subgroup has records enough")
    p = _corrected(
        wrong, np.stack([candidate.rows for candidate in candidates]), answers.cluster, seed
    )
    return SubgroupSearch(len(candidates), _clear(candidates, wrong, p))


def _candidates(run: ScoredRun) -> list[_Candidate]:
    """Values of traits and words, then pairs of them; neither too few records nor too many."""
    records = run.table.height
    least = max(LEAST_RECORDS, round(LEAST_SHARE * records))

    def fit(rows: Flags) -> bool:
        return least <= int(rows.sum()) <= records - least

    fitting = [candidate for candidate in (*_values(run), *_words(run)) if fit(candidate.rows)]
    # a language and its family are often the same records: the first name stands for them
    distinct = {candidate.rows.tobytes(): candidate for candidate in reversed(fitting)}
    single = sorted(
        distinct.values(), key=lambda candidate: (-int(candidate.rows.sum()), candidate.name)
    )
    pairs = [
        _Candidate(first.traits | second.traits, f"{first.name} and {second.name}", both)
        for first, second in combinations(single, 2)
        if not first.traits & second.traits and fit(both := first.rows & second.rows)
    ]
    pairs.sort(key=lambda pair: (-int(pair.rows.sum()), pair.name))
    return [*single, *pairs][:MOST_SUBGROUPS]


def _values(run: ScoredRun) -> list[_Candidate]:
    every = np.arange(run.table.height)
    return [
        _Candidate(frozenset([trait]), f"{trait} {value}", np.isin(every, part["row"].to_numpy()))
        for trait in telling(run)
        for (value,), part in run.trait(trait).group_by("value", maintain_order=True)
    ]


def _words(run: ScoredRun) -> list[_Candidate]:
    texts, languages = run.table["text"].fill_null(""), run.table["language"]
    words = keywords(texts, languages)
    occurrences = held_words(texts, languages)
    holding = presence(occurrences, words, texts.len()).toarray().astype(np.bool_)
    return [
        _Candidate(frozenset([f"word {word}"]), f"the word '{word}'", holding[:, i])
        for i, word in enumerate(words)
    ]


def _corrected(wrong: Flags, rows: Flags, cluster: Ints, seed: int) -> Floats:
    """The p-value of each subgroup (one row of `rows` each), corrected for all of them."""
    from scipy.sparse import csr_array

    members, n = csr_array(rows.astype(np.float64)), wrong.size
    size, share = rows.sum(axis=1).astype(np.float64), float(wrong.mean())
    expected = size * share
    error = np.sqrt(expected * (1 - share) * (1 - size / n))  # drawn without putting back

    def clear(marks: Flags | Ints) -> Floats:
        """How many standard errors each subgroup has more wrong answers than expected."""
        counts = members @ marks.T.astype(np.float64)
        return np.asarray((counts.T - expected) / error)

    exchange = Exchange(wrong.astype(np.int64), cluster)
    drawn = exchange.draw_labels(np.random.default_rng([seed, n]), PERMUTATIONS)
    largest = np.concatenate([clear(marks).max(axis=1) for marks in drawn])
    own = clear(wrong[None])[0]
    as_clear = (largest[:, None] >= own - 1e-9).sum(axis=0)
    return np.asarray((1 + as_clear) / (1 + len(largest)))


def _clear(candidates: Sequence[_Candidate], wrong: Flags, p: Floats) -> list[WeakSubgroup]:
    """Those that are clear, the worst first, none of which repeats one before it."""

    def share(candidate: _Candidate) -> float:
        return float(wrong[candidate.rows].mean())

    def repeats(candidate: _Candidate, before: _Candidate) -> bool:
        """Whether it has nearly the same records, or is a part of the one before and no worse."""
        both, either = (candidate.rows & before.rows).sum(), (candidate.rows | before.rows).sum()
        inside = before.traits <= candidate.traits and share(candidate) <= share(before)
        return bool(both >= SAME_RECORDS_SHARE * either) or inside

    chosen: dict[int, _Candidate] = {}
    clear = [(i, candidates[i]) for i in np.flatnonzero(p < LEVEL).tolist()]
    for i, weak_candidate in sorted(clear, key=lambda item: (len(item[1].traits), -share(item[1]))):
        if not any(repeats(weak_candidate, before) for before in chosen.values()):
            chosen[i] = weak_candidate
    weak = [
        WeakSubgroup(
            candidate.name,
            int(candidate.rows.sum()),
            1 - share(candidate),
            1 - float(wrong[~candidate.rows].mean()),
            float(p[i]),
        )
        for i, candidate in chosen.items()
    ]
    return sorted(weak, key=lambda subgroup: subgroup.accuracy)
