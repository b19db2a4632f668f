"""Thumbnails: made from files of the workspace whose content is that of the table, and of nothing
else."""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient

import claimlab as cl

pytestmark = pytest.mark.needs("pdqhash")
Client = Callable[[Path], TestClient]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """`raw` with four images, and the dataset that was made from it."""
    from media import picture

    folder = tmp_path / "workspace"
    (folder / "raw" / "images").mkdir(parents=True)
    names = [f"images/{n}.png" for n in range(4)]
    for n, name in enumerate(names):
        picture(n, size=(900, 600)).save(folder / "raw" / name)
    rows = {
        "id": [f"r{n}" for n in range(6)],
        "claim": [f"The river rose by {n} metres" for n in range(6)],
        "label": ["real", "fake"] * 3,
        "image": [*names, "images/gone.png", "https://images.example.org/5.png"],
    }
    pl.DataFrame(rows).write_csv(folder / "raw" / "claims.csv")
    cl.import_files(folder / "raw", output=folder / "data")
    return folder


def links(client: TestClient) -> dict[str, str | None]:
    return {row["id"]: row["image"] for row in client.get("/api/datasets/data").json()["rows"]}


def test_images_at_hand_are_shown_small_and_others_are_not(
    workspace: Path, client_of: Client
) -> None:
    from PIL import Image

    with client_of(workspace) as client:
        known = links(client)
        assert [known[id] is not None for id in sorted(known)] == [True] * 4 + [False] * 2
        link = str(known["r0"])
        answer = client.get(link)
        assert answer.headers["content-type"] == "image/jpeg"
        assert answer.headers["x-content-type-options"] == "nosniff"
        with Image.open(io.BytesIO(answer.content)) as image:
            assert image.format == "JPEG"
            assert image.size == (512, 341)
        for page in ("/datasets/data", "/datasets/data/record?id=r0"):
            assert f'<img src="{link}"' in client.get(page).text
        record = client.get("/datasets/data/record?id=r5").text
        assert "https://images.example.org/5.png" in record
        assert "<img" not in record


def test_an_image_in_the_zip_that_was_read_is_shown(workspace: Path, client_of: Client) -> None:
    raw = workspace / "raw"
    with zipfile.ZipFile(workspace / "claims.zip", "w") as archive:
        for file in raw.rglob("*.*"):
            archive.write(file, file.relative_to(raw))
    shutil.rmtree(raw)
    cl.import_files(workspace / "claims.zip", output=workspace / "data", force=True)
    with client_of(workspace) as client:
        assert client.get(str(links(client)["r3"])).status_code == 200


def test_no_token_no_image(workspace: Path, client_of: Client) -> None:
    with client_of(workspace) as client:
        link = str(links(client)["r0"])
        client.cookies.clear()
        assert client.get(link).status_code == 401


def refused(client: TestClient, link: str) -> bool:
    answer = client.get(link)
    return answer.status_code == 404 and "image/" not in answer.headers["content-type"]


@pytest.mark.parametrize("how", ["changed", "link", "hidden", "outside"])
def test_only_the_very_file_inside_the_workspace_is_shown(
    workspace: Path, client_of: Client, how: str
) -> None:
    file = workspace / "raw" / "images" / "0.png"
    with client_of(workspace) as client:
        link = str(links(client)["r0"])
    if how == "changed":  # of one size
        file.write_bytes(file.read_bytes()[:-1] + b"x")
    elif how == "hidden":
        (workspace / ".kept").mkdir()
        file.rename(workspace / ".kept" / "0.png")
    else:
        file.rename(workspace.parent / "0.png")
        if how == "link":
            file.symlink_to(workspace.parent / "0.png")
    with client_of(workspace) as client:
        assert refused(client, link)
        assert (links(client)["r0"] is None) == (how != "changed")


SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("place", "content"),
    [
        ("../secret.png", None),
        ("/etc/hostname", None),
        ("images/../../../secret.png", None),
        ("images/0.svg", SVG),
        ("images/evil.png", SVG),
        ("images/evil.png", b"\x89PNG\r\n\x1a\n<script>alert(1)</script>"),
        ("images/evil.zip", b"PK\x05\x06" + bytes(18)),
    ],
)
def test_a_hostile_table_leads_nowhere(
    workspace: Path, client_of: Client, place: str, content: bytes | None
) -> None:
    """A dataset of a stranger may list any path, sha256 and format."""
    secret = workspace.parent / "secret.png"
    shutil.copy(workspace / "raw" / "images" / "1.png", secret)
    file = workspace / "raw" / place
    if content is not None:
        file.write_bytes(content)
    data = file.read_bytes() if file.is_file() else secret.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    (workspace / "raw" / "images" / "1.png").unlink()
    media = pl.read_parquet(workspace / "data" / "media.parquet")
    named = pl.lit(place).alias("place")
    sized = pl.lit(len(data), media.schema["bytes"]).alias("bytes")
    media.with_columns(named, sized, pl.lit(digest).alias("sha256")).write_parquet(
        workspace / "data" / "media.parquet"
    )
    with client_of(workspace) as client:
        assert refused(client, f"/datasets/data/images/{digest}")
        assert client.get("/datasets/data").status_code == 200


@pytest.mark.parametrize("name", ["..%2f..%2fsecret.png", "0" * 63, "A" * 64, "%00" * 64, "*"])
def test_an_image_is_known_by_a_digest_only(workspace: Path, client_of: Client, name: str) -> None:
    with client_of(workspace) as client:
        answer = client.get(f"/datasets/data/images/{name}")
    assert answer.status_code in (404, 422)
    assert "image/" not in answer.headers["content-type"]


def test_a_table_of_another_shape_leaves_the_page_without_images(
    workspace: Path, client_of: Client
) -> None:
    file = workspace / "data" / "media.parquet"
    pl.read_parquet(file).drop("sha256").write_parquet(file)
    with client_of(workspace) as client:
        assert not any(links(client).values())
