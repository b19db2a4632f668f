"""Croissant: its own validator accepts the metadata, and its own reader yields the rows."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import planted

from claimlab.catalog.load import DATASETS
from claimlab.core.dataset import Dataset
from claimlab.core.digest import digest_file
from claimlab.core.errors import DataError, UnknownName
from claimlab.core.record import to_side_table
from claimlab.exchange.export import export

pytestmark = [
    pytest.mark.needs("mlcroissant"),
    pytest.mark.filterwarnings("ignore"),  # those of its own dependencies
]


def opened(folder: Path) -> Any:
    """The export as mlcroissant understands it; what it finds wrong raises."""
    import mlcroissant

    logging.getLogger("absl").setLevel(logging.ERROR)
    return mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))


def plain(value: Any) -> Any:
    """mlcroissant gives text as bytes and times as pandas timestamps."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value


def test_the_validator_has_no_errors_and_only_says_what_is_unknown(
    hard: Dataset, tmp_path: Path
) -> None:
    export(hard, "croissant", tmp_path / "out")
    issues = opened(tmp_path / "out").metadata.ctx.issues
    assert not issues.errors
    unknown = {"citeAs", "datePublished", "version"}
    assert len(issues.warnings) == 3
    assert all(
        any(f'{word}" is recommended' in str(w) for word in unknown) for w in issues.warnings
    )


def test_its_reader_yields_the_rows(hard: Dataset, tmp_path: Path) -> None:
    export(hard, "croissant", tmp_path / "out")
    data = opened(tmp_path / "out")
    for name, table in {"records": hard.records, **hard.tables}.items():
        rows = [
            {k.split("/", 1)[1]: plain(v) for k, v in row.items()} for row in data.records(name)
        ]
        columns = table.rename({"=votes": "%3Dvotes"}, strict=False)
        wanted = columns.with_columns(pl.col(pl.Date).cast(pl.Datetime("us"))).to_dicts()
        assert rows == wanted, name


def test_the_metadata_says_what_is_known(hard: Dataset, tmp_path: Path) -> None:
    hard.card = "liar"
    hard.licence = "CC BY-SA 4.0"
    export(hard, "croissant", tmp_path / "out")
    meta = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    assert meta["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    assert meta["license"] == "https://spdx.org/licenses/CC-BY-SA-4.0.html"
    assert meta["citeAs"].startswith("Wang (2017)")
    assert meta["inLanguage"] == ["en", "fil", "no", "pt"]
    assert set(hard.notes) < set(meta["rai:dataLimitations"])
    assert meta["rai:dataPreprocessingProtocol"] == [f"import ({hard.lineage[0].tool})"]
    assert "datePublished" not in meta, "nothing is made up"
    assert meta["url"] == DATASETS.get("liar").card.homepage
    for file in meta["distribution"]:
        assert file["sha256"] == digest_file(tmp_path / "out" / file["contentUrl"])
    types = {f["@id"]: f["dataType"] for s in meta["recordSet"] for f in s["field"]}
    assert types["records/date"] == "sc:DateTime"
    assert types["evidence/rank"] == "sc:Integer"
    assert types["predictions/cost"] == "sc:Float"
    assert types["traces/passed"] == "sc:Boolean"
    assert types["records/text"] == "sc:Text"
    opened(tmp_path / "out")


def test_synthetic_data_says_so_and_a_broken_file_is_noticed(tmp_path: Path) -> None:
    made, _ = planted(size=120)
    export(made, "croissant", tmp_path / "out")
    text = (tmp_path / "out" / "croissant.json").read_text(encoding="utf-8")
    meta = json.loads(text)
    assert "synthetic" in meta["keywords"]
    assert "machine-made" in meta["description"]
    meta["recordSet"][0]["field"][0]["source"]["fileObject"]["@id"] = "absent.parquet"
    (tmp_path / "out" / "croissant.json").write_text(json.dumps(meta), encoding="utf-8")
    from mlcroissant import ValidationError

    with pytest.raises(ValidationError):
        opened(tmp_path / "out")


def test_no_text_can_close_a_script_element(hard: Dataset, tmp_path: Path) -> None:
    hard.notes = ["</script><script>alert(1)</script>"]
    export(hard, "croissant", tmp_path / "out")
    text = (tmp_path / "out" / "croissant.json").read_text(encoding="utf-8")
    assert "<" not in text
    assert hard.notes[0] in json.loads(text)["rai:dataLimitations"]


def test_what_was_measured_fills_the_responsible_fields(tmp_path: Path) -> None:
    import claimlab as cl

    planted()[0].write(tmp_path / "data")
    data = cl.Dataset.open(tmp_path / "data")
    audited = cl.audit(data, checks=["source", "length"], output=tmp_path / "audit")
    exported = cl.export(tmp_path / "data", "croissant", tmp_path / "out", audit=tmp_path / "audit")
    assert str(tmp_path) not in exported.lineage[-1].model_dump_json()
    assert "audit" in exported.lineage[-1].inputs
    meta = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    failed = [f for f in audited.findings if f.verdict == "fail"]
    assert failed
    assert all(any(f.why in line for line in meta["rai:dataBiases"]) for f in failed)
    assert meta["rai:hasSyntheticData"] is True
    assert "A scan by rule counts mail addresses" in meta["rai:personalSensitiveInformation"][0]
    assert not opened(tmp_path / "out").metadata.ctx.issues.errors
    with pytest.raises(DataError, match="is not an audit of"):
        cl.export(data.head(50), "croissant", tmp_path / "part", audit=tmp_path / "audit")
    with pytest.raises(DataError, match="is not a saved audit"):
        cl.export(tmp_path / "data", "croissant", tmp_path / "none", audit=tmp_path / "nothing")


def test_agreement_is_that_of_the_annotations(hard: Dataset, tmp_path: Path) -> None:
    import krippendorff
    import numpy as np

    rng = np.random.default_rng(5)
    ids = hard.records["id"].head(20).to_list()
    truth = rng.integers(0, 3, size=20)
    ratings = np.stack(
        [np.where(rng.random(20) < 0.7, truth, rng.integers(0, 3, size=20)) for _ in range(3)]
    )
    rows = [
        {
            "record_id": i,
            "annotator": f"a{who}",
            "annotator_kind": "human",
            "question": "label",
            "value": "xyz"[v],
        }
        for who, column in enumerate(ratings)
        for i, v in zip(ids, column, strict=True)
    ]
    rows.append({**rows[0], "annotator": "m1", "annotator_kind": "model", "value": "x"})
    hard.tables["annotations"] = to_side_table("annotations", pl.DataFrame(rows))
    export(hard, "croissant", tmp_path / "out")
    meta = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    expected = krippendorff.alpha(reliability_data=ratings, level_of_measurement="nominal")
    assert f"label: Krippendorff's alpha {expected:.2f} (" in meta["rai:dataAnnotationAnalysis"][0]
    assert (
        "over 20 records that several of 3 annotators answered"
        in meta["rai:dataAnnotationAnalysis"][0]
    )
    assert meta["rai:annotationsPerItem"] == "3 to 3"
    assert meta["rai:machineAnnotationTools"] == ["m1"]


def test_what_only_authors_know_is_asked_once_and_a_placeholder_is_not_an_answer(
    tmp_path: Path,
) -> None:
    planted()[0].write(tmp_path / "data")
    answers = tmp_path / "rai.toml"
    for wrong in ("TODO", "to be done: TBD", "short", "Use it for <purpose> only please"):
        answers.write_text(f'dataUseCases = "{wrong}"\n')
        with pytest.raises(DataError, match="`dataUseCases`"):
            export(tmp_path / "data", "croissant", tmp_path / "out", rai=answers)
    answers.write_text('dataUse = "To test detectors of claims."\n')
    with pytest.raises(UnknownName, match="dataUseCases"):
        export(tmp_path / "data", "croissant", tmp_path / "out", rai=answers)
    answers.write_text('dataUseCases = "To test detectors of short claims."\n')
    export(tmp_path / "data", "croissant", tmp_path / "out", rai=answers)
    metadata = json.loads((tmp_path / "out" / "croissant.json").read_text("utf-8"))
    assert metadata["rai:dataUseCases"] == "To test detectors of short claims."
    states = (tmp_path / "out" / "responsible-ai.md").read_text("utf-8")
    assert "| `rai:dataUseCases` | present |" in states
    assert "| `rai:dataSocialImpact` | **missing** |" in states
    assert "| `rai:personalSensitiveInformation` | present |" in states
