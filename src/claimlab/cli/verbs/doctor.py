"""`claimlab doctor`: what is installed, what is missing, and how to get it."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from importlib.util import find_spec

from claimlab.cli.command import verb
from claimlab.cli.output import emit, show_blocks, suggest, wants_json
from claimlab.core import packaged
from claimlab.core.version import __version__

app = verb()
_EXTRAS: dict[str, str] = packaged.toml("claimlab.cli", "verbs.toml")["extras"]
_COMPILED = {
    "near-duplicates": "claimlab.text.neardup._kernel",
    "reading of CSV": "claimlab.files._marks",
    "linear models": "claimlab.text._descent",
    "audit trees": "claimlab.core.stats._forest",
}
_SLOWER = "slower code: install a C compiler, then claimlab again"
Row = tuple[str, bool, str]  # what, whether it is there, in words


@app.of(None)
def doctor() -> None:
    """Check the installation: versions, compiled code, extras, models, and which keys are set
    (never the keys).
    """
    sections = {"Installation": _installation(), "Extras": _extras(), "Models and keys": _models()}
    if wants_json():
        names = ("name", "present", "detail")
        emit(
            {
                title: [dict(zip(names, row, strict=True)) for row in rows]
                for title, rows in sections.items()
            }
        )
        return
    from claimlab.pages.blocks import Section, Table

    blocks = [
        Section(
            title,
            [
                Table(
                    ("", "", ""),
                    [(name, "yes" if present else "no", detail) for name, present, detail in rows],
                )
            ],
        )
        for title, rows in sections.items()
    ]
    show_blocks(blocks, most=100)
    absent = [name for name, present, _ in sections["Extras"] if not present]
    if absent:
        suggest(f"pip install 'claimlab[{','.join(absent)}]' for every extra that is missing")


def _installation() -> list[Row]:
    compiled = {name: find_spec(module) is not None for name, module in _COMPILED.items()}
    return [
        ("claimlab", True, __version__),
        ("Python", True, f"{platform.python_version()}, {platform.system()} {platform.machine()}"),
        *((name, True, version(name)) for name in ("polars", "numpy", "scipy")),
        *(
            (name, present, "compiled" if present else _SLOWER)
            for name, present in compiled.items()
        ),
    ]


def _extras() -> list[Row]:
    from claimlab.core.extras import has_extra

    return [(name, has_extra(name), purpose) for name, purpose in _EXTRAS.items()]


def _models() -> list[Row]:
    from claimlab.llm.profiles import all_profiles
    from claimlab.llm.weights import installed

    rows: list[Row] = [
        (
            "embedded model",
            installed(),
            "SmolLM2 135M" if installed() else "claimlab llm install (98 MB)",
        )
    ]
    variables = {p.key_variable for p in all_profiles().values() if p.key_variable}
    rows += [
        (name, bool(os.environ.get(name, "").strip()), "key of a model endpoint")
        for name in sorted(variables)
    ]
    return rows
