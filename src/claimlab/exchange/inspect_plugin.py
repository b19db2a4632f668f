"""The extension of Inspect: a scorer that gives macro-F1, and the samples of a task for an audit.

    Task(dataset=..., solver=multiple_choice(), scorer=verdict())
    cl.audit(sample_rows(task.dataset))

Where claimlab is installed beside Inspect, its entry point `inspect_ai` registers the scorer:
`inspect score LOG --scorer claimlab/verdict`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from inspect_ai.scorer import Score, accuracy, choice, metric, scorer, stderr

from claimlab.core.stats import scores as of_counts
from claimlab.files.predictions import of_letter


def sample_rows(samples: Iterable[Any]) -> list[dict[str, Any]]:
    """The samples of a task as records: question, right answer in words, plain metadata."""
    return [_row(sample) for sample in samples]


def _row(sample: Any) -> dict[str, Any]:
    question = sample.input
    if not isinstance(question, str):
        question = question[-1].text
    target = sample.target if isinstance(sample.target, str) else ", ".join(sample.target)
    metadata = sample.metadata or {}
    plain = {
        name: value for name, value in metadata.items() if isinstance(value, str | int | float)
    }
    return {
        **plain,
        "id": sample.id,
        "text": question,
        "label": _word(target, metadata.get("classes") or sample.choices or []),
    }


def _word(letter: str, choices: Sequence[str]) -> str:
    """The choice that a letter stands for; otherwise the answer as it is."""
    return of_letter(letter, choices) or letter


def _macro_f1() -> Any:
    def measure(scores: Sequence[Any]) -> float:
        pairs = [(one.score.metadata["truth"], one.score.metadata["answer"]) for one in scores]
        classes = sorted({truth for truth, _ in pairs})
        places = {word: place for place, word in enumerate(classes)}
        truth = np.array([places[word] for word, _ in pairs])
        answers = np.array([places.get(word, len(classes)) for _, word in pairs])
        return float(of_counts.macro_f1(of_counts.confusion(truth, answers, len(classes), extra=1)))

    return measure


macro_f1 = metric(name="macro_f1")(_macro_f1)


def _verdict() -> Any:
    by_letter = choice()

    async def score(state: Any, target: Any) -> Score:
        letters = await by_letter(state, target)
        words = [one.value for one in state.choices]
        answer = _word(letters.answer or "", words)
        verdicts = {"truth": _word(target.text, words), "answer": answer}
        return letters.model_copy(update={"metadata": verdicts})

    return score


verdict = scorer(metrics=[accuracy(), stderr(), macro_f1()], name="verdict")(_verdict)
