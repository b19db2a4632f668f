"""When there is too little data to report: the same rule for a slice, a run and a comparison."""

from __future__ import annotations

import numpy as np

from claimlab.core.stats.scores import UNANSWERED
from claimlab.core.words import several, verb
from claimlab.evaluate.answers import Answers

ONE_CLASS = "not measured: only one class"  # what a macro-F1 over one class is
LEAST_RECORDS = 30  # records
LEAST_OF_A_CLASS = 5  # records of a class


def unmeasured(answers: Answers) -> str | None:
    """Why these answers have no macro-F1; null where they have one."""
    if not answers.answered:
        return UNANSWERED
    return ONE_CLASS if len(answers.classes) < 2 else None


def thin_classes(answers: Answers) -> list[str]:
    """Classes with a handful of records: resampling a handful gives an interval that is far too
    sure.
    """
    sizes = np.bincount(answers.truth, minlength=len(answers.classes))
    return [c for c, n in zip(answers.classes, sizes, strict=True) if n < LEAST_OF_A_CLASS]


def cautions(answers: Answers) -> list[str]:
    """What a reader must know before believing a macro-F1 on these records."""
    if not answers.answered:
        return [f"Every prediction failed: {UNANSWERED}."]
    out = []
    sizes = np.bincount(answers.truth, minlength=len(answers.classes))
    if answers.n < LEAST_RECORDS:
        out.append(f"There {verb(answers.n)} only {several(answers.n, 'record')}.")
    if len(answers.classes) < 2:
        out.append(f"Macro-F1 is {ONE_CLASS} ({answers.classes[0]}).")
    for name in thin_classes(answers):
        n = int(sizes[answers.classes.index(name)])
        depends = f"macro-F1 depends on {verb(n, 'it', 'them')} and has no interval"
        out.append(f"The class {name} has only {several(n, 'record')}: {depends}.")
    return out
