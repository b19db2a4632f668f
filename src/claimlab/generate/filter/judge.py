"""The stage of the model judge: features rated from 1 to 5, each held against a threshold by
veracity.

Features and thresholds are rows of data/quality.toml. Where the published thresholds contradict
each other, `reading` names which of the two is applied. An answer that was refused or cannot be
read is "not measured", and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from claimlab.core.progress import Progress, silent
from claimlab.core.types import JsonObject
from claimlab.generate.filter.metric import DOES_NOT_APPLY, Reading, unmeasured, within
from claimlab.generate.filter.texts import Batch, Text
from claimlab.llm.judge import Case, ModelJudge, Opinion, Reasoned
from claimlab.llm.messages import Request, untrusted
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider

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

    def judge(self, *, translated: bool) -> ModelJudge[Reasoned]:
        names = [
            n for n, f in self.features.items() if translated or f["dimension"] != "translation"
        ]
        ratings: JsonObject = dict.fromkeys(names, (Rating, ...))
        schema = create_model("Quality", __base__=Reasoned, **ratings)
        return ModelJudge(self.provider, self.prompt, schema, value=_mean, runs=self.runs)

    def requests(self, batch: Batch) -> list[Request[Any]]:
        """What `readings` would ask, for an estimate."""
        out: list[Request[Any]] = []
        for translated in (False, True):
            out += self.judge(translated=translated).requests(self._cases(batch, translated))
        return out

    def readings(self, batch: Batch, *, progress: Progress = silent) -> dict[str, list[Reading]]:
        """For every feature a reading of each text: the article or claim of a sample answers for
        all its texts.
        """
        out = {name: [DOES_NOT_APPLY] * len(batch.texts) for name in self.features}
        at = {text.id: i for i, text in enumerate(batch.texts)}
        for translated in (False, True):
            cases = self._cases(batch, translated)
            opinions = self.judge(translated=translated).judge(
                cases, progress=progress, label="judging quality"
            )
            for opinion in opinions:
                text = batch.texts[at[opinion.case]]
                for name, feature in self.features.items():
                    if translated or feature["dimension"] != "translation":
                        out[name][at[text.id]] = self._reading(opinion, name, feature, text)
        return out

    def _cases(self, batch: Batch, translated: bool) -> list[Case]:
        wanted = [
            t for t in batch.texts if not t.translated and not t.short and t.text and t.source
        ]
        lines = [f"- {n}: {f['question']}" for n, f in self.features.items()]
        replies = [
            line
            for line, f in zip(lines, self.features.values(), strict=True)
            if translated or f["dimension"] != "translation"
        ]
        system = self.prompt.text("system", features="\n".join(replies))
        return [Case(t.id, system, _data(t)) for t in wanted if bool(t.pair) == translated]

    def _reading(
        self, opinion: Opinion[Reasoned], name: str, feature: JsonObject, text: Text
    ) -> Reading:
        scores = [getattr(reply, name) for reply in opinion.replies if reply is not None]
        if not scores:
            return unmeasured(f"the judge gave no answer: {opinion.failures[0]}")
        value = sum(scores) / len(scores)
        bounds = feature.get(text.veracity or "")
        if bounds is None:
            return unmeasured("neither real nor altered", value)
        bounds = bounds.get(self.reading, bounds)
        return within(
            value, bounds.get("at_least"), bounds.get("at_most"), f"rated {name.replace('_', ' ')}"
        )


def _data(text: Text) -> str:
    log = (
        "\n".join(f"- {c.get('before')!r} became {c.get('after')!r}" for c in text.log or ())
        or "(nothing is logged)"
    )
    parts = [
        f"Labelled: {text.veracity or 'unknown'}. Degree asked for: {text.degree or 'none'}.",
        untrusted(text.source or "", "source"),
        untrusted(text.text or "", "text"),
        untrusted(log, "log"),
    ]
    return "\n\n".join([*parts, *([untrusted(text.pair, "translation")] if text.pair else [])])


def _mean(reply: BaseModel) -> float:
    scores = [value for value in reply.model_dump().values() if isinstance(value, int)]
    return sum(scores) / len(scores)


def features_of(table: JsonObject, only: Sequence[str] = ()) -> dict[str, JsonObject]:
    features: dict[str, JsonObject] = table["judge"]["features"]
    return {name: row for name, row in features.items() if not only or name in only}
