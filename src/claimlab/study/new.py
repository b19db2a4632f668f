"""A new study file: commented, from a preset, or from a run. A file that is there is never
replaced.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from claimlab.core import packaged
from claimlab.core.call import in_storage
from claimlab.core.errors import OutputExists, UnknownName, UsageError
from claimlab.core.trust import allow
from claimlab.study.file import read_study_file
from claimlab.study.from_run import study_of_run
from claimlab.study.needs import needs_of

DEFAULT = "compare"


def presets() -> dict[str, str]:
    """The presets by name, each with the sentence on its first line."""
    files = resources.files("claimlab.study").joinpath("data")
    sentences = {}
    for file in sorted(files.iterdir(), key=lambda f: f.name):
        first = file.read_text(encoding="utf-8").splitlines()[0]
        sentences[file.name.removesuffix(".toml")] = first.lstrip("# ")
    return sentences


@in_storage()
def study_new(
    file: str | Path, preset: str | None = None, *, run: str | Path | None = None
) -> Path:
    """Write a study to `file`, to be edited: a preset, or what made the run in the folder `run`,
    step by step. An existing file is never replaced."""
    if preset is not None and run is not None:
        raise UsageError(
            "A study starts from a preset or from a run.", "Pass one of `preset` and `run`."
        )
    if preset is not None and preset not in presets():
        raise UnknownName("preset", preset, list(presets()))
    file = Path(file)
    if file.exists():
        raise OutputExists(file, todo="Choose another file: a study is never replaced.")
    text = (
        packaged.text("claimlab.study", f"{preset or DEFAULT}.toml")
        if run is None
        else study_of_run(run)
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    allow(file, needs_of(read_study_file(file), file))  # the user had it written
    return file
