"""The language of each text, by the vote of three identifiers, against the one that was asked
for.
"""

from __future__ import annotations

from claimlab.core.languages import CONFUSABLE, same
from claimlab.generate.filter.metric import DOES_NOT_APPLY, Metric, Reading, unmeasured
from claimlab.generate.filter.texts import Batch
from claimlab.text.langid import identify


def measure(batch: Batch) -> list[Reading]:
    votes = identify([text.text for text in batch.texts])
    return [_reading(t.text, t.language, vote) for t, vote in zip(batch.texts, votes, strict=True)]


def _reading(text: str | None, wanted: str | None, vote: str | None) -> Reading:
    if text is None:
        return DOES_NOT_APPLY
    if wanted is None:
        return unmeasured("the record does not say its language")
    if vote is None:
        return unmeasured("the identifiers do not agree on a language")
    if same(wanted, vote):
        return Reading("passed")
    if same(wanted, vote, equivalent=CONFUSABLE):
        return unmeasured(f"no identifier tells {wanted} from {vote}")
    return Reading("failed", None, f"the language is {vote}, not {wanted}")


METRIC = Metric(
    "translation", "the text is in the language asked for", "a stated language", measure
)
