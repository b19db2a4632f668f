"""What is written for people to open elsewhere: no text of a dataset becomes a link, an image, a
script or a formula in Markdown, SVG or CSV, whichever verb wrote the file.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from claimlab.cli.app import run
from claimlab.review.create import review_create

MARKUP = [
    "[click](javascript:alert(1))", "![pixel](https://evil.example/p.png)", "<svg onload=alert(1)>",
    "<script>alert(1)</script>", "<https://evil.example/auto>", "https://evil.example/bare",
    "www.evil.example", "[a]: https://evil.example", "`code` | cell | # title", "</text><script>x</script>",
    "<foreignObject><img src=x onerror=alert(1)></foreignObject>", "]]><script>x</script>",
]  # fmt: skip
FORMULAS = [
    '=HYPERLINK("https://evil.example","x")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1",
    "＝1+1", " =1+1", "\n=1+1", "'=1+1",
]  # fmt: skip
PAYLOADS = [*MARKUP, *FORMULAS]
STARTERS = "=+-@＝＋－＠"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every verb that writes files for people, over a dataset whose columns are all hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = []
    for i in range(240):
        payload, few = PAYLOADS[i % len(PAYLOADS)], PAYLOADS[i % 11]
        label = "true" if i % 2 else "false"
        text = f"{payload} is said of the {'cats' if i % 2 else 'dogs'} of town {i % 13}"
        more = {"source": few, "author": PAYLOADS[-1 - i % 9], "topic": PAYLOADS[-1 - i % 4]}
        date = f"2020-01-{1 + i % 28:02d}"
        rows.append({"id": str(i), "text": text, "verdict": label, "date": date, **more})
    rows += [{**rows[i], "id": f"{i}-again", "verdict": "true"} for i in range(0, 40, 2)]
    raw = folder / "raw.jsonl"
    raw.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    data, split = str(folder / "data"), str(folder / "split")
    place = {
        name: str(folder / name) for name in ("audit", "cleaned", "clean-report", "run", "other")
    }
    commands = [
        ["import", str(raw), "-o", data, "--name", "<svg onload=alert(1)>"],
        ["audit", data, "-o", place["audit"]],
        ["clean", data, "-o", place["cleaned"], "--report", place["clean-report"]],
        ["overlap", data, place["cleaned"], "-o", str(folder / "overlap")],
        ["split", place["cleaned"], "-o", split, "--by", "random"],
        ["detect", split, "-o", place["run"], "--detector", "tfidf"],
        ["detect", split, "-o", place["other"], "--detector", "stratified"],
        ["defend", place["run"], "--data", split, "-o", str(folder / "defence"), "--set", "draws=200"],
        ["evaluate", place["run"], place["other"], "-o", str(folder / "evaluation"), "--draws", "200"],
        ["publish", "bundle", place["run"], place["other"], "-o", str(folder / "results" / "both.json")],
        ["publish", "board", str(folder / "results"), "-o", str(folder / "board")],
        ["publish", "site", place["audit"], str(folder / "overlap"), str(folder / "board"), "-o", str(folder / "site")],
        *(["export", data, "--to", to, "-o", str(folder / f"to-{to}")] for to in ("csv", "hf", "croissant")),
    ]  # fmt: skip
    (folder / "results").mkdir()
    for words in commands:
        assert run([*words, "--quiet"]) == 0, words
    review = review_create(
        data, folder / "review", sample=len(FORMULAS), per_item=1, people=["ana"]
    )
    for number, item in enumerate(review.queue("ana")):
        key = f"00000000-0000-4000-8000-{number:012d}"
        review.decide("ana", item.id, "true", key=key, comment=FORMULAS[number])
    review.close()
    assert run(["review", "export", str(folder / "review"), "-o", str(folder / "decisions")]) == 0
    return folder


def files(folder: Path, suffix: str) -> Iterator[Path]:
    names = sorted(folder.rglob(f"*{suffix}"))
    assert names, f"no {suffix} was written"
    return iter(names)


@pytest.mark.slow
def test_markdown_holds_no_markup_of_the_data(written: Path) -> None:
    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    for file in files(written, ".md"):
        tokens = list(reader.parse(file.read_text(encoding="utf-8")))
        tokens += [child for token in tokens for child in token.children or ()]
        for token in tokens:
            targets = [str(token.attrs.get(name, "")) for name in ("href", "src")]
            assert not re.search(r"evil\.example|javascript:", " ".join(targets)), (file, token)
            if token.type in ("html_inline", "html_block"):
                assert not re.search(r"alert\(|<script|\son\w+=", token.content), (file, token)


def test_charts_hold_no_script_and_lead_nowhere(written: Path) -> None:
    for file in files(written, ".svg"):
        for node in ElementTree.parse(file).iter():
            assert node.tag.rpartition("}")[2] not in ("script", "foreignObject", "iframe"), file
            for name, value in node.attrib.items():
                assert not name.rpartition("}")[2].lower().startswith("on"), (file, name)
                if name.rpartition("}")[2] == "href":
                    assert value.startswith(("#", "data:image/png")), (file, value)


def starts_a_formula(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell.strip()[:1] in tuple(STARTERS)
    return False


def test_no_cell_starts_a_formula(written: Path) -> None:
    seen = 0
    for file in files(written, ".csv"):
        with file.open(encoding="utf-8-sig", newline="") as handle:
            for row in csv.reader(handle):
                seen += len(row)
                assert not [cell for cell in row if starts_a_formula(cell)], file
    assert seen > 1000
