"""The batch format on the wire: upload a file, make a batch, ask how it is, fetch the answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from claimlab.core.calls.http import read_bounded
from claimlab.core.errors import ClaimlabError
from claimlab.core.types import JsonObject
from claimlab.llm.messages import Answer, Request
from claimlab.llm.profiles import Profile
from claimlab.llm.providers.openai_compatible import OpenAICompatible

WINDOW = "24h"
LARGEST = 1 << 30  # bytes of a file of answers
R = TypeVar("R")


class Endpoint:
    """Where the batches of a profile go."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._calls = OpenAICompatible(profile)

    def body(self, request: Request[Any]) -> JsonObject:
        """A request as it is written into the file."""
        return self._calls.body(request)

    async def create(self, lines: bytes) -> str:
        async def make(client: Any) -> str:
            file = await client.files.create(file=("requests.jsonl", lines), purpose="batch")
            batch = await client.batches.create(
                input_file_id=file.id, endpoint="/v1/chat/completions", completion_window=WINDOW
            )
            return str(batch.id)

        return await self._with_client(make)

    async def retrieve(self, number: str) -> JsonObject:
        async def look(client: Any) -> JsonObject:
            return dict((await client.batches.retrieve(number)).model_dump())

        return await self._with_client(look)

    async def cancel(self, number: str) -> JsonObject:
        async def stop(client: Any) -> JsonObject:
            return dict((await client.batches.cancel(number)).model_dump())

        return await self._with_client(stop)

    async def answers(self, number: str) -> list[tuple[str, Answer[Any]]]:
        """The answers of a batch that is over, by the hash of their question; of the files that it
        has.
        """

        async def fetch(client: Any) -> list[bytes]:
            batch = await client.batches.retrieve(number)
            raw = []
            for file in (batch.output_file_id, batch.error_file_id):
                if file:
                    async with client.files.with_streaming_response.content(file) as response:
                        raw.append(await read_bounded(response.http_response, LARGEST))
            return raw

        files = await self._with_client(fetch)
        return [
            self._answer(json.loads(line))
            for file in files
            for line in file.splitlines()
            if line.strip()
        ]

    def _answer(self, line: JsonObject) -> tuple[str, Answer[Any]]:
        response = line.get("response") or {}
        if response.get("status_code") != 200:
            failure, detail = (
                f"http-{response.get('status_code') or 0}",
                json.dumps(line.get("error")),
            )
            return line["custom_id"], Answer(
                model=self.profile.chosen_model(), failure=failure, detail=detail
            )
        answer = self._calls.read(json.dumps(response["body"]).encode())
        cost = None if answer.cost is None else round(answer.cost * self.profile.batch_price, 12)
        return line["custom_id"], replace(answer, cost=cost)

    async def _with_client(self, work: Callable[[Any], Awaitable[R]]) -> R:
        client = self._calls.client()
        try:
            return await work(client)
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
