"""Batches: many calls sent as one file, answered within a day, usually at half the price.

The wire format is the one that OpenAI published and several vendors copy: a file of requests is
uploaded, a batch made from it, polled, and a file of answers fetched. A batch is a JSON file beside
the recording, `CACHE/batches/ID.json`, with its questions; its answers go into the recording, so
that every run, resumed or replayed, finds them there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from claimlab.core import sync
from claimlab.core.atomic import atomic_text
from claimlab.core.budget import Amount
from claimlab.core.calls.bounded import read_bounded
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.deferred import DeferredCall
from claimlab.core.calls.recording import CallQuestion, CallReply, Recording
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.llm.layers import Layer, actual, most, question, restored, stored
from claimlab.llm.messages import Answer, Request, T, Unread
from claimlab.llm.profiles import Profile
from claimlab.llm.provider import Provider
from claimlab.llm.providers.openai_compatible import OpenAICompatible

FOLDER = "batches"
REQUESTS_PER_BATCH = 50_000  # requests in one batch, by the vendors' rules
ENDED = ("completed", "failed", "expired", "cancelled")
WINDOW = "24h"
ANSWER_BYTES = 1 << 30  # bytes of a file of answers
_CALLED = "/v1/chat/completions"  # what every request of a batch calls


@dataclass
class CallBatch:
    """One batch as it is kept on disk. `questions` are by hash, with what the recording needs to
    keep an answer.
    """

    id: str
    profile: JsonObject
    questions: dict[str, JsonObject]
    status: str = "sent"
    answered: int = 0
    failed: int = 0
    collected: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    ledger: str | None = None  # of the run that sent it, in which it counts at the most it can cost
    assumed: JsonObject = field(default_factory=dict)  # that most, as an Amount
    # what its answers did cost, once they are collected
    actual: JsonObject = field(default_factory=dict)
    settled: bool = False  # the ledger knows

    @property
    def under_way(self) -> bool:
        return not self.collected and self.status not in ENDED

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(Profile(**self.profile))

    def save(self, cache: Path) -> None:
        (cache / FOLDER).mkdir(parents=True, exist_ok=True)
        atomic_text(
            cache / FOLDER / f"{self.id}.json",
            json.dumps(asdict(self), ensure_ascii=False, indent=1),
        )

    def row(self) -> JsonObject:
        """For a list: everything but the questions themselves."""
        return {
            "id": self.id,
            "profile": self.profile["name"],
            "model": self.profile["model"],
            "status": self.status,
            "requests": len(self.questions),
            "answered": self.answered,
            "failed": self.failed,
            "collected": self.collected,
        }


def batches_in(cache: Path) -> list[CallBatch]:
    files = sorted((cache / FOLDER).glob("*.json"))
    return [CallBatch(**json.loads(file.read_bytes())) for file in files]


class Batched(Layer):
    """The layer that notes a question instead of asking it. What it can cost at most counts against
    the caps at once, since a batch that was sent is paid for whether or not its answers are
    fetched."""

    def __init__(self, inner: Provider, calls: Calls) -> None:
        super().__init__(inner)
        if self.profile.base_url is None:
            raise UsageError(
                f"The profile '{self.profile.name}' takes no batches.", "Leave out `batch`."
            )
        assert calls.deferred is not None
        assert calls.cache is not None, "a batch needs a recording"
        self.calls, self.deferred, self.cache = calls, calls.deferred, Path(calls.cache)
        self._under_way: set[str] | None = None
        self._assumed: dict[str, Amount] = {}
        self._first = asyncio.Lock()

    async def ask(self, request: Request[T]) -> Answer[T]:
        call = question(request, self.profile)
        waited_for = await self._waited_for()
        recorded = self.calls.recording.get(call) if self.calls.recording is not None else None
        if recorded is not None and recorded.final:  # it has just come in
            return restored(recorded.answer)
        if call.key in waited_for:
            self.deferred.under_way += 1
        elif not self.deferred.has(self, call):
            worst = most(request, self.profile)
            price = replace(worst, money=worst.money * self.profile.batch_share)
            (await self.calls.budget.reserve(price)).settle(None)
            self._assumed[call.key] = price
            self.deferred.add(self, call, OpenAICompatible(self.profile).body(request))
        reason = "the answer comes with a batch"
        return self.profile.failed("batched", reason, transient=True)

    async def _waited_for(self) -> set[str]:
        """The questions in batches that are not done; what has come in since the last start is
        collected first.
        """
        async with self._first:
            if self._under_way is None:
                batches = await collected(self.cache)
                for batch in batches:
                    self._settle(batch)
                self._under_way = {
                    key for batch in batches if not batch.collected for key in batch.questions
                }
            return self._under_way

    @property
    def _ledger(self) -> str | None:
        ledger = self.calls.budget.ledger
        return None if ledger is None else str(ledger.path.resolve())

    def _settle(self, batch: CallBatch) -> None:
        """Put the true cost of a batch that came in in the place of the most it could cost. It is
        marked first: a run that is killed in between has counted too much, never too little."""
        is_own = batch.ledger is not None and batch.ledger == self._ledger
        if is_own and batch.collected and not batch.settled:
            batch.settled = True
            batch.save(self.cache)
            self.calls.budget.correct(Amount(**batch.assumed), Amount(**batch.actual))

    def send(self, items: Sequence[DeferredCall]) -> str:
        ids = []
        for start in range(0, len(items), REQUESTS_PER_BATCH):
            part = items[start : start + REQUESTS_PER_BATCH]
            lines = "".join(_line(call, body) for call, body in part)
            number = sync.run(Endpoint(self.profile).create(lines.encode()))
            questions = {
                call.key: {"kind": call.kind, "content": dict(call.content)} for call, _ in part
            }
            batch = CallBatch(number, self.profile.model_dump(mode="json"), questions)
            batch.ledger = self._ledger
            batch.assumed = _sum(self._assumed[key] for key in questions)
            batch.save(self.cache)
            ids.append(number)
        count = f"{several(len(items), 'question')} {verb(len(items), 'was', 'were')}"
        return f"{count} sent to '{self.profile.name}' as batch {', '.join(ids)}."


def _sum(amounts: Iterable[Amount]) -> JsonObject:
    each = list(amounts)
    return {
        name: sum(getattr(amount, name) for amount in each) for name in ("money", "tokens", "calls")
    }


def _line(question: CallQuestion, body: Mapping[str, object]) -> str:
    call = {"custom_id": question.key, "method": "POST", "url": _CALLED, "body": body}
    return json.dumps(call, ensure_ascii=False) + "\n"


async def looked_at(cache: Path) -> list[CallBatch]:
    """Every batch of a cache, with the endpoint's status of those that are not collected."""
    batches = batches_in(cache)
    for batch in batches:
        if batch.under_way:
            raw = await batch.endpoint.retrieve(batch.id)
            batch.status = raw["status"]
            counts = raw.get("request_counts") or {}
            batch.counts = {kind: n for kind, n in counts.items() if isinstance(n, int)}
            batch.save(cache)
    return batches


async def collected(cache: Path) -> list[CallBatch]:
    """Put the answers of finished batches into the recording. A call that failed in its batch is
    left out: the next start sends it again."""
    batches = await looked_at(cache)
    for batch in batches:
        if not batch.collected and batch.status in ENDED:
            recording = Recording(cache / "calls.sqlite")
            try:
                await _collect(batch, recording)
            finally:
                recording.close()
            batch.collected = True
            batch.save(cache)
    return batches


async def cancelled(cache: Path) -> list[CallBatch]:
    """Ask the endpoints to stop what is under way; what was answered by then can still be
    collected.
    """
    batches = await looked_at(cache)
    for batch in batches:
        if batch.under_way:
            batch.status = (await batch.endpoint.cancel(batch.id))["status"]
            batch.save(cache)
    return batches


async def _collect(batch: CallBatch, recording: Recording) -> None:
    costs = []
    for key, answer in await batch.endpoint.answers(batch.id):
        question = batch.questions.get(key)
        if question is None:
            continue
        costs.append(actual(answer))
        if answer.failure in (None, "refusal"):
            recording.put(
                CallQuestion(question["kind"], question["content"]), CallReply(stored(answer))
            )
            batch.answered += 1
        else:
            batch.failed += 1
    stated = [cost for cost in costs if cost is not None]
    # A reply without token counts may have cost anything: then nothing is given back.
    batch.actual = _sum(stated) if len(stated) == len(costs) else batch.assumed


class Endpoint:
    """Where the batches of a profile go, and the format on the wire."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._calls = OpenAICompatible(profile)

    async def create(self, lines: bytes) -> str:
        async with self._client() as client:
            file = await client.files.create(file=("requests.jsonl", lines), purpose="batch")
            batch = await client.batches.create(
                input_file_id=file.id, endpoint=_CALLED, completion_window=WINDOW
            )
            return str(batch.id)

    async def retrieve(self, number: str) -> JsonObject:
        async with self._client() as client:
            return dict((await client.batches.retrieve(number)).model_dump())

    async def cancel(self, number: str) -> JsonObject:
        async with self._client() as client:
            return dict((await client.batches.cancel(number)).model_dump())

    async def answers(self, number: str) -> list[tuple[str, Unread]]:
        """The answers of a batch that is over, by the hash of their question; of the files that it
        has.
        """
        lines = []
        async with self._client() as client:
            batch = await client.batches.retrieve(number)
            for file in filter(None, (batch.output_file_id, batch.error_file_id)):
                async with client.files.with_streaming_response.content(file) as response:
                    raw = await read_bounded(response.http_response, ANSWER_BYTES)
                    lines += raw.splitlines()
        return [self._answer(json.loads(line)) for line in lines if line.strip()]

    def _answer(self, line: JsonObject) -> tuple[str, Unread]:
        response = line.get("response") or {}
        if response.get("status_code") != 200:
            failure = f"http-{response.get('status_code') or 0}"
            detail = json.dumps(line.get("error"))
            return line["custom_id"], self.profile.failed(failure, detail)
        answer = self._calls.read(json.dumps(response["body"]).encode())
        cost = None if answer.cost is None else round(answer.cost * self.profile.batch_share, 12)
        return line["custom_id"], replace(answer, cost=cost)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Any]:
        """The SDK's client, whose errors become a sentence."""
        client = self._calls.client()
        try:
            yield client
        except ClaimlabError:
            raise
        except Exception as error:
            failed = self._calls.broken(error)
            raise ClaimlabError(
                f"The endpoint of '{self.profile.name}' did not take the batch:"
                f" {failed.detail or failed.failure}.",
                "Check that it takes batches, or leave out `batch`.",
            ) from error
        finally:
            await client.close()
