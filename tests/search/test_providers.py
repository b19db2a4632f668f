"""Every provider against a stand-in that speaks its documented JSON: what it asks, what it reads,
how it fails.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from claimlab.core import packaged
from claimlab.core.calls.calls import Calls
from claimlab.core.errors import SearchFailed, UnknownName, UsageError
from claimlab.search.connect import PROVIDERS, connect
from claimlab.search.http import Http
from claimlab.search.query import Query
from claimlab.search.results import Results
from claimlab.search.terms import terms
from claimlab.search.web import WebProvider

KINDS = packaged.toml("claimlab.search", "failures.toml")["search"]

KEY = "made-up-key-that-must-stay-secret"
ANSWERS = Path(__file__).parent / "answers"
WEB = sorted(
    n
    for n in PROVIDERS.names()
    if isinstance(PROVIDERS.get(n), type) and issubclass(PROVIDERS.get(n), WebProvider)
)
ASK = Query("Tide gauge at Northport", language="por", country="br", before=date(2021, 3, 5))


def answer(name: str) -> Any:
    return json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))


def build(name: str, url: str, http: Http) -> WebProvider:
    environ = dict.fromkeys(PROVIDERS.get(name).needs, KEY)
    provider: WebProvider = PROVIDERS.get(name)(http, endpoint=url, environ=environ)
    return provider


def ask(name: str, stand_in: Any, http: Http, query: Query = ASK) -> Results:
    return asyncio.run(build(name, stand_in.url, http).search(query))


def test_every_provider_of_the_package_is_here() -> None:
    assert set(WEB) == {
        "brave",
        "exa",
        "google-factcheck",
        "searxng",
        "serper",
        "tavily",
    }
    assert set(PROVIDERS.names()) == {*WEB, "local"}


@pytest.mark.parametrize("name", PROVIDERS.names())
def test_a_provider_keeps_the_contract(name: str) -> None:
    factory = PROVIDERS.get(name)
    assert inspect.iscoroutinefunction(factory.search), "search is one async call"
    assert callable(factory.parameters)
    assert terms(name).price is not None, (
        "a price, or a reason to leave it out, stands in data/terms.toml"
    )


@pytest.mark.parametrize("name", WEB)
def test_documented_answers_become_evidence(name: str, stand_in: Any, http: Http) -> None:
    found = ask(name, stand_in.will(stand_in.says(answer(name))), http)
    first = found.evidence[0]
    assert (found.provider, first.provider, first.query) == (name, name, "Tide gauge at Northport")
    assert first.title == "Tide gauge of Northport"
    assert first.url is not None
    assert first.url.startswith("https://gauge.example/")
    assert first.published is not None
    assert first.published.date() == date(2021, 3, 4)
    assert first.dated_from == "result"
    assert first.retrieved == found.retrieved
    assert first.text is not None
    assert "<" not in first.text
    assert "&" not in first.text
    assert len({e.evidence_id for e in found.evidence}) == len(found.evidence)


def test_brave_says_what_it_left_out_and_what_it_changed(stand_in: Any, http: Http) -> None:
    found = ask("brave", stand_in.will(stand_in.says(answer("brave"))), http)
    assert [e.title for e in found.evidence] == ["Tide gauge of Northport", "Northport harbour"]
    assert found.malformed == 1
    assert found.notes == ("Brave searched for 'tide gauge north port' instead.",)
    assert found.evidence[0].text == "The gauge read 12 cm, not 120."
    assert found.evidence[1].dated_from == "relative"
    assert found.cost == pytest.approx(0.005)


def test_brave_is_asked_in_its_own_words(stand_in: Any, http: Http) -> None:
    ask("brave", stand_in.will(stand_in.says(answer("brave"))), http)
    asked = stand_in.asked[0]
    assert asked["headers"]["x-subscription-token"] == KEY
    assert asked["params"]["q"] == "Tide gauge at Northport"
    assert asked["params"]["search_lang"] == "pt-br"
    assert asked["params"]["country"] == "BR"
    assert asked["params"]["freshness"] == "1970-01-01to2021-03-05"
    assert KEY not in asked["path"]
    assert KEY not in json.dumps(asked["params"])


def test_brave_is_not_asked_for_a_language_it_does_not_list(stand_in: Any, http: Http) -> None:
    ask("brave", stand_in.will(stand_in.says(answer("brave"))), http, Query("x", language="swa"))
    assert "search_lang" not in stand_in.asked[0]["params"]


def test_brave_turns_pages(stand_in: Any, http: Http) -> None:
    def page(start: int, more: bool) -> dict[str, Any]:
        results = [
            {"title": f"t{i}", "url": f"https://x.example/{i}"} for i in range(start, start + 20)
        ]
        return {"query": {"more_results_available": more}, "web": {"results": results}}

    stand_in.will(stand_in.says(page(0, True)), stand_in.says(page(20, False)))
    found = ask("brave", stand_in, http, Query("x", max_results=30))
    assert [e.title for e in found.evidence] == [f"t{i}" for i in range(30)]
    assert [a["params"].get("offset") for a in stand_in.asked] == [None, "1"]
    assert found.cost == pytest.approx(0.01)


def test_a_later_page_that_fails_takes_nothing_away(stand_in: Any, http: Http) -> None:
    results = [{"title": f"t{i}", "url": f"https://x.example/{i}"} for i in range(20)]
    first = {"query": {"more_results_available": True}, "web": {"results": results}}
    stand_in.will(stand_in.says(first), stand_in.says({}, status=500))
    found = ask("brave", stand_in, http, Query("x", max_results=30))
    assert len(found.evidence) == 20
    assert found.notes == ("There may be more: after 20 results, brave answered 500.",)


def test_the_fact_check_service_gives_one_piece_per_review(stand_in: Any, http: Http) -> None:
    found = ask("google-factcheck", stand_in.will(stand_in.says(answer("google-factcheck"))), http)
    reviews = [e.review for e in found.evidence]
    assert [r and (r.publisher, r.rating, r.verdict) for r in reviews] == [
        ("Gauge Check", "Mostly false", "false"),
        ("checa.example", "Não é bem assim", "mixed"),
        ("Gauge Check", "Three gulls out of five", None),
    ]
    assert reviews[0] is not None
    assert (reviews[0].claimant, reviews[0].claim_date) == ("Harbour Gazette", datetime(2021, 3, 1))
    assert (found.evidence[1].published, found.evidence[1].dated_from) == (
        datetime(2021, 3, 6),
        "url",
    )
    assert [e.language for e in found.evidence] == ["eng", "por", "eng"]
    asked = stand_in.asked[0]
    assert asked["params"] == {
        "query": "Tide gauge at Northport",
        "languageCode": "pt",
        "pageSize": "10",
    }
    assert asked["headers"]["x-goog-api-key"] == KEY


def test_the_fact_check_service_turns_pages(stand_in: Any, http: Http) -> None:
    first, second = answer("google-factcheck"), answer("google-factcheck")
    second["claims"][0]["text"] = second["claims"][1]["text"] = "Another claim"
    stand_in.will(stand_in.says({**first, "nextPageToken": "p2"}), stand_in.says(second))
    provider = PROVIDERS.get("google-factcheck")(
        http,
        endpoint=stand_in.url,
        environ={"GOOGLE_FACTCHECK_API_KEY": KEY},
    )
    found = asyncio.run(provider.search(Query("gauge", max_results=5)))
    assert len(found.evidence) == 5
    assert stand_in.asked[1]["params"] == {**stand_in.asked[0]["params"], "pageToken": "p2"}, (
        "all else must stay the same"
    )


def test_exa_and_serper_report_what_the_call_really_cost(stand_in: Any, http: Http) -> None:
    assert ask("exa", stand_in.will(stand_in.says(answer("exa"))), http).cost == pytest.approx(
        0.0085
    )
    stand_in.asked.clear()
    found = ask("serper", stand_in.will(stand_in.says({**answer("serper"), "credits": 2})), http)
    assert found.cost == pytest.approx(0.002)
    assert stand_in.asked[0]["body"]["tbs"] == "cdr:1,cd_max:3/5/2021"
    assert stand_in.asked[0]["body"] | {"gl": "br", "hl": "pt"} == stand_in.asked[0]["body"]


def test_tavily_and_exa_are_told_the_last_day(stand_in: Any, http: Http) -> None:
    ask("tavily", stand_in.will(stand_in.says(answer("tavily"))), http)
    ask("exa", stand_in.will(stand_in.says(answer("exa"))), http)
    assert stand_in.asked[0]["body"]["end_date"] == "2021-03-05"
    assert stand_in.asked[0]["headers"]["authorization"] == f"Bearer {KEY}"
    assert stand_in.asked[1]["body"]["endPublishedDate"] == "2021-03-05T23:59:59.000Z"


def test_a_service_that_repeats_itself_is_not_asked_for_ever(stand_in: Any, http: Http) -> None:
    found = ask("searxng", stand_in.will(stand_in.says(answer("searxng"))), http)
    assert len(found.evidence) == 2
    assert len(stand_in.asked) == 2


def test_searxng_names_the_engines_that_did_not_answer_and_counts_pages(
    stand_in: Any, http: Http
) -> None:
    whole = answer("searxng")
    stand_in.will(stand_in.says(whole), stand_in.says({**whole, "results": []}))
    found = ask("searxng", stand_in, http)
    assert found.notes == ("The engine qwant (timeout) did not answer SearXNG.",)
    assert [a["params"]["pageno"] for a in stand_in.asked] == ["1", "2"]
    assert stand_in.asked[0]["path"] == "/search"
    assert found.evidence[0].more == {"engines": ["brave", "duckduckgo"]}


def test_searxng_reads_its_address_from_the_environment(stand_in: Any, http: Http) -> None:
    stand_in.will(stand_in.says({"results": []}))
    provider = PROVIDERS.get("searxng")(http, environ={"SEARXNG_URL": stand_in.url + "/"})
    assert asyncio.run(provider.search(ASK)).evidence == ()
    with pytest.raises(SearchFailed, match="not an http"):
        asyncio.run(PROVIDERS.get("searxng")(http, environ={"SEARXNG_URL": "ftp://x"}).search(ASK))


# --- faults: nothing lost, every failure named and counted ---

Fault = Callable[[Any, Any], Any]
FINAL: dict[str, tuple[Fault, str, int]] = {
    "500 every time": (lambda s, _: s.says({"error": "down"}, status=500), "server-error", 4),
    "hangs": (lambda s, _: s.hangs(), "timeout", 2),
    "drips": (lambda s, _: s.drips(), "timeout", 2),
    "truncated JSON": (lambda s, a: s.truncated(a), "not-json", 4),
    "breaks off": (lambda s, a: s.breaks_off(a), "network", 4),
    "HTML": (lambda s, _: s.page("<html>Please log in</html>"), "not-json", 1),
    "10 MB": (lambda s, _: s.huge(), "too-large", 1),
    "a list": (lambda s, _: s.says(["not", "documented"]), "wrong-shape", 1),
    "401": (
        lambda s, _: s.says({"error": {"message": f"bad key {KEY}"}}, status=401),
        "refused",
        1,
    ),
    "429 for ever": (
        lambda s, _: s.says({"message": "slow"}, status=429, Retry_After="1"),
        "rate-limited",
        4,
    ),
    "429 for an hour": (lambda s, _: s.says({}, status=429, Retry_After="3600"), "rate-limited", 1),
}


@pytest.mark.parametrize("fault", FINAL)
@pytest.mark.parametrize("name", WEB)
def test_a_fault_is_named_and_counted(name: str, fault: str, stand_in: Any, http: Http) -> None:
    act, kind, tries = FINAL[fault]
    http.timeout, faults = (0.6, 1) if kind == "timeout" else (5, 3)
    http.retries = replace(http.retries, faults=faults)
    stand_in.will(act(stand_in, answer(name)))
    with pytest.raises(SearchFailed) as caught:
        ask(name, stand_in, http)
    assert (caught.value.kind, caught.value.provider, caught.value.tries) == (kind, name, tries)
    late = (
        time.monotonic() + 10
    )  # on a busy machine the server may read a question after the asker gave up on it
    while len(stand_in.asked) < tries and time.monotonic() < late:
        time.sleep(0.01)
    assert len(stand_in.asked) == tries
    assert kind in KINDS
    assert KEY not in str(caught.value) or name == "searxng"  # which has no key


PASSING: dict[str, Fault] = {
    "429 with Retry-After": lambda s, _: s.says({}, status=429, Retry_After="7"),
    "500 once": lambda s, _: s.says({}, status=500),
    "503 with Retry-After": lambda s, _: s.says({}, status=503, Retry_After="7"),
    "truncated once": lambda s, a: s.truncated(a),
    "broken off once": lambda s, a: s.breaks_off(a),
}


@pytest.mark.parametrize("fault", PASSING)
@pytest.mark.parametrize("name", WEB)
def test_a_fault_that_passes_loses_nothing(
    name: str, fault: str, stand_in: Any, http: Http, waits: list[float]
) -> None:
    http.timeout = 5
    whole = answer(name)
    stand_in.will(PASSING[fault](stand_in, whole), stand_in.says(whole))
    found = ask(name, stand_in, http, Query("gauge", max_results=2))
    assert len(found.evidence) == 2
    assert len(stand_in.asked) == 2
    assert waits[0] == 7 if "Retry-After" in fault else 0.2 < waits[0] <= 0.5


# As each service documents that it found nothing.
NOTHING: dict[str, Any] = {
    "brave": {"type": "search", "query": {"original": "gauge"}},
    "exa": {"requestId": "x", "results": []},
    "google-factcheck": {},
    "searxng": {"query": "gauge", "results": [], "unresponsive_engines": []},
    "serper": {"searchParameters": {"q": "gauge"}, "credits": 1},
    "tavily": {"query": "gauge", "results": []},
}
ODD: dict[str, Any] = {
    "other fields": {"foo": [1, 2], "status": "ok"},
    "null": dict.fromkeys(("claims", "web", "results", "organic", "items")),
    "a number for the list": dict.fromkeys(("claims", "web", "results", "organic", "items"), 7),
    "strings for results": {
        "claims": ["a"], "web": {"results": ["a"]}, "results": ["a"], "organic": ["a"], "items": ["a"],
    },
    "results without a word": {
        "claims": [{"a": 1}], "web": {"results": [{"a": 1}]}, "results": [{"a": 1}], "organic": [{"a": 1}],
        "items": [{"a": 1}],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", WEB)
def test_an_answer_without_results_is_empty_not_a_failure(
    name: str, stand_in: Any, http: Http
) -> None:
    assert ask(name, stand_in.will(stand_in.says(NOTHING[name])), http).evidence == ()


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", WEB)
def test_an_answer_of_another_shape_is_a_failure_not_nothing_found(
    name: str, odd: str, stand_in: Any, http: Http
) -> None:
    with pytest.raises(SearchFailed) as caught:
        ask(name, stand_in.will(stand_in.says(ODD[odd])), http)
    assert (caught.value.kind, len(stand_in.asked)) == ("wrong-shape", 1)


@pytest.mark.parametrize("name", WEB)
def test_without_a_key_nothing_is_sent(name: str, http: Http) -> None:
    needs = PROVIDERS.get(name).needs
    with pytest.raises(SearchFailed, match=needs[0]) as caught:
        asyncio.run(PROVIDERS.get(name)(http, environ={}).search(ASK))
    assert caught.value.kind == "no-key"


@pytest.mark.parametrize("name", WEB)
def test_a_key_is_in_no_text_that_people_see(name: str, stand_in: Any, http: Http) -> None:
    stand_in.will(stand_in.says(answer(name)))
    provider = build(name, stand_in.url, http)
    found = asyncio.run(provider.search(ASK))
    call = provider.ask(ASK, 5, None)
    shown = (
        repr(provider)
        + str(provider.parameters())
        + repr(found)
        + repr(call.secret and type(call.secret))
    )
    assert KEY not in shown
    assert KEY not in json.dumps([e.to_json() for e in found.evidence])


def test_an_unreachable_provider_is_a_network_failure(http: Http) -> None:
    with pytest.raises(SearchFailed) as caught:
        asyncio.run(build("brave", "http://127.0.0.1:1", http).search(ASK))
    assert (caught.value.kind, caught.value.tries) == ("network", 4)


def test_names_become_a_chain() -> None:
    live = Calls(mode="live")
    assert connect(["google-factcheck", "brave"], live).name == "google-factcheck > brave"
    with pytest.raises(UnknownName, match="brave"):
        connect(["brav"], live)
    with pytest.raises(UsageError, match="cannot be set up"):
        connect(["local"], live)
    with pytest.raises(UsageError, match="needs a folder"):
        asyncio.run(connect(["brave"], Calls(mode="replay")).search(ASK))


def test_a_key_is_in_no_recording(stand_in: Any, http: Http, tmp_path: Path) -> None:
    calls = Calls(cache=tmp_path)
    stand_in.will(stand_in.says(answer("serper")), stand_in.says({"error": KEY}, status=403))
    environ = {"SERPER_API_KEY": KEY}
    settings = {"serper": {"endpoint": stand_in.url, "environ": environ}}
    chain = connect(["serper"], calls, http=http, settings=settings)
    asyncio.run(chain.search(ASK))
    with pytest.raises(SearchFailed, match=r"\[key\]"):
        asyncio.run(chain.search(Query("another")))
    calls.close()
    assert not any(KEY.encode() in file.read_bytes() for file in tmp_path.iterdir())
    offline = connect(["serper"], Calls("replay", tmp_path))
    assert asyncio.run(offline.search(ASK)).evidence[0].title == "Tide gauge of Northport"
