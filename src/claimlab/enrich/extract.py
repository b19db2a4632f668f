"""The main claim of a text: by a model, by the offline rules, or its first sentence. Every claim
says who found it.

An extractor takes a prepared text and its language. A text that makes no claim gives none, which is
an answer. A refusal, a failed call or an answer in another language is a failure that is named and
counted; no other extractor quietly steps in, because the claims table must say who found what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel

from claimlab.core.errors import UsageError
from claimlab.core.languages import describe
from claimlab.core.types import JsonObject
from claimlab.enrich.checkworthy import WORDS_READ, best_claims
from claimlab.enrich.correspondence import shares
from claimlab.enrich.cues import cues
from claimlab.enrich.sentences import first_lines, sentences
from claimlab.enrich.shortening import MOST_CLAIM_WORDS
from claimlab.llm.messages import Answer, Request, untrusted
from claimlab.llm.prompts import Prompts
from claimlab.llm.provider import Provider
from claimlab.text.tokens import first_words, words

WORDS_ASKED = 20  # that a model is asked to keep to
PROMPT = "extraction"
NO_RULES = "no-rules"  # no claim was found, in a language that the offline rules do not know


@dataclass(frozen=True)
class Extraction:
    """No claim and no failure: the text makes none. `meta` goes into the claims table: the model,
    its standing, whether a claim is longer than asked for, how much of it is in the text."""

    claims: tuple[str, ...] = ()
    failure: str | None = None
    detail: str | None = None
    meta: JsonObject = field(default_factory=dict)


class Extractor(Protocol):
    @property
    def name(self) -> str:
        """The method, as the claims table names it."""
        ...

    def parameters(self) -> JsonObject: ...

    async def extract(self, text: str, language: str | None, *, tag: str = "") -> Extraction: ...


class Offline:
    """The most check-worthy sentences by rule; no model, no network. Where the rules do not know
    the language, that they find no claim says nothing."""

    name = "offline"

    def __init__(self, claims: int = 1) -> None:
        self.claims = claims

    def parameters(self) -> JsonObject:
        return {"claims": self.claims, "read": WORDS_READ, "most": MOST_CLAIM_WORDS}

    async def extract(self, text: str, language: str | None, *, tag: str = "") -> Extraction:  # noqa: ARG002
        claims = tuple(best_claims(text, language, most=self.claims))
        if claims or cues(language):
            return Extraction(claims)
        facts = None if language is None else describe(language)
        name = "a language that was not identified" if facts is None else facts.name
        return Extraction(failure=NO_RULES, detail=f"not measured: there are no rules for {name}")


class FirstSentence:
    """The baseline: the first sentence, cut at 20 words."""

    name = "first-sentence"

    def parameters(self) -> JsonObject:
        return {"most": WORDS_ASKED}

    async def extract(self, text: str, language: str | None, *, tag: str = "") -> Extraction:  # noqa: ARG002
        lines = sentences(first_lines(text, WORDS_READ))
        return Extraction((first_words(lines[0], WORDS_ASKED),) if lines else ())


class MainClaim(BaseModel):
    """No bounds on its length: an endpoint that keeps to one cuts the sentence in the middle."""

    claim: str | None


class Claims(BaseModel):
    claims: list[str]


class ByModel:
    """A model behind the llm door, its answer bound by a schema. It is asked once more where it
    answers in another language than the text's; a claim that is longer than asked for is kept
    whole, and says so."""

    def __init__(self, provider: Provider, claims: int = 1, prompts: Prompts | None = None) -> None:
        self.provider = provider
        self.claims = claims
        self.prompt = (prompts or Prompts())[PROMPT]

    @property
    def name(self) -> str:
        return f"model: {self.provider.profile.chosen_model()}"

    def parameters(self) -> JsonObject:
        model = self.provider.profile.chosen_model()
        words = {"prompts": {PROMPT: self.prompt.lineage()}}
        return {
            "model": model,
            "claims": self.claims,
            "read": WORDS_READ,
            "most": WORDS_ASKED,
            **words,
        }

    def request(self, text: str, *, tag: str = "") -> Request[Any]:
        part = "one" if self.claims == 1 else "several"
        return Request.of(
            untrusted(first_words(text, WORDS_READ)),
            system=(
                f"{self.prompt.text('system')}\n\n{self.prompt.text(part, most=WORDS_ASKED, claims=self.claims)}"  # noqa: E501
            ),
            schema=MainClaim if self.claims == 1 else Claims,
            max_tokens=256 * self.claims,
            seed=0,
            tag=tag,
            prompt_name=PROMPT,
        )

    async def extract(self, text: str, language: str | None, *, tag: str = "") -> Extraction:
        from claimlab.text.langid import other_language

        request = self.request(text, tag=tag)
        answer = await self.provider.ask(request)
        other = other_language(" ".join(_claims_of(answer)), text, language)
        if other is not None:
            answer = await self.provider.ask(
                request.again(answer.text or "", self.prompt.text("language", **other))
            )
        meta: JsonObject = {"model": answer.model, "standing": self.provider.profile.standing}
        meta["asked_again"] = True if other is not None else None
        if not answer.ok or answer.value is None:
            return Extraction(failure=answer.failure or "empty", detail=answer.detail, meta=meta)
        claims = list(dict.fromkeys(_claims_of(answer)))[: self.claims]
        if (
            other is not None
            and (still := other_language(" ".join(claims), text, language)) is not None
        ):
            return Extraction(
                failure="other-language", detail=f"answered in {still['given']} twice", meta=meta
            )
        meta["long"] = True if any(len(words(claim)) > WORDS_ASKED for claim in claims) else None
        meta["share_in_text"] = _grounding(claims, text, language)
        return Extraction(tuple(claims), meta=meta)


def rule_extractor(name: str, claims: int = 1) -> Extractor:
    """An extractor that needs no model, by name."""
    if claims < 1:
        raise UsageError(f"A text cannot give {claims} claims.", "Ask for 1 or more.")
    if name == "offline":
        return Offline(claims)
    if name != "first-sentence":
        raise UsageError(
            f"There is no extractor named '{name}'.",
            "Use one of: offline, first-sentence, model, none.",
        )
    if claims > 1:
        raise UsageError(
            "The first-sentence rule gives one claim.", "Split with the offline rules or a model."
        )
    return FirstSentence()


def _claims_of(answer: Answer[Any]) -> list[str]:
    if answer.value is None:
        return []
    claims = [answer.value.claim] if isinstance(answer.value, MainClaim) else answer.value.claims
    return [" ".join(claim.split()) for claim in claims if claim and any(map(str.isalnum, claim))]


def _grounding(claims: Sequence[str], text: str, language: str | None) -> float | None:
    """The share of the least grounded claim that occurs in the text: low where a model invents
    things.
    """
    grounded = [shares(claim, [text], language)[0] for claim in claims]
    measured = [share for share in grounded if share is not None]
    return round(min(measured), 4) if measured else None
