"""A map for Embedding Atlas: the records with two coordinates each, and the command that opens
them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.digest import write_parquet
from claimlab.core.plain import one_line
from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.exchange.format import Format, FormatSettings, Written
from claimlab.text.map import TextMap, text_map

FILE = "map.parquet"
_NEIGHBOURS = pl.Struct({"ids": pl.List(pl.Int64), "distances": pl.List(pl.Float64)})


class EmbeddingAtlas(Format):
    name = "embedding-atlas"
    summary = (
        "A map of the texts by meaning, for Embedding Atlas: Parquet with coordinates and"
        " neighbours."
    )
    records = (FILE,)
    then = "see the README in {}"

    def write(
        self, dataset: Dataset, folder: Path, settings: FormatSettings, progress: Progress = silent
    ) -> Written:
        records = dataset.records
        placed = text_map(records["text"], records["language"])
        table = records.with_columns(_columns(placed, records.height))
        write_parquet(table, folder / FILE)
        missing = records.height - len(placed.rows)
        readme = packaged.text("claimlab.exchange", "embedding_atlas.jinja").format(
            name=one_line(dataset.name),
            records=several(records.height, "record"),
            method=placed.method,
            missing=several(missing, "record"),
            have=verb(missing, "has", "have"),
        )
        (folder / "README.md").write_text(readme, encoding="utf-8")
        why = "no text, or a language that the encoder does not know"
        notes = [f"Not on the map: {several(missing, 'record')} ({why})."] if missing else []
        counts = {"records": records.height, "placed": len(placed.rows)}
        return Written(counts, notes, {"method": placed.method})


FORMAT = EmbeddingAtlas()


def _columns(placed: TextMap, height: int) -> list[pl.Series]:
    """x, y and neighbours (row numbers and cosine distances); null for a record that is not on the
    map.
    """
    coordinates = np.full((height, 2), np.nan)
    coordinates[placed.rows] = placed.points
    columns = [pl.Series(name, coordinates[:, i]).fill_nan(None) for i, name in enumerate("xy")]
    rows: list[JsonObject | None] = [None] * height
    near = placed.neighbours()
    if near is not None:
        for row, ids, distances in zip(
            placed.rows.tolist(), near[0].tolist(), near[1].tolist(), strict=True
        ):
            rows[row] = {"ids": ids, "distances": distances}
    return [*columns, pl.Series("neighbors", rows, dtype=_NEIGHBOURS)]
