"""The shell's tab key: names of datasets, detectors, checks, strategies and formats, without
importing anything heavy.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from manual.helppages import word_files, words

from claimlab.audit.check import CHECKS
from claimlab.catalog.load import DATASETS
from claimlab.cli import complete
from claimlab.detect.detector import DETECTORS
from claimlab.exchange.format import FORMATS
from claimlab.split.strategy import SPLITTERS


def pressed(words: str) -> list[str]:
    """What bash is offered for the last of `words`."""
    count = len(words.split(" ")) - 1
    env = {
        **os.environ,
        "_CLAIMLAB_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(count),
    }
    code = (
        "import sys\nfrom claimlab.cli.app import main\n"
        "try:\n    main([])\nfinally:\n"
        "    heavy = {'polars', 'numpy', 'scipy', 'sklearn'} & set(sys.modules)\n"
        "    print('heavy:', *sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stderr.strip() == "heavy:", done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offer"),
    [
        ("claimlab loa", ["load"]),
        ("claimlab load covid19-b", ["covid19-br"]),
        ("claimlab catalog show fakenewsn", ["fakenewsnet"]),
        ("claimlab detect data --detector llm-z", ["llm-zero-shot"]),
        ("claimlab audit data --check near", ["near-duplicates"]),
        ("claimlab export data --to cro", ["croissant"]),
        ("claimlab split data --by ran", ["random"]),
    ],
)
def test_a_shell_is_offered_names_without_heavy_imports(words: str, offer: list[str]) -> None:
    assert pressed(words) == offer


def test_every_name_of_a_registry_is_offered() -> None:
    assert complete.datasets("") == DATASETS.names()
    assert complete.detectors("") == DETECTORS.names()
    assert complete.checks("") == CHECKS.names()
    assert complete.formats("") == FORMATS.names()
    assert complete.strategies("") == SPLITTERS.names()


def test_the_words_of_commands_are_those_of_the_commands() -> None:
    for file, verbs in word_files().items():
        assert file.read_text(encoding="utf-8") == words(verbs), "make docs writes them again"


@pytest.mark.parametrize(
    ("words", "offer"),
    [
        ("claimlab detect data -o run --detec", ["--detector", "--detectors"]),
        ("claimlab catalog --top", ["--topic"]),
        pytest.param("claimlab evolve dri", ["drift"], marks=pytest.mark.leaf),
    ],
)
def test_a_shell_is_offered_options_and_commands(words: str, offer: list[str]) -> None:
    assert pressed(words) == offer
