"""What is pinned is what is admitted, and is what CI installs: pyproject.toml, constraints.txt and
the hashed lock.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import dependencies
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT, SIMULATE = (
    tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for folder in (".", "simulate")
)
FREE = {"torch"}  # the Makefile names its build


def pins() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def requirements() -> Iterator[Requirement]:
    """Of claimlab, with the extras of claimlab-simulate."""
    lines = list(PROJECT["dependencies"])
    for project in (PROJECT, SIMULATE):
        extras = project["optional-dependencies"]
        lines += [line for name, extra in extras.items() if name != "bench" for line in extra]
    for line in lines:
        if canonicalize_name(Requirement(line).name) not in {"claimlab", *FREE}:
            yield Requirement(line)


def test_every_requirement_is_pinned_within_its_bounds() -> None:
    pinned = pins()
    wrong = [
        str(r)
        for r in requirements()
        if (v := pinned.get(canonicalize_name(r.name))) is None or v not in r.specifier
    ]
    assert wrong == [], "pin them in constraints.txt, within the bounds of pyproject.toml"


def test_simulate_admits_what_is_pinned_and_no_other_version_of_what_claimlab_admits() -> None:
    pinned, admitted = pins(), {r.name: r.specifier for r in requirements()}
    for need in map(Requirement, SIMULATE["dependencies"]):
        if need.name != "claimlab":
            assert pinned[canonicalize_name(need.name)] in need.specifier
            assert need.specifier == admitted.get(need.name, need.specifier)
    assert "claimlab" in {need.name for need in map(Requirement, SIMULATE["dependencies"])}


def test_what_results_depend_on_has_an_upper_bound() -> None:
    open_ended = {
        r.name
        for r in map(Requirement, PROJECT["dependencies"])
        if not any("<" in s.operator for s in r.specifier)
    }
    assert open_ended <= {"publicsuffixlist"}, (
        "dated versions have no major one; all others can break us"
    )


def test_the_oldest_polars_that_is_compared_is_the_oldest_that_is_admitted() -> None:
    from polars_versions import OLD

    (polars,) = (r for r in requirements() if r.name == "polars")
    assert {Version(s.version) for s in polars.specifier if s.operator == ">="} == {
        Version(".".join(OLD.split(".")[:2]))
    }


def test_the_hashed_lock_pins_what_the_tools_and_the_base_need_with_hashes_and_nothing_else() -> (
    None
):
    lock, pinned = dependencies.locked(), pins()
    assert all(len(hashes) >= 1 for versions in lock.values() for hashes in versions.values())
    versions = {name: Version(*found) for name, found in lock.items()}
    elsewhere = {
        "appnope",
        "colorama",
        "httpx2-jsfetch",
        "pywin32",
    }  # packages of other systems than Linux
    assert {n: v for n, v in versions.items() if n not in elsewhere and pinned.get(n) != v} == {}, (
        "run `make lock`"
    )
    extras = PROJECT["optional-dependencies"]
    whole = Requirement(extras["dev-all"][0]).extras
    wanted = [*PROJECT["dependencies"], *extras["dev-all"]]
    wanted += [line for extra in whole for line in extras[extra]]
    needed = {canonicalize_name(Requirement(line).name) for line in wanted} - {"claimlab"}
    assert needed - set(lock) == set(), "run `make lock`"
    assert "torch" not in lock, "the Makefile names its build"
    assert "://" not in dependencies.LOCK.read_text(encoding="utf-8"), "no address of an index"


def test_ci_installs_from_the_hashed_lock() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    base = "$(PIP) --require-hashes -r constraints-demo-hashed.txt\n\t$(PIP) --no-deps -e . -e ./simulate\n"
    assert base in recipe
    for lock in ("constraints-dev-hashed.txt", "constraints-hashed.txt"):
        assert f"$(PIP) --require-hashes -r {lock}\n" in recipe


@pytest.mark.parametrize(("name", "extra", "most"), [("demo", "web", 70), ("dev", "dev", 95)])
def test_the_smaller_locks_are_parts_of_what_ci_tested(name: str, extra: str, most: int) -> None:
    lock = (ROOT / f"constraints-{name}-hashed.txt").read_text(encoding="utf-8")
    tested = dependencies.LOCK.read_text(encoding="utf-8")
    entries = re.findall(r"(?m)^\S+==.*(?:\n {4}--hash=.*)+", lock)
    assert len(entries) <= most, "the quick start and the quick tests are to stay small"
    assert [entry for entry in entries if entry not in tested] == [], "run `make lock`"
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]]
    names = {canonicalize_name(Requirement(line).name) for line in needed} - {"claimlab"}
    assert names <= {canonicalize_name(entry.split("==")[0]) for entry in entries}


def test_the_bill_of_materials_lists_every_package_of_the_base_install() -> None:
    """The shape that CycloneDX 1.5 asks for; and each package that the installed claimlab needs,
    once.
    """
    bill = dependencies.bill()
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.5", 1)
    parts = {canonicalize_name(part["name"]): part for part in bill["components"]}
    assert len(parts) == len(bill["components"])
    assert {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]} <= set(
        parts
    )
    for name, part in parts.items():
        assert part["type"] == "library"
        assert part["version"] == distribution(name).version
        assert part["purl"] == part["bom-ref"] == f"pkg:pypi/{name}@{part['version']}"
        assert part["properties"], f"{name}: no admitted hash; run `make lock`"
        for licence in part.get("licenses", []):
            assert licence.get("expression") or licence["license"]["name"]
        for line in distribution(name).requires or []:
            need = Requirement(line)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                assert canonicalize_name(need.name) in parts
    refs = {bill["metadata"]["component"]["bom-ref"], *(part["bom-ref"] for part in parts.values())}
    assert {edge["ref"] for edge in bill["dependencies"]} == refs
    assert {ref for edge in bill["dependencies"] for ref in edge["dependsOn"]} <= refs
    assert dependencies.bill() == bill


AUDITOR = """import json, pathlib, sys
file = pathlib.Path(sys.argv[-1])
if file.name != "known.txt":
    print(json.dumps({{"dependencies": {answers}}}))
else:
    print(json.dumps({{"dependencies": [{{"name": "jinja2", "version": "2.10", {known}}}]}}))
"""


@pytest.mark.parametrize(
    ("known", "answers", "code", "words"),
    [
        (
            '"skip_reason": "not found"',
            [],
            0,
            "not measured: the source of advisories cannot be reached",
        ),
        ('"vulns": []', [], 0, "not measured: the source of advisories cannot be reached"),
        (
            '"vulns": [{"id": "A"}]',
            [{"name": "a", "version": "1", "vulns": []}],
            0,
            "audited: 1 packages",
        ),
        (
            '"vulns": [{"id": "A"}]',
            [{"name": "a", "version": "1", "skip_reason": "x"}],
            0,
            "not audited: a 1",
        ),
        (
            '"vulns": [{"id": "A"}]',
            [{"name": "a", "version": "1", "vulns": [{"id": "B"}]}],
            1,
            "a 1: B",
        ),
    ],
)
def test_silence_of_a_source_of_advisories_is_no_pass(
    known: str,
    answers: list[object],
    code: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the place of pip-audit, a program that answers in its format: here no source of advisories
    can be reached.
    """
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "python"
    program.write_text(
        f"#!{sys.executable}\n" + AUDITOR.format(known=known, answers=answers), encoding="utf-8"
    )
    program.chmod(0o755)
    monkeypatch.setattr(dependencies, "AUDITOR", tmp_path)
    try:
        ended = dependencies.audit()
    except SystemExit as end:
        ended = end.code
    assert ended == code
    assert words in "".join(capsys.readouterr())


def test_workflows_name_actions_by_commit() -> None:
    """A tag can be moved to other code; the comment behind the commit says which tag it was."""
    root = Path(__file__).resolve().parents[2]
    files = [*(root / ".github" / "workflows").glob("*.yml"), root / "action.yml"]
    used = [
        line.split("uses:", 1)[1].strip()
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*-?\s*uses:", line)
    ]
    assert used
    assert [
        name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v[\d.]+", name)
    ] == []
