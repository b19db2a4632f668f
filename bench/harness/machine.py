"""What a figure was measured on: the machine, the versions, and which kernels ran."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PEERS = (
    "numpy",
    "polars",
    "scikit-learn",
    "tantivy",
    "py3langid",
    "openai",
    "lingua-language-detector",
    "bm25s",
    "rank-bm25",
    "datasketch",
    "rensa",
    "gaoya",
    "mesa",
    "rustworkx",
    "igraph",
)
BUSY = 1.5  # processes that wait or run, per core, besides this one


def versions() -> dict[str, str]:
    """Versions of what is measured and of its peers; "not installed" where a peer is missing."""
    found = {"python": platform.python_version()}
    for name in PEERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def kernel() -> str:
    """Which near-duplicate kernel runs here: "compiled" or "NumPy fallback"."""
    try:
        from claimlab.text.neardup.kernel import load
    except ImportError:  # a bare machine that only trains a model
        return "not needed"
    return "compiled" if type(load()).__name__ == "CompiledKernel" else "NumPy fallback"


def marks_kernel() -> str:
    """The same for the loop that counts delimiters of a CSV file."""
    try:
        import claimlab.files._marks  # noqa: F401
    except ImportError:
        return "NumPy fallback"
    return "compiled"


def machine() -> dict[str, str]:
    return {
        "processor": f"{platform.machine()}, {os.cpu_count()} cores{_model()}",
        "memory": f"{_memory_gb():.0f} GB",
        "system": platform.system(),
        "near-duplicate kernel": kernel(),
        "CSV kernel": marks_kernel(),
    }


def busy() -> str | None:
    """A sentence where other programs keep the machine busy; null where it is quiet."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return f"the machine is busy: load {load:.1f} on {cores} cores" if load > BUSY * cores else None


def banner() -> list[str]:
    """What every script says before its figures; a kernel that was not compiled is said loudly."""
    about = machine()
    lines = [
        f"# {'; '.join(f'{name}: {value}' for name, value in about.items())}; Python"
        f" {platform.python_version()}"
    ]
    fallbacks = [name for name, value in about.items() if value == "NumPy fallback"]
    if fallbacks:
        lines.append(
            f"# WARNING: NOT COMPILED in this checkout: {' and '.join(fallbacks)}; figures are of"
            " the slower NumPy fallback. Build it with: python setup.py build_ext --inplace"
        )
    if now := busy():
        lines.append(f"# {now}; compare processor seconds and ratios, not the clock")
    return lines


def _model() -> str:
    info = Path("/proc/cpuinfo")
    names = (
        [
            line.split(":", 1)[1].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        if info.exists()
        else []
    )
    return f" ({names[0]})" if names else ""


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
