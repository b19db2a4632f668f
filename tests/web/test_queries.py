"""Any address: whatever the query says, the answer is a page or a sentence, and filters do what
they say.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from claimlab.core.dataset import Dataset
from claimlab.web.filters import FACETS, SORTABLE

PATHS = (
    "/datasets/data", "/audits/reports~audit", "/runs/runs~tfidf", "/compare", "/new-review", "/datasets/data/record",
    "/runs/runs~tfidf/prediction",
)  # fmt: skip
NAMES = st.sampled_from(
    ["q", "word", "sort", "page", "size", "since", "until", "audit", "finding", "right", "truth", "said", "least", "most",
     "subgroup", "value", "one", "other", "side", "id", "dataset", "verdict", "check", *FACETS]
)  # fmt: skip
VALUES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(["", "true", "eng", "test", "-date", "date", "0", "1", "-1", "1e999", "nan", "2020-01-01", "data",
                     "reports~audit", "runs~tfidf", "runs~majority", "wrong", "both wrong", "language", "(", "\\", "%"]),
    st.integers(-10, 10**12).map(str),
)  # fmt: skip
few = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def raw(workspace: Path, client_of: Callable[..., TestClient]) -> TestClient:
    return client_of(workspace, raise_server_exceptions=False)


@pytest.mark.slow
@few
@given(path=st.sampled_from(PATHS), pairs=st.lists(st.tuples(NAMES, VALUES), max_size=6))
def test_any_query_is_answered_with_a_page_or_a_sentence(
    raw: TestClient, path: str, pairs: list[tuple[str, str]]
) -> None:
    query = [(name, value.encode("utf-8", "replace").decode()) for name, value in pairs]
    page, twin = raw.get(path, params=query), raw.get(f"/api{path}", params=query)
    assert page.status_code == twin.status_code
    assert page.status_code in (200, 404, 409, 422), (path, query, page.text[-300:])
    if twin.status_code != 200:
        assert set(twin.json()) == {"problem", "todo"}


@pytest.mark.slow
@few
@given(
    chosen=st.fixed_dictionaries(
        {},
        optional={
            "veracity": st.lists(
                st.sampled_from(["true", "false", ""]), min_size=1, max_size=2, unique=True
            ),
            "language": st.lists(
                st.sampled_from(["eng", "por", "deu"]), min_size=1, max_size=2, unique=True
            ),
            "split": st.lists(
                st.sampled_from(["train", "test", ""]), min_size=1, max_size=2, unique=True
            ),
        },
    ),
    sort=st.sampled_from(["", *SORTABLE, *(f"-{c}" for c in SORTABLE)]),
    size=st.integers(40, 200),  # smaller pages only mean more of them
)
def test_pages_together_are_the_records_that_polars_chooses(
    raw: TestClient, workspace: Path, chosen: dict[str, list[str]], sort: str, size: int
) -> None:
    records = Dataset.open(workspace / "data").records
    for column, values in chosen.items():
        match = pl.col(column).is_in([v for v in values if v])
        records = records.filter(match | pl.col(column).is_null() if "" in values else match)
    ids: list[str] = []
    query: dict[str, Any] = {**chosen, "sort": sort, "size": size}
    for page in range(1, max(1, -(-records.height // size)) + 1):
        data = raw.get("/api/datasets/data", params={**query, "page": page}).json()
        assert data["turning"]["total"] == records.height
        ids += [row["id"] for row in data["rows"]]
    assert len(set(ids)) == len(ids)
    column = sort.lstrip("-")
    if not sort:
        assert ids == records["id"].to_list()
        return
    assert sorted(ids) == sorted(records["id"].to_list())
    value = dict(
        records.select("id", column if column != "id" else pl.col("id").alias("x")).iter_rows()
    )
    known = [value[i] for i in ids if value[i] is not None]
    assert known == sorted(known, reverse=sort.startswith("-"))
