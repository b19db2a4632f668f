"""Faults that no test sees: small ones, drawn at random, are put into the code one at a time, and
the quick tests that call it are run.

    python bench/mutants.py --seed 3 --count 50 --rooms claims split
    python bench/mutants.py --seed 3 --count 50 --table docs/contributing/mutants.md
    python bench/mutants.py --place core/stats/ranks.py:records_needed   # every fault of a function

Each operator is drawn equally often. A run that was killed goes on where it was; results are kept
in build/mutants as long as the file and its tests are the same. Faults that change nothing anyone
could see are listed in parts/mutants_equivalent.toml, each with its reason, and are not counted.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from harness import ROOT, begin, parser
from parts import mutant_tests
from parts.mutations import Mutation, mutations

ROOMS = ("evaluate", "claims", "audit", "core/stats", "split", "review", "tasks")
EQUIVALENT = Path(__file__).resolve().parent / "parts" / "mutants_equivalent.toml"
SHOWN = 90  # characters of a changed expression
COUNTED = ("killed", "timed out", "survived", "no test")
SEEN = ("killed", "timed out")
INTRO = """# Faults that no test sees

`make mutants` draws small faults at random, each operator equally often, puts them into the code
one at a time, and runs the quick tests that call it. This page is its last run; [the page on faults
drawn at random](drawn-faults.md) says how it works.

"""


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--count", type=int, default=50, help="faults to draw")
    made.add_argument("--rooms", nargs="+", default=list(ROOMS), help="folders of src/claimlab")
    made.add_argument("--place", metavar="FILE:FUNCTION", help="every fault of one function")
    made.add_argument("--list", action="store_true", help="only name the faults")
    made.add_argument("--keep", type=Path, default=ROOT / "build" / "mutants", help="the results")
    made.add_argument("--table", type=Path, help="where the page goes")
    options = begin(made)
    rooms = [options.place.rsplit("/", 1)[0]] if options.place else options.rooms
    drawn = _at(options.place) if options.place else draw(rooms, options.seed, options.count)
    if options.list:
        print("\n".join(_line(mutation) for mutation in drawn))
        return
    command = f"make mutants SEED={options.seed} COUNT={options.count}"
    if tuple(rooms) != ROOMS:
        command += f' ROOMS="{" ".join(rooms)}"'
    results = run(drawn, rooms, options.keep)
    page = as_page(drawn, results, command)
    print(page)
    if options.table is not None:
        options.table.write_text(INTRO + page + "\n", encoding="utf-8")


def draw(rooms: Sequence[str], seed: int, count: int) -> list[Mutation]:
    """Faults at random, each operator as often as the others while it has any."""
    by_operator: defaultdict[str, list[Mutation]] = defaultdict(list)
    for room in sorted(rooms):
        for file in sorted((mutant_tests.SOURCE / room).rglob("*.py")):
            for mutation in mutations(file, str(file.relative_to(mutant_tests.SOURCE))):
                by_operator[mutation.operator].append(mutation)
    rng = random.Random(seed)
    for name in sorted(by_operator):
        rng.shuffle(by_operator[name])
    drawn: list[Mutation] = []
    while len(drawn) < count and any(by_operator.values()):
        turn = sorted(name for name in by_operator if by_operator[name])
        rng.shuffle(turn)
        drawn += [by_operator[name].pop() for name in turn]
    return drawn[:count]


def _at(place: str) -> list[Mutation]:
    file, _, function = place.partition(":")
    found = mutations(mutant_tests.SOURCE / file, file)
    return [one for one in found if not function or one.function.removesuffix(" =") == function]


def run(drawn: Sequence[Mutation], rooms: Sequence[str], folder: Path) -> dict[Mutation, list[str]]:
    """What became of each, and the test that saw it; known from earlier runs of the same code."""
    mutant_tests.warm_up()
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "results.jsonl"
    lines = kept.read_text("utf-8").splitlines() if kept.is_file() else []
    earlier = {row["key"]: row["result"] for row in map(json.loads, lines)}
    known = mutant_tests.test_files([_room(rooms, one) for one in drawn])
    seen = list(mutant_tests.recorded(known, folder / "seen"))
    results: dict[Mutation, list[str]] = {}
    for number, mutation in enumerate(drawn, 1):
        tests = mutant_tests.tests_for(mutation, seen, _room(rooms, mutation))
        digests = [one.digest for one in seen if not one.calls.keys().isdisjoint(tests)]
        key = _key(mutation, digests)
        if key not in earlier:
            result, test = mutant_tests.shown(mutation, tests, folder / "tmp")
            earlier[key] = [result, test or ""]
            with kept.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"key": key, "result": earlier[key]}) + "\n")
        results[mutation] = earlier[key]
        print(f"{number}/{len(drawn)} {results[mutation][0]}: {_line(mutation)}", file=sys.stderr)
    return results


def _room(rooms: Sequence[str], mutation: Mutation) -> str:
    return next((room for room in rooms if mutation.file.startswith(f"{room}/")), rooms[0])


def _key(mutation: Mutation, tests: Sequence[str]) -> str:
    """The same while the file and the tests are."""
    content = (mutant_tests.SOURCE / mutation.file).read_bytes() + "".join(tests).encode()
    return f"{mutation.file}:{mutation.number}:{hashlib.sha256(content).hexdigest()[:16]}"


def _line(mutation: Mutation) -> str:
    before, after = _narrowed(mutation.before, mutation.after)
    return f"{mutation.operator} {mutation.place}: {before} -> {after}"


def _narrowed(before: str, after: str) -> tuple[str, str]:
    """The parts of two long expressions around what differs."""
    first = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before)
    )
    start = max(0, first - SHOWN // 2)
    cut = [text[start : start + SHOWN] for text in (before, after)]
    return cut[0], cut[1]


def equivalents() -> dict[tuple[str, str, str, str], str]:
    """By file, function, what was written and is now: why nobody can see the difference."""
    if not EQUIVALENT.is_file():
        return {}
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("equivalent", [])
    return {
        (row["file"], row["function"], row["before"], row["after"]): row["reason"] for row in rows
    }


def as_page(drawn: Sequence[Mutation], results: dict[Mutation, list[str]], command: str) -> str:
    known = equivalents()
    reasons = {
        mutant: known.get((mutant.file, mutant.function, mutant.before, mutant.after))
        for mutant in drawn
    }
    counted = [mutant for mutant in drawn if reasons[mutant] is None or results[mutant][0] in SEEN]
    rooms = sorted(
        {next(r for r in ROOMS if mutant.file.startswith(f"{r}/")) for mutant in counted}
    )
    rows = [
        "| room | drawn | killed | timed out | survived | no test calls it |",
        "|---|---|---|---|---|---|",
    ]
    for room in [*rooms, ""]:
        of_room = Counter(results[mutant][0] for mutant in counted if mutant.file.startswith(room))
        numbers = [of_room.total(), *(of_room[name] for name in COUNTED)]
        rows.append(f"| {room or 'all'} | {' | '.join(map(str, numbers))} |")
    killed = sum(results[mutant][0] in SEEN for mutant in counted)
    share = f"**{killed} of {len(counted)} are seen ({100 * killed / max(1, len(counted)):.0f}%)**"
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    page = [f"`{command}` at {commit}, {datetime.now(UTC):%Y-%m-%d}: {share}.", "", *rows]
    lived = [mutant for mutant in counted if results[mutant][0] not in SEEN]
    if lived:
        page += ["", "Not seen:", "", "| place | operator | was | is |", "|---|---|---|---|"]
        page += [_row(mutant) for mutant in lived]
    same = [mutant for mutant in drawn if mutant not in counted]
    if same:
        page += [
            "",
            "Drawn, and equivalent:",
            "",
            "| place | operator | was | is | why nobody sees it |",
        ]
        page += ["|---|---|---|---|---|"]
        page += [f"{_row(mutant)} {reasons[mutant]} |" for mutant in same]
    return "\n".join(page)


def _row(mutation: Mutation) -> str:
    cells = [mutation.place, mutation.operator, *_narrowed(mutation.before, mutation.after)]
    return "| " + " | ".join(f"`{cell}`".replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    main()
