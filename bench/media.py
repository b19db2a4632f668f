"""Which edits of an image its hash survives, and what the media of 5Pils give away.

python bench/media.py [--data ../shared/data]
python bench/media.py --hashes 100000    what it costs to find near-copies among so many
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import begin, best, parser, shared

import claimlab as cl
from claimlab.audit.checks.media import APART, close
from claimlab.core.dataset import Dataset
from claimlab.files.media import hash_of


def picture(seed: int, size: tuple[int, int] = (480, 360)) -> Any:
    """A scene of many soft shapes, another for every seed."""
    from PIL import Image, ImageDraw, ImageFilter

    rng = np.random.default_rng(seed)
    image = Image.new("RGB", size, tuple(rng.integers(0, 255, 3).tolist()))
    draw = ImageDraw.Draw(image)
    for _ in range(60):
        x, y = rng.integers(0, size[0]), rng.integers(0, size[1])
        w, h = rng.integers(10, 140, 2)
        shape = draw.ellipse if rng.random() < 0.5 else draw.rectangle
        shape(
            [int(x), int(y), int(x + w), int(y + h)], fill=tuple(rng.integers(0, 255, 3).tolist())
        )
    return image.filter(ImageFilter.GaussianBlur(1))


def recompressed(image: Any, quality: int) -> Any:
    from PIL import Image

    file = io.BytesIO()
    image.save(file, "JPEG", quality=quality)
    return Image.open(file).convert("RGB")


def overlaid(image: Any, share: float) -> Any:
    from PIL import ImageDraw

    copy = image.copy()
    top = round(copy.height * (1 - share))
    ImageDraw.Draw(copy).rectangle([0, top, *copy.size], fill=(255, 255, 255))
    return copy


def cropped(image: Any, share: float) -> Any:
    x, y = round(image.width * share / 2), round(image.height * share / 2)
    return image.crop((x, y, image.width - x, image.height - y))


EDITS = {
    "half the size": lambda p: p.resize((p.width // 2, p.height // 2)),
    "stretched by a fifth": lambda p: p.resize((p.width * 6 // 5, p.height)),
    "JPEG quality 20": lambda p: recompressed(p, 20),
    "cropped by 2%": lambda p: cropped(p, 0.02),
    "cropped by 5%": lambda p: cropped(p, 0.05),
    "cropped by 20%": lambda p: cropped(p, 0.2),
    "a twentieth covered": lambda p: overlaid(p, 0.05),
    "a tenth covered": lambda p: overlaid(p, 0.1),
    "mirrored": lambda p: p.transpose(0),
}


def apart(a: Any, b: Any) -> int:
    one, two = (bytes.fromhex(str(hash_of(p))) for p in (a, b))
    return sum((x ^ y).bit_count() for x, y in zip(one, two, strict=True))


def found() -> dict[str, float]:
    """The share of 30 pictures that each edit leaves within the limit."""
    scenes = [picture(seed) for seed in range(30)]
    return {
        name: float(np.mean([apart(one, edit(one)) <= APART for one in scenes]))
        for name, edit in EDITS.items()
    }


def audited(file: Path) -> list[str]:
    """The findings on 5Pils, without the 7 records that are true: too few to measure."""
    whole = cl.load("5pils", file)
    rows = whole.records.filter(pl.col("label_raw") != "true")
    audit = cl.audit(
        Dataset.build("5pils", rows, whole.tables), target="label_raw", checks=["media"]
    )
    return [*whole.notes, *(f"{f.feature}: {f.verdict}. {f.why}" for f in audit.findings)]


def search(count: int) -> str:
    """A tenth of the hashes are copies of another with 31 bits changed."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (count, 256), dtype=np.uint8)
    for copy in range(count // 10):
        bits[copy] = bits[-1 - copy]
        bits[copy, rng.choice(256, APART, replace=False)] ^= 1
    hashes = pl.Series([row.tobytes().hex() for row in np.packbits(bits, axis=1)])
    cost = best(lambda: close(hashes), 1)
    return f"{count:,} hashes: {len(cost.result[0]):,} pairs in {cost.cpu:.1f} processor seconds"


if __name__ == "__main__":
    made = parser(__doc__, data=True)
    made.add_argument("--hashes", type=int)
    options = begin(made)
    if options.hashes:
        print(search(options.hashes))
        raise SystemExit
    for name, share in found().items():
        print(f"{name}: {100 * share:.0f}% found")
    for line in audited(shared("5pils.zip", folder=options.data)):
        print(line)
