"""X-Fact: claims in 25 languages from fact-checking sites, on one seven-level scale, with evidence
from a search engine.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from claimlab.catalog.kit import (
    Bundle,
    Loaded,
    Table,
    UnreadableFile,
    dated,
    first_matched,
    languages,
    numbered,
)

SPLITS = {
    "train": "train.all.tsv",
    "dev": "dev.all.tsv",
    "test": "test.all.tsv",
    "ood": "ood.tsv",
    "zeroshot": "zeroshot.tsv",
}
NO_EVIDENCE = "<DUMMY_EVIDENCE>"


def load(bundle: Bundle, patterns: Sequence[str]) -> Loaded:
    """Tab-separated without quoting, as its authors read it; the copy on the Hub is ordinary
    CSV.
    """
    records, evidence = [], []
    for split, tsv in SPLITS.items():
        places = [pattern.format(tsv=tsv, split=split) for pattern in patterns]
        for name in first_matched(bundle, places)[:1]:
            tabs = name.lower().endswith("tsv")
            raw = Table.read(bundle, name, delimiter="\t" if tabs else None, quoted=not tabs)
            records.append(_records(raw, split))
            evidence.append(_evidence(raw, records[-1]["id"]))
    if not records:
        raise UnreadableFile(
            f"'{bundle.path.name}' holds no file like"
            f" '{patterns[0].format(tsv='train.all.tsv', split='train')}'.",
            "Give the folder 'data' of the repository x-fact, or its release on the Hugging Face"
            " Hub.",
        )
    return Loaded(pl.concat(records), {"evidence": pl.concat(evidence)})


def _records(raw: Table, split: str) -> pl.DataFrame:
    """No format is named for dates such as 05/06/2019: which is the month?"""
    return raw.frame.select(
        id=numbered(f"x-fact-{split}", raw.height, 5),
        text=raw.need("claim"),
        label_raw=raw.need("label"),
        language=languages(raw.need("language")),
        **dated(
            {
                "date column (claim)": raw.maybe("claimDate"),
                "date column (review)": raw.maybe("reviewDate"),
            }
        ),
        author=raw.maybe("claimant"),
        source=raw.maybe("site"),
        split=pl.lit(split),
    )


def _evidence(raw: Table, ids: pl.Series) -> pl.DataFrame:
    """Up to five search results per claim, in the order of the claims; the files fill the rest with
    a placeholder.
    """
    results = [
        pl.DataFrame(
            {"record_id": ids, "text": raw.maybe(f"evidence_{n}"), "url": raw.maybe(f"link_{n}")}
        ).with_columns(
            evidence_id=pl.col("record_id") + f"-e{n}",
            rank=pl.lit(n),
            provider=pl.lit("x-fact (Google search)"),
        )
        for n in range(1, 6)
    ]
    evidence = pl.concat(results).filter(pl.col("text") != NO_EVIDENCE)
    return evidence.sort("record_id", "rank")
