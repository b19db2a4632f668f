"""Are test rows, nearly word for word, in the training rows? And do near-duplicates carry different labels?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from claimlab.audit.check import Context, not_measured
from claimlab.audit.rule import Rule, needed
from claimlab.audit.subject import Subject
from claimlab.core.finding import Finding, Verdict

FAIL_SHARE = 0.01
PAIRS = 6  # shown side by side


class NearDuplicates:
    name = "near-duplicates"
    title = "Near-duplicates"
    question = "Are near-copies on both sides of a split, or do they have different labels?"
    protocols = ("fair",)
    rule = (
        f"Fail when at least {100 * FAIL_SHARE:.0f}% of the test records have a near-duplicate in train, or of all "
        "records one with a different label; warn when any has one; else pass. A random 80/20 split is drawn where "
        f"none is given. Not measured with fewer than {Rule.min_units} records."
    )

    def run(self, subject: Subject, context: Context) -> list[Finding]:
        if subject.rows["text"].null_count() == subject.n:
            return [not_measured(self.name, "fair", "The records have no text.", n=subject.n)]
        findings = [self._leaks(subject, context)]
        if len(subject.classes) > 1:
            findings.append(self._contradictions(subject))
        return findings

    def _leaks(self, subject: Subject, context: Context) -> Finding:
        train, test, drawn = sides(subject, context.seed)
        label = "across a random split" if drawn else "across the given split"
        if not train.any() or not test.any():
            why = "The split column has no train or no test rows."
            return not_measured(self.name, "fair", why, n=subject.n, feature=label)
        if (reason := needed("Records in the test part", int(test.sum()))) is not None:
            return not_measured(self.name, "fair", reason, n=int(test.sum()), feature=label)
        near = subject.near
        tally = np.zeros((near.texts, len(subject.classes)), np.int64)
        known = near.text_of >= 0
        np.add.at(tally, (near.text_of[train & known], subject.y[train & known]), 1)
        around = near.graph @ tally
        rows = np.flatnonzero(test & known)
        mine = around[near.text_of[rows]]
        leaked = mine.sum(axis=1) > 0
        same = mine[np.arange(len(rows)), subject.y[rows]] > 0
        other = mine.sum(axis=1) - mine[np.arange(len(rows)), subject.y[rows]] > 0
        n, share = int(leaked.sum()), float(leaked.sum() / max(1, int(test.sum())))
        verdict: Verdict = "fail" if share >= FAIL_SHARE else "warn" if n else "pass"
        which = "a random 80/20 split" if drawn else "the dataset's own split"
        return Finding(
            check=self.name,
            protocol="fair",
            verdict=verdict,
            why=f"Under {which}, {n:,} of {int(test.sum()):,} test records ({100 * share:.1f}%) have a near-duplicate "
            f"in train; {int((leaked & same).sum()):,} have one with the same label, "
            f"{int((leaked & other).sum()):,} one with a different label (fail: at least {100 * FAIL_SHARE:.0f}%; "
            "warn: any).",
            n=int(test.sum()),
            classes=subject.class_counts,
            feature=label,
            records=[subject.ids[i] for i in rows[leaked]],
            details={
                "leaked": n, "share": share, "same_label": int((leaked & same).sum()),
                "other_label": int((leaked & other).sum()), "drawn": drawn,
                "pairs": pairs(subject, rows[leaked][:PAIRS], train),
            },
        )  # fmt: skip

    def _contradictions(self, subject: Subject) -> Finding:
        rows, label = np.flatnonzero(subject.near.text_of >= 0), "under different labels"
        if (reason := needed("Records with a text", len(rows))) is not None:
            return not_measured(self.name, "fair", reason, n=len(rows), feature=label)
        torn = contradicting(subject)
        share = len(torn) / max(1, len(rows))
        verdict: Verdict = "fail" if share >= FAIL_SHARE else "warn" if len(torn) else "pass"
        return Finding(
            check=self.name,
            protocol="fair",
            verdict=verdict,
            why=f"{len(torn):,} of {len(rows):,} records ({100 * share:.2f}%) have a near-duplicate or copy with "
            f"a different label (fail: at least {100 * FAIL_SHARE:.0f}%; warn: any).",
            n=len(rows),
            classes=subject.class_counts,
            feature=label,
            records=[subject.ids[i] for i in torn],
            details={
                "contradicting_records": len(torn),
                "share": share,
                "pairs": pairs(subject, torn[: 2 * PAIRS], None)[:PAIRS],
            },
        )


def contradicting(subject: Subject) -> npt.NDArray[np.int64]:
    """Rows with a copy or near-duplicate under another label."""
    near = subject.near
    tally = np.zeros((near.texts, len(subject.classes)), np.int64)
    rows = np.flatnonzero(near.text_of >= 0)
    np.add.at(tally, (near.text_of[rows], subject.y[rows]), 1)
    mine = (near.graph @ tally)[near.text_of[rows]]
    conflicting: npt.NDArray[np.int64] = rows[mine.sum(axis=1) > mine[np.arange(len(rows)), subject.y[rows]]]
    return conflicting


def pairs(subject: Subject, rows: npt.NDArray[np.int64], train: npt.NDArray[np.bool_] | None) -> list[dict[str, str]]:
    """Each of `rows` with one of its near-duplicates: one that trains, or else one under another label. Each once."""
    near, seen, out = subject.near, set(), []
    graph = near.graph
    for row in rows.tolist():
        text = int(near.text_of[row])
        akin = graph.indices[graph.indptr[text] : graph.indptr[text + 1]]
        fits = (subject.y != subject.y[row]) if train is None else train
        other = np.flatnonzero(np.isin(near.text_of, akin) & fits)
        if len(other) and frozenset((row, int(other[0]))) not in seen:
            seen.add(frozenset((row, int(other[0]))))
            out.append({"record": subject.ids[row], "other": subject.ids[int(other[0])]})
    return out


def sides(subject: Subject, seed: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], bool]:
    """Which rows train and which test; drawn at random (80/20) when the dataset names no split."""
    split = subject.rows["split"]
    if split.null_count() < split.len():
        train = (split == "train").fill_null(False).to_numpy()
        test = (split.is_not_null() & (split != "train")).to_numpy()
        return train, test, False
    draw = np.random.default_rng(seed).random(subject.n) < 0.2
    return ~draw, draw, True


CHECK = NearDuplicates()
