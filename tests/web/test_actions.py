"""Verbs as forms on the page of a dataset, and the steps from record to record."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import planted
from starlette.testclient import TestClient
from typer.main import get_command

import claimlab as cl
from claimlab.cli.app import app as command_line
from claimlab.core.dataset import Dataset
from claimlab.core.options import parameters_of
from claimlab.web.actions import offered, verbs
from claimlab.web.jobs import PLACE, Jobs

Ended = Callable[[TestClient, str], dict[str, Any]]
VERBS = ("clean", "audit", "prepare", "split", "detect", "export")


@pytest.fixture
def writer(client: TestClient) -> TestClient:
    """A client that may change something."""
    token = re.search(r'name="csrf" content="(\w+)"', client.get("/").text)
    assert token is not None
    client.headers["X-CSRF-Token"] = token[1]
    return client


@pytest.mark.parametrize("verb", VERBS)
def test_a_form_has_the_options_of_the_declaration(client: TestClient, verb: str) -> None:
    page = client.get(f"/datasets/data/run/{verb}")
    form = client.get(f"/api/datasets/data/run/{verb}").json()
    known = parameters_of(verbs()[verb].function)
    assert page.status_code == 200
    for field in form["fields"]:
        option = known[field["name"]].option
        assert option is not None
        assert option.help.startswith(field["sentence"])
        assert f'<code class="count">{field["flag"]}</code>' in page.text
    names = {field["name"] for field in form["fields"]}
    assert {"limit"} <= names
    assert not names & {"data", "output", "force", "engine", "cache", "max_cost", "profile"}
    assert form["command"].startswith(f"claimlab {verb} data -o data-{verb}")


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_of_a_form_is_typed_as_the_command_line_reads_it(
    client: TestClient, verb: str
) -> None:
    """The command parses, and gives each option the value that the form had."""
    values = {}
    for one in offered(verbs()[verb]):
        names = sorted(verbs()[verb].names.get(one.name, list)())
        example = {bool: str(not one.default).lower(), int: "7", float: "7.5"}.get(one.kind, "word")
        values[one.name] = names[-1] if names else example
    values |= {"before": "2020-02-03"} if "before" in values else {}
    options = [f"{name}={value}" for name, value in values.items()]
    form = client.get(f"/api/datasets/data/run/{verb}", params={"option": options}).json()
    words = shlex.split(form["command"])
    command = get_command(command_line).get_command(None, verb)  # type: ignore[attr-defined]
    context = command.make_context(verb, words[2:], resilient_parsing=False)
    flags = context.params
    sets = [one.name for one in command.params if "--set" in one.opts]
    settings = dict(word.split("=", 1) for name in sets for word in flags[name] or [])
    for name, value in values.items():
        typed = settings.get(name, flags.get(name))
        shown = typed[0] if isinstance(typed, list | tuple) else typed
        assert str(shown).lower() == value.lower(), name


@pytest.mark.parametrize(
    ("verb", "option"),
    [
        ("clean", "recipe=/etc/passwd"),
        ("clean", "report=/tmp/x"),
        ("audit", "judge=paid"),
        ("detect", "detector=llm-zero-shot"),
        ("detect", "settings=model=/tmp/x"),
        ("audit", "force=true"),
        ("split", "lists=/etc"),
        ("split", "by=lists"),
        ("split", "by=external"),
    ],
)
def test_what_reads_files_or_asks_models_cannot_be_started(
    writer: TestClient, workspace: Path, verb: str, option: str
) -> None:
    params = {"name": "new", "option": option}
    assert writer.get(f"/api/datasets/data/run/{verb}", params=params).status_code == 422
    answer = writer.post(f"/api/datasets/data/run/{verb}", params=params, json={})
    assert answer.status_code == 422
    assert not (workspace / "new").exists()


def test_unknown_verbs_datasets_and_taken_names_are_refused(writer: TestClient) -> None:
    for path in ("datasets/data/run/demo", "datasets/nothing/run/audit", "datasets/data/run/rerun"):
        assert writer.post(f"/api/{path}", params={"name": "new"}, json={}).status_code == 404
    taken = writer.post("/api/datasets/data/run/audit", params={"name": "runs"}, json={})
    assert taken.status_code == 422
    writer.headers.pop("X-CSRF-Token")
    foreign = writer.post("/api/datasets/data/run/audit", params={"name": "new"}, json={})
    assert foreign.status_code == 403


@pytest.mark.slow
def test_an_audit_is_started_and_its_verdicts_are_on_the_page_of_the_dataset(
    writer: TestClient, workspace: Path, ended: Ended
) -> None:
    params = {"name": "again", "option": ["checks=length", "checks=source"]}
    started = writer.post("/api/datasets/data/run/audit", params=params, json={}).json()
    job = ended(writer, started["location"])
    assert job["state"] == "done", job["printed"]
    assert job["command"] == "claimlab audit data -o again --check length --check source"
    assert job["location"] == "/audits/again"
    lines = writer.get("/api/datasets/data").json()["audits"]
    shutil.rmtree(workspace / "again")  # other tests have the same workspace
    assert "/audits/again" in [line["link"] for line in lines]


@pytest.mark.slow
def test_records_are_stepped_through_within_the_filter(client: TestClient, workspace: Path) -> None:
    import polars as pl

    records = Dataset.open(workspace / "data").records
    wanted = records.filter(pl.col("veracity") == "false").sort("date", nulls_last=True)
    page: Any = client.get(
        "/api/datasets/data", params={"veracity": "false", "sort": "date", "size": 50}
    ).json()
    link, seen = page["rows"][0]["link"], []
    for _ in range(60):  # more than a page
        assert client.get(link).status_code == 200
        record = client.get(f"/api{link}").json()
        seen.append(record["id"])
        link = record["next"]
    assert seen == wanted["id"].to_list()[:60]
    previous = client.get(f"/api{record['previous']}").json()
    assert previous["id"] == seen[-2]
    assert "veracity=false" in record["back"]
    assert "page=2" in record["back"]
    last = client.get(
        "/api/datasets/data/record",
        params={"id": wanted["id"][-1], "veracity": "false", "at": wanted.height - 1},
    ).json()
    assert last["next"] is None
    assert client.get("/api/datasets/data/record", params={"id": seen[0]}).json()["next"] is None


def test_jobs_of_an_earlier_server_are_interrupted_and_not_forgotten(tmp_path: Path) -> None:
    here = tmp_path / PLACE
    here.mkdir()
    kept = {"words": ["audit", "data"], "output": "report", "state": "running", "seconds": 3.0}
    for id, state in (("1", "done"), ("2", "running"), ("10", "waiting")):
        (here / f"{id}.job").write_text(json.dumps({**kept, "state": state}))
    (here / "3.job").write_text("{")  # half a file loses nothing else
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (here / "1.log").symlink_to(secret)
    jobs = Jobs(tmp_path, lambda: None)
    assert [(job.id, job.state) for job in jobs.all()] == [
        ("10", "interrupted"),
        ("2", "interrupted"),
        ("1", "done"),
    ]
    assert jobs.get("1").printed() == ""
    assert jobs.under_way() == []


def test_a_job_that_the_server_stopped_with_itself_is_interrupted(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path, lambda: None)
    first = jobs.add(["catalog"], "one")
    (tmp_path / PLACE / "2.log").symlink_to(tmp_path / "untouched")
    second = jobs.add(["catalog"], "two")
    jobs.close()
    assert second.state == "interrupted"
    states = {job.id: job.state for job in Jobs(tmp_path, lambda: None).all()}
    assert states == {"1": first.state, "2": "interrupted"}
    assert not (tmp_path / "untouched").exists()


@pytest.mark.slow
def test_what_an_export_wrote_is_downloaded_from_the_page_of_its_job(
    writer: TestClient, workspace: Path, ended: Ended
) -> None:
    params = {"name": "for-others"}
    started = writer.post("/api/datasets/data/run/export", params=params, json={}).json()
    job = ended(writer, started["location"])
    assert job["command"].endswith("--to csv")  # what most people open comes first
    link = job["files"]["records.csv"]
    assert next(iter(job["files"])) == "records.csv", "the data come first"
    said = re.search(r"\((\d+) files?\)", job["printed"])
    assert said is not None
    assert len(job["files"]) == int(said[1]), "as many as the command says that it wrote"
    assert set(job["notes"]) == {"claimlab.json", "call.json"}
    page = writer.get(started["location"]).text
    assert f'href="{link}"' in page
    assert page.count(">Download ") == len(job["files"])
    assert writer.get(job["notes"]["call.json"]).json()
    file = writer.get(link)
    assert file.content == (workspace / "for-others" / "records.csv").read_bytes()
    assert file.headers["content-disposition"].startswith("attachment")
    assert file.headers["x-content-type-options"] == "nosniff"
    assert writer.get(f"{started['location']}/files/..%2Fdata%2Fdataset.json").status_code == 404


@pytest.mark.parametrize("output", ["..", "/etc", "../secret", "linked", ".", ".claimlab-jobs"])
def test_the_jobs_of_a_workspace_from_elsewhere_hand_out_nothing_from_outside_it(
    tmp_path: Path, client_of: Callable[[Path], TestClient], output: str
) -> None:
    here, secret = tmp_path / "here", tmp_path / "secret"
    (here / PLACE).mkdir(parents=True)
    secret.mkdir()
    (secret / "secret.csv").write_text("secret")
    (here / "linked").symlink_to(secret)
    (here / "export").mkdir()
    (here / "export" / "secret.csv").symlink_to(secret / "secret.csv")
    known = {"words": ["export", "data"], "state": "done", "seconds": 3.0}
    for id, name in (("1", output), ("2", "export")):
        (here / PLACE / f"{id}.job").write_text(json.dumps({**known, "output": name}))
    with client_of(here) as client:
        for id in ("1", "2"):
            assert client.get(f"/api/jobs/{id}").json()["files"] == {}
            assert client.get(f"/jobs/{id}/files/secret.csv").status_code == 404


def test_formats_say_what_they_are(client: TestClient) -> None:
    fields = client.get("/api/datasets/data/run/export").json()["fields"]
    names = next(field["names"] for field in fields if field["name"] == "to")
    assert next(iter(names)) == "csv"
    assert all(names.values())


def test_a_shared_task_is_started_from_a_form(client: TestClient) -> None:
    """The verb has sub-commands; the secret is drawn, and never typed into a page."""
    form = client.get("/api/datasets/data/run/publish_task_init").json()
    assert form["command"].startswith("claimlab publish task init data -o data-publish")
    assert "secret" not in {field["name"] for field in form["fields"]}
    assert "publish_task_init" in client.get("/datasets/data").text


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A dataset in two versions, the second with a leak, files of predictions, and a shared task
    with a submission."""
    data = cl.split(planted(size=240)[0], output=tmp_path / "data").dataset
    test = data.records.filter(pl.col("split") == "test")
    train = pl.col("split") == "train"
    copies = pl.concat([test.head(30)["text"], data.records.filter(train)["text"].tail(-30)])
    texts = data.records.filter(train).with_columns(text=copies)
    leaking = pl.concat([texts, data.records.filter(~train)])
    Dataset.build("data", leaking).write(tmp_path / "newer")
    answers = test.select("id", label=pl.lit("true"))
    answers.write_csv(tmp_path / "whole.csv")
    pl.concat([answers, answers.head(3)]).write_csv(tmp_path / "twice.csv")
    cl.publish_task_init(data, output=tmp_path / "task")
    answers.write_csv(tmp_path / "task" / "submissions" / "team.csv")
    return tmp_path


@pytest.mark.slow
def test_predictions_the_gate_and_a_shared_task_have_forms(
    shared: Path, client_of: Callable[[Path], TestClient], ended: Ended
) -> None:
    """Strict reading, the gate and the scores of submissions, each started from a page; what is
    read is chosen among what the workspace has."""
    with client_of(shared) as client:
        token = re.search(r'name="csrf" content="(\w+)"', client.get("/").text)
        assert token is not None
        client.headers["X-CSRF-Token"] = token[1]

        def started(place: str, verb: str, *options: str) -> dict[str, Any]:
            page = client.get(f"/datasets/{place}/run/{verb}")
            assert page.status_code == 200, page.text
            params = {"name": f"by-{verb}-{len(options)}", "option": list(options)}
            answer = client.post(f"/api/datasets/{place}/run/{verb}", params=params, json={})
            assert answer.status_code == 200, answer.text
            return ended(client, answer.json()["location"])

        read = started("data", "predictions", "predictions=whole.csv")
        assert read["command"].startswith("claimlab detect data -o by-predictions-1 --predictions")
        assert read["state"] == "done", read["printed"]
        twice = started("data", "predictions", "predictions=twice.csv", "split=test")
        assert twice["state"] == "failed"
        assert "3 records have more than one answer" in str(twice["printed"])
        gate = started("newer", "diff", "before=data", "checks=near-duplicates")
        assert gate["state"] == "done", gate["printed"]
        assert "amounts are too much" in str(gate["printed"]) or "amount is too much" in str(
            gate["printed"]
        )
        scores = started("data", "publish_task_score", "folder=task")
        assert scores["command"] == "claimlab publish task score task -o by-publish_task_score-1"
        assert scores["state"] == "done", scores["printed"]
        names = [f["names"] for f in client.get("/api/datasets/data/run/diff").json()["fields"]]
        assert list(names[0]) == ["newer"], "first, and not the dataset itself"
        for verb, option in (
            ("predictions", "predictions=/etc/passwd"),
            ("predictions", "predictions=task/sealed/gold.csv"),
            ("diff", "before=../elsewhere"),
            ("diff", "map=/etc/passwd"),
            ("publish_task_score", "folder=/etc"),
        ):
            asked = {"name": "new", "option": option}
            answer = client.post(f"/api/datasets/data/run/{verb}", params=asked, json={})
            assert answer.status_code == 422, option


def test_a_share_can_be_typed_into_a_form(client: TestClient) -> None:
    """A browser refuses 0.5 in a field of whole numbers, and the form is never sent."""
    page = client.get("/datasets/data/run/publish_task_init").text
    (field,) = re.findall(r'<input id="option-public_share"[^>]*>', page)
    assert 'step="any"' in field
    assert 'max="0.9"' in field
    (whole,) = re.findall(r'<input id="option-per_team"[^>]*>', page)
    assert "step" not in whole


def test_a_form_without_anything_to_choose_says_so(client: TestClient) -> None:
    page = client.get("/datasets/data/run/publish_task_score")
    assert page.status_code == 422
    assert "nothing to choose" in page.text
