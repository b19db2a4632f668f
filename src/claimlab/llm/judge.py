"""One judge for everything that a model is asked to judge: contradiction, feasibility, drift,
verdicts, worth, quality.

A judge is a prompt, a schema whose first field is the rationale, and how often it is asked; a room
brings these, the cases, and what it makes of the answers. Scores of several runs are averaged,
words counted. It reports the cost, how far its own runs agree, and the outcome of every question: a
refusal or a reply that cannot be read is null, and counted. What it is worth is for the caller to
say, who compares it with annotators, or marks it unvalidated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Generic

from pydantic import BaseModel

from claimlab.core.errors import UsageError
from claimlab.core.stats.agreement import alpha_of, figure, patterns
from claimlab.core.types import JsonObject
from claimlab.llm.asking import Tally, gather_sync
from claimlab.llm.messages import Answer, Message, Request, T, untrusted
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider

# temperature when one judge is asked several times: at 0 it would only repeat itself
AGAIN_TEMPERATURE = 0.7


Value = float | str


class Reasoned(BaseModel):
    """The start of every schema of a judge: the rationale is written first, so that the verdict
    follows from it.
    """

    rationale: str


@dataclass(frozen=True)
class JudgeCase:
    """What is put before a judge. The fixed words come first (`system`), the data of this case last
    (`data`). The rationale is to be in the language of `text`, where that is given.
    """

    id: str
    system: str
    data: str
    text: str | None = None


@dataclass
class Opinion(Generic[T]):
    """What a judge thinks of one case over all its runs. `value` is null when no run brought an
    answer.
    """

    case: str
    value: Value | None = None
    runs: list[Value] = field(default_factory=list)
    replies: list[T | None] = field(default_factory=list)  # run by run; null where one failed
    failures: list[str] = field(default_factory=list)
    detail: str | None = None
    cost: float | None = None

    @property
    def reply(self) -> T | None:
        """The whole reply of the first run that brought one."""
        return next((reply for reply in self.replies if reply is not None), None)

    @property
    def rationale(self) -> str | None:
        return getattr(self.reply, "rationale", None) or None


@dataclass
class ModelJudge(Generic[T]):
    """`value` takes the score or the word out of a reply; `tie` is the word of runs that are
    divided.
    """

    provider: Provider
    prompt: Prompt
    schema: type[T]
    value: Callable[[T], Value]
    tie: str | None = None
    runs: int = 1
    seed: int = 0
    max_tokens: int = 600
    # a rationale, a text and its language: which languages they are in, where these differ
    differ: Callable[[str, str, str | None], Mapping[str, str] | None] | None = None
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        if self.runs < 1:
            raise UsageError(
                f"A judge cannot be asked {self.runs} times.", "Pass `runs` of 1 or more."
            )

    @property
    def model(self) -> str:
        return self.provider.profile.chosen_model()

    @property
    def standing(self) -> str | None:
        """A caveat from its profile, such as that the model is too small for results."""
        return self.provider.profile.standing

    def parameters(self) -> JsonObject:
        """For lineages and run keys."""
        return {
            "model": self.model,
            "runs": self.runs,
            "prompts": {self.prompt.name: self.prompt.lineage()},
        }

    def request(self, case: JudgeCase, attempt: int = 0) -> Request[T]:
        return Request(
            messages=(Message("system", case.system), Message("user", case.data)),
            schema=self.schema,
            temperature=AGAIN_TEMPERATURE if self.runs > 1 else 0.0,
            max_tokens=self.max_tokens,
            seed=(self.seed + attempt) % (1 << 31),
            attempt=attempt,
            tag=case.id,
            prompt_name=self.prompt.name,
        )

    def requests(self, cases: Sequence[JudgeCase]) -> Iterator[Request[T]]:
        """What `judge` would ask, for an estimate."""
        return (self.request(case, attempt) for case in cases for attempt in range(self.runs))

    def judge(self, cases: Sequence[JudgeCase], *, label: str = "judging") -> list[Opinion[T]]:
        """Opinions in the order of the cases."""
        requests = list(self.requests(cases))
        small = self.provider.profile.provider == "embedded"  # it could not do better
        texts = {} if small else {case.id: case.text for case in cases}

        def fault(request: Request[T], answer: Answer[T]) -> str | None:
            rationale, text = getattr(answer.value, "rationale", ""), texts.get(request.tag)
            other = self.differ(rationale, text, None) if self.differ and text else None
            return self.prompt.text("language", **other) if other else None

        replies = gather_sync(self.provider, requests, label=label, fault=fault)
        answers = dict(replies)
        starts = range(0, len(requests), self.runs)
        return [
            self._opinion(case, [answers[start + run] for run in range(self.runs)])
            for case, start in zip(cases, starts, strict=True)
        ]

    async def one(self, case: JudgeCase) -> Opinion[T]:
        """The opinion on one case, for a caller that asks in the middle of something else."""
        return self._opinion(
            case, [await self.provider.ask(self.request(case, run)) for run in range(self.runs)]
        )

    def _opinion(self, case: JudgeCase, answers: Sequence[Answer[T]]) -> Opinion[T]:
        for answer in answers:
            self.tally.add(answer)
        failed = [answer for answer in answers if answer.value is None]
        values = [self.value(answer.value) for answer in answers if answer.value is not None]
        costs = [answer.cost for answer in answers if answer.cost is not None]
        return Opinion(
            case.id,
            combined(values, self.tie),
            values,
            [answer.value for answer in answers],
            [answer.failure or "empty" for answer in failed],
            failed[0].detail if failed else None,
            round(sum(costs), 9) if len(costs) == len(answers) else None,
        )


def fenced(parts: Mapping[str, str]) -> str:
    """The data of a case: each text fenced by its name, in this order."""
    return "\n\n".join(untrusted(text, name) for name, text in parts.items())


def combined(values: Sequence[Value], tie: str | None = None) -> Value | None:
    """The mean of scores; of words the commonest, and `tie` (else the first) where two are as
    common. Null for none.
    """
    if not values:
        return None
    scores = [value for value in values if not isinstance(value, str)]
    if len(scores) == len(values):
        return round(sum(scores) / len(scores), 4)
    first, *rest = Counter(values).most_common()
    return tie if tie is not None and rest and rest[0][1] == first[1] else str(first[0])


def failures_of(opinions: Iterable[Opinion[Any]]) -> dict[str, int]:
    """How often a judge gave no answer, by reason."""
    reasons = chain.from_iterable(opinion.failures for opinion in opinions)
    return dict(Counter(sorted(reasons)))


def agreement_of_runs(opinions: Sequence[Opinion[Any]]) -> JsonObject | None:
    """How far the runs of one judge agree with each other (alpha with its interval); null where it
    was asked once.
    """
    units = [opinion.runs for opinion in opinions if len(opinion.runs) > 1]
    if not units:
        return None
    values = [value for unit in units for value in unit]
    words = any(isinstance(value, str) for value in values)
    number = {value: float(at) for at, value in enumerate(dict.fromkeys(values))}
    answers = patterns(
        [[number[value] if words else float(value) for value in unit] for unit in units]
    )
    level = "nominal" if words else "interval"
    measured = figure(answers, lambda ratings, weights: alpha_of(ratings, weights, level))  # type: ignore[arg-type]
    return {"cases": len(units), "alpha": measured.value, "interval": measured.interval}
