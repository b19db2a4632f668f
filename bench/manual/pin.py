"""Write the pinned sources of a catalogued dataset: `catalog/data/sources/NAME.toml`.

    python -m manual.pin liar-plus --from github:OWNER/NAME --clone FOLDER --files ARCHIVE...
    python -m manual.pin --all PLACES.toml     # many: [NAME] from = ..., clone = ..., files = [...]
    python -m manual.pin --table docs/benchmarks/sources.md
    python -m manual.pin --live     # asks each source for one byte: which are gone?

A clone of the publisher's repository says which file is which blob of which commit; files at hand
(or in the clone) are read and hashed. The reader of the dataset is then run on exactly those bytes,
and its rows and labels are compared with the card. A file whose bytes are not at hand is pinned by
its blob id, or not at all where `--read-only` is given; a pointer of Git LFS is pinned as what it
points to, never as itself.
"""

from __future__ import annotations

import argparse
import asyncio
import fnmatch
import hashlib
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from claimlab.catalog.load import DATASETS, completed, read
from claimlab.catalog.sources import Sources, sources_of
from claimlab.core.fetch.archive import listing_of
from claimlab.core.fetch.download import Reach, requested
from claimlab.core.fetch.front import reach
from claimlab.core.fetch.hosts import archive_url, is_data, raw_url
from claimlab.files.bundle import Bundle

TARGET = Path(__file__).parents[2] / "src/claimlab/catalog/data/sources"
MOST_NAMED = 400  # files of a source; more of them are one tree
LFS = b"version https://git-lfs.github.com/spec/"


@dataclass
class Clone:
    """The newest commit of a repository, without a work tree."""

    place: Path
    commit: str = ""
    day: str = ""
    blobs: dict[str, str] = field(default_factory=dict)  # path -> blob id

    def __post_init__(self) -> None:
        if (self.place / ".git").is_dir():
            self.place = self.place / ".git"
        self.commit = self.git("rev-parse", "HEAD").decode().strip()
        self.day = self.git("log", "-1", "--format=%cs").decode().strip()
        for row in self.git("ls-tree", "-r", "-z", "HEAD").decode().split("\0"):
            if row:
                facts, path = row.split("\t", 1)
                mode, kind, blob = facts.split()
                if kind == "blob" and mode != "120000":
                    self.blobs[path] = blob

    def git(self, *words: str, given: bytes = b"") -> bytes:
        command = ["git", "-c", "safe.directory=*", "--git-dir", str(self.place), *words]
        return subprocess.run(command, check=True, capture_output=True, input=given).stdout

    def sizes(self, blobs: Iterable[str]) -> dict[str, int | None]:
        """Bytes of each blob; null where the snapshot does not hold it."""
        asked = "\n".join(blobs).encode()
        rows = self.git("cat-file", "--batch-check", given=asked).decode().splitlines()
        return {r.split()[0]: None if r.endswith("missing") else int(r.split()[2]) for r in rows}

    def bytes_of(self, blob: str) -> bytes | None:
        """The bytes, where the snapshot holds them."""
        command = [
            "git",
            "-c",
            "safe.directory=*",
            "--git-dir",
            str(self.place),
            "cat-file",
            "blob",
            blob,
        ]
        done = subprocess.run(command, check=False, capture_output=True)
        return done.stdout if done.returncode == 0 else None


def flat_names(files: list[Path]) -> dict[str, str]:
    """Blob id -> name in an archive at hand, whose folders its publisher names differently."""
    names = {}
    for place in files:
        with zipfile.ZipFile(place) as archive:
            names |= {blob_of(archive.read(m)): m.filename for m in archive.infolist()}
    return names


def members(files: list[Path]) -> dict[str, bytes]:
    """Blob id -> bytes of every file at hand, in archives or not."""
    contents = []
    for place in files:
        if place.suffix == ".zip":
            with zipfile.ZipFile(place) as archive:
                contents += [archive.read(m) for m in archive.infolist() if not m.is_dir()]
        for file in [place, *sorted(place.rglob("*"))] if place.is_dir() else [place]:
            if file.is_file():
                contents.append(file.read_bytes())
    return {blob_of(content): content for content in contents}


def blob_of(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


@dataclass
class Pinned:
    """What was found of a dataset."""

    name: str
    read: int = 0
    unread: int = 0
    rows: int | None = None
    expected: int | None = None
    labels_differ: bool = False
    problem: str = ""

    def __str__(self) -> str:
        files = f"{self.read} read, {self.unread} by blob id"
        counts = f"{self.rows} rows (card: {self.expected})" if self.rows is not None else ""
        labels = "; other labels than the card" if self.labels_differ else ""
        return f"{self.name}: {files}; {counts}{labels}{self.problem}"


def wanted_files(clone: Clone, at_hand: dict[str, bytes], only: list[str]) -> list[str]:
    """The paths that the reader needs: those at hand, and those that `only` names."""
    paths = [path for path, blob in clone.blobs.items() if at_hand.get(blob)]
    named = [p for p in clone.blobs if any(fnmatch.fnmatch(p, pattern) for pattern in only)]
    return sorted({*paths, *named} if not only else {*named})


def pin(
    name: str,
    address: str,
    clone: Clone,
    files: list[Path],
    only: list[str],
    whose: str,
    flat: bool = False,
    trees: list[str] | None = None,
) -> Pinned:
    """Write the TOML of one dataset and say how it compares with the card."""
    at_hand = members(files)
    paths = wanted_files(clone, at_hand, only)
    result = Pinned(name)
    contents: dict[str, bytes | None] = {}
    for path in paths:
        blob = clone.blobs[path]
        contents[path] = at_hand.get(blob) or clone.bytes_of(blob)
    for path in [path for path, content in contents.items() if (content or b"").startswith(LFS)]:
        contents.pop(path)  # the file itself is not at hand, and a pointer is not the file
        result.problem += f"; {path} is a pointer"
    result.read = sum(content is not None for content in contents.values())
    result.unread = len(contents) - result.read
    if not any(map(is_data, contents)):
        result.problem += "; no data files"
        return result
    by_blob = flat_names(files) if flat else {}
    names = {path: by_blob.get(clone.blobs[path], path) for path in contents}
    if not result.unread:
        compare(result, {names[path]: content for path, content in contents.items() if content})
    try:
        text = written(address, clone, contents, whose, names, trees or [])
    except ValueError as error:
        result.problem += f"; {error}"
        return result
    Sources(**tomllib.loads(text))
    TARGET.mkdir(exist_ok=True)
    (TARGET / f"{name}.toml").write_text(text, encoding="utf-8")
    return result


def compare(result: Pinned, contents: dict[str, bytes]) -> None:
    """Run the reader on exactly these bytes."""
    entry = DATASETS.get(result.name)
    variant, loader = entry.loader_named(None)
    with tempfile.TemporaryDirectory() as folder:
        for path, content in contents.items():
            target = Path(folder) / result.name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        try:
            with Bundle.open(Path(folder) / result.name) as bundle:
                records = completed(read(loader, bundle, entry).records)
        except Exception as error:
            result.problem += f"; {type(error).__name__}: {str(error)[:160]}"
            return
    result.rows, result.expected = records.height, entry.real_rows.get(variant)
    labels = Counter(records["label_raw"].drop_nulls().to_list())
    result.labels_differ = bool(entry.real_labels) and dict(labels) != dict(entry.real_labels)


def written(
    address: str,
    clone: Clone,
    contents: dict[str, bytes | None],
    whose: str,
    names: dict[str, str],
    trees: list[str],
) -> str:
    """The TOML: a row for each file, or one tree for many."""
    lines = [
        f'verified = "{datetime.now(UTC):%Y-%m-%d}"',
        "",
        "[[sources]]",
        f'from = "{address}@{clone.commit}"',
        f'dated = "{clone.day}"',
    ]
    if whose != "publisher":
        lines.append(f'whose = "{whose}"')
    trees = trees or folders_of_many(contents)
    for folder in trees:
        inside = {p: b for p, b in clone.blobs.items() if p.startswith(f"{folder}/")}
        sizes = clone.sizes(inside.values())
        held = [len(contents.get(p) or b"") or sizes[b] for p, b in inside.items()]
        unknown = [p for p, size in zip(inside, held, strict=True) if size is None]
        if unknown:
            raise ValueError(f"{folder} holds files whose size is not known, such as {unknown[0]}")
        lines += [
            "",
            "[[sources.trees]]",
            f"path = {quoted(folder)}",
            f"files = {len(inside)}",
            f"bytes = {sum(size or 0 for size in held)}",
            f'listing = "{listing_of(inside)}"',
            f"read = {str(all(contents.get(p) is not None for p in inside)).lower()}",
        ]
    contents = {
        p: c for p, c in contents.items() if not p.startswith(tuple(f"{t}/" for t in trees))
    }
    for path, content in contents.items():
        lines += ["", "[[sources.files]]", f"path = {quoted(path)}"]
        if names[path] != path:
            lines.append(f"name = {quoted(names[path])}")
        if content is not None:
            lines += [
                f"bytes = {len(content)}",
                f'sha256 = "{hashlib.sha256(content).hexdigest()}"',
            ]
        lines.append(f'blob = "{clone.blobs[path]}"')
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def folders_of_many(paths: Iterable[str]) -> list[str]:
    """The top folders with too many files to name each of them."""
    tops = Counter(path.split("/")[0] for path in paths if "/" in path)
    return [top for top, number in tops.items() if number > MOST_NAMED]


def table() -> str:
    """All cards with readers: how each can be had, and how its pins were verified."""
    rows, tally = [], Counter[str]()
    for name in DATASETS.names():
        entry = DATASETS.get(name)
        if not entry.variants:
            continue
        sources = sources_of(name)
        if sources is None:
            tally["by hand"] += 1
            rows.append(f"| {name} | by hand | | | {entry.card.access} |")
            continue
        kind = (
            "bytes read" if sources.kinds == {"bytes read"} else " and ".join(sorted(sources.kinds))
        )
        tally[kind] += 1
        size = "not known" if sources.size is None else f"{sources.size / 1e6:,.1f}"
        place = ", ".join(f"`{source.from_[:-28]}`" for source in sources.sources)
        rows.append(f"| {name} | by name | {sources.number:,} | {size} | {kind}; {place} |")
    counts = "; ".join(f"{kind}: {number}" for kind, number in tally.most_common())
    head = "| dataset | how | files | MB | how it was verified, or what to do |\n"
    head += "| --- | --- | --- | --- | --- |\n"
    return f"{counts}.\n\n{head}" + "\n".join(rows) + "\n"


async def gone(reached: Reach) -> list[str]:
    """The sources of which no byte can be had any more, each with the reason."""
    lines = []
    for name in DATASETS.names():
        sources = sources_of(name)
        for source in sources.sources if sources is not None else ():
            urls = [raw_url(source.from_, file.path) for file in source.files[:1]]
            for url in urls or [archive_url(source.from_)]:
                try:
                    async with requested(url, {"Range": "bytes=0-0"}, reached) as (answer, _):
                        status = answer.status_code
                    if status not in (200, 206):
                        lines.append(f"- {name}: {url} (status {status})")
                except Exception as error:
                    lines.append(f"- {name}: {url} ({error})")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?")
    parser.add_argument("--from", dest="address")
    parser.add_argument("--clone", type=Path)
    parser.add_argument("--files", type=Path, nargs="*", default=[])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--whose", default="publisher")
    parser.add_argument("--all", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--live", action="store_true")
    given = parser.parse_args()
    if given.live:
        lines = asyncio.run(gone(reach()))
        print("\n".join(lines) or "All sources answer.")
        sys.exit(1 if lines else 0)
    if given.table:
        text = given.table.read_text(encoding="utf-8")
        head = text.split("<!-- table -->")[0]
        given.table.write_text(f"{head}<!-- table -->\n\n{table()}", encoding="utf-8")
        return
    if given.all:
        for name, place in tomllib.loads(given.all.read_text(encoding="utf-8")).items():
            clone, files = Clone(Path(place["clone"])), [Path(f) for f in place.get("files", [])]
            only, whose = place.get("only", []), place.get("whose", "publisher")
            flat = place.get("flat", False)
            trees = place.get("trees", [])
            print(pin(name, place["from"], clone, files, only, whose, flat, trees), flush=True)
        return
    if not (given.name and given.address and given.clone):
        sys.exit("Give NAME --from ADDRESS --clone FOLDER, or --all FILE.")
    clone = Clone(given.clone)
    print(pin(given.name, given.address, clone, given.files, given.only, given.whose))


if __name__ == "__main__":
    main()
