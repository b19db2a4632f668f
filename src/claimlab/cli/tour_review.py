"""The review stage of the demo: near-duplicates with opposite labels, decided by invented
annotators and applied.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from claimlab.audit.run import audit
from claimlab.cli.tour_state import Tour
from claimlab.core.errors import MissingExtra
from claimlab.core.finding import Finding
from claimlab.core.words import several
from claimlab.pages.blocks import Cell, Section, Table, Text

DEFECT, CHECK, FEATURE = (
    "contradicting-near-duplicates",
    "near-duplicates",
    "under different labels",
)
ANNOTATORS, ADJUDICATOR = ("ana (invented)", "ben (invented)"), "ola (invented)"
START = datetime(2026, 1, 5, 9)  # the same in every run
UNDECIDABLE = 3  # of every third pair neither label can be trusted: remove both
SLIPS = (
    12,
    20,
)  # every twelfth answer of the first annotator and every twentieth of the second is wrong


def run_review(tour: Tour) -> None:
    """Two invented annotators who mostly agree, an adjudicator where they differ; then the audit of
    the result.
    """
    try:
        from claimlab.review.apply import review_apply
        from claimlab.review.create import review_create
        from claimlab.review.merge import Row
    except MissingExtra as missing:
        tour.sections.append(Section("The review", [Text(f"Left out. {missing}", "note")]))
        return
    review = review_create(
        tour.folder / "planted",
        tour.folder / "review",
        task="conflict",
        pairs="conflicts",
        seed=tour.seed,
    )
    originals = set(tour.truth.records[DEFECT][::2])
    rows: list[Row] = []
    for number, (item, about) in enumerate(review.about().items()):
        better = (
            "second"
            if about.other_id in originals and about.record_id not in originals
            else "first"
        )
        right, wrong = (better, "neither") if number % UNDECIDABLE else ("neither", better)
        answers = [wrong if (number + 1) % slip == 0 else right for slip in SLIPS]
        for annotator, answer in zip(ANNOTATORS, answers, strict=True):
            at = START + timedelta(seconds=20 * len(rows))
            rows.append(Row(item, annotator, answer, seconds=12.0 + number % 5, at=at))
        if answers[0] != answers[1]:
            at = START + timedelta(hours=3, seconds=30 * number)
            rows.append(
                Row(
                    item,
                    ADJUDICATOR,
                    right,
                    round="final",
                    comment="Decided after discussion.",
                    at=at,
                )
            )
    review.merge(rows)
    agreement, total = review.agreement().headline(), review.size
    reviewed = review_apply(review, tour.folder / "reviewed", tour.folder / "planted")
    review.close()
    before = _finding(tour.audit.findings if tour.audit is not None else [])
    after = _finding(audit(reviewed, checks=[CHECK], seed=tour.seed).findings)
    final = sum(row.round == "final" for row in rows)
    words = (
        f"Two invented annotators decided {several(total, 'pair')} of near-duplicates with"
        " different labels: keep one, or remove both. They mostly agree; where they differ"
        f" ({several(final, 'pair')}), an invented adjudicator decides. Agreement on {agreement}."
        " Applied to the dataset, the review removes"
        f" {several(len(tour.dataset) - len(reviewed), 'record')}, and the check runs again. Open"
        " the review with: claimlab serve."
    )
    table: list[list[Cell | str]] = [
        ["before the review", *_cells(before)],
        ["after it", *_cells(after)],
    ]
    tour.sections.append(
        Section(
            "The review",
            [
                Text(words),
                Table(["Near-duplicates under different labels", "Verdict", "Why"], table),
            ],
        )
    )
    tour.reviewed = {
        "items": total,
        "adjudicated": final,
        "finding": None if after is None else after.verdict,
    }


def _finding(findings: list[Finding]) -> Finding | None:
    return next((f for f in findings if f.check == CHECK and f.feature == FEATURE), None)


def _cells(finding: Finding | None) -> list[Cell]:
    if finding is None:
        return [Cell("not measured", tone="not-measured"), Cell("")]
    return [Cell(finding.verdict, tone=finding.verdict), Cell(finding.why)]
