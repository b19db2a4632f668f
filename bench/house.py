"""What the code is like to live in: measures of a checkout, the figure of its rooms, and what an
addition takes.

    python bench/house.py                        # this checkout
    python bench/house.py --at 0b861fe1          # that commit, and this checkout beside it
    python bench/house.py --venv .venv           # with the megabytes that are installed there
    python bench/house.py --files                # and which files and classes are meant
    python bench/house.py figure -o docs/images/house.svg
    python bench/house.py walk                   # files and lines of six changes

Nothing here is a limit: a figure that rises is a question, not a failure.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import ROOT, begin, parser
from parts.house_figure import figure
from parts.ruler import TRUNK, VAGUE, House
from parts.walk import walked

LARGEST = 12  # packages of an environment that are listed


def main() -> None:
    made = parser(__doc__)
    made.add_argument("job", nargs="?", default="measures", choices=["measures", "figure", "walk"])
    made.add_argument("--at", metavar="COMMIT", help="an older state to measure")
    made.add_argument("--venv", type=Path, help="an environment whose size is measured")
    made.add_argument("--files", action="store_true", help="name the files and classes")
    made.add_argument("-o", "--output", type=Path, help="where the figure goes")
    options = begin(made)
    with TemporaryDirectory() as folder:
        older = None if options.at is None else House(checked_out(options.at, Path(folder)))
        if options.job == "walk":
            print(as_table(walked(ROOT)))
        elif options.job == "figure":
            title = f"claimlab at {options.at}" if options.at else "claimlab"
            drawn = figure(older or House(ROOT), title)
            options.output.write_text(drawn + "\n", encoding="utf-8")
        else:
            print_measures(older, House(ROOT), files=options.files)
    if options.venv is not None:
        print(as_table(installed(options.venv)))


def checked_out(commit: str, folder: Path) -> Path:
    """The files of a commit, in `folder`."""
    packed = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def print_measures(older: House | None, now: House, *, files: bool) -> None:
    """A row for each measure, of one checkout or of two."""
    columns = [measures(house) for house in (older, now) if house is not None]
    names = list(dict.fromkeys(name for column in columns for name in column))
    heads = ["before", "now"] if older is not None else ["now"]
    rows = [{"measure": name} for name in names]
    for row in rows:
        row.update(
            {
                head: column.get(row["measure"], "none")
                for head, column in zip(heads, columns, strict=True)
            }
        )
    print(as_table(rows))
    if files:
        for name, places in places_of(now).items():
            print(f"\n{name}:", *places, sep="\n  ")


def measures(house: House) -> dict[str, str]:
    """Name -> value, as they are printed."""
    files, tokens = house.files, house.tokens()
    late = sum(bool(file.late_constants()) for file in files)
    trunk = sum(count for (package, _), count in tokens.items() if package == TRUNK)
    leaf = tokens.total() - trunk
    vague = house.vague_names()
    rooms = tokens.most_common()
    return {
        "source files": f"{len(files):,}",
        "files with constants below their first function": f"{late} ({late / len(files):.0%})",
        "of these, files with constants that could stand above it": str(
            sum(bool(file.movable_constants()) for file in files)
        ),
        "files with free-standing blocks of comment": str(
            sum(bool(file.free_comments()) for file in files)
        ),
        **{f"variables and arguments called `{name}`": f"{vague[name]:,}" for name in VAGUE},
        "class names that two rooms have": str(len(house.classes_in_two_rooms())),
        "strings that name a room not below their own": str(house.upward().total()),
        "imports from one room of another": f"{house.arrows().total():,}",
        "tokens of the trunk": f"{trunk:,}",
        "tokens of the leaf": f"{leaf:,}" if leaf else "none",
        "tokens a line": f"{house.tokens_a_line():.1f}",
        **{
            f"tokens of `{'' if own == TRUNK else 'leaf: '}{room}`": f"{count:,}"
            for (own, room), count in rooms
        },
    }


def places_of(house: House) -> dict[str, list[str]]:
    """Measure -> the files or classes that it counts."""
    late = [
        f"{file.path}: {file.late_constants()}" for file in house.files if file.late_constants()
    ]
    movable = [
        f"{file.path}: {file.movable_constants()}"
        for file in house.files
        if file.movable_constants()
    ]
    free = [f"{file.path}: {file.free_comments()}" for file in house.files if file.free_comments()]
    classes = [
        f"{name}: {', '.join(rooms)}" for name, rooms in house.classes_in_two_rooms().items()
    ]
    upward = [f"{room} names {other}: {n}" for (room, other), n in house.upward().items()]
    return {
        "Constants below the first function": late,
        "Constants that could stand above it": movable,
        "Free-standing blocks of comment": free,
        "Class names that two rooms have": classes,
        "Rooms named in strings from below": upward,
    }


def installed(venv: Path) -> list[dict[str, str]]:
    """Megabytes on disk of the packages in an environment, without ours."""
    (site,) = venv.glob("lib/python3*/site-packages")
    sizes = {
        place.name: sum(
            file.lstat().st_blocks * 512 for file in (place, *place.rglob("*")) if file.is_file()
        )
        for place in site.iterdir()
    }
    total = sum(sizes.values())
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:LARGEST]
    rows = [("all that is installed", total), *largest]
    return [{"package": name, "MB": f"{size / 1e6:,.0f}"} for name, size in rows]


def as_table(rows: list[dict[str, str]] | list[Mapping[str, str]]) -> str:
    """Rows as a table of Markdown."""
    heads = list(rows[0])
    lines = ["| " + " | ".join(row.get(head, "") for head in heads) + " |" for row in rows]
    return "\n".join([f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads), *lines])


if __name__ == "__main__":
    main()
