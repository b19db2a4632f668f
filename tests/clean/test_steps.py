"""Each step on planted rows: what leaves, what stays, and the reason in words."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

import claimlab as cl
from claimlab.clean.recipe import STEPS, Recipe, RecipeStep, needs, settable
from claimlab.clean.step import Outcome
from claimlab.clean.steps.fact_checks import plain_ratings, ratings_table
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.labels import general
from claimlab.core.record import to_records

LONG = "The ferry across the Aldermere sank in the harbour on Tuesday, and nobody in the town noticed until the evening bell."


def records(*rows: dict[str, Any]) -> pl.DataFrame:
    """Records with ids r0, r1, ... unless a row names its own."""
    return to_records(
        pl.DataFrame(
            [{"id": f"r{i}", **row} for i, row in enumerate(rows)], infer_schema_length=None
        )
    )


def reasons(frame: pl.DataFrame) -> dict[str, str]:
    return dict(frame.select("id", "reason").iter_rows())


def texts(*values: str | None, **more: Any) -> pl.DataFrame:
    return records(*({"text": v, **more} for v in values))


def run(step: str, frame: pl.DataFrame, **parameters: Any) -> Outcome:
    """One step on its own, its account checked."""
    outcome = STEPS.get(step)(**parameters).apply(frame)
    outcome.account(frame, step)
    return outcome


@pytest.mark.parametrize("name", STEPS.names())
def test_every_step_keeps_the_contract(name: str) -> None:
    kind = STEPS.get(name)
    assert kind.name == name
    assert kind.summary.endswith(".")
    step = kind()
    assert json.loads(json.dumps(step.parameters())) == step.parameters()
    assert set(step.parameters()) <= set(settable(kind))
    assert not set(step.parameters()) & set(needs(kind))


@pytest.mark.parametrize("name", [n for n in STEPS.names() if not needs(STEPS.get(n))])
def test_every_step_takes_no_rows_and_rows_without_text(name: str) -> None:
    for frame in (texts("x").clear(), texts(None, None, veracity="true")):
        outcome = run(name, frame)
        assert outcome.kept.equals(frame)
        assert outcome.kept.schema == frame.schema


def test_repair_text_repairs_and_logs_but_leaves_emoji() -> None:
    frame = texts("CafÃ© aberto 🎉", "a\u200bb\x07c", "fine 👩\u200d🚀", "\u200b\u2060", None)
    outcome = run("repair-text", frame)
    assert outcome.kept["text"].to_list() == ["Café aberto 🎉", "abc", "fine 👩\u200d🚀", None]
    assert outcome.changed["id"].to_list() == ["r0", "r1"]
    assert outcome.changed["reason"].to_list() == [
        "broken encoding repaired",
        "invisible characters removed",
    ]
    assert reasons(outcome.dropped) == {"r3": "contains only invisible characters"}


def test_repair_text_replaces_html_entities_and_says_so() -> None:
    frame = texts(
        "&quot;Fire &amp; rescue&quot; isn&#39;t &#x41; club &amp;quot;",
        "see x.org/?a=1&copy=2&amp;b=3; AT&T, R&D; &nosuch; 1 < 2",
        "caf&Atilde;&copy;&#8203;",
        "&shy;",
    )
    outcome = run("repair-text", frame)
    assert outcome.kept["text"].to_list() == [
        '"Fire & rescue" isn\'t A club "',
        "see x.org/?a=1&copy=2&b=3; AT&T, R&D; &nosuch; 1 < 2",
        "café",
    ]
    assert outcome.changed["reason"].to_list() == [
        "HTML entities replaced",
        "HTML entities replaced",
        "HTML entities replaced and broken encoding repaired and invisible characters removed",
    ]
    assert outcome.dropped["id"].to_list() == ["r3"]
    assert run("repair-text", frame, entities=False).kept["text"][0] == frame["text"][0]


def test_exact_duplicates() -> None:
    frame = records(
        {"text": "The Bridge is closed.", "veracity": "true"},
        {"text": "the bridge  is closed.", "veracity": "true"},
        {"text": "Torn", "veracity": "true"},
        {"text": "TORN", "veracity": "false"},
        {"text": "Silent", "veracity": "false"},
        {"text": "silent", "veracity": "unknown"},
    )
    outcome = run("exact-duplicates", frame)
    assert reasons(outcome.dropped) == {"r1": "same text as r0", "r5": "same text as r4"}
    assert reasons(outcome.doubtful) == dict.fromkeys(
        ("r2", "r3"), "same text under the labels false, true"
    )


def test_only_url() -> None:
    outcome = run(
        "only-url", texts("https://a.example/x 🎉", "see https://a.example/x", "!!", None)
    )
    assert reasons(outcome.dropped) == {"r0": "only a URL"}


def test_too_short_counts_what_is_left() -> None:
    frame = texts(
        "wow!!! 🎉 https://a.example/a/b/c",
        "the bridge is closed",
        "one two",
        None,
        "橋は昨日閉鎖された",
    )
    assert reasons(run("too-short", frame).dropped) == {
        "r0": "1 words, fewer than 3",
        "r2": "2 words, fewer than 3",
    }
    with_urls = run("too-short", frame, without_urls=False)
    assert "r0" not in reasons(with_urls.dropped)
    english = texts("the bridge is closed today", language="eng")
    assert reasons(run("too-short", english, without_stop_words=True, minimum=5).dropped) != {}
    assert reasons(run("too-short", english, minimum=5).dropped) == {}


def test_cl100k_is_never_fetched_unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAIMLAB_CL100K", raising=False)
    with pytest.raises(UsageError, match="CLAIMLAB_CL100K"):
        run("too-short", texts("a"), tokenizer="cl100k")


@pytest.mark.needs("tiktoken")
def test_cl100k_counts(real_data: object) -> None:
    frame = texts("hello world", "hello " * 20)
    outcome = run("too-short", frame, tokenizer="cl100k", table=f"{real_data}/cl100k_base.tiktoken")
    assert reasons(outcome.dropped) == {"r0": "2 cl100k tokens, fewer than 3"}


@pytest.mark.needs("tiktoken")
def test_cl100k_counts_the_blanks_that_are_left(real_data: object) -> None:
    """ "closed" and a blank before the emoji: the blank is a token of its own unless blanks are
    tidied.
    """
    settings = {"tokenizer": "cl100k", "table": f"{real_data}/cl100k_base.tiktoken", "minimum": 99}
    frame = texts("closed 🎉", "it, closed", "it “closed”\n\nsee bridge.example.org")
    tidy = reasons(run("too-short", frame, **settings).dropped)
    left = reasons(run("too-short", frame, **settings, blanks="left", without_hosts=True).dropped)
    assert [r.split()[0] for r in tidy.values()] == ["1", "2", "6"]
    assert [r.split()[0] for r in left.values()] == [
        "2",
        "2",
        "4",
    ]  # it, closed, two line ends, see


PORTUGUESE = "A ponte sobre o rio foi fechada ontem à tarde porque os engenheiros encontraram rachaduras nos pilares."
INDONESIAN = "Pemerintah kota menutup jembatan itu kemarin sore karena para insinyur menemukan retakan pada tiangnya."


def test_language_against_what_is_kept_or_named() -> None:
    frame = records(
        {"text": LONG, "language": "eng"},
        {"text": PORTUGUESE, "language": "eng"},
        {"text": "ok", "language": "eng"},
        {"text": PORTUGUESE},
        {"text": INDONESIAN, "language": "msa"},
    )
    own = run("language", frame, action="doubtful")
    assert reasons(own.doubtful) == {"r1": "the text is por, the record names eng"}
    assert own.kept["language"].to_list() == ["eng", "eng", "por", "msa"]
    assert own.changed["id"].to_list() == ["r3"]
    kept = run("language", frame, keep="pt-BR")
    assert sorted(reasons(kept.dropped)) == ["r0", "r2", "r4"]
    assert reasons(kept.dropped)["r2"] == "the record names eng, not por"
    unsure = run("language", texts("ok", PORTUGUESE), unsure="drop")
    assert reasons(unsure.dropped) == {"r0": "vote does not know the language of the text"}


def near() -> pl.DataFrame:
    return records(
        {"text": LONG, "veracity": "true", "url": "https://a.example/1"},
        {"text": LONG + " Really.", "veracity": "true", "url": "http://www.a.example/1/"},
        {
            "text": LONG + " Truly!",
            "veracity": "false",
            "group": "event-1",
            "url": "https://a.example/2",
        },
        {
            "text": "Something else was said about the library of Eastwick in the weekly bulletin.",
            "veracity": "false",
        },
        {"text": LONG.upper(), "veracity": "true"},
    )


def test_near_duplicates_share_a_group_or_leave() -> None:
    outcome = run("near-duplicates", near())
    assert outcome.kept["group"].to_list() == ["event-1", "event-1", "event-1", None, "event-1"]
    assert outcome.tables["near_duplicates"]["record_id"].to_list() == ["r0", "r1", "r2", "r4"]
    assert run("near-duplicates", outcome.kept).changed.height == 0
    fresh = run("near-duplicates", near().with_columns(pl.lit(None, pl.String).alias("group")))
    assert fresh.kept["group"].to_list() == ["near-r0", "near-r0", "near-r0", None, "near-r0"]
    dropped = run("near-duplicates", near(), action="drop")
    assert reasons(dropped.dropped) == dict.fromkeys(("r1", "r4"), "near-duplicate of r0")


def test_contradictions_take_both_sides_and_their_copies() -> None:
    outcome = run("contradictions", near())
    assert set(reasons(outcome.doubtful)) == {"r0", "r1", "r2", "r4"}
    assert reasons(outcome.doubtful)["r0"] == "true, but the near-duplicate r2 is false"
    assert run("contradictions", outcome.kept).doubtful.height == 0


def test_many_copies_do_not_multiply() -> None:
    copies = [{"text": LONG, "veracity": "true"}] * 3_000 + [
        {"text": LONG + " Really.", "veracity": "false"}
    ] * 3_000
    assert run("contradictions", records(*copies)).doubtful.height == 6_000


def test_same_source_keeps_the_first_of_one_page() -> None:
    assert reasons(run("same-source", near()).dropped) == {
        "r1": "near-duplicate of r0 from the same page https://a.example/1"
    }


def test_same_source_without_a_look_at_the_texts() -> None:
    frame = records(
        {"text": "one", "url": "https://a.example/1"},
        {"text": "another", "url": "http://www.a.example/1"},
        {"text": "third"},
        {"text": "fourth"},
    )
    assert reasons(run("same-source", frame).dropped) == {}
    assert reasons(run("same-source", frame, alike=False).dropped) == {
        "r1": "is, as r0, from the same page https://a.example/1"
    }


def test_missing_value_names_the_first_column_that_is_empty() -> None:
    frame = records(
        {"text": "a", "url": "u", "meta": '{"row": 1}'},
        {"text": "b", "meta": '{"row": 2}'},
        {"text": None, "url": "u"},
    )
    assert reasons(run("missing-value", frame, columns=("url", "row")).dropped) == {
        "r1": "no url",
        "r2": "no row",
    }


def test_decisions_by_reason() -> None:
    frame = records(
        {"text": "a", "veracity": "true"}, {"text": "b", "veracity": "true"}, {"text": "c"}
    )
    decided = pl.DataFrame(
        {
            "id": ["r0", "r1", "r2"],
            "decision": ["relabel", "relabel", "remove"],
            "label": ["false", "false", None],
            "reason": ["seen", "fact-check", None],
        }
    )
    first = run("decisions", frame, decisions=decided, without=("fact-check",))
    assert first.kept["veracity"].to_list() == ["false", "true"]
    assert run("decisions", frame, decisions=decided, only=("seen",)).kept[
        "veracity"
    ].to_list() == [
        "false",
        "true",
        None,
    ]


def test_near_duplicates_say_the_label_they_had() -> None:
    table = run("near-duplicates", near()).tables["near_duplicates"]
    assert (
        table["label"].to_list()
        == near().filter(pl.col("id").is_in(table["record_id"].to_list()))["veracity"].to_list()
    )


def test_url_conflicts_in_text_and_column() -> None:
    frame = records(
        {"text": "see https://www.a.example/x?utm_source=mail", "veracity": "true"},
        {"text": "look", "url": "http://a.example/x", "veracity": "false"},
        {"text": "see https://a.example/y", "veracity": "true"},
        {"text": "see https://a.example/y", "veracity": "unknown"},
    )
    outcome = run("url-conflicts", frame)
    assert reasons(outcome.doubtful) == dict.fromkeys(
        ("r0", "r1"), "https://a.example/x appears with false, true"
    )
    assert run("url-conflicts", frame, where="text").doubtful.height == 0
    tagged = run("url-conflicts", frame, action="tag")
    assert tagged.kept.equals(frame)
    assert tagged.tables["tags"]["record_id"].to_list() == ["r0", "r1"]


def test_broken_pairs_lose_the_partner() -> None:
    frame = records(*({"text": "x", "group": g} for g in ("p1", "p1", "p2", "p2", "e", "e", "e")))
    left = frame.filter(~pl.col("id").is_in(["r0", "r4"]))
    original = frame.select("id", "group")
    assert reasons(run("broken-pairs", left, original=original).dropped) == {
        "r1": "its group p1 lost r0"
    }
    assert set(reasons(run("broken-pairs", left, original=original, size=0).dropped)) == {
        "r1",
        "r5",
        "r6",
    }


def test_fact_checks_by_id_and_by_claim_and_nuance_decides_nothing() -> None:
    frame = records(
        {"text": "first claim", "veracity": "true"},
        {"text": "second claim", "veracity": "false"},
        {"text": "third claim", "veracity": "true"},
        {"text": LONG, "veracity": "true"},
        {"text": "fifth claim", "veracity": "false"},
    )
    reviews = pl.DataFrame(
        [
            ("r0", None, "É FALSO!", "Gazette"),
            ("r1", None, "True", "Gazette"),
            ("r2", None, "Mostly false", "Gazette"),
            (None, LONG + "!", "Enganoso", None),
            ("r4", None, "False", "Gazette"),
        ],
        schema=["record_id", "claimReviewed", "textualRating", "publisher"],
        orient="row",
    )
    outcome = run("fact-checks", frame, ratings=ratings_table(reviews))
    assert reasons(outcome.doubtful) == {
        "r0": "labelled true, but Gazette rates it 'É FALSO!'",
        "r1": "labelled false, but Gazette rates it 'True'",
        "r3": "labelled true, but a fact-check rates it 'Enganoso'",
    }


def test_plain_ratings_agree_with_the_general_map() -> None:
    assert {w: general().verdict(w) for w in plain_ratings()} == plain_ratings()


def test_inspection_sample_is_drawn_in_proportion_and_by_seed() -> None:
    frame = records(
        *({"text": f"t{i}", "veracity": "true" if i % 4 else "false"} for i in range(80))
    )
    sample = run("inspection-sample", frame, size=20).tables["inspection"]
    assert sample["label"].value_counts().sort("label")["count"].to_list() == [5, 15]
    assert sample.equals(run("inspection-sample", frame.reverse(), size=20).tables["inspection"])
    assert not sample.equals(run("inspection-sample", frame, size=20, seed=1).tables["inspection"])
    assert run("inspection-sample", frame, size=500).tables["inspection"].height == 80


def test_strip_urls_keeps_the_original() -> None:
    frame = records(
        {"text": "see https://a.example/x now", "meta": '{"row": 3}'},
        {"text": "www.a.example"},
        {"text": "b"},
    )
    outcome = run("strip-urls", frame)
    assert outcome.kept["text"].to_list() == ["see now", "b"]
    assert json.loads(outcome.kept["meta"][0]) == {
        "original_text": "see https://a.example/x now",
        "row": 3,
    }
    assert outcome.kept["meta"][1] is None
    assert reasons(outcome.dropped) == {"r1": "nothing is left without its URLs"}
    assert run("strip-urls", outcome.kept).kept.equals(outcome.kept)
    hosts = run("strip-urls", texts("ask bridge.example.org, or a@example.org"), hosts=True)
    assert hosts.kept["text"].to_list() == ["ask , or a@example.org"]


def test_personal_data_is_masked_and_kept_nowhere() -> None:
    kept_aside = {
        "text": "see now @ana_1",
        "meta": json.dumps({"original_text": "see https://a.example/x now @ana_1"}),
    }
    frame = records(
        {"text": "mail bo@example.org or ring +55 11 91234-5678, (11) 3456-7890 or 555-123-4567"},
        kept_aside,
        {
            "text": "on 2020-03-15, 2019-2020, 1,234,567 of https://a.example/@name and 192.168.0.1: +10000"
        },
    )
    outcome = run("mask-personal", frame)
    first, second, third = outcome.kept["text"].to_list()
    assert first == "mail [email] or ring [phone], [phone] or [phone]"
    assert second == "see now @user"
    assert third == frame["text"][2]
    everything = str(outcome.kept.to_dicts()) + str(outcome.changed.to_dicts())
    assert not [word for word in ("bo@", "91234", "3456-", "555-", "ana_1") if word in everything]
    assert outcome.changed["id"].to_list() == ["r0", "r1"]
    assert run("mask-personal", outcome.kept).kept.equals(outcome.kept)
    handles = run("mask-personal", frame, kinds=["handle"]).kept["text"]
    assert "bo@example.org" in handles[0]
    assert handles[1] == "see now @user"


def test_a_step_that_loses_a_record_is_found_out() -> None:
    frame = texts("a", "b")
    outcome = run("only-url", frame)
    with pytest.raises(ClaimlabError, match="lost or repeated"):
        outcome.account(frame.head(1), "only-url")


def test_a_contradiction_names_the_first_record_of_another_label() -> None:
    rows = [
        (LONG, "true"),
        (LONG + "!", "false"),
        (LONG + "?", "false"),
        (LONG + ".", "true"),
        (LONG, None),
    ]
    outcome = run("contradictions", records(*({"text": t, "veracity": v} for t, v in rows)))
    assert reasons(outcome.doubtful) == {
        "r0": "true, but the near-duplicate r1 is false",
        "r1": "false, but the near-duplicate r0 is true",
        "r2": "false, but the near-duplicate r0 is true",
        "r3": "true, but the near-duplicate r1 is false",
    }


def test_masking_takes_out_what_is_named_and_logs_it() -> None:
    rows = {
        "text": [
            "Don’t trust BOOM at https://a.example/boom, 12 times!",
            "a quiet  line\n",
            "boom",
        ],
        "veracity": ["false", "true", "false"],
    }
    data = Dataset.build("d", pl.DataFrame({"id": ["a", "b", "c"], **rows}))
    kinds = ("urls", "punctuation", "digits", "case", "whitespace")
    recipe = Recipe(
        "mine", 1, (RecipeStep("mask", {"what": list(kinds), "words": ["boom", "don't"]}),)
    )
    done = cl.clean(data, recipe).dataset
    assert dict(done.records.select("id", "text").iter_rows()) == {
        "a": "trust at times",
        "b": "a quiet line",
    }
    assert done.tables["dropped"]["reason"].to_list() == ["nothing is left without what was masked"]
    reasons = dict(done.tables["changes"].select("id", "reason").iter_rows())
    assert reasons["a"].startswith("masked: boom, don’t, urls")


def test_words_are_masked_in_scripts_without_spaces() -> None:
    data = Dataset.build(
        "d", pl.DataFrame({"id": ["a"], "text": ["这是中国的新闻"], "veracity": ["true"]})
    )
    done = cl.clean(
        data, Recipe("mine", 1, (RecipeStep("mask", {"what": [], "words": ["中国"]}),))
    ).dataset
    assert done.records["text"].to_list() == ["这是 的新闻"]


def test_a_repair_takes_nothing_that_a_later_one_needs() -> None:
    """A text of two pages is repaired by neither: its controls are letters, and stay."""
    broken = "เธงเธฑเธ\x84เธ\x8bเธตเธ\x99 GrÃ¶\x83Ÿe \ufffd"
    outcome = run("repair-text", texts(broken, "plain\x90 text"))
    assert outcome.kept["text"].to_list() == [broken, "plain text"]


CLAIMS_OF_TWO_WORDS = (
    "الأرض مسطحة", "Вакцины убивают", "疫苗有毒", "백신은 위험하다", "Aşılar zararlıdır", "Rokotteet tappavat", "ワクチンは危険", "วัคซีนอันตราย",
    "Vaccines kill", "Impfungen töten", "टीके खतरनाक", "Vaksin berbahaya",
)  # fmt: skip


def test_claims_of_two_words_stay_in_every_script_and_exclamations_are_doubtful() -> None:
    texts = [*CLAIMS_OF_TWO_WORDS, "ok", "lol", "好", "네", "!!!", "👍"]
    frame = records(*({"id": str(i), "text": text} for i, text in enumerate(texts)))
    outcome = run("too-short", frame, letters=10, action="doubtful")
    text_of = dict(zip(frame["id"], texts, strict=True))
    assert outcome.kept["text"].to_list() == list(CLAIMS_OF_TWO_WORDS)
    assert [text_of[i] for i in outcome.doubtful["id"]] == ["ok", "lol", "好", "네"]
    assert [text_of[i] for i in outcome.dropped["id"]] == ["!!!", "👍"]
    # a published recipe keeps its rule
    plain = run("too-short", frame)
    assert plain.doubtful.is_empty()
    assert plain.dropped.height > 10
