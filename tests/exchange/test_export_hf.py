"""The Hugging Face folder: front matter that tools read, a card that no dataset text can break out
of.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from parts.planted import planted

import claimlab as cl
from claimlab.catalog.load import DATASETS
from claimlab.core.dataset import Dataset
from claimlab.core.licence import spdx
from claimlab.core.record import to_side_table
from claimlab.exchange.export import export
from claimlab.exchange.formats.hf import split_names
from claimlab.exchange.markup import markdown
from claimlab.exchange.markup import yaml as to_yaml
from claimlab.exchange.readme import size_category


def card_of(dataset: Dataset, folder: Path) -> tuple[dict[str, Any], str]:
    export(dataset, "hf", folder)
    text = (folder / "README.md").read_text(encoding="utf-8")
    _, front, body = text.split("---\n", 2)
    return yaml.safe_load(front), body


def test_the_configs_name_every_row_once(hard: Dataset, tmp_path: Path) -> None:
    front, _ = card_of(hard, tmp_path / "out")
    records, *side = front["configs"]
    assert (records["config_name"], records["default"]) == ("records", True)
    parts = {
        f["split"]: pl.read_parquet(tmp_path / "out" / f["path"]) for f in records["data_files"]
    }
    assert {name: part.height for name, part in parts.items()} == {
        "out_of__time": 7, "test": 7, "train": 7, "unsplit": 6,
    }  # fmt: skip
    assert parts["train"]["split"].unique().to_list() == ["train"]
    assert parts["out_of__time"]["split"].unique().to_list() == ["out of: time"], (
        "the value itself is kept"
    )
    assert pl.concat(parts.values())["position"].sort().to_list() == list(range(27))
    assert {c["config_name"] for c in side} == set(hard.tables) - {"traces"}, "not for others"
    assert (tmp_path / "out" / "tables" / "traces.parquet").is_file()
    for config in side:
        (file,) = config["data_files"]
        assert (
            pl.read_parquet(tmp_path / "out" / file["path"]).height
            == hard.tables[config["config_name"]].height
        )


def test_an_empty_side_table_is_kept_but_not_offered(hard: Dataset, tmp_path: Path) -> None:
    hard.tables["lone"] = hard.tables["lone"].head(0)
    front, _ = card_of(hard, tmp_path / "out")
    assert "lone" not in {c["config_name"] for c in front["configs"]}
    assert (tmp_path / "out" / "tables" / "lone.parquet").is_file()


def test_the_front_matter_says_what_is_known(hard: Dataset, tmp_path: Path) -> None:
    front, _ = card_of(hard, tmp_path / "out")
    assert front["license"] == "cc-by-sa-4.0"
    assert front["language"] == ["en", "fil", "no", "pt"], (
        "Norwegian is a text, and Filipino has no two-letter code"
    )
    assert front["size_categories"] == ["n<1K"]
    assert "synthetic" not in front["tags"]
    made, _ = planted(size=120)
    front, body = card_of(made, tmp_path / "made")
    assert "synthetic" in front["tags"]
    assert "**Synthetic.**" in body


def test_a_catalogue_card_brings_its_errata_and_citation(hard: Dataset, tmp_path: Path) -> None:
    hard.card, hard.licence = "liar", None
    card = DATASETS.get("liar").card
    front, body = card_of(hard, tmp_path / "out")
    assert front["pretty_name"] == "LIAR"
    assert (front["license"], front["license_name"]) == ("other", "research only")
    for sentence in (*card.errata, card.citation, card.access):
        assert markdown(sentence) in body
    hard.card = "a dataset of a package that is not installed"
    assert card_of(hard, tmp_path / "other")[0]["license"] == "unknown"


def test_untrusted_text_cannot_break_out(hard: Dataset, tmp_path: Path) -> None:
    hard.name = '"\n---\nevil: yes'
    front, body = card_of(hard, tmp_path / "out")
    assert front["pretty_name"] == hard.name
    assert "evil" not in front
    prose = re.sub(r"```.*?```", "", body, flags=re.S)
    assert "<b>" not in prose
    assert "\n# A note" not in prose
    assert not re.search(r"(?<!\\)\[links", prose)
    assert "http://x.example" not in prose, "addresses of strangers do not become links"
    for line in prose.splitlines():
        if line.startswith("| import"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 5, (
                "a pipe in a parameter does not open a cell"
            )


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_yaml(text: str) -> None:
    assert yaml.safe_load(to_yaml({"a": text, "b": [text, {"c": [text], "d": True}], "e": []})) == {
        "a": text, "b": [text, {"c": [text], "d": True}], "e": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# head", "\\# head"), ("- item", "\\- item"), ("1. item", "1\\. item"), ("=====", "\\====="), ("a\nb", "a b"),
        ("a|b", "a\\|b"), ("<img src=x>", "\\<img src=x\\>"), ("&lt;", "\\&lt;"), ("**b**", "\\*\\*b\\*\\*"),
        ("\u202eabc", "abc"), ("see www.x.example", "see www\\.x.example"), ("me@x.example", "me\\@x.example"),
        ("In 1931, 45 of 100.", "In 1931, 45 of 100."),
    ],
)  # fmt: skip
def test_markdown(text: str, line: str) -> None:
    assert markdown(text) == line


def test_split_names_are_fit_and_never_meet() -> None:
    names = split_names(
        pl.Series(["train", "Train", "a/b", "a b", "all", "unsplit", "../x", None, "验证"])
    )
    assert len({n.lower() for n in names.values()}) == 9
    assert all(re.fullmatch(r"[A-Za-z0-9_]+", n) for n in names.values())
    assert "all" not in names.values(), "`datasets` takes it for every split together"
    assert split_names(pl.Series([], dtype=pl.String)) == {None: "unsplit"}


@pytest.mark.parametrize(
    ("n", "category"),
    [
        (0, "n<1K"),
        (999, "n<1K"),
        (1000, "1K<n<10K"),
        (99_999, "10K<n<100K"),
        (100_000, "100K<n<1M"),
        (10**7, "10M<n<100M"),
    ],
)
def test_sizes(n: int, category: str) -> None:
    assert size_category(n) == category


@pytest.mark.parametrize(
    ("licence", "identifier"),
    [
        ("MIT", "MIT"), ("Apache-2.0", "Apache-2.0"), ("CC BY 4.0", "CC-BY-4.0"), ("CC BY-NC-SA 4.0", "CC-BY-NC-SA-4.0"),
        ("CC BY", None), ("MIT (code)", None), ("research only", None), ("CC BY-SA 3.0 and GFDL", None), (None, None),
    ],
)  # fmt: skip
def test_only_a_licence_that_is_one_gets_an_identifier(
    licence: str | None, identifier: str | None
) -> None:
    assert spdx(licence) == identifier


def test_the_card_says_how_the_records_came_about(tmp_path: Path) -> None:
    dataset = planted()[0]
    _, body = card_of(dataset, tmp_path / "out")
    section = body.split("## Collection and annotation")[1].split("## ")[0]
    assert "- Collection: not stated" in section
    assert "Krippendorff's alpha" in section
    assert "A scan by rule counts" in section


def test_the_test_records_are_a_benchmark_of_the_hub(hard: Dataset, tmp_path: Path) -> None:
    cl.split(planted()[0], "random", output=tmp_path / "data")
    cl.export(tmp_path / "data", "hf", tmp_path / "out")
    (task,) = yaml.safe_load((tmp_path / "out" / "eval.yaml").read_text("utf-8"))["tasks"]
    assert (task["config"], task["split"]) == ("records", "test")
    assert task["field_spec"] == {"input": "text", "target": "veracity", "metadata": ["language"]}
    template = task["solvers"][0]["args"]["template"]
    assert template.endswith("{prompt}\n\nAnswer with one word and nothing else: false or true.")
    unlabelled = hard.records.with_columns(veracity=pl.lit(None, pl.String))
    cl.export(replace(hard, records=unlabelled), "hf", tmp_path / "without")
    assert not (tmp_path / "without" / "eval.yaml").exists()


def test_a_benchmark_of_another_task_asks_for_a_letter(tmp_path: Path) -> None:
    """Inspect reads the number of a class as a letter: 0 is A."""
    rows = pl.DataFrame(
        {
            "text": [f"The mill of Velmore has {n} wheels." for n in range(12)],
            "label": ["yes", "no"] * 6,
            "split": ["train"] * 6 + ["test"] * 6,
        }
    )
    rows.write_csv(tmp_path / "claims.csv")
    data = cl.import_files(tmp_path / "claims.csv", map="claim-detection", output=tmp_path / "data")
    cl.export(tmp_path / "data", "hf", tmp_path / "out")
    (task,) = yaml.safe_load((tmp_path / "out" / "eval.yaml").read_text("utf-8"))["tasks"]
    assert task["id"] == "claim-detection"
    assert task["field_spec"]["target"] == "label"
    template = task["solvers"][0]["args"]["template"]
    assert template.startswith("Does this text state a claim that can be checked?\n\n{prompt}")
    test = pl.read_parquet(tmp_path / "out" / "data" / "test.parquet")
    letters = ["AB"[number] for number in test["label"]]
    said = dict(line.split(":")[0].split(") ") for line in template.splitlines() if ") " in line)
    assert [said[letter] for letter in letters] == ["claim", "non-claim"] * 3

    dataset = data[0]
    ids = {"record_id": dataset.records["id"], "text": ["It has none."] * 12}
    apart = {"evidence": to_side_table("evidence", pl.DataFrame(ids))}
    cl.export(replace(dataset, tables=apart), "hf", tmp_path / "pairs")
    assert not (tmp_path / "pairs" / "eval.yaml").exists()
