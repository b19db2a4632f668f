"""A new study file: commented, from a preset. A file that is there is never replaced."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from claimlab.core import packaged
from claimlab.core.choice import one_of
from claimlab.core.errors import OutputExists

DEFAULT = "compare"


def presets() -> dict[str, str]:
    """The presets by name, each with the sentence on its first line."""
    files = resources.files("claimlab.study").joinpath("data")
    found = {}
    for file in sorted(files.iterdir(), key=lambda f: f.name):
        first = file.read_text(encoding="utf-8").splitlines()[0]
        found[file.name.removesuffix(".toml")] = first.lstrip("# ")
    return found


def study_new(file: str | Path, preset: str = DEFAULT) -> Path:
    """Write the preset to `file`, to be edited; an existing file is never replaced."""
    one_of(list(presets()), preset, "preset")
    file = Path(file)
    if file.exists():
        raise OutputExists(file, todo="Choose another file: a study is never replaced.")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(packaged.text("claimlab.study", f"{preset}.toml"), encoding="utf-8")
    return file
