"""Are test rows, nearly word for word, in the training rows? And do near-duplicates carry different
labels?
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from claimlab.audit.check import FairCheck, Findings, Need
from claimlab.audit.rule import Rule, ShareRule, needed
from claimlab.audit.subject import WITHHELD, Subject
from claimlab.core.finding import Finding
from claimlab.core.record import SIDES
from claimlab.core.stats.scores import Flags, Ints
from claimlab.core.words import verb

LEAKED_SHARE = ShareRule(fail=0.01)
PAIRS_SHOWN = 6  # shown side by side


class NearDuplicatesCheck(FairCheck):
    name = "near-duplicates"
    title = "Near-duplicates"
    question = "Are near-copies on both sides of a split, or do they have different labels?"
    rule = (
        f"Fail when more than {100 * LEAKED_SHARE.fail:.0f}% of the test records have a"
        " near-duplicate in train, or of all records one with a different label; warn when any has"
        " one; pass when none has. All are counted, so the share has no interval. A random 80/20"
        " split is drawn where none is given: it fails when surely more have one (Wilson interval)."
        f" Dev is tested where there is no test part. Not measured with fewer than {Rule.min_units}"
        " records."
    )

    needs: tuple[Need, ...] = ("text",)
    what, holding = "near-duplicate", "a text"  # what a record has another of

    def measure(self, subject: Subject) -> Findings:
        yield self._leaks(subject.with_hidden)
        if len(subject.classes) > 1:
            yield self._contradictions(subject)

    def _leaks(self, subject: Subject) -> Finding:
        split = sides(subject)
        n = int(split.test.sum())
        if not split.train.any() or not n:
            why = "The split column has no train or no test rows."
            return self.unmeasured(subject, why, split.label)
        if (reason := needed(f"Records in the {split.part} part", n)) is not None:
            return self.unmeasured(subject, reason, split.label, n)
        leaked, same, other = leaks(subject, split.train, split.test)
        hidden = int((split.test & withheld(subject)).sum())
        details = {
            "leaked": len(leaked),
            **LEAKED_SHARE.details(len(leaked), n, drawn=split.drawn),
            "same_label": same,
            "other_label": other,
            "drawn": split.drawn,
            "part": split.part,
            "unlabelled": hidden,
        }
        beside = unlabelled_words(hidden, n, split.part)
        if split.dev.any():
            in_dev, dev = len(leaks(subject, split.train, split.dev)[0]), int(split.dev.sum())
            details |= {"dev_leaked": in_dev, "dev_share": in_dev / dev}
            beside += (
                f" Of {dev:,} dev records, {in_dev:,} ({100 * in_dev / dev:.1f}%)"
                f" {verb(in_dev, 'has', 'have')} one."
            )
        return self.found(
            subject,
            LEAKED_SHARE.verdict(len(leaked), n, drawn=split.drawn),
            f"Under {split.name}, {len(leaked):,} of {n:,} {split.part} records"
            f" ({LEAKED_SHARE.shown(len(leaked), n, drawn=split.drawn)}) have a {self.what} in"
            f" train; {same:,} have one with the same label, {other:,} one with a different label"
            f" ({LEAKED_SHARE.limits(drawn=split.drawn)}).{beside}",
            n=n,
            feature=split.label,
            records=[subject.ids[i] for i in leaked],
            details={**details, "pairs": pairs(subject, leaked[:PAIRS_SHOWN], split.train)},
        )

    def _contradictions(self, subject: Subject) -> Finding:
        n, label = int((subject.near.text_of >= 0).sum()), "under different labels"
        if (reason := needed(f"Records with {self.holding}", n)) is not None:
            return self.unmeasured(subject, reason, label, n)
        torn = contradicting(subject)
        return self.found(
            subject,
            LEAKED_SHARE.verdict(len(torn), n),
            f"{len(torn):,} of {n:,} records ({LEAKED_SHARE.shown(len(torn), n)}) have a"
            f" {self.what}"
            f" or copy with a different label ({LEAKED_SHARE.limits()}).",
            n=n,
            feature=label,
            records=[subject.ids[i] for i in torn],
            details={
                "contradicting_records": len(torn),
                **LEAKED_SHARE.details(len(torn), n),
                "pairs": pairs(subject, torn[: 2 * PAIRS_SHOWN], None)[:PAIRS_SHOWN],
            },
        )


CHECK = NearDuplicatesCheck()


def leaks(subject: Subject, train: Flags, test: Flags) -> tuple[Ints, int, int]:
    """The rows of `test` with a copy or near-duplicate in `train`; how many have one under the same
    label, and how many one under another. A row without a label has neither."""
    rows, same, other = _alike(subject, train, test)
    labelled = ~withheld(subject)[rows]
    return (
        rows[same + other > 0],
        int(((same > 0) & labelled).sum()),
        int(((other > 0) & labelled).sum()),
    )


def withheld(subject: Subject) -> Flags:
    """Which rows have no label."""
    last = len(subject.classes) - 1 if WITHHELD in subject.classes else -1
    return np.asarray(subject.y == last)


def unlabelled_words(hidden: int, n: int, part: str) -> str:
    """How many of the tested records have no label, where some have none."""
    if not hidden:
        return ""
    which = (
        f"None of the {part} records has a label"
        if hidden == n
        else (f"{hidden:,} of the {part} records {verb(hidden, 'has', 'have')} no label")
    )
    return f" {which}: a leak needs none."


def contradicting(subject: Subject) -> Ints:
    """Rows with a copy or near-duplicate under another label."""
    every = np.ones(subject.n, np.bool_)
    rows, _, other = _alike(subject, every, every)
    return rows[other > 0]


def _alike(subject: Subject, train: Flags, test: Flags) -> tuple[Ints, Ints, Ints]:
    """The rows of `test` with a text, and how many copies and near-duplicates each has in `train`
    under its own label and under others.
    """
    near = subject.near
    with_text = near.text_of >= 0
    tally = np.zeros((near.texts, len(subject.classes)), np.int64)
    np.add.at(tally, (near.text_of[train & with_text], subject.y[train & with_text]), 1)
    rows = np.flatnonzero(test & with_text)
    alike = (near.graph @ tally)[near.text_of[rows]]
    same = alike[np.arange(len(rows)), subject.y[rows]]
    return rows, same, alike.sum(axis=1) - same


def pairs(subject: Subject, rows: Ints, train: Flags | None) -> list[dict[str, str]]:
    """Each of `rows` with one of its near-duplicates: one that trains, or else one under another
    label. Each once.
    """
    near, seen, out = subject.near, set(), []
    graph = near.graph
    for row in rows.tolist():
        text = int(near.text_of[row])
        akin = graph.indices[graph.indptr[text] : graph.indptr[text + 1]]
        fits = (subject.y != subject.y[row]) if train is None else train
        others = np.flatnonzero(np.isin(near.text_of, akin) & fits).tolist()
        if others and (pair := frozenset((row, others[0]))) not in seen:
            seen.add(pair)
            out.append({"record": subject.ids[row], "other": subject.ids[others[0]]})
    return out


@dataclass(frozen=True)
class Sides:
    """Which rows train and which are tested; `part` is what the tested ones are called. Rows of
    `dev` are neither.
    """

    train: Flags
    test: Flags
    dev: Flags
    part: str
    drawn: bool = False

    @property
    def label(self) -> str:
        return "across a random split" if self.drawn else "across the given split"

    @property
    def name(self) -> str:
        if self.drawn:
            return "a random 80/20 split"
        return "the dataset's own split" + (
            "" if self.part == "test" else ", which has no test part"
        )


def sides(subject: Subject) -> Sides:
    """The sides of the given split: dev, or else all that does not train, is tested where there is
    no test part. Drawn at random (80/20) when the dataset names no split."""
    split = subject.rows["split"]
    if split.null_count() == split.len():
        draw = np.random.default_rng(subject.seed).random(subject.n) < 0.2
        return Sides(~draw, draw, np.zeros(subject.n, bool), "test", drawn=True)
    train, dev, test = ((split == side).fill_null(False).to_numpy() for side in SIDES)
    if test.any():
        return Sides(train, test, dev, "test")
    if dev.any():
        return Sides(train, dev, test, "dev")
    return Sides(train, split.is_not_null().to_numpy() & ~train, dev, "held-out")
