"""A task for lm-evaluation-harness: questions as JSON Lines, and the YAML file that describes
them.
"""

from __future__ import annotations

import re
from pathlib import Path

from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.progress import Progress, silent
from claimlab.exchange.format import Format, Road, Settings, Written
from claimlab.exchange.questions import FILE, LOST, write_questions


class LmEval(Format):
    name = "lm-eval"
    summary = "A task for lm-evaluation-harness: questions with choices, answered by a letter."
    records = (FILE,)
    then = "see the first lines of the YAML file in {}"
    accepts = frozenset({"task", "split"})
    back = (Road("cl.import_predictions(DATA, LOG)", LOST),)

    def write(
        self, dataset: Dataset, folder: Path, settings: Settings, progress: Progress = silent
    ) -> Written:
        written = write_questions(dataset, folder, settings)
        name = "claimlab_" + (re.sub(r"\W+", "_", dataset.name).strip("_") or "dataset")
        template = packaged.text("claimlab.exchange", "lm_eval_task.jinja")
        (folder / f"{name}.yaml").write_text(template.replace("{{ name }}", name), encoding="utf-8")
        return written


FORMAT = LmEval()
