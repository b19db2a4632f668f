"""Nothing that a machine wrote leaves without its label, origin and change log: properties that
try.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.exchange.export import export, read_export
from claimlab.exchange.format import FORMATS
from claimlab.exchange.synthetic import lacks
from claimlab_simulate.generate.chain import find_chain
from claimlab_simulate.generate.dataset import dataset_of
from claimlab_simulate.generate.filling import ChainOutcome
from claimlab_simulate.generate.plan import Configuration, Job
from claimlab_simulate.generate.sample import GeneratedSample, rows

MARKED = (
    "Zanzibar-like machine text"  # what every slot holds, so that it can be looked for in any file
)
SEED = {
    "id": "s1",
    "text": "The council sold 45 boats.",
    "kind": "article",
    "language": "eng",
    "veracity": "true",
}
LOSSLESS = ["csv", "hf", "jsonl", "croissant"]


def value(slot: str, kind: str, log: list[dict[str, str]]) -> Any:
    return {"text": f"{MARKED}: {slot}.", "list": [MARKED], "score": 3, "changes": log}[kind]


@st.composite
def chains(draw: Any) -> tuple[Job, ChainOutcome]:
    """A job and what came of it: some roles filled, some chains stopped, logs that are there, empty
    or missing.
    """
    chain = find_chain(draw(st.sampled_from(["real", "altered"])))
    number = draw(st.integers(0, 3))
    change = {"kind": "number", "before": "45", "after": draw(st.sampled_from(["54", "", "46"]))}
    log = draw(st.sampled_from([[], [change], [change, change]]))
    until = draw(st.integers(0, len(chain.roles)))
    filled = {
        r.name: {s: value(s, k, log) for s, k in r.slots.items()} for r in chain.roles[:until]
    }
    whole = until == len(chain.roles)
    made = ChainOutcome(
        filled,
        "complete" if whole else draw(st.sampled_from(["refusal", "invalid-json", "timeout"])),
    )
    made.stopped = None if whole else chain.roles[until].name
    names = draw(st.sampled_from(sorted(chain.techniques)))
    chosen = Configuration(
        chain, (names,), draw(st.sampled_from(sorted(chain.degrees))), "eng", "por", "m"
    )
    return Job(number, {**SEED, "id": f"s{number}"}, chosen), made


def everything(plan: list[tuple[Job, ChainOutcome]], originals: bool) -> Dataset:
    distinct = {job.number: (job, made) for job, made in plan}  # a seed is used once
    seeds = Dataset.build("seeds", pl.DataFrame([SEED]))
    jobs, results = [j for j, _ in distinct.values()], [m for _, m in distinct.values()]
    return dataset_of(seeds, jobs, results, {}, 0, originals)


def lines_of(folder: Path) -> list[str]:
    """Every row of every file of an export, as text."""
    out = []
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        if file.suffix == ".parquet":
            out += [
                json.dumps(row, default=str, ensure_ascii=False)
                for row in pl.read_parquet(file).iter_rows(named=True)
            ]
        elif file.suffix == ".csv":
            table = pl.read_csv(file, infer_schema_length=0)
            out += [json.dumps(row, ensure_ascii=False) for row in table.iter_rows(named=True)]
        elif file.suffix == ".jsonl":
            out += file.read_text(encoding="utf-8").splitlines()
    return out


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(chains(), min_size=1, max_size=4), st.booleans(), st.sampled_from(LOSSLESS))
def test_every_row_with_machine_text_carries_its_mark(
    plan: list[Any], originals: bool, to: str
) -> None:
    dataset = everything(plan, originals)
    assert dataset.synthetic
    for meta in dataset.records.filter(pl.col("authorship") != "HWT")["meta"]:
        assert lacks(meta) == []
    with tempfile.TemporaryDirectory() as place:
        export(dataset, to, Path(place) / "out")
        back = read_export(Path(place) / "out")
        assert back.records.equals(dataset.records)
        for line in lines_of(Path(place) / "out"):
            if MARKED in line:
                marks = [word in line for word in ("synthetic", "label", "origin", "changes")]
                assert all(marks), f"a row of {to} without its mark: {line[:300]}"


@settings(max_examples=15, deadline=None)
@given(
    chains(),
    st.sampled_from(["label", "origin", "changes", "synthetic", "meta"]),
    st.sampled_from(sorted(FORMATS.names())),
)
def test_what_lost_its_mark_is_not_exported(
    one: tuple[Job, ChainOutcome], lost: str, to: str
) -> None:
    dataset = everything([one], originals=False)
    if not len(dataset):
        return
    meta = json.loads(dataset.records["meta"][0])
    if lost == "synthetic":
        del meta["synthetic"]
    elif lost != "meta":
        del meta["synthetic"][lost]
    cells = [None if lost == "meta" else json.dumps(meta), *dataset.records["meta"].to_list()[1:]]
    stripped = dataset.records.with_columns(pl.Series("meta", cells, dtype=pl.String))
    with (
        tempfile.TemporaryDirectory() as place,
        pytest.raises(DataError, match="does not say what"),
    ):
        export(Dataset.build("x", stripped, synthetic=True), to, Path(place) / "out")


@pytest.mark.parametrize("missing", ["veracity", "origin", "changes"])
def test_no_record_is_made_without_its_mark(missing: str) -> None:
    whole: dict[str, Any] = {
        "id": "x", "seed": SEED, "veracity": "altered", "degree": "minor", "texts": {"article": "Text."},
        "languages": {}, "origin": {"model": "m"}, "changes": [], "meta": {},
    }  # fmt: skip
    assert rows(GeneratedSample(**whole))
    broken = {"veracity": "other", "origin": {}, "changes": None}
    with pytest.raises(DataError, match="not written without"):
        rows(GeneratedSample(**{**whole, missing: broken[missing]}))
