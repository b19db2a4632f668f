"""How long `claimlab --help` takes against a bare `import typer`, which every command line built on
it must pay.

    python bench/startup.py [--repeat 9]

Each runs in a process of its own, in turn, in processor seconds, the least of several. Target: 3
times.
"""

from __future__ import annotations

import sys

from harness import Row, begin, compare, in_child, parser, record

HELP = "from claimlab.cli.app import main; main(['--help'])"
DETECT = "import claimlab.cli.app as app; app.run(['detect', '--help'])"
BARE = "import typer"
TARGET = 3.0


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--repeat", type=int, default=9)
    options = begin(made)
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
