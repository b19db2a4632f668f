"""What a received file may do: nothing outside its folder, until this user has allowed it.

A study, profile, EQA file or recorded call can name hosts, environment variables, paths, models of
a hub and code. What the command line names is the user's own choice; what a file names is not. Its
reader turns words into `Wanted` and opens nothing. Whatever connects, reads a key, asks a hub or
runs code takes a `Grant` (`grant`), which is refused while a received file is at work that has not
been allowed it. `claimlab trust FILE` shows what the file, and every file that it names, would do,
and remembers the answer by the content of the file and by everything on the list: a change of
either asks again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from claimlab.core.atomic import atomic_text
from claimlab.core.errors import NotTrusted
from claimlab.core.fetch.schemes import is_address, source_host
from claimlab.core.places import state_folder

Kind = Literal["code", "host", "model", "path", "price", "variable"]
Origin = Literal["typed", "packaged", "allowed"]
PAGES = "any public web page"  # the host of pages that are fetched by their addresses
VARIABLE = "CLAIMLAB_RECEIVED"  # what a received file was allowed, for the processes of its run
PATH_CHARACTERS = 4_096  # characters of a path that can be opened
_HOST = re.compile(r"(?<![\w+.-])([\w+.-]+)://\s*([^/?#\s]+)")
# A Path has one slash where a URL has two, and core/remote takes both.
_STORAGE = re.compile(r"^([a-z][a-z0-9+-]+):/(?!/)([^/?#\s]+)")
_PLACES = ("local", "file", "gguf")  # what is before a path of this machine
_STEPS = re.compile(r"/[\w+.-]+://|/\.\.")  # with a host or not, this may be a path
_SIGN = re.compile(r"[=:,;#?]")  # around a path: local:FOLDER, prompt = FILE, gguf:FILE?slots=2
_NEEDS_SHOWN = 4  # needs that the message names


@dataclass(frozen=True, order=True)
class Wanted:
    """One thing that a file names and that is not its own: a host, a variable, a path outside its
    folder, a model of a hub, code that would be run, or a price lower than the published one.
    """

    kind: Kind
    value: str
    use: str  # where the file names it, or what would be sent


@dataclass(frozen=True)
class Grant:
    """Leave to do one thing. Only `grant` makes one, and what has an effect takes nothing else."""

    kind: Kind
    value: str
    origin: Origin


@dataclass(frozen=True)
class Received:
    """A received file at work, and what it was allowed; null: whatever it names."""

    file: Path
    allowed: frozenset[tuple[str, str]] | None

    def allows(self, wanted: Iterable[Wanted]) -> bool:
        return self.allowed is None or all(_pair(each) in self.allowed for each in wanted)


_at_work: ContextVar[Received | None] = ContextVar("received", default=None)


@contextmanager
def on_behalf_of(
    file: Path, wanted: Iterable[Wanted] = (), *, trust: bool = False
) -> Iterator[None]:
    """Within it, nothing has an effect outside the folder of `file` that is not in `wanted`. What
    is inside another received file may do no more than that one."""
    outer, allowed = at_work(), None if trust else frozenset(map(_pair, wanted))
    if outer is not None and outer.allowed is not None:
        allowed = outer.allowed if allowed is None else allowed & outer.allowed
    token = _at_work.set(Received(file, allowed))
    try:
        yield
    finally:
        _at_work.reset(token)


def at_work() -> Received | None:
    """The received file that this is done for; null where a user typed it all."""
    policy, words = _at_work.get(), os.environ.get(VARIABLE)
    if policy is None and words:  # a process that a run has started
        content = json.loads(words)
        pairs = content["allowed"]
        allowed = None if pairs is None else frozenset((kind, value) for kind, value in pairs)
        return Received(Path(content["file"]), allowed)
    return policy


def handed_on() -> dict[str, str]:
    """The variables by which a process that is started knows what its received file may do."""
    policy = at_work()
    if policy is None:
        return {}
    allowed = None if policy.allowed is None else sorted(policy.allowed)
    return {VARIABLE: json.dumps({"file": str(policy.file), "allowed": allowed})}


def grant(
    wanted: Wanted, *, file: Path | None = None, listed: Iterable[Wanted] = (), alias: str = ""
) -> Grant:
    """Leave to do what is wanted, or `NotTrusted`. `file` is the received file that says so, and
    `listed` everything that it wants; without one, the words are the user's own, unless a received
    file is at work. `alias` is what lists call a host that only the user knows."""
    policy = at_work()
    if file is not None and is_allowed(file, listed):
        return Grant(wanted.kind, wanted.value, "allowed")
    if policy is None and file is None:
        return Grant(wanted.kind, wanted.value, "typed")
    called = replace(wanted, value=alias or wanted.value)
    if policy is not None and (policy.allows([wanted]) or policy.allows([called])):
        return Grant(wanted.kind, wanted.value, "allowed")
    raise _refused(file or (policy.file if policy else Path()), sorted({wanted, *listed}))


def host_of(address: str) -> str:
    """Scheme, host and port of an address, without the name and password that it may hold."""
    scheme, marks, rest = address.partition("://")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    return f"{scheme}://{host}" if marks else address


def sent_to(variable: str, address: str) -> Wanted:
    """A variable, and the only host that it would go to."""
    return Wanted("variable", variable, f"sent to {host_of(address)}")


def is_inner(name: object) -> bool:
    """Whether a name that a file gives is one of a place below its folder: relative, without
    `..`."""
    if not isinstance(name, str) or "\0" in name or "\\" in name or name[1:2] == ":":
        return False
    return all(part not in ("", ".", "..") for part in name.split("/"))


def own_file(folder: Path, name: object) -> Path | None:
    """The file that a received file calls `name`, in `folder`; null where it is no file below the
    folder: an absolute name, one with `..`, or one with a link on the way."""
    if not isinstance(name, str) or not is_inner(name):
        return None
    place = folder
    for part in name.split("/"):
        place = place / part
        if place.is_symlink():
            return None
    try:
        inside = place.resolve().is_relative_to(folder.resolve())
        return place if inside and place.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def require(file: Path, needs: Iterable[Wanted], *, trust: bool = False) -> None:
    """Return if `file` may do what it names: it names nothing, the caller trusts it, or the user
    has allowed it, by itself or with the received file that is at work.
    """
    listed, policy = sorted(set(needs)), at_work()
    if policy is not None and policy.allows(listed):
        return
    if (trust and policy is None) or is_allowed(file, listed):
        return
    raise _refused(file, listed)


def _refused(file: Path, listed: Sequence[Wanted]) -> NotTrusted:
    names = [f"{each.kind} {each.value}" for each in listed]
    more = f" and {len(names) - _NEEDS_SHOWN} more" if len(names) > _NEEDS_SHOWN else ""
    return NotTrusted(
        f"'{file}' names what is outside its folder: {', '.join(names[:_NEEDS_SHOWN])}{more}.",
        f"If that is meant, look at the list and allow it: claimlab trust {file}",
        needs=listed,
    )


def allow(file: Path, needs: Iterable[Wanted]) -> None:
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


def is_allowed(file: Path, needs: Iterable[Wanted]) -> bool:
    listed = sorted(set(needs))
    return not listed or _place(file, listed).is_file()


def withdraw(file: Path, needs: Iterable[Wanted]) -> None:
    """Forget an earlier `allow`."""
    _place(file, sorted(set(needs))).unlink(missing_ok=True)


def _place(file: Path, needs: Sequence[Wanted]) -> Path:
    from claimlab.core.digest import digest_file, digest_json  # Polars: not for a start

    key = digest_json([digest_file(file), sorted({_pair(need) for need in needs})])
    return state_folder() / "trust" / f"{key}.json"


def _pair(wanted: Wanted) -> tuple[str, str]:
    """What is allowed: a variable goes to one host only, and a price is the one that was shown."""
    whole = wanted.kind in ("variable", "price")
    return wanted.kind, f"{wanted.value} {wanted.use}" if whole else wanted.value


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself, by its number or as `localhost`."""
    name = host.strip("[]").lower()
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def named_in(
    value: object, folder: Path, use: str = "", *, base: Path = Path()
) -> Iterator[Wanted]:
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


def _named(text: str, folder: Path, use: str, base: Path) -> Iterator[Wanted]:
    hosts = [f"{host[1]}://{host[2].rpartition('@')[2]}" for host in _HOST.finditer(text)]
    if (storage := _STORAGE.match(text)) and storage[1] not in _PLACES and not Path(text).exists():
        hosts.append(f"{storage[1]}://{storage[2].rpartition('@')[2]}")
    if is_address(text):
        hosts.append(source_host(text))
    yield from (Wanted("host", host, use) for host in dict.fromkeys(hosts))
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
            yield Wanted("path", str(path.resolve()), use)
            return


def _parts(text: str) -> Iterator[str]:
    """What in a text may be a path: all that is behind a sign, and what is between two."""
    ends = [sign.start() for sign in _SIGN.finditer(text)] + [len(text)]
    for start, end in zip([0, *(at + 1 for at in ends)], ends, strict=False):
        for last in (len(text), end):
            if last - start <= PATH_CHARACTERS and (words := text[start:last].strip()):
                yield words
