"""Write what type checkers and editors read of a front door, from the entry points that it opens
for: `python -m manual.stub`.
"""

from __future__ import annotations

from pathlib import Path

from claimlab.core.front_door import FUNCTIONS, names_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "claimlab": ROOT / "src" / "claimlab" / "__init__.pyi",
    "claimlab_simulate": ROOT / "simulate" / "src" / "claimlab_simulate" / "__init__.pyi",
}
HEAD = '"""What {package} offers, and where each name comes from; `make docs` writes it."""\n\n'
TAIL = "\n__version__: str\n__all__: list[str]\n"


def stub(package: str) -> str:
    """The stub of a package: the functions of its own, none that others add."""
    places = [(FUNCTIONS.place(name) or "", name) for name in names_of(package)]
    homes = sorted((place.partition(":")[0], name) for place, name in places)
    own = [(home, name) for home, name in homes if home.startswith(f"{package}.")]
    lines = [f"from {home} import {name} as {name}\n" for home, name in own]
    return HEAD.format(package=package) + "".join(lines) + TAIL


def main() -> None:
    for package, file in PACKAGES.items():
        file.write_text(stub(package), encoding="utf-8")


if __name__ == "__main__":
    main()
