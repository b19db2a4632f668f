"""Machine-made text always carries its label, origin and change log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from claimlab.catalog.load import CHANGES, DATASETS, load, marked
from claimlab.exchange.synthetic import require_labels

NAMES = [n for n in DATASETS.names() if DATASETS.get(n).variants]


def test_only_what_lacks_the_mark_gets_it() -> None:
    frame = pl.DataFrame(
        {
            "authorship": ["HWT", "MTT", "MGT", None],
            "label_raw": ["true", "false", "false", "true"],
            "meta": [
                None,
                '{"a": 1}',
                '{"synthetic": {"label": "x", "origin": "y", "changes": ["z"]}}',
                None,
            ],
        }
    )
    done, any_made = marked(frame, "River")
    assert any_made
    assert done["meta"].to_list()[0] is None
    assert done["meta"].to_list()[2] == frame["meta"].to_list()[2]
    assert not marked(frame.head(1), "River")[1]
    assert json.loads(done["meta"][1])["synthetic"] == {
        "changes": [CHANGES["MTT"]],
        "label": "false",
        "origin": "River, as published",
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_catalogued_sample_may_be_exported(
    name: str, tmp_path: Path, sample: Callable[..., Path]
) -> None:
    sample(name, tmp_path)
    for variant in DATASETS.get(name).variants:
        dataset = load(name, tmp_path, variant=variant)
        made = dataset.records.filter(pl.col("authorship").is_in(list(CHANGES)))
        assert dataset.synthetic or made.is_empty()
        for meta, label in made.select("meta", "label_raw").iter_rows():
            assert {"label", "origin", "changes"} <= set(json.loads(meta)["synthetic"]), (
                variant,
                label,
            )
        if made.height:
            require_labels(dataset)  # raises unless every machine-made row carries its mark
