"""A page as it stood when it was fetched: its text, a hash of its bytes, and when it says it was
published.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import ssl
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin, urlsplit

from claimlab.core.budget import Amount
from claimlab.core.calls.bounded import TooLarge, WrongEncoding, read_bounded
from claimlab.core.calls.calls import Calls
from claimlab.core.calls.http import USER_AGENT, trust
from claimlab.core.calls.pace import TokenBucket
from claimlab.core.calls.recording import CallQuestion, CallReply
from claimlab.core.errors import PageRefused
from claimlab.core.fetch.addresses import CheckedAddress, Guard
from claimlab.core.grants import PAGES, Wanted, grant
from claimlab.core.types import Json, JsonObject
from claimlab.search.claimreview import reviews_in
from claimlab.search.evidence import Evidence, FactCheckReview
from claimlab.search.page_text import PageText, read_page
from claimlab.search.results import now

if TYPE_CHECKING:
    import httpx2

TEXT_TYPES = ("text/html", "application/xhtml+xml", "text/plain")
PAGES_A_SECOND = 1.0  # from one host
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE)


@dataclass(frozen=True)
class Snapshot:
    url: str  # as asked
    final_url: str  # after redirects
    retrieved: datetime
    sha256: str  # of the bytes as served
    size: int
    content_type: str
    title: str | None
    text: str
    published: datetime | None
    dated_from: str | None
    language: str | None
    reviews: tuple[FactCheckReview, ...] = ()

    def to_json(self) -> JsonObject:
        return {
            **self.__dict__,
            "retrieved": self.retrieved.isoformat(),
            "published": self.published.isoformat() if self.published else None,
            "reviews": [review.to_json() for review in self.reviews],
        }

    @classmethod
    def from_json(cls, raw: JsonObject) -> Snapshot:
        published = raw["published"]
        times = {
            "retrieved": datetime.fromisoformat(raw["retrieved"]),
            "published": datetime.fromisoformat(published) if published else None,
            "reviews": tuple(FactCheckReview.from_json(review) for review in raw["reviews"]),
        }
        return cls(**{**raw, **times})


class PageReader(Protocol):
    """What fetches a page; `PageFetcher` does."""

    async def fetch(self, url: str) -> Snapshot: ...


class PageFetcher:
    """Fetches pages one by one, each hop of each redirect checked by `guard`. Proxies of the
    environment are not used: behind one, the address that is connected to could not be checked."""

    def __init__(
        self,
        guard: Guard | None = None,
        *,
        calls: Calls | None = None,
        timeout: float = 20.0,
        max_bytes: int = 3 << 20,
        max_hops: int = 5,
        certificates: ssl.SSLContext | None = None,
    ) -> None:
        self.guard = guard if guard is not None else Guard()
        self.calls = calls
        self.timeout = timeout
        self.max_bytes = max_bytes
        self.max_hops = max_hops
        self._certificates = certificates
        self._hosts: dict[str, TokenBucket] = {}

    async def fetch(self, url: str) -> Snapshot:
        """The page at `url`, from the recording where there is one; `PageRefused` says why there is
        none. What is not recorded counts as a call."""
        recording = self.calls.recording if self.calls is not None else None
        if recording is None:
            return await self._counted(url)

        async def ask() -> CallReply:
            try:
                return CallReply((await self._counted(url)).to_json())
            except PageRefused as refusal:
                failed = {"kind": refusal.kind, "problem": refusal.problem, "todo": refusal.todo}
                return CallReply({"failed": failed}, final=False)

        answer, _ = await recording.answer(CallQuestion("page", {"url": url}), ask)
        return _restored(url, answer)

    async def _counted(self, url: str) -> Snapshot:
        if self.calls is None:
            return await self._fetch(url)
        call = Amount(calls=1)
        with await self.calls.budget.reserve(call) as hold:
            hold.settle(call)  # a page that is refused was asked for all the same
            return await self._fetch(url)

    async def _fetch(self, url: str) -> Snapshot:
        import httpx2

        grant(Wanted("host", PAGES, "is fetched by its address"))
        retrieved = now()
        context = self._certificates or trust()
        try:
            async with httpx2.AsyncClient(
                verify=context, trust_env=False, timeout=None, follow_redirects=False
            ) as client:
                final, kind, body = await self._follow(client, url)
        except (TimeoutError, httpx2.TimeoutException):
            raise _refused(
                url, "timeout", f"gave no whole answer within {self.timeout:g} seconds"
            ) from None
        except (httpx2.TransportError, httpx2.InvalidURL, ssl.SSLError, OSError) as error:
            raise _refused(
                url, "network", f"could not be reached ({type(error).__name__}: {error})"
            ) from None
        page = _read(body, kind, final, retrieved)
        if not page.text:
            raise _refused(url, "no-text", "holds no text (it may be drawn by a script)")
        return Snapshot(
            url=url,
            final_url=final,
            retrieved=retrieved,
            sha256=hashlib.sha256(body).hexdigest(),
            size=len(body),
            content_type=kind.split(";")[0].strip().lower(),
            title=page.title,
            text=page.text,
            published=page.published,
            dated_from=page.dated_from,
            language=page.language,
            reviews=_reviews(page, retrieved),
        )

    async def _follow(self, client: httpx2.AsyncClient, url: str) -> tuple[str, str, bytes]:
        """Where the page really is, its type and its bytes."""
        at = url
        for _ in range(self.max_hops + 1):
            target = await self.guard.check(at)
            await self._hosts.setdefault(target.host, TokenBucket(PAGES_A_SECOND, burst=2)).wait()
            async with asyncio.timeout(self.timeout):  # for the hop, not for waiting our turn
                moved, kind, body = await self._hop(client, url, target)
            if moved is None:
                return at, kind, body
            at = urljoin(at, moved)
        raise _refused(url, "redirects", f"sends its reader on more than {self.max_hops} times")

    async def _hop(
        self, client: httpx2.AsyncClient, url: str, target: CheckedAddress
    ) -> tuple[str | None, str, bytes]:
        """Either where the page has moved to, or its type and bytes."""
        headers = {
            "Host": target.host_header(),
            "User-Agent": USER_AGENT,
            "Accept": "text/html, application/xhtml+xml, text/plain",
            "Accept-Encoding": "gzip",
        }
        # we connect to a number; the certificate must still be the name's
        named = {"sni_hostname": target.host}
        async with client.stream(
            "GET", target.direct_url(), headers=headers, extensions=named
        ) as response:
            if response.status_code in (301, 302, 303, 307, 308):
                moved = response.headers.get("location", "").strip()
                if not moved:
                    raise _refused(url, "redirects", "sends its reader on without saying where")
                return moved, "", b""
            kind = self._accept(url, response)
            try:
                return None, kind, await read_bounded(response, self.max_bytes)
            except TooLarge:
                raise _refused(
                    url, "too-large", f"is larger than {self.max_bytes / (1 << 20):g} MB"
                ) from None
            except WrongEncoding as error:
                raise _refused(
                    url, "encoding", f"is packed in a way that is not read ({error})"
                ) from None

    def _accept(self, url: str, response: httpx2.Response) -> str:
        if response.status_code != 200:
            raise _refused(url, "status", f"was answered with {response.status_code}")
        kind = response.headers.get("content-type", "")
        bare = kind.split(";")[0].strip().lower()
        if bare not in TEXT_TYPES:
            raise _refused(
                url,
                "content-type",
                f"is {bare or 'of no stated type'}, and only HTML and text are kept",
            )
        size = response.headers.get("content-length", "")
        if size.isdigit() and int(size) > self.max_bytes:
            raise _refused(url, "too-large", f"is larger than {self.max_bytes / (1 << 20):g} MB")
        return kind


def with_page(piece: Evidence, page: Snapshot) -> Evidence:
    """`piece` with metadata of its page: a better date than the result's, the fact-check, and where
    it is stored.

    A date that the result states stays; a relative one or one from the address is replaced by the
    page's.
    """
    better = piece.dated_from in (None, "relative", "url") and page.dated_from == "page"
    return replace(
        piece,
        published=page.published if better else piece.published,
        dated_from=page.dated_from if better else piece.dated_from,
        language=piece.language or page.language,
        review=piece.review or (page.reviews[0] if len(page.reviews) == 1 else None),
        more={
            **piece.more,
            "page_sha256": page.sha256,
            "page_url": page.final_url,
            "page_length": len(page.text),
        },
    )


def _read(body: bytes, kind: str, url: str, retrieved: datetime) -> PageText:
    content = _decode(body, kind)
    if kind.lower().startswith("text/plain"):
        title = urlsplit(url).path.rsplit("/", 1)[-1] or None
        dated = read_page("", url=url, retrieved=retrieved)
        return PageText(title, content.strip(), dated.published, dated.dated_from, None)
    return read_page(content, url=url, retrieved=retrieved)


def _reviews(page: PageText, retrieved: datetime) -> tuple[FactCheckReview, ...]:
    reviews = (document.review for document in reviews_in(page.linked_data, retrieved=retrieved))
    return tuple(review for review in reviews if review is not None)


def _decode(body: bytes, kind: str) -> str:
    """By the header, the page's own word, UTF-8, or a detector, in that order."""
    stated = re.search(r"charset\s*=\s*[\"']?([\w.:-]{2,40})", kind, re.IGNORECASE)
    inside = _CHARSET.search(body[:4096])
    for name in (stated and stated[1], inside and inside[1].decode("ascii"), "utf-8-sig"):
        try:
            if name:
                return body.decode("utf-8-sig" if name.lower() in ("utf8", "utf-8") else name)
        except (LookupError, UnicodeDecodeError):
            continue
    from charset_normalizer import from_bytes  # only for pages that do not say

    best = from_bytes(body).best()
    return str(best) if best is not None else body.decode("utf-8", "replace")


def _restored(url: str, answer: Json) -> Snapshot:
    if "failed" in answer:
        raise PageRefused(url, **answer["failed"])
    return Snapshot.from_json(answer)


def _refused(url: str, kind: str, why: str) -> PageRefused:
    return PageRefused(
        url, kind, f"The page '{url[:200]}' {why}.", "The page was not kept; its search result was."
    )
