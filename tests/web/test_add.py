"""Add data, and the jobs that pages start: what is read, what is refused, what is left behind."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from claimlab.cli.app import run
from claimlab.exchange.importer import guess_files
from claimlab.web.app import create_app
from claimlab.web.settings import ServerSettings

WORDS = [
    *("water", "prices", "rise", "summer", "council", "denies", "report", "trial", "results"),
    *("river", "school", "bridge", "tax", "train", "night", "doctor", "market", "storm", "farm"),
]
Ended = Callable[[TestClient, str], dict[str, Any]]
LABELS = ("true", "false", "mostly-fals")


def write_claims(file: Path, rows: int = 60, column: str = "statement") -> None:
    """A table whose rating has a word that no map knows, in a third of the rows."""
    with file.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        table.writerow([column, "rating", "when", "publisher"])
        draw = random.Random(0)
        for n in range(rows):
            text = " ".join(draw.choices(WORDS, k=12))
            day = f"2021-0{1 + n % 9}-11"
            table.writerow([f"{text} {n}.", LABELS[n % 3], day, f"paper {n % 4}"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    write_claims(place / "claims.csv")
    return place


@pytest.fixture
def client(folder: Path, client_of: Callable[[Path], TestClient]) -> Iterator[TestClient]:
    with client_of(folder) as opened:
        token = re.search(r'name="csrf" content="(\w+)"', opened.get("/").text)
        assert token is not None
        opened.headers["X-CSRF-Token"] = token[1]
        yield opened


def looked(client: TestClient, **choices: Any) -> dict[str, Any]:
    """The JSON twin of the page, which must open too."""
    page, twin = (client.get(f"{at}/add", params=choices) for at in ("", "/api"))
    assert page.status_code == twin.status_code == 200, twin.text
    content: dict[str, Any] = twin.json()
    return content


def test_the_page_shows_what_the_import_would_make_of_a_file(
    client: TestClient, folder: Path
) -> None:
    page = looked(client, file="claims.csv")
    roles = {row["role"]: row["column"] for row in page["found"]["roles"] if row["column"]}
    plan = guess_files(folder / "claims.csv", ask=False)
    assert roles == {role: pick.column for role, pick in plan.picks.items()}
    assert roles["text"] == "statement"
    assert all(len(r["examples"]) == 3 for r in page["found"]["roles"] if r["column"])
    assert len(page["found"]["records"]) == 10
    labels = {row["value"]: (row["rows"], row["veracity"]) for row in page["found"]["labels"]}
    assert labels == {"true": (20, "true"), "false": (20, "false"), "mostly-fals": (20, None)}


def test_an_unknown_label_is_asked_and_its_answer_is_in_the_command(client: TestClient) -> None:
    page = looked(client, file="claims.csv")
    assert "mostly-fals" in page["doubt"]["problem"]
    likes = [row["like"] for row in page["found"]["labels"] if row["value"] == "mostly-fals"]
    assert likes == ["like “mostly false”: false"]
    page = looked(client, file="claims.csv", map="mostly-fals=false", column="source=none")
    assert page["doubt"] is None
    assert page["command"].endswith("--set source=none --map mostly-fals=false")
    assert {row["veracity"] for row in page["found"]["records"]} == {"true", "false"}


def test_the_page_says_what_was_understood_once_nothing_is_left_to_ask(client: TestClient) -> None:
    """A label that was read the wrong way round is seen before anything is imported."""
    assert looked(client, file="claims.csv")["found"]["understood"] == []
    found = looked(client, file="claims.csv", map="mostly-fals=false")["found"]
    record, label = found["understood"]
    assert record == "one record = one claim (60)"
    assert re.match(r"label 'rating': true \(20\), e\.g\. \"\w.*; false \(40: ", label)
    page = client.get("/add", params={"file": "claims.csv", "map": "mostly-fals=false"}).text
    assert "What was understood" in page
    assert "one record = one claim (60)" in page


def test_a_close_choice_is_a_question_with_a_link_for_each_answer(
    client: TestClient, folder: Path
) -> None:
    lines = (folder / "claims.csv").read_text(encoding="utf-8").splitlines()
    doubled = [f"{line},{line.split(',')[0][::-1]}" for line in lines[1:]]
    head = f"{lines[0]},claim"
    (folder / "two.csv").write_text("\n".join([head, *doubled]), encoding="utf-8")
    page = looked(client, file="two.csv", map="mostly-fals=false")
    assert page["doubt"]["problem"].startswith("Several columns may be the text")
    links = [answer["link"] for answer in page["doubt"]["answers"]]
    columns = []
    for link in links:
        answered = client.get(f"/api{link}").json()
        assert answered["doubt"] is None
        columns += [r["column"] for r in answered["found"]["roles"] if r["role"] == "text"]
    assert sorted(columns) == ["claim", "statement"]


@pytest.mark.parametrize(
    "name",
    ["../outside.csv", "/etc/passwd", "link.csv", ".hidden/x.csv", "linked/x.csv", "nothing.csv"],
)
def test_only_files_of_the_workspace_are_read(client: TestClient, folder: Path, name: str) -> None:
    write_claims(folder.parent / "outside.csv")
    (folder / "link.csv").symlink_to(folder.parent / "outside.csv")
    for place in (folder / ".hidden", folder.parent / "elsewhere"):
        place.mkdir()
        write_claims(place / "x.csv")
    (folder / "linked").symlink_to(folder.parent / "elsewhere", target_is_directory=True)
    assert client.get("/api/add", params={"file": name}).status_code == 404
    assert client.post("/api/add", params={"file": name, "name": "new"}, json={}).status_code == 404
    assert looked(client)["offered"] == ["claims.csv"]


def test_a_dropped_file_gets_a_plain_name_and_never_replaces_another(
    client: TestClient, folder: Path
) -> None:
    def drop(name: str, content: bytes) -> Any:
        return client.post("/api/files", params={"name": name}, content=content)

    assert drop("../../a b.csv", b"x\n1\n").json() == {"path": "dropped/a-b.csv"}
    assert drop("a b.csv", b"x\n1\n").json() == {"path": "dropped/a-b.csv"}
    assert drop("a b.csv", b"x\n2\n").json() == {"path": "dropped/2-a-b.csv"}
    assert drop("empty.csv", b"").status_code == 409
    assert drop("run.sh", b"x").status_code == 422
    assert drop(".csv", b"x").status_code == 422
    assert sorted(p.name for p in (folder / "dropped").iterdir()) == ["2-a-b.csv", "a-b.csv"]


def test_a_file_is_not_dropped_through_a_link(client: TestClient, folder: Path) -> None:
    outside = folder.parent / "elsewhere"
    outside.mkdir()
    (folder / "dropped").symlink_to(outside, target_is_directory=True)
    answer = client.post("/api/files", params={"name": "a.csv"}, content=b"x\n1\n")
    assert answer.status_code == 409
    assert list(outside.iterdir()) == []


def test_a_dropped_file_is_bounded_and_so_is_every_other_body(folder: Path) -> None:
    settings = ServerSettings(max_body=500, max_file=2_000)
    app = create_app(folder, settings=settings)
    bearer = {"Authorization": f"Bearer {settings.token}"}
    client = TestClient(app, base_url="http://127.0.0.1:8765", headers=bearer)
    fits, more = b"x" * 1_500, b"x" * 2_500
    at = {"name": "a.csv"}
    assert client.post("/api/files", params=at, content=fits).status_code == 200
    assert client.post("/api/files", params=at, content=more).status_code == 413
    pieces = (b"x" * 100 for _ in range(25))
    assert client.post("/api/files", params=at, content=pieces).status_code == 409
    assert client.post("/api/add", content=fits).status_code == 413
    assert client.get("/api/files", params=at).status_code == 405
    assert [p.name for p in (folder / "dropped").iterdir()] == ["a.csv"]


def test_the_routes_that_write_want_the_token_and_the_csrf_token(folder: Path) -> None:
    settings = ServerSettings()
    app = create_app(folder, settings=settings)
    stranger = TestClient(app, base_url="http://127.0.0.1:8765")
    foreign = TestClient(
        app, base_url="http://127.0.0.1:8765", cookies={settings.cookie: settings.token}
    )
    foreign.get("/")
    for path in (
        "/api/files?name=a.csv",
        "/api/add?file=claims.csv&name=new",
        "/api/jobs/1/cancel",
    ):
        assert stranger.post(path, content=b"x\n").status_code == 401
        assert foreign.post(path, content=b"x\n").status_code == 403
    for path in ("/add", "/jobs", "/jobs/1", "/api/add"):
        assert stranger.get(path).status_code == 401
    assert [p.name for p in folder.iterdir()] == ["claims.csv"]


@pytest.mark.slow
def test_a_check_runs_as_the_command_that_is_shown(
    client: TestClient, folder: Path, ended: Ended
) -> None:
    choices = {"file": "claims.csv", "map": "mostly-fals=false", "name": "mine"}
    command = looked(client, **choices)["command"]
    started = client.post("/api/add", params=choices, json={}).json()
    job = ended(client, started["location"])
    assert (job["state"], job["command"]) == ("done", command)
    assert job["location"] == "/datasets/mine~clean"
    assert client.get(job["location"]).status_code == 200
    assert client.get(started["location"]).status_code == client.get("/jobs").status_code == 200
    words = shlex.split(command)[1:]
    words[words.index("mine")] = str(folder / "typed")
    words[words.index("claims.csv")] = str(folder / "claims.csv")
    assert run(words) == 0
    one, other = (
        json.loads((folder / name / "data" / "dataset.json").read_text())["files"]
        for name in ("mine", "typed")
    )
    assert one == other


def test_an_answer_that_is_no_column_is_sent_by_the_form(client: TestClient, folder: Path) -> None:
    """The names of files as labels, and a language for all records: the form holds what was
    chosen, so that the import that it starts is the one that the page shows.
    """
    with zipfile.ZipFile(folder / "two.zip", "w") as out:
        for name in ("alpha", "beta"):
            rows = "".join(f"{' '.join(WORDS[n % 9 :])} {name} {n}.\n" for n in range(40))
            out.writestr(f"{name}.csv", f"statement\n{rows}")
    answers = looked(client, file="two.zip")["doubt"]["answers"]
    page = client.get(f"{answers[0]['link']}&column=language%3Dpt").text
    chosen = re.findall(r'<option value="([^"]+)" selected>', page)
    assert {"label=from_file", "language=pt"} <= set(chosen)
    assert 'value="label=pt"' not in page


@pytest.mark.slow
def test_a_job_that_fails_says_why_and_leaves_nothing(
    client: TestClient, folder: Path, ended: Ended
) -> None:
    started = client.post("/api/add", params={"file": "claims.csv", "name": "mine"}, json={}).json()
    job = ended(client, started["location"])
    assert job["state"] == "failed"
    assert "these label values is not known: 'mostly-fals' (20)" in job["problem"]
    assert "mostly-fals" in client.get(started["location"]).text
    assert not (folder / "mine").exists()


def test_jobs_run_one_at_a_time_and_can_be_cancelled(
    client: TestClient, folder: Path, ended: Ended
) -> None:
    choices = {"file": "claims.csv", "map": "mostly-fals=false"}
    first, second = (
        client.post("/api/add", params={**choices, "name": name}, json={}).json()["location"]
        for name in ("one", "two")
    )
    again = client.post("/api/add", params={**choices, "name": "two"}, json={})
    assert (again.status_code, again.json()["problem"]) == (422, "A job is about to write 'two'.")
    states = [client.get(f"/api{job}").json()["state"] for job in (first, second)]
    assert states[1] == "waiting"
    for job in (second, first):
        assert client.post(f"/api{job}/cancel", json={}).json() == {"location": job}
    assert [ended(client, job)["state"] for job in (first, second)] == ["cancelled"] * 2
    assert not (folder / "one").exists()
    assert not (folder / "two").exists()


def test_a_folder_that_is_there_is_not_replaced(client: TestClient, folder: Path) -> None:
    (folder / "mine").mkdir()
    for name, problem in {"mine": "already", "../x": "not a valid name", "": "not a valid"}.items():
        answer = client.post("/api/add", params={"file": "claims.csv", "name": name}, json={})
        assert answer.status_code == 422
        assert problem in answer.json()["problem"]


@pytest.mark.slow
def test_a_module_in_the_workspace_is_not_imported_by_a_job(
    client: TestClient, folder: Path, ended: Ended
) -> None:
    trap = "from pathlib import Path; Path('caught').touch()\n"
    (folder / "json.py").write_text(trap)
    (folder / "polars.py").write_text(trap)
    started = client.post("/api/add", params={"file": "claims.csv", "name": "mine"}, json={}).json()
    assert ended(client, started["location"])["state"] == "failed"
    assert not (folder / "caught").exists()
