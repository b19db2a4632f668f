"""How long `claimlab --help` takes against a bare `import typer`, which every command line built on
it must pay.

    python bench/startup.py [--repeat 9] [--verbs]

Each runs in a process of its own, in turn, in processor seconds, the least of several. Target: 3
times. --verbs shows instead what each verb imports, in seconds more than bare Python.
"""

from __future__ import annotations

import sys
from pathlib import Path

from harness import Row, begin, compare, in_child, parser, record

import claimlab

HELP = "from claimlab.cli.app import main; main(['--help'])"
DETECT = "import claimlab.cli.app as app; app.run(['detect', '--help'])"
BARE = "import typer"
TARGET = 3.0


def verbs(repeat: int) -> None:
    """What the module of each verb imports, the cheapest first."""
    files = sorted((Path(claimlab.__file__).parent / "cli" / "verbs").glob("[a-z]*.py"))
    codes = {"": "pass"} | {f.stem: f"import claimlab.cli.verbs.{f.stem}" for f in files}
    jobs = {n: lambda c=c: in_child([sys.executable, "-c", c]) for n, c in codes.items()}
    costs = {name: cost.cpu for name, cost in compare(jobs, repeat).items()}
    bare = costs.pop("")
    for name, cpu in sorted(costs.items(), key=lambda pair: pair[1]):
        print(f"{name}: {cpu - bare:.2f} s")


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--repeat", type=int, default=9)
    made.add_argument("--verbs", action="store_true", help="the imports of each verb")
    options = begin(made)
    if options.verbs:
        verbs(options.repeat)
        return
    codes = {
        "python": "pass",
        "import claimlab": "import claimlab",
        "import typer": BARE,
        "claimlab --help": HELP,
        "claimlab detect --help": DETECT,
    }
    costs = compare(
        {n: lambda c=c: in_child([sys.executable, "-c", c]) for n, c in codes.items()},
        options.repeat,
    )
    for name in ("claimlab --help", "claimlab detect --help"):
        record(Row("start", name, "import typer", costs[name].cpu, costs["import typer"].cpu))
    print(*(f"{name}: {1000 * cost.cpu:.0f} ms" for name, cost in costs.items()), sep="\n")
    behind = costs["claimlab --help"].cpu / costs["import typer"].cpu
    print(
        f"{behind:.2f} times a bare import (target {TARGET:.0f}):"
        f" {'met' if behind <= TARGET else 'not met'}"
    )
    sys.exit(0 if behind <= TARGET else 1)


if __name__ == "__main__":
    main()
