"""How well two annotators agree beyond chance."""

from __future__ import annotations

from collections.abc import Sequence


def kappa(one: Sequence[object], other: Sequence[object]) -> float | None:
    """Cohen's kappa, by scikit-learn; null where chance explains everything, as when both always give one answer."""
    from sklearn.metrics import cohen_kappa_score

    number = {value: i for i, value in enumerate(dict.fromkeys([*one, *other]))}
    if len(number) < 2:
        return None
    return float(cohen_kappa_score([number[v] for v in one], [number[v] for v in other]))
