"""The tools for assistants, called by the official client through a real process."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.core.call import paths_of
from claimlab.core.errors import ClaimlabError, DataError, UsageError
from claimlab.core.options import parameters_of
from claimlab.publish.task.init import publish_task_init
from claimlab.web.mcp import TOOLS, answer, schema_of

pytestmark = pytest.mark.needs("mcp")
SERVE = ["-c", "from claimlab.cli.app import main; main()", "serve", "--mcp"]


def ask(folder: Path, *calls: tuple[str, dict[str, object]]) -> tuple[list[object], list[object]]:
    """The tools that are listed, and the answer to each call: its text, and whether it failed."""
    import anyio
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    async def talk() -> tuple[list[object], list[object]]:
        server = StdioServerParameters(
            command=sys.executable,
            args=[*SERVE, str(folder)],
            env={"PYTHONPATH": ":".join(sys.path), "CLAIMLAB_CACHE": str(folder / ".cache")},
        )
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            answers = [await client.call_tool(name, options) for name, options in calls]
            return list(tools), [(one.content[0].text, one.is_error) for one in answers]

    # A browser test leaves an event loop running in this thread; a thread of its own has none.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, talk).result()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    planted()[0].write(tmp_path / "here" / "data")
    planted()[0].write(tmp_path / "outside")
    (tmp_path / "here" / "link").symlink_to(tmp_path / "outside")
    return tmp_path / "here"


def test_an_official_client_uses_every_tool(folder: Path) -> None:
    cl.split(folder / "data", by="random", output=folder / "divided")
    cl.detect(folder / "divided", "majority", output=folder / "run")
    tools, answers = ask(
        folder,
        ("catalog", {"topic": ["covid"]}),
        ("show", {"data": "data", "sql": "select count(*) as n from records"}),
        ("audit", {"data": "data", "checks": ["length"]}),
        ("match", {"text": "The river flooded.", "archive": "data", "words": True}),
        ("evaluate", {"runs": ["run"]}),
        ("docs", {"text": "audit a dataset in GitHub Actions"}),
    )
    assert [tool.name for tool in tools] == [
        "catalog",
        "show",
        "audit",
        "diff",
        "match",
        "evaluate",
        "publish_task_check",
        "publish_task_score",
        "docs",
    ]
    assert all(tool.annotations.read_only_hint for tool in tools)
    options = {name for tool in tools for name in tool.input_schema["properties"]}
    assert not options & {"output", "force", "fix", "accept_edits", "judge", "max_cost", "engine"}
    assert not any(failed for _, failed in answers), answers
    catalog, shown, audit, match, scores, docs = (json.loads(text) for text, _ in answers)
    assert catalog["rows"]
    assert shown["rows"] == [{"n": 969}]
    assert {row["check"] for row in audit["rows"]} == {"length"}
    assert audit["conclusion"]
    assert len(match["rows"]) == 10
    assert scores["rows"][0]["run"] == "run"
    assert any("ci.md" in hit["page"] for hit in docs)
    assert sorted(one.name for one in folder.iterdir()) == [
        ".cache",
        "data",
        "divided",
        "link",
        "run",
    ]


def test_what_cannot_be_done_is_a_sentence(folder: Path) -> None:
    outside = ["../outside", "link", str(folder.parent / "outside"), "data/../../outside"]
    calls = [("show", {"data": path}) for path in outside]
    _, answers = ask(
        folder,
        *calls,
        ("match", {"text": "x", "archive": "../outside"}),
        ("evaluate", {"runs": ["data", "../outside"]}),
        ("show", {"data": "nothing"}),
        ("show", {"data": "data", "limit": -1}),
        ("audit", {"data": "data", "output": "report"}),
        ("delete", {}),
    )
    assert all(failed for _, failed in answers), answers
    texts = [str(text) for text, _ in answers]
    assert all("leads outside the folder" in text for text in texts[:6])
    assert not any("Traceback" in text or "\n" in text for text in texts), texts
    assert all(". " in text for text in texts), texts
    assert not (folder / "report").exists()


def test_the_gate_and_the_check_of_a_submission_are_tools(folder: Path) -> None:
    same = {"before": "data", "after": "data", "checks": ["length"]}
    assert json.loads(answer(folder, "diff", same))["too_much"] == []
    publish_task_init(folder / "data", output=folder / "task")
    (folder / "mine.csv").write_text("id,label\nnone,true\n", encoding="utf-8")
    said = json.loads(answer(folder, "publish_task_check", {"file": "mine.csv", "task": "task"}))
    assert any("is an id of 'planted'" in problem for problem in said["problems"])
    test = pl.read_csv(folder / "task" / "public" / "test.csv")
    sent = test.select("id", label=pl.lit("true"))
    sent.write_csv(folder / "task" / "submissions" / "team.csv")
    scores = json.loads(answer(folder, "publish_task_score", {"folder": "task"}))
    assert scores["rows"][0]["submission"] == "team"
    sent.head(100).write_csv(folder / "mine.csv")
    read = json.loads(answer(folder, "evaluate", {"predictions": ["mine.csv"], "data": "data"}))
    assert read["rows"][0]["n"] == read["rows"][0]["failed"] + 100
    pl.concat([sent, sent.head(1)]).write_csv(folder / "mine.csv")
    with pytest.raises(DataError, match="1 record has more than one answer"):
        answer(folder, "evaluate", {"predictions": ["mine.csv"], "data": "data"})
    with pytest.raises(UsageError, match="outside"):
        answer(folder, "publish_task_check", {"file": "/etc/passwd", "task": "task"})


def test_no_option_of_a_tool_names_a_file_to_write(folder: Path) -> None:
    """A path that a tool takes leads to something that is there."""
    for name, function in TOOLS.items():
        for path in paths_of(function)[0] & {*schema_of(function).model_fields}:
            options = {path: ["new.html"] if parameters_of(function)[path].is_many else "new.html"}
            with pytest.raises(ClaimlabError):
                answer(folder, name, {"data": "data"} | options if name == "show" else options)
    with pytest.raises(UsageError, match="dossier"):
        answer(folder, "show", {"data": "data", "id": ["1"], "dossier": "new.html"})
    assert not (folder / "new.html").exists()


def test_a_link_inside_a_dataset_leads_nowhere(folder: Path) -> None:
    (folder / "data" / "records.parquet").unlink()
    (folder / "data" / "records.parquet").symlink_to(folder.parent / "outside" / "records.parquet")
    _, [(text, failed)] = ask(folder, ("show", {"data": "data"}))
    assert failed
    assert "leads outside" in text


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no folder"):
        cl.serve(tmp_path / "nowhere", mcp=True)
