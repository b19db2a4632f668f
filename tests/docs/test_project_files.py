"""The files that people look for in a project are there, can be read, and agree with the
package.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

import claimlab as cl

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type", "license"} <= set(citation)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert str(citation["version"]) == cl.__version__
    assert citation["license"] == project["license"]


def test_workflows_and_templates_can_be_read() -> None:
    targets = set(
        re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    )
    phases = (ROOT / ".ci" / "phases.py").read_text(encoding="utf-8")
    calls = re.findall(r"\bmake\((\"[^)]+)\)", phases)
    words = {word for call in calls for word in re.findall(r"\"([^\"]+)\"", call)}
    ours = words - {".venv/.neural", "test-failed", "--jobs", "2"}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    needed = re.search(r"^test-all: (.+)$", makefile, flags=re.M)
    assert needed is not None
    whole = {"test-all": set(needed[1].split())}
    assert ours == {"bench-quick", "demo", "sbom", "audit-deps"} | whole["test-all"]
    for file in (ROOT / ".github" / "workflows").glob("*.yml"):
        jobs = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]
        commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
        made = {
            target for command in commands for target in re.findall(r"\bmake ([a-z-]+)", command)
        }
        parts = made.union(*(whole.get(target, set()) for target in made))
        # what is released, or mutated, was tested as the commit that it is; what is drawn anew
        # each day or week, or fetched, is beside every commit
        if file.name not in ("release.yml", "mutants.yml", "received.yml", "sources.yml"):
            assert parts >= ours, f"{file.name} leaves out {', '.join(sorted(ours - parts))}"
        assert made <= targets, f"{file.name} runs a target that the Makefile does not have"
    for template in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"):
        _, head, body = template.read_text(encoding="utf-8").split("---\n", 2)
        assert {"name", "about"} <= set(yaml.safe_load(head))
        assert body.strip()


def test_the_readme_shows_what_make_demo_prints() -> None:
    """The tests run the README's command and compare what it prints; `make demo` must be the same
    command.
    """
    recipe = re.search(
        r"^demo:.*\n((?:\t.+\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M
    )
    assert recipe is not None
    commands = [line.strip().removeprefix("$(BIN)/") for line in recipe[1].splitlines()]
    assert commands == ["claimlab demo --force"]
    assert "$ claimlab demo --force\n" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_screenshots_are_small() -> None:
    for image in (ROOT / "docs" / "images").iterdir():
        assert image.stat().st_size < 300_000, f"{image.name} is too large for a clone"
