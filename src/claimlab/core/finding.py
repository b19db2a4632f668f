"""What a check found. Finding and wording are two jobs: this is the data, the report floor words
and draws it.
"""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from claimlab.core.types import Json

# What cannot be told is "not measured"; a column that is not there is "not applicable".
Verdict = Literal["fail", "warn", "inconclusive", "pass", "not-measured", "not-applicable"]
UNMEASURED: tuple[Verdict, ...] = ("not-measured", "not-applicable")
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)  # the most severe first
RECORDS_KEPT = 5_000  # ids of records that a finding keeps


class Baselines(BaseModel):
    """Macro-F1 (0-1) of answering with the majority class, of drawing from the label distribution,
    and of the same check on permuted labels (the mean over permutations); where another text of the
    records is tested, that of the same model on their own text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    majority: float | None = None
    stratified: float | None = None
    shuffled: float | None = None
    own_text: float | None = None

    @model_serializer(mode="wrap")
    def _without_own_text(self, plain: SerializerFunctionWrapHandler) -> dict[str, float | None]:
        """Few findings have the fourth baseline: the others do not name it."""
        written: dict[str, float | None] = plain(self)
        return {
            name: value
            for name, value in written.items()
            if name != "own_text" or value is not None
        }

    def best(self) -> float | None:
        values = [value for value in vars(self).values() if value is not None]
        return max(values, default=None)


class Finding(BaseModel):
    """One result of one check under one protocol. "Not measured" and "inconclusive" are never a
    pass.

    `difference` is the score less its best baseline; the verdict comes from its interval and from
    `p_adjusted`. Findings with the same `fact` measure one thing: an audit shows the most severe,
    with the `others` inside.
    """

    model_config = ConfigDict(extra="forbid")

    check: str
    protocol: str
    verdict: Verdict
    why: str
    score: float | None = None
    baselines: Baselines = Baselines()
    interval: tuple[float, float] | None = None
    difference: float | None = None
    difference_interval: tuple[float, float] | None = None
    margin: float | None = None  # the difference that separates a fail from a warn
    p: float | None = None
    p_adjusted: float | None = None  # for the number of tests in the audit (Benjamini-Hochberg)
    permutations: int | None = None
    moved: float | None = None  # share of labels that a permutation moved
    # the share that relabelling without regard to groups would move
    moved_freely: float | None = None
    n: int = 0
    classes: dict[str, int] = {}
    feature: str | None = None  # the column or feature group when a check yields several findings
    records: list[str] = []  # ids to look at, the first `RECORDS_KEPT`
    records_in_all: int | None = None  # how many there are, where more than are kept
    fact: str | None = None
    others: list[Finding] = []
    details: dict[
        str, Json
    ] = {}  # tables behind the finding (words with counts, purity, ...), JSON-safe

    @model_validator(mode="after")
    def _honest(self) -> Finding:
        if not self.why.strip():
            raise ValueError("a finding needs a sentence of why")
        if self.verdict in UNMEASURED and self.score is not None:
            raise ValueError("a finding that was not measured has no score")
        if len(self.records) > RECORDS_KEPT:
            self.records_in_all, self.records = len(self.records), self.records[:RECORDS_KEPT]
        return self

    @property
    def severity(self) -> tuple[int, float]:
        """What sorts the most severe verdict first, and then the highest score."""
        return VERDICTS.index(self.verdict), -(self.score or 0.0)

    @property
    def pointed_at(self) -> int:
        """How many records the finding points at."""
        return self.records_in_all or len(self.records)

    @property
    def p_is_fitted(self) -> bool | None:
        """Whether no permutation came as high as the score: then p is the tail of a curve fitted to
        them (`permutation_p`), smaller than a count of so few could be.
        """
        return None if self.p is None else self.p < 1 / (1 + (self.permutations or 0))

    @property
    def every(self) -> list[Finding]:
        """This finding and the other measurements of the same fact."""
        return [self, *self.others]
