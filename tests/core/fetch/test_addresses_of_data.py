"""Addresses as people write them, against hosts that answer as GitHub, the hub and others do."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

import pytest
from parts.hosts import Hosts

from claimlab.core.errors import ClaimlabError, DownloadFailed
from claimlab.core.fetch import store
from claimlab.core.fetch.archive import listing_of
from claimlab.core.fetch.front import Tree, bring, bring_tree
from claimlab.core.fetch.schemes import is_address

COMMIT, NEWER = "a" * 40, "b" * 40
TRAIN, TEST = b"id,text,label\n1,a claim,true\n", b"id,text,label\n2,another claim,false\n"


def blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def github(
    hosts: Hosts, files: dict[str, bytes], commit: str = COMMIT, name: str = "owner/set"
) -> None:
    hosts.put("api.github.com", f"/repos/{name}/commits/HEAD", commit.encode())
    hosts.put("api.github.com", f"/repos/{name}/commits/v1", commit.encode())
    rows = [{"path": p, "type": "blob", "sha": blob(c), "size": len(c)} for p, c in files.items()]
    hosts.put("api.github.com", f"/repos/{name}/git/trees/{commit}?recursive=1", {"tree": rows})
    for path, content in files.items():
        hosts.put("raw.githubusercontent.com", f"/{name}/{commit}/{path}", content)


def hub(
    hosts: Hosts,
    files: dict[str, bytes],
    revision: str = "main",
    commit: str = COMMIT,
    large: tuple[str, ...] = (),
) -> None:
    base = "/api/datasets/owner/set"
    hosts.put("huggingface.co", f"{base}/revision/{revision}", {"sha": commit})
    rows = []
    for path, content in files.items():
        row = {"type": "file", "path": path, "size": len(content), "oid": blob(content)}
        if path in large:
            row["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content)}
            row["oid"] = "0" * 40
        rows.append(row)
        hosts.put("huggingface.co", f"/datasets/owner/set/resolve/{commit}/{path}", content)
    hosts.put("huggingface.co", f"{base}/tree/{commit}?recursive=true", rows)


FILES = {"data/train.csv": TRAIN, "data/test.csv": TEST, "README.md": b"# Set\n", "run.py": b"1\n"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hf:owner/name", True), ("github:owner/repo@v1/data.csv", True), ("https://x.org/a.csv", True),
        ("zenodo:123", True), ("doi:10.5281/zenodo.1", True), ("data.csv", False), ("s3://bucket/x", False),
        ("C:/data.csv", False), ("https:x", False), ("FILE:KEY", False), ("liar", False), (None, False),
    ],
)  # fmt: skip
def test_what_an_address_is(text: str | None, expected: bool) -> None:
    assert is_address(text) is expected


def test_a_repository_is_its_data_files_at_a_commit(hosts: Hosts) -> None:
    github(hosts, FILES)
    folder, provenance = bring("github:owner/set")
    assert provenance.pinned == f"github:owner/set@{COMMIT}"
    assert sorted(provenance.files) == ["README.md", "data/test.csv", "data/train.csv"]
    assert folder.name == "set"
    assert (folder / "data" / "train.csv").read_bytes() == TRAIN
    assert not (folder / "run.py").exists()


def test_a_branch_that_moves_is_another_source(hosts: Hosts) -> None:
    github(hosts, FILES)
    first = bring("github:owner/set@v1")[1]
    github(hosts, {**FILES, "data/test.csv": TRAIN}, NEWER)
    second = bring("github:owner/set@v1")[1]
    assert (first.pinned, second.pinned) == (
        f"github:owner/set@{COMMIT}",
        f"github:owner/set@{NEWER}",
    )
    assert first.files["data/test.csv"] != second.files["data/test.csv"]


def test_a_file_that_moves_between_list_and_download_is_refused(hosts: Hosts) -> None:
    github(hosts, FILES)
    hosts.put("raw.githubusercontent.com", f"/owner/set/{COMMIT}/data/test.csv", TRAIN[:-1] + b"!")
    with pytest.raises(DownloadFailed, match="not the file that was pinned"):
        bring("github:owner/set")


def test_a_fixed_address_needs_no_network_twice(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    github(hosts, FILES)
    address = f"github:owner/set@{COMMIT}/data"
    first = bring(address)
    asked = len(hosts.asked)
    monkeypatch.setenv("CLAIMLAB_OFFLINE", "1")
    assert bring(address) == first
    assert len(hosts.asked) == asked
    with pytest.raises(DownloadFailed, match="switched off"):
        bring("github:owner/set")


def test_one_file_is_itself(hosts: Hosts) -> None:
    github(hosts, FILES)
    path, _ = bring(f"github:owner/set@{COMMIT}/data/train.csv")
    assert path.is_file()
    assert path.read_bytes() == TRAIN


def test_a_missing_path_names_the_near_ones(hosts: Hosts) -> None:
    github(hosts, FILES)
    with pytest.raises(ClaimlabError, match="data/train.csv"):
        bring("github:owner/set/data/trian.csv")


def test_the_hub_by_commit_with_large_files(hosts: Hosts) -> None:
    hub(hosts, FILES, large=("data/train.csv",))
    folder, provenance = bring("hf:owner/set")
    assert provenance.pinned == f"hf:owner/set@{COMMIT}"
    assert (folder / "data" / "train.csv").read_bytes() == TRAIN


def test_a_list_of_several_pages(hosts: Hosts) -> None:
    from parts.hosts import Handler

    hub(hosts, {"data/train.csv": TRAIN})
    tree = f"/api/datasets/owner/set/tree/{COMMIT}?recursive=true"
    row = {"type": "file", "path": "data/test.csv", "size": len(TEST), "oid": blob(TEST)}
    rows = hosts.files["huggingface.co", tree]
    assert isinstance(rows, bytes)

    def first(handler: Handler) -> None:
        link = f'<https://huggingface.co{tree}&cursor=2>; rel="next"'
        handler.answer(200, rows, Link=link)

    hosts.put("huggingface.co", tree, first)
    hosts.put("huggingface.co", f"{tree}&cursor=2", [row])
    hosts.put("huggingface.co", f"/datasets/owner/set/resolve/{COMMIT}/data/test.csv", TEST)
    assert sorted(bring("hf:owner/set")[1].files) == ["data/test.csv", "data/train.csv"]


def test_a_loading_script_is_not_run(hosts: Hosts) -> None:
    hub(hosts, {"set.py": b"raise SystemExit", "README.md": b"# Set"})
    with pytest.raises(ClaimlabError, match=r"only a loading script \(set.py\)"):
        bring("hf:owner/set")


def test_the_hub_s_own_copy_where_there_is_only_a_script(hosts: Hosts) -> None:
    hub(hosts, {"set.py": b"raise SystemExit"})
    hub(hosts, {"default/train/0000.parquet": b"PAR1"}, "refs/convert/parquet", NEWER)
    provenance = bring("hf:owner/set")[1]
    assert provenance.pinned == f"hf:owner/set@{NEWER}"
    assert "refs/convert/parquet" in provenance.notes[0]


def test_a_part_that_the_hub_converted_is_refused(hosts: Hosts) -> None:
    hub(hosts, {"set.py": b""})
    hub(hosts, {"default/partial-train/0000.parquet": b"PAR1"}, "refs/convert/parquet", NEWER)
    with pytest.raises(ClaimlabError, match="only a part"):
        bring("hf:owner/set")


def zenodo(hosts: Hosts, content: bytes, md5: str | None = None) -> None:
    checksum = md5 or hashlib.md5(content).hexdigest()
    row = {"key": "data set.csv", "size": len(content), "checksum": f"md5:{checksum}"}
    hosts.put("zenodo.org", "/api/records/123", {"id": 123, "conceptrecid": "122", "files": [row]})
    hosts.put("zenodo.org", "/api/records/122", {"id": 123, "conceptrecid": "122", "files": [row]})
    hosts.put("zenodo.org", "/api/records/123/files/data set.csv/content", content)


@pytest.mark.parametrize("address", ["zenodo:123", "doi:10.5281/zenodo.123", "zenodo:records/123"])
def test_a_record_of_zenodo(hosts: Hosts, address: str) -> None:
    zenodo(hosts, TRAIN)
    path, provenance = bring(address)
    assert (path.read_bytes(), provenance.pinned) == (TRAIN, "zenodo:123")


def test_the_record_of_all_versions_is_refused(hosts: Hosts) -> None:
    zenodo(hosts, TRAIN)
    with pytest.raises(ClaimlabError, match="zenodo:123"):
        bring("zenodo:122")


def test_a_wrong_checksum_of_a_record_is_refused(hosts: Hosts) -> None:
    zenodo(hosts, TRAIN, "0" * 32)
    with pytest.raises(DownloadFailed, match="md5"):
        bring("zenodo:123")


def test_figshare_and_dataverse(hosts: Hosts) -> None:
    row = {
        "name": "a.csv",
        "size": len(TRAIN),
        "computed_md5": hashlib.md5(TRAIN).hexdigest(),
        "download_url": "https://figshare.com/ndownloader/files/9",
    }
    hosts.put("api.figshare.com", "/v2/articles/7/versions", [{"version": 1}, {"version": 2}])
    hosts.put("api.figshare.com", "/v2/articles/7/versions/2", {"files": [row]})
    hosts.put("figshare.com", "/ndownloader/files/9", TRAIN)
    path, provenance = bring("figshare:7")
    assert (path.read_bytes(), provenance.pinned) == (TRAIN, "figshare:7/versions/2")
    data = {
        "id": 5,
        "filename": "a.tab",
        "originalFileName": "a.csv",
        "originalFileFormat": "text/csv",
        "originalFileSize": len(TEST),
        "md5": "of the tab",
    }
    version = {
        "versionNumber": 1,
        "versionMinorNumber": 0,
        "files": [{"dataFile": data, "directoryLabel": "raw"}],
    }
    hosts.put(
        "dataverse.harvard.edu",
        "/api/datasets/:persistentId/?persistentId=doi:10.7910/DVN/X",
        {"data": {"latestVersion": version}},
    )
    hosts.put("dataverse.harvard.edu", "/api/access/datafile/5?format=original", TEST)
    path, _ = bring("doi:10.7910/DVN/X")
    assert (path.name, path.read_bytes()) == ("a.csv", TEST)


def test_gitlab(hosts: Hosts) -> None:
    hosts.put(
        "gitlab.com", "/api/v4/projects/group/lab/set/repository/commits/HEAD", {"id": COMMIT}
    )
    rows = [{"type": "blob", "path": "train.csv", "id": blob(TRAIN)}]
    hosts.put(
        "gitlab.com",
        f"/api/v4/projects/group/lab/set/repository/tree?ref={COMMIT}&recursive=true&per_page=100",
        rows,
    )
    hosts.put("gitlab.com", f"/group/lab/set/-/raw/{COMMIT}/train.csv", TRAIN)
    assert bring("gitlab:group/lab/set")[0].read_bytes() == TRAIN


def test_an_unknown_doi_says_which_are_known(hosts: Hosts) -> None:
    with pytest.raises(ClaimlabError, match="Zenodo, figshare"):
        bring("doi:10.1145/12345")
    assert hosts.asked == []


def test_a_page_is_asked_for_each_time(hosts: Hosts) -> None:
    """Nothing says that it is the same file as before."""
    hosts.put("data.example.org", "/a.csv", TRAIN)
    assert bring("https://data.example.org/a.csv")[0].read_bytes() == TRAIN
    hosts.put("data.example.org", "/a.csv", TEST)
    assert bring("https://data.example.org/a.csv")[0].read_bytes() == TEST


def archive(files: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"set-{COMMIT}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(f"set-{COMMIT}/{name}")
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return buffer.getvalue()


TEXTS = {f"texts/{n}.txt": f"text {n}".encode() for n in range(40)}


def tree_of(files: dict[str, bytes]) -> Tree:
    inside = {name: blob(content) for name, content in files.items() if name.startswith("texts/")}
    size = sum(len(files[name]) for name in inside)
    return Tree("texts", len(inside), size, listing_of(inside))


def test_a_folder_of_many_files_comes_as_an_archive(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = f"/owner/set/tar.gz/{COMMIT}"
    packed = archive({**TEXTS, "other/x.txt": b"x"}, {"texts/link": "/etc/passwd"})
    hosts.put("codeload.github.com", place, packed)
    pinned = f"github:owner/set@{COMMIT}"
    files = bring_tree(pinned, tree_of(TEXTS))
    assert files.keys() == TEXTS.keys()
    assert store.gathered(files, "set").joinpath("texts/7.txt").read_bytes() == b"text 7"
    monkeypatch.setenv("CLAIMLAB_OFFLINE", "1")
    assert bring_tree(pinned, tree_of(TEXTS)) == files


@pytest.mark.parametrize(
    "change",
    [
        lambda files: {**files, "texts/7.txt": b"text 8"},
        lambda files: {name: content for name, content in files.items() if name != "texts/7.txt"},
        lambda files: {**files, "texts/more.txt": b""},
        lambda files: {**files, "texts/7.txt": b"x" * 9_000_000},
        lambda files: {**files, "texts/../../up.txt": b"text 7"},
    ],
)
def test_another_archive_is_refused(hosts: Hosts, change: object) -> None:
    hosts.put("codeload.github.com", f"/owner/set/tar.gz/{COMMIT}", archive(change(TEXTS)))  # type: ignore[operator]
    with pytest.raises(ClaimlabError):
        bring_tree(f"github:owner/set@{COMMIT}", tree_of(TEXTS))
    assert not (store.downloads_folder().parent / "up.txt").exists()


def test_a_broken_archive_is_refused(hosts: Hosts) -> None:
    hosts.put("codeload.github.com", f"/owner/set/tar.gz/{COMMIT}", archive(TEXTS)[:200])
    with pytest.raises(DownloadFailed, match="not a whole archive|does not hold"):
        bring_tree(f"github:owner/set@{COMMIT}", tree_of(TEXTS))


def test_hosts_that_answer_nonsense_are_named(hosts: Hosts) -> None:
    hosts.put("zenodo.org", "/api/records/5", b"<html>")
    with pytest.raises(DownloadFailed, match="not JSON"):
        bring("zenodo:5")
    hosts.put("api.github.com", "/repos/owner/odd/commits/HEAD", b"main")
    with pytest.raises(ClaimlabError, match="names no commit"):
        bring("github:owner/odd")
    hosts.put("zenodo.org", "/api/records/6", json.dumps([1]).encode())
    with pytest.raises(ClaimlabError, match="not as documented"):
        bring("zenodo:6")


def test_nothing_is_left_beside(hosts: Hosts, tmp_path: Path) -> None:
    github(hosts, FILES)
    bring("github:owner/set")
    left = [f for f in (store.downloads_folder() / "parts").iterdir() if f.suffix != ".lock"]
    assert left == []
