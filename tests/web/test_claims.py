"""The claims that an overlap found in several datasets, with their history."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

import claimlab as cl
from claimlab.core.dataset import Dataset

GARLIC = "Garlic in the morning cures the virus within a single day, doctors say."
BRIDGE = "The bridge at Northport was opened in the spring of 1931 by the mayor."
SCRIPT = "<script>alert(1)</script> is what the harbour master wrote on the wall."


def made(folder: Path, name: str, rows: list[tuple[str, str, str, datetime | None]]) -> Dataset:
    columns = ("id", "text", "veracity", "date")
    frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(
        kind=pl.lit("claim"), language=pl.lit("eng")
    )
    Dataset.build(name, frame).write(folder / name)
    return Dataset.open(folder / name)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    first = made(
        tmp_path,
        "first",
        [
            ("a1", GARLIC, "false", datetime(2020, 3, 1)),
            ("a2", BRIDGE, "true", None),
            ("a3", "Only here: the tram to Eastwold runs on Sundays again.", "true", None),
            ("a4", SCRIPT, "false", datetime(2021, 1, 1)),
        ],
    )
    second = made(
        tmp_path,
        "second",
        [
            ("b1", GARLIC.upper(), "true", datetime(2020, 3, 11)),
            ("b2", BRIDGE, "true", None),
            ("b3", "Only there: a ferry crosses the sound at midnight.", "false", None),
        ],
    )
    third = made(
        tmp_path,
        "third",
        [
            ("c1", GARLIC, "false", datetime(2020, 3, 6)),
            ("c2", SCRIPT, "false", datetime(2021, 1, 1)),
        ],
    )
    cl.overlap([first, second, third], output=tmp_path / "shared")
    return tmp_path


@pytest.fixture
def client(workspace: Path, client_of: Callable[[Path], TestClient]) -> TestClient:
    return client_of(workspace)


def claims(client: TestClient, **query: Any) -> dict[str, Any]:
    twin: dict[str, Any] = client.get("/api/reports/shared/claims", params=query).json()
    return twin


def test_a_claim_is_shown_with_its_records_in_order_and_their_pages(client: TestClient) -> None:
    twin = claims(client)
    assert twin["turning"]["total"] == 3  # what one dataset alone has is none of them
    garlic = twin["claims"][0]  # in most datasets
    assert [(one["dataset"], one["id"], one["label"]) for one in garlic["records"]] == [
        ("first", "a1", "false"),
        ("third", "c1", "false"),
        ("second", "b1", "true"),
    ]
    assert [one["at"] for one in garlic["records"]] == [0.0, 0.5, 1.0]
    assert (garlic["first"], garlic["last"]) == ("2020-03-01", "2020-03-11")
    assert garlic["verdicts"] == "false; true"
    for claim in twin["claims"]:
        for one in claim["records"]:
            record = client.get(f"/api{one['link']}").json()
            assert (record["id"], record["text"].lower()) == (one["id"], one["text"].lower())
    bridge = next(one for one in twin["claims"] if one["records"][0]["text"] == BRIDGE)
    assert [one["at"] for one in bridge["records"]] == [None, None]


def test_claims_are_found_by_word_dataset_and_label(client: TestClient) -> None:
    assert [one["records"][0]["text"] for one in claims(client, q="northport")["claims"]] == [
        BRIDGE
    ]
    both = claims(client, dataset=["first", "second"])
    assert both["turning"]["total"] == 2  # of datasets that are chosen, all have the claim
    assert claims(client, dataset=["first", "second", "third"])["turning"]["total"] == 1
    torn = claims(client, verdicts="false; true")
    assert [one["records"][0]["id"] for one in torn["claims"]] == ["a1"]
    tally = {one["name"]: one["count"] for one in claims(client)["facets"][0]["values"]}
    assert tally == {"first": 3, "second": 2, "third": 2}
    pages = [claims(client, size=1, page=number)["claims"][0]["claim"] for number in (1, 2, 3)]
    assert len(set(pages)) == 3


def test_a_report_leads_to_its_claims_and_texts_are_escaped(client: TestClient) -> None:
    link = client.get("/api/reports/shared").json()["claims_link"]
    assert f'href="{link}"' in client.get("/reports/shared").text
    html = client.get(link).text
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert" in html
    assert "style=" not in html


def test_a_file_that_is_not_the_reports_own_is_not_read(
    client: TestClient, workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = workspace / "shared" / "claims.parquet"
    outside = tmp_path_factory.mktemp("outside") / "claims.parquet"
    file.rename(outside)
    file.symlink_to(outside)
    assert client.get("/api/reports/shared/claims").status_code == 404
    assert client.get("/api/reports/shared").json()["claims_link"] is None
    file.unlink()
    file.write_bytes(b"no table")
    answer = client.get("/api/reports/shared/claims")
    assert answer.status_code == 409
    assert "cannot be read" in answer.json()["problem"]
    pl.DataFrame({"claim": [1]}).write_parquet(file)
    assert client.get("/api/reports/shared/claims").status_code == 409


def test_without_the_datasets_there_are_no_links(client: TestClient, workspace: Path) -> None:
    for name in ("first", "second", "third"):
        (workspace / name).rename(workspace / f".{name}")
    client.app.state.workspace.refresh()  # type: ignore[attr-defined]
    twin = claims(client)
    assert {one["link"] for claim in twin["claims"] for one in claim["records"]} == {None}
