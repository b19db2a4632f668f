"""How long `claimlab --help` takes against a bare `import typer`, which every command line built on it must pay.

    python bench/startup.py [--repeat 15]

Both run as processes of their own, in turn; the medians are compared. Target: 3 times.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

HELP = "from claimlab.cli.app import main; main(['--help'])"


def seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=15)
    args = parser.parse_args()
    bare, ours = [], []
    for _ in range(args.repeat):
        bare.append(seconds("import typer"))
        ours.append(seconds(HELP))
    a, b = statistics.median(bare), statistics.median(ours)
    print(f"import typer      {a:.3f} s")
    print(f"claimlab --help   {b:.3f} s")
    print(f"ratio             {b / a:.2f}   (target 3)")
    sys.exit(0 if b <= 3 * a else 1)


if __name__ == "__main__":
    main()
