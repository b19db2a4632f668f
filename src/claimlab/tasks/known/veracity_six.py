"""PolitiFact's six levels, from the source's own label: LIAR and its kin.

"Mostly false" is the level that LIAR calls "barely-true": PolitiFact renamed it in 2011.
"""

from __future__ import annotations

from claimlab.tasks.task import Task, words_of

LEVELS = {
    "pants-fire": ("pants fire", "pants on fire"),
    "false": ("false",),
    "barely-true": ("barely true", "mostly false"),
    "half-true": ("half true",),
    "mostly-true": ("mostly true",),
    "true": ("true",),
}
TASK = Task(
    name="veracity-six",
    summary="How true, on PolitiFact's six levels, by the source's own label? Other labels are left out.",
    read=words_of("label_raw", LEVELS),
    classes=tuple(LEVELS),
    meaning={
        "pants-fire": "What the text claims is false and ridiculous.",
        "false": "What the text claims is false.",
        "barely-true": "The text holds some truth but leaves out facts that would give another impression.",
        "half-true": "The text is partly right but lacks details or context.",
        "mostly-true": "What the text claims is right but needs an explanation.",
        "true": "What the text claims is right and nothing important is missing.",
    },
    question="How true is what this text claims?",
)
