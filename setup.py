"""Only the compiled loops need this file; everything else about the package is in pyproject.toml.

The extensions are optional: without a C compiler the build goes on, with a warning, and
near-duplicates are found and delimiters counted with NumPy, more slowly and with the same result.
"""

from __future__ import annotations

import sys

from setuptools import Extension, setup

HERE = "src/claimlab/text/neardup"
# no -march: a wheel must run on every processor of its platform; faster steps are asked for at run
# time
FLAGS = [] if sys.platform == "win32" else ["-O3", "-std=c11"]

setup(
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
            "claimlab.files._marks",
            ["src/claimlab/files/_marks.c"],
            extra_compile_args=FLAGS,
            optional=True,
        ),
    ]
)
