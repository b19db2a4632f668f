"""What an address names: which files, at which fixed version.

    https://example.org/data.csv
    github:owner/repo[@revision][/path]        gitlab:group/project[@revision][/path]
    hf:owner/name[@revision][/path]            a dataset of the Hugging Face Hub
    zenodo:ID      figshare:ID[/versions/N]    dataverse:DOI      doi:10....

A branch or tag is resolved to its commit first, and the commit is what is recorded. Hosts are asked
for a list of files only here; the files themselves come by `download`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import quote, urlsplit

from claimlab.core.errors import DataError, DownloadFailed, UsageError
from claimlab.core.fetch.download import Expected, Reach, fetch_bytes, fetch_json
from claimlab.core.fetch.schemes import ADDRESS
from claimlab.core.types import Json, JsonObject

MOST_FILES = 2_000  # of one address; more are named by a path
MOST_TREE_BYTES = 5 << 30
COMMIT = re.compile(r"[0-9a-f]{40}")
TABLES = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".xml", ".parquet", ".arrow")
OTHER_DATA = (".xlsx", ".xls", ".ods", ".sqlite", ".db", ".txt")
PACKED = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz")
DATA_SUFFIXES = (*TABLES, *OTHER_DATA, *PACKED)
EXPLAINING = ("readme", "license", "licence", "citation", "dataset_infos.json", "dataset_info")
CONVERTED = "refs/convert/parquet"  # the hub's own copy of a dataset as Parquet; rewritten in place
DATAVERSE = "dataverse.harvard.edu"

_OWNER_AND_NAME = re.compile(
    r"^(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^/]+))?(?:/(?P<path>.+))?$"
)
_NEXT = re.compile(r'<([^<>]+)>;\s*rel="next"')


@dataclass(frozen=True)
class RemoteFile:
    """One file of a source: its name there, its address, and what is known of its bytes."""

    name: str
    url: str
    expected: Expected = field(default_factory=Expected)


@dataclass(frozen=True)
class ResolvedSource:
    """`pinned` is the address with its revision: the same files for ever."""

    address: str  # as it was asked for
    pinned: str
    files: tuple[RemoteFile, ...]
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


async def resolve(address: str, reach: Reach) -> ResolvedSource:
    """The files behind `address`, at a fixed version."""
    match = ADDRESS.match(address.strip())
    if match is None:
        raise UsageError(f"'{address}' is not an address of data.", "Write hf:OWNER/NAME.")
    scheme, rest = match[1], match[2].strip("/")
    if scheme == "doi":
        scheme, rest = of_doi(rest)
    if scheme in ("http", "https"):
        return _page(address)
    source = await {
        "github": _github,
        "gitlab": _gitlab,
        "hf": _hub,
        "zenodo": _zenodo,
        "figshare": _figshare,
        "dataverse": _dataverse,
    }[scheme](rest, reach)
    return ResolvedSource(address, source.pinned, source.files, source.notes, source.facts)


def of_doi(doi: str) -> tuple[str, str]:
    """The host that a DOI belongs to, by its prefix, and its record there."""
    bare = re.sub(r"^(?:https?://)?(?:dx\.)?doi\.org/", "", doi, flags=re.IGNORECASE)
    if match := re.fullmatch(r"10\.5281/zenodo\.(\d+)", bare, re.IGNORECASE):
        return "zenodo", match[1]
    if match := re.fullmatch(r"10\.6084/m9\.figshare\.(\d+)(?:\.v(\d+))?", bare, re.IGNORECASE):
        return "figshare", f"{match[1]}/versions/{match[2]}" if match[2] else match[1]
    if bare.upper().startswith("10.7910/DVN/"):
        return "dataverse", bare
    raise UsageError(
        f"claimlab does not know where the files of DOI '{bare}' are.",
        "Known: Zenodo, figshare and Harvard Dataverse. Open the DOI in a browser and give the"
        " address of the file.",
    )


def _page(url: str) -> ResolvedSource:
    if url.startswith("http:"):
        raise UsageError(f"'{url}' is not https.", "Give the https address.")
    name = PurePosixPath(urlsplit(url).path).name or "download"
    return ResolvedSource(url, url, (RemoteFile(name, url),))


@dataclass(frozen=True)
class _Repository:
    name: str
    revision: str | None
    path: str


def _repository(rest: str, scheme: str) -> _Repository:
    match = _OWNER_AND_NAME.fullmatch(rest)
    if match is None:
        raise UsageError(
            f"'{scheme}:{rest}' is not a repository.", f"Write {scheme}:OWNER/NAME@REVISION/PATH."
        )
    return _Repository(match["name"], match["revision"], (match["path"] or "").strip("/"))


def raw_url(pinned: str, path: str) -> str:
    """The address of one file of a repository at a commit: `pinned` is SCHEME:NAME@COMMIT."""
    scheme, rest = pinned.split(":", 1)
    name, commit = rest.rsplit("@", 1)
    place = quote(path)
    if scheme == "github":
        return f"https://raw.githubusercontent.com/{name}/{commit}/{place}"
    if scheme == "gitlab":
        return f"https://gitlab.com/{name}/-/raw/{commit}/{place}"
    if scheme == "hf":
        return f"https://huggingface.co/datasets/{name}/resolve/{commit}/{place}"
    raise UsageError(
        f"'{pinned}' is not a repository at a commit.", "Write github:OWNER/NAME@HASH."
    )


def archive_url(pinned: str) -> str:
    """All files of a repository at a commit in one archive. Its own bytes may change from one day
    to the next; its members are verified one by one."""
    scheme, rest = pinned.split(":", 1)
    name, commit = rest.rsplit("@", 1)
    if scheme != "github":
        raise UsageError(f"'{pinned}' gives no archive.", "Name files.")
    return f"https://codeload.github.com/{name}/tar.gz/{commit}"


async def _github(rest: str, reach: Reach) -> ResolvedSource:
    wanted = _repository(rest, "github")
    api = f"https://api.github.com/repos/{wanted.name}"
    commit = wanted.revision or "HEAD"
    if not COMMIT.fullmatch(commit):
        headers = {"Accept": "application/vnd.github.sha"}
        body, _ = await fetch_bytes(f"{api}/commits/{quote(commit, safe='')}", reach, headers)
        commit = body.decode("ascii", "replace").strip()
        _refuse_odd_commit(commit, f"github:{rest}")
    tree, _ = await fetch_json(f"{api}/git/trees/{commit}?recursive=1", reach)
    if _object(tree, rest).get("truncated"):
        raise UsageError(
            f"'github:{rest}' has more files than its host lists.", "Name a file: .../PATH."
        )
    listed = {
        str(each["path"]): Expected(size=int(each.get("size", 0)), blob=str(each["sha"]))
        for each in tree["tree"]
        if each.get("type") == "blob"
    }
    pinned = f"github:{wanted.name}@{commit}"
    return _chosen(pinned, listed, wanted.path, {p: raw_url(pinned, p) for p in listed})


async def _gitlab(rest: str, reach: Reach) -> ResolvedSource:
    project, _, tail = rest.partition("@")
    revision, _, path = tail.partition("/")
    api = f"https://gitlab.com/api/v4/projects/{quote(project, safe='')}/repository"
    commit = revision or "HEAD"
    if not COMMIT.fullmatch(commit):
        answer, _ = await fetch_json(f"{api}/commits/{quote(commit, safe='')}", reach)
        commit = str(_object(answer, rest).get("id", ""))
        _refuse_odd_commit(commit, f"gitlab:{rest}")
    listed: dict[str, Expected] = {}
    url: str | None = f"{api}/tree?ref={commit}&recursive=true&per_page=100"
    while url:
        rows, headers = await fetch_json(url, reach)
        for each in rows:
            if each.get("type") == "blob":
                listed[str(each["path"])] = Expected(blob=str(each["id"]))
        url = _next_page(headers, url)
    pinned = f"gitlab:{project}@{commit}"
    return _chosen(pinned, listed, path, {p: raw_url(pinned, p) for p in listed})


async def _hub(rest: str, reach: Reach) -> ResolvedSource:
    wanted = _repository(rest.removeprefix("datasets/"), "hf")
    notes: tuple[str, ...] = ()
    commit, listed = await _hub_tree(wanted.name, wanted.revision or "main", reach)
    script = f"{wanted.name.rsplit('/', 1)[-1]}.py"
    if not wanted.path and not any(map(is_data, listed)):
        if script not in listed:
            raise DataError(f"'hf:{rest}' holds no data files.", "Name one: hf:OWNER/NAME/PATH.")
        try:
            commit, listed = await _hub_tree(wanted.name, CONVERTED, reach)
        except DownloadFailed:
            raise DataError(
                f"'hf:{rest}' is only a loading script ({script}), which is not run.",
                "Get the files where the script gets them.",
            ) from None
        if any(path.split("/")[1:2] and "partial-" in path for path in listed):
            raise DataError(
                f"The hub has converted only a part of 'hf:{rest}'.",
                "Get the files from its publisher.",
            )
        notes = (f"The hub's own Parquet copy (branch {CONVERTED}, at {commit[:12]}) was read.",)
    pinned = f"hf:{wanted.name}@{commit}"
    chosen = _chosen(pinned, listed, wanted.path, {p: raw_url(pinned, p) for p in listed})
    return ResolvedSource(chosen.address, chosen.pinned, chosen.files, notes)


async def _hub_tree(name: str, revision: str, reach: Reach) -> tuple[str, dict[str, Expected]]:
    api = f"https://huggingface.co/api/datasets/{name}"
    commit = revision
    if not COMMIT.fullmatch(commit):
        answer, _ = await fetch_json(f"{api}/revision/{quote(revision, safe='')}", reach)
        commit = str(_object(answer, name).get("sha", ""))
        _refuse_odd_commit(commit, f"hf:{name}")
    listed: dict[str, Expected] = {}
    url: str | None = f"{api}/tree/{commit}?recursive=true"
    while url:
        rows, headers = await fetch_json(url, reach)
        for each in rows:
            if each.get("type") != "file":
                continue
            large = each.get("lfs") or {}
            listed[str(each["path"])] = Expected(
                size=int(large.get("size", each.get("size", 0))),
                sha256=str(large["oid"]).removeprefix("sha256:") if large else None,
                blob=None if large else str(each["oid"]),
            )
        url = _next_page(headers, url)
    return commit, listed


async def _zenodo(record: str, reach: Reach) -> ResolvedSource:
    identifier = re.sub(r"^records?/", "", record)
    if not identifier.isdigit():
        raise UsageError(f"'zenodo:{record}' is not a record.", "Write zenodo:1234567.")
    answer, _ = await fetch_json(f"https://zenodo.org/api/records/{identifier}", reach)
    facts = _object(answer, record)
    if str(facts.get("conceptrecid")) == identifier or str(facts.get("id")) != identifier:
        raise DataError(
            f"zenodo:{identifier} names all versions of a record, of which the newest changes.",
            f"Name one: zenodo:{facts.get('id')}.",
        )
    files = tuple(
        RemoteFile(
            str(each["key"]),
            f"https://zenodo.org/api/records/{identifier}/files/{quote(str(each['key']))}/content",
            Expected(size=int(each["size"]), md5=_md5(each.get("checksum"))),
        )
        for each in facts.get("files") or ()
    )
    return _of_record(f"zenodo:{identifier}", files)


async def _figshare(record: str, reach: Reach) -> ResolvedSource:
    match = re.fullmatch(r"(\d+)(?:/versions/(\d+))?", record)
    if match is None:
        raise UsageError(f"'figshare:{record}' is not a record.", "Write figshare:ID/versions/N.")
    api = f"https://api.figshare.com/v2/articles/{match[1]}"
    version = match[2]
    if version is None:
        rows, _ = await fetch_json(f"{api}/versions", reach)
        version = str(max(int(each["version"]) for each in rows))
    answer, _ = await fetch_json(f"{api}/versions/{version}", reach)
    files = tuple(
        RemoteFile(
            str(each["name"]),
            str(each["download_url"]),
            Expected(size=int(each["size"]), md5=_md5(each.get("computed_md5"))),
        )
        for each in _object(answer, record).get("files") or ()
    )
    return _of_record(f"figshare:{match[1]}/versions/{version}", files)


async def _dataverse(doi: str, reach: Reach) -> ResolvedSource:
    bare = doi.removeprefix("doi:")
    api = f"https://{DATAVERSE}/api/datasets/:persistentId/?persistentId=doi:{quote(bare)}"
    answer, _ = await fetch_json(api, reach)
    version = _object(_object(answer, doi).get("data"), doi).get("latestVersion") or {}
    files = tuple(
        RemoteFile(
            "/".join(filter(None, (each.get("directoryLabel"), _original_name(each)))),
            f"https://{DATAVERSE}/api/access/datafile/{int(each['dataFile']['id'])}"
            + ("?format=original" if each["dataFile"].get("originalFileFormat") else ""),
            Expected(
                size=each["dataFile"].get("originalFileSize") or each["dataFile"].get("filesize"),
                md5=None
                if each["dataFile"].get("originalFileFormat")
                else _md5(each["dataFile"].get("md5")),
            ),
        )
        for each in version.get("files") or ()
        if not each.get("restricted")
    )
    number = f"{version.get('versionNumber')}.{version.get('versionMinorNumber')}"
    return _of_record(f"dataverse:{bare}", files, {"version": number})


def _original_name(row: JsonObject) -> str:
    """The name that the publisher gave: the host keeps a table as .tab."""
    return str(row["dataFile"].get("originalFileName") or row["dataFile"]["filename"])


def _of_record(
    pinned: str, files: tuple[RemoteFile, ...], facts: Mapping[str, str] | None = None
) -> ResolvedSource:
    if not files:
        raise DataError(
            f"'{pinned}' has no public files.", "Ask its publisher for access, then give the files."
        )
    return ResolvedSource(pinned, pinned, files, facts=facts or {})


def _chosen(
    pinned: str, listed: Mapping[str, Expected], path: str, urls: Mapping[str, str]
) -> ResolvedSource:
    """The file or folder at `path`; without one, the data files and what explains them."""
    if path:
        names = [name for name in listed if name == path or name.startswith(f"{path}/")]
        if not names:
            raise DataError(f"'{pinned}' has no file '{path}'.", _near(path, listed))
    else:
        names = [name for name in listed if is_data(name) or explains(name)]
    if not any(map(is_data, names)) and not path:
        raise DataError(f"'{pinned}' holds no data files.", "Name one: .../PATH.")
    size = sum(listed[name].size or 0 for name in names)
    if len(names) > MOST_FILES or size > MOST_TREE_BYTES:
        raise UsageError(
            f"'{pinned}' has {len(names):,} files, {size / 1e6:,.0f} MB.",
            "Name a file or folder in it: .../PATH.",
        )
    return ResolvedSource(
        pinned, pinned, tuple(RemoteFile(n, urls[n], listed[n]) for n in sorted(names))
    )


def is_data(name: str) -> bool:
    return not explains(name) and name.lower().endswith(DATA_SUFFIXES)


def explains(name: str) -> bool:
    """A README, licence or description of the columns."""
    return PurePosixPath(name).name.lower().startswith(EXPLAINING)


def _near(path: str, names: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(path, list(names), n=3, cutoff=0.6)
    return f"Did you mean {', '.join(near)}?" if near else "Check the path."


def _next_page(headers: Mapping[str, str], url: str) -> str | None:
    """The next page of a list, on the same host."""
    match = _NEXT.search(headers.get("link", ""))
    if match is None or urlsplit(match[1]).netloc != urlsplit(url).netloc:
        return None
    return match[1]


def _refuse_odd_commit(commit: str, address: str) -> None:
    if not COMMIT.fullmatch(commit):
        raise DataError(f"The host of '{address}' names no commit.", "Name one: @COMMIT.")


def _object(answer: Json, what: str) -> JsonObject:
    if not isinstance(answer, dict):
        raise DataError(f"The host's answer about '{what}' is not as documented.", "Report it.")
    return answer


def _md5(checksum: object) -> str | None:
    """From "md5:HEX", or HEX alone."""
    match = re.fullmatch(r"(?:md5:)?([0-9a-f]{32})", str(checksum))
    return match[1] if match else None
