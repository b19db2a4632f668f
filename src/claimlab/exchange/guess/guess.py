"""The second step of an import: from gathered files to a plan, or to a question that the user must
answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from claimlab.core.labels import GENERAL, LabelMap
from claimlab.exchange.guess.choice import settle
from claimlab.exchange.guess.codes import documented
from claimlab.exchange.guess.columns import pick_columns
from claimlab.exchange.guess.doubts import refuse_doubts
from claimlab.exchange.guess.places import pick_places
from claimlab.exchange.guess.plan import Plan
from claimlab.exchange.read.gathered import PLACES, Gathered
from claimlab.exchange.read.texts import PATH
from claimlab.exchange.vocabulary import fold_name
from claimlab.files.typed import literal_text

ARTICLE = 600  # characters of the median text at which texts count as articles
MOST_CODES = 12


def guess(
    gathered: Gathered, named: Mapping[str, str | None], verdicts: LabelMap, kind: str | None = None
) -> Plan:
    """What each column of the files becomes. `named` holds the columns that the user named, by
    role.
    """
    gathered = settle(gathered, named, verdicts)
    plan = Plan(gathered, verdicts)
    frame = gathered.frame
    places = [c for c in PLACES if c not in named.values() and c != PATH]
    plan.picks = pick_columns(
        gathered.plain().drop(places, strict=False), named, verdicts, gathered.inner
    )
    used = {p.column for p in plan.picks.values()} | gathered.inner
    plan.meta = [c for c in frame.columns if c not in used]
    pick_places(plan, named)
    _read_codes(plan)
    refuse_doubts(plan)
    plan.kind = kind or _kind(plan)
    return plan


def _read_codes(plan: Plan) -> None:
    """Take the meaning of codes from the name of their column, unless the user gave a map."""
    pick = plan.picks.get("label")
    if pick is None or pick.column is None or plan.verdicts.name != GENERAL:
        return
    column = plan.gathered.frame[pick.column]
    values = (
        (literal_text(column) if pick.column in plan.gathered.literal else column)
        .drop_nulls()
        .unique()
        .to_list()
    )
    if (
        len(values) <= MOST_CODES
        and (codes := documented(pick.column, values, plan.verdicts)) is not None
    ):
        plan.verdicts = codes
        plan.picks["label"] = replace(pick, why=codes.name.removeprefix(f"{pick.column}: "))


def _kind(plan: Plan) -> str:
    column = plan.column("text")
    if column is None:
        return "post"
    if plan.column("tweet_id") is not None or fold_name(column).startswith(
        ("tweet", "tuit", "tuite", "post")
    ):
        return "post"
    texts = plan.gathered.frame[column]
    median = texts.gather_every(max(1, texts.len() // 1_000)).str.len_chars().median()
    return "article" if isinstance(median, int | float) and median >= ARTICLE else "claim"
