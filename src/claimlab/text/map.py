"""A map of texts: sentence vectors brought down to two dimensions, so that texts of like meaning
are near each other. t-SNE for at most `MOST_TSNE` texts, which keeps neighbours together; for more,
the two principal components, which take seconds for any number. Both start from the data and a
fixed seed, on one thread: the same texts give the same map.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from claimlab.core.errors import MissingExtra
from claimlab.core.progress import progress
from claimlab.core.stats.scores import Floats, Floats32, Ints
from claimlab.text.vectors import CHARACTERS_READ, TEXTS_PER_BATCH, encode, readable

FEWEST_POINTS = 5  # fewer texts make no map
MOST_TSNE = 5_000  # texts
MOST_NEIGHBOURS = 20_000  # texts of which neighbours are looked for
NEIGHBOURS = 5


@dataclass(frozen=True)
class TextMap:
    """`rows` are those that are on the map, `points` their coordinates; the others are not
    measured.
    """

    rows: Ints
    points: Floats
    vectors: Floats32
    method: str

    def neighbours(self) -> tuple[Ints, Floats] | None:
        """For each row on the map the rows nearest in meaning, and their cosine distances; null for
        very many.
        """
        n = len(self.rows)
        if not 1 < n <= MOST_NEIGHBOURS:
            return None
        most, nearest, distances = min(NEIGHBOURS, n - 1), [], []
        for start in range(0, n, 1_000):
            similar = self.vectors[start : start + 1_000] @ self.vectors.T
            similar[
                np.arange(len(similar)), start + np.arange(len(similar))
            ] = -2.0  # a text is not its own neighbour
            order = np.argsort(-similar, axis=1, kind="stable")[:, :most]
            nearest.append(self.rows[order])
            distances.append(1.0 - np.take_along_axis(similar, order, axis=1).astype(np.float64))
        return np.concatenate(nearest), np.concatenate(distances).round(4)


def text_map(
    texts: pl.Series,
    languages: pl.Series,
    *,
    method: str | None = None,
) -> TextMap:
    """The map of `texts` in a language that the encoder knows; `languages` may be null, then texts
    are identified.
    """
    rows = np.flatnonzero(readable(texts, languages))
    wanted = texts.str.slice(0, CHARACTERS_READ).gather(rows).to_list()
    parts = []
    for start in range(0, len(wanted), TEXTS_PER_BATCH):
        progress("reading texts", start, len(wanted))
        parts.append(encode(wanted[start : start + TEXTS_PER_BATCH]))
    progress("reading texts", len(wanted), len(wanted))
    vectors = np.concatenate(parts) if parts else np.empty((0, 512), np.float32)
    chosen = method or ("t-SNE" if len(rows) <= MOST_TSNE else "PCA")
    return TextMap(rows, project(vectors, chosen), vectors, chosen)


def project(vectors: Floats32, method: str) -> Floats:
    """Two coordinates for each vector, to the fourth decimal."""
    from threadpoolctl import threadpool_limits

    if len(vectors) < FEWEST_POINTS:
        return np.zeros((len(vectors), 2))
    with threadpool_limits(
        1
    ):  # sums of several threads differ in their last digits, and t-SNE is sensitive to them
        flat = _components(vectors)
        if method == "t-SNE":
            try:
                from sklearn.manifold import TSNE
            except ImportError:
                raise MissingExtra("A map of texts", "vectors") from None

            perplexity = min(30.0, (len(vectors) - 1) / 3)
            start = flat / max(float(flat[:, 0].std()), 1e-12) * 1e-4
            flat = TSNE(perplexity=perplexity, init=start, random_state=0, n_jobs=1).fit_transform(
                vectors
            )
    return np.asarray(flat, np.float64).round(4) + 0.0


def _components(vectors: Floats32) -> Floats32:
    """The first two principal components; the largest entry of each axis is positive, so that it
    never flips.
    """
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T.astype(np.float64) @ centred.astype(np.float64))
    axes = axes[:, ::-1][:, :2]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    return np.asarray(centred @ (axes * signs), np.float32)
