"""The annotators' verdicts on rationales: wrong, open, or not wrong; the majority of each case, and
agreement.

`judged_in` reads back what the judges of a run said, for the reports that show a run with its
judges.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.stats.agreement import compared
from claimlab.core.stats.consensus import majority
from claimlab.core.stats.interval import wilson
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.judge.cases import IDS, Articles, RationaleCase, column, read_cases
from claimlab.files.read import user_table
from claimlab.tasks import Task

QUESTION = "rationale"
WRONG, OPEN, NOT_WRONG = "wrong", "open", "not wrong"
VERDICTS = (WRONG, OPEN, NOT_WRONG)
SETTLED = ("consensus", "resolution")  # an annotator of this name speaks for all of them
_WORDS = {
    "uncertain": OPEN,
    "unsure": OPEN,
    "open to interpretation": OPEN,
    "uncertain / open to interpretation": OPEN,
    "predictive system is wrong": WRONG,
    "predictive system is not wrong": NOT_WRONG,
    "notwrong": NOT_WRONG,
}
# Where a label misleads, in words; the guide calls these two false-incorrect and false-correct.
RATES = {
    "false_incorrect": "label wrong, rationale sound",
    "false_correct": "label right, rationale wrong",
}
FEWEST_CASES = 20  # in either half of the rationales, short and long
Verdicts = dict[str, dict[str, str]]  # annotator -> record -> verdict


def people_in(run: Dataset) -> Verdicts:
    """The annotators' verdicts in the run's own annotations."""
    table = run.tables.get("annotations")
    if table is None:
        return {}
    answers = table.filter(question=QUESTION, annotator_kind="human")
    return _verdicts(
        answers.select("record_id", "annotator", "value"), f"the annotations of '{run.name}'"
    )


def read_people(file: Path) -> Verdicts:
    """Answers from a table with the columns record_id, value (wrong, open, not wrong) and, if there
    are several people, annotator."""
    frame = user_table(file, *IDS, "value", "annotator")
    who = "annotator" if "annotator" in frame.columns else pl.lit("person")
    value = column(frame, ("value", "label"), file)
    rows = frame.select(record_id=column(frame, IDS, file), who=who, value=value)
    return _verdicts(rows.drop_nulls(["record_id", "value"]), f"'{file.name}'")


def _verdicts(rows: pl.DataFrame, where: str) -> Verdicts:
    verdicts: Verdicts = defaultdict(dict)
    strange: Counter[str] = Counter()
    for record, who, value in rows.iter_rows():
        word = " ".join(str(value).lower().replace("-", " ").replace("_", " ").split())
        word = _WORDS.get(word, word)
        if word in VERDICTS:
            verdicts[who or "person"][record] = word
        else:
            strange[str(value)] += 1
    if strange:
        examples = ", ".join(f"'{v}' ({n})" for v, n in strange.most_common(5))
        raise DataError(
            f"{where} holds unknown verdicts: {examples}.", f"Use: {', '.join(VERDICTS)}."
        )
    return dict(verdicts)


def as_annotations(verdicts: Verdicts) -> list[JsonObject]:
    """The verdicts as rows of the annotations table."""
    return [
        {
            "record_id": record,
            "annotator": who,
            "annotator_kind": "human",
            "question": QUESTION,
            "value": value,
        }
        for who, answers in sorted(verdicts.items())
        for record, value in answers.items()
    ]


def consensus(verdicts: Verdicts) -> dict[str, str]:
    """One verdict per record: the adjudicated one, else the majority, and "open" for a tie."""
    settled: dict[str, str] = {}
    votes: dict[str, list[str]] = defaultdict(list)
    for who, answers in verdicts.items():
        for record, verdict in answers.items():
            if who in SETTLED:
                settled[record] = verdict
            else:
                votes[record].append(verdict)
    for record, cast in votes.items():
        settled.setdefault(record, majority(cast) or OPEN)
    return dict(sorted(settled.items()))


def agreement_between(verdicts: Verdicts) -> list[JsonObject]:
    """The agreement of every pair of annotators on the records that both judged."""
    people = sorted(who for who in verdicts if who not in SETTLED)
    pairs = [
        (a, b, sorted(verdicts[a].keys() & verdicts[b].keys())) for a, b in combinations(people, 2)
    ]
    return [
        {
            "between": [a, b],
            **compared([verdicts[a][r] for r in both], [verdicts[b][r] for r in both]),
        }
        for a, b, both in pairs
        if both
    ]


def rates(verdicts: Mapping[str, str], correct: Mapping[str, bool]) -> JsonObject:
    """Where the label misleads. False-incorrect: of the predictions with the wrong label, those
    whose rationale is not wrong. False-correct: of those with the right label, those whose
    rationale is wrong."""
    out: JsonObject = {}
    for key, (label, wanted) in zip(RATES, ((False, NOT_WRONG), (True, WRONG)), strict=True):
        records = [r for r, right in correct.items() if right == label]
        tally = Counter(verdicts[r] for r in records if r in verdicts)
        cases, n = tally[wanted], tally.total()
        interval = wilson(cases, n)
        out[key] = {
            "rate": round(cases / n, 4) if n else None,
            "cases": cases,
            "interval": interval and [round(end, 4) for end in interval],
            "n": n,
            "not_judged": len(records) - n,
            **{v.replace(" ", "_"): tally[v] for v in VERDICTS},
        }
    return out


def rate_in_words(part: JsonObject) -> str:
    """A rate as a count of cases with its interval: "3 of 4 (95% interval 30 to 95%)"."""
    if not part["n"]:
        return "not measured (no such case was judged)"
    low, high = part["interval"]
    return f"{part['cases']:,} of {part['n']:,} (95% interval {100 * low:.0f} to {100 * high:.0f}%)"


def agreement_in_words(part: JsonObject) -> str:
    """Percent, kappa and alpha with their intervals, for the line beside a rate."""
    share = f"{100 * part['agreement']:.0f}% of {several(part['n'], 'case')}"
    both = [f"{name} {coefficient(part, name)}" for name in ("kappa", "alpha")]
    return ", ".join([f"{share}{in_brackets(part['agreement_interval'], 100)}", *both])


def coefficient(part: JsonObject, name: str) -> str:
    """Kappa or alpha with its interval."""
    value = part[name]
    words = "not defined" if value is None else f"{value:.2f}"
    return f"{words}{in_brackets(part[f'{name}_interval'], 1)}"


def in_brackets(ends: Sequence[float] | None, scale: int) -> str:
    """An interval as a suffix; empty if there is none."""
    return (
        ""
        if ends is None
        else " ({:.{d}f} to {:.{d}f})".format(*(scale * e for e in ends), d=0 if scale > 1 else 2)
    )


def measured(verdicts: Sequence[str], truth: Sequence[str]) -> JsonObject:
    """Agreement with annotators, with kappa and balanced accuracy, which do not reward a constant
    answer.
    """
    both = {WRONG, NOT_WRONG} <= set(truth)
    return {
        **compared(verdicts, truth),
        "balanced_accuracy": round(balanced(verdicts, truth), 4) if both else None,
    }


def length_bias(
    cases: Sequence[RationaleCase], verdicts: Mapping[str, str], settled: Mapping[str, str]
) -> JsonObject | None:
    """How much more of the longer half of the rationales than of the shorter half the judge calls
    wrong, each less what annotators call wrong; null with fewer than 20 cases in either half."""
    scored = [
        (len(case.rationale or ""), (verdicts[case.record_id] == WRONG) - (truth == WRONG))
        for case in cases
        if case.record_id in verdicts and (truth := settled.get(case.record_id, OPEN)) != OPEN
    ]
    errors = np.array([error for _, error in sorted(scored)], np.float64)
    shorter, longer = errors[: len(errors) // 2], errors[len(errors) // 2 :]
    if len(shorter) < FEWEST_CASES:
        return None
    difference = float(longer.mean() - shorter.mean())
    half = 1.96 * float(np.sqrt(sum(part.var(ddof=1) / len(part) for part in (shorter, longer))))
    ends = [difference - half, difference + half]
    return {"n": len(errors), "difference": difference, "interval": ends}


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> JsonObject | None:
    """How many verdicts on the same cases changed, and how many more of them are "wrong" now, each
    with its 95% interval; null for no case."""
    both = [record for record in after if record in before]
    if not both:
        return None
    n, moved = len(both), sum(before[record] != after[record] for record in both)
    shift = np.array([(after[r] == WRONG) - (before[r] == WRONG) for r in both], np.float64)
    mean, half = float(shift.mean()), 1.96 * float(shift.std(ddof=n > 1)) / n**0.5
    ends = [mean - half, mean + half]
    return {
        "n": n,
        "changed": moved,
        "interval": wilson(moved, n),
        "difference": mean,
        "difference_interval": ends,
    }


def changed_in_words(part: JsonObject) -> str:
    """How many verdicts changed, with its interval, and in which direction."""
    low, high = part["interval"]
    return (
        f"{part['changed']:,} of {part['n']:,} verdicts change (95% interval {100 * low:.0f} to"
        f" {100 * high:.0f}%), {100 * part['difference']:+.0f} points of them to wrong"
    )


def score_band(correct: Sequence[bool], false_incorrect: JsonObject) -> JsonObject | None:
    """The accuracy by the label alone is a lower bound: up to it come the misses whose rationale is
    sound, with the upper end of their share. Null without judged misses."""
    if not correct or false_incorrect["rate"] is None:
        return None
    low = sum(correct) / len(correct)
    rate, ends = false_incorrect["rate"], false_incorrect["interval"]
    return {
        "low": low,
        "high": low + (1 - low) * rate,
        "high_interval": [low + (1 - low) * end for end in ends],
        "n": len(correct),
    }


def balanced(verdicts: Sequence[str], truth: Sequence[str]) -> float:
    shares = []
    for kind in (WRONG, NOT_WRONG):
        answers_of_kind = [s for s, t in zip(verdicts, truth, strict=True) if t == kind]
        shares += (
            [sum(s == kind for s in answers_of_kind) / len(answers_of_kind)]
            if answers_of_kind
            else []
        )
    return sum(shares) / len(shares) if shares else 0.0


def judged_in(run: Dataset, task: Task) -> tuple[JsonObject, ...]:
    """One entry for each judge: its standing as it was written, its verdicts, and the rates by it
    and by people.
    """
    table = run.tables.get("annotations")
    if table is None or "predictions" not in run.tables:
        return ()
    answers = table.filter(question=QUESTION, annotator_kind="model")
    if not answers.height:
        return ()
    correct = {
        c.record_id: c.correct for c in read_cases(run, task, Articles()) if c.correct is not None
    }
    settled = consensus(people_in(run))
    entries = []
    for (judge,), rows in answers.group_by("annotator", maintain_order=True):
        verdicts = {r: v for r, v in rows.select("record_id", "value").iter_rows() if v is not None}
        meta: JsonObject = next((json.loads(m) for m in rows["meta"].drop_nulls()), {})
        entries.append(
            {
                "judge": str(judge),
                "standing": meta.get("standing"),
                "verdicts": dict(sorted(Counter(verdicts.values()).items())),
                "no_answer": rows.height - len(verdicts),
                "by_judge": rates(verdicts, correct),
                "by_people": rates(settled, correct) if settled else None,
            }
        )
    return tuple(entries)
