"""Every page and its JSON twin, on a planted workspace."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import polars as pl
import pytest
from parts.planted import clean_twin, planted
from parts.standin import own_profile
from starlette.testclient import TestClient

import claimlab as cl
from claimlab.audit.result import read_audits
from claimlab.core.dataset import Dataset
from claimlab.core.record import to_side_table
from claimlab.detect.detectors.tfidf import Tfidf
from claimlab.detect.prepare import prepare
from claimlab.review.create import review_create
from claimlab.tasks import open_task
from claimlab.web import rows
from claimlab.web.marking import marked


def get(client: TestClient, path: str, **parameters: Any) -> dict[str, Any]:
    """The JSON twin of a page, which must open too."""
    page, twin = client.get(path, params=parameters), client.get(f"/api{path}", params=parameters)
    assert page.status_code == twin.status_code == 200, page.text
    assert page.headers["content-type"].startswith("text/html")
    content: dict[str, Any] = twin.json()
    return content


def test_a_dataset_counts_and_pages_its_records(client: TestClient, workspace: Path) -> None:
    data = get(client, "/datasets/data", size=100)
    records = Dataset.open(workspace / "data").records
    assert data["turning"]["total"] == data["records"] == records.height
    assert [row["id"] for row in data["rows"]] == records["id"].to_list()[:100]
    last = get(client, "/datasets/data", size=100, page=data["turning"]["pages"])
    assert last["rows"][-1]["id"] == records["id"][-1]
    assert (
        get(client, "/datasets/data", size=100, page=9_999)["turning"]["number"]
        == data["turning"]["pages"]
    )


def test_filters_search_and_sort_give_what_polars_gives(
    client: TestClient, workspace: Path
) -> None:
    records = Dataset.open(workspace / "data").records
    data = get(
        client, "/datasets/data", veracity="true", language=["eng", "por"], sort="-date", size=200
    )
    wanted = records.filter(pl.col("veracity") == "true", pl.col("language").is_in(["eng", "por"]))
    assert data["turning"]["total"] == wanted.height
    dates = [row["date"] for row in data["rows"] if row["date"]]
    assert dates == sorted(dates, reverse=True)
    word = records["text"].drop_nulls()[0].split()[0]
    found = get(client, "/datasets/data", q=word.upper())["turning"]["total"]
    assert (
        found
        == records.filter(
            pl.col("text").str.to_lowercase().str.contains(word.lower(), literal=True)
        ).height
        > 0
    )
    facets = client.get(f"/api{data['counts_link']}").json()["facets"]
    labels = {
        v["name"]: v["count"] for v in next(f for f in facets if f["name"] == "veracity")["values"]
    }
    assert labels == {"true": wanted.height}


def test_records_without_a_value_can_be_chosen(client: TestClient, workspace: Path) -> None:
    records = Dataset.open(workspace / "data").records
    assert (
        get(client, "/datasets/data", topic="")["turning"]["total"] == records["topic"].null_count()
    )


@pytest.mark.slow
def test_texts_are_placed_on_a_map_and_lead_to_their_records(
    client: TestClient, workspace: Path
) -> None:
    data = get(client, "/datasets/data/map")
    records = Dataset.open(workspace / "data").records
    labels = dict(records.select("id", "veracity").iter_rows())
    assert len(data["dots"]) + data["missing"] == data["sampled"] == min(400, records.height)
    assert all(labels[dot["id"]] == dot["label"] for dot in data["dots"])
    assert client.get(data["dots"][0]["link"]).status_code == 200
    page = client.get("/datasets/data/map").text
    assert page.count("<title>true: ") == sum(dot["label"] == "true" for dot in data["dots"])
    assert "style=" not in data["svg"], "the content policy allows no styles in the page"
    assert 'href="/datasets/data/map"' in client.get("/datasets/data").text


def test_labels_by_split_and_months_add_up(client: TestClient, workspace: Path) -> None:
    data = get(client, "/datasets/data/counts")
    records = Dataset.open(workspace / "data").records
    assert data["total"] == records.height
    assert sum(sum(counts) for counts in data["label_by_split"].values()) == records.height
    assert sum(bar["count"] for bar in data["months"]) == records["date"].drop_nulls().len()
    bar = data["months"][0]
    assert client.get(f"/api{bar['link']}").json()["turning"]["total"] == bar["count"]


def test_lengths_of_texts_add_up_and_each_bar_leads_to_its_records(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    lengths = [1, 9, 10, 99, 100, 100, 1_000]
    texts = ["x" * n for n in lengths]
    rows = pl.DataFrame({"id": [f"r{i}" for i in range(len(texts))], "text": texts})
    Dataset.build("x", rows).write(tmp_path / "x")
    with client_of(tmp_path) as client:
        bars = get(client, "/datasets/x/counts")["lengths"]
        assert sum(bar["count"] for bar in bars) == len(texts)
        for bar in bars:
            least, most = (int(n.replace(",", "")) for n in bar["name"].split(" ")[:3:2])
            inside = sum(least <= n <= most for n in lengths)
            page = client.get(f"/api{bar['link']}").json()
            assert page["turning"]["total"] == bar["count"] == inside
        assert 'aria-label="By length"' in client.get("/datasets/x").text


def test_each_filter_in_use_can_be_left_out_alone(client: TestClient) -> None:
    page = get(client, "/datasets/data", veracity=["true", "false"], q="the", shortest=10)
    assert set(page["chips"]) == {
        "Label: true", "Label: false", "Words: the", "Characters from: 10",
    }  # fmt: skip
    assert page["chips"]["Words: the"] == "/datasets/data?veracity=true&veracity=false&shortest=10"
    assert page["chips"]["Label: true"] == "/datasets/data?q=the&veracity=false&shortest=10"
    assert not get(client, "/datasets/data", sort="-date", page=2)["chips"]


def test_a_dataset_says_what_its_audit_comes_to_and_its_worst_findings(
    client: TestClient, workspace: Path
) -> None:
    (line,) = get(client, "/datasets/data")["audits"]
    (audit,) = read_audits(workspace / "reports" / "audit" / "audit.json")
    assert line["usable"] == audit.conclusion.usable != ""
    shown = get(client, "/audits/reports~audit", verdict="fail")["findings"]
    assert line["worst"] == {one["title"]: one["link"] for one in shown[:3]}
    page = client.get("/datasets/data").text
    assert all(f'href="{link}"' in page for link in line["worst"].values())
    # the records of a run were not audited themselves
    assert get(client, "/datasets/runs~tfidf")["audits"] == [line]


def test_the_two_best_runs_are_compared_where_one_is_named(
    client: TestClient, workspace: Path
) -> None:
    page = get(client, "/compare", one="runs~majority")
    assert (page["one"], page["other"]) == ("runs/tfidf", "runs/majority")
    figures = client.get(f"/api{page['figures_link']}").json()
    board = cl.evaluate([workspace / "runs" / name for name in ("tfidf", "majority")])
    scores = {one["name"]: one["score"] for one in figures["rivals"]}
    for run in board.runs:
        assert scores[f"runs/{run.name}"] == pytest.approx(run.scores.macro_f1)
    assert html.escape(figures["headline"]) in client.get(page["figures_link"]).text


def test_counts_that_are_not_known_yet_are_one_link_away(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    clean_twin(size=20).write(tmp_path / "x")
    with client_of(tmp_path) as client:
        first = client.get("/datasets/x?veracity=true").text
        assert 'data-later="/datasets/x/counts?veracity=true"' in first
        assert "Labels by split" not in first
        assert "Labels by split" in client.get("/datasets/x/counts?veracity=true").text
        again = client.get("/datasets/x?veracity=true").text
        assert "data-later" not in again
        assert "Labels by split" in again


def test_a_search_in_many_texts_stops_when_the_page_is_full(
    client: TestClient, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_MANY_ROWS", 10)
    texts = Dataset.open(workspace / "data").records.select("id", pl.col("text").str.to_lowercase())
    wanted = texts.filter(pl.col("text").str.contains("re", literal=True))["id"].to_list()
    assert len(wanted) > 40
    first = get(client, "/datasets/data", q="re", size=15)
    assert first["turning"] == {
        "number": 1, "pages": None, "total": None, "first": None, "previous": None,
        "next": "/datasets/data?q=re&page=2&size=15", "last": None,
    }  # fmt: skip
    pages = -(-len(wanted) // 15)
    ids = [
        row["id"]
        for page in range(1, pages + 1)
        for row in get(client, "/datasets/data", q="re", size=15, page=page)["rows"]
    ]
    assert ids == wanted
    assert get(client, "/datasets/data", q="re", size=15, page=999)["turning"]["number"] == pages
    counts = client.get(f"/api{first['counts_link']}").json()
    assert counts["total"] == len(wanted)
    assert get(client, "/datasets/data", q="re", size=15)["turning"]["total"] == len(wanted)


def test_a_word_is_found_only_whole(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    texts = ["the cat sat", "a category", "Cat!", None, "concat"]
    rows = pl.DataFrame({"id": list("abcde"), "text": texts, "kind": ["claim"] * 5})
    Dataset.build("x", rows).write(tmp_path / "x")
    with client_of(tmp_path) as client:
        assert [r["id"] for r in get(client, "/datasets/x", word="cat")["rows"]] == ["a", "c"]
        assert get(client, "/datasets/x", word="(")["rows"] == []


def test_a_finding_leads_to_its_records_and_back(client: TestClient) -> None:
    audit = get(client, "/audits/reports~audit")
    found = next(f for f in audit["findings"] if f["records"])
    finding = client.get(f"/api{found['link']}").json()
    assert client.get(found["link"]).status_code == 200
    rows = client.get(f"/api{finding['records_link']}").json()
    assert rows["turning"]["total"] == found["records"]
    record = client.get(f"/api{rows['rows'][0]['link']}").json()
    assert found["link"] in [pointer["link"] for pointer in record["findings"]]
    assert client.get(rows["rows"][0]["link"]).status_code == 200


def test_advice_shows_calls_as_code(client: TestClient) -> None:
    page = client.get("/audits/reports~audit").text
    assert "<code>claimlab detect data -o data-" in page
    assert "`" not in page.split('<ol class="advice">')[1].split("</ol>")[0]


def test_advised_commands_name_the_folder_within_the_workspace(
    workspace: Path, tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    shutil.copytree(workspace / "data", tmp_path / "mine" / "data")
    cl.audit(tmp_path / "mine" / "data", checks=["source"], output=tmp_path / "mine" / "report")
    with client_of(tmp_path) as client:
        advice = get(client, "/audits/mine~report")["advice"]
    commands = [doing["command"] for one in advice for doing in one["commands"]]
    assert commands
    assert all(" mine/data" in command for command in commands), commands


def test_findings_are_filtered(client: TestClient) -> None:
    every = get(client, "/audits/reports~audit")["findings"]
    some = get(client, "/audits/reports~audit", verdict="fail", q="source")["findings"]
    assert 0 < len(some) < len(every)
    assert {f["verdict"] for f in some} == {"fail"}


def test_findings_that_move_a_score_most_come_first(client: TestClient) -> None:
    findings = get(client, "/audits/reports~audit")["findings"]
    by_verdict: dict[str, list[float]] = {}
    for one in findings:
        by_verdict.setdefault(one["verdict"], []).append(one["points"])
    assert all(points == sorted(points, reverse=True) for points in by_verdict.values())
    assert findings[0]["points"] == max(one["points"] for one in findings) > 10


def test_a_word_of_the_plot_leads_to_its_records(client: TestClient) -> None:
    audit = get(client, "/audits/reports~audit", check="giveaways")
    page = client.get(audit["findings"][0]["link"]).text
    assert 'href="/datasets/data?word=' in page
    assert 'aria-label="' in page
    assert " of " in page


def test_near_duplicates_are_on_the_page_of_a_record(client: TestClient, workspace: Path) -> None:
    from claimlab.text.neardup import find_clusters

    records = Dataset.open(workspace / "data").records
    labels = find_clusters(records["text"]).labels
    row = int(next(i for i, label in enumerate(labels) if label >= 0))
    data = get(client, "/datasets/data/record", id=records["id"][row])
    assert len(data["near"]) == int((labels == labels[row]).sum()) - 1


def test_a_run_is_filtered_by_right_class_confidence_and_subgroup(client: TestClient) -> None:
    data = get(client, "/runs/runs~tfidf")
    total = data["turning"]["total"]
    assert sum(cell["count"] for row in data["matrix"] for cell in row) == total
    wrong = get(client, "/runs/runs~tfidf", right="wrong")
    assert all(p["truth"] != p["said"] for p in wrong["predictions"])
    assert wrong["turning"]["total"] == total - round(data["accuracy"] * total)
    sure = get(client, "/runs/runs~tfidf", least=0.6, sort="confidence")
    shares = [p["confidence"] for p in sure["predictions"]]
    assert shares == sorted(shares)
    assert min(shares) >= 0.6
    groups = {v["name"]: v["count"] for v in data["facets"][2]["values"]}
    assert get(client, "/runs/runs~tfidf", value="eng")["turning"]["total"] == groups["eng"]


def test_a_cell_of_the_matrix_opens_its_predictions(client: TestClient) -> None:
    matrix = get(client, "/runs/runs~tfidf")["matrix"]
    assert sum(cell["count"] for row in matrix for cell in row) > 0
    for row in matrix:
        for cell in row:
            assert client.get(f"/api{cell['link']}").json()["turning"]["total"] == cell["count"]


def test_two_runs_side_by_side(client: TestClient) -> None:
    data = get(client, "/compare", one="runs~tfidf", other="runs~majority")
    parts = [
        data["counts"][name]
        for name in ("both right", "only the first", "only the second", "both wrong")
    ]
    assert sum(parts) == data["shared"] > 0
    first = get(client, "/compare", one="runs~tfidf", other="runs~majority", side="only the first")
    assert all(p["one_right"] and not p["other_right"] for p in first["pairs"])
    page = client.get("/compare?one=runs~tfidf&other=runs~majority").text
    right = parts[0] + parts[1]
    assert f"is right on {right} ({100 * right / data['shared']:.1f}%), alone on {parts[1]}" in page
    assert "only runs/majority" in page
    assert f'data-later="{data["figures_link"].replace("&", "&amp;")}"' in page
    assert 'id="told"' in client.get(data["figures_link"]).text  # what the page then fetches
    chance = client.get(f"/api{data['figures_link']}").json()["chance"]
    assert re.match(r"The difference is \+\d+\.\d points \(95% interval .* p 0\.\d+\)", chance)
    assert chance.endswith("It is more than chance.")
    same = get(client, "/compare/figures", one="runs~tfidf", other="runs~tfidf")
    assert same["chance"].startswith("The difference is +0.0 points")
    assert same["chance"].endswith("It may be chance.")


def test_a_prediction_shows_its_scores(client: TestClient) -> None:
    some = get(client, "/runs/runs~tfidf")["predictions"][0]
    data = get(client, "/runs/runs~tfidf/prediction", id=some["id"])
    assert max(data["scores"].values()) == pytest.approx(some["confidence"])
    assert data["calls_note"] == "No calls of a model are recorded beside this run."


def test_saved_pages_open_in_a_sandbox(client: TestClient) -> None:
    saved = get(client, "/reports/reports~audit")
    assert saved["files"]["index.html"] == "/reports/reports~audit/index.html"
    assert saved["title"].startswith("Audit of ")
    assert saved["conclusion"].endswith(".")
    for path in ("/reports/reports~audit/index.html", "/traces/evolved/viewer"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")
        assert "allow-same-origin" not in answer.headers["content-security-policy"]
    assert get(client, "/traces/evolved")["traces"] == 4
    viewer = client.get("/traces/evolved/viewer").text
    assert re.search(r'"drift": ?0\.\d', viewer), "the chart of drift has something to draw"


def test_a_report_shows_only_what_claimlab_wrote_there(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    secret = tmp_path / "secret.html"
    secret.write_text("hidden")
    folder = tmp_path / "workspace" / "report"
    cl.audit(clean_twin(size=60), checks=["length"], output=folder)
    (folder / "mine.html").write_text("not listed")
    (folder / "report.md").unlink()
    (folder / "report.md").symlink_to(secret)
    mark = json.loads((folder / ".claimlab.json").read_text())
    (folder / ".claimlab.json").write_text(
        json.dumps({**mark, "files": [*mark["files"], "../../secret.html", 7]})
    )
    with client_of(tmp_path / "workspace") as client:
        assert client.get("/reports/report/index.html").status_code == 200
        for name in (
            "mine.html",
            "report.md",
            "../../secret.html",
            "..%2f..%2fsecret.html",
            ".claimlab.json",
            "7",
        ):
            assert client.get(f"/reports/report/{name}").status_code == 404
        assert "hidden" not in client.get("/reports/report").text


@pytest.mark.parametrize(
    "path",
    [
        "/datasets/none", "/datasets/..%2f..%2fetc", "/datasets/data/record?id=none", "/runs/data", "/audits/data",
        "/audits/reports~audit/findings/999", "/reports/reports~audit/..%2f..%2fdata%2fdataset.json", "/traces/data",
        "/reports/reports~audit/.claimlab.json", "/runs/runs~tfidf/prediction?id=none", "/compare?one=x&other=y",
        "/datasets/data?audit=none&finding=1", "/datasets/data?audit=reports~audit&finding=77777",
    ],
)  # fmt: skip
def test_unknown_names_are_pages_with_a_sentence(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert 'class="conclusion"' in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("query", ["sort=meta", "page=0", "size=1000", "since=never", "finding=-1"])
def test_a_wrong_filter_is_a_sentence(client: TestClient, query: str) -> None:
    assert client.get(f"/datasets/data?{query}").status_code == 422
    assert set(client.get(f"/api/datasets/data?{query}").json()) == {"problem", "todo"}


def test_text_of_a_dataset_is_escaped_everywhere(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    bad = "<script>alert(1)</script>\u202e"
    rows = pl.DataFrame(
        {
            "id": [bad],
            "text": [bad],
            "kind": ["claim"],
            "source": [bad],
            "topic": [bad],
            "meta": [json.dumps({"x": bad})],
        }
    )
    Dataset.build("x", rows, licence=bad).write(tmp_path / "x")
    with client_of(tmp_path) as client:
        for path in (
            "/datasets/x",
            f"/datasets/x/record?id={bad}",
            f"/datasets/x?q={bad}",
            f"/datasets/{bad}",
        ):
            page = client.get(path).text
            assert "<script>alert" not in page
            assert "\u202e" not in page


def test_an_edited_dataset_is_shown_with_a_warning(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    clean_twin(size=20).write(tmp_path / "x")
    file = tmp_path / "x" / "records.parquet"
    pl.read_parquet(file).head(5).write_parquet(file)
    with client_of(tmp_path) as client:
        assert "was changed after claimlab wrote it" in get(client, "/datasets/x/counts")["warning"]
        assert (
            "was changed after claimlab wrote it" in client.get("/datasets/x").text
        )  # from now on at once


def test_years_that_python_does_not_know_are_shown(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    far = pl.Series([400_000_000_000_000_000, None, 0], dtype=pl.Int64).cast(
        pl.Datetime("us")
    )  # in the year 14645
    rows = pl.DataFrame(
        {"id": ["a", "b", "c"], "text": ["x", "y", "z"], "kind": ["claim"] * 3, "date": far}
    )
    Dataset.build("x", rows).write(tmp_path / "x")
    with client_of(tmp_path) as client:
        data = get(client, "/datasets/x", sort="-date")
        assert [row["id"] for row in data["rows"]] == ["a", "c", "b"]
        assert "14645" in data["rows"][0]["date"]
        assert "14645" in get(client, "/datasets/x/record", id="a")["columns"]["date"]


def test_months_without_records_are_bars_of_no_height(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    dates = [datetime(2020, 11, 5), datetime(2021, 2, 1), datetime(2021, 2, 28, 23)]
    Dataset.build("x", pl.DataFrame({"id": list("abc"), "text": list("xyz"), "date": dates})).write(
        tmp_path / "x"
    )
    with client_of(tmp_path) as client:
        bars = get(client, "/datasets/x/counts")["months"]
        assert [(b["name"], b["count"]) for b in bars] == [
            ("2020-11", 1),
            ("2020-12", 0),
            ("2021-01", 0),
            ("2021-02", 2),
        ]
        assert [client.get(f"/api{b['link']}").json()["turning"]["total"] for b in bars] == [
            1,
            0,
            0,
            2,
        ]


def test_a_prediction_shows_the_prompt_and_the_reply_that_were_recorded(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    from parts.standin import StandIn

    texts = ['Der Turm ist 12 m hoch – "sagt" man.', "The bridge opened in 1931."]
    rows = pl.DataFrame(
        {"id": ["a", "b"], "text": texts, "kind": ["claim"] * 2, "veracity": ["true", "false"]}
    )
    Dataset.build("x", rows).write(tmp_path / "data")
    reply = json.dumps({"label": "true", "rationale": "It was measured."})
    with StandIn(answer=lambda _: reply) as server:
        profile = tmp_path / "model.toml"
        own_profile(profile, f'[stand-in]\nbase_url = "{server.url}"\nmodel = "m"\n')
        cl.detect(tmp_path / "data", "llm-zero-shot", profile=str(profile), output=tmp_path / "run")
    with client_of(tmp_path) as client:
        for id, text in zip(("a", "b"), texts, strict=True):
            calls = get(client, "/runs/run/prediction", id=id)["calls"]
            assert calls
            for call in calls:  # what the model answered badly was asked again
                assert call["prompt"].startswith("[system]")
                assert text in call["prompt"]
                assert call["reply"] == reply


def test_every_run_of_a_folder_can_be_seen_and_compared(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    data = cl.split(planted(size=120)[0], output=tmp_path / "data").dataset
    test = data.records.filter(pl.col("split") == "test").select(record_id="id")
    runs = [
        test.with_columns(label=pl.lit(said), run=pl.lit(f"seed {i}"))
        for i, said in enumerate(("false", "true"))
    ]
    data.tables["predictions"] = to_side_table("predictions", pl.concat(runs))
    data.write(tmp_path / "runs")
    with client_of(tmp_path) as client:
        first = get(client, "/runs/runs")
        assert [(r["link"], r["chosen"]) for r in first["runs"]] == [
            ("/runs/runs", True),
            ("/runs/runs?part=1", False),
        ]
        assert {p["said"] for p in first["predictions"]} == {"false"}
        second = get(client, "/runs/runs", part=1)
        assert {p["said"] for p in second["predictions"]} == {"true"}
        assert client.get(f"/api{second['predictions'][0]['link']}").json()["said"] == "true"
        link = next(link for name, link in first["others"].items() if "seed 1" in name)
        compared = client.get(f"/api{link}").json()
        assert compared["counts"]["different answers"] == compared["shared"] > 0
        assert client.get("/runs/runs?part=2").status_code == 404


def test_a_run_is_shown_with_its_interval_baselines_ties_and_subgroups(
    client: TestClient, workspace: Path
) -> None:
    figures = get(client, "/runs/runs~tfidf/figures")
    (result,) = cl.evaluate([workspace / "runs" / "tfidf"], by=["language"]).runs
    assert figures["macro_f1"] == pytest.approx(result.scores.macro_f1)
    assert figures["interval"] == pytest.approx(result.intervals["macro_f1"], abs=0.02)
    assert figures["baselines"]["majority"] == pytest.approx(result.baselines[0].macro_f1)
    assert [one["link"] is None for one in figures["rivals"]] == [True, False]
    for one in figures["rivals"][1:] + figures["subgroups"]:
        assert client.get(one["link"]).status_code == 200
    (by,) = [one for one in result.slices if one.by == "language"]
    assert {one["value"]: one["n"] for one in figures["subgroups"]} == {
        cell.value: cell.n for cell in by.cells
    }


def test_only_runs_on_the_same_records_are_compared(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    data = clean_twin(size=300)
    data.write(tmp_path / "data")
    cl.detect(data, "majority", output=tmp_path / "one")
    cl.detect(data, "stratified", output=tmp_path / "two")
    cl.detect(data, "majority", limit=20, output=tmp_path / "fewer")
    with client_of(tmp_path) as client:
        rivals = client.get("/api/runs/one/figures").json()["rivals"]
        assert {one["name"] for one in rivals} == {"one", "two"}


def test_the_weights_of_words_add_up_to_the_answer(client: TestClient, workspace: Path) -> None:
    run = Dataset.open(workspace / "runs" / "tfidf")
    row = run.tables["predictions"].to_dicts()[0]
    data = get(client, "/runs/runs~tfidf/why", id=row["record_id"])
    text = run.records.filter(pl.col("id") == row["record_id"])["text"][0]
    assert [word["text"] for word in data["words"]] == text.split()
    assert max(abs(word["weight"]) for word in data["words"]) == 1
    detector, task = Tfidf(), open_task("veracity")
    prepare(
        Dataset.open(workspace / "data"), detector, task=task, seed=0, evidence="none", pieces=1
    )
    matrix = detector._matrix(pl.DataFrame({"text": [text]}))
    model = detector.linear.model
    margin = float((matrix @ model.coefficients.T)[0, 0]) + float(model.intercepts[0])
    classes = [str(one) for one in model.classes]
    weights = dict.fromkeys(classes, 0.0)
    for label in classes:
        weights[label] = sum(weight for _, weight in detector.weights(text, label))
    free = margin - float(model.intercepts[0])
    assert weights[classes[1]] == pytest.approx(free, abs=1e-5)
    assert weights[classes[0]] == pytest.approx(-free, abs=1e-5)


def test_a_record_shows_what_runs_and_annotators_said_of_it(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    data = clean_twin(size=60)
    data.write(tmp_path / "data")
    cl.detect(data, "majority", output=tmp_path / "run")
    review = review_create(tmp_path / "data", tmp_path / "review", task="label", sample=60)
    review.add_person("ana")
    item = review.next_item("ana")
    assert item is not None
    review.decide("ana", item.id, "true", key=str(uuid4()))
    (decided_id,) = review.results().filter(pl.col("item") == item.id)["record_id"]
    review.close()
    answered = Dataset.open(tmp_path / "run").records["id"][0]
    with client_of(tmp_path) as client:
        shown = get(client, "/datasets/data/record", id=answered)
        assert [one["run"] for one in shown["answers"]] == ["run"]
        assert client.get(shown["answers"][0]["link"]).status_code == 200
        decided = get(client, "/datasets/data/record", id=decided_id)
        assert [one["review"] for one in decided["decisions"]] == ["review"]
        page = client.get("/datasets/data/record", params={"id": answered}).text
        assert page.index("Label <b") < page.index("blockquote")


def test_hits_and_telling_words_are_marked_and_heads_filter(client: TestClient) -> None:
    page = client.get("/datasets/data", params={"q": "THE"}).text
    assert re.search(r"<mark>[Tt]he</mark>", page)
    client.get("/datasets/data/counts")
    page = client.get("/datasets/data").text
    head = page[page.index('id="head-veracity"') :]
    link = re.search(r'<a href="([^"]+)" aria-label="(\w+): (\d+)"', head)
    assert link is not None
    filtered = client.get(f"/api{html.unescape(link[1])}").json()
    assert filtered["turning"]["total"] == int(link[3])
    assert marked("<b>the</b> Boom", "b", {"boom": "false"}) == (
        "&lt;<mark>b</mark>&gt;the&lt;/<mark>b</mark>&gt; <mark>B</mark>oom"
    )
    assert marked("a Boom <", "", {"boom": "false"}) == (
        'a <mark class="leans-false" title="false">Boom</mark> &lt;'
    )


def test_the_lineage_says_what_each_step_lost(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    data, _ = planted(size=200)
    data.write(tmp_path / "data")
    cl.clean(tmp_path / "data", output=tmp_path / "clean")
    kept = Dataset.open(tmp_path / "clean").records.height
    with client_of(tmp_path) as client:
        *_, first, last = get(client, "/datasets/clean")["stages"]
        assert first["link"] == "/datasets/data"
        assert (last["step"], last["records"]) == ("clean", kept)
        assert last["lost"] == data.records.height - kept > 0


def test_cleaning_says_why_records_left_where_it_ends_and_where_it_began(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    """An audit after cleaning may be of either: of the records before, where few are left."""
    data, _ = planted(size=200)
    data.write(tmp_path / "data")
    cl.clean(tmp_path / "data", output=tmp_path / "clean")
    cl.clean(clean_twin(size=20), output=tmp_path / "nothing-left")
    clean = Dataset.open(tmp_path / "clean")
    with client_of(tmp_path) as client:
        (line,) = get(client, "/datasets/clean")["cleanings"]
        assert (line["records"], line["kept"]) == (len(data), len(clean))
        for name in ("dropped", "doubtful"):
            left = clean.tables[name]["step"].to_list() if name in clean.tables else []
            assert line[name] == {step: left.count(step) for step in left}
        assert get(client, "/datasets/data")["cleanings"] == [line]
        assert get(client, "/datasets/nothing-left")["cleanings"] == []
        page = html.unescape(client.get("/datasets/clean").text)
        assert all(f"{step.replace('-', ' ')} {n}" in page for step, n in line["dropped"].items())
        assert f'<a href="{line["link"]}">' in page
        report = html.unescape(client.get(line["link"]).text)
        assert get(client, line["link"])["stages"] == clean.tables["stages"].to_dicts()
        assert clean.tables["dropped"]["reason"][0] in report
        assert client.get("/datasets/data/cleaning").status_code == 404
        stages = clean.tables["stages"]
        for edited in (stages.clear(n=3), stages.drop("step"), stages.head(0)):
            edited.write_parquet(tmp_path / "clean" / "stages.parquet")
            assert get(client, "/datasets/clean")["cleanings"] == []
            assert client.get("/datasets/clean/cleaning").status_code == 404


def test_audits_of_one_dataset_are_told_apart_where_there_are_several(
    tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    data = clean_twin(size=60)
    data.write(tmp_path / "data")
    cl.audit(data, checks=["length"], output=tmp_path / "first")
    with client_of(tmp_path) as client:
        assert "protocol" not in client.get("/datasets/data").text
    cl.audit(data, checks=["length"], protocol="cdl", output=tmp_path / "second")
    with client_of(tmp_path) as client:
        page = client.get("/datasets/data").text
        for name, protocol in (("first", "fair"), ("second", "cdl")):
            line = f'<a href="/audits/{name}">Audit of <bdi>clean-twin</bdi></a>'
            assert f'{line} <span class="count"><bdi>{name}, protocol {protocol}</bdi>' in page
        assert (
            "</a> of <bdi>clean-twin</bdi> (<bdi>second, protocol cdl</bdi>)"
            in client.get("/").text
        )


def test_advice_has_a_button_for_each_command_that_a_page_can_start(client: TestClient) -> None:
    audit = get(client, "/audits/reports~audit")
    doing = [one for advice in audit["advice"] for one in advice["commands"]]
    links = [one["link"] for one in doing if one["link"]]
    assert links
    for link in links:
        form = client.get(f"/api{link}")
        assert form.status_code == 200, link
    assert sum(audit["verdicts"].values()) == len(audit["findings"])


def test_a_claim_is_looked_up_in_a_dataset_of_the_workspace(
    client: TestClient, workspace: Path
) -> None:
    record = Dataset.open(workspace / "data").records.drop_nulls("text").to_dicts()[3]
    found = get(client, "/match", text=record["text"], archive="data")
    assert found["matches"][0]["text"] == record["text"]
    assert client.get(found["matches"][0]["link"]).status_code == 200
    assert get(client, "/match")["matches"] == []
    asked = get(client, "/match", text=record["text"])  # nobody says where: the largest
    sizes = {entry["id"]: entry["records"] for entry in asked["archives"]}
    assert sizes[asked["question"]["archive"]] == max(sizes.values())
    assert asked["matches"]


def test_a_run_says_what_its_score_is_made_of_and_what_the_audit_found(
    workspace: Path, tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    folder = tmp_path / "workspace"
    shutil.copytree(workspace, folder)
    with client_of(folder) as client:
        page, data = client.get("/runs/runs~tfidf").text, get(client, "/runs/runs~tfidf")
        assert data["defence"] is None
        assert f'href="{data["defend_link"]}"' in page
        form = get(client, data["defend_link"])
        assert form["command"].startswith("claimlab defend runs/tfidf -o ")
        assert "--data data" in form["command"], "the training records are in the dataset"
        (care,) = data["audits"]
        assert care["tone"] in ("fail", "warn")
        assert html.escape(care["words"]) in page
        assert care["verdicts"]["fail"] > 0
        sure = [row["confidence"] for row in data["first_errors"]]
        assert sure == sorted(sure, reverse=True)
        assert all(row["said"] != row["truth"] for row in data["first_errors"])
    cl.defend(folder / "runs" / "tfidf", data=folder / "data", output=folder / "defence")
    with client_of(folder) as client:
        data = get(client, "/runs/runs~tfidf")
        saved = json.loads((folder / "defence" / "defence.json").read_text("utf-8"))["copied"]
        parts = {part["name"]: part["share"] for part in data["defence"]["parts"]}
        assert parts == {part["name"]: part["share"] for part in saved["segments"]}
        assert client.get(data["defence"]["link"]).status_code == 200
        assert get(client, "/runs/runs~majority")["defence"] is None, "it is of another run"


def test_a_family_is_one_entry_of_the_side_list(
    workspace: Path, tmp_path: Path, client_of: Callable[[Path], TestClient]
) -> None:
    folder = tmp_path / "workspace"
    shutil.copytree(workspace / "data", folder / "data")
    cl.split(folder / "data", by="random", output=folder / "parted")
    with client_of(folder) as client:
        side = client.get("/").text.split("</nav>")[0]
        assert side.count('href="/datasets/') == 1
        inside = client.get("/datasets/data").text.split("</nav>")[0]
        assert {"/datasets/data", "/datasets/parted"} <= set(re.findall(r'href="([^"]+)"', inside))
