"""Is it true? In two, three or six classes.

The six are PolitiFact's levels, from the source's own label: LIAR and its kin. "Mostly false" is
the level that LIAR calls "barely-true": PolitiFact renamed it in 2011.
"""

from __future__ import annotations

from claimlab.tasks.task import Task, values_of, words_of

MEANING = {
    "true": "What the text claims is true.",
    "mixed": (
        "Part of what the text claims is true and part is false, or it lacks context that"
        " changes it."
    ),
    "false": "What the text claims is false or misleading.",
}
LEVELS = {
    "pants-fire": ("pants fire", "pants on fire"),
    "false": ("false",),
    "barely-true": ("barely true", "mostly false"),
    "half-true": ("half true",),
    "mostly-true": ("mostly true",),
    "true": ("true",),
}

VERACITY = Task(
    name="veracity",
    summary="Is it true or false? Mixed and unknown verdicts are left out.",
    read=values_of("veracity", ("true", "false")),
    classes=("true", "false"),
    meaning={name: MEANING[name] for name in ("true", "false")},
    question="Is what this text claims true or false?",
    positive="false",
)
ENTRIES = [
    VERACITY,
    Task(
        name="veracity-mixed",
        summary="Is it true, mixed or false? Unknown verdicts are left out.",
        read=values_of("veracity", tuple(MEANING)),
        classes=tuple(MEANING),
        meaning=MEANING,
        question="Is what this text claims true, partly true, or false?",
    ),
    Task(
        name="veracity-six",
        summary=(
            "How true, on PolitiFact's six levels, by the source's own label? Other labels are left"
            " out."
        ),
        read=words_of("label_raw", LEVELS),
        classes=tuple(LEVELS),
        meaning={
            "pants-fire": "What the text claims is false and ridiculous.",
            "false": "What the text claims is false.",
            "barely-true": (
                "The text holds some truth but leaves out facts that would give another impression."
            ),
            "half-true": "The text is partly right but lacks details or context.",
            "mostly-true": "What the text claims is right but needs an explanation.",
            "true": "What the text claims is right and nothing important is missing.",
        },
        question="How true is what this text claims?",
    ),
]
