"""The report folder: complete, small whatever the data, the same bytes again, and made of findings
alone.
"""

from __future__ import annotations

import json
import re
from html import escape as plain_html
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from parts.planted import planted

from claimlab.audit.check import CHECKS, PROTOCOLS, caveats
from claimlab.audit.result import PER_FINDING, Audit, read_audits
from claimlab.audit.rule import AuditSettings
from claimlab.audit.run import IN_ALL, TEXT, audit
from claimlab.audit.views.page import DETAILS, chapters, report, write_audits
from claimlab.audit.views.wording import explanation
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, OutputExists
from claimlab.core.finding import Finding
from claimlab.pages.blocks import Fold, Items, Section, Table, walk
from claimlab.pages.html import MAX_BYTES, to_html
from claimlab.pages.markdown import escape

QUICK = AuditSettings(repeats=1)


@pytest.fixture(scope="module")
def both(planted_audit: Audit, clean_audit: Audit) -> list[Audit]:
    return [planted_audit, clean_audit]


@pytest.fixture(scope="module")
def folder(both: list[Audit], tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("audit") / "report"
    write_audits(both, target)
    return target


@pytest.mark.slow
def test_the_folder_holds_every_view(folder: Path) -> None:
    views = {"audit.json", "index.html", "report.md", "report.tex", "plots"}
    assert {p.name for p in folder.iterdir()} == {".claimlab.json", *views}
    plots = {p.name for p in (folder / "plots").iterdir()}
    assert {"01-planted-overview.svg", "01-planted-overview.png", "all-feasibility.png"} <= plots
    assert {p.removesuffix(".svg") for p in plots if p.endswith(".svg")} == {
        p.removesuffix(".png") for p in plots if p.endswith(".png")
    }
    used = set(
        re.findall(r"plots/([\w-]+)\.svg", (folder / "report.md").read_text(encoding="utf-8"))
    )
    assert {f"{name}.svg" for name in used} <= plots


@pytest.mark.slow
def test_a_saved_audit_gives_the_same_bytes_again(folder: Path, tmp_path: Path) -> None:
    write_audits(read_audits(folder / "audit.json"), tmp_path / "again")
    first, again = (
        {str(p.relative_to(d)): p.read_bytes() for p in d.rglob("*") if p.is_file()}
        for d in (folder, tmp_path / "again")
    )
    assert "index.html" in first
    assert [name for name in first if first[name] != again.get(name)] == []
    assert first.keys() == again.keys()


def test_every_link_on_the_page_leads_somewhere_and_no_name_is_used_twice(folder: Path) -> None:
    page = (folder / "index.html").read_text(encoding="utf-8")
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links <= set(ids), links - set(ids)
    assert "http://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page.split("<main")[0])
    assert page.count("<svg") > 10


def test_findings_lead_to_their_rows(both: list[Audit]) -> None:
    found = both[0]
    (urls,) = (f for f in found.findings if f.check == "url-conflicts")
    page = to_html(report(chapters([found])))
    anchors = dict(re.findall(r'<a href="#(01-planted-row-\d+)"><bdi>([^<]+)</bdi>', page))
    shown = {record for record in anchors.values() if record in urls.records}
    assert len(shown) >= PER_FINDING
    for anchor, record in anchors.items():
        assert re.search(rf'<td id="{anchor}"[^>]*>{record}</td>', page)


def test_examples_are_bounded_and_cut(both: list[Audit]) -> None:
    for result in both:
        assert len(result.examples) <= IN_ALL
        assert all(e.text is None or len(e.text) <= TEXT for e in result.examples)
        assert {e.label for e in result.examples} <= {"true", "false"}
    with_pairs = [f for f in both[0].findings if f.details.get("pairs")]
    assert {f.check for f in with_pairs} == {"near-duplicates", "paraphrases"}
    ids = {e.id for e in both[0].examples}
    assert all({p["record"], p["other"]} <= ids for f in with_pairs for p in f.details["pairs"])


def test_words_are_counted_per_class(both: list[Audit]) -> None:
    records = planted()[0].records.unique(["text", "veracity"])  # each text counts once
    (finding,) = (f for f in both[0].findings if f.check == "giveaways")
    rows = {row["word"]: row for row in finding.details["words"]}
    for name in ("true", "false"):
        held = (
            records.filter(pl.col("veracity") == name)["text"]
            .str.to_lowercase()
            .str.contains(r"\bbombshell\b")
        )
        assert rows["bombshell"]["counts"][name] == int(held.sum())
    assert rows["bombshell"]["leans"] == "false"
    cloud = finding.details["cloud"]
    assert len(cloud["words"]) == len(cloud["counts"]["true"]) <= 250
    assert cloud["words"].index("bombshell") >= 0
    assert cloud["sizes"] == {"true": 471, "false": 468}  # of 488 and 481 records


def test_histograms_count_every_record(both: list[Audit]) -> None:
    for check, feature in (("time", "date"), ("length", None)):
        (finding,) = (f for f in both[0].findings if (f.check, f.feature) == (check, feature))
        counts = finding.details["histogram"]["counts"]
        assert {c: sum(n) for c, n in counts.items()} == finding.classes


def test_every_check_has_a_question_and_a_rule() -> None:
    for name, check in CHECKS.all().items():
        assert check.name == name
        assert check.question.endswith("?"), name
        assert "fail" in check.rule.lower(), name
        assert "pass" in check.rule.lower(), name


def test_the_words_on_a_protocol_stand_in_one_place() -> None:
    told = [str(b.items) for b in walk(explanation("time", "cdl")) if isinstance(b, Items)]
    assert any("fitted on all rows" in text for text in told)
    assert not any("fitted on all rows" in s for s in caveats("cdl", "keywords"))
    assert len(caveats("cdl")) == len(PROTOCOLS["cdl"]["caveats"])
    assert caveats("somebody else's") == []


def test_a_plain_pass_hides_its_tables_and_an_alarm_shows_them(both: list[Audit]) -> None:
    blocks = walk(report(chapters([both[1]])).blocks)
    clean = [s for s in blocks if isinstance(s, Section) and s.folded and s.tone == "pass"]
    assert clean
    assert not any(isinstance(b, Table) for s in clean for b in s.blocks)
    assert any(isinstance(b, Fold) for s in clean for b in s.blocks)


def test_shorter_versions_say_what_they_leave_out(both: list[Audit]) -> None:
    parts = chapters(both)
    sizes = [len(to_html(report(parts, d))) for d in DETAILS]
    assert sizes == sorted(sizes, reverse=True)
    assert "leaves out rows and charts" in to_html(report(parts, DETAILS[3]))
    assert "leaves out" not in to_html(report(parts))


@pytest.mark.slow
def test_many_datasets_stay_under_the_limit(both: list[Audit], tmp_path: Path) -> None:
    write_audits([both[0]] * 14, tmp_path / "many")
    assert (tmp_path / "many" / "index.html").stat().st_size <= MAX_BYTES


@pytest.mark.slow
def test_a_large_dataset_with_huge_texts_makes_a_small_page(tmp_path: Path) -> None:
    n = 180_000
    rng = np.random.default_rng(3)
    words = np.array([f"word{i}" for i in range(4_000)])
    drawn = words[np.minimum(rng.zipf(1.3, (n, 9)) - 1, 3_999)]
    texts = [" ".join(row) for row in drawn]
    for i in range(20):
        texts[i * 11] = f"{'<b>endless</b> ' * 70_000}{i}"
    false = rng.random(n) < 0.5
    frame = pl.DataFrame(
        {
            "id": [f"r{i}" for i in range(n)],
            "text": [f"{t} planted" if f else t for t, f in zip(texts, false, strict=True)],
            "veracity": np.where(false, "false", "true"),
            "source": np.where(false, "s1", "s2"),
        }
    )
    result = audit(Dataset.build("large", frame), settings=QUICK, debug=True)
    write_audits([result], tmp_path / "report")
    assert (tmp_path / "report" / "index.html").stat().st_size < 700_000
    assert (tmp_path / "report" / "audit.json").stat().st_size < 1_000_000


def test_an_older_audit_without_rows_is_read_and_a_foreign_file_is_refused(tmp_path: Path) -> None:
    finding = Finding(
        check="gone-check", protocol="fair", verdict="pass", why="It was fine.", score=0.4
    )
    old = Audit("old", "0" * 64, "fair", "veracity", 0, 10, 10, [finding]).to_json()
    del old["examples"]
    (tmp_path / "audit.json").write_text(json.dumps({"audits": [old]}), encoding="utf-8")
    write_audits(read_audits(tmp_path / "audit.json"), str(tmp_path / "shown"))
    assert "not installed here" in (tmp_path / "shown" / "index.html").read_text(encoding="utf-8")
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="is not a saved audit"):
        read_audits(tmp_path / "other.json")
    with pytest.raises(OutputExists):
        write_audits([], tmp_path / "shown")


def test_the_page_prints_the_figures_of_the_json(both: list[Audit], folder: Path) -> None:
    page, markdown = (
        (folder / name).read_text(encoding="utf-8") for name in ("index.html", "report.md")
    )
    saved = json.loads((folder / "audit.json").read_text(encoding="utf-8"))["audits"]
    tested = [
        f
        for a in saved
        for f in a["findings"]
        if f["difference_interval"] and f["verdict"] in ("fail", "warn")
    ]
    assert len(tested) > 3
    for f in tested:
        low, high = f["difference_interval"]
        chance = ["&lt; 0.001" if p < 0.001 else f"{p:.3f}" for p in (f["p"], f["p_adjusted"])]
        figures = [
            f"{100 * f['difference']:+.1f}", f"{100 * low:+.1f} to {100 * high:+.1f}", *chance,
            str(f["permutations"]),
            "a curve fitted to them" if f["p"] < 1 / (1 + f["permutations"]) else "their count",
            f"{100 * f['moved']:.1f}", f"{100 * f['moved_freely']:.1f}",
        ]  # fmt: skip
        # One figure a row, in this order; the other measurements of a fact have columns of their
        # own.
        lines = r"[^\n]*\n\| [^|]+ \| ".join(map(re.escape, figures))
        assert re.search(lines, markdown), f["check"]
        cells = r"</td>(?:(?!</tr>).)*</tr>\s*<tr>\s*<td[^>]*>[^<]*</td>\s*<td[^>]*>".join(
            map(re.escape, figures)
        )
        assert re.search(cells, page, re.DOTALL), f["check"]
    for one in saved:
        assert one["conclusion"]["advice"] or one["dataset"] == "clean-twin"
        assert all(escape(advice["text"]) in markdown for advice in one["conclusion"]["advice"])
    together = to_html(report(chapters(both)))
    for result in both:
        assert plain_html(result.conclusion.usable) in together
        alone = to_html(report(chapters([result])))
        assert plain_html(result.conclusion.verdict.words[1:]) in alone
        assert plain_html(result.conclusion.verdict.reason) in alone or result.conclusion.advice
