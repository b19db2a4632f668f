"""The outermost layer: the reply read and validated, the model asked once more when it does not
fit, then null.

A refusal is a result. It is recorded and counted, and the question is not put again in other words.
"""

from __future__ import annotations

import re
from dataclasses import replace

from claimlab.llm.messages import CUT, Answer, Request, T
from claimlab.llm.provider import Provider
from claimlab.llm.schema import Unfit, read

_SHOWN_BACK = 4000  # characters of an unusable reply shown back to the model
_REFUSES = re.compile(
    r"^\W*+(?:(?:i['’]?m|i am)\s+(?:very\s+)?sorry|sorry|i"
    r" apologi[sz]e|unfortunately)?[\s,.;:—-]*+(?:but\s+)?"
    r"i\s*(?:can(?:no|['’]?)t|can not|won['’]?t|will not|must decline to|(?:['’]?m|am)"
    r" (?:unable|not able) to)"
    r"\s+(?:help|assist|comply|provide|answer|fulfil|generate|create|write|produce|engage|do"
    r" that|continue|support)",
    re.IGNORECASE,
)


class Validated:
    def __init__(self, inner: Provider) -> None:
        self.inner = inner
        self.profile = inner.profile

    @property
    def standing(self) -> str | None:
        """What results made with this model are worth, where that must be said."""
        return self.profile.standing

    async def ask(self, request: Request[T]) -> Answer[T]:
        request = self.profile.limited(request)
        first = judged(await self.inner.ask(request), request)
        if first.failure not in ("invalid-json", "invalid-schema"):
            return first
        complaint = (
            f"That reply cannot be used: {first.detail}. "
            "Reply again with only the JSON object that was asked for, and nothing else."
        )
        second = await self.inner.ask(request.again((first.text or "")[:_SHOWN_BACK], complaint))
        return judged(second, request).after(first)

    async def close(self) -> None:
        await self.inner.close()


def judged(answer: Answer[T], request: Request[T]) -> Answer[T]:
    """The answer with its value, or with the reason why there is none."""
    if answer.failure is not None:
        return answer
    text = answer.text or ""
    if request.schema is not None:
        try:
            return replace(answer, value=read(text, request.schema))
        except Unfit as unfit:
            if unfit.kind != "invalid-json" or not _REFUSES.match(text):
                return replace(
                    answer, failure=unfit.kind, detail="; ".join((str(unfit), *_cut(answer)))
                )
    elif not text.strip():
        return replace(answer, failure="empty", detail="the reply has no text")
    elif not _REFUSES.match(text):
        return answer
    return replace(answer, failure="refusal", detail="the reply is a refusal in words")


def _cut(answer: Answer[T]) -> tuple[str, ...]:
    return (CUT,) if CUT in answer.notes else ()
