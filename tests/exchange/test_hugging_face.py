"""Hugging Face's own library reads what we export; what it and the hub's cache keep on disk comes
in.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import planted
from polars.testing import assert_frame_equal

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnknownName, UnreadableFile, UsageError
from claimlab.exchange.export import read_export
from claimlab.files.bundle import Bundle
from claimlab.tasks import open_task

pytestmark = pytest.mark.needs("datasets")
TEXTS = [
    f"The {word} of Riverton was closed by the council in {y}."
    for y in range(2001, 2013)
    for word in ("mill", "port")
]


@pytest.fixture(scope="module")
def datasets() -> Any:
    """Imported by the tests only: it takes seconds, and every start of pytest reads this file."""
    import datasets

    datasets.disable_progress_bars()
    return datasets


def test_the_library_loads_the_export_with_its_side_tables(
    hard: Dataset, datasets: Any, tmp_path: Path
) -> None:
    cl.export(hard, "hf", tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert {name: part.num_rows for name, part in loaded.items()} == {
        "out_of__time": 7, "test": 7, "train": 7, "unsplit": 6,
    }  # fmt: skip
    rows = (
        pl.concat([pl.from_arrow(part.data.table) for part in loaded.values()])
        .sort("position")
        .drop("position", "label")
    )
    assert_frame_equal(rows, hard.records)
    evidence = datasets.load_dataset(
        str(tmp_path / "out"), "evidence", cache_dir=str(tmp_path / "cache")
    )
    assert evidence["unsplit"]["record_id"][:] == ["r00", "r01", "r02"]


@pytest.mark.parametrize(
    ("header", "words", "task"),
    [
        ("text,check_worthiness", ["Yes", "No"], "check-worthiness"),
        ("Headline,Stance", ["agree", "disagree", "discuss"], "stance"),
        ("claim,verdict", ["true", "false"], "veracity"),
    ],
)
def test_labels_of_each_task_are_classes(
    header: str, words: list[str], task: str, datasets: Any, tmp_path: Path
) -> None:
    labels = [words[i % len(words)] for i in range(len(TEXTS))]
    table = pl.DataFrame(dict(zip(header.split(","), (TEXTS, labels), strict=True)))
    data, _ = cl.import_files(table, map=task if task == "check-worthiness" else None)
    cl.export(data, "hf", tmp_path / "out")
    [part] = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "c")).values()
    read = open_task(task)
    classes = part.features["label"]
    assert classes.names == list(read.classes_in(data.records))
    assert len(classes.names) == len(words)
    assert classes.int2str(part["label"][:]) == read.labels(data.records).to_list()
    back = cl.load(tmp_path / "out")
    assert_frame_equal(back.records, data.records)
    part.save_to_disk(str(tmp_path / "disk"))
    assert_frame_equal(cl.load(tmp_path / "disk").records, data.records)


def test_the_card_holds_the_audit(tmp_path: Path) -> None:
    planted(size=200)[0].write(tmp_path / "data")
    findings = cl.audit(tmp_path / "data", checks=["length", "source"], output=tmp_path / "audit")
    cl.export(tmp_path / "data", "hf", tmp_path / "out", audit=tmp_path / "audit")
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    section = card.partition("## Audit\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| ")][2:]
    shown = sorted((row[0].removeprefix("| "), row[1]) for row in rows)
    assert shown == sorted(((f.feature or f.check), f.verdict) for f in findings.findings)
    assert "not a pass" in section
    cl.export(tmp_path / "data", "hf", tmp_path / "plain")
    assert "## Audit" not in (tmp_path / "plain" / "README.md").read_text("utf-8")
    with pytest.raises(DataError, match="is not an audit of"):
        cl.export(tmp_path / "data", "hf", tmp_path / "other", audit=tmp_path / "audit", limit=50)


def test_a_saved_folder_of_somebody_else_is_read_with_its_class_names(
    datasets: Any, tmp_path: Path
) -> None:
    labels = datasets.ClassLabel(names=["false", "true"])
    features = datasets.Features({"claim": datasets.Value("string"), "verdict": labels})
    rows = {"claim": TEXTS, "verdict": [i % 2 for i in range(24)]}
    part = datasets.Dataset.from_dict(rows, features=features)
    both = datasets.DatasetDict(
        {"train": part.select(range(16)), "test": part.select(range(16, 24))}
    )
    both.save_to_disk(str(tmp_path / "disk"))
    dataset = cl.load(tmp_path / "disk")
    assert dataset.records["text"].sort().to_list() == sorted(TEXTS)
    assert dict(dataset.records["veracity"].value_counts().iter_rows()) == {"true": 12, "false": 12}
    assert dict(dataset.records["split"].value_counts().iter_rows()) == {"train": 16, "test": 8}
    first = dataset.records.filter(pl.col("text") == TEXTS[0])
    assert first.select("label_raw", "veracity", "split").row(0) == ("false", "false", "train")
    part.to_parquet(str(tmp_path / "one.parquet"))
    named, _ = cl.import_files(tmp_path / "one.parquet")
    assert named.records["label_raw"].to_list() == ["false", "true"] * 12


def cached(folder: Path, files: dict[str, bytes], revision: str = "0a1b") -> Path:
    """A repository as the hub's client keeps it: links in a snapshot, files in a store."""
    root = folder / "datasets--town--claims"
    (root / "blobs").mkdir(parents=True, exist_ok=True)
    (root / "refs").mkdir(exist_ok=True)
    (root / "refs" / "main").write_text(revision)
    for number, (name, content) in enumerate(files.items()):
        blob = root / "blobs" / f"{revision}{number}"
        blob.write_bytes(content)
        link = root / "snapshots" / revision / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    return root


def test_a_folder_of_the_hubs_cache_is_the_files_of_its_newest_revision(
    hard: Dataset, tmp_path: Path
) -> None:
    rows = "\n".join(f'"{text}",{("true", "false")[i % 2]}' for i, text in enumerate(TEXTS))
    cached(tmp_path, {"claims.csv": b"text,verdict\nold,true\n"}, "ffff")
    root = cached(
        tmp_path, {"claims.csv": f"text,verdict\n{rows}\n".encode(), "README.md": b"# Claims"}
    )
    dataset = cl.load(root)
    assert (dataset.name, dataset.records["text"].to_list()) == ("claims", TEXTS)
    assert cl.load(root / "snapshots" / "0a1b").name == "claims"
    (root / "refs" / "main").unlink()
    with pytest.raises(UnreadableFile, match="2 revisions"):
        cl.load(root)
    cl.export(hard, "hf", tmp_path / "out")
    files = {
        p.relative_to(tmp_path / "out").as_posix(): p.read_bytes()
        for p in (tmp_path / "out").rglob("*.*")
    }
    whole = cl.load(cached(tmp_path / "ours", files))
    assert_frame_equal(whole.records, hard.records)
    assert (whole.licence, set(whole.tables)) == (hard.licence, set(hard.tables))


def test_a_link_out_of_the_cache_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("text,label\nsecret,true\n")
    root = cached(tmp_path, {"a.csv": b"text,label\nopen,true\n"})
    (root / "snapshots" / "0a1b" / "b.csv").symlink_to(tmp_path / "secret.csv")
    with Bundle.open(root) as bundle:
        assert bundle.names() == ["a.csv"]


def test_published_files_in_the_cache_load_by_their_name_in_the_catalogue(tmp_path: Path) -> None:
    rows = (
        "text,source,claim_num,group\nMasks are sold out.,snopes,0,0\nGarlic cures it.,snopes,1,1\n"
    )
    root = cached(tmp_path, {"news_claim.csv": rows.encode()})
    assert cl.load("fibvid", root).records["veracity"].to_list() == ["true", "false"]


def test_a_name_without_files_says_where_they_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be downloaded by name") as refused:
        cl.load("isot")
    assert "claimlab load isot FILES" in str(refused.value)
    with pytest.raises(UnknownName, match="liarr"):
        cl.load("liarr")
    cl.export(planted(size=120)[0], "csv", tmp_path / "out")
    with pytest.raises(UsageError, match="no variants"):
        cl.load(tmp_path / "out", variant="x")
    assert cl.load(tmp_path / "out").records.equals(read_export(tmp_path / "out").records)
