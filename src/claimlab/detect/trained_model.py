"""A trained model as a folder: weights as safetensors, the tokenizer, and a JSON file that says
what it is.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from claimlab.core.atomic import atomic_folder
from claimlab.core.guard import refuse_taken, seal_folder
from claimlab.core.types import JsonObject
from claimlab.detect.fine_tuning import Fitted, TrainingRecipe, network_of
from claimlab.detect.pretrained import Device, choose_device, open_model

ABOUT_FILE, HEAD_FILE = "claimlab.json", "head.safetensors"
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
        save_file(head, building / HEAD_FILE)
        trained = {
            "recipe": asdict(fitted.recipe),
            "dev_macro_f1": fitted.score,
            "history": fitted.history,
        }
        content = about | trained
        (building / ABOUT_FILE).write_text(
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

    about = json.loads((folder / ABOUT_FILE).read_bytes())
    recipe = TrainingRecipe(**about["recipe"])
    tokenizer, body = open_model(str(folder))
    network = network_of(body, len(about["classes"]), recipe)
    network.head.load_state_dict(load_file(folder / HEAD_FILE))
    where = choose_device(device)
    fitted = Fitted(
        network.to(where), tokenizer, recipe, where, about["dev_macro_f1"], about["history"]
    )
    return fitted, about["classes"]
