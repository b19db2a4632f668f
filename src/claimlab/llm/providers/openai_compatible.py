"""Any endpoint that speaks the chat-completions format, through the `openai` SDK.

The SDK carries the call; its own retries are off (ours see the pace and the budget), and the body
of a reply is read in pieces up to a bound, because an endpoint is not to be trusted with our
memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from claimlab.core.calls.bounded import TooLarge, WrongEncoding, read_bounded
from claimlab.core.calls.http import ErrorAnswer, client_settings, retry_after
from claimlab.core.calls.scrub import excerpt
from claimlab.core.errors import EndpointRefused, MissingExtra, UsageError
from claimlab.core.types import JsonObject
from claimlab.llm.messages import CUT, Answer, Request, T, Unread
from claimlab.llm.profiles import Profile
from claimlab.llm.reply import error_in, read_reply, refusal_in, schema_refused
from claimlab.llm.schema import in_words, wire_schema

REPLY_BYTES = 4 << 20  # bytes; a long answer is some tens of thousands
_TURNED_AWAY = {
    401: (
        "refused the key",
        "Check that {variable} holds a key of this endpoint that is still valid.",
    ),
    402: ("says the account has no credit", "Add credit, or choose another profile."),
    404: (
        "does not know the model or the address",
        "Choose a model it serves (`model`), or check base_url.",
    ),
}
_NEVER_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol")


class OpenAICompatible:
    """Constructors store: neither the key nor the SDK is needed before the first question."""

    def __init__(self, profile: Profile, *, key: str | None = None) -> None:
        if profile.base_url is None:
            raise UsageError(
                f"The profile '{profile.name}' has no base_url.", "Add it to the profile."
            )
        self.profile = profile
        self._key = key
        self._lines: list[_Line] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, request: Request[T]) -> Answer[T]:
        sdk = _sdk()
        self._key = self._key or self.profile.key()
        line = self._line()
        line.busy = True
        try:
            # The body goes as "extra": else the SDK walks every message by its types, a seventh of
            # the whole call.
            completions = line.client.chat.completions.with_streaming_response
            limit = request.timeout or self.profile.timeout
            body = self.body(request)
            async with completions.create(
                model="", messages=[], extra_body=body, timeout=limit
            ) as response:
                raw = await read_bounded(response.http_response, REPLY_BYTES)
        except TooLarge:
            return self.profile.failed(
                "too-large", f"the reply is longer than {REPLY_BYTES:,} bytes"
            )
        except UnicodeError:
            return self.profile.failed(
                "unsendable", "the text holds broken characters (lone surrogates)"
            )
        except sdk.APITimeoutError:
            return self.profile.failed(
                "timeout", "the endpoint did not answer in time", transient=True
            )
        except (
            Exception
        ) as error:  # the transport's own, while the body is read: its package differs between SDKs
            return self.broken(error)
        finally:
            line.busy = False
        return self.read(raw)

    def broken(self, error: Exception) -> Unread:
        """No reply: an HTTP error, or none at all. Some versions of the SDK wrap what happened,
        some do not.
        """
        cause = error.__cause__ if isinstance(error, _sdk().APIConnectionError) else error
        if isinstance(cause, ErrorAnswer):
            return self._turned_away(cause.status, error_in(cause.body), cause.headers)
        name = type(cause).__name__
        failure = "unreachable" if name in _NEVER_SENT else "connection"
        failure = "bad-response" if isinstance(cause, WrongEncoding | _sdk().APIError) else failure
        return self.profile.failed(failure, excerpt(f"{name}: {cause}", self._key), transient=True)

    def body(self, request: Request[BaseModel]) -> JsonObject:
        messages = request.wire()
        body: JsonObject = {"model": self.profile.chosen_model(), "messages": messages}
        body[self.profile.limit_field] = request.max_tokens
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.seed is not None:
            body["seed"] = request.seed
        if request.schema is not None and self.profile.schema_bound:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": wire_schema(request.schema, bounds=self.profile.schema_bounds),
            }
        elif request.schema is not None:
            messages[-1]["content"] += f"\n\n{in_words(request.schema)}"
        return {**body, **self.profile.parameters}

    def read(self, raw: bytes) -> Unread:
        reply = read_reply(raw, self._key)
        if isinstance(reply, str):
            return self.profile.failed("bad-response", reply, transient=True)
        if reply.error is not None:
            return self._turned_away(reply.status, reply.error, {})
        refused = reply.refusal
        if reply.finish in ("content_filter", "refusal"):
            refused = refused or "the endpoint's content filter"
        return Answer(
            model=self.profile.chosen_model(),
            text=reply.text,
            failure="refusal" if refused else None,
            detail=refused,
            usage=reply.usage,
            cost=self.profile.cost(reply.usage),
            notes=tuple(filter(None, (self.profile.standing, CUT if reply.cut else None))),
        )

    def _turned_away(self, status: int, body: object, headers: Mapping[str, str]) -> Unread:
        """An HTTP status that is not a success: this call's problem, a passing one, or the end of
        the run.
        """
        error = body if isinstance(body, dict) else {}
        message = error.get("message") or body if error else body or ""
        words = excerpt(str(message), self._key)
        if 300 <= status < 400:
            place = excerpt(headers.get("location", ""), self._key)
            words = f"it sends us elsewhere ({place}), which is not followed"
        no_quota = status == 429 and error.get("code") == "insufficient_quota"
        self._stop_if_hopeless(402 if no_quota else status, status, words)
        if refusal_in(error):
            return self.profile.failed("refusal", words)
        if self.profile.schema_bound and schema_refused(status, body):
            raise EndpointRefused(
                f"The endpoint of '{self.profile.name}' does not take the schema that answers are"
                f" bound to (HTTP {status}: {words}).",
                "Write schema_bound = false into the profile (docs/llm.md): the schema is then sent"
                " as words.",
            )
        transient = status in (408, 409, 425, 429) or status >= 500
        wait = retry_after(headers)
        return self.profile.failed(f"http-{status}", words, transient=transient, retry_after=wait)

    def _stop_if_hopeless(self, reason: int, status: int, words: str) -> None:
        """Raise what every further call would hear too."""
        if reason not in _TURNED_AWAY:
            return
        problem, todo = _TURNED_AWAY[reason]
        raise EndpointRefused(
            f"The endpoint of '{self.profile.name}' {problem} (HTTP {status}:"
            f" {words or 'no reason given'}).",
            todo.format(variable=self.profile.key_variable or "the profile's key_variable"),
        )

    def _line(self) -> _Line:
        """A client that is free; connections belong to the event loop they were opened in."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._lines, self._loop = [], loop
        for line in self._lines:
            if not line.busy:
                return line
        self._lines.append(_Line(self._open()))
        return self._lines[-1]

    def client(self) -> Any:
        """A separate client for calls of another kind; the caller closes it."""
        self._key = self._key or self.profile.key()
        return self._open()

    def _open(self) -> Any:
        (leave,) = self.profile.granted("host")
        local = urlsplit(self.profile.base_url or "").hostname in ("127.0.0.1", "localhost", "::1")
        http = _sdk().DefaultAsyncHttpxClient(
            **client_settings(leave), trust_env=not local
        )  # no proxy to oneself
        client = _sdk().AsyncOpenAI(
            api_key=self._key
            or "none",  # the SDK would else send OPENAI_API_KEY to whatever endpoint this is
            base_url=self.profile.base_url,
            max_retries=0,
            http_client=http,
        )
        client.organization = client.project = None  # nor the account names of another vendor
        return client

    async def close(self) -> None:
        lines, self._lines = self._lines, []
        if self._loop is asyncio.get_running_loop():
            for line in lines:
                await line.client.close()


@dataclass
class _Line:
    """A client for one call at a time: one with many looks through all its connections for every
    call.
    """

    client: Any
    busy: bool = False


PROVIDER = OpenAICompatible


def _sdk() -> Any:
    try:
        import openai
    except ImportError:
        raise MissingExtra("Asking a model", "llm") from None
    return openai
