"""A new dataset is one new file: put beside the others, it is listed, shown, loaded and
documented.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from claimlab.catalog.cards import read_entry
from claimlab.core.errors import DataError

BENCH = Path(__file__).parents[2] / "bench"
CARD = """
title = "Village Rumours"
summary = "Rumours of a village that does not exist."
size = 2
modality = ["claims"]
topic = "Beekeeping"
languages = ["cym"]
shares = { true = 50, false = 50 }
access = "Ask the postmistress."
citation = "Nobody (2020), Rumours."

[maps.default.verdicts]
so = "true"
"not so" = "false"

[variants.all]
about = "Rumours of one village, a CSV file."
[variants.all.table]
files = ["rumours.csv"]
text = "what"
label = "verdict"
"""
# A process of its own, since a registry looks for its entries once.
RUN = """
import contextlib, io, json, pathlib, sys
from claimlab.catalog import cards
cards.FOLDERS.append(pathlib.Path(sys.argv[1]))
from manual.datasets import page
from claimlab.catalog.front import everything
from claimlab.cli.app import run

out = {"page": page(everything())}
for command in json.loads(sys.argv[2]):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert run(command.split()) == 0, command
    out[command] = said.getvalue()
print(json.dumps(out))
"""
LIST, ASKED, SHOW = (
    "catalog --json",
    "catalog --topic beekeep --json",
    "catalog show village-rumours",
)
LOAD, MAP = (
    "load village-rumours rumours.csv -o out --json",
    "labels show village-rumours/default --json",
)


@pytest.mark.slow
def test_it_is_listed_shown_loaded_and_documented(tmp_path: Path) -> None:
    folder = tmp_path / "cards"
    folder.mkdir()
    (folder / "village-rumours.toml").write_text(CARD, encoding="utf-8")
    (tmp_path / "rumours.csv").write_text(
        "what,verdict\nBees voted.,so\nThe bell swam.,not so\n", encoding="utf-8"
    )
    command = [sys.executable, "-c", RUN, str(folder), json.dumps([LIST, ASKED, SHOW, LOAD, MAP])]
    paths = {**os.environ, "PYTHONPATH": str(BENCH)}  # the page is written by bench/manual
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, timeout=120, env=paths
    )
    assert done.returncode == 0, done.stderr
    out = json.loads(done.stdout)

    listed = {d["name"]: d for d in json.loads(out[LIST])["datasets"]}
    assert len(listed) > 1
    assert listed["village-rumours"]["loader"] == "not yet tested"
    assert [d["name"] for d in json.loads(out[ASKED])["datasets"]] == ["village-rumours"]
    for said in ("Ask the postmistress.", "Rumours of one village, a CSV file.", "Welsh"):
        assert said in out[SHOW]
    assert json.loads(out[LOAD])["counts"]["veracity"] == {"true": 1, "false": 1}
    assert json.loads(out[MAP])["verdicts"]["so"] == "true"
    assert "## Village Rumours (village-rumours)" in out["page"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("size = 2", 'size = "two"'), "size: Input should be a valid integer"),
        (('title = "Village Rumours"\n', ""), "title: Field required"),
        (("topic =", "topics ="), "topics: Extra inputs are not permitted"),
        (('["cym"]', '["welsh"]'), "languages: Value error, not canonical ISO 639-3: ['welsh']"),
        (('so = "true"', 'so = "yes"'), "maps.default.verdicts.so: Input should be 'true'"),
        (("text =", "texts ="), "variants.all.table.texts: Extra inputs are not permitted"),
        (("[variants.all]", "[variant.all]"), "variant: Extra inputs are not permitted"),
        (("size = 2", "size = "), "is not TOML: Invalid value (at line 4"),
    ],
    ids=lambda change: change if isinstance(change, str) else change[1],
)
def test_a_wrong_card_is_an_error_that_names_file_and_field(
    change: tuple[str, str], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "village-rumours.toml"
    file.write_text(CARD.replace(*change), encoding="utf-8")
    with pytest.raises(DataError, match=r"village-rumours\.toml") as caught:
        read_entry(file)
    assert said in caught.value.problem
