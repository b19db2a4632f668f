"""A model file by its path: found, checked, and served by the same server as the embedded model."""

from __future__ import annotations

from pathlib import Path

import pytest

from claimlab.core.calls.calls import Calls
from claimlab.core.errors import ClaimlabError, UnreadableFile, UsageError
from claimlab.llm import weights
from claimlab.llm.asking import ask_sync
from claimlab.llm.messages import Request
from claimlab.llm.open import Colour, open_provider
from claimlab.llm.profiles import find_profile
from claimlab.llm.providers.table_local import Gguf


def test_a_path_is_a_profile_that_costs_nothing_and_names_the_model(tmp_path: Path) -> None:
    (tmp_path / "tiny-1b.Q4.gguf").write_bytes(b"GGUF\x03\x00\x00\x00")
    profile = find_profile(f"gguf:{tmp_path / 'tiny-1b.Q4.gguf'}")
    assert (profile.provider, profile.model, profile.key_variable) == ("gguf", "tiny-1b.Q4", None)
    assert profile.price is not None
    assert profile.price.cost(1_000_000, 1_000_000) == 0
    assert str(tmp_path) not in (profile.name + profile.chosen_model()), (
        "no path of this machine in a lineage"
    )


def test_what_is_not_a_model_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(UnreadableFile, match="not a GGUF file"):
        find_profile(f"gguf:{tmp_path / 'x.gguf'}")
    with pytest.raises(UnreadableFile, match="no model file"):
        find_profile(f"gguf:{tmp_path / 'nothing'}")
    gone = open_provider(f"gguf:{tmp_path / 'gone.gguf'}", calls=Calls(mode="live"))
    with pytest.raises(UnreadableFile, match="no model file"):
        ask_sync(gone, Request.of("x"))


@pytest.mark.slow
@pytest.mark.needs("xllamacpp")
def test_a_file_answers_by_schema() -> None:
    if not weights.installed():
        pytest.skip("the embedded model, whose file is used here, is not installed")
    provider = open_provider(f"gguf:{weights.weights_path()}", calls=Calls(mode="live"))
    answer = ask_sync(
        provider,
        Request.of("Which colour is the sky? Reply as JSON.", schema=Colour, max_tokens=60, seed=0),
    )
    assert answer.value is not None
    assert answer.cost == 0


def test_context_slots_and_threads_stand_behind_the_path() -> None:
    profile = find_profile("gguf:small.gguf?context=2048&slots=1&threads=3")
    provider = Gguf(profile)
    load = provider.load
    assert (load.context, load.slots, load.threads, profile.concurrency) == (2048, 1, 3, 1)
    assert load.weights.name == "small.gguf"
    assert Gguf(find_profile("gguf:small.gguf")).load.slots == 2
    for wrong in ("slots=0", "contxt=1", "threads=two"):
        with pytest.raises(UsageError, match=f"no setting '{wrong}'"):
            find_profile(f"gguf:small.gguf?{wrong}")


def test_weights_that_do_not_fit_say_what_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "big.gguf").write_bytes(b"GGUF" + b"0" * 100)
    monkeypatch.setattr("claimlab.llm.providers.table_local.free_memory", lambda: 10)
    with pytest.raises(ClaimlabError, match="for its weights alone"):
        Gguf(find_profile(f"gguf:{tmp_path / 'big.gguf'}")).check()
