"""The detectors behind extras. Those that need the extras are slow, and fail where the extras are
missing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, MissingExtra, OutputExists, UsageError
from claimlab.detect.detector import DETECTORS
from claimlab.detect.fine_tuning import _rate
from claimlab.detect.pretrained import choose_device, open_model
from claimlab.detect.run import detect
from claimlab.detect.tables import scores_of
from claimlab.detect.token_batches import Tokens
from claimlab.tasks.table import VERACITY

ABOUT = {
    "true": ("bread", "flour", "an oven", "a cake"),
    "false": ("rain", "a storm", "clouds", "thunder"),
}


def planted(n: int = 160) -> Dataset:
    """Made-up rows whose topic gives the label away: meaning is enough to tell them apart."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        label = ("true", "false")[int(rng.random() < 0.5)]
        first, second = rng.choice(ABOUT[label], 2)
        split = ("train", "train", "dev", "test")[i % 4]
        rows.append(
            {
                "id": f"r{i}",
                "text": f"They spoke of {first} and of {second}.",
                "veracity": label,
                "split": split,
            }
        )
    return Dataset.build("made", pl.DataFrame(rows))


def test_the_rate_rises_then_falls_to_nothing() -> None:
    at = [_rate(2, 10)(step) for step in range(11)]
    assert at[:3] == [0.5, 1.0, 1.0]
    assert at[-1] == 0.0
    assert at[2:] == sorted(at[2:], reverse=True)


def test_batches_hold_every_text_once() -> None:
    tokens = Tokens([[1] * n for n in (5, 2, 9, 1, 4, 4, 3)], 0)
    for batches in (list(tokens.in_order(3)), tokens.shuffled(3, np.random.default_rng(0))):
        assert sorted(row for batch in batches for row in batch) == list(range(7))
    assert (
        next(iter(tokens.in_order(2)))[0] == 2
    )  # the longest first: what does not fit in memory fails at once
    again = tokens.shuffled(3, np.random.default_rng(0))
    assert again == tokens.shuffled(3, np.random.default_rng(0))


def test_the_grid_is_the_published_one() -> None:
    recipes = list(DETECTORS.get("encoder")(grid="pt-afc").recipes())  # type: ignore[attr-defined, call-arg]
    assert len(recipes) == len(set(recipes)) == 36
    assert {(r.epochs, r.max_length, r.warmup, r.patience, r.threshold) for r in recipes} == {
        (10, 512, 0.06, 3, 0.001)
    }


@pytest.mark.parametrize(
    ("name", "module"), [("static", "wordllama"), ("sentence", "torch"), ("encoder", "torch")]
)
def test_a_missing_extra_is_one_sentence(
    name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    from claimlab.detect.detectors import static

    static._words.cache_clear()
    with pytest.raises(MissingExtra, match=r"pip install 'claimlab\["):
        detect(planted(40), DETECTORS.get(name)())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["static", "sentence"])
def test_vectors_tell_planted_topics_apart(name: str) -> None:
    assert scores_of(detect(planted(), DETECTORS.get(name)(), seed=0), VERACITY)["macro_f1"] > 0.9


@pytest.mark.slow
def test_a_fine_tuned_encoder_learns_stops_saves_and_repeats(tmp_path: Path) -> None:
    from claimlab.detect.trained_model import load_fitted

    data, kind = planted(80), DETECTORS.get("encoder")
    options = {"epochs": 3, "max_length": 24, "learning_rate": 3e-4, "device": "cpu"}
    ready = kind(**options, save=str(tmp_path / "kept"))  # type: ignore[call-arg]
    run = detect(data, ready, seed=1)
    assert scores_of(run, VERACITY)["macro_f1"] > 0.9
    again = detect(data, kind(**options), seed=1)  # type: ignore[call-arg]
    assert run.tables["predictions"].equals(again.tables["predictions"])
    texts = data.records["text"].head(5).to_list()
    loaded, classes = load_fitted(tmp_path / "kept")
    assert classes == ["false", "true"]
    assert np.allclose(loaded.logits(texts), ready.fitted.logits(texts), atol=1e-5)  # type: ignore[attr-defined]
    assert not list((tmp_path / "kept").glob("*.bin")), "weights are never a pickle"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    with pytest.raises(OutputExists):
        detect(data, kind(steps=1, max_length=16, device="cpu", save=str(tmp_path / "other")))  # type: ignore[call-arg]


@pytest.mark.slow
def test_without_dev_a_part_of_train_is_held_out() -> None:
    data = planted(60)
    train_only = data.records.with_columns(pl.col("split").replace("dev", "train"))
    run = detect(
        Dataset.build("x", train_only),
        DETECTORS.get("encoder")(steps=2, max_length=16, device="cpu"),
    )  # type: ignore[call-arg]
    assert run.tables["predictions"].height == 15


@pytest.mark.slow
def test_a_model_that_is_not_there_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ClaimlabError, match="cannot be opened"):
        open_model(str(tmp_path / "empty"))
    import torch

    if not torch.cuda.is_available():
        with pytest.raises(UsageError, match="no CUDA device"):
            choose_device("cuda")
