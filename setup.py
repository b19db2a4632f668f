"""What pyproject.toml has no words for: the compiled loops, and the pages of the documentation that
`claimlab serve --mcp` searches.

The extensions are optional: without a C compiler the build goes on, with a warning, and
near-duplicates are found, sentence vectors made, delimiters counted, and linear models and small
trees fitted with NumPy, more slowly and with the same result: support-vector machines to their
tolerance, all else to the last bit.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

HERE = "src/claimlab/text/neardup"
# no -march: a wheel must run on every processor of its platform; faster steps are asked for at run
# time
FLAGS = [] if sys.platform == "win32" else ["-O3", "-std=c11"]


class WithDocs(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            pages = Path(self.build_lib, "claimlab", "docs")
            only_text = shutil.ignore_patterns("images", "assets", "notebooks", "gallery.md")
            shutil.copytree("docs", pages, ignore=only_text, dirs_exist_ok=True)


setup(
    cmdclass={"build_py": WithDocs},
    ext_modules=[
        Extension(
            "claimlab.text.neardup._kernel",
            [f"{HERE}/_kernel.c"],
            depends=[
                f"{HERE}/{part}.h" for part in ("_common", "_grams", "_sketch", "_match", "_verify")
            ],
            extra_compile_args=FLAGS,
            optional=True,
        ),
        Extension(
            "claimlab.text._meaning",
            ["src/claimlab/text/_meaning.c"],
            depends=["src/claimlab/text/_meaning.h"],
            # a fused multiply-add rounds once where two steps round twice: other bytes
            extra_compile_args=[*FLAGS, *(["-ffp-contract=off"] if FLAGS else [])],
            optional=True,
        ),
        Extension(
            "claimlab.text._descent",
            ["src/claimlab/text/_descent.c"],
            extra_compile_args=[*FLAGS, *(["-ffp-contract=off"] if FLAGS else [])],
            optional=True,
        ),
        Extension(
            "claimlab.core.stats._forest",
            ["src/claimlab/core/stats/_forest.c"],
            extra_compile_args=[*FLAGS, *(["-ffp-contract=off"] if FLAGS else [])],
            optional=True,
        ),
        Extension(
            "claimlab.files._marks",
            ["src/claimlab/files/_marks.c"],
            extra_compile_args=FLAGS,
            optional=True,
        ),
    ],
)
