"""Claims without an answer, made of labelled ones: their right answers and the copies of these are
masked, and they are looked up again. What is found then is what a new claim would get that was
never checked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from claimlab.claims.match_lookup import Lookup
from claimlab.claims.matches import factcheck_id
from claimlab.core.progress import Progress
from claimlab.search.local import LocalIndex
from claimlab.tasks.matching import NOTHING, Qrels
from claimlab.text.neardup import find_across


@dataclass(frozen=True)
class Answers:
    """The labelled answers of the claims that are asked, as far as an archive has them. `lacking`
    counts those that it has not; a claim that loses all of its answers has none here."""

    qrels: Qrels
    places: Mapping[str, int]  # in the archive, by id
    texts: Sequence[str]  # of the archive
    lacking: int = 0

    @classmethod
    def of(cls, qrels: Qrels, archive: LocalIndex, asked: Collection[str]) -> Answers:
        """An answer that repeats another fact-check counts as the one that the archive keeps."""
        documents = archive.documents(range(archive.manifest.documents))
        places = {
            factcheck_id(d.get("source_id"), d.get("url"), d.get("text")): number
            for number, d in enumerate(documents)
        }
        labelled = {
            query: {archive.repeats.get(id, id) for id in ids}
            for query, ids in qrels.items()
            if query in asked
        }
        kept = {query: {id for id in ids if id in places} for query, ids in labelled.items()}
        lacking = sum(len(ids) - len(kept[query]) for query, ids in labelled.items())
        texts = [f"{d.get('title') or ''} {d.get('text') or ''}".strip() for d in documents]
        return cls(kept, places, texts, lacking)

    def masked(self, lookup: Lookup, progress: Progress) -> dict[str, float]:
        """What the best match of each claim with an answer scores without its answers."""
        having = [query for query, ids in self.qrels.items() if ids]
        scores = {}
        for number, query in enumerate(having):
            progress("masked queries", number, len(having))
            hidden = {place for id in self.qrels[query] for place in self.copies[id]}
            hits = lookup.best(query, 1, without=hidden)
            scores[query] = (hits[0].score or 0.0) if hits else NOTHING
        progress("masked queries", len(having), len(having))
        return scores

    @cached_property
    def copies(self) -> dict[str, set[int]]:
        """Of each right answer, its place in the archive and those of its near-duplicates."""
        same: dict[str, set[int]] = {}
        for place, text in enumerate(self.texts):
            same.setdefault(text, set()).add(place)
        text_of = {
            id: self.texts[self.places[id]] for ids in self.qrels.values() for id in sorted(ids)
        }
        answers, archived = [*dict.fromkeys(text_of.values())], [*same]
        near = {text: set(same[text]) for text in answers}
        for left, right, _ in find_across(answers, archived):
            near[answers[left]] |= same[archived[right]]
        return {id: near[text] for id, text in text_of.items()}
