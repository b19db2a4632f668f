"""One test walks every entry of the catalogue: its card, its maps, its synthetic files, and the
real ones where present.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest

from claimlab.catalog.entry import Entry, Sample
from claimlab.catalog.load import DATASETS, load
from claimlab.core.errors import DataError, UsageError
from claimlab.core.record import validate
from claimlab.tasks import TASKS

SAMPLES = Path(__file__).with_name("samples")
NAMES = DATASETS.names()
WITH_LOADER = [n for n in NAMES if DATASETS.get(n).variants]
FILES = {
    "averitec": "averitec-train",
    "checkthat": "checkthat-2022-task1-2",
    "checkthat-2019": "checkthat-2019-task1",
    "checkthat-2024": "checkthat-2024-task1",
    "checkthat-2025-normalisation": "checkthat-2025-task2",
    "checkthat-2025-science": "checkthat-2025-task4",
    "checkthat-2025-subjectivity": "checkthat-2025-task1",
    "clan": "clan-samples",
    "communitynotes": "communitynotes-sample",
    "ex-fever": "ex-fever-part",
    "fire": "fire-datasets",
    "mr2": "mr2-sample",
    "mumin-pt": "mumin",
    "multiclaim": "multiclaim-samples",
    "quantemp": "quantemp-part",
}
# what labels can be about that is not a choice between classes of a text
WITHOUT_CLASSES = ("media-manipulation", "none")
WITH_REAL_FILES = [n for n in NAMES if DATASETS.get(n).real_rows]


@pytest.mark.parametrize("name", NAMES)
def test_card_is_complete(name: str) -> None:
    entry = DATASETS.get(name)
    card = entry.card
    assert card.name == name
    assert card.title
    assert len(card.summary) > 20
    assert card.citation
    assert card.homepage or name == "evolved-claims", "no page of that dataset is known yet"
    assert card.access
    assert bool(entry.variants) != bool(entry.no_loader), (
        "an entry has a loader, or says why it has none"
    )
    assert card.task in {*TASKS.names(), *WITHOUT_CLASSES}
    if card.shares is not None:
        total = sum(v for v in card.shares.model_dump().values() if v is not None)
        assert abs(total - 100) < 0.2 or any("shares" in e.lower() for e in card.errata)


def test_labels_that_are_not_about_truth_never_become_verdicts(tmp_path: Path) -> None:
    other = [name for name in WITH_LOADER if DATASETS.get(name).card.task != "veracity"]
    assert len(other) > 10
    for name in other:
        sample_of(name, tmp_path / name)
        assert load(name, tmp_path / name).records["veracity"].is_null().all(), name
    with pytest.raises(UsageError, match="not about truth"):
        load("healthver", tmp_path / "healthver", map="Supports=true,Refutes=false")
    with pytest.raises(DataError, match="its task is stance"):
        Entry(DATASETS.get("healthver").card, {"a5": {"Supports": "true"}})


def sample_of(name: str, folder: Path) -> Sample:
    """The synthetic files of an entry: those in `samples/NAME`, or those that an entry from
    elsewhere brings in code.
    """
    stored, own = SAMPLES / name, DATASETS.get(name).sample
    if own is not None:
        for member, content in own.files.items():
            (folder / member).parent.mkdir(parents=True, exist_ok=True)
            (folder / member).write_bytes(content.encode() if isinstance(content, str) else content)
        return own
    assert stored.is_dir(), f"a loader brings a few synthetic raw files that test it, in {stored}"
    shutil.copytree(stored / "raw", folder)
    return Sample(files={}, **json.loads((stored / "expected.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", WITH_LOADER)
def test_loads_its_synthetic_files_from_folder_and_zip(name: str, tmp_path: Path) -> None:
    entry, folder, packed = DATASETS.get(name), tmp_path / "raw", tmp_path / f"{name}.zip"
    sample = sample_of(name, folder)
    with zipfile.ZipFile(packed, "w") as archive:
        for file in sorted(f for f in folder.rglob("*") if f.is_file()):
            archive.write(file, file.relative_to(folder).as_posix())
    assert set(sample.rows) == set(entry.variants)
    for variant, rows in sample.rows.items():
        for source in (folder, packed):
            dataset = load(name, source, variant=variant)
            assert dataset.records.height == rows, (variant, source.suffix)
            validate(dataset.records)
    default = load(name, packed)
    tally = default.records["veracity"].drop_nulls().value_counts()
    assert dict(tally.iter_rows()) == dict(sample.veracity)
    for map_name in entry.maps:
        load(name, packed, map=map_name)  # every named map knows every label of the sample


@pytest.mark.parametrize("name", WITH_LOADER)
def test_a_repository_given_whole_gives_the_same_records(name: str, tmp_path: Path) -> None:
    """As it is downloaded: a zip with one folder on top, a readme, and the data in a zip of its
    own.
    """
    sample_of(name, tmp_path / "raw")
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        for file in sorted(f for f in (tmp_path / "raw").rglob("*") if f.is_file()):
            archive.write(file, f"data/{file.relative_to(tmp_path / 'raw').as_posix()}")
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("authors-repository-main/README.md", "Read me.")
        archive.writestr("authors-repository-main/data.zip", inner.getvalue())
    plain, packed = load(name, tmp_path / "raw"), load(name, whole)
    assert packed.records.drop("meta").equals(plain.records.drop("meta"))
    assert set(packed.tables) == set(plain.tables)


def test_every_stored_sample_belongs_to_a_loader() -> None:
    assert sorted(folder.name for folder in SAMPLES.iterdir()) == sorted(
        n for n in WITH_LOADER if DATASETS.get(n).sample is None
    )


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("name", WITH_REAL_FILES)
def test_loads_the_real_files(name: str, real_data: Path) -> None:
    entry = DATASETS.get(name)
    source = real_data / f"{FILES.get(name, name)}.zip"
    if not source.exists():
        pytest.skip(f"{source.name} is not among the real datasets here")
    default = next(iter(entry.variants))
    for variant, rows in entry.real_rows.items():
        dataset = load(name, source, variant=variant)
        assert dataset.records.height == rows, variant
        if variant == default and entry.real_labels:
            counts = dict(dataset.records["label_raw"].drop_nulls().value_counts().iter_rows())
            assert counts == dict(entry.real_labels)
        for table in dataset.tables.values():
            if "record_id" in table.columns:
                known = set(dataset.records["id"].to_list())
                assert set(table["record_id"].drop_nulls().to_list()) <= known
