"""A text that breaks off: it ends in the middle of a sentence, and its source does not."""

from __future__ import annotations

from claimlab.generate.filter.metric import DOES_NOT_APPLY, Metric, Reading, one_by_one, unmeasured
from claimlab.generate.filter.texts import Batch, Text

ENDS = frozenset(".!?…。！？｡।॥۔؟։።᙮)]}»›”’\"'」』）】")
OPEN_ENDED = frozenset({"tha", "lao", "khm", "mya"})  # scripts that end no sentence with a mark


def read(text: Text, batch: Batch) -> Reading:  # noqa: ARG001
    if text.text is None or text.short or text.form == "post":
        return DOES_NOT_APPLY  # posts end in tags, links and pictures
    if text.language in OPEN_ENDED:
        return unmeasured(f"{text.language} ends no sentence with a mark")
    model = text.source if text.source is not None else text.pair
    if model is None:
        return unmeasured("no source to compare the end with")
    if not model.rstrip() or model.rstrip()[-1] not in ENDS:
        return unmeasured("its source ends in no mark either")
    if text.text.rstrip()[-1:] in ENDS:
        return Reading("passed")
    return Reading("failed", None, f"breaks off: “… {text.text.rstrip()[-30:]}”")


METRIC = Metric(
    "defects",
    "the text does not break off",
    "a source or a translation",
    one_by_one(read),
    "defects",
)
