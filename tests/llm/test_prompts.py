"""Prompts are files: listed, shown, replaced for a run, and named by their hash in lineage and run
key.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from parts.packages import PACKAGES, module_files

from claimlab.cli.app import run as command
from claimlab.core.errors import ClaimlabError, UnknownName, UsageError
from claimlab.llm.prompts import Prompts, as_toml, packaged_prompts, read_prompts


def test_every_prompt_has_a_name_of_its_own_a_version_and_a_verb_that_uses_it() -> None:
    files = [file for source in PACKAGES.values() for file in source.rglob("data/prompts/*.toml")]
    assert Counter(file.stem for file in files) == Counter(packaged_prompts().keys())
    for prompt in packaged_prompts().values():
        assert prompt.version >= 1
        assert prompt.used_by
        assert prompt.summary.endswith((".", "?"))
        assert all(text and "\n\n\n" not in text for text in prompt.parts.values()), prompt.name
        if prompt.instead_of:
            assert set(prompt.parts) <= set(packaged_prompts()[prompt.instead_of].parts)


def test_no_prompt_is_a_constant_in_code() -> None:
    """A prompt speaks to a model: "You ...". Such a sentence outside the prompt files would escape
    listing and hash.
    """
    found = [
        f"{name}: {line.strip()[:60]}"
        for name, file in module_files()
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(('"You ', "'You ", 'f"You '))
    ]
    allowed = ("claimlab.detect.detectors.llm_search",)  # what it is told of a search
    assert [line for line in found if not line.startswith(allowed)] == []


def test_a_file_replaces_the_parts_it_names_and_the_hash_follows_the_words(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[parts]\nscore = "Give a score from 0 to 10."\n', encoding="utf-8")
    words = read_prompts([f"contradiction={file}"], "judge")
    mine, packaged = words["contradiction"], Prompts()["contradiction"]
    assert mine.text("score") == "Give a score from 0 to 10."
    assert mine.text("system") == packaged.text("system"), "what the file does not name stays"
    assert mine.sha256 != packaged.sha256
    assert words.lineage("contradiction")["contradiction"] == {
        "version": packaged.version, "sha256": mine.sha256[:16], "file": "mine.toml",
    }  # fmt: skip
    same = read_prompts({"contradiction": file}, "judge")
    assert same == words, "a mapping says the same as words"


def test_a_shown_prompt_is_a_file_that_gives_the_same_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, prompt in packaged_prompts().items():
        assert tomllib.loads(as_toml(prompt))["parts"] == dict(prompt.parts), name
    assert command(["llm", "prompts", "zero-shot"]) == 0
    (tmp_path / "copy.toml").write_text(capsys.readouterr().out, encoding="utf-8")
    copy = read_prompts({"zero-shot": tmp_path / "copy.toml"}, "detect")["zero-shot"]
    assert copy.sha256 == Prompts()["zero-shot"].sha256


@pytest.mark.leaf
def test_the_list_names_version_user_and_hash(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["llm", "prompts", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["prompts"]}
    assert {
        "zero-shot",
        "few-shot",
        "search",
        "contradiction",
        "feasibility",
        "fuse-eval",
        "worth",
    } <= set(rows)
    assert rows["contradiction"]["used_by"] == ["judge"]
    assert len(rows["contradiction"]["sha256"]) == 64
    assert command(["llm", "prompts"]) == 0
    assert rows["feasibility"]["sha256"][:16] in capsys.readouterr().out


def test_a_packaged_variant_stands_for_a_published_procedure() -> None:
    words = read_prompts(["few-shot=pt-afc-few-shot"], "detect")
    assert "Portuguese" in words["few-shot"].text("task")
    assert words.lineage("few-shot")["few-shot"]["file"] == "pt-afc-few-shot"


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ('[parts]\nnone = "x"', UsageError, "no part 'none'"),
        ('[parts]\nscore = "From {low} to 10"', UsageError, r"Nothing fills in \{low\}"),
        ("[parts]\nscore = 3", ClaimlabError, "not texts"),
        ("not toml", ClaimlabError, "not valid TOML"),
    ],
)
def test_what_cannot_be_used_is_an_error_with_the_way_out(
    text: str, error: type, words: str, tmp_path: Path
) -> None:
    (tmp_path / "bad.toml").write_text(text, encoding="utf-8")
    with pytest.raises(error, match=words):
        read_prompts({"contradiction": tmp_path / "bad.toml"}, "judge")


def test_a_prompt_that_the_verb_never_asks_is_refused() -> None:
    with pytest.raises(UnknownName, match="prompt of judge"):
        read_prompts({"zero-shot": "x.toml"}, "judge")
    with pytest.raises(UsageError, match="NAME=FILE"):
        read_prompts(["contradiction"], "judge")
