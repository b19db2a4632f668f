"""The choice between the compiled kernel and its NumPy fallback.

CLAIMLAB_NEARDUP=numpy forces the NumPy code; CLAIMLAB_NEARDUP=compiled refuses to run without the
compiled one. Both give the same pairs; only the speed differs.
"""

from __future__ import annotations

import os

from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.text.neardup.fallback import NumpyKernel

ENVIRONMENT = "CLAIMLAB_NEARDUP"


def load() -> NumpyKernel:
    wish = os.environ.get(ENVIRONMENT, "")
    if wish not in ("", "numpy", "compiled"):
        raise UsageError(
            f"{ENVIRONMENT} is '{wish}'.", "Set it to 'numpy' or 'compiled', or unset it."
        )
    if wish != "numpy":
        try:
            from claimlab.text.neardup.compiled import CompiledKernel

            return CompiledKernel()
        except ImportError:
            if wish == "compiled":
                raise ClaimlabError(
                    f"{ENVIRONMENT} asks for the compiled near-duplicate kernel, which was not"
                    " built.",
                    "Install a C compiler, then install claimlab again.",
                ) from None
    return NumpyKernel()
