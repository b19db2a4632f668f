"""Pictures as shortcuts: near-copies, and what names, sizes and absence of files give away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from claimlab.audit.checks.media import close
from claimlab.audit.run import audit
from claimlab.catalog.load import load
from claimlab.core.dataset import Dataset
from claimlab.core.finding import UNMEASURED, Finding

N = 300


def dataset(*, planted: bool, copies: int = 0) -> Dataset:
    """One picture each. Where planted, files of false records have telling names, sizes and
    formats, and are often missing; the first pictures are those of the last, with 20 bits changed.
    """
    rng = np.random.default_rng(5)
    labels = rng.permutation(["true", "false"] * (N // 2))
    told = np.where(planted, labels == "false", rng.random(N) < 0.5)
    bits = rng.integers(0, 2, (N, 256), dtype=np.uint8)
    for i in range(copies):
        bits[i] = bits[N - 1 - i]
        bits[i, rng.choice(256, 20, replace=False)] ^= 1
    records = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(N)],
            "text": [f"text {i}" for i in range(N)],
            "veracity": labels,
            "split": ["train" if i < N // 2 else "test" for i in range(N)],
        }
    )
    gone = told & (rng.random(N) < 0.7)
    media = pl.DataFrame(
        {
            "record_id": records["id"],
            "kind": "image",
            "place": [f"{'viral' if t else 'press'}/{i}.jpg" for i, t in enumerate(told)],
            "format": [None if g else "PNG" if t else "JPEG" for t, g in zip(told, gone, strict=True)],
            "bytes": np.where(gone, np.nan, rng.integers(1_000, 2_000, N) + 5_000 * told),
            "hash": [row.tobytes().hex() for row in np.packbits(bits, axis=1)],
            "missing": gone,
        }
    ).with_columns(pl.col("bytes").fill_nan(None))  # fmt: skip
    return Dataset.build("pictured", records, {"media": media})


def findings(data: Dataset) -> dict[str | None, Finding]:
    return {finding.feature: finding for finding in audit(data, checks=["media"]).findings}


def test_what_the_files_give_away_is_found() -> None:
    found = findings(dataset(planted=True))
    for feature in ("file name", "format", "missing", "size"):
        assert found[feature].verdict == "fail", feature
    assert found["text in the image"].verdict == "not-measured"


def test_files_that_say_nothing_of_the_label_are_no_alarm() -> None:
    found = findings(dataset(planted=False))
    for feature in ("file name", "format", "missing", "size"):
        assert found[feature].verdict in ("pass", "inconclusive"), feature
    for feature in ("across the given split", "under different labels"):
        assert found[feature].verdict == "pass", feature


def test_near_copies_across_the_split_and_under_other_labels_are_counted() -> None:
    data = dataset(planted=False, copies=40)
    y = data.records["veracity"].to_list()
    torn = sum(y[i] != y[N - 1 - i] for i in range(40))
    found = findings(data)
    assert found["across the given split"].details["leaked"] == 40
    assert found["under different labels"].details["contradicting_records"] == 2 * torn
    assert found["across the given split"].verdict == "fail"


def test_one_address_is_one_picture() -> None:
    data = dataset(planted=False)
    media = data.tables["media"].with_columns(
        place=pl.lit("https://a.example/") + (pl.int_range(N) % (N // 2)).cast(pl.String),
        hash=pl.lit(None, pl.String),
    )
    data.tables["media"] = media
    assert findings(data)["across the given split"].details["leaked"] == N // 2


def test_hashes_are_close_up_to_31_bits() -> None:
    base = np.zeros(256, np.uint8)
    rows = [base.copy() for _ in range(3)]
    rows[1][:31] = 1
    rows[2][:32] = 1
    a, b = close(pl.Series([np.packbits(row).tobytes().hex() for row in rows]))
    assert {*zip(a.tolist(), b.tolist(), strict=True)} == {(0, 1), (1, 2)}


def test_every_pair_is_found_wherever_its_bits_are_and_however_many_up_to_the_limit() -> None:
    """Beside all pairs compared: bits anywhere, in one stretch (round the end as well), and spread
    evenly, which leaves one or two in each chunk."""
    rng = np.random.default_rng(3)
    rows = [rng.integers(0, 2, (600, 256), dtype=np.uint8)]
    changes = []
    for apart in range(36):
        spread = np.linspace(0, 256, apart, endpoint=False).astype(np.int64)
        changes += [rng.permutation(256)[:apart], np.arange(apart) - 9, spread, spread + 7]
    for chunk in range(16):  # as even as can be but for one chunk with 0 or 1, and the one after it
        for start in ((0, 3), (1, 2)):
            counts = np.roll([*start, *[2] * 14], chunk)
            changes.append(np.concatenate([16 * i + np.arange(n) for i, n in enumerate(counts)]))
    for places in changes:
        row = rng.integers(0, 2, (1, 256), dtype=np.uint8)
        copy = row.copy()
        copy[0, places % 256] ^= 1
        rows += [row, copy]
    bits = np.concatenate(rows)
    differ = (bits[:, None] != bits[None]).sum(axis=2)
    expected = np.stack(np.nonzero(np.triu(differ <= 31, 1)))
    assert expected.shape[1] == 32 * 4 + 16 * 2
    found = close(pl.Series([row.tobytes().hex() for row in np.packbits(bits, axis=1)]))
    np.testing.assert_array_equal(np.stack(found), expected)
    assert [len(side) for side in close(pl.Series([], dtype=pl.String))] == [0, 0]


def test_records_without_media_are_not_applicable() -> None:
    bare = dataset(planted=True)
    bare.tables.clear()
    (finding,) = audit(bare, checks=["media"]).findings
    assert finding.verdict == "not-applicable"


@pytest.mark.slow
def test_the_addresses_of_5pils_are_audited(real_data: Path) -> None:
    data = load("5pils", real_data / "5pils.zip")
    media = data.tables["media"]
    assert media["missing"].sum() == media["missing"].null_count() == 1_676
    rows = data.records.filter(pl.col("label_raw") != "true")  # 7 are: too few to measure
    many = Dataset.build("5pils", rows, data.tables)
    found = {f.feature: f for f in audit(many, target="label_raw", checks=["media"]).findings}
    for feature in ("across the given split", "under different labels", "format", "size"):
        assert found[feature].verdict in UNMEASURED, feature
    assert found["file name"].score is not None
