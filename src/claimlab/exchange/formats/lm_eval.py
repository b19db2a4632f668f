"""A task for lm-evaluation-harness: questions as JSON Lines, and the YAML file that describes
them.
"""

from __future__ import annotations

from claimlab.exchange.questions import Harness


class LmEval(Harness):
    name = "lm-eval"
    summary = "A task for lm-evaluation-harness: questions with choices, answered by a letter."
    then = "see the first lines of the YAML file in {}"
    template, file = "lm_eval_task.jinja", "{}.yaml"


FORMAT = LmEval()
