"""What a file that someone else wrote may do: nothing outside its folder, until this user has
allowed it.

A study, profile, review or recorded call can name hosts, environment variables and paths. What the
command line names is the user's own choice; what a file names is not. Its reader lists what the
file names (`Need`) and passes through one door, `require`. The user sees the list on one screen and
allows it once: `claimlab trust FILE`. The answer is remembered by the content of the file and by
everything on the list, so that a change of either asks again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from claimlab.core.atomic import atomic_text
from claimlab.core.digest import digest_file, digest_json
from claimlab.core.errors import NotTrusted
from claimlab.core.places import state_folder

PATH_CHARACTERS = 4_096  # characters of a path that can be opened
_HOST = re.compile(r"(?<![\w+.-])([\w+.-]+)://\s*([^/?#\s]+)")
_STEPS = re.compile(r"/[\w+.-]+://|/\.\.")  # with a host or not, this may be a path
_SIGN = re.compile(r"[=:,;#?]")  # around a path: local:FOLDER, prompt = FILE, gguf:FILE?slots=2
_NEEDS_SHOWN = 4  # needs that the message names


@dataclass(frozen=True, order=True)
class Need:
    """One thing that a file names and that is not its own: a host, a variable, a path outside its
    folder, or code that would be run.
    """

    kind: Literal["code", "host", "path", "variable"]
    value: str
    use: str  # where the file names it, or what would be sent


def require(file: Path, needs: Iterable[Need], *, trust: bool = False) -> None:
    """Return if `file` may do what it names: it names nothing, the caller trusts it, or the user
    has allowed it.
    """
    listed = sorted(set(needs))
    if trust or is_allowed(file, listed):
        return
    names = [f"{need.kind} {need.value}" for need in listed]
    more = f" and {len(names) - _NEEDS_SHOWN} more" if len(names) > _NEEDS_SHOWN else ""
    raise NotTrusted(
        f"'{file}' names what is outside its folder: {', '.join(names[:_NEEDS_SHOWN])}{more}.",
        f"If that is meant, look at the list and allow it: claimlab trust {file}",
        needs=listed,
    )


def allow(file: Path, needs: Iterable[Need]) -> None:
    """Remember that the user allows `file`, as it is now, what it names."""
    listed = sorted(set(needs))
    if not listed:
        return
    place = _place(file, listed)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    atomic_text(
        place,
        json.dumps({"file": file.name, "allowed": [vars(need) for need in listed]}, indent=1)
        + "\n",
    )


def is_allowed(file: Path, needs: Iterable[Need]) -> bool:
    listed = sorted(set(needs))
    return not listed or _place(file, listed).is_file()


def withdraw(file: Path, needs: Iterable[Need]) -> None:
    """Forget an earlier `allow`."""
    _place(file, sorted(set(needs))).unlink(missing_ok=True)


def _place(file: Path, needs: Sequence[Need]) -> Path:
    key = digest_json([digest_file(file), sorted({(need.kind, need.value) for need in needs})])
    return state_folder() / "trust" / f"{key}.json"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself, by its number or as `localhost`."""
    name = host.strip("[]").lower()
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def named_in(value: object, folder: Path, use: str = "", *, base: Path = Path()) -> Iterator[Need]:
    """The hosts and outside paths in any text inside `value`; `folder` is the one that the file may
    read, and `base` the one that its paths start from."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from named_in(each, folder, f"{use}.{name}" if use else str(name), base=base)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from named_in(each, folder, use, base=base)
    elif isinstance(value, str | Path):
        yield from _named(str(value), folder, use, base)


def _named(text: str, folder: Path, use: str, base: Path) -> Iterator[Need]:
    hosts = [f"{host[1]}://{host[2].rpartition('@')[2]}" for host in _HOST.finditer(text)]
    yield from (Need("host", host, use) for host in hosts)
    for words in () if hosts and not _STEPS.search(text) else _parts(text):
        try:
            path = Path(words).expanduser()
            steps_out, path = path.is_absolute() or ".." in path.parts, base / path
            if not steps_out and not path.exists():
                continue  # a word, or a file that is not there
            inside = path.resolve().is_relative_to(folder.resolve())
        except (OSError, RuntimeError, ValueError):
            continue  # not a path that could be opened
        if not inside:
            yield Need("path", str(path.resolve()), use)
            return


def _parts(text: str) -> Iterator[str]:
    """What in a text may be a path: all that is behind a sign, and what is between two."""
    ends = [sign.start() for sign in _SIGN.finditer(text)] + [len(text)]
    for start, end in zip([0, *(at + 1 for at in ends)], ends, strict=False):
        for last in (len(text), end):
            if last - start <= PATH_CHARACTERS and (words := text[start:last].strip()):
                yield words
