"""A review as a step of a study: the annotators' answers are a file, so that the step can be made
again by anyone.

The first time there are no answers yet: make the review beside the study (`review_create` with the
same options), let annotators answer, and export their decisions (`review_export`); from then on the
study needs that file only.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Unpack

from claimlab.core.dataset import Dataset
from claimlab.core.run import Source
from claimlab.review.apply import review_apply
from claimlab.review.create import review_create
from claimlab.review.files import review_import
from claimlab.review.selection import BatchControl


def reviewed(
    data: Source,
    answers: str | Path,
    *,
    output: str | Path,
    task: str = "keep",
    sample: int | None = None,
    seed: int = 0,
    **control: Unpack[BatchControl],
) -> Dataset:
    """The dataset with the decisions of `answers` applied; with `batch`, by batch control."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "review"
        review = review_create(data, folder, task=task, sample=sample, seed=seed, **control)
        try:
            review_import(review, answers)
            return review_apply(review, output, data)
        finally:
            review.close()
