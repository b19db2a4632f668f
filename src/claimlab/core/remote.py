"""Object storage works like a folder: `s3://bucket/folder`, and every other URL that fsspec knows,
as input and output.

Every place has a local copy in the cache, `remote/s3/bucket/folder`, and all work is done there:

- an input is fetched first, and then only what has another ETag (or size and time) than what was
  fetched before;
- an output is written there like any other folder, and sent when it is finished. `.sending.json`
  goes first, what says that a folder is one of claimlab's (`dataset.json`, `.claimlab.json`) goes
  last, then `.sending.json` is removed: a reader finds the old folder, the new one, or a sentence
  that it is not complete. What was sent is noted file by file, so that a run that was killed while
  sending goes on with the next file.

Functions get local paths: `core/call` puts them in place of the URLs (`in_storage`).
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from claimlab.core.atomic import quick_text, read_object
from claimlab.core.digest import digest_file, digest_json
from claimlab.core.errors import DataError, MissingExtra, UsageError
from claimlab.core.grants import Wanted, grant, host_of
from claimlab.core.places import remote_folder
from claimlab.core.types import JsonObject

SENDING = ".sending.json"
# what holds it stays there as it is
PLACEHOLDER = b"claimlab has not fetched this file from its place in storage.\n"
# what makes a folder claimlab's, see core/guard
SEALS = ("dataset.json", "claimlab.json", ".claimlab.json")
_URL = re.compile(
    r"^([a-z][a-z0-9+-]+):/{1,2}(?=[^/])(.*)$", re.DOTALL
)  # a Path has one slash where a URL has two
# Addresses that are no storage: pages are fetched elsewhere, databases are opened by SQLAlchemy,
# files are paths.
_OTHERS = {
    "http",
    "https",
    "github",
    "gitlab",
    "hf",
    "zenodo",
    "figshare",
    "dataverse",
    "doi",
    "file",
    "local",
    "data",
    "sqlite",
    "postgresql",
    "mysql",
    "dask",
    "tcp",
    "tls",
}
_LIBRARIES = ("botocore", "aiobotocore", "aiohttp", "s3fs", "gcsfs", "adlfs")
# file inside the folder ("" for a single file) -> size, tag, and sha256 once known
Listing = dict[str, list[str]]


def is_remote(path: object) -> bool:
    """Whether `path` is a URL of storage; a local path never is."""
    match = _URL.match(str(path)) if isinstance(path, str | Path) else None
    return (
        match is not None and match[1].split("+")[0] not in _OTHERS and not Path(str(path)).exists()
    )


def url_of(path: str | Path) -> str | None:
    """The URL of a place or of its local copy; null for what is only local."""
    if is_remote(path) and (match := _URL.match(str(path))):
        return f"{match[1]}://{match[2].rstrip('/')}"
    root = remote_folder()
    inside = Path(path).relative_to(root).parts if Path(path).is_relative_to(root) else ()
    return (
        f"{inside[0]}://{'/'.join(inside[1:])}"
        if len(inside) > 1 and not inside[0].startswith(".")
        else None
    )


def copy_of(path: str | Path) -> Path:
    """Where the local copy of a place is; nothing is fetched."""
    url = url_of(path) or ""
    scheme, _, inside = url.partition("://")
    parts = inside.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise UsageError(f"'{url}' is not a valid place.", "Write it as s3://BUCKET/FOLDER.")
    return remote_folder().joinpath(scheme, *parts)


def refuse_remote(path: str | Path, what: str) -> None:
    """Say that `what` works on local folders only, where `path` is a place in storage."""
    if is_remote(path):
        raise UsageError(
            f"'{url_of(path)}' is in object storage, and {what} needs a local folder.",
            "Copy it to a local folder first, or mount the bucket.",
        )


def to_read(path: str | Path) -> Path:
    """An input as a local path: itself, or its copy, brought up to date."""
    return fetch(path) if is_remote(path) else Path(path)


def local_name(path: str) -> str:
    """A path in a file of the user, as it is, or that of the copy of a place in storage."""
    return str(fetch(path)) if is_remote(path) else path


def to_write(path: str | Path) -> Path:
    """An output as a local path: itself, or its copy, which says what is at the place. `send` it
    when it is done.
    """
    if not is_remote(path):
        return Path(path)
    output = copy_of(path)
    if not (
        output.parent / f".{output.name}.work" / "done.json"
    ).is_file():  # else it is finished and not yet sent
        expect(output)
    return output


def to_continue(path: str | Path) -> Path:
    """An output that is written bit by bit as a local path: its copy, with what is at the place
    already.
    """
    if not is_remote(path):
        return Path(path)
    with _storage(url_of(path) or "") as (files, place):
        there = _listing(files, place)
    return fetch(path) if there else copy_of(path)


def fetch(path: str | Path) -> Path:
    """The local copy of an input, brought up to date."""
    url, target = url_of(path) or "", copy_of(path)
    with _storage(url) as (files, place):
        there = _listing(files, place)
        if not there:
            raise FileNotFoundError(url)
        if SENDING in there:
            raise DataError(
                f"'{url}' is not complete: it is being sent, or its sending was stopped.",
                "Run the command that writes it again, then this one.",
            )
        before = _state(url)
        for name in sorted(set(before) - set(there)):
            _inside(target, name).unlink(missing_ok=True)
        if "" in there and target.is_dir():
            shutil.rmtree(target)
        for name, seen in there.items():
            file = _inside(target, name)
            if (
                before.get(name, [])[:2] != seen
                or not file.is_file()
                or str(file.stat().st_size) != seen[0]
            ):
                file.parent.mkdir(parents=True, exist_ok=True)
                building = file.with_name(f".{file.name}.building")
                files.get_file(_at(place, name), str(building))
                building.replace(file)
    _note(url, there)
    return target


def expect(output: Path) -> None:
    """Make the local copy of an output say what is at its place, so that what guards outputs can
    look at it.
    """
    url = url_of(output) or ""
    with _storage(url) as (files, place):
        there = _listing(files, place)
        if (
            SENDING in there or not there
        ):  # half of what claimlab was sending may be replaced, and nothing too
            shutil.rmtree(output, ignore_errors=True)
        elif {name: seen[:2] for name, seen in _state(url).items()} != there or not output.exists():
            shutil.rmtree(output, ignore_errors=True)
            for name in there:
                file = _inside(output, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                if file.name in SEALS:
                    files.get_file(f"{place}/{name}", str(file))
                else:
                    file.write_bytes(PLACEHOLDER)
            _note(url, {})


def send(output: Path) -> None:
    """Send a finished output to its place, file by file; nothing where it is only local, or there
    already.
    """
    url = url_of(output)
    if url is None or not output.exists():
        return
    names = _names(output)
    digests = {
        name: digest_file(file)
        for name in names
        if not _is_placeholder(file := _inside(output, name))
    }
    with _storage(url) as (files, place):
        there, state = _listing(files, place), _state(url)
        state = {name: seen for name, seen in state.items() if there.get(name) == seen[:2]}
        unsent = {name for name, digest in digests.items() if state.get(name, [])[2:] != [digest]}
        stale = set(there) - {*names, SENDING}
        if not unsent and not stale and SENDING not in there:
            return
        files.pipe_file(f"{place}/{SENDING}", json.dumps(sorted(digests)).encode())
        seals = {name for name in digests if name.split("/")[-1] in SEALS}
        for name in stale | (seals & unsent & set(there)):
            files.rm_file(f"{place}/{name}")
        for name in sorted(unsent, key=lambda name: (name in seals, name.count("/") == 0, name)):
            target = _at(place, name)
            files.put_file(str(_inside(output, name)), target)
            state[name] = [*_seen(files.info(target)), digests[name]]
            _note(url, state)
        files.rm_file(f"{place}/{SENDING}")


def _listing(files: Any, place: str) -> Listing:
    """Every file at a place by its name there, with its size and tag."""
    files.invalidate_cache()
    infos = files.find(place, detail=True)
    rows = {
        key[len(place) :].lstrip("/"): _seen(info)
        for key, info in infos.items()
        if info["type"] == "file"
    }
    unsafe = [name for name in rows if name.startswith("/") or ".." in name.split("/")]
    if unsafe:
        raise DataError(
            f"'{unsafe[0]}' is not a safe name for a file.", "Rename it where it is stored."
        )
    return rows


def _seen(info: JsonObject) -> list[str]:
    tag = (
        info.get("ETag")
        or info.get("etag")
        or info.get("md5Hash")
        or info.get("mtime")
        or info.get("created")
    )
    return [str(info["size"]), str(tag)]


@contextmanager
def _storage(url: str) -> Iterator[tuple[Any, str]]:
    """The file system of a URL and the path in it; whatever it complains of becomes a sentence."""
    scheme = url.split("://")[0]
    grant(Wanted("host", host_of(url), "storage that is read or written"))
    try:
        from fsspec.core import url_to_fs

        files, place = url_to_fs(url, skip_instance_cache=True, use_listings_cache=False)
    except ImportError:
        raise MissingExtra(f"'{scheme}://'", "remote") from None
    except ValueError:
        raise UsageError(
            f"'{scheme}://' is not a kind of storage that fsspec knows.",
            "Write s3://BUCKET/FOLDER.",
        ) from None
    try:
        yield files, place.rstrip("/")
    except FileNotFoundError:
        raise DataError(f"There is nothing at '{url}'.", "Check the bucket and the path.") from None
    except PermissionError:
        raise DataError(
            f"The storage does not permit this at '{url}'.",
            "Check the credentials and what they may do there.",
        ) from None
    except Exception as error:
        library = type(error).__module__.split(".")[0]
        if not isinstance(error, OSError) and library not in _LIBRARIES:
            raise
        if "Credentials" in type(error).__name__:
            todo = "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE."
            raise DataError(f"There are no credentials for '{url}'.", todo) from None
        raise DataError(
            f"'{url}' cannot be reached ({type(error).__name__}).", "Check the endpoint."
        ) from error


def _is_placeholder(file: Path) -> bool:
    return file.stat().st_size == len(PLACEHOLDER) and file.read_bytes() == PLACEHOLDER


def _names(output: Path) -> list[str]:
    """The files of a finished output; "" for one that is a single file."""
    if output.is_file():
        return [""]
    return sorted(
        file.relative_to(output).as_posix() for file in output.rglob("*") if file.is_file()
    )


def _inside(target: Path, name: str) -> Path:
    return target / name if name else target


def _at(place: str, name: str) -> str:
    return f"{place}/{name}" if name else place


def _state_file(url: str) -> Path:
    return remote_folder() / ".state" / f"{digest_json(url)[:24]}.json"


def _state(url: str) -> Listing:
    """What is known of the files at a place since it was last fetched or sent to."""
    return read_object(_state_file(url))


def _note(url: str, state: Listing) -> None:
    _state_file(url).parent.mkdir(parents=True, exist_ok=True)
    quick_text(_state_file(url), json.dumps(state))
