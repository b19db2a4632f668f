"""Two audits or two datasets side by side: planted changes are found, and nothing else is called a
change.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.audit.diff import Diff, changes, record_changes
from claimlab.audit.result import Audit
from claimlab.audit.views.compare import diff_sentence
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import SchemaError, UsageError
from claimlab.core.finding import Finding, Verdict


def audit_of(*findings: tuple[str, Verdict, float | None], seed: int = 0) -> Audit:
    made = [
        Finding(
            check=check, protocol="fair", verdict=verdict, why="Planted.", score=score,
            interval=None if score is None else (score - 0.01, score + 0.01),
        )
        for check, verdict, score in findings
    ]  # fmt: skip
    return Audit("planted", "0" * 64, "fair", "veracity", seed, 100, 100, made)


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        (("length", "pass", 0.5), ("length", "fail", 0.9), "came"),
        (None, ("length", "warn", 0.6), "came"),
        (("length", "inconclusive", 0.5), ("length", "warn", 0.52), "came"),
        (("length", "fail", 0.9), ("length", "pass", 0.5), "went"),
        (("length", "fail", 0.9), ("length", "not-measured", None), "changed"),
        (("length", "fail", 0.9), None, "changed"),
        (("length", "fail", 0.9), ("length", "warn", 0.9), "changed"),
        (("length", "fail", 0.9), ("length", "fail", 0.8), "changed"),
        (("length", "fail", 0.9), ("length", "fail", 0.899), "same"),
        (("length", "not-measured", None), ("length", "not-measured", None), "same"),
    ],
)
def test_an_alarm_goes_only_when_the_check_passes(
    was: tuple[str, Verdict, float | None] | None,
    now: tuple[str, Verdict, float | None] | None,
    kind: str,
) -> None:
    before, after = (audit_of(*([one] if one else [])) for one in (was, now))
    (change,) = changes(before, after)
    assert change.change == kind
    assert (change.before, change.after) == (was and was[1], now and now[1])


def test_records_are_compared_by_id_whatever_their_order() -> None:
    frame = pl.DataFrame(
        {
            "id": ["a", "b", "c", "d"], "text": ["one", "two", None, "four"], "split": ["train", "test", None, "train"],
            "veracity": ["true", "false", "true", None],
        }
    )  # fmt: skip
    other = pl.DataFrame(
        {
            "id": ["e", "d", "c", "b"], "text": ["five", "four!", None, "two"], "split": ["train", "dev", "test", "test"],
            "veracity": ["true", "true", "true", "true"],
        }
    )  # fmt: skip
    assert record_changes(Dataset.build("x", frame), Dataset.build("x", other)) == {
        "before": 4, "after": 4, "removed": 1, "added": 1, "labels_changed": 2, "splits_changed": 2, "texts_changed": 1, "labels_by_map": 0,
    }  # fmt: skip


def test_labels_that_another_map_changed_are_told_apart(tmp_path: Path) -> None:
    """The first of the two is false to one map and true to the other; the second is another word."""
    words = ["barely-true", "false"] * 20
    frame = pl.DataFrame(
        {
            "id": [str(n) for n in range(40)],
            "text": [f"Claim number {n} of the harbour." for n in range(40)],
            "label_raw": words,
            "veracity": ["false"] * 40,
        }
    )
    changed = frame.with_columns(
        label_raw=pl.Series(["barely-true", "true", *words[2:]]),
        veracity=pl.Series(["true", "true", *["true", "false"] * 19]),
    )
    for name, records in (("old", frame), ("new", changed)):
        data = Dataset.build("x", records)
        data.lineage = [Lineage(step="import", parameters={"map": f"{name}-words@1"})]
        data.write(tmp_path / name)
    difference = cl.diff(tmp_path / "old", tmp_path / "new", checks=["one-class"])
    assert difference.records is not None
    assert difference.records["labels_changed"] == 21
    assert difference.records["labels_by_map"] == 20
    assert (
        "20 labels changed by another label map (old-words, then new-words), not in the data: the"
        " source wrote the same." in difference.notes()
    )


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diff")
    data = planted(size=320)[0]
    data.write(folder / "old")
    checks = ["near-duplicates", "one-class"]
    saved = folder / "old-report"
    cl.audit(folder / "old", checks=checks, output=saved)
    cl.prepare(folder / "old", audit=saved, change_test=True, output=folder / "new")
    cl.audit(folder / "new", checks=checks, output=folder / "new-report")
    return folder


def test_datasets_and_saved_audits_give_the_same_findings(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = ["--check", "near-duplicates", "--check", "one-class", "--json"]
    assert run(["diff", str(work / "old"), str(work / "new"), *named]) == 0
    data = json.loads(capsys.readouterr().out)
    assert run(["diff", str(work / "old-report"), str(work / "new-report"), "--json"]) == 0
    saved = json.loads(capsys.readouterr().out)
    assert data["findings"] == saved["findings"]
    assert saved["records"] is None
    assert (
        data["records"]["removed"]
        == Dataset.open(work / "old").records.height - data["records"]["after"]
    )
    old, new = (Dataset.open(work / name).records for name in ("old", "new"))
    both = old.select("id", "split").join(new.select("id", after="split"), on="id")
    changed = both.filter(pl.col("split").ne_missing(pl.col("after")))
    assert data["records"]["splits_changed"] == changed.height
    assert {(f["check"], f["change"]) for f in data["findings"]} == {
        ("near-duplicates", "went"),
        ("one-class", "same"),
    }


def test_the_report_holds_every_view_and_the_terminal_says_it(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = work / "report"
    assert run(["diff", str(work / "old-report"), str(work / "new-report"), "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert {p.name for p in out.iterdir()} >= {"index.html", "report.md", "diff.json", "audit.json"}
    found = cl.diff(work / "old-report", work / "new-report")
    assert json.loads((out / "diff.json").read_text(encoding="utf-8")) == found.to_json()
    sentence = diff_sentence(found)
    assert sentence in (out / "report.md").read_text(encoding="utf-8")
    assert sentence.split(",")[0] in printed
    assert len(found) == found.table.height == 3


def test_two_kinds_are_refused_and_other_settings_are_noted(work: Path) -> None:
    with pytest.raises(UsageError, match="saved audit"):
        cl.diff(work / "old", work / "new-report")
    with pytest.raises(SchemaError, match="There is no folder"):
        cl.diff(work / "old-report", work / "nowhere")
    with pytest.raises(UsageError, match="holds 2 audits"):
        cl.diff(work / "new" / "report", work / "new-report")
    assert cl.diff(work / "old-report", work / "old-report").counts()["same"] == 3
    one, two = audit_of(("length", "pass", 0.5)), audit_of(("length", "pass", 0.5), seed=1)
    assert Diff(one, two).notes() == ["The audits differ in their seed: 0 and 1."]
