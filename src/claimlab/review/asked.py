"""A model as an annotator: it is shown what an annotator is shown, its answers are marked as a
model's, and they settle nothing. Refusals and answers that cannot be parsed are counted as no
answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Unpack

import polars as pl
from pydantic import Field, create_model

from claimlab.core.call import refuse_unknown
from claimlab.core.errors import DataError, UsageError
from claimlab.core.options import CallOptions, ModelName, Option, PromptFiles, Setting
from claimlab.core.run import Run
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.llm.estimate import estimate
from claimlab.llm.judge import JudgeCase, ModelJudge, Reasoned, failures_of
from claimlab.llm.messages import untrusted
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import Profile
from claimlab.llm.prompts import Prompt, read_prompts
from claimlab.review.merge import DecisionRow, Imported
from claimlab.review.review import AnyReview, Review
from claimlab.review.shapes import Item
from claimlab.review.task import SCALE, ReviewTask

CHARACTERS_READ = 4_000
REPLY_TOKENS = 500
PROMPT = "review-answer"


@dataclass(frozen=True, repr=False)
class Asked(Shown):
    """What became of the items that a model was asked about."""

    name: str
    imported: Imported
    failures: dict[str, int]
    standing: str | None = None  # a caveat from its profile

    @property
    def table(self) -> pl.DataFrame:
        rows = {**self.imported.counts, **self.failures}
        return pl.DataFrame(
            list(rows.items()), schema={"what": pl.String, "n": pl.Int64}, orient="row"
        )

    def headline(self) -> str:
        failed = sum(self.failures.values())
        return f"'{self.name}': {self.imported.headline()}, {failed:,} failed"

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            **self.imported.to_json(),
            "failures": self.failures,
            "standing": self.standing,
        }


def review_ask(
    review: AnyReview,
    profile: Annotated[str | Profile, Option("Model profile; see: claimlab llm profiles")],
    *,
    model: ModelName = None,
    name: Annotated[str | None, Setting("Name of the annotator; the model's by default.")] = None,
    prompts: PromptFiles = (),
    limit: Annotated[int | None, Option("Ask about the first N items only.", least=1)] = None,
    **calls: Unpack[CallOptions],
) -> Asked:
    """Let a model annotate, as one more annotator that is marked and settles nothing.

    It is asked about the items that it has not answered yet. Calls are recorded beside the review:
    asked again, they cost nothing.
    """
    refuse_unknown(review_ask, calls)
    opened = Review.of(review)
    if not opened.task.compared:
        problem = f"Answers to '{opened.task.name}' are not choices or ratings."
        raise UsageError(problem, "Ask a model about another task.")
    words = read_prompts(prompts, "review")[PROMPT]
    if calls.get("cache") is None:
        calls["cache"] = opened.folder.parent / f"{opened.folder.name}.cache"
    with Run("review", None, None, **calls) as run:
        judge = _judge(opened.task, open_provider(profile, model=model, calls=run.calls), words)
        who = name or judge.model
        answered = {ballot.item for ballot in opened.ballots() if ballot.of_model(who)}
        items = [item for item in opened.every_item() if item.id not in answered][:limit]
        if not items:
            raise DataError(f"'{who}' has answered every item.", "There is nothing to ask.")
        cases = [case(opened.task, item, words) for item in items]
        if run.estimate:
            endpoint = judge.provider.profile
            part = estimate(judge.requests(cases), endpoint, recording=run.calls.existing())
            run.estimated({judge.model: part}, facts={"items": len(items)})
        opinions = judge.judge(cases, label=f"asking {who}")
    read = int if opened.task.ordered else str
    rows = [
        DecisionRow(o.case, who, read(o.value), model=True, comment=o.rationale)
        for o in opinions
        if o.value is not None
    ]
    return Asked(who, opened.merge(rows), failures_of(opinions), judge.standing)


def case(task: ReviewTask, item: Item, words: Prompt) -> JudgeCase:
    """What the model is shown of an item: as much as an annotator."""
    payload = item.payload
    parts = [
        words.text("system"),
        words.text("question", question=task.question, guideline=task.guideline or "none"),
    ]
    if task.ordered:
        parts.append(words.text("scale", low=SCALE[0], high=SCALE[1]))
    else:
        offered = "\n".join(f'- "{c.value}": {c.label}' for c in task.choices)
        parts.append(words.text("choices", choices=offered))
    label_of_first, label_of_second = (
        f" (label: {label})" if label else "" for label in (payload.label, payload.other_label)
    )
    texts = [
        (
            "first" if payload.other_text else "text",
            (payload.text or "")[:CHARACTERS_READ] + label_of_first,
        )
    ]
    if payload.other_text:
        texts.append(("second", payload.other_text[:CHARACTERS_READ] + label_of_second))
    texts += [
        ("evidence", "\n".join(filter(None, (p.title, p.text)))[:CHARACTERS_READ])
        for p in payload.context
    ]
    if payload.model is not None:
        output = ". ".join(filter(None, (payload.model.label, payload.model.rationale)))
        texts.append(("system-output", output[:CHARACTERS_READ]))
    untrusted_texts = "\n\n".join(untrusted(text, tag) for tag, text in texts)
    return JudgeCase(item.id, "\n\n".join(parts), untrusted_texts)


def _judge(task: ReviewTask, provider: Any, words: Prompt) -> ModelJudge[Any]:
    low, high = SCALE
    choices: Any = Literal[tuple(c.value for c in task.choices)] if task.choices else str
    answers: Any = Annotated[int, Field(ge=low, le=high)] if task.ordered else choices
    schema = create_model("Answer", __base__=Reasoned, answer=(answers, ...))
    return ModelJudge(
        provider, words, schema, value=lambda reply: reply.answer, max_tokens=REPLY_TOKENS
    )
