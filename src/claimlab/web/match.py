"""The search for fact-checks that a claim already has."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field

from claimlab.core.types import JsonObject
from claimlab.web.page import Here, page
from claimlab.web.workspace import FolderEntry, Line, Shape, WorkspaceFolder, record_link


class MatchQuery(Shape):
    text: Annotated[str, Field(max_length=2000)] = ""
    """The claim to look up."""
    archive: Line = ""
    """A dataset to look in."""
    meaning: bool = False
    """By meaning too, which takes a while at first."""


class MatchPage(Shape):
    question: MatchQuery
    archives: list[FolderEntry]
    conclusion: str
    not_measured: list[str]
    matches: list[JsonObject]
    """The best first, each with its record."""


def _likeliest(place: WorkspaceFolder) -> tuple[float, int]:
    """Fact-checks link what they checked; of several archives, the largest has most of them."""
    records = place.entry.records or 0
    return -int(place.manifest.counts.get("evidence") or 0) / (records or 1), -records


@page("/match", "match.html.jinja")
def match_page(question: Annotated[MatchQuery, Query()], workspace: Here) -> MatchPage:
    """The fact-checks that a claim already has."""
    from claimlab.claims.match import match

    places = [place for place in workspace.of("dataset") if place.entry.study is None]
    archives = [place.entry for place in sorted(places, key=_likeliest)]
    if not question.archive and archives:
        question = question.model_copy(update={"archive": archives[0].id})
    if not question.text.strip() or not archives:
        return MatchPage(
            question=question, archives=archives, conclusion="", not_measured=[], matches=[]
        )
    place = workspace.get(question.archive, "dataset")
    result = match(text=question.text, archive=place.folder, words=not question.meaning)
    columns = ("id", "score", "meaning", "text", "title", "verdict", "publisher", "date", "url")
    rows = result.rows.select(columns).to_dicts()
    return MatchPage(
        question=question,
        archives=archives,
        conclusion=result.conclusion(),
        not_measured=[f"{why}: {n:,}." for why, n in result.not_measured.items()],
        matches=[row | {"link": record_link(place.entry.id, row["id"])} for row in rows],
    )
