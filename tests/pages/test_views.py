"""One report in three views: what comes from data is escaped in each, and no view loses a block."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from claimlab.core.errors import ClaimlabError
from claimlab.pages.blocks import (
    Cell,
    Column,
    Figure,
    Fold,
    Items,
    Quote,
    Report,
    Section,
    Table,
    Text,
    Tiles,
    percent,
    short,
    walk,
)
from claimlab.pages.charts import bars, histogram, slim, svg_to_png, table_to_svg, to_svg
from claimlab.pages.html import to_html, to_html_within
from claimlab.pages.latex import escape as tex
from claimlab.pages.latex import to_latex, to_latex_tables
from claimlab.pages.markdown import escape as md
from claimlab.pages.markdown import to_markdown
from claimlab.pages.scatter import Side, scatter, scatter_svg

NASTY = "<script>alert('x')</script> & | \\ $ % # _ ^ ~ { } `code` *bold* [link](x)"


def report() -> Report:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="5" height="5"/></svg>'
    table = Table(
        ["Name", "Figure"],
        [[Cell(NASTY, link="#here"), 3.5], [Cell("b", tone="fail"), None]],
        "A caption",
    )
    return Report(
        f"Title {NASTY}",
        "Subtitle",
        [
            Tiles([("tile", "42", "pass")]),
            Section(
                f"Section {NASTY}",
                [
                    Text(NASTY, links=[("a link", "#here")]),
                    Items([NASTY]),
                    table,
                    Quote(NASTY, "quoted"),
                ],
                anchor="here",
                badge="fail",
            ),
            Fold(
                "More",
                [
                    Figure(svg, "A picture", "alt words", "a-picture"),
                    Table(["n"], [[1]], upright=True),
                ],
            ),
        ],
    )


def test_html_escapes_and_resolves_its_links() -> None:
    page = to_html(report())
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;") >= 5
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    assert 'data-sort="-Infinity"' in page
    assert "<rect" in page


def test_markdown_escapes_and_points_at_the_picture() -> None:
    text = to_markdown(report())
    assert "<script>" not in text
    assert r"\*bold\*" in text
    assert "![alt words](plots/a-picture.svg)" in text
    assert "| **b** | – |" in text
    assert md("a|b") == r"a\|b"


def test_latex_escapes() -> None:
    text = to_latex(report())
    assert tex("50 % & {x}_1^2 ~ \\") == (
        r"50 \% \& \{x\}\_1\textasciicircum{}2 \textasciitilde{} \textbackslash{}"
    )
    assert tex("naïve Škoda 疫") == "naïve Škoda [U+75AB]"
    assert "\\begin{longtable}" in text
    assert "\\toprule" in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex here")
def test_latex_compiles(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    picture = next(b for b in walk(report().blocks) if isinstance(b, Figure))
    (tmp_path / "plots" / "a-picture.png").write_bytes(svg_to_png(picture.svg))
    (tmp_path / "report.tex").write_text(to_latex(report()), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_first_version_that_fits_is_taken() -> None:
    long, short = Report("x", blocks=[Text("y" * 9_000)]), Report("x", blocks=[Text("z")])
    limit = len(to_html(short)) + 100
    assert "zzz" not in to_html_within([long, short], limit)
    assert '<p class="plain" dir="auto">z</p>' in to_html_within([long, short], limit)
    with pytest.raises(ClaimlabError, match="shortest page"):
        to_html_within([long], limit)


def test_charts_escape_names_and_stay_small() -> None:
    rows = [{"c": NASTY, "n": 3, "k": "true"}, {"c": "b", "n": 1, "k": "false"}]
    svg = to_svg(bars(rows, category="c", value="n", colour="k"))
    assert "<script>" not in svg
    assert len(svg) < 8_000
    assert svg_to_png(svg).startswith(b"\x89PNG")
    assert svg.count("<title>") == len(rows)  # each bar says its value to whoever points at it
    assert "aria-" not in svg
    assert to_svg(bars(rows, category="c", value="n", colour="k")) == svg
    dated = to_svg(
        histogram([0.0, 365.0, 730.0], {"true": [3, 0], "false": [0, 4]}, title="date", dates=True)
    )
    assert "1970" in dated or "July" in dated


@pytest.mark.slow
def test_charts_of_dates_are_the_same_bytes_in_every_time_zone() -> None:
    drawn = """
from claimlab.pages.charts import histogram, to_svg
edges = [17_000.0, 17_010.5, 17_100.0, 17_400.0]
print(to_svg(histogram(edges, {"true": [3, 4, 5], "false": [1, 2, 9]}, title="date", dates=True)))
"""
    zones = ("UTC", "Asia/Tokyo", "America/Los_Angeles")
    pages = {
        subprocess.run(
            [sys.executable, "-c", drawn],
            env={**os.environ, "TZ": zone},
            capture_output=True,
            check=True,
        ).stdout
        for zone in zones
    }
    (page,) = pages
    assert b"date: 2016-07-28 to 2016-10-26; records: 4; class: true" in page


def test_slim_leaves_text_alone() -> None:
    assert slim(
        '<svg><path d="M1.23456,2"/><text opacity="1">1.23456 &lt;b&gt;</text></svg>'
    ).endswith('<path d="M1.2,2"/><text>1.23456 &lt;b&gt;</text></svg>')


def test_each_word_of_the_plot_says_its_figures_and_may_lead_somewhere() -> None:
    sides = Side("true", 1_500, [1_200, 3]), Side("<false>", 90, [0, 40])
    svg = scatter_svg(["a<b", "hoax"], *sides)
    assert "<title>a&lt;b: 1,200 of 1,500 true, 0 of 90 &lt;false&gt;</title>" in svg
    assert "<title>hoax: 3 of 1,500 true, 40 of 90 &lt;false&gt;</title>" in svg
    assert "<a " not in svg
    assert "dot.invalid" not in svg
    assert '<a href="/words?w=hoax&amp;x=1"' in scatter_svg(
        ["a<b", "hoax"], *sides, lambda word: f"/words?w={word}&x=1"
    )


def test_the_words_picture_names_the_one_sided() -> None:
    words = ["bombshell", "harbour", "council", *(f"w{i}" for i in range(200))]
    usual = [50, 40, *[30] * 200]
    svg = to_svg(scatter(words, Side("true", 500, [1, *usual]), Side("false", 500, [300, *usual])))
    assert "bombshell" in svg
    assert "harbour" not in svg
    assert len(svg) < 80_000


def test_a_word_that_stands_nowhere_in_a_class_has_a_place() -> None:
    assert "<svg" in to_svg(scatter(["only"], Side("true", 1, [0]), Side("false", 1, [1])))


def test_code_in_a_list_is_set_as_code_and_stays_escaped() -> None:
    page = to_html(Report("x", "", [Items(["Use `split(DIR)` on <b>`<i>`</b>"])]))
    assert "Use <code>split(DIR)</code> on &lt;b&gt;<code>&lt;i&gt;</code>&lt;/b&gt;" in page


class Scored:
    def __init__(self, name: str, f1: float | None) -> None:
        self.name, self.scores = name, {"f1": f1}


def test_a_table_is_what_its_columns_show_of_the_rows() -> None:
    rows = [Scored("first", 0.5), Scored("a name that is long", None)]
    columns: list[Column[Scored]] = [
        Column("Name", format=short(8), link=lambda row: f"#{row.name}"),
        Column("F1, %", "scores.f1", percent, "none"),
        Column("Twice", lambda row: row.scores["f1"] and 2 * row.scores["f1"]),
        Column(
            "Twice", lambda row: row.scores["f1"], tone=lambda row: "fail" if row.name else "plain"
        ),
        Column("Note", lambda row: "" if row.name else "?", optional=True),
    ]
    table = Table.of(columns, rows, "A caption", sortable=False)
    assert list(table.columns) == ["Name", "F1, %", "Twice", "Twice"]
    first, second = table.rows
    assert first[:3] == (Cell("first", link="#first"), Cell("50.0", sort=0.5), 1.0)
    assert second[1:3] == ("none", None)
    assert isinstance(second[0], Cell)
    assert second[0].text == "a name…"
    assert second[3] == Cell("–", sort=float("-inf"), tone="fail")
    assert table == Table(table.columns, table.rows, "A caption", sortable=False)
    assert Table.of([Column("Claims", 1)], [("a", 3)]).rows == [(3,)]
    empty: list[Scored] = []
    assert Table.of(columns, empty).columns == ["Name", "F1, %", "Twice", "Twice"]


def test_tables_for_a_paper_have_a_caption_and_a_note() -> None:
    table = Table(["run", "macro-F1"], [["words", Cell("95.3*", sort=0.953)]], "Values. * Above.")
    text = to_latex_tables([table])
    assert "documentclass" not in text
    assert text.count("\\begin{tabular}{lr}") == text.count("\\end{tabular}") == 1
    assert "\\caption{Values.}" in text
    assert "{* Above.}" in text, "the mark is explained below"
    assert "words & 95.3* \\\\" in text


def test_a_table_for_a_paper_has_the_form_of_booktabs() -> None:
    """Rules in their order, each row as many cells as the `tabular` has columns, every brace closed
    and no mark of TeX left bare, also where names come from data."""
    rows = [[Cell(NASTY), 3.5, "1-3"], [Cell("b", tone="fail"), None, "\\\\ & {"]]
    wide = Table(["Run", "F1 & more", "95% {interval}"], rows, "Values. * Above.")
    for text in to_latex_tables([wide, Table(["One"], [["x"]])]).split("\\begin{table}")[1:]:
        inside = re.search(
            r"\\begin\{tabular\}\{((?:[lr]|p\{[\d.]+\\linewidth\})+)\}\n\\toprule\n(.*) \\\\\n"
            r"\\midrule\n(.*)\\bottomrule\n\\end\{tabular\}",
            text,
            re.DOTALL,
        )
        assert inside, text
        columns = len(re.sub(r"\{[^}]*\}", "", inside[1]))
        lines = [inside[2], *inside[3].removesuffix(" \\\\\n").split(" \\\\\n")]
        assert [len(re.split(r"(?<!\\)&", line)) for line in lines] == [columns] * len(lines)
        assert not re.search(r"(?<!\\)[%#_$^~]", inside[3]), "a bare mark of TeX"
        bare = re.sub(r"\\[{}]", "", text)
        assert bare.count("{") == bare.count("}")
        assert text.rstrip().endswith("\\end{table}")


def test_a_table_is_drawn_for_slides() -> None:
    table = Table(["Run", "Rank"], [[NASTY, "1-3"], ["b", None]], "Ranks in words. " * 9)
    svg = table_to_svg([table])
    root = ElementTree.fromstring(svg)
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:6] == ["Run", "Rank", NASTY, "1-3", "b", "–"]
    assert " ".join(map(str, texts[6:])) == ("Ranks in words. " * 9).strip(), "the whole note"
    assert svg.count("<path") == 3
    assert svg_to_png(svg).startswith(b"\x89PNG")
