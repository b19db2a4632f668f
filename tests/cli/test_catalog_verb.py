"""`claimlab catalog` as a user meets it: it fits the terminal, its JSON is a contract, its page is
one safe file.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from claimlab.catalog.load import DATASETS
from claimlab.catalog.query import everything
from claimlab.catalog.views.card import card_blocks
from claimlab.catalog.views.overview import report, rounded
from claimlab.cli.app import run
from claimlab.pages.html import to_html
from claimlab.pages.terminal import columns_of, to_text

KEYS = {
    "name", "title", "summary", "size", "modality", "topic", "region", "languages", "language_count", "time_start",
    "time_end", "labelling", "shares", "quality", "published", "licence", "access", "homepage", "citation", "download", "errata",
    "has_evidence", "factchecks", "survey", "loader", "no_loader", "variants", "maps", "real_rows", "real_labels", "differences",
}  # fmt: skip


def out(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    assert run(["catalog", *argv]) == code
    said = capsys.readouterr()
    return said.out if code == 0 else said.err


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_the_list_fits_and_never_cuts_a_name(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = out(capsys).splitlines()
    rows = lines[1 : lines.index("")]
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == DATASETS.names()
    assert max(map(columns_of, rows)) <= width
    assert ("Title" in lines[0]) == (width >= 140)
    for column in ("Size", "K", "T", "F", "Loader"):
        assert column in lines[0]


def test_the_list_says_whose_loader_is_tested(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    rows = {line.split()[0]: line for line in out(capsys).splitlines() if line.strip()}
    assert len(rows) > 70
    for entry in everything():
        expected = "tested" if entry.tested else "not yet" if entry.variants else "none"
        assert rows[entry.card.name].endswith(expected)


def test_json_is_exactly_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    whole = json.loads(out(capsys, "--json"))
    assert set(whole) == {"datasets"}
    assert [d["name"] for d in whole["datasets"]] == DATASETS.names()
    assert all(set(d) == KEYS for d in whole["datasets"])
    liar = next(d for d in whole["datasets"] if d["name"] == "liar")
    assert (liar["size"], liar["languages"], liar["loader"]) == (
        12_836,
        ["eng"],
        "tested on the published files",
    )
    assert liar["maps"] == ["a5", "cdl", "cdl-time"]
    assert liar["quality"] == {"keywords": "pass", "temporal": None, "feasibility": "fail"}
    one = json.loads(out(capsys, "show", "liar", "--json"))
    assert set(one) == KEYS | {"verdict_maps"}
    assert one["verdict_maps"]["a5"]["verdicts"]["half-true"] == "mixed"
    assert {k: v for k, v in one.items() if k != "verdict_maps"} == liar


def test_filters_reach_the_list_and_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("--topic", "covid", "--language", "Portuguese", "--modality", "posts")
    assert "covid19-br" in out(capsys, *argv)
    assert "covid19-br" in {d["name"] for d in json.loads(out(capsys, *argv, "--json"))["datasets"]}
    assert json.loads(
        out(capsys, "--quality", "keywords=pass", "--quality", "keywords=fail", "--json")
    ) == {"datasets": []}
    nothing = out(capsys, "--quality", "keywords=pass", "--quality", "keywords=fail")
    assert re.search(
        r"No dataset matches.*--quality keywords=pass: \d+; --quality keywords=fail: \d+", nothing
    )


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["show", "lair"], "Did you mean 'liar'"),
        (["liar"], "claimlab catalog show liar"),
        (["--modality", "tweet"], "Did you mean 'tweets'"),
        (["--force", "show", "liar"], "Write them after it."),
        (["--from", "soon"], "2020-03-01"),
    ],
)
def test_wrong_usage_is_a_sentence(
    argv: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = out(capsys, *argv, code=2)
    assert sentence in said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", DATASETS.names())
def test_every_card_is_shown_whole(name: str) -> None:
    entry = DATASETS.get(name)
    page = to_text(card_blocks(entry), width=80)
    assert max(map(columns_of, page.splitlines())) <= 80
    flat = " ".join(page.split())
    assert " ".join(entry.card.citation.split()) in flat
    for erratum in entry.card.errata:
        assert " ".join(erratum.split())[:40] in flat
    assert ("not yet tested" in flat) == (bool(entry.variants) and not entry.tested)
    assert entry.no_loader is None or " ".join(entry.no_loader.split())[:30] in flat


def test_a_card_shows_bars_verdicts_and_figures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = out(capsys, "show", "liar")
    assert re.search(r"^true +52\.29%  █{12}▌$", page, re.M)
    assert re.search(r"^Time +not assessed$", page, re.M)
    assert re.search(r"^Feasibility +fail$", page, re.M)
    assert re.search(r"^40 key words, true or false +39\.5 +49\.3$", page, re.M)
    assert re.search(r"^cdl +true +true, mostly-true, barely-true$", page, re.M)
    assert "claimlab load liar" in page


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {k: v or "" for k, v in attrs}
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if tag == "a" else []
        self.loads += [
            v
            for k, v in values.items()
            if k in ("src", "xlink:href") or (tag == "link" and k == "href")
        ]


def test_the_page_is_one_file_with_a_section_per_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out(capsys, "-o", str(tmp_path / "c.html"), "--topic", "climate", "--topic", "health")
    out(capsys, "-o", str(tmp_path / "folder"), "--topic", "climate")
    assert (tmp_path / "folder" / "index.html").is_file()
    page = Page()
    html = (tmp_path / "c.html").read_text(encoding="utf-8")
    page.feed(html)
    assert page.loads == []
    assert {
        f"dataset-{e.card.name}" for e in everything() if e.card.topic in ("Climate", "Health")
    } <= set(page.ids)
    inside = {link[1:] for link in page.links if link.startswith("#")}
    assert inside <= set(page.ids)
    assert html.count("<svg") == 5
    assert 'class="sortable"' in html
    assert "Only those that match: topic=climate, topic=health<" in html
    assert "already exists" in out(capsys, "-o", str(tmp_path / "c.html"), code=1)
    out(capsys, "-o", str(tmp_path / "c.html"), "--force", "--topic", "climate")
    (tmp_path / "mine.html").write_text("<title>Mine</title>", encoding="utf-8")
    assert "is not a page of the catalogue" in out(
        capsys, "-o", str(tmp_path / "mine.html"), "--force", code=1
    )
    assert (tmp_path / "mine.html").read_text(encoding="utf-8") == "<title>Mine</title>"


def test_a_page_of_nothing_is_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out(
        capsys,
        "-o",
        str(tmp_path / "c.html"),
        "--quality",
        "keywords=pass",
        "--quality",
        "keywords=fail",
    )
    assert "<svg" not in (tmp_path / "c.html").read_text(encoding="utf-8")


def test_a_card_from_elsewhere_cannot_bring_script() -> None:
    liar = DATASETS.get("liar")
    card = liar.card.model_copy(
        update={"title": "<script>x</script>", "homepage": "javascript:alert(1)"}
    )
    html = to_html(report([type(liar)(card, liar.maps, liar.variants)]))
    assert "<script>x" not in html
    assert 'href="javascript' not in html


@pytest.mark.parametrize(
    ("size", "shown"),
    [(None, "–"), (0, "0"), (9_999, "9,999"), (10_000, "10.0k"), (301_177, "301k"), (999_999, "1.0M"), (15_465_687, "15.5M")],
)  # fmt: skip
def test_rounded_sizes(size: int | None, shown: str) -> None:
    assert rounded(size) == shown
