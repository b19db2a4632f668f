"""`claimlab catalog` as a user meets it: it fits the terminal, and its JSON is a contract."""

from __future__ import annotations

import json
import re

import pytest

from claimlab.catalog.front import everything
from claimlab.catalog.listing import rounded
from claimlab.catalog.load import DATASETS
from claimlab.catalog.sources import sources_of
from claimlab.catalog.views import card_blocks, heading
from claimlab.cli.app import run
from claimlab.pages.blocks import Report, Section
from claimlab.pages.html import to_html
from claimlab.pages.terminal import columns_of, to_text

KEYS = {
    "name", "title", "summary", "size", "modality", "topic", "region", "languages", "language_count", "time_start",
    "time_end", "labelling", "shares", "quality", "published", "licence", "access", "homepage", "citation", "errata",
    "has_evidence", "available", "factchecks", "task", "family", "survey", "loader", "no_loader", "variants", "maps", "real_rows", "real_labels", "differences", "decay",
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
    for column in ("Size", "K", "T", "F", "Load"):
        assert column in lines[0]


def test_the_list_says_how_each_can_be_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    rows = {line.split()[0]: line for line in out(capsys).splitlines() if line.strip()}
    assert len(rows) > 70
    for entry in everything():
        by_hand = "files" if entry.variants else "no"
        expected = "by name" if sources_of(entry.card.name) is not None else by_hand
        assert rows[entry.card.name].endswith(f" {expected}")
    assert {row.split()[-1] for row in map(rows.get, DATASETS.names()) if row} == {
        *("name", "files", "no"),
    }


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
    argv = ("--topic", "covid", "--language", "Portuguese", "--set", "modality=posts")
    assert "covid19-br" in out(capsys, *argv)
    assert "covid19-br" in {d["name"] for d in json.loads(out(capsys, *argv, "--json"))["datasets"]}
    assert json.loads(
        out(capsys, "--set", "quality=keywords=pass", "--set", "quality=keywords=fail", "--json")
    ) == {"datasets": []}
    nothing = out(capsys, "--set", "quality=keywords=pass", "--set", "quality=keywords=fail")
    assert re.search(
        r"No dataset matches.*--set quality=keywords=pass: \d+; --set quality=keywords=fail: \d+",
        nothing,
    )


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["show", "lair"], "Did you mean 'liar'"),
        (["liar"], "claimlab catalog show liar"),
        (["--set", "modality=tweet"], "Did you mean 'tweets'"),
        (["--topic", "covid", "show", "liar"], "Write them after it."),
        (["--set", "since=soon"], "2020-03-01"),
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


def test_a_card_from_elsewhere_cannot_bring_script() -> None:
    liar = DATASETS.get("liar")
    card = liar.card.model_copy(
        update={"title": "<script>x</script>", "homepage": "javascript:alert(1)"}
    )
    entry = type(liar)(card, liar.maps, liar.variants)
    html = to_html(Report("Card", "", [Section(heading(entry), card_blocks(entry))]))
    assert "<script>x" not in html
    assert 'href="javascript' not in html


@pytest.mark.parametrize(
    ("size", "shown"),
    [(None, "–"), (0, "0"), (9_999, "9,999"), (10_000, "10.0k"), (301_177, "301k"), (999_999, "1.0M"), (15_465_687, "15.5M")],
)  # fmt: skip
def test_rounded_sizes(size: int | None, shown: str) -> None:
    assert rounded(size) == shown
