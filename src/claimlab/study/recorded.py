"""Answers of a model that come with a study: kept under the hashes of their questions, so that no
text of a dataset is among them, and the cells that asked are filled without the model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from claimlab.core import packaged
from claimlab.core.calls.calls import Calls
from claimlab.core.errors import ClaimlabError, UnreadableFile
from claimlab.core.toml_file import OF_OURS, read_json
from claimlab.core.types import JsonObject


class RecordedAnswers(BaseModel):
    """`common` is what all answers share: the model, its standing. What each took is not kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    about: str
    kind: str  # who was asked, as a recording says it
    common: JsonObject
    replies: Mapping[str, str]  # hash of the question -> reply


def read_answers(name: str) -> RecordedAnswers:
    """The answers in the file NAME.json, or those that come with the preset of that name."""
    try:
        if name.endswith(".json"):
            return RecordedAnswers.model_validate(read_json(Path(name), most=OF_OURS))
        text = packaged.text("claimlab.study", f"{name}.json")
        return RecordedAnswers.model_validate_json(text)
    except (OSError, ValidationError, ClaimlabError):
        raise UnreadableFile(
            f"'{name}' holds no recorded answers.", "Check `recorded` in the study file."
        ) from None


def take_in(name: str, cache: Path) -> None:
    """Put the answers into the recording in `cache`; what is recorded there already stays."""
    answers = read_answers(name)
    calls = Calls("record", cache=cache)
    assert calls.recording is not None, "of calls that are recorded"
    calls.recording.take(
        answers.kind, {k: {**answers.common, "text": reply} for k, reply in answers.replies.items()}
    )
    calls.close()


def write_answers(answers: RecordedAnswers, file: Path) -> None:
    file.write_text(
        json.dumps(answers.model_dump(), ensure_ascii=False, indent=0, sort_keys=True) + "\n",
        encoding="utf-8",
    )
