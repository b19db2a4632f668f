"""Altered text against its change log: every logged change is in the text, and no other detail
changed.
"""

from __future__ import annotations

import re
from typing import Any

from claimlab.generate.filter.metric import DOES_NOT_APPLY, Metric, Reading, one_by_one, unmeasured
from claimlab.generate.filter.metrics.details import new_numbers
from claimlab.generate.filter.texts import Batch, Text
from claimlab.text import details as d


def read(text: Text, batch: Batch) -> Reading:  # noqa: ARG001
    if (
        text.veracity != "altered"
        or not text.machine
        or text.short
        or text.translated
        or text.text is None
    ):
        return DOES_NOT_APPLY
    if text.log is None:
        return unmeasured("the change log does not say what became what")
    own = folded(text.text)
    for change in text.log:
        after, before = folded(change.get("after")), folded(change.get("before"))
        if after and after not in own:
            return Reading(
                "failed", None, f"missing change: “{str(change['after'])[:60]}” is logged", -1.0
            )
        if not after and before and before in own:
            return Reading(
                "failed",
                None,
                f"missing change: “{str(change['before'])[:60]}” should be gone",
                -1.0,
            )
    if text.source is None:
        return unmeasured("no source to look for changes that are not logged")
    unlogged = unlogged_details(text.source, text.text, text)
    if unlogged:
        return Reading("failed", None, f"unlogged change: {', '.join(sorted(unlogged)[:3])}", -1.0)
    return Reading("passed")


def unlogged_details(source: str, own: str, text: Text) -> set[str]:
    """Numbers, and names put in the place of others, that neither the source nor the log holds."""
    logged = " ".join(str(change.get("after") or "") for change in text.log or ())
    known = f"{source} {logged}"
    fresh = new_numbers(known, text.source_language, own, text.language) or set()
    names, before = d.names(own, text.language), d.names(source, text.source_language)
    if names and before:
        strange = names - d.words(known)
        gone = before - d.words(
            f"{own} {' '.join(str(c.get('before') or '') for c in text.log or ())}"
        )
        fresh |= strange if gone else set()
    return fresh


def folded(words: Any) -> str:
    return re.sub(r"[\W_]+", " ", str(words or "").casefold()).strip()


METRIC = Metric(
    "validation", "what changed is what is logged", "a log of what became what", one_by_one(read)
)
