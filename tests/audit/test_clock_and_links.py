"""Hour, weekday and placeholders for links: planted ones are found, permuted labels are not."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from claimlab.audit.run import audit
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Finding
from claimlab.text.urls import count_placeholders

N = 400
RNG = np.random.default_rng(0)
TRUE = RNG.random(N) < 0.5
PERMUTED = RNG.permutation(TRUE)


def findings(check: str, labels: np.ndarray, **columns: object) -> dict[str | None, Finding]:
    rows = pl.DataFrame(
        {"id": [f"r{i}" for i in range(N)], "text": [f"text {i}" for i in range(N)], **columns}
    ).with_columns(pl.Series("veracity", np.where(labels, "true", "false")))
    found = audit(Dataset.build("d", rows), checks=[check], debug=True).findings
    return {f.feature: f for finding in found for f in finding.every}


def times(hours: np.ndarray, days: np.ndarray) -> list[datetime]:
    return [
        datetime(2020, 1, 6) + timedelta(days=int(d), hours=int(h))
        for d, h in zip(days, hours, strict=True)
    ]


def test_a_class_posted_at_night_is_found_by_the_hour_and_not_by_the_date() -> None:
    hours = np.where(TRUE, RNG.integers(8, 20, N), RNG.integers(0, 6, N))
    dates = times(hours, RNG.integers(0, 300, N))
    found = findings("time", TRUE, date=dates)
    assert found["hour of the day"].verdict == "fail"
    assert found["date"].verdict not in ("warn", "fail")
    assert findings("time", PERMUTED, date=dates)["hour of the day"].verdict not in ("warn", "fail")


def test_a_class_posted_at_weekends_is_found_and_dates_without_times_have_no_hour() -> None:
    weekday = np.where(TRUE, RNG.integers(0, 5, N), RNG.integers(5, 7, N))
    dates = times(np.zeros(N), 7 * RNG.integers(0, 50, N) + weekday)
    found = findings("time", TRUE, date=dates)
    assert found["weekday"].verdict == "fail"
    assert "hour of the day" not in found
    assert findings("time", PERMUTED, date=dates)["weekday"].verdict not in ("warn", "fail")


@pytest.mark.parametrize("token", ["URL", "[URL]", "<url>", "http", "HTTPURL", "$URL$"])
def test_placeholders_for_links_count_as_links(token: str) -> None:
    texts = [f"the mill {i} sold looms {token if t else ''}".strip() for i, t in enumerate(TRUE)]
    found = findings("url", TRUE, text=texts)["presence of a URL"]
    assert found.verdict == "fail"
    assert found.details["placeholders_only"] == TRUE.sum()
    assert findings("url", PERMUTED, text=texts)["presence of a URL"].verdict not in (
        "warn",
        "fail",
    )


def test_links_themselves_and_ordinary_words_are_no_placeholders() -> None:
    texts = [
        "see https://a.org/URL now",
        "curl and hurl",
        "httpd is a server",
        "an url",
        None,
        "read http",
        "_URL_ (URL)",
    ]
    assert count_placeholders(pl.Series(texts)).to_list() == [0, 0, 0, 0, None, 1, 2]


def claims(changes: bool, bound: str = "today") -> pl.DataFrame:
    """40 claims with a time word and 40 without, each reviewed twice; where `changes`, a claim with
    the word is false a year later."""
    rows = []
    for i in range(160):
        claim, later = i // 2, bool(i % 2)
        says = claim < 40
        turned = changes and says and later
        rows.append(
            {
                "id": f"r{i}",
                "text": f"The mill {claim} in Ostrel is open{f' {bound}' if says else ''}",
                "date": datetime(2020 + later, 1, 6),
                "veracity": "false" if turned or (claim % 2) else "true",
                "language": "eng",
            }
        )
    return pl.DataFrame(rows)


def test_claims_of_a_day_that_a_later_review_judges_otherwise_are_found() -> None:
    def verdict(rows: pl.DataFrame) -> Finding:
        return audit(Dataset.build("d", rows), checks=["time-bound"], debug=True).findings[0]

    found = verdict(claims(True))
    assert found.verdict == "fail"
    assert (found.details["time_bound_changed"], found.details["changed"]) == (20, 20)
    assert verdict(claims(False)).verdict == "pass"
    assert verdict(claims(True, "")).verdict == "pass", "a change without such a word"
    assert verdict(claims(True, "at present")).verdict == "pass", "words come from the data file"
    undated = claims(False).with_columns(date=pl.lit(None, pl.Datetime("us")))
    assert verdict(undated).verdict == "warn"
    written = undated.with_columns(text=pl.col("text") + " in 2020")
    assert verdict(written).details["undated"] == 0


def test_what_was_not_measured_of_claims_of_a_day_is_no_pass() -> None:
    def found(rows: pl.DataFrame) -> Finding:
        return audit(Dataset.build("d", rows), checks=["time-bound"], debug=True).findings[0]

    none = found(claims(False, ""))
    assert none.verdict == "pass"
    assert none.why == "None of the 160 records points at a day (such as today)."
    once = found(claims(False).filter(pl.int_range(pl.len()) % 2 == 0))
    assert once.verdict == "not-measured"
    assert "40 of 80 records point at a day (such as today), none of them without" in once.why
    assert "0 claims have a later review" in once.why
    thai = found(claims(False).with_columns(language=pl.lit("tha")))
    assert thai.verdict == "not-measured"
    assert "Records with a text in eng, por, spa, fra, deu: 0." in thai.why


@pytest.mark.parametrize(
    ("text", "language", "points"),
    [
        ("The mill is closed today.", "eng", True),
        ("USA Today says that the mill burnt.", "eng", False),
        ("Is the mill closed today? It burnt.", "eng", False),
        ("The current COVID-19 pandemic closed the mill.", "eng", False),
        ("The current mayor sold the mill.", "eng", True),
        ("To date, nine mills have burnt.", "eng", True),
        ("She began to date the miller.", "eng", False),
        ("E agora, moleiro? O moinho queimou.", "por", False),
        ("O moinho fecha hoje.", "por", True),
        (f"{'mill ' * 80}closed today", "eng", False),
        (f"{'mill ' * 70}closed today", "eng", True),
    ],
)
def test_names_questions_and_late_words_point_at_no_day(
    text: str, language: str, points: bool
) -> None:
    rows = pl.DataFrame(
        {"id": [str(i) for i in range(40)], "text": [f"{text} {i}" for i in range(40)]}
    ).with_columns(veracity=pl.lit("true"), language=pl.lit(language))
    rows = rows.with_columns(
        veracity=pl.when(pl.int_range(40) < 20).then(pl.lit("false")).otherwise("veracity")
    )
    found = audit(Dataset.build("d", rows), checks=["time-bound"], debug=True).findings[0]
    assert (found.details["time_bound"] == 40) is points


def test_permuted_labels_do_not_depend_on_a_day() -> None:
    rows = claims(True)
    alarms = 0
    for seed in range(40):
        mixed = rows.with_columns(pl.col("veracity").shuffle(seed))
        found = audit(Dataset.build("d", mixed), checks=["time-bound"], debug=True).findings[0]
        alarms += found.verdict in ("warn", "fail")
    assert alarms <= 5


def test_a_later_fact_check_is_a_later_review() -> None:
    rows = claims(False).filter(pl.int_range(pl.len()) % 2 == 0)
    pieces = pl.DataFrame(
        {
            "record_id": rows["id"],
            "evidence_id": rows["id"],
            "rank": 1,
            "text": "x",
            "stance": ["refutes" if i < 40 else None for i in range(80)],
            "published": datetime(2021, 1, 6),
        }
    )
    data = Dataset.build("d", rows, {"evidence": pieces})
    found = audit(data, checks=["time-bound"], debug=True).findings[0]
    assert found.details["reviewed_again"] == 40
    assert found.details["time_bound_changed"] == 20
