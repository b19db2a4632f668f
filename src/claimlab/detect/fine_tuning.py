"""Fine-tune a transformer encoder with a linear head: AdamW, linear warm-up and decay, stopped
early by macro-F1 on dev. One loop of our own instead of a framework's: a page that can be read,
with every setting in one place. The same seed gives the same model on a CPU; on a GPU as far as its
kernels allow. Nothing here reads a record table, so that training runs on a machine that has
PyTorch and little else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.scores import Floats, Ints, macro_f1_of
from claimlab.core.types import JsonObject
from claimlab.detect.pretrained import (
    Module,
    Tensor,
    Tokenizer,
    open_model,
    require_torch,
)
from claimlab.detect.token_batches import Tokens

TEXTS_PER_BATCH = 64


Pooling = Literal["mean", "first"]
Examples = tuple[Sequence[str], Sequence[int]]  # texts, and their classes as numbers


@dataclass(frozen=True)
class TrainingRecipe:
    """How to train. `balanced` weighs the classes alike; `steps` caps the training for trying
    things out.
    """

    learning_rate: float = 5e-5
    epochs: int = 5
    batch: int = 16
    dropout: float = 0.1
    max_length: int = 256
    warmup: float = 0.06
    weight_decay: float = 0.01
    patience: int = 3
    threshold: float = 0.001
    pooling: Pooling = "mean"
    balanced: bool = True
    steps: int | None = None

    def __post_init__(self) -> None:
        for name in ("learning_rate", "epochs", "batch", "max_length", "patience", "steps"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(
                    f"An encoder cannot be trained with {name}={value}.", "Give a number above 0."
                )
        if not 0 <= self.dropout < 1:
            raise UsageError(
                f"The setting 'dropout' cannot be {self.dropout}.",
                "Give a number from 0 to below 1.",
            )


@dataclass
class Fitted:
    """A trained model, with the dev score that it was kept for and the score after every epoch."""

    network: Module
    tokenizer: Tokenizer
    recipe: TrainingRecipe
    device: str
    score: float = -1.0
    history: list[float] = field(default_factory=list)

    def logits(self, texts: Sequence[str], progress: Progress = silent) -> Floats:
        """One row of unscaled scores per text."""
        return self._read(Tokens.of(self.tokenizer, texts, self.recipe.max_length), progress)

    def _read(self, tokens: Tokens, progress: Progress = silent) -> Floats:
        torch = require_torch()
        out = np.zeros((len(tokens), self.network.head.out_features))
        self.network.eval()
        read = 0
        with torch.inference_mode(), _precision(torch, self.device):
            for rows in tokens.in_order(TEXTS_PER_BATCH):
                out[rows] = self.network(*tokens.batch(rows, self.device)).float().cpu().numpy()
                read += len(rows)
                progress("reading", read, len(tokens))
        return out


def network_of(body: Module, classes: int, recipe: TrainingRecipe) -> Module:
    """The encoder with a pooled linear head. Made in a function because its base class needs
    PyTorch.
    """
    torch = require_torch()

    class Network(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.body = body
            self.dropout = torch.nn.Dropout(recipe.dropout)
            self.head = torch.nn.Linear(body.config.hidden_size, classes)

        def forward(self, numbers: Tensor, mask: Tensor) -> Tensor:
            hidden = self.body(input_ids=numbers, attention_mask=mask).last_hidden_state
            return self.head(self.dropout(pooled(hidden, mask, recipe.pooling)))

    return Network()


def pooled(hidden: Tensor, mask: Tensor, pooling: Pooling) -> Tensor:
    """One vector per text: the mean over its tokens, or the first token's."""
    if pooling == "first":
        return hidden[:, 0]
    wide = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * wide).sum(1) / wide.sum(1).clamp(min=1)


def train(
    model: str,
    examples: Examples,
    dev: Examples,
    *,
    recipe: TrainingRecipe,
    seed: int,
    device: str,
    progress: Progress = silent,
) -> Fitted:
    """The model after its best epoch on dev. Labels are class numbers from 0."""
    torch = require_torch()
    texts, labels = examples
    classes = max(labels) + 1
    with _seeded(torch, seed):
        tokenizer, body = open_model(model)
        network = network_of(body, classes, recipe).to(device)
        fitted = Fitted(network, tokenizer, recipe, device)
        tokens = Tokens.of(tokenizer, texts, recipe.max_length)
        dev_tokens = Tokens.of(tokenizer, dev[0], recipe.max_length)
        step = _stepper(torch, network, tokens, np.asarray(labels), classes, recipe, device)
        _epochs(
            fitted,
            tokens,
            step,
            lambda: macro_f1_of(dev[1], fitted._read(dev_tokens).argmax(1)),
            seed,
            progress,
        )
    return fitted


def _epochs(
    fitted: Fitted,
    tokens: Tokens,
    step: Callable[[list[int]], None],
    judge: Callable[[], float],
    seed: int,
    progress: Progress,
) -> None:
    """Train until dev has not improved for `patience` epochs, then go back to the best weights."""
    recipe, best, waited, steps_taken = fitted.recipe, None, 0, 0
    rng = np.random.default_rng(seed)
    total = _steps(tokens, recipe)
    for _ in range(recipe.epochs):
        fitted.network.train()
        for rows in tokens.shuffled(recipe.batch, rng)[: total - steps_taken]:
            step(rows)
            steps_taken += 1
            progress("training", steps_taken, total)
        score = judge()
        fitted.history.append(score)
        if best is None or score > fitted.score + recipe.threshold:
            fitted.score, waited = score, 0
            best = {k: v.detach().cpu().clone() for k, v in fitted.network.state_dict().items()}
        else:
            waited += 1
        if waited >= recipe.patience or steps_taken >= total:
            break
    if best is not None:
        fitted.network.load_state_dict(best)


def _stepper(
    torch: Module,
    network: Module,
    tokens: Tokens,
    y: Ints,
    classes: int,
    recipe: TrainingRecipe,
    device: str,
) -> Callable[[list[int]], None]:
    """One optimiser step on one batch, the learning rate moved along with it."""
    optimiser = torch.optim.AdamW(
        _groups(network, recipe), lr=recipe.learning_rate, betas=(0.9, 0.999), eps=1e-8
    )
    total = _steps(tokens, recipe)
    rate = _rate(max(1, round(recipe.warmup * total)), total)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    counts = np.bincount(y, minlength=classes)
    weight = (
        torch.tensor(len(y) / (classes * np.maximum(counts, 1)), dtype=torch.float32)
        if recipe.balanced
        else None
    )
    loss_of = torch.nn.CrossEntropyLoss(weight=weight).to(device)
    answers = torch.from_numpy(y)

    def step(rows: list[int]) -> None:
        with _precision(torch, device):
            logits = network(*tokens.batch(rows, device))
        loss = loss_of(logits.float(), answers[rows].to(device))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad(set_to_none=True)

    return step


def _steps(tokens: Tokens, recipe: TrainingRecipe) -> int:
    whole = recipe.epochs * -(-len(tokens) // recipe.batch)
    return whole if recipe.steps is None else min(whole, recipe.steps)


def _rate(warm: int, total: int) -> Callable[[int], float]:
    """Up in a line to the full rate, then down in a line to nothing."""

    def at(step: int) -> float:
        return (step + 1) / warm if step < warm else max(0.0, (total - step) / max(1, total - warm))

    return at


def _groups(network: Module, recipe: TrainingRecipe) -> list[JsonObject]:
    """Biases and the scales of normalisation are not pulled towards zero."""
    groups: dict[float, list[Tensor]] = {recipe.weight_decay: [], 0.0: []}
    for name, parameter in network.named_parameters():
        plain = parameter.ndim < 2 or name.endswith("bias")
        groups[0.0 if plain else recipe.weight_decay].append(parameter)
    return [{"params": some, "weight_decay": decay} for decay, some in groups.items()]


def _precision(torch: Module, device: str) -> Module:
    """Half precision (bfloat16, which needs no scaling of the loss) on a GPU; single elsewhere."""
    return torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda")


@contextmanager
def _seeded(torch: Module, seed: int) -> Iterator[None]:
    """PyTorch's random state set for the block, and given back as it was."""
    with torch.random.fork_rng(devices=list(range(torch.cuda.device_count()))):
        torch.manual_seed(seed)
        yield
