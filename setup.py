"""Only the compiled kernel needs this file; everything else about the package is in pyproject.toml.

The extension is optional: without a C compiler the build goes on, with a warning, and near-duplicates are found with
NumPy, more slowly and with the same result.
"""

from __future__ import annotations

import sys

from setuptools import Extension, setup

HERE = "src/claimlab/text/neardup"

setup(
    ext_modules=[
        Extension(
            "claimlab.text.neardup._kernel",
            [f"{HERE}/_kernel.c"],
            depends=[f"{HERE}/{part}.h" for part in ("_common", "_grams", "_sketch", "_match", "_verify")],
            # no -march: a wheel must run on every processor of its platform; faster steps are asked for at run time
            extra_compile_args=[] if sys.platform == "win32" else ["-O3", "-std=c11"],
            optional=True,
        )
    ]
)
