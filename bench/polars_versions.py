"""The same results under the oldest and the newest Polars that claimlab admits: import, clean,
split, audit, detect.

    python bench/polars_versions.py [--old 1.30.0]

Installs the old one into a temporary folder, runs the same commands under both, and compares what
they wrote: every table row by row, and every JSON file. Parquet files of two Polars versions may
differ in their bytes though they hold the same rows, and so do the hashes that name them: those are
left out of the comparison, and nothing else is.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
from harness import ROOT, begin, package_index, parser

OLD = "1.30.0"  # the lower bound in pyproject.toml
COMMANDS = (
    "demo --data-only -o demo",
    "import demo/planted.csv -o imported",
    "clean demo/planted -o cleaned",
    "split cleaned -o random --by random --seed 3",
    "split cleaned -o near --by near-duplicates",
    "split cleaned -o source --by source",
    "audit demo/planted -o audit",
    "detect near -o tfidf --detector tfidf",
    "detect near -o length --detector shortcut",
    "evaluate tfidf length -o evaluation",
)
# One process for all: a start of Python takes longer than most of these commands.
ALL = """
import shlex, sys
import polars
from claimlab.cli.app import main
for command in sys.argv[1:]:
    sys.argv = ["claimlab", *shlex.split(command)]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"claimlab {command} ended with {ended.code}")
print(polars.__version__)
"""
HASH = re.compile(r"\b[0-9a-f]{64}\b")


def install(version: str, folder: Path) -> None:
    """`version` of Polars, alone, into `folder`."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(folder),
    ]
    subprocess.run([*command, f"polars=={version}"], check=True, capture_output=True, text=True)


def run(work: Path, site: Path | None = None) -> str:
    """Every command in `work`, under the Polars of `site` (null: the installed one). Returns the
    version that ran.
    """
    work.mkdir(parents=True)
    source = str(ROOT / "src")
    places = [*([str(site)] if site else []), source]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(places),
        "CLAIMLAB_CACHE": str(work / ".cache"),
    }
    words = [sys.executable, "-c", ALL, *COMMANDS]
    process = subprocess.run(words, cwd=work, env=env, capture_output=True, text=True, check=False)
    if process.returncode:
        raise SystemExit(f"{process.stdout}{process.stderr}")
    return process.stdout.splitlines()[-1]


def differences(one: Path, other: Path) -> Iterator[str]:
    """What two work folders do not have in common, file by file."""
    files = {
        root: {str(f.relative_to(root)) for f in root.rglob("*") if f.is_file()}
        for root in (one, other)
    }
    named = {name for names in files.values() for name in names if not name.startswith(".cache")}
    for name in sorted(named):
        if not all(name in names for names in files.values()):
            yield f"{name}: only one of the two wrote it"
        elif name.endswith(".parquet"):
            tables = [pl.read_parquet(root / name) for root in (one, other)]
            if tables[0].schema != tables[1].schema or not tables[0].equals(tables[1]):
                yield f"{name}: {first_difference(*tables)}"
        elif name.endswith((".json", ".csv")):
            texts = [
                HASH.sub("hash", (root / name).read_text(encoding="utf-8")) for root in (one, other)
            ]
            if texts[0] != texts[1]:
                yield (
                    f"{name}:"
                    f" {first_path(*map(json.loads, texts)) if name.endswith('.json') else 'other rows'}"  # noqa: E501
                )


def first_difference(a: pl.DataFrame, b: pl.DataFrame) -> str:
    if a.schema != b.schema or a.height != b.height:
        return f"{a.height} rows of {dict(a.schema)}, {b.height} rows of {dict(b.schema)}"
    for number, (x, y) in enumerate(
        zip(a.iter_rows(named=True), b.iter_rows(named=True), strict=True)
    ):
        if x != y:
            return f"row {number}: " + str({k: (x[k], y[k]) for k in x if x[k] != y[k]})[:400]
    return "values that compare as unequal (NaN)"


def first_path(a: Any, b: Any, at: str = "") -> str | None:
    """Where two JSON values part, such as `findings[3].score: 0.5, 0.6`."""
    if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
        return next((p for k in a if (p := first_path(a[k], b[k], f"{at}.{k}"))), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next(
            (
                p
                for i, pair in enumerate(zip(a, b, strict=True))
                if (p := first_path(*pair, f"{at}[{i}]"))
            ),
            None,
        )
    return None if a == b else f"{at.lstrip('.')}: {str(a)[:200]}, {str(b)[:200]}"


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--old", default=OLD)
    made.add_argument("--work", type=Path, help="keep what was written here, to look at")
    wanted = begin(made)
    package_index()
    with tempfile.TemporaryDirectory() as temporary:
        work = wanted.work or Path(temporary)
        install(wanted.old, Path(temporary) / "site")
        versions = run(work / "old", Path(temporary) / "site"), run(work / "new")
        parted = list(differences(work / "old", work / "new"))
    print(
        f"Polars {versions[0]} and {versions[1]}: {len(COMMANDS)} commands, {len(parted)} files"
        " differ"
    )
    print("\n".join(parted))
    sys.exit(bool(parted))


if __name__ == "__main__":
    main()
