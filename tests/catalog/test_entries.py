"""One test walks every entry of the catalogue: its card, its maps, its made-up rows, and the real files where present."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from claimlab.catalog.load import DATASETS, load
from claimlab.catalog.made_up import write
from claimlab.core.record import validate

NAMES = DATASETS.names()
WITH_LOADER = [n for n in NAMES if DATASETS.get(n).variants]
WITH_REAL_FILES = [n for n in NAMES if DATASETS.get(n).real_rows]


def write_sample(name: str, folder: Path) -> Path:
    sample = DATASETS.get(name).sample
    assert sample is not None
    return write(folder, sample.files)


@pytest.mark.parametrize("name", NAMES)
def test_card_is_complete(name: str) -> None:
    entry = DATASETS.get(name)
    card = entry.card
    assert card.name == name
    assert card.title
    assert len(card.summary) > 20
    assert card.citation
    assert card.access
    assert bool(entry.variants) != bool(entry.no_loader), "an entry has a loader, or says why it has none"
    if card.shares is not None:
        total = sum(v for v in card.shares.model_dump().values() if v is not None)
        assert abs(total - 100) < 0.2 or any("shares" in e.lower() for e in card.errata)


@pytest.mark.parametrize("name", WITH_LOADER)
def test_loads_its_made_up_rows_from_folder_and_zip(name: str, tmp_path: Path) -> None:
    entry = DATASETS.get(name)
    assert entry.sample is not None, "a loader brings a few made-up raw rows that test it"
    folder = write_sample(name, tmp_path / "raw")
    packed = tmp_path / f"{name}.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for member in entry.sample.files:
            archive.write(folder / member, member)
    assert set(entry.sample.rows) == set(entry.variants)
    for variant, rows in entry.sample.rows.items():
        for source in (folder, packed):
            dataset = load(name, source, variant=variant)
            assert dataset.records.height == rows, (variant, source.suffix)
            validate(dataset.records)
    default = load(name, packed)
    tally = default.records["veracity"].drop_nulls().value_counts()
    assert dict(tally.iter_rows()) == dict(entry.sample.veracity)
    for map_name in entry.maps:
        load(name, packed, labels=map_name)  # every named map knows every label of the sample


@pytest.mark.realdata
@pytest.mark.parametrize("name", WITH_REAL_FILES)
def test_loads_the_real_files(name: str, real_data: Path) -> None:
    entry = DATASETS.get(name)
    source = real_data / f"{name}.zip"
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
    assert entry.card.met_real_files
