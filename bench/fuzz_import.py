"""Bad, odd and hostile files through `claimlab import`: each ends in records or in one sentence, in
time and memory that are in proportion to the file, and no row is lost without a word.

    python bench/fuzz_import.py [--seed 0] [--mutants 60] [--only WORD]

Rows are counted against Polars and pandas: where both read a file and agree on its rows, claimlab
keeps as many or says why it left some out.

Every file is made from the seed (parts/fuzz_files.py) and imported in a process of its own under a
limit on memory and time. Exit code 1 when anything went wrong.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import resource
import signal
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from harness import begin, parser
from parts.fuzz_files import Case, write_cases

MEMORY = 6 << 30
SECONDS = 60  # of processor time: the machine may be busy with other things
PATIENCE = 600  # seconds on the clock
EXPLAINED = ("blank_rows", "rows_refused", "duplicate_rows")
LATE = (-signal.SIGKILL, -signal.SIGXCPU, -signal.SIGALRM)


@dataclass
class Outcome:
    case: Case
    size: int
    code: int
    seconds: float
    megabytes: float
    words: str
    wrong: list[str] = field(default_factory=list)
    compared: bool = False

    def __str__(self) -> str:
        return (
            f"{self.case.name}: {self.seconds:.1f} s, {self.megabytes:.0f} MB for"
            f" {self.size / 1e6:.2f} MB"
        )


def run_case(case: Case, data: Path, folder: Path) -> Outcome:
    """Import one file in a process of its own."""
    place, out, log = folder / case.name, folder / "out", folder / "log"
    size = data.stat().st_size
    data.rename(place)
    child = os.fork()
    if child == 0:
        _import(place, out, log)
    _, status, used = os.wait4(child, 0)
    code, seconds = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
    outcome = Outcome(
        case, size, code, seconds, used.ru_maxrss / 1024, log.read_text("utf-8", "replace")
    )
    judge(outcome, folder, out)
    return outcome


def _import(place: Path, out: Path, log: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(PATIENCE)
    file = os.open(log, os.O_WRONLY | os.O_CREAT, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    code = 99
    try:
        from claimlab.cli.app import run

        code = run(["import", str(place), "-o", str(out)])
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def judge(outcome: Outcome, folder: Path, out: Path) -> None:
    case, words, wrong = outcome.case, outcome.words, outcome.wrong
    errors = [line for line in words.splitlines() if line.startswith("Error: ")]
    size = outcome.size / 1e6
    if outcome.code in LATE or outcome.seconds > 6 + 4 * size:
        wrong.append("time")
    if outcome.megabytes > 700 + 100 * size:
        wrong.append("memory")
    if outcome.code not in (0, 1, 2, *LATE):
        wrong.append(f"exit {outcome.code}")
    wrong += [
        bad for bad in ("Traceback", "did not expect", "panicked", "PanicException") if bad in words
    ]
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", words.replace("\r", "")):
        wrong.append("control characters")
    said = re.split(r"\n  claimlab import ", words)[
        0
    ]  # a question ends in a command for each answer
    if outcome.code in (1, 2) and (len(errors) != 1 or not said.rstrip().endswith(errors[0])):
        wrong.append("not one sentence")
    if case.refused and outcome.code == 0:
        wrong.append("accepted")
    if outcome.code == 0 and case.rows is not None:
        records = json.loads((out / "dataset.json").read_text("utf-8"))["counts"]["records"]
        if records != case.rows:
            wrong.append(f"{records} records instead of {case.rows}")
    if outcome.code == 0 and case.peers is not None:
        counts = json.loads((out / "dataset.json").read_text("utf-8"))["lineage"][0]["counts"]
        outcome.compared = True
        told = sum(counts.get(name, 0) for name in ("records", *EXPLAINED))
        if told < case.peers:
            wrong.append(f"{told} of {case.peers} rows kept or explained")
    left = (
        {p.name for p in folder.iterdir()}
        - {case.name, "log"}
        - ({"out"} if outcome.code == 0 else set())
    )
    if left:
        wrong.append(f"left behind: {sorted(left)}")


def warm_up() -> None:
    """Import what every child needs before the first fork, so that their figures are of the
    files.
    """
    import claimlab.cli.verbs.import_
    import claimlab.exchange.importer  # noqa: F401


def note(outcome: Outcome, tally: Counter[str]) -> None:
    tally["wrote" if outcome.code == 0 else "refused" if outcome.code in (1, 2) else "other"] += 1
    tally["compared with peers"] += outcome.compared
    if outcome.wrong:
        tally["wrong"] += 1
        print(f"WRONG: {', '.join(outcome.wrong)}: {outcome}")
        print("      " + "\n      ".join(outcome.words.strip().splitlines()[-4:])[:600], flush=True)


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--mutants", type=int, default=60, help="damaged files for each format")
    made.add_argument("--only", default="", help="only cases whose name contains this")
    options = begin(made)
    tally: Counter[str] = Counter()
    slowest: list[Outcome] = []
    with tempfile.TemporaryDirectory() as store:
        # In a process of its own: Polars starts threads, and a process that has threads must not
        # fork.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            asked = pool.submit(
                write_cases, options.seed, options.mutants, options.only, Path(store)
            )
        warm_up()
        for number, case in enumerate(asked.result()):
            with tempfile.TemporaryDirectory() as folder:
                outcome = run_case(case, Path(store) / str(number), Path(folder))
            note(outcome, tally)
            slowest = sorted([*slowest, outcome], key=lambda o: -o.seconds)[:5]
    print(
        f"{sum(tally[k] for k in ('wrote', 'refused', 'other'))} files, seed {options.seed}:"
        f" {dict(tally)}"
    )
    print(*(f"  {outcome}" for outcome in slowest), sep="\n")
    return 1 if tally["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
