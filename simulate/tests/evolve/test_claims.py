"""The Open Claims Model as data, and claims that carry it in and out of records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.core.errors import SchemaError, UnknownName
from claimlab_simulate.evolve.claims.contexts import contexts_of, read_contexts
from claimlab_simulate.evolve.claims.model import Claim, Target, dimension, dimensions, types
from claimlab_simulate.evolve.claims.seeding import ClaimSentence, OtherSentence


def test_six_dimensions_in_two_layers_with_all_their_values() -> None:
    counts = {name: (d.layer, len(d.values)) for name, d in dimensions().items()}
    assert counts == {
        "style": ("utterance", 2), "expression": ("utterance", 3), "granularity": ("utterance", 2),
        "causal": ("proposition", 4), "stance": ("proposition", 4), "veracity": ("proposition", 6),
    }  # fmt: skip
    for known in dimensions().values():
        assert known.question.endswith("?")
        for value in known.values.values():
            assert len(value.definition.split()) >= 4
            assert known.value(value.title) == known.value(value.name) == value
    assert [t.claim for t in types().values()] == [True] * 4 + [False] * 2


def test_what_models_may_answer_is_the_taxonomy() -> None:
    for schema, claim in ((ClaimSentence, True), (OtherSentence, False)):
        allowed = get_args(schema.model_fields["type"].annotation)
        assert list(allowed) == [t.name for t in types().values() if t.claim is claim]


def test_spellings_are_one_value_and_strangers_are_named() -> None:
    claim = Claim(
        "x", style="Rational–Official", granularity="Macro/High-Level", veracity="PANTS ON FIRE"
    )
    assert claim.stated() == {
        "style": "rational-official",
        "granularity": "macro",
        "veracity": "pants-on-fire",
    }
    assert dimension("linguistic_style").name == "style"
    assert dimension("Message granularity").name == "granularity"
    with pytest.raises(UnknownName, match="Did you mean 'neutral'"):
        Claim("x", stance="neutrall")
    with pytest.raises(UnknownName, match="style"):
        dimension("styles")


def test_what_is_known_of_a_claim_goes_into_the_meta_of_its_record() -> None:
    claim = Claim("The mill burned.", id="r1", context="Mills", causal="none", stance="neutral")
    assert claim.meta() == {
        "open_claim": {"context": "Mills", "causal": "none", "stance": "neutral"}
    }
    assert Claim("The mill burned.", id="r1").meta() == {}


def dataset() -> Dataset:
    rows = pl.DataFrame(
        {
            "id": ["a", "b", "c", "d", "e"],
            "text": [
                "The mill burned.",
                "The weir broke.",
                "A long story.",
                None,
                "The ford froze.",
            ],
            "kind": ["claim", "post", "article", "id-only", "claim"],
            "label_raw": ["Barely True", "fake", None, None, None],
            "veracity": ["false", "false", None, None, "mixed"],
            "topic": ["fire", None, None, None, None],
        }
    )
    side = pl.DataFrame(
        {
            "record_id": ["a", "a"],
            "evidence_id": ["2", "1"],
            "rank": [2, 1],
            "text": ["second", "A fire."],
        },
        schema_overrides={"rank": pl.Int32},
    )
    return Dataset.build("made-up", rows, {"evidence": side})


def test_contexts_from_the_released_layout_a_table_and_a_dataset(tmp_path: Path) -> None:
    abstracts = {"Regional": [{"title": "Mills", "url_1": "https://news.example/m", "content_1": "A mill burned.",
                               "url_2": "https://news.example/n", "content_2": "It was rebuilt."}]}  # fmt: skip
    (tmp_path / "abstract.json").write_text(json.dumps(abstracts), encoding="utf-8")
    read = read_contexts(tmp_path / "abstract.json")
    assert [(c.text, c.title, c.topic, c.url) for c in read] == [
        ("A mill burned.", "Mills", "Regional", "https://news.example/m"),
        ("It was rebuilt.", "Mills", "Regional", "https://news.example/n"),
    ]
    assert len({c.id for c in read}) == 2
    (tmp_path / "table.csv").write_text(
        "id,text,title\n1,A mill burned.,Mills\n2,,Empty\n", encoding="utf-8"
    )
    (only,) = read_contexts(tmp_path / "table.csv")
    assert (only.id, only.title, only.topic) == ("1", "Mills", None)
    assert [c.id for c in contexts_of(dataset())] == ["a", "b", "c", "e"]
    (tmp_path / "wrong.csv").write_text("id,words\n1,A mill burned.\n", encoding="utf-8")
    with pytest.raises(SchemaError, match="no column 'text'"):
        read_contexts(tmp_path / "wrong.csv")
    (tmp_path / "twice.csv").write_text("text,topic\nA mill.,x\nA mill.,y\n", encoding="utf-8")
    with pytest.raises(SchemaError, match="the id or text of another"):
        read_contexts(tmp_path / "twice.csv")


@pytest.mark.realdata
def test_every_released_value_is_known(real_data: Path) -> None:
    archive = real_data / "evolved-claims.zip"
    records = load("evolved-claims", archive, variant="evolved").records
    logs = [json.loads(meta)["synthetic"]["changes"] for meta in records["meta"]]
    assert len(logs) == 3_557
    goals = [Target.of(change["dimension"], change["value"]) for (change,) in logs]
    counts = pl.Series([str(goal) for goal in goals]).value_counts()
    assert counts.height == 15  # 2 + 3 + 2 + 4 + 4; the veracity level is not released
    assert dict(counts.rows())["granularity=macro"] == 240
    assert len(read_contexts(archive)) == 244
