"""URLs in texts, domains and canonical forms."""

from __future__ import annotations

import socket

import polars as pl
import pytest

from claimlab.text.urls import (
    canonical_url,
    canonical_urls,
    domains,
    find_urls,
    only_url,
    registrable_domain,
    strip_urls,
)

FOUND = [
    ("see https://t.co/AbC. Then", ["https://t.co/AbC"], "see . Then"),
    ("(https://example.org/wiki/Foo_(bar))", ["https://example.org/wiki/Foo_(bar)"], "( )"),
    ("看https://t.co/abc看看", ["https://t.co/abc"], "看 看看"),
    (
        "WWW.example.org/news, pic.twitter.com/xYz1!",
        ["WWW.example.org/news", "pic.twitter.com/xYz1"],
        ", !",
    ),
    ("end.Start and/or 24/7 in the U.S./China", [], "end.Start and/or 24/7 in the U.S./China"),
    ('<a href="http://x.org/a?b=1&amp;c=2">', ["http://x.org/a?b=1&amp;c=2"], '<a href=" ">'),
    ("cut http://t.co/ab…", ["http://t.co/ab"], "cut …"),
    ("اقرأ https://example.org/خبر هنا", ["https://example.org/خبر"], "اقرأ هنا"),
    ("no link  here ", [], "no link  here "),
    ("https://", [], "https://"),
    ("", [], ""),
]


@pytest.mark.parametrize(("text", "urls", "left"), FOUND)
def test_urls_are_found_and_cut_out(text: str, urls: list[str], left: str) -> None:
    series = pl.Series([text])
    assert find_urls(series).to_list() == [urls]
    assert strip_urls(series).to_list() == [left]


@pytest.mark.parametrize(
    ("text", "urls", "left"),
    [
        (
            "see https://t.co/a, bbc.co.uk and política.example.com.br!",
            ["bbc.co.uk", "política.example.com.br"],
            "see , and !",
        ),
        ("end.Start at 3.5 by a.b@example.org", [], "end.Start at 3.5 by a.b@example.org"),
        ("no  host  here", [], "no  host  here"),
    ],
)
def test_host_names_are_found_only_when_asked_for(text: str, urls: list[str], left: str) -> None:
    series = pl.Series([text, None])
    links = find_urls(series).to_list()[0]
    assert find_urls(series, hosts=True).to_list() == [[*links, *urls], None]
    assert strip_urls(series, hosts=True).to_list() == [left, None]


def test_blanks_around_a_url_may_stay() -> None:
    series = pl.Series(["one \n\n https://t.co/a \n two  three"])
    assert strip_urls(series, tidied=False).to_list() == ["one \n\n  \n two  three"]


def test_only_url() -> None:
    texts = pl.Series(
        [
            "https://t.co/a https://t.co/b",
            "https://t.co/a !!! 👉",
            "look https://t.co/a",
            "",
            "!",
            None,
        ]
    )
    assert only_url(texts).to_list() == [True, True, False, False, False, None]


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.bbc.co.uk/news?x=1", "bbc.co.uk"),
        ("news.example.com.br", "example.com.br"),
        ("http://user:pw@Sub.Example.COM:8080/a", "example.com"),
        ("https://t.co/abc", "t.co"),
        ("https://name.blogspot.com/2020", "name.blogspot.com"),
        ("//cdn.example.org/x.js", "example.org"),
        ("https://bücher.de/", "xn--bcher-kva.de"),
        ("https://xn--bcher-kva.de/", "xn--bcher-kva.de"),
        ("http://192.0.2.7/a", "192.0.2.7"),
        ("http://[2001:db8::1]:80/", "2001:db8::1"),
        ("example.org.", "example.org"),
        ("co.uk", None),
        ("localhost", None),
        ("www.exa…", None),
        ("not a url", None),
        ("someone@example.org", None),
        ("http://..", None),
        ("", None),
    ],
)
def test_registrable_domain(url: str, domain: str | None) -> None:
    assert registrable_domain(url) == domain
    assert domains(pl.Series("u", [url, None])).to_list() == [domain, None]


def test_domains_never_touch_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    from claimlab.text import urls

    urls._suffixes.cache_clear()
    urls._registrable.cache_clear()
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert registrable_domain("https://fresh.example.com.au/") == "example.com.au"


@pytest.mark.parametrize(
    "spelling",
    [
        "https://example.org/a?a=1&b=2",
        "http://www.example.org/a/?b=2&a=1",
        "HTTP://EXAMPLE.ORG:80/a?a=1&b=2#top",
        "example.org/a?utm_source=x&a=1&fbclid=Y&b=2",
        " https://example.org/a/?a=1&b=2&gclid=z ",
    ],
)
def test_spellings_of_one_url(spelling: str) -> None:
    assert canonical_url(spelling) == "https://example.org/a?a=1&b=2"


def test_urls_that_differ_stay_different() -> None:
    urls = [
        "https://example.org/a",
        "https://example.org/A",
        "https://example.org/a?id=1",
        "https://example.org:81/a",
    ]
    assert canonical_urls(pl.Series(urls)).to_list() == urls


def test_canonical_url_knows_iris_and_tracking_of_some_hosts() -> None:
    assert canonical_url("https://example.org/é") == canonical_url("https://example.org/%c3%a9")
    assert canonical_url("https://twitter.com/a/status/1?s=20") == "https://twitter.com/a/status/1"
    assert canonical_url("https://example.org/?s=20") == "https://example.org?s=20"
    for wrong in (
        "ftp://example.org",
        "mailto:a@example.org",
        "http://[bad",
        "words only",
        "",
        "http://a.b:99999999/",
    ):
        assert canonical_url(wrong) is None


def test_empty_columns() -> None:
    nothing = pl.Series("u", [], dtype=pl.String)
    assert domains(nothing).dtype == pl.String
    assert canonical_urls(pl.Series([None, None], dtype=pl.String)).to_list() == [None, None]


def test_a_text_of_a_megabyte_does_not_hang() -> None:
    for piece in ("a.", "https://", "(", "a-", "www.", "x/"):
        big = pl.Series([piece * (1_000_000 // len(piece))])
        assert strip_urls(big).len() == find_urls(big).len() == only_url(big).len() == 1
