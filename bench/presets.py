"""Write the figures on the pages of the presets, and the values by which a test sees that the code
behind them changed.

    python bench/presets.py [NAME ...] [--data ../shared/data] [--from DIR]

Each preset is run whole in `build/presets/NAME`, from the start, and the tables between `<!--
figures: ... -->` and `<!-- end -->` on docs/presets/NAME.md, and on docs/benchmarks/preset-NAME.md
where there is one, are written from there, with the commit and the day; `--from DIR` takes finished
studies, DIR/NAME, instead. Then a small sample of each preset is run, and its values are kept in
tests/study/small.json: tests/study/test_presets.py runs the sample again, and fails where one
differs by more than 0.1.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

from harness import ROOT, begin, parser, shared
from parts.preset_page import written

from claimlab.study.front import study_run
from claimlab.study.grid_tables import words
from claimlab.study.new import study_new
from claimlab.study.run import Grid

PAGES, SMALL = ROOT / "docs" / "presets", ROOT / "tests" / "study" / "small.json"
ONLY = {"bluff": {"seed": "0"}}  # of the whole run
PRESETS = ("bluff", "bluff-each", "cdl-baselines", "evolved-claims", "pt-afc")
LIMITS = {"limit = 100": "limit = 3"}  # seeds to steer
SAMPLES: dict[
    str, list[tuple[dict[str, str], dict[str, str]]]
] = {  # cells to run, and text to change before
    "bluff": [({"dataset": "nlp4if", "part": "Task 1: settings"}, {})],
    "bluff-each": [({"dataset": "nlp4if", "part": "NLP4IF: script"}, {})],
    "cdl-baselines": [
        ({"dataset": "twitter15"}, {}),
        (
            {"dataset": "mm-covid-rationales"},
            {'"verite"]\nsplit': '"verite", "mm-covid-rationales"]\nsplit'},
        ),
    ],
    "evolved-claims": [
        (
            {},
            {
                **LIMITS,
                'train = ["seed", "middle", "evolved"]': 'train = ["seed"]',
                'test = ["vanilla", "noise"]': 'test = ["noise"]',
            },
        ),
    ],
    "pt-afc": [({"dataset": "covid19-br"}, {', "SmolLM2-135M (too small for results)"]': "]"})],
}
RECORDS = 300
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def study_of(preset: str, data: Path, place: Path, changes: dict[str, str]) -> Path:
    """The preset as a file in `place`, with its data in `data`."""
    text = study_new(place / "preset.toml", preset).read_text(encoding="utf-8")
    text = re.sub(r"(?m)^data = .*$", f'data = "{data.as_posix()}"', text)
    for before, after in changes.items():
        text = text.replace(before, after, 1)
    file = place / "study.toml"
    file.write_text(text, encoding="utf-8")
    return file


def small(preset: str, data: Path, place: Path) -> list[Grid]:
    """A small sample of the preset, one seed: all of its code runs, in seconds."""
    grids = []
    for number, (only, changes) in enumerate(SAMPLES[preset]):
        folder = place / str(number)
        folder.mkdir(parents=True)
        trial = {
            "# sample = ": f"sample = {RECORDS} # ",
            "seeds = [0, 1, 2]": "seeds = [0]",
            **changes,
        }
        grids.append(
            study_run(study_of(preset, data, folder, trial), folder / "out", only=only, trust=True)
        )
    return grids


def values(grids: list[Grid]) -> dict[str, Any]:
    """The figures of studies, rounded: macro-F1 of each setting, and the numbers in each row of the
    tables of steps.
    """
    figures: dict[str, Any] = {}
    for grid in grids:
        figures |= {
            words(e.axes): round(100 * e.macro_f1, 1)
            for e in grid.entries
            if e.macro_f1 is not None
        }
        for title, table in grid.tables:
            figures[title] = [
                [_numbers(getattr(value, "text", value)) for value in row] for row in table.rows
            ]
    return figures


def _numbers(text: object) -> list[float]:
    """The numbers in a cell, less those in parentheses: they are published ones."""
    bare = re.sub(r"\([^)]*\)", "", str(text))
    return [round(float(number.replace(",", "")), 1) for number in NUMBER.findall(bare)]


def stamp(minutes: float | None) -> str:
    """Which code made the figures, and when."""
    commit = _git("rev-parse", "--short=10", "HEAD")
    changed = " with changes" if _git("status", "--porcelain", "src") else ""
    took = "" if minutes is None else f", {minutes:.0f} minutes of processor time"
    return (
        f"Figures of commit {commit}{changed}, {datetime.now(UTC):%d %B %Y}{took}; `make presets`"
        " writes them again."
    )


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def whole(preset: str, data: Path) -> tuple[Path, float]:
    """The folder of the finished study, and the minutes of processor time that it took."""
    place = ROOT / "build" / "presets" / preset
    shutil.rmtree(place, ignore_errors=True)  # steps know the version of claimlab, not its commit
    place.mkdir(parents=True)
    start = process_time()
    study_run(
        study_of(preset, data, place, {}), place / "out", only=ONLY.get(preset, {}), trust=True
    )
    return place / "out", (process_time() - start) / 60


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("presets", nargs="*", help="only these presets", metavar="NAME")
    made.add_argument("--from", dest="finished", type=Path, help="folder with finished studies")
    options = begin(made)
    data = shared(folder=options.data).resolve()
    os.environ.setdefault("CLAIMLAB_CL100K", str(data / "cl100k_base.tiktoken"))
    for preset in options.presets or PRESETS:
        folder, minutes = (
            (options.finished / preset, None) if options.finished else whole(preset, data)
        )
        more = PAGES.with_name("benchmarks") / f"preset-{preset}.md"
        for page in (PAGES / f"{preset}.md", *([more] if more.is_file() else [])):
            text = written(page.read_text(encoding="utf-8"), folder, stamp(minutes))
            page.write_text(text, encoding="utf-8")
            print(f"Wrote the figures of {page.relative_to(ROOT)}.", flush=True)
        with tempfile.TemporaryDirectory(prefix="claimlab-presets-") as place:
            kept = json.loads(SMALL.read_text(encoding="utf-8")) if SMALL.is_file() else {}
            kept[preset] = values(small(preset, data, Path(place)))
            SMALL.write_text(
                json.dumps(kept, ensure_ascii=False, indent=1, sort_keys=True) + "\n",
                encoding="utf-8",
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
