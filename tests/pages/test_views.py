"""One report in three views: what comes from data is escaped in each, and no view loses a block."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from datetime import date
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
from claimlab.pages.charts import (
    Dot,
    bars,
    dots,
    heatmap,
    histogram,
    lines,
    reliability,
    svg_to_png,
    table_to_svg,
)
from claimlab.pages.drawing import EPOCH, Drawing, Scale, date_ticks, text_width, ticks
from claimlab.pages.html import to_html, to_html_within
from claimlab.pages.latex import escape as tex
from claimlab.pages.latex import to_latex, to_latex_tables
from claimlab.pages.markdown import escape as md
from claimlab.pages.markdown import to_markdown
from claimlab.pages.scatter import Side, scatter

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


def test_what_stands_between_the_parts_of_a_page_has_a_frame() -> None:
    table = Table(("Name",), [("one",)])
    loose = [Text("First", "conclusion"), table, Section("A part", [Text("Inside")]), table]
    page = to_html(Report("Title", "", loose))
    assert page.count('<div class="card">') == 2  # around the first two, and the last
    aside = [Text("", links=[("All", "x.html")]), Section("A part", []), Text("Aside", "note")]
    assert '<div class="card">' not in to_html(Report("Title", "", aside))


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
    assert tex("naïve Škoda 疫") == "naïve Škoda \\script{CJK}{疫}{[U+75AB]}"
    assert tex("عاجل a") == "\\script{ARABIC}{عاجل}{[U+0639][U+0627][U+062C][U+0644]} a"
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
    svg = bars(rows, category="c", value="n", colour="k")
    assert "<script>" not in svg
    assert len(svg) < 8_000
    assert svg_to_png(svg).startswith(b"\x89PNG")
    assert svg.count("<title>") == len(rows)  # each bar says its value to whoever points at it
    assert "aria-" not in svg
    assert bars(rows, category="c", value="n", colour="k") == svg
    dated = histogram(
        [0.0, 365.0, 730.0], {"true": [3, 0], "false": [0, 4]}, title="date", dates=True
    )
    assert "1970" in dated or "July" in dated


@pytest.mark.slow
def test_charts_of_dates_are_the_same_bytes_in_every_time_zone() -> None:
    drawn = """
from claimlab.pages.charts import histogram
edges = [17_000.0, 17_010.5, 17_100.0, 17_400.0]
print(histogram(edges, {"true": [3, 4, 5], "false": [1, 2, 9]}, title="date", dates=True))
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


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0, 2_600, ["0", "500", "1,000", "1,500", "2,000", "2,500"]),
        (-3, 3, ["-3", "-2", "-1", "0", "1", "2", "3"]),
        (7, 7, ["7.0"]),
    ],
)
def test_an_axis_has_round_numbers(low: float, high: float, labels: list[str]) -> None:
    marks = ticks(low, high, 6)
    assert [label for _, label in marks] == labels
    assert all(float(label.replace(",", "")) == pytest.approx(value) for value, label in marks)


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        ("1896-05-01", "2021-02-03", ["1900", "1920", "1940", "1960", "1980", "2000", "2020"]),
        ("2015-06-01", "2020-02-03", ["2016", "2017", "2018", "2019", "2020"]),
        ("2019-11-20", "2020-05-03", [f"{m}" for m in ("2019-12", "2020-01", "2020-02", "2020-03", "2020-04", "2020-05")]),
        ("2020-03-01", "2020-03-01", ["2020-03-01"]),
    ],
)  # fmt: skip
def test_an_axis_of_dates_starts_years_or_months(first: str, last: str, labels: list[str]) -> None:
    ends = [float(date.fromisoformat(day).toordinal() - EPOCH) for day in (first, last)]
    marks = date_ticks(ends[0], ends[1])
    assert [label for _, label in marks] == labels
    assert all(ends[0] <= day <= ends[1] for day, _ in marks)


def test_labels_of_an_axis_do_not_touch() -> None:
    drawing = Drawing(100, 10)
    drawing.across(Scale(0, 9, 100), [(k, f"{k:,} records") for k in range(10)], "")
    assert 1 < sum("</text>" in mark for mark in drawing.marks) < 4


def test_every_kind_of_chart_stays_in_its_frame_and_is_a_whole_document() -> None:
    """Long names, one row, no row: what is drawn lies inside the figure, as far as letters can be
    measured.
    """
    long = "a name of a dataset that goes on and on " * 3
    some = [{"c": long, "n": 3, "k": "true"}, {"c": "b", "n": 0, "k": long}]
    cells: list[dict[str, object]] = [
        {"r": "a", "c": long, "v": 3.0},
        {"r": long, "c": "b", "v": None},
    ]
    words = [f"word{i}" for i in range(60)]
    drawn = {
        "bars": bars(some, category="c", value="n", colour="k"),
        "shares": bars(some, category="c", value="n", colour="k", stack="normalize"),
        "columns": bars(some, category="c", value="n", colour="k", horizontal=False),
        "no bars": bars([], category="c", value="n"),
        "dates": histogram([0.0, 9.0, 40.0], {long: [3, 0], "b": [0, 4]}, title=long, dates=True),
        "one value": histogram([5.0, 5.0], {"true": [0]}, title="x"),
        "dots": dots([Dot(long, 0.5, (0.4, 1.0), "fail", {"majority": 0.0})], title=long),
        "no dots": dots([], title="x"),
        "lines": lines({long: [(0, 0), (3, 9)], "b": []}, across="x", up="y", levels={long: 5}),
        "no lines": lines({}, across="x", up="y"),
        "reliability": reliability([(3, 0.5, 1.0), (0, 1.0, 0.0)]),
        "heat map": heatmap(cells, row="r", column="c", value="v", title="t", order=["a", long], columns=["b", long]),
        "words": scatter(words, Side(long, 90, range(60)), Side("b", 90, range(60, 0, -1))),
    }  # fmt: skip
    for name, svg in drawn.items():
        root = ElementTree.fromstring(svg)
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        area = root[0]
        left, top = map(float, re.findall(r"[\d.]+", area.attrib["transform"]))
        for mark in area.iter("{http://www.w3.org/2000/svg}text"):
            turned = "transform" in mark.attrib
            reach = 0 if turned else text_width(mark.text or "", float(mark.get("font-size", 12)))
            shift = {"middle": 0.5, "end": 1.0}.get(mark.get("text-anchor", ""), 0.0)
            start = left + float(mark.attrib["x"]) - shift * reach
            within = (
                start >= -1 and start + reach <= width + 1,
                0 < top + float(mark.attrib["y"]) < height,
            )
            assert all(within), (name, mark.text)
        assert "nan" not in svg, name


def test_each_word_of_the_plot_says_its_figures_and_may_lead_somewhere() -> None:
    sides = Side("true", 1_500, [1_200, 3]), Side("<false>", 90, [0, 40])
    svg = scatter(["a<b", "hoax"], *sides)
    assert "<title>a&lt;b: 1,200 of 1,500 true, 0 of 90 &lt;false&gt;</title>" in svg
    assert "<title>hoax: 3 of 1,500 true, 40 of 90 &lt;false&gt;</title>" in svg
    assert "<a " not in svg
    assert '<a href="/words?w=hoax&amp;x=1"' in scatter(
        ["a<b", "hoax"], *sides, lambda word: f"/words?w={word}&x=1"
    )


def test_the_words_picture_names_the_one_sided() -> None:
    words = ["bombshell", "harbour", "council", *(f"w{i}" for i in range(200))]
    usual = [50, 40, *[30] * 200]
    svg = scatter(words, Side("true", 500, [1, *usual]), Side("false", 500, [300, *usual]))
    assert ">bombshell</text>" in svg
    assert ">harbour</text>" not in svg
    assert len(svg) < 80_000


def test_a_word_that_stands_nowhere_in_a_class_has_a_place() -> None:
    assert "<svg" in scatter(["only"], Side("true", 1, [0]), Side("false", 1, [1]))


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


@pytest.mark.parametrize(
    "words", [("true", "eurt"), ("αληθή", "ήθηλα"), ("ложь", "ьжол"), ("שקר", "רקש")]
)
def test_the_font_of_charts_has_the_letters(words: tuple[str, str]) -> None:
    def drawn(word: str) -> bytes:
        return svg_to_png(table_to_svg([Table([word], [], "")]))

    assert len({drawn(word) for word in (*words, "")}) == 3, "a letter that is not there is a box"


def test_a_table_is_drawn_for_slides() -> None:
    table = Table(["Run", "Rank"], [[NASTY, "1-3"], ["b", None]], "Ranks in words. " * 9)
    svg = table_to_svg([table])
    root = ElementTree.fromstring(svg)
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:6] == ["Run", "Rank", NASTY, "1-3", "b", "–"]
    assert " ".join(map(str, texts[6:])) == ("Ranks in words. " * 9).strip(), "the whole note"
    assert svg.count("<path") == 3
    assert svg_to_png(svg).startswith(b"\x89PNG")
