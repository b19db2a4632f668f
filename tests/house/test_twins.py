"""Every verb that writes has a twin in Python: the same input and options give the same bytes.

A new verb is one more line in TWINS: its command, and the call that does the same.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack, get_args, get_origin, get_type_hints, is_typeddict

import polars as pl
import pytest

import claimlab as cl
from claimlab.cli.app import run
from claimlab.cli.lazy import verb_names
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.record import to_side_table
from claimlab.evaluate.eqa.study import QUESTIONS
from claimlab.generate.planted import planted

WITHOUT_OUTPUT = {"demo", "llm", "serve", "show"}  # a tour of the others, settings, and two ways to look


@dataclass(frozen=True)
class Twin:
    """A command and the call that does the same, both in the folder that `workspace` makes."""

    command: str
    call: Callable[[str], object]


SAMPLE = Path(__file__).parents[1] / "catalog" / "samples" / "covid-fact" / "raw"
TWINS = [
    Twin(
        "catalog --topic covid --language pt --loadable -o {out}",
        lambda out: cl.catalog(topic="covid", language="pt", loadable=True, output=out),
    ),
    Twin("load covid-fact sample -o {out} --limit 3", lambda out: cl.load("covid-fact", "sample", output=out, limit=3)),
    Twin("import rows.csv -o {out}", lambda out: cl.import_files(["rows.csv"], out)),
    Twin(
        "clean data -o {out} --limit 150 --report {out}-report",
        lambda out: cl.clean("data", output=out, limit=150, report=f"{out}-report"),
    ),
    Twin("labels conflicts data -o {out}", lambda out: cl.labels("data", output=out)),
    Twin(
        "audit data -o {out} --check length --check source --column topic",
        lambda out: cl.audit("data", checks=["length", "source"], columns=["topic"], output=out),
    ),
    Twin(
        "audit data data --check length -o {out}", lambda out: cl.audit_all(["data"] * 2, checks=["length"], output=out)
    ),
    Twin("audit data --check length --fix -o {out}", lambda out: cl.fix("data", checks=["length"], output=out)),
    Twin(
        "diff data data --check length -o {out} --limit 200",
        lambda out: cl.diff("data", "data", checks=["length"], output=out, limit=200),
    ),
    Twin("split data -o {out} --by random", lambda out: cl.split("data", "random", output=out)),
    Twin(
        "split data -o {out} --by language --hold-out por --seed 3 --limit 200",
        lambda out: cl.split("data", "language", hold_out="por", seed=3, limit=200, output=out),
    ),
    Twin("split data -o {out} --by language --all", lambda out: cl.split_all("data", "language", output=out)),
    Twin(
        "evaluate --predictions rows.csv --data data -o {out} --draws 200",
        lambda out: cl.evaluate(predictions="rows.csv", data="data", output=out, draws=200),
    ),
    Twin(
        "detect data -o {out} --detector stratified --seed 4 --limit 30",
        lambda out: cl.detect("data", "stratified", seed=4, limit=30, output=out),
    ),
    Twin(  # the second of the two answers from the recording of the first: times of retrieval are the same
        "enrich data -o {out} --provider local:rows.csv --cache calls --limit 12",
        lambda out: cl.enrich("data", "local:rows.csv", cache="calls", limit=12, output=out),
    ),
    Twin("judge run -o {out} --offline --limit 3", lambda out: cl.judge("run", offline=True, limit=3, output=out)),
    Twin(
        "evolve run data -o {out} --steps 3 --limit 5 --seed 7",
        lambda out: cl.evolve("data", steps=3, limit=5, seed=7, output=out),
    ),
    Twin("evolve drift evolved -o {out} --traces 3", lambda out: cl.drift("evolved", traces=3, output=out)),
    Twin("evolve worth data -o {out} --limit 4", lambda out: cl.worth("data", limit=4, output=out)),
    Twin("report study.toml -o {out}", lambda out: cl.report("study.toml", out)),
    Twin("export data --to csv -o {out}", lambda out: cl.export("data", "csv", out)),
    Twin("export data --to hf -o {out} --limit 9", lambda out: cl.export("data", "hf", out, limit=9)),
]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`data` is a dataset with a split, `rows.csv` has its texts and labels, `sample` is a catalogued dataset as its
    authors lay it out, and `study.toml` a study of `data`."""
    folder = tmp_path_factory.mktemp("twins")
    dataset = cl.split(planted(size=240)[0], output=folder / "data").dataset
    rows = dataset.records.select("id", "text", pl.col("veracity").alias("label"))
    rows.write_csv(folder / "rows.csv")
    shutil.copytree(SAMPLE, folder / "sample")
    explained(dataset).write(folder / "run")
    cl.evolve(dataset, steps=3, limit=4, output=folder / "evolved")
    answers = "".join(f'{name} = "It is said here in a sentence, as asked."\n' for name in QUESTIONS)
    study = f'title = "Planted"\n[formulation]\n{answers}[data]\ndatasets = ["data"]\n'
    (folder / "study.toml").write_text(study, encoding="utf-8")
    return folder


def explained(dataset: Dataset) -> Dataset:
    """A run whose predictions have rationales, with a fact-checking article for each."""
    records = dataset.records.head(6)
    ids = records["id"].to_list()
    reason = "The bridge was not opened in 1931."
    said = pl.DataFrame({"record_id": ids, "label": ["true"] * 6, "rationale": [reason] * 6})
    article = {"evidence_id": ids, "text": ["The bridge was opened in 1931."] * 6, "rating": ["True"] * 6}
    tables = {
        "predictions": to_side_table("predictions", said),
        "evidence": to_side_table("evidence", pl.DataFrame({"record_id": ids, "rank": [1] * 6, **article})),
    }
    step = Lineage(step="detect", parameters={"detector": "x", "settings": {}, "task": "veracity"}, seed=0)
    return dataset.derive(records, step, tables)


def files_in(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.command)
def test_the_verb_and_the_function_write_the_same_bytes(
    twin: Twin, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    by_verb, by_function = tmp_path / "verb" / "out", tmp_path / "function" / "out"
    for place in (by_verb, by_function):
        place.parent.mkdir()
    assert run(twin.command.format(out=by_verb).split()) == 0
    twin.call(str(by_function))
    assert files_in(by_verb.parent)
    assert files_in(by_verb.parent) == files_in(by_function.parent)


def test_every_verb_that_writes_has_a_twin() -> None:
    twins = {twin.command.split()[0] for twin in TWINS}
    assert twins == set(verb_names()) - WITHOUT_OUTPUT


@pytest.mark.parametrize("name", sorted(set(cl.__all__) - {"ClaimlabError", "Dataset", "__version__"}))
def test_every_function_says_what_it_takes(name: str) -> None:
    function = getattr(cl, name)
    parameters = inspect.signature(function).parameters.values()
    assert inspect.getdoc(function)
    open_ended = [p for p in parameters if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    for hint in (get_type_hints(function)[p.name] for p in open_ended):
        assert get_origin(hint) is Unpack, f"{name} takes more, and does not say what"
        assert is_typeddict(get_args(hint)[0])
    assert not [p.name for p in parameters if p.annotation in (p.empty, "Any")]
