"""Reviews through the API: who may do what, and that a save repeated is one decision."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from parts.planted import clean_twin
from starlette.testclient import TestClient

from claimlab.core.dataset import Dataset
from claimlab.review.estimate import estimate
from claimlab.review.review import Review
from claimlab.web.app import create_app
from claimlab.web.gate import SESSION, csrf_of
from claimlab.web.settings import ServerSettings
from claimlab.web.text_difference import difference


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    clean_twin(size=30).write(tmp_path / "data")
    return tmp_path


@pytest.fixture
def owner(folder: Path, client_of: Callable[[Path], TestClient]) -> Iterator[TestClient]:
    with client_of(folder) as client:
        client.get("/")
        yield client


def csrf(client: TestClient) -> dict[str, str]:
    if SESSION not in client.cookies:
        client.get("/sign-in")
    return {"X-CSRF-Token": csrf_of(client.cookies[SESSION])}


def post(client: TestClient, path: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = client.post(path, json=body, headers=csrf(client))
    assert answer.status_code == status, answer.text
    content: dict[str, Any] = answer.json()
    return content


def made(client: TestClient, **more: Any) -> dict[str, str]:
    """A review of the true claims; the tokens of its people by name."""
    body = {
        "selection": {"dataset": "data", "veracity": ["true"]}, "name": "checked", "task": "label", "sample": 4,
        "annotators": ["ana", "ben"], "owners": ["olga"], **more,
    }  # fmt: skip
    content = post(client, "/api/reviews", body)
    assert content["location"] == "/reviews/checked"
    return {person["name"]: person["token"] for person in content["people"]}


def signed_in(folder: Path, token: str) -> TestClient:
    client = TestClient(create_app(folder), base_url="http://127.0.0.1:8765")
    post(client, "/api/reviews/checked/sign-in", {"token": token})
    return client


def vote(item: str, value: object = "true") -> dict[str, Any]:
    return {"item": item, "value": value, "key": str(uuid.uuid4()), "seconds": 1.5}


def test_a_selection_becomes_a_review_of_exactly_its_records(
    owner: TestClient, folder: Path
) -> None:
    page = owner.get("/api/new-review", params={"dataset": "data", "veracity": "true"}).json()
    true = Dataset.open(folder / "data").records.filter(veracity="true").height
    assert page["records"] == true
    assert (
        owner.get("/new-review", params={"dataset": "data", "veracity": "true"}).status_code == 200
    )
    made(owner, sample=None)
    review = Review.open(folder / "checked")
    assert review.progress().total == true
    assert owner.get("/reviews/checked").status_code == 200
    assert owner.get("/api/reviews/checked").json()["total"] == true


@pytest.mark.slow
def test_two_annotators_differ_and_an_owner_decides(owner: TestClient, folder: Path) -> None:
    tokens = made(owner)
    for name, value in (("ana", "true"), ("ben", "false")):
        client = signed_in(folder, tokens[name])
        work = client.get("/api/reviews/checked/annotate").json()
        assert client.get("/reviews/checked/annotate").status_code == 200
        for done in range(4):
            assert work["done"] == done
            item = work["seen"]["item"]
            assert item["payload"]["label"] is None  # blind to the old label,
            assert item["votes"] == []  # and to the others
            work = post(client, "/api/reviews/checked/decide", vote(item["id"], value))
        assert work["seen"] is None
    judge = signed_in(folder, tokens["olga"])
    waiting = judge.get("/api/reviews/checked/adjudicate").json()["waiting"]
    assert {v["who"]: v["value"] for v in waiting[0]["item"]["votes"]} == {
        "ana": "true",
        "ben": "false",
    }
    for n, seen in enumerate(waiting):
        left = post(judge, "/api/reviews/checked/adjudicate", vote(seen["item"]["id"], "false"))
        undone = post(judge, "/api/reviews/checked/undo", {})
        assert len(undone["waiting"]) == len(left["waiting"]) + 1
        left = post(judge, "/api/reviews/checked/adjudicate", vote(seen["item"]["id"], "false"))
        assert len(left["waiting"]) == 3 - n
    status = owner.get("/api/reviews/checked").json()
    assert (status["settled"], status["total"]) == (4, 4)
    assert ">4 decided</td>" in owner.get("/reviews/checked").text  # what was undone does not count


@pytest.mark.slow
def test_what_was_decided_is_applied_to_a_new_dataset(owner: TestClient, folder: Path) -> None:
    tokens = made(owner, per_item=1, annotators=["ana"], sample=2)
    client = signed_in(folder, tokens["ana"])
    first = client.get("/api/reviews/checked/annotate").json()["seen"]["item"]["id"]
    second = post(client, "/api/reviews/checked/decide", vote(first, "false"))["seen"]["item"]["id"]
    post(client, "/api/reviews/checked/decide", vote(second, "true"))
    assert (
        post(owner, "/api/reviews/checked/apply", {"name": "applied"})["location"]
        == "/datasets/applied"
    )
    before, after = (Dataset.open(folder / name).records for name in ("data", "applied"))
    assert (before["veracity"] != after["veracity"]).sum() == 1
    assert owner.get("/datasets/applied").status_code == 200
    for taken, status in (("data", 422), ("checked", 422), ("applied", 409)):  # what is there stays
        post(owner, "/api/reviews/checked/apply", {"name": taken}, status=status)


def test_shares_of_all_records_are_estimated_from_those_drawn_at_random(
    owner: TestClient, folder: Path
) -> None:
    drawn = {"selection": {"dataset": "data"}, "sample": 25, "order": "random"}
    tokens = made(owner, per_item=1, annotators=["ana"], **drawn)
    client = signed_in(folder, tokens["ana"])
    seen = client.get("/api/reviews/checked/annotate").json()["seen"]
    assert owner.get("/api/reviews/checked").json()["estimates"] is None  # nothing is decided
    for number in range(22):
        answer = "false" if number % 4 == 0 else "true"
        seen = post(client, "/api/reviews/checked/decide", vote(seen["item"]["id"], answer))["seen"]
    review = Review.open(folder / "checked")
    known = owner.get("/api/reviews/checked").json()["estimates"]
    assert known == estimate(review).to_json()
    review.close()
    assert known["annotated"] == 22
    shares = {row["share"]: row for row in known["shares"]}
    assert shares["false"]["low"] < 6 / 22 < shares["false"]["high"]
    assert "95% interval" in owner.get("/reviews/checked").text
    assert client.get("/api/reviews/checked").json()["estimates"] is None  # of one of many


def test_a_save_repeated_is_one_decision(owner: TestClient, folder: Path) -> None:
    client = signed_in(folder, made(owner)["ana"])
    body = vote(client.get("/api/reviews/checked/annotate").json()["seen"]["item"]["id"])
    for _ in range(3):
        assert post(client, "/api/reviews/checked/decide", body)["done"] == 1
    assert (
        Review.open(folder / "checked").progress().people.filter(name="ana")["decisions"].item()
        == 1
    )


def test_skip_undo_and_back(owner: TestClient, folder: Path) -> None:
    client = signed_in(folder, made(owner)["ana"])
    first = client.get("/api/reviews/checked/annotate").json()["seen"]["item"]["id"]
    second = post(client, "/api/reviews/checked/skip", {"item": first})["seen"]["item"]["id"]
    assert second != first
    post(client, "/api/reviews/checked/decide", vote(second))
    again = post(client, "/api/reviews/checked/undo", {})
    assert again["seen"]["item"]["id"] == second
    assert again["done"] == 0
    back = client.get("/api/reviews/checked/annotate", params={"item": first}).json()
    assert back["seen"]["item"]["id"] == first


def test_nobody_acts_for_another(owner: TestClient, folder: Path) -> None:
    tokens = made(owner, task="note", annotators=["ana", "ben"], per_item=1)
    ana, ben = signed_in(folder, tokens["ana"]), signed_in(folder, tokens["ben"])
    item = ana.get("/api/reviews/checked/annotate").json()["seen"]["item"]["id"]
    post(
        ben, "/api/reviews/checked/decide", vote(item, "mine"), status=403
    )  # another annotator's item
    post(ben, "/api/reviews/checked/adjudicate", vote(item, "mine"), status=403)  # another role
    post(
        ben, "/api/reviews/checked/people", {"name": "eve"}, status=403
    )  # only the owner, on loopback too
    stranger = TestClient(create_app(folder), base_url="http://127.0.0.1:8765")
    post(stranger, "/api/reviews/checked/decide", vote(item), status=403)
    post(stranger, "/api/reviews/checked/sign-in", {"token": "guessed"}, status=401)
    without = ana.post("/api/reviews/checked/decide", json=vote(item, "mine"))
    assert without.status_code == 403
    assert Review.open(folder / "checked").progress().people["decisions"].sum() == 0


def test_where_a_token_is_demanded_people_see_their_review_and_nothing_else(
    owner: TestClient, folder: Path
) -> None:
    tokens = made(owner)
    settings = ServerSettings(host="0.0.0.0")
    client = TestClient(create_app(folder, settings=settings), base_url="http://127.0.0.1:8765")
    post(client, "/api/reviews/checked/sign-in", {"token": tokens["ana"]})
    assert client.get("/reviews/checked/annotate").status_code == 200
    assert [row["name"] for row in client.get("/api/reviews/checked").json()["people"]] == ["ana"]
    assert client.get("/datasets/data").status_code == 401
    post(client, "/api/reviews/checked/people", {"name": "eve", "role": "owner"}, status=403)
    post(client, "/api/reviews/checked/apply", {"name": "applied"}, status=403)
    post(client, "/api/reviews", {"selection": {"dataset": "data"}, "name": "x"}, status=401)


def test_a_visitor_cannot_tell_which_reviews_there_are(owner: TestClient, folder: Path) -> None:
    made(owner)
    visitor = TestClient(create_app(folder), base_url="http://127.0.0.1:8765")
    headers = csrf(visitor)
    for path in ("", "/annotate", "/adjudicate", "/sign-in"):
        answers = [
            visitor.get(f"{front}/reviews/{name}{path}")
            for front in ("", "/api")
            for name in ("checked", "chocked")
        ]
        assert answers[0].status_code == answers[1].status_code
        assert answers[2].status_code == answers[3].status_code
        assert answers[0].text.replace("checked", "chocked") == answers[1].text
    for path in ("sign-in", "decide", "skip", "undo", "reveal", "people", "apply", "nothing"):
        body = {"token": "x" * 30, "name": "eve", "to": "x", **vote("1"), "why": "w", "person": "p"}
        answers = [
            visitor.post(f"/api/reviews/{name}/{path}", json=body, headers=headers)
            for name in ("checked", "chocked")
        ]
        assert answers[0].status_code == answers[1].status_code, path
        assert answers[0].text.replace("checked", "chocked") == answers[1].text


def test_the_home_page_opens_no_store(owner: TestClient, folder: Path) -> None:
    made(owner)
    file = folder / "checked" / "review.json"
    file.write_text(
        file.read_text().replace('"review.sqlite"', '"postgresql://root@127.0.0.1:1/x"'),
        encoding="utf-8",
    )
    page = owner.get("/api").json()
    assert page["states"]["checked"] == "4 items"
    assert owner.get("/").status_code == 200


@pytest.mark.parametrize("name", ["../out", "a/b", ".hidden", "", " ", "x" * 81, "con.", "data"])
def test_a_review_is_made_only_in_a_new_folder_of_the_workspace(
    owner: TestClient, folder: Path, name: str
) -> None:
    before = sorted(p.name for p in folder.parent.iterdir())
    answer = owner.post(
        "/api/reviews",
        json={"selection": {"dataset": "data"}, "name": name, "sample": 2},
        headers=csrf(owner),
    )
    assert answer.status_code in (409, 422)
    assert sorted(p.name for p in folder.parent.iterdir()) == before
    assert [p.name for p in folder.iterdir()] == ["data"]


def test_a_request_names_no_file_of_the_machine(owner: TestClient, folder: Path) -> None:
    (folder / "task.toml").write_text('name = "x"')
    body = {"selection": {"dataset": "data"}, "name": "checked", "task": str(folder / "task.toml")}
    assert "There is no review task" in post(owner, "/api/reviews", body, status=422)["problem"]
    secret = folder.parent / "secret.md"
    secret.write_text("hidden")
    made(owner, guideline=str(secret))
    assert owner.get("/api/reviews/checked").json()["task"]["guideline"] == str(secret)


def test_a_review_says_how_many_annotators_an_item_really_has(owner: TestClient) -> None:
    made(owner, annotators=["ana"], per_item=2)
    assert owner.get("/api/reviews/checked").json()["per_item"] == 1
    assert "1 annotator per item" in owner.get("/reviews/checked").text


def test_the_difference_of_two_texts_holds_both() -> None:
    one, other = "The bridge opened in 1931, they say.", "The old bridge opened in 1932, they say."
    pieces = difference(one, other)
    assert "".join(p.text for p in pieces if p.only != "second") == one
    assert "".join(p.text for p in pieces if p.only != "first") == other
    assert [p.text for p in pieces if p.only == "first"] == ["1931,"]
