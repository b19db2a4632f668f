"""Thumbnails of the images of records, where their files are in the workspace: nothing is fetched.

An image is asked for by its sha256, never by a path. The dataset's table `media` has to list it,
and a file that the walk came by (no link, nothing hidden), or a member of the zip that was read,
has to have its name, its size and exactly its content. What is sent is a JPEG made from its pixels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated

import fastapi
import polars as pl
from starlette.responses import Response

from claimlab.core.errors import NotFound, UnreadableFile
from claimlab.core.record import SIDE_TABLES
from claimlab.core.tables import scan_parquet
from claimlab.core.types import JsonObject
from claimlab.files.bundle import Bundle
from claimlab.files.media import FORMATS, MOST_BYTES, can_look, thumbnail
from claimlab.web.memo import Memo, state_of
from claimlab.web.page import Data, Here, routes
from claimlab.web.rows import MOST_ROWS
from claimlab.web.workspace import ARCHIVE, IMAGES, Shape, Workspace, WorkspaceFolder

Sha256 = Annotated[str, fastapi.Path(pattern="^[0-9a-f]{64}$")]
_archives, _thumbnails = Memo(16), Memo(512)


class Image(Shape):
    """An image of the record that is at hand."""

    name: str
    words: str | None
    """In the image, as tesseract reads them."""
    link: str


def images_of(
    workspace: Workspace, place: WorkspaceFolder, ids: Sequence[str]
) -> dict[str, list[Image]]:
    """The images of these records that are at hand."""
    images: dict[str, list[Image]] = {}
    for row in _listed(place, pl.col("record_id").is_in(ids)):
        if next(_sources(workspace, place, row), None) is not None:
            link = f"/datasets/{place.entry.id}/images/{row['sha256']}"
            image = Image(name=row["place"], words=row["text"], link=link)
            images.setdefault(row["record_id"], []).append(image)
    return images


@routes.get("/datasets/{place}/images/{sha256}", include_in_schema=False)
def image(place: Data, sha256: Sha256, workspace: Here) -> Response:
    for row in _listed(place, pl.col("sha256") == sha256)[:1]:
        for source in _sources(workspace, place, row):
            key = (*state_of(source), row["place"], sha256)
            if small := _thumbnails.get(key, partial(_small, source, row)):
                return Response(small, media_type="image/jpeg")
    raise NotFound("The file of this image is not in the workspace.", "Go back to the record.")


def _listed(place: WorkspaceFolder, which: pl.Expr) -> list[JsonObject]:
    """Rows of the table `media` whose files were opened as images."""
    file, columns = place.table("media"), SIDE_TABLES["media"]
    if file is None or not can_look():
        return []
    scan = scan_parquet(file)
    if not columns.items() <= scan.collect_schema().items():
        return []
    whole = pl.col("format").is_in(FORMATS) & (pl.col("bytes") <= MOST_BYTES)
    whole_images = scan.filter(which & whole).drop_nulls(["record_id", "place", "sha256"])
    return whole_images.head(MOST_ROWS).collect().to_dicts()


def _sources(workspace: Workspace, place: WorkspaceFolder, row: JsonObject) -> Iterator[Path]:
    """Files that have the name and size of the image, and zips that have such a member."""
    files, first = workspace.images(), place.manifest.lineage[:1]
    read = [name for step in first for name in step.inputs if name.endswith(ARCHIVE)]
    for name in (PurePosixPath(row["place"]).name, *read):
        for file in files.get(name, ()):
            with suppress(OSError, NotFound, UnreadableFile):
                if name.endswith(ARCHIVE):
                    members = _archives.get(state_of(file), partial(_sizes, file))
                    size = members.get(row["place"])
                else:
                    size = file.stat().st_size
                if size == row["bytes"]:
                    yield file


def _sizes(archive: Path) -> dict[str, int]:
    with Bundle.open(archive) as bundle:
        images = [name for name in bundle.names() if name.lower().endswith(IMAGES)]
        return {name: bundle.size(name) for name in images}


def _small(source: Path, row: JsonObject) -> bytes | None:
    """Null where the content is not that of the table, or cannot be opened."""
    try:
        if source.name.endswith(ARCHIVE):
            with Bundle.open(source) as bundle:
                data = bundle.read(row["place"])
        else:
            data = source.read_bytes()
    except (OSError, UnreadableFile):
        return None
    same = hashlib.sha256(data).hexdigest() == row["sha256"]
    return thumbnail(data) if same else None
