"""Fetch a catalogued dataset from its published address, when a user asks for it.

The terms are shown before anything is fetched. The file grows beside its place (`NAME.part`) and is
moved there whole, after its sha256 was compared where the catalogue knows it; a download that was
cut off goes on where it stopped, if the server still has the same file. Only public addresses are
asked, redirects included (search/addresses).
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import unquote, urljoin, urlsplit

from claimlab.catalog.card import Card
from claimlab.core import sync
from claimlab.core.calls.http import USER_AGENT, trust
from claimlab.core.digest import digest_file
from claimlab.core.errors import DataError, PageRefused, UsageError
from claimlab.core.places import cache_folder
from claimlab.core.plain import slug
from claimlab.core.progress import Progress, silent
from claimlab.search.addresses import Guard

if TYPE_CHECKING:
    import httpx2

HOPS = 5
MOST = 64 << 30  # bytes
SILENCE = 60.0  # seconds without a byte
Terms = Callable[[str], None]


def unread(terms: str) -> None:
    """The default for `on_terms`: does nothing."""


def download(
    card: Card,
    place: str | Path | None = None,
    *,
    on_terms: Terms = unread,
    guard: Guard | None = None,
    progress: Progress = silent,
) -> Path:
    """The published file of a dataset, kept at `place` (by default in the user's cache). One that
    is there already is not fetched again. `on_terms` gets the licence and the address before
    anything is fetched."""
    address = card.download
    if address is None:
        raise UsageError(
            f"The catalogue has no address of a file of {card.title}.",
            f"Get it yourself ({card.homepage or card.access}), then give the file.",
        )
    file = (
        cache_folder() / "downloads" / card.name / _name(address.url)
        if place is None
        else Path(place)
    )
    if not file.exists():
        on_terms(f"{card.title}: licence {card.licence or 'not stated'}; from {address.url}")
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.part")
        try:
            sync.run(_fetch(address.url, part, guard or Guard(), progress))
        except PageRefused as refusal:
            raise DataError(
                f"{card.title} was not downloaded. {refusal.problem}", _by_hand(card)
            ) from None
        _check(card, part)
        part.replace(file)
        _mark(part).unlink(missing_ok=True)
    else:
        _check(card, file)
    return file


def _check(card: Card, file: Path) -> None:
    """Refuse a file that is not the one that the catalogue knows; what was fetched is removed."""
    assert card.download is not None
    known, real = card.download.sha256, digest_file(file)
    if known is None or known == real:
        return
    if file.name.endswith(".part"):
        file.unlink()
        _mark(file).unlink(missing_ok=True)
    raise DataError(
        f"'{file.name.removesuffix('.part')}' is not the file of {card.title} that the catalogue"
        f" knows (its sha256 is {real}, not {known}).",
        "Its authors may have changed it: look at it, then give it as the source.",
    )


def _by_hand(card: Card) -> str:
    return (
        f"Run the same again to continue, or get it yourself ({card.homepage or card.access}) and"
        " give the file."
    )


def _name(url: str) -> str:
    name = PurePosixPath(unquote(urlsplit(url).path)).name
    return f"{slug(PurePosixPath(name).stem) or 'file'}{PurePosixPath(name).suffix}"


def _mark(part: Path) -> Path:
    """Where it is noted which version of the file a part is of."""
    return part.with_name(f"{part.name}.etag")


async def _fetch(url: str, part: Path, guard: Guard, progress: Progress) -> None:
    """Bring `part` to its full length."""
    import httpx2

    version = (
        _mark(part).read_text(encoding="utf-8") if _mark(part).is_file() and part.is_file() else ""
    )
    have = part.stat().st_size if version else 0
    wanted = {"Range": f"bytes={have}-", "If-Range": version} if have else {}
    try:
        async with _answer(url, guard, wanted) as response:
            if (
                response.status_code == 416
            ):  # there is no more of it: what is here is whole, or of no use
                return
            if response.status_code not in (200, 206):
                _refuse(url, f"was answered with {response.status_code}")
            await _keep(url, response, part, have if response.status_code == 206 else 0, progress)
    except httpx2.TimeoutException:
        _refuse(url, f"sent nothing for {SILENCE:g} seconds")
    except (httpx2.TransportError, httpx2.InvalidURL, ssl.SSLError) as error:
        _refuse(url, f"could not be reached, or broke off ({type(error).__name__}: {error})")


@asynccontextmanager
async def _answer(url: str, guard: Guard, wanted: dict[str, str]) -> AsyncIterator[httpx2.Response]:
    """The answer at the end of all redirects; every hop is checked, and the very number that was
    checked is asked.
    """
    import httpx2

    async with httpx2.AsyncClient(
        verify=trust(), trust_env=False, timeout=SILENCE, follow_redirects=False
    ) as client:
        at = url
        for _ in range(HOPS + 1):
            target = await guard.check(at)
            headers = {
                "Host": target.host_header(),
                "User-Agent": USER_AGENT,
                "Accept-Encoding": "identity",
                **wanted,
            }
            named = {"sni_hostname": target.host}
            async with client.stream(
                "GET", target.direct_url(), headers=headers, extensions=named
            ) as response:
                if response.status_code not in (301, 302, 303, 307, 308):
                    yield response
                    return
                at = urljoin(at, response.headers.get("location", "").strip())
        _refuse(url, f"sends its reader on more than {HOPS} times")


async def _keep(
    url: str, response: httpx2.Response, part: Path, have: int, progress: Progress
) -> None:
    """Write what comes behind the first `have` bytes; a body that is longer or shorter than it says
    is refused.
    """
    length = response.headers.get("content-length", "")
    total = have + int(length) if length.isdigit() else None
    if total is not None and total > MOST:
        _refuse(url, f"is larger than {MOST >> 30} GB")
    _mark(part).write_text(response.headers.get("etag", ""), encoding="utf-8")
    with part.open("ab" if have else "wb") as file:
        async for chunk in response.aiter_raw():
            have += file.write(chunk)
            progress("downloading", have, total)
            if have > MOST:
                _refuse(url, f"is larger than {MOST >> 30} GB")
    if total is not None and have != total:
        _refuse(url, f"broke off after {have:,} of {total:,} bytes")


def _refuse(url: str, why: str) -> NoReturn:
    raise PageRefused(url, "network", f"The address '{url[:200]}' {why}.", "Try again later.")
