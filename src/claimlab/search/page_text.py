"""The readable text of an HTML page, with its title, date, language and any ClaimReview it carries.

selectolax (its Lexbor parser) builds the tree; the rule for what is text is ours and short: leave
out navigation, scripts and forms, take <article> or <main> if it has most of the words, else the
body; a line per block.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from claimlab.core.languages import normalise
from claimlab.core.types import Json
from claimlab.search.dates import NO_DATE, Dated, read_date, url_date
from claimlab.search.fields import text as one_line

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

LEFT_OUT = "script style noscript template svg iframe nav form button select dialog aside footer"
BLOCKS = (
    "address article blockquote br dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 header hr li"
    " main ol p pre section table tbody td th thead tr ul"
)
DATES = (
    'meta[property="article:published_time"]',
    'meta[property="og:article:published_time"]',
    'meta[itemprop="datePublished"]',
    'meta[name="date"]',
    'meta[name="pubdate"]',
    'meta[name="DC.date.issued"]',
    'meta[name="dcterms.created"]',
    'meta[name="citation_publication_date"]',
    "time[itemprop=datePublished]",
    "time[pubdate]",
    "article time[datetime]",
)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
MAIN = "article, main, [role=main], [itemprop=articleBody]"
MAX_MAIN = 20  # looked at; a page of ten thousand of them means harm
MAIN_SHARE = 0.4  # of the words of the page: a smaller <article> is a teaser


@dataclass(frozen=True)
class PageText:
    title: str | None
    text: str
    published: datetime | None
    dated_from: str | None
    language: str | None
    linked_data: list[Json] = field(
        default_factory=list
    )  # the page's JSON-LD, for claimlab.search.claimreview


def read_page(markup: str, *, url: str | None, retrieved: datetime) -> PageText:
    """What the page says and when it says it was published: its own metadata first, then its
    address.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(markup)
    data = list(_linked_data(tree))  # before the scripts go
    when = _published(tree, data, retrieved)
    if when.published is None and url:
        when = url_date(url, retrieved=retrieved)
    title = _title(tree)
    language = _attribute(tree, "html", "lang")
    tree.strip_tags(LEFT_OUT.split())
    return PageText(
        title=title,
        text=_main_text(tree),
        published=when.published,
        dated_from=when.dated_from,
        language=normalise(language) if language else None,
        linked_data=data,
    )


def _main_text(tree: LexborHTMLParser) -> str:
    body = tree.body
    if body is None:
        return ""
    whole = _lines(body)
    candidates = [_lines(node) for node in tree.css(MAIN)[:MAX_MAIN]]
    best = max(candidates, key=len, default="")
    return best if len(best) >= MAIN_SHARE * len(whole) else whole


def _lines(root: LexborNode) -> str:
    """The text below `root`, one line per block; walked without recursion, for pages nest as deep
    as they like.
    """
    blocks, parts = set(BLOCKS.split()), list[str]()
    todo: list[LexborNode | str] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            parts.append(node)
        elif node.tag == "-text":
            parts.append(node.text_content or "")
        else:
            edge = "\n" if node.tag in blocks else ""
            parts.append(edge)
            todo.append(edge)
            todo.extend(reversed(list(node.iter(include_text=True))))
    lines = (" ".join(line.split()) for line in _CONTROL.sub(" ", "".join(parts)).split("\n"))
    return "\n".join(line for line in lines if line)


def _title(tree: LexborHTMLParser) -> str | None:
    titled = _attribute(tree, 'meta[property="og:title"]', "content")
    node = tree.css_first("title")
    return one_line(titled) or one_line(node.text() if node is not None else None)


def _published(tree: LexborHTMLParser, data: list[Json], retrieved: datetime) -> Dated:
    stated = [
        _attribute(tree, selector, "datetime" if "time[" in selector else "content")
        for selector in DATES
    ]
    for raw in [*stated[:3], *_dates_in(data), *stated[3:]]:
        date = read_date(raw, retrieved=retrieved)
        if date.published is not None:
            return Dated(date.published, "page")
    return NO_DATE


def _dates_in(data: Json, depth: int = 0) -> Iterator[Json]:
    if depth > 6:
        return
    if isinstance(data, list):
        for item in data:
            yield from _dates_in(item, depth + 1)
    elif isinstance(data, dict):
        if "datePublished" in data:
            yield data["datePublished"]
        yield from _dates_in(data.get("@graph"), depth + 1)


def _linked_data(tree: LexborHTMLParser) -> Iterator[Json]:
    for node in tree.css('script[type="application/ld+json"]'):
        try:
            yield json.loads(re.sub(r"[\x00-\x1f]", " ", node.text()))
        except (ValueError, RecursionError):
            continue  # a page's own mistake: its visible text is still good


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str | None:
    node = tree.css_first(selector)
    return node.attributes.get(name) if node is not None else None
