"""URLs: those inside texts, and what tells which of them are the same, the registrable domain and
the canonical form. Domains follow the Public Suffix List as bundled with `publicsuffixlist`:
"www.bbc.co.uk" is "bbc.co.uk". Nothing is ever fetched, so a shortener (t.co, bit.ly) counts as a
site of its own.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import polars as pl

from claimlab.core import packaged
from claimlab.text.rows import change_where, cut_out, tidy
from claimlab.text.tokens import UNSPACED

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

# A URL ends at whitespace, a quote, a bracket or a script without spaces, where the text goes on
# right behind the link; a closing parenthesis belongs to it only if it was opened inside; a full
# stop at its end belongs to the sentence.
_STOPS = rf"\s<>\"“”„‘’«»‹›{{}}|\\^`（）【】「」『』《》〈〉、。，！？；：…{UNSPACED}"
_INSIDE = rf"[^{_STOPS}()]|\([^{_STOPS}()]*\)"
_LAST = rf"[^{_STOPS}().,;:!?'\]*~]|\([^{_STOPS}()]*\)"
# Without a scheme (pic.twitter.com/…), a path distinguishes a link from a missing space
# ("end.Start").
_BARE = r"(?-u:\b)(?:[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?\.)+[a-z]{2,24}/"
URL = rf"(?i)(?:https?://|(?-u:\b)www\.|{_BARE})(?:{_INSIDE})*(?:{_LAST})"

# A host name with neither scheme nor path ("example.org"), distinguished from "end.Start" by its
# suffix alone, which is no proof: "no" ends hosts and begins sentences. So these are looked for
# only where they are asked for.
_MAYBE_HOST = r"(?i)[\p{L}\p{N}]\.[a-z]{2}"
_BARE_HOST = re.compile(r"(?i)(?<![\w@.-])(?:[^\W_](?:[\w-]*[^\W_])?\.)+[a-z]{2,24}(?![\w@-])")

_HOST = r"(?i)^\s*(?:(?:[a-z][a-z0-9+.\-]*://|//)(?:[^/?#@\s]*@)?)?(\[[0-9a-f:.]+\]|[^/?#:@\s]+)"
_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+")

# Query parameters that say how a reader came, not what is shown.
_TRACKING = re.compile(
    r"(utm|mtm|pk|hsa)_\w+|_hs\w+|(fb|g|d|tw|tt|ms|y)clid|[gw]braid|li_fat_id|igsh(id)?|mc_[ce]id|_g[al]"
    r"|ref(_src|_url)?|cmp(id)?|ocid|smid|smtyp|ncid|spm|s_cid|xtor|share(_?id|d)?|amp"
)

# What datasets put where a link was: "URL", "[URL]", "<url>", "$URL$", "HTTPURL", or a scheme
# without its address.
PLACEHOLDER = r"\b(?:HTTP)?URL\b|(?i:[\[<{(_$]url[\]>})_$])|(?i:\bhttps?(?:\s|$|[.,;!?]))"


def count_placeholders(texts: pl.Series) -> pl.Series:
    """How many placeholders for links each text holds, its links themselves apart; null for
    null.
    """
    return texts.str.replace_all(URL, " ").str.count_matches(PLACEHOLDER)


def find_urls(texts: pl.Series, *, hosts: bool = False) -> pl.Series:
    """The URLs of each text, as written, in order; null for null. With `hosts`, bare host names
    come behind them.
    """
    urls = texts.str.extract_all(URL)
    return _with_hosts(texts, urls) if hosts else urls


def strip_urls(texts: pl.Series, *, hosts: bool = False, tidied: bool = True) -> pl.Series:
    """`texts` without their URLs (with `hosts`, also without bare host names); one that holds none
    keeps its bytes.

    The whitespace around a URL becomes one space, unless `tidied` is false.
    """
    bare = cut_out(texts, URL) if tidied else texts.str.replace_all(URL, "")
    if not hosts:
        return bare
    return change_where(
        bare, bare.str.contains(_MAYBE_HOST), lambda rows: _strip_hosts(rows, tidied)
    )


def only_url(texts: pl.Series) -> pl.Series:
    """Whether a text is nothing but URLs: no letter or digit is left without them. Null for
    null.
    """
    return texts.str.contains(URL) & ~strip_urls(texts).str.contains(r"[\p{L}\p{N}]")


def domains(urls: pl.Series) -> pl.Series:
    """`registrable_domain` of every URL; each host is looked up once."""
    hosts = urls.str.extract(_HOST, 1).str.to_lowercase()
    return _by_value(hosts, _registrable)


def path_parts(urls: pl.Series) -> pl.Series:
    """The parts of each URL's path in small letters, every number in them as 0. Those without a
    letter are left out, as are the host and what follows the path; null for null."""
    paths = urls.str.to_lowercase().str.extract(
        r"^\s*(?:[a-z][a-z0-9+.\-]*:)?(?://)?[^/?#\s]*([^?#\s]*)", 1
    )
    named = paths.str.replace_all(r"\d+", "0").str.extract_all(r"[^/]+")
    return named.list.eval(pl.element().filter(pl.element().str.contains(r"\p{L}")))


def canonical_urls(urls: pl.Series) -> pl.Series:
    """`canonical_url` of every URL; each is worked out once."""
    return _by_value(urls, canonical_url)


def registrable_domain(url: str) -> str | None:
    """The registered part of a host name; null if there is no host.

    Blogs on a shared platform count as their own ("name.blogspot.com"): the list marks such
    platforms. An address counts as its own site, a name outside ASCII is given in its ASCII form.
    """
    host = re.match(_HOST, url)
    return _registrable(host.group(1).lower()) if host else None


def canonical_url(url: str) -> str | None:
    """One form for all spellings of a web address; null for anything else.

    The scheme is https, the host is lower-case without "www.", tracking parameters, the fragment
    and a trailing slash are gone, and parameters are sorted.
    """
    address = url.strip()
    if "://" not in address:
        if "@" in address.split("/", 1)[0]:
            return None  # a mail address
        address = "https://" + address.removeprefix("//")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    host = _ascii((parts.hostname or "").rstrip("."))
    if parts.scheme.lower() not in ("http", "https") or host is None:
        return None
    host = host.removeprefix("www.")
    place = host if port in (None, 80, 443) else f"{host}:{port}"
    dropped = packaged.toml("claimlab.text", "tracking.toml").get(_registrable(host) or "", ())
    query = [
        (key, value)
        for key, value in parse_qsl(parts.query, keep_blank_values=True)
        if not _TRACKING.fullmatch(key.lower()) and key not in dropped
    ]
    path = re.sub(
        "%[0-9a-fA-F]{2}", lambda m: m.group().upper(), quote(parts.path, safe="/%:@!$&'()*+,;=~")
    )
    return f"https://{place}{path.rstrip('/')}" + (f"?{urlencode(sorted(query))}" if query else "")


def _with_hosts(texts: pl.Series, urls: pl.Series) -> pl.Series:
    bare = cut_out(texts, URL)
    lists = urls.to_list()
    for row in bare.str.contains(_MAYBE_HOST).fill_null(False).arg_true().to_list():
        lists[row] = [
            *lists[row],
            *(host for host in _BARE_HOST.findall(bare[row]) if _registrable(host.lower())),
        ]
    return pl.Series(texts.name, lists, dtype=pl.List(pl.String))


def _strip_hosts(rows: pl.Series, tidied: bool) -> pl.Series:
    def strip(text: str) -> str:
        return _BARE_HOST.sub(
            lambda match: instead if _registrable(match[0].lower()) else match[0], text
        )

    instead = " " if tidied else ""
    stripped = pl.Series(rows.name, [strip(row) for row in rows.to_list()], dtype=pl.String)
    if not tidied:
        return stripped
    return change_where(rows, rows != stripped, lambda _: tidy(stripped.filter(rows != stripped)))


@lru_cache(maxsize=1 << 16)
def _registrable(host: str) -> str | None:
    address = _address(host)
    if address is not None:
        return address
    name = _ascii(host.rstrip("."))
    domain = _suffixes().privatesuffix(name) if name is not None else None
    return str(domain) if domain is not None else None


@lru_cache(maxsize=1 << 16)
def _ascii(host: str) -> str | None:
    """A host name in its ASCII form, or an address; null for what is neither."""
    address = _address(host)
    if address is not None:
        return f"[{address}]" if ":" in address else address
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    return host if _HOST_NAME.fullmatch(host) else None


def _address(host: str) -> str | None:
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return None


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(
        accept_unknown=False
    )  # a name under no known suffix is no name ("www.exa…")


def _by_value(values: pl.Series, change: Callable[[str], str | None]) -> pl.Series:
    """`change` of every value, worked out once for each distinct one."""
    distinct = values.drop_nulls().unique()
    if not distinct.len():
        return pl.Series(values.name, [None] * values.len(), dtype=pl.String)
    changed = pl.Series([change(value) for value in distinct.to_list()], dtype=pl.String)
    return values.replace_strict(distinct, changed, default=None, return_dtype=pl.String)
