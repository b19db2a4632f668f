"""The verdict rule, the correction for many tests, and one finding for one fact."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.audit.result import Audit
from claimlab.audit.rule import Rule
from claimlab.audit.run import audit, one_per_fact, settle
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding, Verdict
from claimlab.core.stats.correction import false_discovery


@pytest.mark.parametrize(
    ("interval", "p", "verdict"),
    [
        ((0.051, 0.20), 0.05, "fail"),
        ((0.050, 0.20), 0.05, "warn"),
        ((0.001, 0.02), 0.05, "warn"),
        ((0.001, 0.02), 0.06, "pass"),
        ((0.060, 0.20), 0.06, "inconclusive"),
        ((0.000, 0.20), 0.01, "inconclusive"),
        ((-0.15, 0.11), 0.50, "inconclusive"),
        ((-0.15, 0.05), 0.50, "inconclusive"),
        ((-0.15, 0.049), 0.50, "pass"),
    ],
)
def test_the_rule_is_as_written(interval: tuple[float, float], p: float, verdict: Verdict) -> None:
    assert Rule().verdict(interval, p) == verdict


def test_the_rule_in_words_has_its_numbers() -> None:
    words = Rule(
        margin=0.07, alpha=0.01, min_class=11, min_groups=12, least_units=13, min_moved=0.4
    ).words()
    for part in (
        "7 points",
        "0.01",
        "11 rows",
        "12 units",
        "13 effective units",
        "40%",
        "inconclusive",
        "Benjamini-Hochberg",
    ):
        assert part in words


def measured(p: float, low: float, **more: Any) -> Finding:
    gap = (low, low + 0.02)
    return Finding(
        check="c", protocol="fair", verdict="fail", why="w", score=0.6, interval=(0.5, 0.7), difference=low + 0.01,
        difference_interval=gap, p=p, moved=0.5, **{"permutations": 200, **more},
    )  # fmt: skip


def test_p_is_corrected_over_the_whole_audit() -> None:
    alone = settle([measured(0.04, 0.06)], Rule())
    assert (alone[0].verdict, alone[0].p_adjusted) == ("fail", 0.04)
    among = settle([measured(0.04, 0.06), *(measured(0.5, -0.04) for _ in range(9))], Rule())
    assert among[0].p_adjusted == pytest.approx(false_discovery([0.04, *[0.5] * 9])[0])
    assert among[0].verdict == "inconclusive"
    assert {f.verdict for f in among[1:]} == {"pass"}
    words = "Adjusted p 0.400, counted on 200 permutations. They give 50% of the records another"
    assert words in among[0].why


def test_a_p_that_no_count_can_give_says_what_it_comes_from() -> None:
    """20 permutations can count no less than 1 in 21."""
    out_of_reach, reached = (measured(p, 0.06, permutations=20) for p in (0.0001, 1 / 21))
    settle([out_of_reach, reached], Rule())
    fitted = (
        "Adjusted p below 0.001: none of 20 permutations comes as high, so it is the tail of a"
        " curve fitted to them (Student's t)."
    )
    assert fitted in out_of_reach.why
    assert "Adjusted p 0.048, counted on 20 permutations." in reached.why
    assert "or, if none does, the tail of Student's t" in Rule().words()


def test_findings_of_one_fact_become_one_with_the_others_inside() -> None:
    grave, mild = (
        measured(0.001, 0.2, fact="time", feature="date"),
        measured(0.001, 0.01, fact="time", feature="digits"),
    )
    other = measured(0.001, 0.3, fact="source")
    plain = [
        Finding(check="x", protocol="fair", verdict="pass", why="w", feature=str(i))
        for i in range(2)
    ]
    found = one_per_fact([plain[0], mild, other, grave, plain[1]])
    assert [(f.fact, f.feature) for f in found] == [
        (None, "0"),
        ("time", "date"),
        ("source", None),
        (None, "1"),
    ]
    (time,) = [f for f in found if f.fact == "time"]
    assert (time.feature, [o.feature for o in time.others]) == ("date", ["digits"])
    assert [f.feature for f in time.every] == ["date", "digits"]


def tweets(n: int) -> pl.DataFrame:
    """False tweets are later than true ones, and come from other sources."""
    rng = np.random.default_rng(3)
    false = np.arange(n) % 2 == 1
    days = rng.integers(0, 300, n) + 250 * false
    dates = [datetime(2016, 1, 1) + timedelta(days=int(d)) for d in days]
    return pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "text": [
                " ".join(rng.choice(["harbour", "bridge", "council", "lamp", "river"], 8)) + f" {i}"
                for i in range(n)
            ],
            "kind": "post",
            "veracity": np.where(false, "false", "true"),
            "language": "eng",
            "date": dates,
            "tweet_id": [str((int(d.timestamp() * 1000) - 1288834974657) << 22) for d in dates],
            "source": [f"{'f' if f else 't'}{i % 9}" for i, f in enumerate(false)],
        }
    )


def test_date_digits_and_decoded_time_are_one_finding_and_so_is_the_source() -> None:
    result = audit(
        Dataset.build("t", tweets(600)), checks=["time", "source", "balance"], debug=True
    )
    times = [f for f in result.findings if f.fact == "time"]
    assert len(times) == 1
    assert times[0].verdict == "fail"
    inside = {(f.check, f.feature) for f in times[0].every}
    assert {
        ("time", "date"),
        ("time", "tweet id, first three digits"),
        ("time", "tweet id, time it encodes"),
    } <= inside
    assert ("balance", "year") in inside
    (source,) = [f for f in result.findings if f.fact == "source"]
    assert source.check == "source"
    assert [(o.check, o.feature) for o in source.others] == [("balance", "source")]
    assert result.counts()["fail"] == 2


def test_url_conflicts_are_a_share_of_all_records_and_a_few_get_no_verdict() -> None:
    frame = tweets(600).with_columns(
        pl.Series("url", [f"https://a.example/{i // 2}" if i < 4 else f"https://a.example/{i}" if i < 30 else None for i in range(600)])
    )  # fmt: skip
    (found,) = audit(Dataset.build("t", frame), checks=["url-conflicts"], debug=True).findings
    assert (found.n, found.details["share"], found.verdict) == (600, pytest.approx(4 / 600), "warn")
    few = frame.with_columns(pl.when(pl.col("url").str.ends_with("/9")).then("url").alias("url"))
    (found,) = audit(Dataset.build("t", few), checks=["url-conflicts"], debug=True).findings
    assert found.verdict == "not-measured"
    assert "Records with a URL: 1." in found.why


@pytest.mark.parametrize("n", [2, 10, 18])
def test_fewer_than_twenty_records_get_no_pass(n: int) -> None:
    result = audit(Dataset.build("t", tweets(n)), debug=True)
    assert [
        f
        for f in result.findings
        if f.verdict in ("pass", "inconclusive") or f.interval is not None
    ] == []


def test_what_decided_is_in_the_saved_findings_and_in_the_sentence() -> None:
    result = audit(Dataset.build("t", tweets(600)), checks=["source", "length"], debug=True)
    saved = result.to_json()
    assert saved["rule"] == Rule().words()
    assert Audit.from_json(saved).to_json() == saved
    for finding in saved["findings"]:
        low, high = finding["difference_interval"]
        assert low <= finding["difference"] <= high
        assert finding["difference"] == pytest.approx(
            finding["score"] - max(finding["baselines"].values())
        )
        assert finding["interval"][0] <= finding["score"] <= finding["interval"][1]
        assert (
            Rule(margin=finding["margin"]).verdict((low, high), finding["p_adjusted"])
            == finding["verdict"]
        )
        assert f"{finding['permutations']} permutations" in finding["why"]
        assert f"({100 * low:+.1f} to {100 * high:+.1f})" in finding["why"]
