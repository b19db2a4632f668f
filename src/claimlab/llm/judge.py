"""One judge for everything that a model is asked to judge: contradiction, feasibility, drift,
verdicts, worth, quality.

A judge is a prompt, a schema whose first field is the rationale, and how often it is asked. Scores
of several runs are averaged, words counted. It reports the cost, how far its own runs agree, and
the outcome of every question: a refusal or a reply that cannot be read is null, and counted. What
it is worth is for the caller to say, who compares it with annotators, or marks it unvalidated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic

from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.agreement import alpha_of, figure, patterns
from claimlab.core.types import JsonObject
from claimlab.llm.gather import gather_sync
from claimlab.llm.messages import Answer, Message, Request, T
from claimlab.llm.opinion import Case, Opinion, Value
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider
from claimlab.llm.tally import Tally

AGAIN = 0.7  # temperature when one judge is asked several times: at 0 it would only repeat itself


class ModelJudge(Generic[T]):
    """`value` takes the score or the word out of a reply; `tie` is the word of runs that are
    divided.
    """

    def __init__(
        self,
        provider: Provider,
        prompt: Prompt,
        schema: type[T],
        *,
        value: Callable[[T], Value],
        tie: str | None = None,
        runs: int = 1,
        seed: int = 0,
        max_tokens: int = 600,
    ) -> None:
        if runs < 1:
            raise UsageError(f"A judge cannot be asked {runs} times.", "Pass `runs` of 1 or more.")
        self.provider, self.prompt, self.schema = provider, prompt, schema
        self.value, self.tie, self.runs, self.seed, self.max_tokens = (
            value,
            tie,
            runs,
            seed,
            max_tokens,
        )
        self.tally = Tally()

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

    def request(self, case: Case, attempt: int = 0) -> Request[T]:
        return Request(
            messages=(Message("system", case.system), Message("user", case.data)),
            schema=self.schema,
            temperature=AGAIN if self.runs > 1 else 0.0,
            max_tokens=self.max_tokens,
            seed=(self.seed + attempt) % (1 << 31),
            attempt=attempt,
            tag=case.id,
            prompt_name=self.prompt.name,
        )

    def requests(self, cases: Sequence[Case]) -> Iterator[Request[T]]:
        """What `judge` would ask, for an estimate."""
        return (self.request(case, attempt) for case in cases for attempt in range(self.runs))

    def judge(
        self, cases: Sequence[Case], *, progress: Progress = silent, label: str = "judging"
    ) -> list[Opinion[T]]:
        """Opinions in the order of the cases."""
        answers: dict[int, Answer[T]] = {}
        requests = list(self.requests(cases))
        for index, answer in gather_sync(self.provider, requests, progress=progress, label=label):
            answers[index] = answer
        return [
            self._opinion(case, [answers[n * self.runs + k] for k in range(self.runs)])
            for n, case in enumerate(cases)
        ]

    async def one(self, case: Case) -> Opinion[T]:
        """The opinion on one case, for a caller that asks in the middle of something else."""
        return self._opinion(
            case, [await self.provider.ask(self.request(case, k)) for k in range(self.runs)]
        )

    def _opinion(self, case: Case, answers: Sequence[Answer[T]]) -> Opinion[T]:
        for answer in answers:
            self.tally.add(answer)
        replies = [a.value for a in answers]
        values = [self.value(reply) for reply in replies if reply is not None]
        costs = [a.cost for a in answers]
        known = [c for c in costs if c is not None]
        return Opinion(
            case.id,
            combined(values, self.tie),
            values,
            replies,
            [a.failure or "empty" for a in answers if a.value is None],
            next((a.detail for a in answers if a.value is None), None),
            round(sum(known), 9) if len(known) == len(costs) else None,
        )


def combined(values: Sequence[Value], tie: str | None = None) -> Value | None:
    """The mean of scores; of words the commonest, and `tie` (else the first) where two are as
    common. Null for none.
    """
    if not values:
        return None
    scores = [v for v in values if not isinstance(v, str)]
    if len(scores) == len(values):
        return round(sum(scores) / len(scores), 4)
    first, *rest = Counter(values).most_common()
    return tie if tie is not None and rest and rest[0][1] == first[1] else str(first[0])


def agreement_of_runs(opinions: Sequence[Opinion[Any]]) -> JsonObject | None:
    """How far the runs of one judge agree with each other (alpha with its interval); null where it
    was asked once.
    """
    units = [opinion.runs for opinion in opinions if len(opinion.runs) > 1]
    if not units:
        return None
    words = any(isinstance(value, str) for unit in units for value in unit)
    number = {
        value: float(i) for i, value in enumerate(dict.fromkeys(v for unit in units for v in unit))
    }
    answers = patterns([[number[v] if words else float(v) for v in unit] for unit in units])
    level = "nominal" if words else "interval"
    measured = figure(answers, lambda known, weights: alpha_of(known, weights, level))  # type: ignore[arg-type]
    return {"cases": len(units), "alpha": measured.value, "interval": measured.interval}
