"""What a run passes to everything that asks: modes that contradict themselves are refused,
recordings are shared.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from claimlab.core.calls.calls import MODES, RECORDING_FILE, Calls, check_mode
from claimlab.core.calls.recording import CallQuestion, CallReply
from claimlab.core.errors import UnreadableFile, UsageError

QUESTION = CallQuestion("brave", {"q": "x"})


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_is_valid(mode: str) -> None:
    assert check_mode(mode) == mode


@pytest.mark.parametrize("mode", ["Live", "", "cached"])
def test_other_words_are_not_modes(mode: str) -> None:
    with pytest.raises(UsageError, match="live, record, replay"):
        check_mode(mode)


def test_live_with_a_cache_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`cache`"):
        Calls(mode="live", cache=tmp_path)
    assert Calls(mode="live").recording is None


@pytest.mark.parametrize("mode", ["record", "replay"])
def test_recording_needs_a_folder(mode: str) -> None:
    with pytest.raises(UsageError, match="`cache`"):
        assert Calls(mode=check_mode(mode)).recording


def test_replay_names_the_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=str(tmp_path / RECORDING_FILE)):
        assert Calls(mode="replay", cache=tmp_path).recording
    assert not list(tmp_path.iterdir())


def test_one_recording_serves_all_and_is_read_back(tmp_path: Path) -> None:
    calls = Calls(cache=tmp_path)
    assert calls.recording is not None
    assert calls.recording is calls.recording
    calls.recording.put(QUESTION, CallReply({"a": 1}))
    calls.close()
    again = Calls(mode="replay", cache=tmp_path)
    assert again.recording is not None
    assert again.recording.require(QUESTION) == {"a": 1}


def test_an_estimate_leaves_no_file_behind(tmp_path: Path) -> None:
    assert Calls(cache=tmp_path).existing() is None
    assert Calls().existing() is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["llm.sqlite", "search.sqlite"])
def test_recordings_of_0_1_are_not_passed_over_in_silence(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(UsageError, match=rf"{name}.*Replay them with claimlab 0.1"):
        assert Calls(cache=tmp_path).recording


def test_no_calls_at_once_is_refused() -> None:
    with pytest.raises(UsageError, match="`concurrency`"):
        Calls(concurrency=0)


def test_a_cache_may_be_named_as_text(tmp_path: Path) -> None:
    calls = Calls(cache=str(tmp_path / "kept"))
    assert calls.recording is not None
    assert (tmp_path / "kept" / "calls.sqlite").is_file()
    calls.close()
