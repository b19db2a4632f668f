"""What every request passes before it reaches a page, and what every answer carries.

- A request must call the server by a name that is its own, so that a foreign page cannot lead a
  browser here.
- Its body is bounded; a file that is dropped may be larger, from who may see all.
- The token is in the cookie that signing in left, or in `Authorization: Bearer`. Pages of a review
  ask for the token of
  a person themselves. Wrong tokens are counted: after many of them, whoever is not signed in yet
  has to wait.
- A request that changes something repeats the CSRF token, which is made from the session cookie: a
  foreign page can
  send the cookie, but not read it. A bearer token is proof by itself, since no browser sends one
  unasked.
- A client that never ends the headers of a request, or sends its body too slowly, is let go.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from claimlab.web.settings import ServerSettings

FILES = "/api/files"  # where a file is dropped
SESSION, CSRF = "claimlab_session", "x-csrf-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src"
    " 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A saved report brings its own styles and script. In a sandbox it has no origin: it can reach no
# page and no cookie.
REPORT_POLICY = (
    "sandbox allow-scripts allow-popups; default-src 'none'; style-src 'unsafe-inline'; script-src"
    " 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE = {"GET", "HEAD", "OPTIONS"}
_OPEN = re.compile(r"/static/|/sign-in$|/api/sign-in$|/(?:api/)?reviews/[^/]+(?:/|$)")
_TOO_MANY = (
    429,
    "Too many wrong tokens.",
    "Wait a minute, then sign in with the token that the server printed.",
)
SECONDS_FOR_HEADERS = 20.0  # seconds for the headers of a request, and for each piece of its body
_log = logging.getLogger("claimlab.web")
Refusal = tuple[int, str, str]
Explain = Callable[[Request, int, str, str], Response]


def csrf_of(session: str) -> str:
    return hashlib.sha256(f"csrf {session}".encode()).hexdigest()


def bearer(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


class Guesses:
    """The wrong tokens of the last minute."""

    MOST, WINDOW = 20, 60.0

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=self.MOST)

    def add(self) -> None:
        self._times.append(time.monotonic())

    @property
    def too_many(self) -> bool:
        return len(self._times) == self.MOST and time.monotonic() - self._times[0] < self.WINDOW


class RequestGate:
    """ASGI middleware; `explain` makes the answer to a request that is refused."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, explain: Explain) -> None:
        self.app, self.settings, self.explain = app, settings, explain
        self.guesses = Guesses()
        self._signed_in: set[str] = set()  # sessions that have shown the token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        session_cookie = request.cookies.get(SESSION, "")
        session = session_cookie if len(session_cookie) >= 32 else secrets.token_urlsafe(32)
        state = scope.setdefault("state", {})
        state.update(session=session, csrf=csrf_of(session), whole=False)
        guess = self._is_guess(request)
        if guess and self.guesses.too_many and session_cookie not in self._signed_in:
            await self.explain(request, *_TOO_MANY)(scope, receive, _Dressed(send, None))
            return
        whole = state["whole"] = self._may_see_all(request)
        if whole and session_cookie:
            self._signed_in.add(session_cookie)
        new_session = None if session == session_cookie else session
        sender = _Dressed(send, new_session, self.guesses if guess and not whole else None)
        if refusal := self._refusal(request):
            await self.explain(request, *refusal)(scope, receive, sender)
            return
        await self._answer(request, receive, sender)

    async def _answer(self, request: Request, receive: Receive, sender: _Dressed) -> None:
        """Let the app answer; what it does not expect becomes a sentence and a line of the log."""
        scope = request.scope
        try:
            await self.app(scope, self._bounded(receive, self._most(request)), sender)
        except Exception as error:
            _log.error("%s %s", request.method, request.url.path, exc_info=error)
            if sender.started:
                raise
            problem = f"Something claimlab did not expect ({type(error).__name__})."
            todo = "The terminal that runs the server has more; please report it."
            await self.explain(request, 500, problem, todo)(scope, receive, sender)

    def _is_guess(self, request: Request) -> bool:
        """Whether the request shows a token that may be wrong."""
        signs_in = request.method == "POST" and request.url.path.endswith("/sign-in")
        return signs_in or bearer(request) is not None or self.settings.cookie in request.cookies

    def _may_see_all(self, request: Request) -> bool:
        tokens = (bearer(request) or "", request.cookies.get(self.settings.cookie, ""))
        return any(
            hmac.compare_digest(each.encode(), self.settings.token.encode()) for each in tokens
        )

    def _refusal(self, request: Request) -> Refusal | None:
        host = request.headers.get("host", "")
        if not self.settings.knows(re.sub(r":\d+$", "", host)):
            problem = f"This server is not known as '{host[:100]}'."
            return 421, problem, "Open it by the address that it printed."
        most = self._most(request)
        if int(_number(request.headers.get("content-length"))) > most:
            return 413, "The request is too large.", f"Send at most {most:,} bytes."
        if not request.state.whole and not _OPEN.match(request.url.path):
            return (
                401,
                "This workspace asks for a token.",
                "Sign in with the token that the server printed.",
            )
        if request.method not in _SAFE and bearer(request) is None:
            repeated = request.headers.get(CSRF, "")
            if SESSION not in request.cookies or not hmac.compare_digest(
                repeated.encode(), request.state.csrf.encode()
            ):
                return (
                    403,
                    "The request does not come from a page of this workspace.",
                    "Reload the page and try again.",
                )
        return None

    def _most(self, request: Request) -> int:
        """Bytes that a request may carry: more where who may see all drops a file."""
        drops = request.state.whole and request.method == "POST" and request.url.path == FILES
        return self.settings.max_file if drops else self.settings.max_body

    def _bounded(self, receive: Receive, most: int) -> Receive:
        """What is received, up to the limits: a body may come in pieces, slowly, and need not say
        its length.
        """
        size, whole = 0, False

        async def limited() -> Message:
            nonlocal size, whole
            try:
                message = await asyncio.wait_for(receive(), None if whole else SECONDS_FOR_HEADERS)
            except TimeoutError:
                return {"type": "http.disconnect"}
            whole = not message.get("more_body", False)
            size += len(message.get("body", b""))
            if size > most:
                return {"type": "http.disconnect"}
            return message

        return limited


class _Dressed:
    """Every answer carries the headers, and the first one the session cookie. A page may set a
    policy of its own.
    """

    def __init__(self, send: Send, session: str | None, guesses: Guesses | None = None) -> None:
        self.send, self.session, self.started, self.guesses = send, session, False, guesses

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            if self.guesses is not None and message["status"] in (401, 403):
                self.guesses.add()
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", POLICY)
            if self.session is not None:
                headers.append("Set-Cookie", cookie(SESSION, self.session))
        await self.send(message)


def cookie(name: str, value: str, **more: Any) -> str:
    """A cookie that no script reads and no foreign page sends."""
    extra = "".join(f"; {key.replace('_', '-')}={text}" for key, text in more.items())
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Strict{extra}"


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else 0


class TimedProtocol(H11Protocol):
    """uvicorn's protocol with a time limit on headers; it has one only for the pause between two
    requests.
    """

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._limit is None and not self._busy:
            self._wait()
        super().data_received(data)
        if self._busy and self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._limit is not None:
            self._limit.cancel()
        super().connection_lost(exc)

    @property
    def _busy(self) -> bool:
        """Whether a request has come whole, and its answer has not."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        self._limit = self.loop.call_later(SECONDS_FOR_HEADERS, self._let_go)

    def _let_go(self) -> None:
        self._limit = None
        if not self._busy:
            self.transport.close()
