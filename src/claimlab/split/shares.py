"""How much of the data goes to train, dev and test: "70/10/20", or "80/20" for no dev."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from claimlab.core.errors import UsageError

Side = Literal["train", "dev", "test"]
SIDES: tuple[Side, ...] = ("train", "dev", "test")


@dataclass(frozen=True)
class Shares:
    """Fractions that sum to one. Train and test are never empty; dev may be."""

    train: float
    dev: float
    test: float

    @classmethod
    def parse(cls, text: str) -> Shares:
        """Two numbers (train/test) or three (train/dev/test), in any unit: 80/10/10, 0.8/0.1/0.1, 4/1."""
        try:
            numbers = [float(part) for part in text.split("/")]
        except ValueError:
            numbers = []
        if len(numbers) == 2:
            numbers.insert(1, 0.0)
        usable = len(numbers) == 3 and all(math.isfinite(n) and n >= 0 for n in numbers)
        if not usable or numbers[0] <= 0 or numbers[2] <= 0:
            raise UsageError(
                f"'{text}' are no shares.", "Write train/dev/test such as 70/10/20, or train/test such as 80/20."
            )
        total = sum(numbers)
        return cls(*(n / total for n in numbers))

    def __str__(self) -> str:
        return "/".join(f"{100 * share:g}" for share in (self.train, self.dev, self.test))

    @property
    def of_rest(self) -> tuple[float, float]:
        """Train and dev as shares of what is not test."""
        rest = self.train + self.dev
        return self.train / rest, self.dev / rest


DEFAULT = Shares(0.7, 0.1, 0.2)
