"""An Inspect task: questions as JSON Lines, and the few lines of Python that `inspect eval`
runs.
"""

from __future__ import annotations

from claimlab.exchange.questions import Harness


class Inspect(Harness):
    name = "inspect"
    summary = "A task for Inspect: questions with choices, scored by language."
    then = "inspect eval {}/task.py --model PROVIDER/MODEL --log-format json"
    template, file = "inspect_task.jinja", "task.py"


FORMAT = Inspect()
