"""TF-IDF over words and over character n-grams, counted by Polars and NumPy instead of a Python
loop.

scikit-learn's character analyser walks every text in Python, and that walk is most of the cost of a
linear detector. Here the texts are one array of code points: an n-gram is a rolling hash of its
characters, kept where it crosses no space (as scikit-learn's `char_wb`), and counting is one sort
of 64-bit keys: 16 bits of row, 48 of hash. One vocabulary of a million n-grams in about 500 has a
pair that shares a hash, so hashes replace the n-grams.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from claimlab.core.stats.scores import Flags, Floats32
from claimlab.core.types import JsonObject, Sparse
from claimlab.text.tokens import tokenize

MULTIPLIER = np.uint64(
    0x9E3779B97F4A7C15
)  # 2^64 over the golden ratio: odd, so that no bit is lost
CHARACTERS_PER_CHUNK = 500_000  # characters counted at a time
TEXTS_PER_CHUNK = 2**16  # texts counted at a time, at most: what the key of a count has room for
BITS = np.uint64(48)
SPACE_CODE = 32
TEXTS_PER_PART = 5_000  # texts whose counts are held at a time


class Terms(Protocol):
    kind: ClassVar[type[pl.DataType]]  # of a term

    def count(self, texts: pl.Series) -> pl.DataFrame:
        """How often each text holds each term: `row`, `term`, `n`, sorted by row and term."""
        ...


class Words:
    """Words and runs of words, lower-cased, as the house cuts them: also where a script writes no
    spaces.
    """

    kind: ClassVar[type[pl.DataType]] = pl.String

    def __init__(self, longest: int = 2) -> None:
        self.longest = longest

    def count(self, texts: pl.Series) -> pl.DataFrame:
        words = pl.DataFrame(
            {"row": np.arange(texts.len(), dtype=np.uint32), "term": tokenize(texts.fill_null(""))}
        )
        single = words.explode("term").drop_nulls("term")
        parts = [single]
        for n in range(2, self.longest + 1):
            run = pl.concat_str([pl.col("term").shift(-k) for k in range(n)], separator=" ")
            inside = pl.col("row").shift(1 - n) == pl.col("row")
            parts.append(single.select("row", term=pl.when(inside).then(run)).drop_nulls())
        pairs = pl.concat(parts).sort("row", "term")
        new = pl.any_horizontal(
            pl.col(name).ne_missing(pl.col(name).shift()) for name in pairs.columns
        )
        at = pairs.select(new.arg_true()).to_series().to_numpy()
        return pairs[at].with_columns(n=_gaps(at, pairs.height))


class Characters:
    """Runs of `shortest` to `longest` characters inside a word, the space on either side of it
    included.

    Capitals are kept: the way a text is typed is part of what a linear model may use.
    """

    kind: ClassVar[type[pl.DataType]] = pl.UInt64

    def __init__(self, shortest: int = 2, longest: int = 5) -> None:
        self.shortest = shortest
        self.longest = longest

    def count(self, texts: pl.Series) -> pl.DataFrame:
        spaced = " " + texts.fill_null("").str.strip_chars().str.replace_all(r"\s+", " ") + " "
        parts = [self._chunk(spaced[a:b], a) for a, b in _chunks(spaced)]
        return (
            pl.concat(parts)
            if parts
            else pl.DataFrame(schema={"row": pl.UInt32, "term": pl.UInt64, "n": pl.UInt32})
        )

    def _chunk(self, texts: pl.Series, first: int) -> pl.DataFrame:
        codes = np.frombuffer(
            "".join(texts.to_list()).encode("utf-32-le", "surrogatepass"), np.uint32
        )
        rows = np.repeat(
            np.arange(texts.len(), dtype=np.uint64) << BITS, texts.str.len_chars().to_numpy()
        )
        space = codes == SPACE_CODE
        spaces = np.concatenate([[0], np.cumsum(space, dtype=np.int32)])
        hashes = np.zeros(len(codes), np.uint64)
        parts = []
        for n in range(1, self.longest + 1):
            starts = max(len(codes) - n + 1, 0)
            hashes = (
                (hashes[:starts] ^ (hashes[:starts] >> np.uint64(29))) * MULTIPLIER
                + codes[n - 1 :]
                + np.uint64(1)
            )
            if n >= self.shortest:
                inside = _within_a_word(space, spaces, n)
                parts.append(
                    rows[:starts][inside] | (hashes[inside] * MULTIPLIER) >> np.uint64(64 - 48)
                )
        keys = np.sort(np.concatenate(parts))
        at = (
            np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
            if len(keys)
            else np.empty(0, np.int64)
        )
        once = keys[at]
        return pl.DataFrame(
            {
                "row": ((once >> BITS) + np.uint64(first)).astype(np.uint32),
                "term": once & ((np.uint64(1) << BITS) - np.uint64(1)),
                "n": _gaps(at, len(keys)),
            }
        )


def _gaps(starts: npt.NDArray[np.integer[Any]], end: int) -> pl.Series:
    """How long each run is, by where they start."""
    return pl.Series(np.diff(np.append(starts, end)).astype(np.uint32))


def _within_a_word(space: Flags, spaces: npt.NDArray[np.int32], n: int) -> Flags:
    """Which runs of `n` characters hold a space at their ends only, and something besides.

    Texts begin and end with a space, so a run over the edge of two texts has two spaces next to
    each other.
    """
    starts = max(len(space) - n + 1, 0)
    if n == 1:
        return ~space
    ends = space[:starts] & space[n - 1 :]
    clear: Flags = spaces[n - 1 : n - 1 + starts] == spaces[1 : 1 + starts]
    return clear & ~ends if n == 2 else clear


def _chunks(texts: pl.Series) -> Iterator[tuple[int, int]]:
    """Ranges of rows with about CHUNK characters each."""
    ends = texts.str.len_chars().cum_sum().to_numpy()
    first = 0
    while first < texts.len():
        base = int(ends[first - 1]) if first else 0
        full = int(np.searchsorted(ends, base + CHARACTERS_PER_CHUNK))
        last = min(max(full, first + 1), first + TEXTS_PER_CHUNK)
        yield first, last
        first = last


def _parts(texts: pl.Series) -> list[pl.Series]:
    starts = range(0, max(texts.len(), 1), TEXTS_PER_PART)
    return [texts[start : start + TEXTS_PER_PART] for start in starts]


def _spread(counts: pl.DataFrame) -> pl.DataFrame:
    """In how many texts each term is, and how often."""
    return counts.group_by("term").agg(pl.len().alias("df"), pl.col("n").sum())


class TfIdf:
    """Terms in at least `min_df` training texts, the `most` most frequent; log frequency, smooth
    idf, unit rows.
    """

    def __init__(self, terms: Terms, *, most: int, min_df: int = 2) -> None:
        self.terms = terms
        self.most = most
        self.min_df = min_df

    def fit_transform(self, texts: pl.Series) -> Sparse:
        return beside([self], [texts], [self.fit(texts)])

    def fit(self, texts: pl.Series) -> pl.DataFrame | None:
        """The counts of these texts where they are one part, to be used again; those of more parts
        would take several times the memory of the matrix."""
        first, *rest = _parts(texts)
        counts = self.terms.count(first)
        spread, more = _spread(counts), []
        for number, part in enumerate(rest, start=1):
            more.append(_spread(self.terms.count(part)))
            # a merge looks at every term so far: as seldom as memory allows
            if number == len(rest) or sum(map(len, more)) > spread.height:
                both = pl.concat([spread, *more])
                spread, more = both.group_by("term").agg(pl.col("df", "n").sum()), []
        frequent = spread.filter(pl.col("df") >= min(self.min_df, texts.len()))
        frequent = (
            frequent.sort(["n", "term"], descending=[True, False]).head(self.most).sort("term")
        )
        idf = (np.log((1 + texts.len()) / (1 + frequent["df"].to_numpy())) + 1).astype(np.float32)
        self.use(frequent.select("term").with_columns(idf=pl.Series(idf)))
        return None if rest else counts

    def use(self, terms: pl.DataFrame) -> None:
        """Take up the terms that were learned before."""
        columns = pl.Series(np.arange(terms.height, dtype=np.int32))
        self.vocabulary = terms.select("term", columns.alias("column"), "idf")

    def learned(self) -> JsonObject:
        return {"terms": self.vocabulary.select("term", "idf")}

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """Of the table of terms that was learned."""
        return {"term": self.terms.kind(), "idf": pl.Float32()}

    def transform(self, texts: pl.Series) -> Sparse:
        return beside([self], [texts])

    def matrix(self, counts: pl.DataFrame, rows: int) -> Sparse:
        from scipy.sparse import csr_matrix

        cells = counts.join(
            self.vocabulary, on="term", maintain_order="left"
        )  # columns rise with terms: rows stay sorted
        row = cells["row"].to_numpy()
        values: Floats32 = (
            (1 + np.log(cells["n"].to_numpy().astype(np.float32))) * cells["idf"].to_numpy()
        ).astype(np.float32)
        length = np.sqrt(np.bincount(row, values.astype(np.float64) ** 2, minlength=rows))
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
        scaled = (values / length[row]).astype(np.float32)
        return csr_matrix(
            (scaled, cells["column"].to_numpy(), starts), shape=(rows, self.vocabulary.height)
        )


def beside(
    counters: Sequence[TfIdf],
    texts: Sequence[pl.Series],
    counted: Sequence[pl.DataFrame | None] = (),
) -> Sparse:
    """The matrices of these texts side by side, part by part: memory holds the matrix, and the
    counts of one part. `counted` are counts of the first texts that are known already.
    """
    from scipy.sparse import csr_matrix, hstack

    values, columns, sizes = [], [], []
    given = list(counted) or [None] * len(counters)
    for part in (part for series in texts for part in _parts(series)):
        matrices = [
            counter.matrix(counter.terms.count(part) if counts is None else counts, part.len())
            for counter, counts in zip(counters, given, strict=True)
        ]
        given = [None] * len(counters)
        matrix = matrices[0] if len(matrices) == 1 else hstack(matrices, format="csr")
        values.append(matrix.data)
        columns.append(matrix.indices)
        sizes.append(np.diff(matrix.indptr))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    whole = [np.concatenate(values)]
    values.clear()  # before the columns are copied too
    whole.append(np.concatenate(columns))
    width = sum(counter.vocabulary.height for counter in counters)
    return csr_matrix((*whole, starts), shape=(len(starts) - 1, width))
