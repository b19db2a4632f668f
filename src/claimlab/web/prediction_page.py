"""The page of one prediction, with all that is recorded, and why a linear detector gave it."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query

from claimlab.core.types import JsonObject
from claimlab.web.page import Here, Run, page
from claimlab.web.predictions import call_rows, prediction_of, scored, why_of
from claimlab.web.run_filters import PredictionChoice, chosen
from claimlab.web.workspace import Shape, record_link

COLUMNS_SHOWN = ("id", "text", "truth", "said", "rationale")
COLUMNS_KNOWN = {*COLUMNS_SHOWN, "scores", "meta"}


class WeighedWord(Shape):
    text: str
    weight: float
    """What it adds to the answer, as a share of the largest."""


class WhyPage(Shape):
    """The words of a text by what they add to the answer of a linear detector."""

    run: str
    id: str
    said: str | None
    words: list[WeighedWord]
    note: str


class PredictionPage(Shape):
    run: str
    name: str
    previous: str | None
    next: str | None
    place: str
    """Which one of the list it is."""
    back: str
    why_link: str
    id: str
    text: str | None
    truth: str | None
    said: str | None
    scores: dict[str, float]
    rationale: str | None
    columns: JsonObject
    evidence: list[JsonObject]
    calls: list[dict[str, str]]
    calls_note: str
    record_link: str


@page("/runs/{place}/why", "why.html.jinja")
def why_page(place: Run, choice: Annotated[PredictionChoice, Query()], workspace: Here) -> WhyPage:
    """What words add to an answer."""
    row, _, _ = prediction_of(place, choice.id, choice.part)
    words, note = why_of(workspace, place, row["text"] or "", row["said"])
    most = max((abs(weight) for _, weight in words), default=0.0) or 1.0
    return WhyPage(
        run=place.entry.id,
        id=choice.id,
        said=row["said"],
        words=[WeighedWord(text=text, weight=round(weight / most, 3)) for text, weight in words],
        note=note,
    )


@page("/runs/{place}/prediction", "prediction.html.jinja")
def prediction_page(place: Run, choice: Annotated[PredictionChoice, Query()]) -> PredictionPage:
    """One prediction with all that is recorded."""
    base = f"/runs/{place.entry.id}"
    row, scores, evidence = prediction_of(place, choice.id, choice.part)
    calls, note = call_rows(place, row["text"])
    table = scored(place, choice.subgroup, choice.part)
    ids = chosen(table, choice)["id"] if choice.at is not None else table["id"].clear()

    def beside(step: int) -> str | None:
        return choice.beside(
            f"{base}/prediction", step, lambda at: ids[at] if at < len(ids) else None
        )

    return PredictionPage(
        **{name: row[name] for name in COLUMNS_SHOWN},
        run=place.entry.id,
        name=place.entry.name,
        previous=beside(-1),
        next=beside(1),
        place="" if choice.at is None else f"{choice.at + 1:,} of {len(ids):,}",
        back=choice.back(base),
        why_link=f"{base}/why?{urlencode({'id': choice.id, 'part': choice.part})}",
        scores=scores,
        evidence=evidence,
        calls=calls,
        calls_note=note,
        columns={k: v for k, v in row.items() if v is not None and k not in COLUMNS_KNOWN},
        record_link=record_link(place.entry.id, choice.id),
    )
