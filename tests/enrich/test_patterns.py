"""Patterns, domains, ratings and years on evidence whose truth is planted."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.errors import SchemaError
from claimlab.enrich.analysis import analyse
from claimlab.enrich.tables import BY_RATING, EVIDENCE
from claimlab.enrich.views import write_evidence


def row(record: str, url: str, share: float = 1.0, **more: Any) -> dict[str, Any]:
    marks = {
        "filtered": False,
        "guard_factcheck": False,
        "guard_own_source": False,
        "guard_copy": False,
    }
    return {
        "record_id": record,
        "evidence_id": url,
        "url": url,
        "domain": url.split("/")[2],
        "correspondence": share,
        "corresponds": share >= 0.8,
        **marks,
        **more,
        "stance": BY_RATING.get(more.get("verdict", "")) if share >= 0.8 else None,
    }


@pytest.fixture
def planted() -> Dataset:
    check = {
        "guard_factcheck": True,
        "rating": "False",
        "verdict": "false",
        "published": datetime(2020, 1, 1),
    }
    rows = [
        row("t1", "https://news.example/1"),
        row("t2", "https://news.example/2", 0.5),
        row("t3", "https://checks.example/3", guard_factcheck=True, rating="True", verdict="true"),
        row("f1", "https://checks.example/1", **check),
        row("f2", "https://blog.example/1"),
        row("f3", "https://doi.org/10.1/1"),
        row("f4", "https://checks.example/4", 0.2, **check),
    ]
    records = pl.DataFrame(
        {"id": [r["record_id"] for r in rows], "veracity": ["true"] * 3 + ["false"] * 4}
    )
    table = pl.DataFrame(rows, schema=EVIDENCE, orient="row")
    return Dataset.build("p", records, {"evidence": table})


def test_each_pattern_counts_what_was_planted_for_it(planted: Dataset) -> None:
    found = {p["pattern"]: (p["examples"], p["of"]) for p in analyse(planted)["patterns"]}
    assert found == {
        "T1": (["t1"], 3), "T2": (["t1", "t2"], 3), "F1": (["f1"], 4), "F2": (["f2"], 4), "F3": (["f3"], 4),
    }  # fmt: skip


def test_domains_ratings_and_years_by_verdict(planted: Dataset) -> None:
    found = analyse(planted)
    assert found["factcheck_domains"] == [
        {"domain": "checks.example", "all": 3, "true": 1, "false": 2}
    ]
    assert found["ratings"] == [
        {"rating": "False", "all": 2, "false": 2},
        {"rating": "True", "all": 1, "true": 1},
    ]
    assert found["factcheck_years"] == [{"year": 2020, "veracity": "false", "len": 2}]
    assert found["undated"] == 5


def test_ratings_of_each_fact_checker_and_one_spelling_where_only_case_differs(
    planted: Dataset,
) -> None:
    table = planted.tables["evidence"]
    lower = (
        pl.when(pl.col("record_id") == "f4")
        .then(pl.lit("false"))
        .otherwise(pl.col("rating"))
        .alias("rating")
    )
    planted.tables["evidence"] = pl.concat(
        [table.with_columns(lower), table.filter(pl.col("record_id") == "f1")]
    )
    found = analyse(planted)
    assert found["ratings"][0] == {"rating": "False", "all": 3, "false": 3}
    assert found["agencies"] == [
        {"domain": "checks.example", "all": 4, "ratings": {"False": 3, "True": 1}}
    ]


def test_the_page_escapes_what_the_web_said(planted: Dataset, tmp_path: Path) -> None:
    table = planted.tables["evidence"]
    planted.tables["evidence"] = table.with_columns(
        pl.lit("<script>alert(1)</script>").alias("rating")
    )
    write_evidence(planted, tmp_path / "r")
    page = (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_without_evidence_there_is_no_analysis() -> None:
    with pytest.raises(SchemaError, match="no evidence"):
        analyse(Dataset.build("x", pl.DataFrame({"id": ["a"]})))
