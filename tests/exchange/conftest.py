"""A made-up dataset with everything that exchange gets wrong: odd texts, nulls, dates, types,
interleaved splits.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import polars as pl
import pytest

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.record import meta_json

ODD_TEXTS = [
    "The bridge is closed.",
    '=HYPERLINK("http://x.example","open")',
    "+1 for the mayor",
    "-2 degrees in July",
    "@town said so",
    "\tstarts with a tab",
    "\rstarts with a return",
    "\n=1+1 on the next line",
    "＝full-width",
    "＋full-width",
    "－full-width",
    "＠full-width",
    " =after a blank",
    "\u200b=after a zero-width blank",
    "'=already quoted",
    "''two marks",
    "'",
    "line one\nline two\r\nline three\rline four",
    'she said "no", twice; then, "yes"',
    "nul \x00 and bell \x07 and delete \x7f",
    "next line \x85 and separators \u2028 \u2029",
    "\u202eright to left\u202c עברית العربية",
    "emoji 👩‍👩‍👧 and 𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "\ufeffa mark first",
    "trailing blank ",
    "<script>alert(1)</script> [link](http://x.example) | `code` ---",
    None,
]
DAYS = (
    datetime(2020, 2, 29),
    datetime(1, 1, 1, 0, 0, 0, 1),
    datetime(2021, 12, 31, 23, 59, 59, 999_999),
    None,
)


@pytest.fixture
def hard() -> Dataset:
    n = len(ODD_TEXTS)
    frame = pl.DataFrame(
        {
            "id": [f"r{i:02d}" for i in range(n)],
            "text": ODD_TEXTS,
            "kind": ["claim" if text else "id-only" for text in ODD_TEXTS],
            "label_raw": [("Pants on fire!", "TRUE", "-half-", None)[i % 4] for i in range(n)],
            "veracity": [("false", "true", "mixed", None)[i % 4] for i in range(n)],
            "language": [("eng", "por", "fil", "nor", None)[i % 5] for i in range(n)],
            "date": [DAYS[i % 4] for i in range(n)],
            "tweet_id": [str(1_234_567_890_123_456_789 + i) if i % 3 else None for i in range(n)],
            "source": ["The Riverton Post | *bold*" if i % 2 else None for i in range(n)],
            "url": [f"https://x.example/{i}?a=1&b=<2>" if i % 3 == 0 else None for i in range(n)],
            "split": [("train", "test", "out of: time", None)[i % 4] for i in range(n)],
            "meta": [
                meta_json({"z": 1, "a": "é\n=1", "deep": {"x": [1, None]}}) if i % 2 else None
                for i in range(n)
            ],
        }
    )
    evidence = pl.DataFrame(
        {
            "record_id": ["r00", "r01", "r02"],
            "evidence_id": ["e0", "e1", "e2"],
            "rank": [1, -5, None],
            "text": ["", None, "=1+1"],
            "published": [datetime(2020, 3, 1, 12), None, datetime(1999, 12, 31)],
            "=votes": pl.Series([3, None, -(2**62)], dtype=pl.Int64),
            "seen": pl.Series(
                [datetime(2020, 7, 1, 12, tzinfo=UTC), None, None]
            ).dt.convert_time_zone("Europe/Lisbon"),
            "day": [date(2020, 2, 29), None, date(1969, 12, 31)],
        }
    )
    predictions = pl.DataFrame(
        {
            "record_id": ["r00", "r01", "r02"],
            "run": ["a", "a", "a"],
            "evidence_ids": [["e0", None, "=x"], [], None],
            "cost": [0.1, 1e-12, None],
            "seconds": [-0.0, 5e-324, 1.7976931348623157e308],
        }
    )
    traces = pl.DataFrame({"record_id": ["r00", "r01"], "passed": [True, None], "round": [1, 2]})
    lone = pl.DataFrame({"x": ["a", None, ""]})
    return Dataset.build(
        "hard",
        frame,
        {"evidence": evidence, "predictions": predictions, "traces": traces, "lone": lone},
        licence="CC BY-SA 4.0",
        notes=[
            "# A note with <b>markup</b>,\n| pipes | and [links](http://x.example)",
            "---\nevil: true",
        ],
        lineage=[Lineage(step="import", parameters={"text": "=cmd|' /C'!A0", "rows": n}, seed=3)],
    )
