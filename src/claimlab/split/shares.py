"""How much of the data goes to train, dev and test: "70/10/20", or "80/20" for no dev."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from claimlab.core.errors import UsageError

Side = Literal["train", "dev", "test"]
SIDES: tuple[Side, ...] = ("train", "dev", "test")
TODO = "Write train/dev/test such as 70/10/20, or train/test such as 80/20."


@dataclass(frozen=True)
class Shares:
    """Fractions that add up to one. Train and test are never empty; dev may be."""

    train: float
    dev: float
    test: float

    def __post_init__(self) -> None:
        shares = (self.train, self.dev, self.test)
        if not all(math.isfinite(share) and share >= 0 for share in shares) or not (
            self.train and self.test
        ):
            raise UsageError(f"{self} are not valid shares.", TODO)
        if not math.isclose(sum(shares), 1, abs_tol=1e-6):
            raise UsageError(
                f"The shares {self} add up to {100 * sum(shares):g}.", "Make them add up to 100."
            )

    @classmethod
    def parse(cls, text: str) -> Shares:
        """Two numbers (train/test) or three (train/dev/test), in percent or as fractions: 80/10/10,
        0.8/0.1/0.1.
        """
        try:
            numbers = [float(part) for part in text.split("/")]
        except ValueError:
            numbers = []
        if len(numbers) == 2:
            numbers.insert(1, 0.0)
        if len(numbers) != 3:
            raise UsageError(f"'{text}' are not valid shares.", TODO)
        fractions = math.isclose(sum(numbers), 1, abs_tol=1e-6)
        return cls(*(n if fractions else n / 100 for n in numbers))

    def __str__(self) -> str:
        return "/".join(f"{100 * share:g}" for share in (self.train, self.dev, self.test))

    @property
    def of_rest(self) -> tuple[float, float]:
        """Train and dev as shares of what is not test."""
        rest = self.train + self.dev
        return self.train / rest, self.dev / rest


DEFAULT = Shares(0.7, 0.1, 0.2)
