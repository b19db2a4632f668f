"""An Inspect task: questions as JSON Lines, and the few lines of Python that `inspect eval`
runs.
"""

from __future__ import annotations

import re
from pathlib import Path

from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.exchange.format import Format, Road, Settings, Written
from claimlab.exchange.questions import FILE, LOST, write_questions


class Inspect(Format):
    name = "inspect"
    summary = "A task for Inspect: questions with choices, scored by language."
    records = (FILE,)
    then = "inspect eval {}/task.py --model PROVIDER/MODEL --log-format json"
    accepts = frozenset({"task", "split"})
    back = (Road("cl.import_predictions(DATA, LOG)", LOST),)

    def write(
        self, dataset: Dataset, folder: Path, settings: Settings, progress: Progress = silent
    ) -> Written:
        written = write_questions(dataset, folder, settings)
        function = re.sub(r"\W+", "_", dataset.name).strip("_") or "dataset"
        template = packaged.text("claimlab.exchange", "inspect_task.jinja")
        (folder / "task.py").write_text(
            template.replace("{{ function }}", f"claimlab_{function}"), encoding="utf-8"
        )
        return written


FORMAT = Inspect()
