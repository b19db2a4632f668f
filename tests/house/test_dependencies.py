"""What is pinned is what is admitted: constraints.txt against pyproject.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FREE = {"torch"}  # the Makefile names its build


def pins() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def requirements() -> Iterator[Requirement]:
    extras = PROJECT["optional-dependencies"]
    for line in [*PROJECT["dependencies"], *(r for name, lines in extras.items() if name != "bench" for r in lines)]:
        if canonicalize_name(Requirement(line).name) not in {"claimlab", *FREE}:
            yield Requirement(line)


def test_every_requirement_is_pinned_within_its_bounds() -> None:
    pinned = pins()
    wrong = [
        str(r) for r in requirements() if (v := pinned.get(canonicalize_name(r.name))) is None or v not in r.specifier
    ]
    assert wrong == [], "pin them in constraints.txt, within the bounds of pyproject.toml"


def test_what_results_depend_on_has_an_upper_bound() -> None:
    open_ended = {
        r.name for r in map(Requirement, PROJECT["dependencies"]) if not any("<" in s.operator for s in r.specifier)
    }
    assert open_ended <= {"publicsuffixlist"}, "dated versions have no major one; all others can break us"


def test_the_oldest_polars_that_is_compared_is_the_oldest_that_is_admitted() -> None:
    from polars_versions import OLD

    (polars,) = (r for r in requirements() if r.name == "polars")
    assert {Version(s.version) for s in polars.specifier if s.operator == ">="} == {
        Version(".".join(OLD.split(".")[:2]))
    }
