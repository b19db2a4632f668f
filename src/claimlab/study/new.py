"""A new study file: commented, or from a preset. A file that is there is never replaced."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

from claimlab.core import packaged
from claimlab.core.call import in_storage
from claimlab.core.errors import OutputExists, UnknownName
from claimlab.core.grants import allow
from claimlab.core.options import Argument, Option, Place
from claimlab.study.file import read_study_file
from claimlab.study.received import wanted_by

DEFAULT = "compare"


def presets() -> dict[str, str]:
    """The presets by name, each with the sentence on its first line."""
    files = resources.files("claimlab.study").joinpath("data").iterdir()
    studies = [file for file in files if file.name.endswith(".toml")]
    texts = {file.name.removesuffix(".toml"): file.read_text("utf-8") for file in studies}
    return {name: text.splitlines()[0].lstrip("# ") for name, text in sorted(texts.items())}


@in_storage()
def study_new(
    file: Annotated[Place, Argument("The file to write.")],
    preset: Annotated[str | None, Option("What to start from; see --presets.")] = None,
) -> Path:
    """Write a commented study file to edit. An existing file is never replaced."""
    if preset is not None and preset not in presets():
        raise UnknownName("preset", preset, list(presets()))
    file = Path(file)
    if file.exists():
        raise OutputExists(file, todo="Choose another file: a study is never replaced.")
    file.parent.mkdir(parents=True, exist_ok=True)
    text = packaged.text("claimlab.study", f"{preset or DEFAULT}.toml")
    file.write_text(text, "utf-8")
    allow(file, wanted_by(read_study_file(file), file))  # the user had it written
    return file
