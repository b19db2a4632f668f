"""Profiles: data, never a key; every provider opens; a missing extra is one sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from parts.standin import StandIn, own_profile

from claimlab.cli.app import run as command
from claimlab.core.calls.calls import Calls
from claimlab.core.errors import (
    ClaimlabError,
    MissingExtra,
    UnknownName,
    UnreadableFile,
    UsageError,
)
from claimlab.llm.asking import ask_sync
from claimlab.llm.messages import Request, Usage
from claimlab.llm.open import open_provider
from claimlab.llm.profiles import all_profiles, find_profile
from claimlab.llm.provider import PROVIDERS

MINE = """
[lab]
base_url = "http://127.0.0.1:8001/v1"
key_variable = "LAB_KEY"
model = "big"
[lab.prices]
big = { input = 0.5, output = 1.5, as_of = 2026-10-01 }

[spare]
base_url = "http://127.0.0.1:8002/v1"
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    own_profile(path, MINE)
    return path


@pytest.mark.parametrize("name", sorted(all_profiles()))
def test_every_built_in_profile_is_whole(name: str) -> None:
    profile = find_profile(name)
    assert profile.provider in PROVIDERS
    assert profile.base_url or profile.provider != "openai-compatible"
    assert profile.key_variable is None or profile.key_variable.endswith("_KEY")
    for model, price in profile.prices.items():
        assert price.as_of is not None or (price.input, price.output) == (0, 0), (
            f"{model}: a price has a date"
        )
    if profile.model is not None and profile.key_variable is not None:
        assert profile.price is not None, "a default model that costs money says what"


def test_the_vendors_and_the_local_servers_are_there() -> None:
    vendors = {
        "openai",
        "anthropic",
        "gemini",
        "mistral",
        "groq",
        "together",
        "openrouter",
        "deepseek",
    }
    assert vendors | {"ollama", "vllm", "llamacpp", "embedded"} <= set(all_profiles())


@pytest.mark.parametrize("name", PROVIDERS.names())
def test_every_provider_is_callable_with_a_profile(name: str) -> None:
    assert callable(PROVIDERS.get(name))


def test_the_three_providers_are_found() -> None:
    assert {"openai-compatible", "embedded", "scripted"} <= set(PROVIDERS.names())


def test_own_profiles_by_file_by_name_and_by_variable(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_profile(f"{mine}#lab").model == "big"
    with pytest.raises(UsageError, match="holds 2 profiles"):
        find_profile(str(mine))
    with pytest.raises(UnknownName, match="lab"):
        find_profile("lab")
    monkeypatch.setenv("CLAIMLAB_PROFILES", str(mine))
    assert find_profile("lab").cost(Usage(1_000_000, 1_000_000)) == 2.0
    assert find_profile("lab").with_model("other").cost(Usage(1, 1)) is None
    with pytest.raises(UnknownName, match="openrouter"):
        find_profile("openruoter")


@pytest.mark.parametrize(
    "text",
    [
        '[x]\nbase_url = "http://h/v1"\nkey_variable = "sk-proj-SECRET1234"',
        '[x]\nbase_url = "http://h/v1"\napi_key = "sk-proj-SECRET1234"',
        '[x]\nbase_url = "http://user:SECRET1234@h/v1"',
        '[x]\nbase_url = "ftp://SECRET1234"',
        'x = "SECRET1234"',
        '[x]\nname = "SECRET1234"',
        '[x]\nparameters = {max_tokens = 9, n = 4, user = "SECRET1234"}',
    ],
)
def test_a_wrong_profile_is_refused_without_showing_what_may_be_a_key(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableFile) as caught:
        find_profile(str(path))
    assert "SECRET1234" not in str(caught.value)


def test_a_missing_key_and_a_missing_model_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    provider = open_provider("openai", calls=Calls(mode="live"))  # an estimate needs no key
    with pytest.raises(ClaimlabError, match="export OPENAI_API_KEY"):
        ask_sync(provider, Request.of("hello"))
    with pytest.raises(UsageError, match="`model`"):
        open_provider("vllm", calls=Calls(mode="live"))


def test_a_missing_extra_says_the_pip_line(lab: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"pip install 'claimlab\[llm\]'"):
        lab.ask(lab.open("http://127.0.0.1:9/v1"))


def test_another_vendors_key_and_account_are_never_sent(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-vendor")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-another-vendor")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with StandIn() as server:
        assert lab.ask(lab.open(server)).ok
    assert "another-vendor" not in json.dumps(server.last_headers)


def test_an_endpoint_that_echoes_the_key_does_not_get_it_printed(
    lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from parts import standin

    monkeypatch.setenv("LAB_KEY", "sk-echoed-value")
    monkeypatch.setitem(
        standin._FAULTS, "echo", (400, b'{"error": {"message": "bad key sk-echoed-value given"}}')
    )
    with StandIn(fault=lab.faulty("echo")) as server:
        answer = lab.ask(lab.open(server, settings={"key_variable": "LAB_KEY"}))
    assert answer.detail == "bad key [key] given"


def test_the_verb_lists_profiles_and_shows_no_key(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAIMLAB_PROFILES", str(mine))
    monkeypatch.setenv("LAB_KEY", "sk-very-secret")
    assert command(["llm", "profiles", "--json"]) == 0
    out = capsys.readouterr().out
    rows = {row["name"]: row for row in json.loads(out)["profiles"]}
    assert rows["lab"]["key_set"] is True
    assert rows["spare"]["price"] is None
    assert "sk-very-secret" not in out
    assert command(["llm", "profiles"]) == 0
    text = capsys.readouterr().out
    assert "price unknown" in text
    assert "sk-very-secret" not in text


def test_the_verb_tries_an_endpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.toml"
    with StandIn(answer=lambda _: '{"colour": "blue", "letters": 4}') as server:
        own_profile(path, f'[x]\nbase_url = "{server.url}"\nmodel = "m"\n')
        assert command(["llm", "test", "--profile", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["answer"] == {"colour": "blue", "letters": 4}
    assert found["schema"] == "works (asked for in words)"
    assert found["cost"] is None
    assert command(["llm", "test", "--profile", str(path)]) == 1, "the server is gone now"
    shown = capsys.readouterr()
    assert "unreachable" in shown.out
    assert "not measured" in shown.out


def test_a_bare_name_is_never_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in all_profiles():
        Path(name).write_text('[x]\nbase_url = "http://127.0.0.1:9/v1"\n', encoding="utf-8")
        assert find_profile(name) == all_profiles()[name]
    assert find_profile("./openai").name == "x"
