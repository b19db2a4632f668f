"""Pages fetched from real servers on loopback: what is kept, what is refused, and that redirects
cannot lead inside.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import shutil
import ssl
import subprocess
import threading
from dataclasses import replace
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from claimlab.core import packaged
from claimlab.core.calls.calls import Calls
from claimlab.core.errors import PageRefused, ReplayMiss
from claimlab.core.fetch.addresses import Guard
from claimlab.search import snapshot as snapshots
from claimlab.search.evidence import Evidence
from claimlab.search.page_text import read_page
from claimlab.search.snapshot import PageFetcher, Snapshot, with_page

NOW = datetime(2026, 11, 1)
PAGE = """<!doctype html><html lang="pt-BR"><head><title>Maré &amp; porto</title>
<script type="application/ld+json">{"@type": "ClaimReview", "claimReviewed": "A maré subiu", "datePublished": "2021-03-05",
 "url": "https://x.example/", "author": {"name": "Checa"}, "reviewRating": {"alternateName": "Falso"}}</script>
<meta property="article:published_time" content="2021-03-04T10:00:00-03:00"></head>
<body><nav>Início <a href="/">Mais</a></nav><article><h1>Maré</h1><p>A maré   <b>não</b> subiu.</p><ul><li>um</li><li>dois</li></ul>
<script>roubar()</script></article><footer>Rodapé</footer></body></html>"""


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "PAGES_A_SECOND", 1000.0)


def guard(*servers: Any, allowed: str = "127.0.0.1", numbers: list[str] | None = None) -> Guard:
    """Every name leads to loopback, where the stand-ins are; only they may be reached."""
    asked = iter(numbers or [])

    async def resolve(host: str, port: int) -> list[str]:
        return [next(asked, "127.0.0.1")]

    return Guard(ports={80, *(s.port for s in servers)}, allowed_numbers=[allowed], resolve=resolve)


def fetch(server: Any, path: str = "/", **more: Any) -> Snapshot:
    fetcher = PageFetcher(more.pop("guard", guard(server)), **{"timeout": 5, **more})
    return asyncio.run(fetcher.fetch(f"http://page.example:{server.port}{path}"))


def refused(server: Any, **more: Any) -> PageRefused:
    with pytest.raises(PageRefused) as caught:
        fetch(server, **more)
    assert caught.value.kind in packaged.toml("claimlab.search", "failures.toml")["pages"]
    return caught.value


def test_a_page_is_kept_with_its_text_hash_and_date(stand_in: Any) -> None:
    got = fetch(stand_in.will(stand_in.page(PAGE)), "/a?b=c")
    assert got.text == "Maré\nA maré não subiu.\num\ndois"
    assert (got.title, got.language, got.content_type) == ("Maré & porto", "por", "text/html")
    assert (got.published, got.dated_from) == (datetime(2021, 3, 4, 13), "page")
    assert (got.sha256, got.size) == (hashlib.sha256(PAGE.encode()).hexdigest(), len(PAGE.encode()))
    assert [(r.publisher, r.verdict) for r in got.reviews] == [("Checa", "false")]
    asked = stand_in.asked[0]
    assert asked["headers"]["host"] == f"page.example:{stand_in.port}"
    assert asked["headers"]["user-agent"].startswith("claimlab/")
    assert (asked["path"], asked["params"]) == ("/a", {"b": "c"})


def test_a_page_dates_the_result_that_led_to_it(stand_in: Any) -> None:
    page = fetch(stand_in.will(stand_in.page(PAGE)))
    stated = Evidence(
        "T",
        "x",
        page.url,
        NOW,
        "p",
        "q",
        published=datetime(2020, 1, 1),
        dated_from="result",
        more={"k": 1},
    )
    assert with_page(stated, page).published == datetime(2020, 1, 1)
    for weak in ("url", "relative", None):
        dated = with_page(replace(stated, dated_from=weak, published=None), page)
        assert (dated.published, dated.dated_from) == (datetime(2021, 3, 4, 13), "page")
    assert dated.review is not None
    assert (dated.review.verdict, dated.language) == ("false", "por")
    assert dated.more == {
        "k": 1,
        "page_sha256": page.sha256,
        "page_url": page.final_url,
        "page_length": len(page.text),
    }
    assert dated.evidence_id == stated.evidence_id


def test_plain_text_packed_pages_and_old_encodings_are_read(stand_in: Any) -> None:
    got = fetch(
        stand_in.will(stand_in.page("só texto", "text/plain; charset=utf-8")),
        "/2021/03/04/nota.txt",
    )
    assert (got.title, got.text, got.published, got.dated_from) == (
        "nota.txt",
        "só texto",
        datetime(2021, 3, 4),
        "url",
    )
    assert (
        fetch(stand_in.will(stand_in.packed(PAGE.encode(), "text/html; charset=utf-8"))).title
        == "Maré & porto"
    )
    latin = "<html><head><meta charset='iso-8859-1'></head><p>ação</p>".encode("latin-1")
    assert fetch(stand_in.will(stand_in.page(latin, "text/html"))).text == "ação"
    assert (
        fetch(stand_in.will(stand_in.page("<p>não dito</p>".encode(), "text/html"))).text
        == "não dito"
    )
    assert (
        fetch(stand_in.will(stand_in.page("<p>ok</p>", "text/html; charset=no-such-thing"))).text
        == "ok"
    )


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (lambda s: s.send(b"%PDF-1.7", "application/pdf"), "content-type"),
        (lambda s: s.send(b"\x00\x01", "application/octet-stream"), "content-type"),
        (lambda s: s.send(b"{}", "application/json"), "content-type"),
        (lambda s: s.send(b"hello", ""), "content-type"),
        (lambda s: s.page("x" * (4 << 20)), "too-large"),
        (lambda s: s.send(gzip.compress(b"x" * (40 << 20)), "text/html", Content_Encoding="gzip"), "too-large"),
        (lambda s: s.send(b"x", "text/html", Content_Encoding="br"), "encoding"),
        (lambda s: s.send(b"gone", "text/html", status=404), "status"),
        (lambda s: s.send(b"", "text/html", status=302), "redirects"),
        (lambda s: s.moves_to("/again"), "redirects"),
        (lambda s: s.page("<script>draw()</script>"), "no-text"),
        (lambda s: s.send(b"half", "text/html", Content_Length="100"), "network"),
    ],
)  # fmt: skip
def test_what_is_no_page_is_refused_with_a_sentence(act: Any, kind: str, stand_in: Any) -> None:
    refusal = refused(stand_in.will(act(stand_in)))
    assert refusal.kind == kind
    assert "page.example" in str(refusal)
    assert str(refusal).endswith("its search result was.")


def test_silence_is_not_waited_for(stand_in: Any) -> None:
    assert refused(stand_in.will(stand_in.hangs()), timeout=0.15).kind == "timeout"


def test_redirects_are_followed_hop_by_hop(stand_in: Any, second_stand_in: Any) -> None:
    second_stand_in.will(second_stand_in.page(PAGE))
    there = f"http://other.example:{second_stand_in.port}/end"
    stand_in.will(stand_in.moves_to("/next", 301), stand_in.moves_to(there, 307))
    got = fetch(stand_in, guard=guard(stand_in, second_stand_in))
    assert (got.final_url, got.url) == (there, f"http://page.example:{stand_in.port}/")
    assert [a["path"] for a in stand_in.asked] == ["/", "/next"]
    assert second_stand_in.asked[0]["headers"]["host"].startswith("other.example:")


@pytest.mark.parametrize(
    ("where", "kind"),
    [
        ("http://169.254.169.254/latest/meta-data/", "private-address"),
        ("http://[::ffff:10.0.0.1]/", "private-address"),
        ("http://2130706433/", "host"),
        ("file:///etc/passwd", "scheme"),
        ("http://x.example:25/", "port"),
        ("//user:pw@x.example/", "credentials"),
    ],
)
def test_a_redirect_cannot_lead_inside(where: str, kind: str, stand_in: Any) -> None:
    assert refused(stand_in.will(stand_in.moves_to(where))).kind == kind
    assert len(stand_in.asked) == 1


def test_a_redirect_to_a_name_that_leads_inside_is_refused(stand_in: Any) -> None:
    inside = guard(stand_in, numbers=["127.0.0.1", "10.0.0.7"])
    refusal = refused(stand_in.will(stand_in.moves_to("http://inside.example/")), guard=inside)
    assert (refusal.kind, "10.0.0.7" in str(refusal)) == ("private-address", True)


def test_a_name_that_changes_its_number_is_asked_only_once(stand_in: Any) -> None:
    """DNS rebinding: the first look-up is allowed, a second would lead inside. There is no
    second.
    """
    asked: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.7"]

    rebinding = Guard(ports={stand_in.port}, allowed_numbers=["127.0.0.1"], resolve=resolve)
    assert fetch(stand_in.will(stand_in.page(PAGE)), guard=rebinding).title == "Maré & porto"
    assert asked == ["page.example"]
    assert len(stand_in.asked) == 1


def test_by_default_this_machine_is_out_of_reach(stand_in: Any) -> None:
    for url in (stand_in.url, "http://127.0.0.1/", "http://localhost/", "http://[::1]/"):
        with pytest.raises(PageRefused):
            asyncio.run(PageFetcher().fetch(url))
    assert stand_in.asked == []


def test_proxies_of_the_environment_are_not_used(
    stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert fetch(stand_in.will(stand_in.page(PAGE))).title == "Maré & porto"


def test_pages_are_recorded_and_replayed_refusals_too(stand_in: Any, tmp_path: Path) -> None:
    url = f"http://page.example:{stand_in.port}/"
    stand_in.will(stand_in.send(b"", "text/html", status=503), stand_in.page(PAGE))

    def get(mode: Any, at: str = url) -> Snapshot:
        return asyncio.run(
            PageFetcher(guard(stand_in), calls=Calls(mode, tmp_path), timeout=5).fetch(at)
        )

    for mode in ("record", "replay"):
        with pytest.raises(PageRefused, match="503"):
            get(mode)
    live = get("record")
    assert get("replay") == get("record") == live
    assert len(stand_in.asked) == 2
    with pytest.raises(ReplayMiss, match="no answer of page"):
        get("replay", url + "other")


# --- certificates: the connection goes to a number, the certificate must be the name's ---


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
               "-subj", "/CN=page.example", "-addext", "subjectAltName=DNS:page.example", "-keyout", str(key), "-out", str(cert)]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return cert, key


@pytest.mark.parametrize(
    ("host", "trusted", "good"),
    [("page.example", True, True), ("other.example", True, False), ("page.example", False, False)],
)
def test_the_certificate_must_be_that_of_the_name(
    host: str, trusted: bool, good: bool, certificate: tuple[Path, Path]
) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<p>safe</p>")

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    ).start()
    port = server.server_address[1]

    async def resolve(name: str, _: int) -> list[str]:
        return ["127.0.0.1"]

    client = (
        ssl.create_default_context(cafile=str(certificate[0]))
        if trusted
        else ssl.create_default_context()
    )
    fetcher = PageFetcher(
        Guard(ports={port}, allowed_numbers=["127.0.0.1"], resolve=resolve),
        certificates=client,
        timeout=5,
    )
    try:
        if good:
            assert asyncio.run(fetcher.fetch(f"https://{host}:{port}/")).text == "safe"
        else:
            with pytest.raises(PageRefused) as caught:
                asyncio.run(fetcher.fetch(f"https://{host}:{port}/"))
            assert caught.value.kind == "network"
    finally:
        server.shutdown()
        server.server_close()


# --- the text of a page ---


def test_the_body_is_taken_when_the_article_is_a_teaser() -> None:
    markup = (
        "<article>Teaser</article><div>"
        + "<p>A long paragraph of the real text.</p>" * 5
        + "</div>"
    )
    assert "Teaser\nA long paragraph" in read_page(markup, url=None, retrieved=NOW).text


@pytest.mark.parametrize(
    "markup",
    ["", "<", "<p>" * 20_000 + "deep", "<article>" * 3_000 + "x", "\x00\x01", "<!--", "<title>"],
)
def test_broken_pages_do_not_break_us(markup: str) -> None:
    assert read_page(markup, url=None, retrieved=NOW).text in ("", "deep", "x", "<")


@pytest.mark.parametrize(
    ("head", "day"),
    [
        ('<meta itemprop="datePublished" content="2021-03-04">', 4),
        ('<meta name="date" content="2021-03-05">', 5),
        ('<article><time datetime="2021-03-06">6 March</time></article>', 6),
        (
            '<script type="application/ld+json">{"@graph": [{"datePublished": "2021-03-07"}]}</script>',
            7,
        ),
        (
            '<script type="application/ld+json">{broken</script><meta name="pubdate" content="2021-03-08">',
            8,
        ),
        ('<meta name="date" content="yesterday-ish">', 9),
    ],
)
def test_a_page_dates_itself_in_many_ways(head: str, day: int) -> None:
    page = read_page(
        f"<html>{head}<p>text</p>", url="https://x.example/2021/03/09/a", retrieved=NOW
    )
    assert page.published == datetime(2021, 3, day)
    assert page.dated_from == ("url" if day == 9 else "page")
