"""Any endpoint that speaks the chat-completions format, through the `openai` SDK.

The SDK carries the call; its own retries are off (ours see the pace and the budget), and the body of a reply is read
in pieces up to a bound, because an endpoint is not to be trusted with our memory.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from claimlab.core.errors import EndpointRefused, MissingExtra, UsageError
from claimlab.llm.messages import CUT, Answer, Request, T
from claimlab.llm.profiles import Profile
from claimlab.llm.schema import in_words, wire_schema
from claimlab.llm.wire import Reply, read_reply, refusal_in, retry_after, scrub

MAX_REPLY = 4 << 20  # bytes; a long answer is some tens of thousands
_TURNED_AWAY = {
    401: ("refused the key", "Check that {variable} holds a key of this endpoint that is still valid."),
    402: ("says the account has no credit", "Add credit, or choose another profile."),
    404: ("does not know the model or the address", "Choose a model it serves with --model, or check base_url."),
}
_NEVER_SENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol")


class OpenAICompatible:
    def __init__(self, profile: Profile, *, key: str | None = None) -> None:
        if profile.base_url is None:
            raise UsageError(f"The profile '{profile.name}' has no base_url.", "Add it to the profile.")
        self.profile = profile
        self._key = key or profile.key()
        self._sdk = _sdk()
        self._lines: list[_Line] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, request: Request[T]) -> Answer[T]:
        sdk = self._sdk
        body = self._body(request)
        raw = bytearray()
        line = self._line()
        line.busy = True
        try:
            # The body goes as "extra": else the SDK walks every message by its types, a seventh of the whole call.
            completions = line.client.chat.completions.with_streaming_response
            limit = request.timeout or self.profile.timeout
            async with completions.create(model="", messages=[], extra_body=body, timeout=limit) as response:
                async for piece in response.iter_bytes():
                    raw += piece
                    if len(raw) > MAX_REPLY:
                        return self._failed("too-large", f"the reply is longer than {MAX_REPLY:,} bytes")
        except sdk.APITimeoutError:
            return self._failed("timeout", "the endpoint did not answer in time", transient=True)
        except sdk.APIStatusError as error:
            return self._turned_away(error.status_code, error.body, error.response.headers)
        except sdk.APIConnectionError as error:
            cause = type(error.__cause__).__name__
            failure = "unreachable" if cause in _NEVER_SENT else "connection"
            return self._failed(failure, scrub(f"{cause}: {error.__cause__}", self._key), transient=True)
        except sdk.APIError as error:
            return self._failed("bad-response", scrub(str(error), self._key), transient=True)
        except UnicodeError:
            return self._failed("unsendable", "the text holds broken characters (lone surrogates)")
        except Exception as error:  # the transport's own, while the body is read: its package differs between SDKs
            return self._failed("connection", scrub(f"{type(error).__name__}: {error}", self._key), transient=True)
        finally:
            line.busy = False
        return self._read(bytes(raw))

    def _body(self, request: Request[Any]) -> dict[str, Any]:
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        body: dict[str, Any] = {"model": self.profile.chosen_model(), "messages": messages}
        body[self.profile.limit_field] = request.max_tokens
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.seed is not None:
            body["seed"] = request.seed
        if request.schema is not None and self.profile.schema_bound:
            body["response_format"] = {"type": "json_schema", "json_schema": wire_schema(request.schema)}
        elif request.schema is not None:
            messages[-1] = {**messages[-1], "content": f"{messages[-1]['content']}\n\n{in_words(request.schema)}"}
        return {**body, **self.profile.parameters}

    def _read(self, raw: bytes) -> Answer[Any]:
        reply = read_reply(raw)
        if isinstance(reply, str):
            return self._failed("bad-response", scrub(reply, self._key), transient=True)
        if reply.error is not None:
            return self._turned_away(reply.status, reply.error, {})
        return self._answer(reply)

    def _answer(self, reply: Reply) -> Answer[Any]:
        standing = (self.profile.standing,) if self.profile.standing else ()
        cut = (CUT,) if reply.finish == "length" else ()
        filtered = "the endpoint's content filter" if reply.finish in ("content_filter", "refusal") else None
        refused = reply.refusal or filtered
        return Answer(
            model=self.profile.chosen_model(),
            text=reply.text,
            failure="refusal" if refused else None,
            detail=refused,
            usage=reply.usage,
            cost=self.profile.cost(reply.usage),
            notes=(*standing, *cut),
        )

    def _turned_away(self, status: int, body: Any, headers: Any) -> Answer[Any]:
        """An HTTP status that is no answer: this call's problem, a passing one, or the end of the run."""
        words = scrub(str(body.get("message") or body) if isinstance(body, dict) else str(body or ""), self._key)
        no_quota = status == 429 and isinstance(body, dict) and body.get("code") == "insufficient_quota"
        if status in _TURNED_AWAY or no_quota:
            problem, todo = _TURNED_AWAY[402 if no_quota else status]
            raise EndpointRefused(
                f"The endpoint of '{self.profile.name}' {problem} (HTTP {status}: {words or 'no reason given'}).",
                todo.format(variable=self.profile.key_variable or "the profile's key_variable"),
            )
        if refusal_in(body):
            return self._failed("refusal", words)
        transient = status in (408, 409, 425, 429) or status >= 500
        return self._failed(f"http-{status}", words, transient=transient, retry_after=retry_after(headers))

    def _failed(
        self, failure: str, detail: str, *, transient: bool = False, retry_after: float | None = None
    ) -> Answer[Any]:
        return Answer(
            model=self.profile.chosen_model(),
            failure=failure,
            detail=detail or None,
            transient=transient,
            retry_after=retry_after,
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

    def _open(self) -> Any:
        local = urlsplit(self.profile.base_url or "").hostname in ("127.0.0.1", "localhost", "::1")
        http = self._sdk.DefaultAsyncHttpxClient(verify=_trusted(), trust_env=not local)  # no proxy to oneself
        client = self._sdk.AsyncOpenAI(
            api_key=self._key or "none",  # the SDK would else send OPENAI_API_KEY to whatever endpoint this is
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
    """A client for one call at a time: one with many looks through all its connections for every call."""

    client: Any
    busy: bool = False


@cache
def _trusted() -> ssl.SSLContext:
    """One for all clients: reading the certificates takes as long as a dozen calls."""
    import httpx2

    return httpx2.create_ssl_context()


def _sdk() -> Any:
    try:
        import openai
    except ImportError:
        raise MissingExtra("Asking a model", "llm") from None
    return openai


PROVIDER = OpenAICompatible
