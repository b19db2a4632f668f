"""What claimlab's base install consists of, and what is known against it.

    python bench/dependencies.py table     # version, size, native or pure, author:
                                           docs/dependencies.md
    python bench/dependencies.py sbom      # build/sbom.json, CycloneDX 1.5; `make sbom`
    python bench/dependencies.py audit     # known vulnerabilities of what CI installs; `make
                                           audit-deps`

`--extra NAME` adds an extra to the first two. The audit asks first about a release with a known
advisory: a source that does not name it cannot be trusted with the others, so nothing is said of
them, and the run goes on.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from datetime import UTC, date, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any, NoReturn

from harness import ROOT, begin, parser, unmeasured
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from claimlab import __version__

LOCK = ROOT / "constraints-hashed.txt"
SBOM = ROOT / "build" / "sbom.json"
AUDITOR = ROOT / "build" / "audit-deps"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NATIVE = re.compile(r"\.(so|pyd|dylib)(\.|$)")
KNOWN = "jinja2==2.10"  # CVE-2019-10906
DAYS_WITHOUT_ANSWER = 14  # days that "not measured" is accepted
ANSWERED = ROOT / "build" / "audit-deps-answered"  # the day of the last answer
SECONDS = 300  # for an audit; a source that does not answer must not hold up a run


def installed(extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """Every distribution that the base install needs here, direct and indirect, by name."""
    found: dict[str, Distribution] = {}
    wanted = [
        *direct(),
        *(
            Requirement(line)
            for extra in extras
            for line in PROJECT["optional-dependencies"][extra]
        ),
    ]
    while wanted:
        requirement = wanted.pop()
        name = canonicalize_name(requirement.name)
        if name not in found and _applies(requirement):
            found[name] = _distribution(name)
            wanted += needs(found[name], requirement.extras)
    return dict(sorted(found.items()))


def direct() -> list[Requirement]:
    return [Requirement(line) for line in PROJECT["dependencies"]]


def needs(of: Distribution, extras: Iterable[str] = ()) -> list[Requirement]:
    return [
        r
        for r in map(Requirement, of.requires or [])
        if any(_applies(r, extra) for extra in ("", *extras))
    ]


def _applies(requirement: Requirement, extra: str = "") -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def _distribution(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        unmeasured(f"{name} is not installed here")


def table(extras: Iterable[str]) -> None:
    found = installed(extras)
    ours = {canonicalize_name(r.name) for r in direct()}
    total = 0
    print(
        "| package | version | MB | native files | author or maintainer, as its metadata says"
        " |\n|---|---|---|---|---|"
    )
    for name, it in found.items():
        size = sum(
            path.stat().st_size for f in it.files or [] if (path := Path(str(f.locate()))).is_file()
        )
        total += size
        native = sum(bool(NATIVE.search(f.name)) for f in it.files or [])
        facts = it.metadata
        people = next(
            (
                facts[k]
                for k in ("Maintainer", "Maintainer-email", "Author", "Author-email")
                if facts[k]
            ),
            "",
        )
        people = re.sub(r"\s*<[^>]*>", "", people).replace('"', "")
        print(
            f"| {name}{'' if name in ours else ' (indirect)'} | {it.version} | {size / 1e6:.1f} |"
            f" {native} | {people} |"
        )
    print(f"\n{len(found)} packages, {total / 1e6:.0f} MB; {len(ours)} of them direct")


def bill(extras: Iterable[str] = ()) -> dict[str, Any]:
    """The bill of materials. It carries no time and no random number: the same packages give the
    same bytes.
    """
    found = installed(extras)
    refs = {name: f"pkg:pypi/{name}@{it.version}" for name, it in found.items()}
    ours = f"pkg:pypi/claimlab@{__version__}"
    top = {canonicalize_name(r.name) for r in direct()}
    top |= {
        canonicalize_name(Requirement(r).name)
        for e in extras
        for r in PROJECT["optional-dependencies"][e]
    }
    edges = {
        ours: top,
        **{refs[n]: {canonicalize_name(r.name) for r in needs(it)} for n, it in found.items()},
    }
    hashes = locked()
    component = {
        "type": "application",
        "bom-ref": ours,
        "name": "claimlab",
        "version": __version__,
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                **component,
                "purl": ours,
                "licenses": [{"expression": PROJECT["license"]}],
            }
        },
        "components": [
            _component(it, refs[name], hashes.get(name, {})) for name, it in found.items()
        ],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(refs[name] for name in names if name in refs)}
            for ref, names in edges.items()
        ],
    }


def _component(it: Distribution, ref: str, hashes: dict[str, list[str]]) -> dict[str, Any]:
    """One package; its hashes are those of the files that CI admits for this version, on any
    platform.
    """
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": ref,
        "name": it.metadata["Name"],
        "version": it.version,
    }
    if licence := _licence(it):
        made["licenses"] = [licence]
    made["purl"] = ref
    if admitted := hashes.get(it.version):
        made["properties"] = [
            {"name": "claimlab:admitted:sha256", "value": value} for value in admitted
        ]
    return made


def _licence(it: Distribution) -> dict[str, Any] | None:
    facts = it.metadata
    if expression := facts.get("License-Expression"):
        return {"expression": expression}
    classes = [
        c.rsplit(" :: ", 1)[-1]
        for c in facts.get_all("Classifier") or []
        if c.startswith("License ::")
    ]
    name = (classes or (facts.get("License") or "").strip().splitlines() or [""])[0]
    return {"license": {"name": name}} if name else None


def locked() -> dict[str, dict[str, list[str]]]:
    """The admitted sha256 of each package and version in the hashed lock."""
    found: dict[str, dict[str, list[str]]] = {}
    for block in re.split(r"\n(?=\w)", LOCK.read_text(encoding="utf-8")):
        if pin := re.match(r"([\w.-]+)==([^\s;\\]+)", block):
            found[canonicalize_name(pin[1])] = {
                pin[2]: re.findall(r"--hash=sha256:([0-9a-f]{64})\b", block)
            }
    return found


def unanswered(reason: str, file: Path = ANSWERED, today: date | None = None) -> NoReturn:
    """ "Not measured", which is no failure for some days: it is one where the last answer, of which
    CI keeps the date in its cache, is older. Where no date is kept, today's is."""
    today = today or datetime.now(UTC).date()
    if not file.is_file():
        note_answer(file, today)
    last = date.fromisoformat(file.read_text(encoding="utf-8").strip())
    if (today - last).days > DAYS_WITHOUT_ANSWER:
        print(f"no source of advisories has answered since {last}: {reason}")
        raise SystemExit(1)
    unmeasured(reason)


def note_answer(file: Path = ANSWERED, today: date | None = None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{today or datetime.now(UTC).date()}\n", encoding="utf-8")


def audit(ignored: Iterable[str] = ()) -> int:
    """The exit status: 1 where a package that CI installs has a known vulnerability, 0
    otherwise.
    """
    with tempfile.TemporaryDirectory() as place:
        known = Path(place) / "known.txt"
        known.write_text(f"{KNOWN}\n", encoding="utf-8")
        if not any(names for names in _asked(known).values()):
            unanswered(f"the source of advisories cannot be reached, or does not know of {KNOWN}")
    answers = _asked(LOCK, *(word for name in ignored for word in ("--ignore-vuln", name)))
    note_answer()
    silent = sorted(name for name, found in answers.items() if found is None)
    wrong = {name: found for name, found in sorted(answers.items()) if found}
    for name, found in wrong.items():
        print(f"{name}: {', '.join(found)}")
    print(
        f"audited: {len(answers) - len(silent)} packages; with known vulnerabilities: {len(wrong)}"
    )
    if silent:
        print(f"not audited: {', '.join(silent)}")
    return 1 if wrong else 0


def _asked(file: Path, *more: str) -> dict[str, list[str] | None]:
    """Advisories by package and version; null where the source says nothing of a package."""
    python = str(AUDITOR / "bin" / "python")
    command = [
        python,
        "-m",
        "pip_audit",
        "--disable-pip",
        "--no-deps",
        "--format",
        "json",
        "--timeout",
        "15",
    ]
    try:
        process = subprocess.run(
            [*command, *more, "-r", str(file)], capture_output=True, text=True, timeout=SECONDS
        )
        found = json.loads(process.stdout)["dependencies"]
    except FileNotFoundError:
        unanswered("pip-audit is not installed: run `make audit-deps`")
    except subprocess.TimeoutExpired:
        unanswered(f"the source of advisories did not answer within {SECONDS} s")
    except ValueError:
        unanswered(
            "pip-audit gave no answer"
            f" ({(process.stderr.strip().splitlines() or ['no reason given'])[-1][:200]})"
        )
    return {
        f"{it['name']} {it.get('version', '')}": (
            None if "skip_reason" in it else [v["id"] for v in it["vulns"]]
        )
        for it in found
    }


def main() -> None:
    made = parser(__doc__)
    made.add_argument("job", choices=["table", "sbom", "audit"])
    made.add_argument(
        "--extra", action="append", default=[], choices=sorted(PROJECT["optional-dependencies"])
    )
    made.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="ID",
        help="an advisory that does not concern us",
    )
    options = begin(made)
    if options.job == "table":
        table(options.extra)
    elif options.job == "audit":
        sys.exit(audit(options.ignore))
    else:
        SBOM.parent.mkdir(exist_ok=True)
        SBOM.write_text(
            json.dumps(bill(options.extra), indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        print(f"{SBOM.relative_to(ROOT)}: {len(installed(options.extra))} packages")


if __name__ == "__main__":
    main()
