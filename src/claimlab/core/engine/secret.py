"""The secret behind a run: what its processes write into a folder is sealed with it, so that a
folder which other people can write is enough to work through, and their files are not taken for
ours.

A stage has a key of its own, made of the secret and of a random word in its file. The secret is
CLAIMLAB_ENGINE_SECRET, or a file that only this user can read; worker processes of this machine and
of Dask are given the key of their stage.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from claimlab.core.errors import UsageError
from claimlab.core.places import cache_folder

VARIABLE = "CLAIMLAB_ENGINE_SECRET"
SHORTEST_SECRET = 32  # characters
_held: ContextVar[bytes | None] = ContextVar("secret", default=None)


def seal(key: bytes, *content: object) -> str:
    """The HMAC of plain JSON values."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hmac.new(key, text.encode("ascii"), hashlib.sha256).hexdigest()


def is_sealed(key: bytes, mark: object, *content: object) -> bool:
    return isinstance(mark, str) and hmac.compare_digest(
        mark.encode("utf-8"), seal(key, *content).encode("ascii")
    )


def stage_key(secret: bytes, salt: str) -> bytes:
    return hmac.new(secret, salt.encode("utf-8"), hashlib.sha256).digest()


@contextlib.contextmanager
def holding(secret: bytes) -> Iterator[None]:
    """Inside, this is the secret: for stages that a worker starts within its shard."""
    before = _held.set(secret)
    try:
        yield
    finally:
        _held.reset(before)


def own_secret() -> bytes:
    """The secret of this process, which starts stages; made where this user has none yet."""
    secret = _held.get() or known_secret()
    if secret is not None:
        return secret
    with contextlib.suppress(OSError):  # such as a home folder that cannot be written
        _make(secret_file())
        return read_secret(secret_file())
    return _in_memory()


def known_secret(file: str | Path | None = None) -> bytes | None:
    """The secret in `file`; without one that of the environment, or of this user; null where there
    is none.
    """
    if file is not None:
        return read_secret(Path(file))
    word = os.environ.get(VARIABLE)
    if word is not None:
        return _checked(word, VARIABLE)
    return read_secret(secret_file()) if secret_file().is_file() else None


def secret_file() -> Path:
    """Where the secret of this user is, outside of every shared folder."""
    return cache_folder().absolute() / "engine.secret"


def read_secret(file: Path) -> bytes:
    """The secret in a file, which no other user may read or write."""
    try:
        state = file.stat()
        if hasattr(os, "getuid") and (
            state.st_mode & 0o077 or state.st_uid not in (os.getuid(), 0)
        ):
            raise UsageError(
                f"Other users can read or write the secret in '{file}'.",
                f"Run: chmod 600 '{file}'.",
            )
        return _checked(file.read_text(encoding="utf-8"), f"'{file}'")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"The secret in '{file}' cannot be read ({error}).", "Correct the path of `secret`."
        ) from None


def _checked(word: str, where: str) -> bytes:
    word = word.strip()
    if len(word) < SHORTEST_SECRET:
        raise UsageError(
            f"The secret in {where} has {len(word)} characters.",
            f"Take at least {SHORTEST_SECRET} random ones, such as: openssl rand -hex 32.",
        )
    return word.encode("utf-8")


def _make(file: Path) -> None:
    """Write a new secret in one step; where another process was faster, its secret stays."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, building = tempfile.mkstemp(
        prefix=".engine.secret-", dir=file.parent
    )  # only this user can read it
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(secrets.token_hex(32) + "\n")
        with contextlib.suppress(FileExistsError):
            os.link(building, file)
    finally:
        os.unlink(building)  # noqa: PTH108


@cache
def _in_memory() -> bytes:
    """Where no file can be kept: a later start does not know what this one sealed, and does it
    again.
    """
    return secrets.token_hex(32).encode("ascii")
