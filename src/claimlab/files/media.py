"""What is known of the images and videos of records: the side table `media`.

A column of records holds media where most of its values are names of such files, or addresses under
a name such as `image`. Without such a column, images that are named after ids of records are
theirs. Files are looked for in the folder or zip that was given, or beside the table; addresses are
kept and never fetched. Images are untrusted: a path or link that leads out of the folder, a file
that is too large or has too many pixels, and one that is cut off or no image are counted, with
what is known of them all the same.

The hash is PDQ (256 bits as hex); it is null for an image too plain to compare. Text is read by
the program `tesseract`, where it is installed. Nothing here says what an image means.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import polars as pl

from claimlab.core.columns import meta_values
from claimlab.core.errors import UnreadableFile
from claimlab.core.progress import progress
from claimlab.core.record import SIDE_TABLES
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.files.bundle import Bundle, open_all

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP")  # that are opened; vectors can hold scripts
ENDS = {"jpg": "JPEG", **{name.lower(): name for name in FORMATS}}
VIDEOS = ("mp4", "webm", "mov", "avi", "mkv")
_FILE = rf"(?i)\.(?:{'|'.join((*ENDS, *VIDEOS))})(?:[?#]\S*)?$"
_NAMED = r"(?i)(?:image|img|picture|photo|video)"
_ADDRESS = r"(?i)^https?://"
MEDIA_COLUMNS = (
    "id",
    "url",
    "source",
    "topic",
    "group",
)  # that an import may take names of files for
RECORDS_SAMPLED = 1_000  # records by which a column of media is known
MOST_BYTES, MOST_PIXELS = 64 << 20, 50_000_000
MOST_TEXTS = 500  # images whose text is read: each takes a second or more
TEXT_PIXELS = 1_600  # pixels of a side, for reading its text
SIDE_PIXELS = 512  # pixels; PDQ makes larger images smaller as well
LEAST_QUALITY = 50  # of 100; PDQ's own limit for images with enough in them
OUTSIDE = "out of the folder"


def media_of(
    records: pl.DataFrame, sources: Sequence[Path], members: Iterable[str]
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """The side table `media` of `records` and what to say of it, from `sources`, which hold
    `members`; nothing where there are no media."""
    named = _named(records)
    if named.is_empty():
        stems = {PurePosixPath(name).stem for name in _media_in(members)}
        if not stems:
            return {}, []
        ids = pl.concat([records.select("id", place=c) for c in ("id", "tweet_id")])
        named = ids.filter(pl.col("place").is_in(list(stems))).unique(maintain_order=True)
    if named.is_empty():
        return {}, []
    with open_all(sources) as bundles:
        look = _Looking(bundles)
        rows = []
        for number, (record, place) in enumerate(named.iter_rows()):
            progress("looking at media", number, named.height)
            rows.append({"record_id": record, **look.at(place)})
    table = pl.DataFrame(rows, schema=SIDE_TABLES["media"])
    return {"media": table}, look.notes(table)


def _media_in(names: Iterable[str]) -> list[str]:
    every = pl.Series(list(names), dtype=pl.String)
    return every.filter(every.str.contains(_FILE)).to_list()


def _named(records: pl.DataFrame) -> pl.DataFrame:
    """`id` and `place` of what the columns of media name, as it is written."""
    sample = records.head(RECORDS_SAMPLED)
    keys = [key for key, values in meta_values(sample).items() if _holds_media(key, values)]
    columns = [meta_values(records)[key] for key in keys]
    columns += [records[name] for name in MEDIA_COLUMNS if _holds_media("", sample[name])]
    named = [
        pl.DataFrame({"id": records["id"], "place": column.map_elements(_each, pl.List(pl.String))})
        for column in columns
    ]
    empty = pl.DataFrame(schema={"id": pl.String, "place": pl.List(pl.String)})
    return pl.concat([empty, *named]).explode("place").drop_nulls().unique(maintain_order=True)


def _holds_media(key: str, values: pl.Series) -> bool:
    cells = values.drop_nulls()
    if cells.dtype != pl.String or cells.is_empty():
        return False
    cells = pl.Series([value for cell in cells for value in _each(cell)], dtype=pl.String)
    fits = cells.str.contains(_FILE)
    if pl.Series([key]).str.contains(_NAMED)[0]:
        fits |= cells.str.contains(_ADDRESS)
    return bool(fits.sum() > cells.len() / 2)


def _each(cell: str) -> list[str]:
    """The values of a cell, which may be a list as JSON."""
    try:
        values = json.loads(cell) if cell.startswith("[") else [cell]
    except (ValueError, RecursionError):
        values = [cell]
    return [value.strip() for value in values if isinstance(value, str) and value.strip()]


class _Looking:
    """Files of the bundles by the ends of their names, each looked at once; problems counted."""

    def __init__(self, bundles: Sequence[Bundle]) -> None:
        self.found: dict[str, tuple[Bundle, str] | None] = {}  # null where several have this end
        for bundle in bundles:
            for name in _media_in(bundle.names()):
                for end in {*_ends(PurePosixPath(name)), PurePosixPath(name).stem}:
                    self.found[end] = None if end in self.found else (bundle, name)
        for bundle in bundles:
            self.found |= {name: (bundle, name) for name in _media_in(bundle.names())}
        self.roots = [b.path if b.path.is_dir() else b.path.parent for b in bundles]
        self.find, self.read = cache(self._find), cache(self._read)
        self.problems: Counter[str] = Counter()
        self.plain = self.texts = 0

    def at(self, place: str) -> JsonObject:
        """What is known of the file or address at `place`."""
        facts: JsonObject = {"kind": "image", "place": place, "missing": True}
        name = place.split("?")[0].rpartition(".")[2].lower()
        if name in VIDEOS:
            facts["kind"] = "video"
        if place.lower().startswith(("http://", "https://")):
            return {**facts, "missing": None}
        try:
            here = self.find(place)
            return facts if here is None else {**facts, **self.read(*here)}
        except (OSError, ValueError, UnreadableFile) as error:
            self.problems[OUTSIDE if str(error) == OUTSIDE else "not readable"] += 1
            return facts

    def _find(self, place: str) -> tuple[Bundle, str] | None:
        path = PurePosixPath(place.replace("\\", "/").lstrip("/"))
        if ".." in path.parts:
            raise ValueError(OUTSIDE)
        for end in _ends(path):
            if (here := self.found.get(end)) is not None:
                return here
        for root in self.roots:
            file = root / path
            if not file.resolve().is_relative_to(root.resolve()):
                raise ValueError(OUTSIDE)
            if file.is_file():
                return Bundle(root, {str(path): file}), str(path)
        return None

    def _read(self, bundle: Bundle, name: str) -> JsonObject:
        facts: JsonObject = {"place": name, "bytes": bundle.size(name), "missing": False}
        if facts["bytes"] > MOST_BYTES:
            self.problems["over 64 MB"] += 1
            return facts
        data = bundle.read(name)
        facts["sha256"] = hashlib.sha256(data).hexdigest()
        end = name.rpartition(".")[2].lower()
        if end in VIDEOS or not can_look():
            return facts
        shown_facts, problem = self._look(data)
        if problem is None and end in ENDS and ENDS[end] != shown_facts["format"]:
            problem = "another format than the name says"
        if problem is not None:
            self.problems[problem] += 1
        return facts | shown_facts

    def _look(self, data: bytes) -> tuple[JsonObject, str | None]:
        """What an image shows of itself, and what is wrong with it."""
        picture, facts, problem = _opened(data)
        if picture is None:
            return facts, problem
        facts["hash"] = hash_of(picture)
        self.plain += facts["hash"] is None
        if shutil.which("tesseract") and self.texts < MOST_TEXTS:
            self.texts += 1
            facts["text"] = _text_in(picture)
        return facts, None

    def notes(self, table: pl.DataFrame) -> list[str]:
        missing = table["missing"]
        here, away, links = (missing == False).sum(), missing.sum(), missing.null_count()  # noqa: E712
        notes = [f"Media: {here:,} at hand, {away:,} missing, {links:,} addresses (not fetched)."]
        if self.problems:
            problems = ", ".join(f"{words} {n:,}" for words, n in sorted(self.problems.items()))
            notes.append(f"Media with a problem: {problems}.")
        if here and not can_look():
            notes.append("Images were not opened: pip install 'claimlab[media]' compares them.")
        else:
            unread = table.drop_nulls("hash")["place"].n_unique() + self.plain - self.texts
            if self.plain:
                notes.append(f"{several(self.plain, 'image')} too plain to be compared.")
            if unread > 0:
                why = "only the first are read" if self.texts else "tesseract is not installed"
                notes.append(f"Text in {several(unread, 'image')} is not measured: {why}.")
        return notes


def _ends(path: PurePosixPath) -> list[str]:
    """The whole path first, then without its first folders."""
    return ["/".join(path.parts[at:]) for at in range(len(path.parts))]


@cache
def can_look() -> bool:
    """Whether the packages of the extra `media` are installed."""
    try:
        import pdqhash  # noqa: F401
        from PIL import Image  # noqa: F401
    except ImportError:
        return False
    return True


def _opened(data: bytes) -> tuple[Picture | None, JsonObject, str | None]:
    """An image in RGB, its format and size; or null, what is known of it, and what is wrong."""
    from PIL import Image, UnidentifiedImageError

    facts: JsonObject = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                facts |= {"format": image.format, "width": image.width, "height": image.height}
                if image.width * image.height > MOST_PIXELS:
                    return None, facts, "too many pixels"
                return image.convert("RGB"), facts, None
        except Image.DecompressionBombError:
            return None, facts, "too many pixels"
        except UnidentifiedImageError:
            return None, facts, "no known format"
        except Exception:  # of a hostile file any may come
            return None, facts, "cut off or damaged"


def thumbnail(data: bytes) -> bytes | None:
    """A small JPEG of the pixels of an image, with nothing else of its file; null for what cannot
    be opened."""
    picture = _opened(data)[0]
    if picture is None:
        return None
    small = io.BytesIO()
    picture.thumbnail((SIDE_PIXELS, SIDE_PIXELS))
    picture.save(small, "JPEG", quality=80)
    return small.getvalue()


def hash_of(picture: Picture) -> str | None:
    """PDQ of an image in RGB; null for one with too little in it."""
    import numpy as np
    import pdqhash

    small = picture.copy()
    small.thumbnail((SIDE_PIXELS, SIDE_PIXELS))
    bits, quality = pdqhash.compute(np.asarray(small))
    return np.packbits(bits).tobytes().hex() if quality >= LEAST_QUALITY else None


def _text_in(picture: Picture) -> str | None:
    """What `tesseract` reads. It is handed the pixels only, never the file."""
    png = io.BytesIO()
    picture.thumbnail((TEXT_PIXELS, TEXT_PIXELS))
    picture.save(png, "PNG")
    words, alone = ["tesseract", "stdin", "stdout"], {**os.environ, "OMP_THREAD_LIMIT": "1"}
    try:
        run = subprocess.run(
            words, input=png.getvalue(), capture_output=True, timeout=60, check=False, env=alone
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return " ".join(run.stdout.decode("utf-8", "replace").split()) or None
