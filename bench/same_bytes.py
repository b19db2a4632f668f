"""Do two states of the code write the same bytes? 28 commands over real data, every file compared.

    python bench/same_bytes.py --old COMMIT
    python bench/same_bytes.py --old ../before/src --new src --only load audit --table table.md
    python bench/same_bytes.py --old COMMIT --packages DIR   # what only the older state needs

Each command runs offline, with a fixed seed, in a folder of its own for each state; later ones read
what earlier ones wrote. `VARYING` is masked in both; all else counts. It exits with 1 where
something differs: the table is to be explained, not to be empty (docs/benchmarks/same-bytes.md).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from harness import DATA, ROOT, begin, code_of, parser, shared
from harness.data import sources_of

MAIN = "from claimlab.cli.app import main; main()"
# What may differ between two runs of one state, or must between two versions.
VARYING = {
    "time of the run": rb'("(at|when|started|finished)": ")[^"]*"',
    "seconds": rb'("\w*seconds\w*": )[\d.e-]+',
    "version of claimlab": rb'("(claimlab|version|code|tool)": ")[^"]*"|claimlab \d+\.\d+[\w.]*',
    "hash of a file that names the version": rb'("(call\.json|digest)": )"[0-9a-f]{64}"',
}
WHOLE_LINES = 3  # lines of a difference that are shown
PICTURE = re.compile(r"`[^`]+\.(png|svg)`: ")


@dataclass(frozen=True)
class Command:
    """Words of the command line; `before` are those of older code, where options were renamed."""

    words: str
    before: str = ""

    @property
    def verb(self) -> str:
        return self.words.split()[0]


COMMANDS = (
    Command("demo -o demo"),
    Command("load liar {data}/liar.zip -o liar"),
    Command("load fake-br {data}/fake-br.zip -o fake-br"),
    Command("load covid19-br {data}/covid19-br.zip -o covid19-br"),
    Command("load f3 {data}/f3.zip -o f3"),
    Command("load evolved-claims {data}/evolved-claims.zip -o evolved-claims"),
    Command("clean liar -o liar-clean"),
    Command("clean fake-br -o fake-br-clean --limit 600"),
    Command("clean covid19-br -o covid19-br-clean --report cleaning"),
    # What a step before it changed is not seen here: each of these reads what is the same in both.
    Command("demo --data-only -o made"),
    Command("split made/planted --by random -o made-random"),
    Command("detect made-random --detector tfidf -o run-made"),
    Command("split liar-clean --by random -o liar-random"),
    Command("split covid19-br-clean --by near-duplicates -o covid19-br-near"),
    Command("split fake-br-clean --by random --seed 7 -o fake-br-random"),
    Command("audit liar-random -o liar-audit --limit 600 --check length --check giveaways"),
    Command("audit covid19-br-near -o covid19-br-audit --limit 400 --check time --check length"),
    Command("audit f3 -o f3-audit --check one-class --check surface --check url"),
    Command("diff liar liar-clean -o liar-diff --limit 300 --check length"),
    Command("detect liar-random --detector tfidf -o run-tfidf --limit 300"),
    Command("detect liar-random --detector majority -o run-majority --limit 300"),
    Command("evaluate run-tfidf run-majority --draws 300 -o evaluation"),
    Command("export covid19-br --to csv -o covid19-br-csv --limit 300"),
    Command("export f3 --to hf -o f3-hf"),
    Command("import covid19-br-csv/records.csv -o imported --name imported"),
    Command("merge liar f3 -o merged"),
    Command(
        "evolve run f3 -o evolved --steps 3 --limit 5 --rewriter null",
        before="evolve run f3 -o evolved --steps 3 --limit 5",
    ),
    Command("show evolved-claims --limit 3 --json"),
)


@dataclass
class Compared:
    """One command in both states."""

    command: Command
    files: int = 0
    differences: list[str] = field(default_factory=list)


def masked(content: bytes) -> bytes:
    for pattern in VARYING.values():
        content = re.sub(pattern, lambda match: (match[1] or b"") + b"*", content)
    return content


def started(words: list[str], folder: Path, places: list[str]) -> dict[str, bytes]:
    """Everything that a command says and writes: exit code, stdout, and the files that are new."""
    before = set(folder.rglob("*"))
    state = folder.parent / f"{folder.name}.state"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(places),
        "CLAIMLAB_CACHE": str(state),
        "CLAIMLAB_STATE": str(state),
        "TZ": "UTC",
    }
    process = subprocess.run(
        [sys.executable, "-c", MAIN, *words], cwd=folder, env=environment, capture_output=True
    )
    outcome = {"exit code": b"%d" % process.returncode, "stdout": process.stdout}
    if process.returncode:
        outcome["stderr"] = process.stderr
    for file in sorted(set(folder.rglob("*")) - before):
        if file.is_file():
            outcome[file.relative_to(folder).as_posix()] = file.read_bytes()
    return outcome


def difference(name: str, old: bytes | None, new: bytes | None) -> str | None:
    """What of a file differs; null where nothing does, but for what varies."""
    if old is None or new is None:
        return "new" if old is None else "gone"
    if old == new:
        return None
    if name.endswith(".parquet"):
        return of_tables(pl.read_parquet(old), pl.read_parquet(new))
    first, second = masked(old).splitlines(), masked(new).splitlines()
    if first == second:
        return None
    changed = [line for line in second if line not in set(first)] or first
    shown = b" / ".join(line.strip()[:80] for line in changed[:WHOLE_LINES])
    return f"{len(changed)} of {len(second)} lines: {shown.decode('utf-8', 'replace')}"


def of_tables(old: pl.DataFrame, new: pl.DataFrame) -> str:
    if old.equals(new):
        return "the same table in other bytes"
    if old.schema != new.schema:
        return f"columns {sorted(set(old.columns) ^ set(new.columns))} or their types"
    if old.height != new.height:
        return f"{old.height} and {new.height} rows"
    columns = [name for name in old.columns if not old[name].equals(new[name], null_equal=True)]
    return f"values of {', '.join(columns)}"


def compared(command: Command, work: Path, states: dict[str, list[str]], data: Path) -> Compared:
    """`states`: the folders that Python imports from, for the old and the new one."""
    outcomes = {}
    for state, places in states.items():
        words = command.before if state == "old" and command.before else command.words
        folder = work / state
        folder.mkdir(exist_ok=True)
        outcomes[state] = started(words.format(data=data).split(), folder, places)
    old, new = outcomes["old"], outcomes["new"]
    result = Compared(command, len(old.keys() | new.keys()))
    for name in sorted(old.keys() | new.keys()):
        if (what := difference(name, old.get(name), new.get(name))) is not None:
            result.differences.append(f"`{name}`: {what}")
    return result


def source_of(state: str, work: Path) -> Path:
    """A folder of sources, or those of a commit."""
    if Path(state).is_dir():
        return Path(state).resolve()
    code_of(state, work / "code")
    return work / "code" / "src"


def together(differences: list[str]) -> list[str]:
    """Those of pictures in one line: a chart is drawn anew or not, and a table says no more."""
    pictures = [text for text in differences if PICTURE.match(text)]
    rest = [text for text in differences if text not in pictures]
    return [*rest, *([f"{len(pictures)} pictures"] if pictures else [])]


def table(results: list[Compared]) -> str:
    lines = ["| command | compared | different |", "| --- | ---: | --- |"]
    for result in results:
        cell = "<br>".join(text.replace("|", "\\|") for text in together(result.differences))
        lines.append(f"| `{result.command.words}` | {result.files} | {cell or 'nothing'} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--old", required=True, metavar="STATE", help="a folder src, or a commit")
    made.add_argument("--new", default=str(ROOT / "src"), metavar="STATE", help="likewise")
    made.add_argument("--only", nargs="+", metavar="VERB", help="these verbs, and what they read")
    made.add_argument("--packages", metavar="DIR", help="packages that only the old state needs")
    made.add_argument("--table", type=Path, metavar="FILE", help="write the table to this file")
    options = begin(made)
    data = shared(folder=options.data or DATA).resolve()
    with tempfile.TemporaryDirectory(prefix="same-bytes-") as folder:
        work = Path(folder)
        states = {
            "old": sources_of(source_of(options.old, work)),
            "new": sources_of(source_of(options.new, work / "n")),
        }
        states["old"] += [options.packages] if options.packages else []
        chosen = [c for c in COMMANDS if not options.only or c.verb in options.only]
        results = []
        for command in chosen:
            results.append(compared(command, work, states, data))
            print(f"{command.words}: {len(results[-1].differences)} differences", file=sys.stderr)
    if options.table:
        options.table.write_text(table(results), encoding="utf-8")
    print(table(results))
    raise SystemExit(any(result.differences for result in results))


if __name__ == "__main__":
    main()
