"""Claim only, evidence only, both: planted giveaways are found, a label that follows from both is
not one.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.audit.checks.evidence import together
from claimlab.audit.rule import Rule
from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding

N = 400
PLACES = ["Garrow", "Velmore", "Tinsby", "Oxcombe", "Harle", "Pendry", "Maddox", "Quill"]


def findings(
    giveaway: str, *, permuted: bool = False, evidence: bool = True
) -> dict[str | None, Finding]:
    """A record is true when its evidence names its place; `giveaway` plants a word in the claim or
    in the evidence.
    """
    rng = np.random.default_rng(1)
    place, number = rng.choice(PLACES, N), rng.integers(10, 99, N)
    true = rng.random(N) < 0.5
    other = np.array([rng.choice([p for p in PLACES if p != here]) for here in place])
    named = np.where(true, place, other)
    hint = np.where(true, "", "shocking ")
    claims = [f"{h if giveaway == 'claim' else ''}the mill in {p} sold {n} looms" for h, p, n in zip(hint, place, number, strict=True)]  # fmt: skip
    pieces = [f"{'a hoax: ' if giveaway == 'evidence' and not t else ''}records of {p} list looms" for t, p in zip(true, named, strict=True)]  # fmt: skip
    labels = np.where(true, "true", "false")
    if permuted:
        labels = rng.permutation(labels)
    ids = [f"r{i}" for i in range(N)]
    table = pl.DataFrame({"record_id": ids, "evidence_id": ids, "rank": [1] * N, "text": pieces})
    rows = pl.DataFrame({"id": ids, "text": claims, "veracity": labels})
    data = Dataset.build("d", rows, {"evidence": table} if evidence else {})
    return {f.feature: f for f in audit(data, checks=["evidence"], debug=True).findings}


@pytest.mark.slow
def test_a_giveaway_in_the_claim_warns_and_the_evidence_adds_nothing() -> None:
    found = findings("claim")
    assert found["claim alone"].verdict == "warn"
    assert found["evidence alone"].verdict not in ("warn", "fail")
    assert "With the evidence it is" in found["claim alone"].why


@pytest.mark.slow
def test_evidence_that_states_the_verdict_fails() -> None:
    found = findings("evidence")
    assert found["evidence alone"].verdict == "fail"
    assert found["claim alone"].verdict not in ("warn", "fail")


@pytest.mark.slow
def test_nothing_is_found_where_labels_follow_from_both_or_from_nothing() -> None:
    honest = findings("none")
    assert {f.verdict for f in honest.values()} <= {"pass", "inconclusive"}
    reads = {row["reads"]: row["macro_f1"] for row in honest["claim alone"].details["readings"]}
    assert reads["claim and evidence"] > reads["claim alone"] + 0.2
    assert {f.verdict for f in findings("claim", permuted=True).values()} <= {
        "pass",
        "inconclusive",
    }


def test_without_evidence_it_is_not_applicable() -> None:
    (only,) = findings("none", evidence=False).values()
    assert only.verdict == "not-applicable"


def test_the_verdict_on_the_claim_alone() -> None:
    assert Rule().given("fail", (-0.02, 0.03)) == "warn"
    assert Rule().given("fail", (-0.02, 0.09)) == "inconclusive"
    assert Rule().given("warn", (0.01, 0.09)) == "pass"
    assert Rule().given("pass", (-0.02, 0.03)) == "pass"
    assert Rule().given("fail", None) == "fail"


def test_what_claim_and_evidence_share_is_marked() -> None:
    (text,) = together(pl.Series(["The mill burned"]), pl.Series(["A mill in Garrow"])).to_list()
    assert {"evidence_mill", "evidence_garrow", "lacking_burned", "lacking_the", "shared_3"} <= set(
        text.split()
    )


def test_rationales_that_read_like_another_label_are_rows_to_review() -> None:
    rng = np.random.default_rng(0)
    true = rng.random(N) < 0.5
    wrong = np.arange(N) < 40
    ids = [f"r{i}" for i in range(N)]
    says = ["records confirm it happened" if t != w else "nothing of this kind ever took place" for t, w in zip(true, wrong, strict=True)]  # fmt: skip
    table = pl.DataFrame(
        {"record_id": ids, "annotator": "a", "annotator_kind": "human", "question": "verdict", "value": "x", "rationale": says}
    )  # fmt: skip
    rows = pl.DataFrame({"id": ids, "text": ids, "veracity": np.where(true, "true", "false")})
    (found,) = audit(
        Dataset.build("d", rows, {"annotations": table}), checks=["evidence"], debug=True
    ).findings
    assert (found.feature, found.verdict) == ("rationale", "warn")
    assert set(found.records) == set(ids[:40])
