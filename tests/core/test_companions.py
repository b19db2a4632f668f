"""What a user is told who asks for something of a companion that is not installed, and that this is
what the companion adds where it is.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from parts.packages import HAS_SIMULATE

import claimlab as cl
from claimlab.cli.app import run
from claimlab.cli.lazy import VERBS as COMMANDS
from claimlab.core.companions import companions
from claimlab.core.engine.functions import FUNCTIONS as WORK
from claimlab.core.engine.functions import function_named
from claimlab.core.errors import ClaimlabError
from claimlab.core.front_door import FUNCTIONS
from claimlab.study.file import read_study_file
from claimlab.study.verb import VERBS as STEPS
from claimlab.web.reports import VIEWERS

REGISTRIES = (COMMANDS, FUNCTIONS, STEPS, WORK, VIEWERS)
SAID = "is in the package claimlab-simulate, which is not installed. In a clone of claimlab: pip install ./simulate"


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other package is installed."""
    for registry in REGISTRIES:
        monkeypatch.setitem(registry.__dict__, "_outside", {})


@pytest.mark.usefixtures("alone")
def test_a_command_and_the_help_say_what_to_install(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["evolve", "run", "data"]) == 1
    assert f"'evolve' {SAID}" in capsys.readouterr().err
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert "  generate  Make benchmark text" in text
    assert "pip install ./simulate" in text


@pytest.mark.usefixtures("alone")
def test_a_name_in_python_says_what_to_install() -> None:
    with pytest.raises(AttributeError, match="pip install ./simulate"):
        cl.worth  # noqa: B018
    assert "worth" not in cl.__all__


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "words",
    [
        '[grid]\nevolve = ["noise"]\ndetector = ["majority"]\n[evolve.noise]\nkind = "natural"\n',
        '[grid]\nevolve = ["direct"]\ndetector = ["majority"]\n',
        '[grid]\ndetector = ["majority"]\n[datasets.more]\nof = "data"\ngenerate = "real"\n',
        '[grid]\ndetector = ["majority"]\n[[show]]\ntitle = "Drift"\nstep = "drift"\n',
    ],
)
def test_a_study_says_what_to_install(words: str, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(f'[datasets.data]\nfolder = "data"\n{words}', encoding="utf-8")
    with pytest.raises(ClaimlabError, match="pip install ./simulate"):
        read_study_file(file)


@pytest.mark.usefixtures("alone")
def test_a_worker_says_what_to_install() -> None:
    with pytest.raises(ClaimlabError, match="pip install ./simulate"):
        function_named("evolve lives")


@pytest.mark.skipif(not HAS_SIMULATE, reason="claimlab-simulate is not installed")
def test_what_is_said_of_a_companion_is_what_it_adds() -> None:
    said = companions()["claimlab-simulate"]
    for registry in REGISTRIES:
        added = {n for n in registry.outside() if "claimlab_simulate" in str(registry.place(n))}
        assert added == set(said[registry.group]), registry.group
