"""The stage of the model judge: features rated from 1 to 5, each compared with a threshold by
veracity.

Features and thresholds are rows of data/quality.toml. Where the published thresholds contradict
each other, `reading` names which of the two is applied. An answer that was refused or cannot be
read is "not measured", and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, create_model

from claimlab.core.types import JsonObject
from claimlab.llm.judge import JudgeCase, ModelJudge, Opinion, Reasoned, fenced
from claimlab.llm.messages import Request
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider
from claimlab_simulate.generate.filter.batch import Batch, SampleText
from claimlab_simulate.generate.filter.reading import DOES_NOT_APPLY, Reading, unmeasured, within
from claimlab_simulate.generate.filter.verdict import QualityGate

PROMPT = "quality"
Rating = Annotated[int, Field(ge=1, le=5)]


@dataclass(frozen=True)
class Panel:
    """A judge for samples with a translation and one for those without: what is not there is not
    asked about.
    """

    provider: Provider
    prompt: Prompt
    features: dict[str, JsonObject]
    runs: int = 1
    reading: str = "table"

    def parameters(self) -> JsonObject:
        """For lineages and run keys."""
        return self.judge(translated=True).parameters()

    def judge(self, *, translated: bool) -> ModelJudge[Reasoned]:
        ratings: JsonObject = dict.fromkeys(self._asked(translated), (Rating, ...))
        schema = create_model("Quality", __base__=Reasoned, **ratings)
        return ModelJudge(self.provider, self.prompt, schema, value=_mean, runs=self.runs)

    def requests(self, batch: Batch) -> Iterator[Request[BaseModel]]:
        """What `gates` would ask, for an estimate."""
        for translated in (False, True):
            yield from self.judge(translated=translated).requests(self._cases(batch, translated))

    def gates(self, batch: Batch) -> list[QualityGate]:
        """For every feature a reading of each text: the article or claim of a sample answers for
        all its texts.
        """
        out = {name: [DOES_NOT_APPLY] * len(batch.texts) for name in self.features}
        place = {text.id: at for at, text in enumerate(batch.texts)}
        for translated in (False, True):
            judge, cases = self.judge(translated=translated), self._cases(batch, translated)
            for opinion in judge.judge(cases, label="judging quality"):
                at = place[opinion.case]
                for name in self._asked(translated):
                    out[name][at] = self._reading(opinion, name, batch.texts[at])
        return [
            QualityGate(
                f"judge {name.replace('_', ' ')}", "judge", self.features[name]["dimension"], rows
            )
            for name, rows in out.items()
        ]

    def _asked(self, translated: bool) -> list[str]:
        """The features that a judge rates."""
        return [
            name
            for name, feature in self.features.items()
            if translated or feature["dimension"] != "translation"
        ]

    def _cases(self, batch: Batch, translated: bool) -> list[JudgeCase]:
        lines = [f"- {name}: {self.features[name]['question']}" for name in self._asked(translated)]
        system = self.prompt.text("system", features="\n".join(lines))
        return [
            JudgeCase(text.id, system, _data(text))
            for text in batch.texts
            if text.comparable and text.text and text.source and bool(text.pair) == translated
        ]

    def _reading(self, opinion: Opinion[Reasoned], name: str, text: SampleText) -> Reading:
        scores = [getattr(reply, name) for reply in opinion.replies if reply is not None]
        if not scores:
            return unmeasured(f"the judge gave no answer: {opinion.failures[0]}")
        value = sum(scores) / len(scores)
        bounds = self.features[name].get(text.veracity or "")
        if bounds is None:
            return unmeasured("neither real nor altered", value)
        bounds = bounds.get(self.reading, bounds)
        return within(
            value, bounds.get("at_least"), bounds.get("at_most"), f"rated {name.replace('_', ' ')}"
        )


def _data(text: SampleText) -> str:
    log = [
        f"- {change.get('before')!r} became {change.get('after')!r}" for change in text.log or ()
    ]
    about = f"Labelled: {text.veracity or 'unknown'}. Degree asked for: {text.degree or 'none'}."
    parts = {
        "source": text.source or "",
        "text": text.text or "",
        "log": "\n".join(log) or "(nothing is logged)",
    }
    if text.pair:
        parts["translation"] = text.pair
    return f"{about}\n\n{fenced(parts)}"


def _mean(reply: BaseModel) -> float:
    scores = [value for value in reply.model_dump().values() if isinstance(value, int)]
    return sum(scores) / len(scores)
