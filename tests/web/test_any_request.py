"""Any request to any route: odd ids, huge numbers, wrong types, broken JSON and odd characters get
a sentence, and no server error. The routes and fields are those of the OpenAPI document, so that a
new one is tried as well."""

from __future__ import annotations

import json
import shutil
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parts.planted import clean_twin
from starlette.testclient import TestClient

from claimlab.review.create import review_create
from claimlab.web.app import create_app
from claimlab.web.settings import ServerSettings

ODD = ("..", "../../etc/passwd", "a/b", "~", "%00", "\x00", "‮fake", "💩", "ﬁ", "'", '"', "<script>alert(1)</script>", "{}",
       "\\", " ", "a" * 600, "None", "-1", "1e999", "9" * 40, "\ud800")  # fmt: skip
KNOWN = (
    "data",
    "reports~audit",
    "runs~tfidf",
    "review",
    "evolved",
    "0",
    "1",
    "label",
    "rating",
    "p0",
    "true",
    "index.html",
)
TEXTS = st.one_of(st.sampled_from(ODD), st.sampled_from(KNOWN), st.text(max_size=20))
NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False)
)
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS, st.builds(lambda: str(uuid.uuid4())))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
BROKEN = st.sampled_from(
    [b"", b"{", b"[1,", b"\xff\xfe", b'{"a": NaN}', b"null", b'"x"', b"[" * 2_000, b"{}" * 3]
)


def safe(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@pytest.fixture(scope="module")
def site(
    workspace: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[TestClient, str, list[tuple[str, str, Any]]]:
    """A client, the token of an annotator, and every route: its method, its path, and what it says
    of itself.
    """
    folder = tmp_path_factory.mktemp("any") / "copy"  # requests may make reviews
    # other tests of the workspace may have left a review
    shutil.copytree(workspace, folder, ignore=shutil.ignore_patterns("review"))
    clean_twin(size=20).write(folder / "small")
    review = review_create(folder / "small", folder / "review", task="rating", per_item=1)
    token = review.add_people(["p0"])["p0"]
    review.close()
    known = ServerSettings()
    app = create_app(folder, settings=known)
    paths = app.openapi()["paths"]
    routes = [
        (method, path, about)
        for path, methods in paths.items()
        for method, about in methods.items()
    ]
    pages = [
        ("get", path.removeprefix("/api") or "/", about)
        for method, path, about in routes
        if method == "get"
    ]
    client = TestClient(
        app, base_url="http://127.0.0.1:8765", raise_server_exceptions=False, follow_redirects=False
    )
    client.cookies[known.cookie] = known.token
    return client, token, [*routes, *pages]


def fields_of(app: Any, about: Any) -> list[str]:
    reference = about["requestBody"]["content"]["application/json"]["schema"].get("$ref", "")
    return list(
        app.openapi()["components"]["schemas"]
        .get(reference.rpartition("/")[2], {})
        .get("properties", {})
    )


@pytest.mark.slow
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(draw=st.data())
def test_any_request_is_answered_without_a_server_error(site: Any, draw: st.DataObject) -> None:
    client, token, routes = site
    method, path, about = draw.draw(st.sampled_from(routes))
    query = {}
    for parameter in about.get("parameters", []):
        value = safe(str(draw.draw(TEXTS | NUMBERS)))
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", quote(value, safe="") or "x")
        elif draw.draw(st.booleans()):
            query[parameter["name"]] = value
    body = b""
    if "requestBody" in about:
        shaped = st.fixed_dictionaries(
            {}, optional=dict.fromkeys(fields_of(client.app, about), VALUES)
        )
        content = draw.draw(st.one_of(shaped, VALUES, BROKEN))
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    answer = client.request(method.upper(), path, params=query, content=body, headers=headers)
    assert answer.status_code < 500, (method, path, query, body[:200], answer.text[-300:])
    if path.startswith("/api/") and answer.status_code >= 400:
        assert set(answer.json()) == {"problem", "todo"}
    assert "Traceback" not in answer.text


def test_a_saved_answer_survives_any_attempt_to_spoil_it(site: Any) -> None:
    client, token, _ = site
    headers = {"Authorization": f"Bearer {token}"}
    item = client.get("/api/reviews/review/annotate", headers=headers).json()["seen"]["item"]["id"]
    key = str(uuid.uuid4())
    saved = client.post(
        "/api/reviews/review/decide", headers=headers, json={"item": item, "value": 7, "key": key}
    )
    assert saved.status_code == 200
    for value in (11, -1, "7", 7.5, None, True, [], {}, "‮", 10**30):
        body = {"item": item, "value": value, "key": str(uuid.uuid4())}
        assert (
            client.post("/api/reviews/review/decide", headers=headers, json=body).status_code == 422
        )
    again = client.get(
        "/api/reviews/review/annotate", params={"item": item}, headers=headers
    ).json()["seen"]["item"]
    assert again["value"] == 7
