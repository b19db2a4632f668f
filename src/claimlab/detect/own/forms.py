"""What a function of texts may return, as one answer for each text: labels, shares by class, rows
of shares in the order of its classes, or what a Hugging Face pipeline gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

_HOW = "Return for each text a label, or a dictionary such as {'false': 0.8, 'true': 0.2}."


class TextFunction(Protocol):
    """A label, or shares of the classes, for each text."""

    def __call__(self, texts: list[str], /) -> object: ...


class FittedModel(Protocol):
    """A model that was trained on texts, as scikit-learn has them."""

    def predict(self, texts: list[str], /) -> object: ...


@dataclass(frozen=True)
class OwnAnswer:
    """A label in the words of the function, and its scores by the words of their classes."""

    label: str | None
    scores: dict[str, float] = field(default_factory=dict)


class OddAnswer(Exception):
    """What a function returned cannot be read; the message says why and what to return."""


def function_of(subject: object) -> Callable[[list[str]], list[OwnAnswer]]:
    """A function, an estimator or a pipeline as what answers texts."""
    predict_proba = getattr(subject, "predict_proba", None)
    if callable(predict_proba):
        return lambda texts: answers_of(predict_proba(texts), len(texts), _classes(subject))
    if callable(subject):
        return lambda texts: answers_of(subject(texts), len(texts), _classes(subject))
    predict = getattr(subject, "predict", None)
    if callable(predict):
        return lambda texts: answers_of(predict(texts), len(texts), _classes(subject))
    raise OddAnswer(
        f"An object of type {type(subject).__name__} is not a function of texts, and has no"
        " predict_proba or predict."
    )


def _classes(subject: object) -> tuple[str, ...]:
    """The names in which an estimator, or a function with `classes`, orders its shares."""
    names = getattr(subject, "classes_", getattr(subject, "classes", ()))
    return tuple(map(str, plain(names) or ()))


def plain(value: Any) -> Any:
    """Arrays and numbers of NumPy, PyTorch and Polars as those of Python."""
    if hasattr(value, "to_dicts"):
        return value.to_dicts()
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return value.to_dict("records")
    if hasattr(value, "tolist"):
        return value.tolist()
    return value.to_list() if hasattr(value, "to_list") else value


def answers_of(returned: Any, texts: int, classes: Sequence[str] = ()) -> list[OwnAnswer]:
    """One answer for each text."""
    rows = plain(returned)
    if isinstance(rows, str | Mapping) or not isinstance(rows, Sequence):
        raise OddAnswer(f"It returned {_shown(rows)} for {texts} texts, not one for each. {_HOW}")
    if len(rows) != texts:
        raise OddAnswer(f"It returned {len(rows)} answers for {texts} texts. {_HOW}")
    return [_answer(plain(row), classes) for row in rows]


def _answer(row: Any, classes: Sequence[str]) -> OwnAnswer:
    if row is None or isinstance(row, str | bool):
        return OwnAnswer(None if row is None else str(row))
    if isinstance(row, int) and not classes:
        return OwnAnswer(str(row))
    if isinstance(row, int):
        return OwnAnswer(classes[row] if str(row) not in classes else str(row))
    if isinstance(row, Mapping):
        return _of_mapping(row)
    if isinstance(row, Sequence) and row:
        return _of_row(list(map(plain, row)), classes)
    raise OddAnswer(f"It returned {_shown(row)}: of which class? {_HOW}")


def _of_mapping(row: Mapping[Any, Any]) -> OwnAnswer:
    if row.keys() == {"label", "score"}:
        return OwnAnswer(str(row["label"]), {str(row["label"]): _number(row["score"])})
    if not row:
        return OwnAnswer(None)
    scores = {str(name): _number(share) for name, share in row.items()}
    return OwnAnswer(max(scores, key=scores.__getitem__), scores)


def _of_row(row: list[Any], classes: Sequence[str]) -> OwnAnswer:
    if all(isinstance(part, Mapping) and part.keys() == {"label", "score"} for part in row):
        return _of_mapping({part["label"]: part["score"] for part in row})
    if len(row) == 2 and isinstance(row[0], str):
        return OwnAnswer(row[0], {row[0]: _number(row[1])})
    if len(row) != len(classes):
        raise OddAnswer(
            f"It returned {len(row)} numbers for a text, in the order of no known classes. {_HOW}"
            " A function may say their order, as in predict.classes = ['false', 'true']."
        )
    return _of_mapping(dict(zip(classes, row, strict=True)))


def _number(value: Any) -> float:
    try:
        return float(plain(value))
    except (TypeError, ValueError):
        raise OddAnswer(f"It returned {_shown(value)} where a share should be. {_HOW}") from None


def _shown(value: object) -> str:
    return f"{str(value)[:40]!r} ({type(value).__name__})"
