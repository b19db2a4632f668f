"""The second step of an import: from gathered files to a plan, or to a question that the user must answer."""

from __future__ import annotations

from collections.abc import Mapping

from claimlab.core.labels import LabelMap
from claimlab.exchange.guess.columns import pick_columns
from claimlab.exchange.guess.doubts import refuse_doubts
from claimlab.exchange.guess.places import pick_places
from claimlab.exchange.guess.plan import Plan
from claimlab.exchange.read.gather import PLACES, Gathered
from claimlab.exchange.read.texts import PATH
from claimlab.exchange.vocabulary import fold_name

ARTICLE = 600  # characters of the median text, from which on texts are articles


def guess(gathered: Gathered, given: Mapping[str, str | None], verdicts: LabelMap, kind: str | None = None) -> Plan:
    """What each column of the files becomes. `given` holds the columns that the user named, by role."""
    plan = Plan(gathered, verdicts)
    frame = gathered.frame
    places = [c for c in PLACES if c not in given.values() and c != PATH]
    plan.picks = pick_columns(gathered.plain().drop(places, strict=False), given, verdicts)
    used = {p.column for p in plan.picks.values()}
    plan.meta = [c for c in frame.columns if c not in used]
    pick_places(plan, given)
    refuse_doubts(plan)
    plan.kind = kind or _kind(plan)
    return plan


def _kind(plan: Plan) -> str:
    column = plan.column("text")
    if column is None:
        return "post"
    if plan.column("tweet_id") is not None or fold_name(column).startswith(("tweet", "tuit", "tuite", "post")):
        return "post"
    texts = plan.gathered.frame[column]
    median = texts.gather_every(max(1, texts.len() // 1_000)).str.len_chars().median()
    return "article" if isinstance(median, int | float) and median >= ARTICLE else "claim"
