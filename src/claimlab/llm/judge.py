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
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Generic

from pydantic import BaseModel

from claimlab.core import sync
from claimlab.core.calls.pool import each
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.stats.agreement import alpha_of, figure, patterns
from claimlab.core.types import JsonObject
from claimlab.llm.messages import Answer, Message, Request, T, untrusted
from claimlab.llm.prompts import Prompt
from claimlab.llm.provider import Provider

# Many questions at once, answers as they come, and what became of them: a failing record never
# stops the others, and failures are never hidden.


Fault = Callable[[Request[T], Answer[T]], str | None]


async def ask_again(provider: Provider, request: Request[T], fault: Fault[T]) -> Answer[T]:
    """The answer; where `fault` has something to say against it, a second one, with what both
    cost. The first stands where the second fails."""
    first = await provider.ask(request)
    complaint = fault(request, first) if first.ok else None
    if complaint is None:
        return first
    second = await provider.ask(request.again(first.text or "", complaint))
    return second.after(first) if second.ok else replace(first, calls=first.calls + second.calls)


def gather(
    provider: Provider,
    requests: Iterable[Request[T]],
    *,
    fault: Fault[T] = lambda _request, _answer: None,
    label: str = "Asking the model",
    **settings: Any,
) -> AsyncIterator[tuple[int, Answer[T]]]:
    """Yield (index of the request, its answer) in the order the answers come; `settings` are those
    of `each`.
    """

    async def ask(request: Request[T]) -> Answer[T]:
        try:
            return await ask_again(provider, request, fault)
        except ClaimlabError:
            raise
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
            return Answer(
                model=provider.profile.model or provider.profile.name,
                failure="crash",
                detail=detail,
            )

    return each(requests, ask, label=label, **settings)


def ask_sync(provider: Provider, request: Request[T]) -> Answer[T]:
    """`provider.ask` for plain code and notebooks."""
    return sync.run(provider.ask(request))


def gather_sync(
    provider: Provider, requests: Iterable[Request[T]], **settings: Any
) -> Iterator[tuple[int, Answer[T]]]:
    """`gather` for plain code and notebooks."""
    return sync.iterate(gather(provider, requests, **settings))


class Tally:
    """What became of the questions: answers, failures by reason, refusals, tokens and money. Add
    every answer; `summary` is JSON-safe and goes into lineages and reports.

    `cost` is what the answers cost when they were made; `spent` leaves out those that came from the
    cache. Both are null as soon as one answer's cost is unknown, with the number of those beside
    them.
    """

    def __init__(self) -> None:
        self.asked = self.answered = self.cached = self.calls = 0
        self.failures: Counter[str] = Counter()
        self.tokens_in = self.tokens_out = self.tokens_cached = 0
        self._cost = self._spent = 0.0
        self.unpriced = 0
        self.notes: dict[str, None] = {}

    def add(self, answer: Answer[BaseModel]) -> None:
        self.asked += 1
        self.calls += answer.calls
        self.cached += answer.cached
        self.tokens_in += answer.usage.input or 0
        self.tokens_out += answer.usage.output or 0
        self.tokens_cached += answer.usage.cached or 0
        self.notes |= dict.fromkeys(answer.notes)
        if answer.failure is None:
            self.answered += 1
        else:
            self.failures[answer.failure] += 1
        if answer.cost is not None:
            self._cost += answer.cost
            self._spent += 0.0 if answer.cached else answer.cost
        elif answer.text is not None or answer.refusal:
            self.unpriced += 1

    @property
    def refusals(self) -> int:
        return self.failures["refusal"]

    def summary(self) -> JsonObject:
        known = self.unpriced == 0
        return {
            "asked": self.asked,
            "answered": self.answered,
            "refused": self.refusals,
            "failures": dict(sorted(self.failures.items())),
            "from_cache": self.cached,
            "calls": self.calls,
            "tokens": {
                "input": self.tokens_in,
                "cached": self.tokens_cached,
                "output": self.tokens_out,
            },
            "cost": round(self._cost, 9) if known else None,
            "spent": round(self._spent, 9) if known else None,
            "answers_of_unknown_cost": self.unpriced,
            "notes": list(self.notes),
        }


Value = float | str
AGAIN = 0.7  # temperature when one judge is asked several times: at 0 it would only repeat itself


class Reasoned(BaseModel):
    """The start of every schema of a judge: the rationale is written first, so that the verdict
    follows from it.
    """

    rationale: str


@dataclass(frozen=True)
class Case:
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

    def judge(self, cases: Sequence[Case], *, label: str = "judging") -> list[Opinion[T]]:
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

    async def one(self, case: Case) -> Opinion[T]:
        """The opinion on one case, for a caller that asks in the middle of something else."""
        return self._opinion(
            case, [await self.provider.ask(self.request(case, run)) for run in range(self.runs)]
        )

    def _opinion(self, case: Case, answers: Sequence[Answer[T]]) -> Opinion[T]:
        for answer in answers:
            self.tally.add(answer)
        failed = [answer for answer in answers if answer.value is None]
        values = [self.value(answer.value) for answer in answers if answer.value is not None]
        known = [answer.cost for answer in answers if answer.cost is not None]
        return Opinion(
            case.id,
            combined(values, self.tie),
            values,
            [answer.value for answer in answers],
            [answer.failure or "empty" for answer in failed],
            failed[0].detail if failed else None,
            round(sum(known), 9) if len(known) == len(answers) else None,
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
    measured = figure(answers, lambda known, weights: alpha_of(known, weights, level))  # type: ignore[arg-type]
    return {"cases": len(units), "alpha": measured.value, "interval": measured.interval}
