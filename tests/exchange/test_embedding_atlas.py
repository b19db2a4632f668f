"""The map for Embedding Atlas: columns as its command line takes them, nothing of a record lost."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from parts.planted import planted

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.exchange.formats.embedding_atlas import FILE


def test_the_export_has_coordinates_neighbours_and_every_column(tmp_path: Path) -> None:
    records = planted(size=120)[0].records.head(60)
    odd = records.head(2).with_columns(
        pl.Series("language", ["swh", "eng"]), pl.Series("text", ["Habari za leo", None])
    )
    data = Dataset.build(
        "map", pl.concat([odd.with_columns(pl.Series("id", ["odd-1", "odd-2"])), records])
    )
    exported = cl.export(data, "embedding-atlas", tmp_path / "map")
    table = pl.read_parquet(tmp_path / "map" / FILE)
    assert table.select(data.records.columns).equals(data.records)
    assert (
        table["x"].is_null().to_list()
        == table["y"].is_null().to_list()
        == table["neighbors"].is_null().to_list()
    )
    assert table["x"].is_null().arg_true().to_list()[:2] == [0, 1]
    assert exported.counts["placed"] == table["x"].count()
    assert "Not on the map" in exported.notes[0]
    ids = table["neighbors"].struct.field("ids").drop_nulls()
    assert ids.list.len().unique().to_list() == [5]
    assert table["x"].is_not_null().gather(ids.explode().unique()).all(), (
        "neighbours are on the map"
    )
    assert table.schema["neighbors"] == pl.Struct(
        {"ids": pl.List(pl.Int64), "distances": pl.List(pl.Float64)}
    )
    readme = (tmp_path / "map" / "README.md").read_text(encoding="utf-8")
    assert f"embedding-atlas {FILE} --text text --x x --y y --neighbors neighbors" in readme
    cl.export(data, "embedding-atlas", tmp_path / "again")
    assert (tmp_path / "again" / FILE).read_bytes() == (tmp_path / "map" / FILE).read_bytes()
