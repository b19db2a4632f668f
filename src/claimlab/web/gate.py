"""What every request passes before it reaches a page, and what every answer carries.

- A request must call the server by a name that is its own, so that a foreign page cannot lead a browser here.
- Its body is bounded.
- Where a token is demanded, it is in the cookie that signing in left, or in `Authorization: Bearer`. Pages of a review
  ask for the token of a person themselves.
- A request that changes something repeats the CSRF token, which is made from the session cookie: a foreign page can
  send the cookie, but not read it. A bearer token is proof by itself, since no browser sends one unasked.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from claimlab.web.settings import Settings

SESSION, TOKEN, CSRF = "claimlab_session", "claimlab_token", "x-csrf-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A saved report brings its own styles and script. In a sandbox it has no origin: it can reach no page and no cookie.
REPORT_POLICY = (
    "sandbox allow-scripts allow-popups; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
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
_log = logging.getLogger("claimlab.web")
Refusal = tuple[int, str, str]
Explain = Callable[[Request, int, str, str], Response]


def csrf_of(session: str) -> str:
    return hashlib.sha256(f"csrf {session}".encode()).hexdigest()


def bearer(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


class Gate:
    """ASGI middleware; `explain` makes the answer to a request that is refused."""

    def __init__(self, app: ASGIApp, settings: Settings, explain: Explain) -> None:
        self.app, self.settings, self.explain = app, settings, explain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        known = request.cookies.get(SESSION)
        session = known if known and len(known) >= 32 else secrets.token_urlsafe(32)
        state = scope.setdefault("state", {})
        state.update(session=session, csrf=csrf_of(session), whole=self._may_see_all(request))
        sender = _Dressed(send, None if session == known else session)
        if refusal := self._refusal(request):
            await self.explain(request, *refusal)(scope, receive, sender)
            return
        try:
            await self.app(scope, self._bounded(receive), sender)
        except Exception as error:
            _log.error("%s %s", request.method, request.url.path, exc_info=error)
            if sender.started:
                raise
            problem = f"Something claimlab did not expect ({type(error).__name__})."
            todo = "The terminal that runs the server has more; please report it."
            await self.explain(request, 500, problem, todo)(scope, receive, sender)

    def _may_see_all(self, request: Request) -> bool:
        token = self.settings.token
        shown = bearer(request) or request.cookies.get(TOKEN) or ""
        return token is None or hmac.compare_digest(shown.encode(), token.encode())

    def _refusal(self, request: Request) -> Refusal | None:
        host = request.headers.get("host", "")
        if not self.settings.knows(re.sub(r":\d+$", "", host)):
            problem = f"This server is not known as '{host[:100]}'."
            return 421, problem, "Open it by the address that it printed."
        if int(_number(request.headers.get("content-length"))) > self.settings.max_body:
            return 413, "The request is too large.", f"Send at most {self.settings.max_body:,} bytes."
        if not request.state.whole and not _OPEN.match(request.url.path):
            return 401, "This workspace asks for a token.", "Sign in with the token that the server printed."
        if request.method not in _SAFE and bearer(request) is None:
            shown = request.headers.get(CSRF, "")
            if SESSION not in request.cookies or not hmac.compare_digest(shown, request.state.csrf):
                return 403, "The request does not come from a page of this workspace.", "Reload the page and try again."
        return None

    def _bounded(self, receive: Receive) -> Receive:
        """What is received, up to the limit: a body may come in pieces and need not say its length."""
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.settings.max_body:
                return {"type": "http.disconnect"}
            return message

        return limited


class _Dressed:
    """Every answer carries the headers, and the first one the session cookie. A page may set a policy of its own."""

    def __init__(self, send: Send, session: str | None) -> None:
        self.send, self.session, self.started = send, session, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
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
