"""FUSE-EVAL: a model scores how far a text has moved from its base claim, in six dimensions.

The paper and its code differ, so both readings are here by name: the scale (`1-10` in the paper,
`0-10` in the code) and what PD stands for (`paraphrasing degree` in the paper, `perspective
deviation` in the code). An answer that cannot be read is null and counted; the code makes it 0,
which would read as "nothing moved".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from pydantic import BaseModel, Field, create_model

from claimlab.core.errors import check_name
from claimlab.core.types import JsonObject
from claimlab.llm.judge import Reasoned

FIVE = (
    "sentiment_shift",
    "new_information",
    "certainty_shift",
    "stylistic_shift",
    "temporal_shift",
)
PRESETS = {"paper": ("1-10", "paraphrasing-degree"), "released": ("0-10", "perspective-deviation")}
TOTAL = "total_deviation"
PROMPT = "fuse-eval"


@dataclass(frozen=True)
class FuseReading:
    """One way to read the definition of FUSE-EVAL."""

    scale: str = "1-10"
    pd: str = "paraphrasing-degree"

    @classmethod
    def named(cls, name: str) -> FuseReading:
        check_name("reading of FUSE-EVAL", name, PRESETS)
        return cls(*PRESETS[name])

    @property
    def dimensions(self) -> tuple[str, ...]:
        return (*FIVE, self.pd.replace("-", "_"))

    @property
    def bounds(self) -> tuple[int, int]:
        low, _, high = self.scale.partition("-")
        return int(low), int(high)


@cache
def schema_of(reading: FuseReading) -> type[Reasoned]:
    low, high = reading.bounds
    fields: JsonObject = {name: (int, Field(ge=low, le=high)) for name in reading.dimensions}
    return create_model(
        f"FuseEval_{reading.scale}_{reading.pd}".replace("-", "_"), __base__=Reasoned, **fields
    )


def dimension_scores(reply: BaseModel) -> dict[str, int]:
    return reply.model_dump(exclude={"rationale"})


def mean_score(reply: BaseModel) -> float:
    return float(np.mean(list(dimension_scores(reply).values())))
