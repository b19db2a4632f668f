"""The annotators' verdicts on rationales: wrong, open, or not wrong; the majority of each case, and
agreement.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.stats.agreement import compared
from claimlab.core.stats.interval import wilson
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.evaluate.judge.articles import IDS, column
from claimlab.files.read import user_table

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
Verdicts = dict[str, dict[str, str]]  # annotator -> record -> verdict


def people_in(run: Dataset) -> Verdicts:
    """The annotators' verdicts in the run's own annotations."""
    table = run.tables.get("annotations")
    if table is None:
        return {}
    mine = table.filter((pl.col("question") == QUESTION) & (pl.col("annotator_kind") == "human"))
    return _verdicts(
        mine.select("record_id", "annotator", "value"), f"the annotations of '{run.name}'"
    )


def read_people(file: Path) -> Verdicts:
    """Answers from a table with the columns record_id, value (wrong, open, not wrong) and, if there
    are several people, annotator."""
    frame = user_table(file, *IDS, "value", "annotator")
    who = (
        pl.col("annotator") if "annotator" in frame.columns else pl.lit("person").alias("annotator")
    )
    value = column(frame, ("value", "label"), file)
    rows = frame.select(
        pl.col(column(frame, IDS, file)).alias("record_id"), who, pl.col(value).alias("value")
    )
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
        shown = ", ".join(f"'{v}' ({n})" for v, n in strange.most_common(5))
        raise DataError(f"{where} holds unknown verdicts: {shown}.", f"Use: {', '.join(VERDICTS)}.")
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
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for who, answers in verdicts.items():
        for record, verdict in answers.items():
            if who in SETTLED:
                settled[record] = verdict
            else:
                votes[record][verdict] += 1
    for record, tally in votes.items():
        first, *rest = tally.most_common()
        divided = bool(rest) and rest[0][1] == first[1]
        settled.setdefault(record, OPEN if divided else first[0])
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


# Where a label misleads, in words; the guide calls these two false-incorrect and false-correct.
RATES = {
    "false_incorrect": "label wrong, rationale sound",
    "false_correct": "label right, rationale wrong",
}


def rates(verdicts: Mapping[str, str], correct: Mapping[str, bool]) -> JsonObject:
    """Where the label misleads. False-incorrect: of the predictions with the wrong label, those
    whose rationale is not wrong. False-correct: of those with the right label, those whose
    rationale is wrong."""
    return {
        "false_incorrect": _rate(
            verdicts, [r for r, right in correct.items() if not right], NOT_WRONG
        ),
        "false_correct": _rate(verdicts, [r for r, right in correct.items() if right], WRONG),
    }


def _rate(verdicts: Mapping[str, str], records: Sequence[str], wanted: str) -> JsonObject:
    tally = Counter(verdicts[r] for r in records if r in verdicts)
    n = sum(tally.values())
    interval = wilson(tally[wanted], n)
    return {
        "rate": round(tally[wanted] / n, 4) if n else None,
        "cases": tally[wanted],
        "interval": None if interval is None else [round(end, 4) for end in interval],
        "n": n,
        "not_judged": len(records) - n,
        **{v.replace(" ", "_"): tally[v] for v in VERDICTS},
    }


def rate_in_words(part: Mapping[str, Any]) -> str:
    """A rate as a count of cases with its interval: "3 of 4 (95% interval 30 to 95%)"."""
    if not part["n"]:
        return "not measured (no such case was judged)"
    low, high = part["interval"]
    return f"{part['cases']:,} of {part['n']:,} (95% interval {100 * low:.0f} to {100 * high:.0f}%)"


def agreement_in_words(part: Mapping[str, Any]) -> str:
    """Percent, kappa and alpha with their intervals, for the line beside a rate."""
    cases = several(part["n"], "case")
    words = [
        f"{100 * part['agreement']:.0f}% of {cases}{in_brackets(part['agreement_interval'], 100)}"
    ]
    for name in ("kappa", "alpha"):
        value = part[name]
        words.append(
            f"{name}"
            f" {'not defined' if value is None else f'{value:.2f}'}{in_brackets(part[f'{name}_interval'], 1)}"  # noqa: E501
        )
    return ", ".join(words)


def in_brackets(ends: Sequence[float] | None, scale: int) -> str:
    """An interval as a suffix; empty if there is none."""
    return (
        ""
        if ends is None
        else " ({:.{d}f} to {:.{d}f})".format(*(scale * e for e in ends), d=0 if scale > 1 else 2)
    )
