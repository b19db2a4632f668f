"""A fine-tuned transformer encoder: any model of the hub, a folder, or the small offline one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from claimlab.core import packaged
from claimlab.core.types import Json, JsonObject
from claimlab.detect.detector import Detector, Part, Prediction, texts_of
from claimlab.detect.fine_tuning import Examples, Fitted, Pooling, TrainingRecipe, train
from claimlab.detect.learned import Learned
from claimlab.detect.linear import as_predictions, temperature
from claimlab.detect.pretrained import MINILM, Device, choose_device
from claimlab.detect.trained_model import load_fitted, refuse, save_fitted

Grid = Literal["none", "pt-afc"]
SHARE_HELD_OUT = 0.1  # of the training rows, to stop by where there is no dev


class FineTunedEncoder(Detector):
    name = "encoder"
    summary = "A transformer fine-tuned on train, stopped early on dev (default: all-MiniLM-L6-v2)."
    extra = "encoder,embeddings"
    unreported = frozenset({"device", "save"})
    trial: ClassVar[Mapping[str, Json]] = {"steps": 2, "max_length": 16, "device": "cpu"}

    def __init__(  # noqa: PLR0913
        self,
        *,
        model: str = MINILM,
        learning_rate: float = 5e-5,
        epochs: int = 5,
        batch: int = 16,
        dropout: float = 0.1,
        max_length: int = 256,
        warmup: float = 0.06,
        weight_decay: float = 0.01,
        patience: int = 3,
        threshold: float = 0.001,
        pooling: Pooling = "mean",
        balanced: bool = True,
        steps: int | None = None,
        grid: Grid = "none",
        device: Device = "auto",
        save: str | None = None,
    ) -> None:
        self.model = model
        self.recipe = TrainingRecipe(
            learning_rate,
            epochs,
            batch,
            dropout,
            max_length,
            warmup,
            weight_decay,
            patience,
            threshold,
            pooling,
            balanced,
            steps,
        )
        self.grid: Grid = grid
        self.device: Device = device
        self.save = save

    def parameters(self) -> dict[str, object]:
        return {"model": self.model, "grid": self.grid, **asdict(self.recipe)}

    def fit(self, train: Part, dev: Part, *, seed: int) -> None:
        if self.save is not None:
            refuse(Path(self.save))
        self.classes = sorted(set(train.labels))
        examples, stopping = self._parts(train, dev, seed)
        runs = (self._train(recipe, examples, stopping, seed) for recipe in self.recipes())
        self.fitted: Fitted = max(runs, key=lambda run: run.score)
        self.temperature = temperature(
            self.fitted.logits(stopping[0]), np.asarray(stopping[1]), list(range(len(self.classes)))
        )
        if self.save is not None:
            about = {
                "classes": self.classes,
                "temperature": self.temperature,
                "model": self.model,
                "seed": seed,
            }
            save_fitted(self.fitted, Path(self.save), about)

    def predict(self, records: pl.DataFrame) -> list[Prediction]:
        logits = self.fitted.logits(texts_of(records).to_list(), self.progress)
        return as_predictions(logits, self.classes, self.temperature)

    def learned(self) -> JsonObject:
        return {"classes": self.classes, "temperature": self.temperature}

    def recall(self, learned: Learned) -> None:
        self.classes, self.temperature = learned.words("classes"), learned.number("temperature")

    def keep(self, folder: Path) -> bool:
        if self.fitted.device != "cpu":  # one GPU is not shared by processes
            return False
        save_fitted(self.fitted, folder / "network", {"classes": self.classes})
        return super().keep(folder)

    def take_up(self, folder: Path) -> None:
        super().take_up(folder)
        self.fitted, _ = load_fitted(folder / "network", "cpu")

    def recipes(self) -> Iterator[TrainingRecipe]:
        """One recipe, or every one of the grid."""
        if self.grid == "none":
            yield self.recipe
            return
        grid = packaged.toml("claimlab.detect", "grids.toml")[self.grid]
        for values in product(*grid["tried"].values()):
            tried = dict(zip(grid["tried"], values, strict=True))
            yield replace(self.recipe, **grid["fixed"], **tried)

    def _train(
        self, recipe: TrainingRecipe, examples: Examples, stopping: Examples, seed: int
    ) -> Fitted:
        return train(
            self.model,
            examples,
            stopping,
            recipe=recipe,
            seed=seed,
            device=choose_device(self.device),
            progress=self.progress,
        )

    def _parts(self, train: Part, dev: Part, seed: int) -> tuple[Examples, Examples]:
        """What to train on and what to stop by; without dev, a part of the training rows is kept
        for that.
        """
        place = {c: i for i, c in enumerate(self.classes)}
        texts, y = texts_of(train.records).to_list(), [place[label] for label in train.labels]
        if dev.labels:
            pairs = zip(texts_of(dev.records), dev.labels, strict=True)
            with_class = [(text, place[label]) for text, label in pairs if label in place]
            return (texts, y), (
                [text for text, _ in with_class],
                [number for _, number in with_class],
            )
        stopping = np.random.default_rng(seed).random(len(y)) < SHARE_HELD_OUT
        stopping[np.unique(y, return_index=True)[1]] = False  # every class is trained on
        if not stopping.any():
            return (texts, y), (texts, y)
        rows, others = np.flatnonzero(~stopping), np.flatnonzero(stopping)
        trained, stopping_examples = (
            ([texts[i] for i in part], [y[i] for i in part]) for part in (rows, others)
        )
        return trained, stopping_examples


DETECTOR = FineTunedEncoder
