"""What pages quote from papers is what the papers print: the published values are kept once, and
pages name table, row and column.

A quotation reads "81.4 ([Table 6](../papers.md#portuguese), Bertimbau base, Validated-only,
COVID19.BR, F1-macro)".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from parts.preset_page import BLOCK, CARDS, STAMP

from claimlab.catalog.load import DATASETS
from claimlab.core import packaged

ROOT = Path(__file__).resolve().parents[2]
PRESETS = [
    *sorted((ROOT / "docs" / "presets").glob("*.md")),
    *sorted((ROOT / "docs" / "benchmarks").glob("preset-*.md")),
]
BENCHES = [
    ROOT / "docs" / "benchmarks" / f"{name}.md"
    for name in ("detectors", "published-checks", "published-cleaning")
]
PAPERS = {
    "bluff": "bluff",
    "bluff-each": "bluff",
    "cdl-baselines": "guide",
    "evolved-claims": "evolution",
    "pt-afc": "portuguese",
}
NUMBER = r"\d[\d,]*(?:\.\d+)?"
QUOTED = re.compile(
    rf"({NUMBER})%? \(\[([^\]]+)\]\([./]*papers\.md#(\w+)\), ((?:[^()]|\([^()]*\))+)\)"
)
DECIMAL = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?![\w.]*\d)")
Figures = list[tuple[set[str], float]]


def printed(paper: str, table: str) -> Figures:
    """Every figure of a table, with the words for its row and column: the paper's and ours."""
    content = packaged.toml("claimlab.catalog", "published.toml").get(paper, {}).get(table)
    if content is None:
        return _on_cards(table) if paper == "guide" else []
    names, figures = content.get("names", {}), []
    for figure in content["figures"]:
        row = [str(value) for value in figure.values() if isinstance(value, str)]
        for column, value in figure.items():
            if isinstance(value, int | float):
                figures.append(
                    (
                        {*row, column, *(names.get(word, word) for word in (*row, column))},
                        float(value),
                    )
                )
    return figures


def _on_cards(table: str) -> Figures:
    figures = []
    for name, entry in DATASETS.all().items():
        for field, (where, column) in CARDS.items():
            value = getattr(entry.card.published, field, None)
            if where == table and value is not None:
                figures.append(({name, entry.card.title, column}, float(value)))
    return figures


def number(text: str) -> float:
    return float(text.replace(",", ""))


@pytest.mark.parametrize("page", [*PRESETS, *BENCHES], ids=lambda page: page.stem)
def test_a_quotation_is_what_the_paper_prints(page: Path) -> None:
    for value, table, paper, words in QUOTED.findall(
        " ".join(page.read_text(encoding="utf-8").split())
    ):
        asked = set(re.split(r", (?![^()]*\))", words))
        found = {figure for labels, figure in printed(paper, table) if asked <= labels}
        assert len(found) == 1, f"{value} ({table}, {words}) names {len(found)} figures of {paper}"
        decimals = len(value.partition(".")[2])
        assert round(found.pop(), decimals) == number(value), f"{value} ({table}, {words})"


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    for hit in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if hit[2] != STAMP:
            yield hit[2], hit[0]


@pytest.mark.parametrize("page", PRESETS, ids=lambda page: page.stem)
def test_published_figures_in_tables_are_those_of_the_table_that_is_named(page: Path) -> None:
    for name, block in blocks(page):
        *_, source, _ = filter(None, block.splitlines())
        tables = (
            re.findall(r"(?:Table|Section) [\d.]*\d", source)
            if source.startswith(("Published: ", "In parentheses: "))
            else []
        )
        known = [
            value
            for table in tables
            for _, value in printed(PAPERS[page.stem.removeprefix("preset-")], table)
        ]
        for line in (line for line in block.splitlines() if line.startswith("| ")):
            cells = line.strip("| ").split(" | ")
            quoted = [
                hit[1]
                for each in cells[1:]
                if (hit := re.fullmatch(rf"\S+ \(({NUMBER})\).*", each))
            ]
            if "published)" in cells[0]:
                quoted += [each for each in cells[1:] if re.fullmatch(NUMBER, each)]
            wrong = [
                text
                for text in quoted
                if not any(abs(number(text) - value) < 0.051 for value in known)
            ]
            assert not wrong, f"{name}: {wrong} is not in {tables}"


@pytest.mark.parametrize("page", PRESETS, ids=lambda page: page.stem)
def test_a_figure_in_the_text_is_in_a_table_of_the_page_or_quoted(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    tables = {number(each) for _, block in blocks(page) for each in re.findall(NUMBER, block)}
    prose = QUOTED.sub("", " ".join(re.sub(r"(?ms)^```.*?^```", "", BLOCK.sub("", text)).split()))
    prose = re.sub(r"(?:Table|Section) [\d.]+\d|`[^`]*`|Gemini 1\.5|\bcl100k\b", "", prose)
    loose = [each for each in DECIMAL.findall(prose) if number(each) not in tables]
    assert not loose, "in no table of the page, and not quoted"


@pytest.mark.parametrize("page", PRESETS, ids=lambda page: page.stem)
def test_figures_name_the_commit_that_made_them(page: Path) -> None:
    assert re.search(
        r"<!-- figures: stamp -->\n\nFigures of commit [0-9a-f]{10}",
        page.read_text(encoding="utf-8"),
    )


def test_published_checks_are_those_on_the_cards() -> None:
    text = (ROOT / "docs" / "benchmarks" / "published-checks.md").read_text(encoding="utf-8")
    temporal, keywords = text.split("### Keywords")
    known = {"temporal": temporal, "keywords_tf": keywords, "keywords_tfm": keywords}
    for name, entry in DATASETS.all().items():
        for field, part in known.items():
            value = getattr(entry.card.published, field, None)
            row = name + (" T-F-M" if field.endswith("tfm") else "")
            listed = re.search(
                rf"(?m)^\| {re.escape(row)} \|[^|]*\|[^|]*\|[^|]*\| ([\d.]+) \|", part
            )
            missing = re.search(rf"not at hand: .*\b{re.escape(row)} ([\d.]+)[,.]", part)
            assert (found := listed or missing) is not None or value is None, (row, field)
            assert value is None or (found is not None and float(found[1]) == value), (row, field)
