"""Whatever the data: a finding or a sentence, never a traceback, and no check that broke."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

from claimlab.audit.check import CHECKS
from claimlab.audit.fix import conflicting, copies, given_parts, labels_of, leaking, without
from claimlab.audit.result import Audit
from claimlab.audit.rule import AuditSettings
from claimlab.audit.run import audit
from claimlab.audit.subject import Subject
from claimlab.audit.views.page import Chapter, paper, report
from claimlab.core.dataset import Dataset
from claimlab.pages.html import MAX_BYTES, to_html
from claimlab.pages.latex import to_latex
from claimlab.pages.markdown import to_markdown

QUICK = AuditSettings(folds=2, repeats=1, few=4, many=8)


def rows(n: int, **changes: Any) -> pl.DataFrame:
    """`n` plain records; `changes` replace columns (a function gets the row number)."""
    rng = np.random.default_rng(n)
    words = np.array(
        [
            "harbour",
            "bridge",
            "council",
            "lamp",
            "river",
            "bench",
            "market",
            "clock",
            "snow",
            "ferry",
        ]
    )
    base: dict[str, Any] = {
        "id": [f"r{i}" for i in range(n)],
        "text": [" ".join(rng.choice(words, 8)) + f" {i}" for i in range(n)],
        "kind": "post",
        "veracity": ["true" if i % 2 else "false" for i in range(n)],
        "language": "eng",
        "date": [datetime(2020, 1, 1) + timedelta(days=i % 400) for i in range(n)],
        "source": [f"s{i % 7}" for i in range(n)],
        "url": [f"https://site{i % 5}.example/{i}" for i in range(n)],
        "split": ["train" if i % 3 else "test" for i in range(n)],
    }
    for name, value in changes.items():
        base[name] = [value(i) for i in range(n)] if callable(value) else value
    schema = {
        "text": pl.String,
        "veracity": pl.String,
        "date": pl.Datetime("us"),
        "tweet_id": pl.String,
    }
    return pl.DataFrame(
        base, schema_overrides={k: v for k, v in schema.items() if k in base}, strict=False
    )


def emoji(i: int) -> str:
    return "😷🔥👨‍👩‍👧‍👦🇧🇷 " * (1 + i % 4) + ("‼️" if i % 2 else "🙃") + f" {i}"


def right_to_left(i: int) -> str:
    return f"{'خبر عاجل' if i % 2 else 'תיקון טעות'} \u202e{i} مدينة \u2066المطار\u2069 {'سوق ' * (i % 5)}"


def controls(i: int) -> str:
    return f"line\x00one\x1b[31m {i}\r\n\ttwo\u2028three\x7f\x85 {'<script>alert(1)</script>' if i % 2 else '&amp;'}"


CASES: dict[str, Callable[[], pl.DataFrame]] = {
    "empty": lambda: rows(0),
    "one row": lambda: rows(1),
    "two rows": lambda: rows(2),
    "one class": lambda: rows(80, veracity="false"),
    "no dates": lambda: rows(90, date=lambda _: None),
    "one date": lambda: rows(90, date=datetime(1970, 1, 1)),
    "wild dates": lambda: rows(90, date=lambda i: datetime(1 + (i * 97) % 9998, 1, 1)),
    "megabyte texts": lambda: rows(70, text=lambda i: ("word " if i % 2 else "xyz") * 250_000 if i < 6 else f"t {i}"),
    "one endless word": lambda: rows(80, text=lambda i: ("a" if i % 2 else "b") * 300_000 if i < 8 else f"word {i}"),
    "emoji": lambda: rows(90, text=emoji),
    "right to left": lambda: rows(90, text=right_to_left),
    "control characters": lambda: rows(90, text=controls, source=controls, id=lambda i: f"{i}\x00<b>\n{i}"),
    "all the same": lambda: rows(90, text="the very same words"),
    "no text": lambda: rows(90, text=lambda _: None),
    "punctuation only": lambda: rows(90, text=lambda i: "!?" * (i % 9 + 1)),
    "stop words only": lambda: rows(90, text="it is the and of"),
    "a rare third class": lambda: rows(120, veracity=lambda i: "mixed" if i < 2 else ("true" if i % 2 else "false")),
    "a class of one": lambda: rows(120, veracity=lambda i: "true" if i == 5 else "false"),
    "no labels": lambda: rows(60, veracity=lambda _: None),
    "half the labels": lambda: rows(140, veracity=lambda i: None if i % 2 else ("true" if i % 4 else "false")),
    "huge categories": lambda: rows(120, source=lambda i: f"{i % 3}" * 200_000, topic=lambda i: f"{i % 2}" * 9_999),
    "every value once": lambda: rows(120, source=lambda i: f"s{i}", author=lambda i: f"a{i}", topic=lambda i: f"t{i}"),
    "broken urls": lambda: rows(90, url=lambda i: ["http://[::1", "://", "www.", "https://" + "a" * 3_000][i % 4]),
    "bad tweet ids": lambda: rows(90, tweet_id=lambda i: ["", "abc", "1", "9" * 40, "1.2e18"][i % 5]),
    "odd splits": lambda: rows(90, split=lambda i: [None, "TRAIN", "träin", "test"][i % 4]),
    "one group": lambda: rows(90, group="everything"),
    "many languages": lambda: rows(90, language=lambda i: ["eng", "ara", "jpn", None][i % 4], text=right_to_left),
}  # fmt: skip


def check_all(data: Dataset) -> list[Audit]:
    fair = audit(data, settings=QUICK, columns=["source", "date"])
    return [fair, audit(data, protocol="cdl", target="veracity-mixed")]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_strange_data_gives_findings_and_pages(case: str) -> None:
    data = Dataset.build("strange <i>data</i>", CASES[case]())
    results = check_all(data)
    for result in results:
        broken = [f for f in result.findings if "broke" in f.why]
        assert broken == []
        assert all(f.why.strip() for f in result.findings)
        wanted = (
            {"keywords", "time"} if result.protocol == "cdl" else set(CHECKS.names()) - {"columns"}
        )
        assert wanted <= {f.check for f in result.findings}
    parts = [Chapter(a, i, alarms_only=True) for i, a in enumerate(results)]
    page = to_html(report(parts))
    assert len(page.encode()) < MAX_BYTES
    assert "<script>alert" not in page
    assert "<i>data</i>" not in page
    assert to_markdown(report(parts))
    assert to_latex(paper(results))


@pytest.mark.parametrize("case", CASES)
def test_strange_data_loses_only_what_has_a_reason(case: str) -> None:
    data = Dataset.build("strange", CASES[case]())
    subject = Subject.of(data)
    labelled = data.records.with_columns(labels_of(subject))
    held_out = list(given_parts(data.records))
    reasons = conflicting(subject) | copies(labelled) | leaking(data.records, held_out)
    rest = without(data, "all", reasons, "dropped", 0)
    assert len(rest) + len(reasons) == len(data)
    assert rest.tables["dropped"]["id"].is_in(list(reasons)).all()
