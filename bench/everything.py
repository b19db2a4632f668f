"""All speed figures in one run, against peers and against the last recorded ones: what `make bench`
runs.

    python bench/everything.py [--large | --brief | --small] [--only AREA ...] [-o bench]

Runs the scripts below one after the other, each in a process of its own, and writes RESULTS.md
(machine, versions, ratios, date), results.json and results.svg. A ratio says how many times better
ours is: above 1 we are ahead. Where we are behind, the profile that says why is next to it. Every
measure names its size. `--large` adds ten million near-duplicates (an hour), `--brief` takes
smaller sizes, `--small` tries everything on little data and writes nothing. Several runs with
`--only` and one output make one page: what is not measured again is kept. A script that fails or a
peer that is missing is listed as such.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from harness import Row, begin, busy, machine, parser, rows_of, versions

HERE = Path(__file__).resolve().parent
# area -> commands: at full size, for a busy or small machine, and on so little data that it only
# shows that it runs
RUNS: dict[str, list[tuple[str, str, str]]] = {
    "import": [
        (
            "import_csv.py --repeat 2",
            "import_csv.py --rows 200000 --repeat 2",
            "import_csv.py --rows 20000 --repeat 1",
        )
    ],
    "near-duplicates": [
        ("neardup.py --texts 100000", "neardup.py --texts 30000", "neardup.py --texts 3000"),
        (
            "neardup.py --curve --sizes 100000 1000000",
            "neardup.py --curve --sizes 100000 300000",
            "neardup.py --curve --sizes 3000",
        ),
    ],
    "languages": [("langid.py", "langid.py", "langid.py --no-lingua")],
    "audit": [
        (
            "audit_speed.py keywords",
            "audit_speed.py keywords --rows 60000",
            "audit_speed.py keywords --rows 4000",
        ),
        ("audit_speed.py liar", "", ""),
        ("audit_speed.py curve --sizes 3000 10000", "audit_speed.py curve --sizes 1000", ""),
    ],
    "retrieval": [("retrieval.py --every 8", "retrieval.py --every 40", "retrieval.py --every 50")],
    "models": [
        (
            "llm_throughput.py",
            "llm_throughput.py -n 1000",
            "llm_throughput.py -n 100 --latency 0.01 --slots 16 --concurrency 20",
        )
    ],
    "propagation": [
        (
            "evolve.py steps",
            "evolve.py steps --agents 90,10000",
            "evolve.py steps --agents 90 --repeat 1",
        )
    ],
    "evaluate": [
        ("evaluate_runs.py", "evaluate_runs.py", "evaluate_runs.py --rows 3000 --groups 900")
    ],
    "report": [
        ("report_open.py", "report_open.py --rows 600", "report_open.py --rows 600 --repeat 1")
    ],
    "start": [("startup.py", "startup.py", "startup.py --repeat 1")],
    "web": [("web_paging.py", "web_paging.py --rows 100000", "web_paging.py --rows 12000")],
}
LARGE = "neardup.py --curve --sizes 10000000"


def run(command: str, file: Path) -> tuple[list[Row], str]:
    """The measures of a script, and a note where it did not end well; a missed target (exit 1) is
    not a failure.
    """
    words = command.split()
    process = subprocess.run(
        [sys.executable, str(HERE / words[0]), "--json", str(file), *words[1:]],
        stderr=subprocess.PIPE,
        text=True,
    )
    rows = rows_of(file)
    if rows:
        return rows, "" if process.returncode in (0, 1) else f"ended with {process.returncode}"
    return [], (process.stderr.strip().splitlines() or ["no measures"])[-1]


def figure(row: Row) -> str:
    return "not measured" if row.ours is None else f"{row.ours:,.4g} {row.unit}".strip()


def line(row: Row, before: dict[str, Row]) -> str:
    theirs = "" if row.theirs is None else f"{row.theirs:,.4g}"
    ratio = (
        ""
        if row.ratio is None
        else f"**{row.ratio:.2f}**"
        if row.ratio >= 1
        else f"{row.ratio:.2f}, behind"
    )
    old = before.get(row.key)
    last = ""
    if old is not None and old.ours and row.ours:
        last = f"{(row.ours / old.ours if row.more else old.ours / row.ours):.2f}"
    cells = (row.measure, figure(row), row.peer, theirs, ratio, last, row.note)
    return "| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |"


def page(
    rows: list[Row], notes: list[str], before: dict[str, Row], load: str | None, seconds: float
) -> str:
    about = "; ".join(f"{name}: {value}" for name, value in machine().items())
    installed = ", ".join(f"{name} {version}" for name, version in versions().items())
    lines = [
        "# Results of `make bench`",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, {seconds / 60:.0f} minutes by the clock. {about}.",
        "",
        f"Versions: {installed}.",
        "",
        f"{load[0].upper() + load[1:]}." if load else "The machine was quiet.",
        (
            "A ratio above 1 means that claimlab is ahead of the peer in the same run; the column"
            " `last` is the same for our own last recorded figure. Processor seconds unless a unit"
            " is given."
        ),
        "",
        "![Ratios](results.svg)",
    ]
    for area in dict.fromkeys(row.area for row in rows):
        of_area = [row for row in rows if row.area == area]
        lines += [
            "",
            f"## {area[0].upper() + area[1:]}",
            "",
            "| measure | claimlab | peer | peer's | ratio | last | |",
        ]
        lines += ["|---|---|---|---|---|---|---|", *(line(row, before) for row in of_area)]
        for row in of_area:
            if row.ratio is not None and row.ratio < 1 and row.why and row.why not in lines:
                lines += [
                    "",
                    f"Behind {row.peer} in {row.measure}; where our time goes (by the clock):",
                    "",
                    "```text",
                    row.why,
                    "```",
                ]
    if notes:
        lines += ["", "## Not measured", "", *(f"- {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def chart(rows: list[Row], file: Path) -> None:
    """Ratios on a logarithmic axis; 1 is the peer."""
    from claimlab.pages.drawing import Drawing, Scale

    ratios = [(f"{r.area}: {r.measure} / {r.peer}", r.ratio) for r in rows if r.ratio]
    low, high = (end(1.0, *(ratio for _, ratio in ratios)) for end in (min, max))
    step, drawing = 20.0, Drawing(420, 20.0 * len(ratios))
    scale = Scale(low / 1.2, high * 1.2, drawing.width, logarithmic=True)
    powers = [10.0**k for k in range(-3, 5) if scale.low <= 10.0**k <= scale.high]
    title = "times as good as the peer (1: the same)"
    drawing.across(scale, [(power, f"{power:g}") for power in powers], title)
    drawing.names_left([name for name, _ in ratios], step, most=520)
    drawing.line((scale.at(1), 0), (scale.at(1), drawing.height), dashed=True)
    colours = {"ahead": "#2b6cb0", "behind": "#c05621"}
    for row, (name, ratio) in enumerate(ratios):
        colour = colours["ahead" if ratio >= 1 else "behind"]
        place = scale.at(ratio), step * (row + 0.5)
        drawing.symbol(*place, colour, hover=f"{name}: {ratio:.3g}")
    drawing.legend({name: (colour, "circle") for name, colour in colours.items()})
    file.write_text(drawing.svg(), encoding="utf-8")


def main() -> int:
    made = parser(__doc__)
    made.add_argument(
        "--large", action="store_true", help="near-duplicates of ten million texts, too"
    )
    made.add_argument(
        "--brief", action="store_true", help="smaller sizes, for a machine that is busy or small"
    )
    made.add_argument(
        "--small", action="store_true", help="try everything on little data; write nothing"
    )
    made.add_argument(
        "--only", nargs="+", choices=list(RUNS), default=list(RUNS), help="only these areas"
    )
    made.add_argument("-o", "--output", type=Path, default=HERE)
    options = begin(made)
    kept, began, load = options.output / "results.json", time.monotonic(), busy()
    last = [Row(**row) for row in json.loads(kept.read_text())["rows"]] if kept.is_file() else []
    rows, notes = [row for row in last if row.area not in options.only], []
    with tempfile.TemporaryDirectory() as folder:
        for area in options.only:
            size = 2 if options.small else 1 if options.brief else 0
            commands = [command[size] for command in RUNS[area]]
            commands += [LARGE] if options.large and area == "near-duplicates" else []
            for number, command in enumerate(filter(None, commands)):
                print(f"\n$ python bench/{command}", flush=True)
                measures, problem = run(command, Path(folder) / f"{area}-{number}.json")
                rows += measures
                load = load or busy()
                if problem:
                    notes.append(f"`python bench/{command}`: {problem}")
                    print(f"NOT MEASURED: {problem}", flush=True)
    if options.small:
        return 1 if notes else 0
    rows.sort(key=lambda row: list(RUNS).index(row.area) if row.area in RUNS else len(RUNS))
    before = {row.key: row for row in last}
    (options.output / "RESULTS.md").write_text(
        page(rows, notes, before, load, time.monotonic() - began), "utf-8"
    )
    about = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "machine": machine(), "versions": versions()}
    kept.write_text(
        json.dumps({**about, "rows": [asdict(row) for row in rows]}, indent=1) + "\n", "utf-8"
    )
    chart(rows, options.output / "results.svg")
    return 1 if notes else 0


if __name__ == "__main__":
    sys.exit(main())
