"""Datasets as tasks of Inspect and lm-evaluation-harness, and their runs back again."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from parts.planted import clean_twin, planted
from parts.standin import StandIn

import claimlab as cl
from claimlab.core.errors import DataError, UnreadableFile, UsageError
from claimlab.files.predictions import read_predictions


@pytest.fixture
def data(tmp_path: Path) -> Path:
    clean_twin(size=60).write(tmp_path / "whole")
    cl.split(tmp_path / "whole", "random", output=tmp_path / "data")
    return tmp_path / "data"


def samples(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "samples.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("form", ["inspect", "lm-eval"])
def test_every_labelled_test_record_is_a_question_with_its_answer(
    data: Path, tmp_path: Path, form: str
) -> None:
    exported = cl.export(data, form, tmp_path / "out")
    records = cl.Dataset.open(data).records.filter(pl.col("split") == "test")
    rows = samples(tmp_path / "out")
    assert exported.counts["samples"] == len(rows) == records.height > 0
    truth = dict(records.select("id", "veracity").iter_rows())
    texts = dict(records.select("id", "text").iter_rows())
    for row in rows:
        assert row["metadata"]["classes"]["AB".index(row["target"])] == truth[row["id"]]
        assert row["input"].endswith(texts[row["id"]])
        assert row["metadata"]["synthetic"]["label"]  # machine-made text never leaves without it
    if form == "inspect":
        ast.parse((tmp_path / "out" / "task.py").read_text())
    else:
        task = yaml.safe_load(next((tmp_path / "out").glob("*.yaml")).read_text())
        assert task["task"] == "claimlab_clean_twin"
        assert task["dataset_kwargs"]["data_files"]["test"] == "samples.jsonl"


def test_a_split_or_task_that_is_not_there_is_a_sentence(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no records in the split 'dev2'"):
        cl.export(data, "inspect", tmp_path / "a", split="dev2")
    with pytest.raises(DataError, match="no two classes"):
        cl.export(data, "inspect", tmp_path / "b", task="stance")
    with pytest.raises(UsageError, match="does not take `split`"):
        cl.export(data, "csv", tmp_path / "c", split="test")
    assert not list(tmp_path.glob("[abc]"))


def inspect_json(rows: list[dict[str, Any]], answers: list[str | None]) -> dict[str, Any]:
    """A log with the fields that Inspect 0.3.285 writes and we read."""
    return {
        "version": 2,
        "eval": {"model": "openai-api/stand-in/m"},
        "samples": [
            {
                "id": row["id"],
                "epoch": 1,
                "metadata": row["metadata"],
                "scores": {"choice": {"value": "C", "answer": answer}},
                "output": {"completion": f"ANSWER: {answer}"},
            }
            for row, answer in zip(rows, answers, strict=True)
        ],
    }


@pytest.mark.parametrize("form", ["json", "eval"])
def test_an_inspect_log_comes_back_as_a_run(data: Path, tmp_path: Path, form: str) -> None:
    cl.export(data, "inspect", tmp_path / "out")
    rows = samples(tmp_path / "out")
    answers = [row["target"] for row in rows[:-2]] + [
        "Z",
        None,
    ]  # two that are no letter of a class
    log = inspect_json(rows, answers)
    file = tmp_path / f"log.{form}"
    if form == "json":
        file.write_text(json.dumps(log), "utf-8")
    else:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("header.json", json.dumps({"eval": log["eval"]}))
            for sample in log["samples"]:
                archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    run = cl.detect(data, predictions=file, output=tmp_path / "run")
    n = len(rows)
    assert run.report["scores"]["accuracy"] == pytest.approx((n - 2) / n)
    assert run.report["scores"]["failed"] == 2
    result = cl.evaluate(tmp_path / "run", predictions=file, data=data)
    assert [r.scores.accuracy for r in result.runs] == pytest.approx([(n - 2) / n] * 2)
    assert result.runs[1].name == "openai-api/stand-in/m"


def test_samples_of_lm_eval_come_back(data: Path, tmp_path: Path) -> None:
    cl.export(data, "lm-eval", tmp_path / "out")
    rows = samples(tmp_path / "out")
    lines = [
        {"doc_id": i, "doc": row, "filtered_resps": [row["target"]]} for i, row in enumerate(rows)
    ]
    lines[0]["filtered_resps"] = ["[invalid]"]
    file = tmp_path / "samples_x.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    predictions = read_predictions(file)
    assert predictions.labels is not None
    assert predictions.labels.null_count() == 1
    run = cl.detect(data, predictions=file)
    assert run.report["scores"]["accuracy"] == pytest.approx((len(rows) - 1) / len(rows))


def test_what_is_not_a_log_is_a_sentence(data: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.eval").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(UnreadableFile, match="not a complete Inspect log"):
        read_predictions(tmp_path / "cut.eval")
    other = inspect_json([{"id": "1", "metadata": {}}], ["A"])
    (tmp_path / "other.json").write_text(json.dumps(other))
    with pytest.raises(DataError, match="does not hold the samples of a claimlab export"):
        read_predictions(tmp_path / "other.json")
    (tmp_path / "rows.csv").write_text("id,label\nnobody,true\n")
    with pytest.raises(DataError, match="No id in 'rows.csv' is an id of"):
        cl.detect(data, predictions=tmp_path / "rows.csv", output=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.skipif(
    "CLAIMLAB_HARNESSES" not in os.environ, reason="make harnesses installs both and runs this"
)
def test_both_harnesses_run_the_task_offline_and_come_back(data: Path, tmp_path: Path) -> None:
    programs = Path(os.environ["CLAIMLAB_HARNESSES"]) / "bin"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
        "HF_HUB_OFFLINE": "1",
        "OPENAI_API_KEY": "none",
    }
    for form in ("inspect", "lm-eval"):
        cl.export(data, form, tmp_path / form)
    rows = {row["id"]: row for row in samples(tmp_path / "inspect")}

    def answer(body: dict[str, Any]) -> str:
        """Right for every record."""
        asked = str(body["messages"][-1]["content"])
        return "ANSWER: " + next(row["target"] for row in rows.values() if row["input"] in asked)

    with StandIn(answer) as server:
        endpoint = {"STANDIN_API_KEY": "none", "STANDIN_BASE_URL": server.url}
        inspect = "inspect eval task.py --model openai-api/standin/m --display none --log-dir logs --log-format json"
        arguments = f"model=m,base_url={server.url}/chat/completions"
        lm_eval = (
            f"lm_eval run --model local-chat-completions --model_args {arguments} --apply_chat_template --include_path . "
            "--tasks claimlab_clean_twin --log_samples --output_path results"
        )
        for form, command in {"inspect": inspect, "lm-eval": lm_eval}.items():
            program, *more = command.split()
            subprocess.run(
                [str(programs / program), *more],
                cwd=tmp_path / form,
                env=environment | endpoint,
                check=True,
                timeout=240,
            )
    for file in (
        next(tmp_path.glob("inspect/logs/*.json")),
        next(tmp_path.glob("lm-eval/results/m/samples*.jsonl")),
    ):
        run = cl.detect(data, predictions=file)
        assert run.report["scores"]["accuracy"] == 1.0
        assert run.report["scores"]["n"] == len(rows)


@pytest.mark.slow
@pytest.mark.skipif(
    "CLAIMLAB_HARNESSES" not in os.environ, reason="make harnesses installs both and runs this"
)
def test_both_harnesses_leave_out_what_a_clean_list_names(tmp_path: Path) -> None:
    """The questions are those of the data as published; the list alone takes records out."""
    planted(size=240)[0].write(tmp_path / "data")
    cl.clean(tmp_path / "data", output=tmp_path / "clean", ids=tmp_path / "leave-out.json")
    listed = json.loads((tmp_path / "leave-out.json").read_text("utf-8"))["leave_out"]
    leave_out = {row["id"] for row in listed}
    for form in ("inspect", "lm-eval"):
        cl.export(tmp_path / "data", form, tmp_path / form)
    asked = {row["id"] for row in samples(tmp_path / "inspect")}
    expected = asked - leave_out
    assert asked > expected > set()
    read = f"import json\nleave_out = {{row['id'] for row in json.load(open({str(tmp_path / 'leave-out.json')!r}))['leave_out']}}\n"
    python = Path(os.environ["CLAIMLAB_HARNESSES"]) / "bin" / "python"
    code = {
        "inspect": (
            f"{read}from inspect_ai.dataset import json_dataset\n"
            "data = json_dataset('samples.jsonl')\n"
            "kept = data.filter(lambda sample: sample.id not in leave_out)\n"
            "print(json.dumps([sample.id for sample in kept]))\n"
        ),
        "lm-eval": (
            "import json\nfrom lm_eval.tasks import TaskManager, get_task_dict\n"
            "(task,) = get_task_dict(['claimlab_planted'], TaskManager(include_path='.')).values()\n"
            "print(json.dumps([doc['id'] for doc in task.test_docs()]))\n"
        ),
    }
    (tmp_path / "lm-eval" / "leave_out.py").write_text(
        f"{read}def keep(docs):\n    return docs.filter(lambda doc: doc['id'] not in leave_out)\n",
        "utf-8",
    )
    task = tmp_path / "lm-eval" / "claimlab_planted.yaml"
    task.write_text(f"{task.read_text('utf-8')}\nprocess_docs: !function leave_out.keep\n", "utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    for form, script in code.items():
        done = subprocess.run(
            [str(python), "-c", script],
            cwd=tmp_path / form,
            env={**environment, "HF_HUB_OFFLINE": "1"},
            check=True,
            capture_output=True,
            text=True,
            timeout=240,
        )
        assert set(json.loads(done.stdout.splitlines()[-1])) == expected, form


@pytest.mark.slow
@pytest.mark.skipif(
    "CLAIMLAB_HARNESSES" not in os.environ, reason="make harnesses installs both and runs this"
)
def test_inspect_finds_our_scorer_and_its_samples_can_be_audited(
    data: Path, tmp_path: Path
) -> None:
    """Every answer is A: the scorer gives the macro-F1 that evaluate gives to the same log."""
    cl.export(data, "inspect", tmp_path / "out")
    script = (
        "import json\nfrom inspect_ai import Task, eval\nfrom inspect_ai.dataset import json_dataset\n"
        "from inspect_ai.scorer._scorer import scorer_create\n"
        "from inspect_ai.solver import multiple_choice\n"
        "from claimlab.exchange.inspect_plugin import sample_rows\n"
        "data = json_dataset('samples.jsonl')\nscorer = scorer_create('claimlab/verdict')\n"
        "task = Task(dataset=data, solver=multiple_choice(), scorer=scorer)\n"
        "places = {'display': 'none', 'log_dir': 'logs', 'log_format': 'json'}\n"
        "(log,) = eval(task, model='openai-api/standin/m', **places)\n"
        "(scores,) = log.results.scores\nmeasured = {k: m.value for k, m in scores.metrics.items()}\n"
        "print(json.dumps([measured, sample_rows(data)]))\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    with StandIn(lambda _: "ANSWER: A") as server:
        done = subprocess.run(
            [str(Path(os.environ["CLAIMLAB_HARNESSES"]) / "bin" / "python"), "-c", script],
            cwd=tmp_path / "out",
            env={**environment, "STANDIN_API_KEY": "none", "STANDIN_BASE_URL": server.url},
            check=True,
            capture_output=True,
            text=True,
            timeout=240,
        )
    measured, rows = json.loads(done.stdout.splitlines()[-1])
    run = cl.detect(data, predictions=next(tmp_path.glob("out/logs/*.json")))
    assert measured["accuracy"] == pytest.approx(run.report["scores"]["accuracy"])
    assert measured["macro_f1"] == pytest.approx(run.report["scores"]["macro_f1"])
    truth = dict(cl.Dataset.open(data).records.select("id", "veracity").iter_rows())
    assert {row["id"]: row["label"] for row in rows} == {
        row["id"]: truth[row["id"]] for row in rows
    }
    checks = {finding.check for finding in cl.audit(rows, checks=["length"]).findings}
    assert checks == {"length"}
