"""A new dataset is one new file: put beside the others, it is listed, shown, loaded and
documented.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ENTRY = '''
from __future__ import annotations

import polars as pl

from claimlab.catalog.card import Card, Shares
from claimlab.catalog.entry import Entry, Loaded
from claimlab.core.labels import LabelMap
from claimlab.files.bundle import Bundle
from claimlab.files.tables import read_delimited


def load(bundle: Bundle) -> Loaded:
    """Rumours of one village, a CSV file."""
    raw = read_delimited(bundle.text(bundle.one("rumours.csv")))
    return Loaded(raw.select(pl.col("what").alias("text"), pl.col("verdict").alias("label_raw")))


DATASET = Entry(
    card=Card(
        name="village-rumours", title="Village Rumours", summary="Rumours of a village that does not exist.",
        size=2, modality=("claims",), topic="Beekeeping", languages=("cym",), shares=Shares(true=50, false=50),
        access="Ask the postmistress.", citation="Nobody (2020), Rumours.",
    ),
    maps={"default": LabelMap("village-rumours/default", {"so": "true", "not so": "false"})},
    variants={"all": load},
)
'''
# A process of its own, since a registry looks for its entries once.
RUN = """
import contextlib, io, json, sys
from claimlab.catalog import datasets
datasets.__path__.append(sys.argv[1])
from claimlab.catalog.views.docs import page
from claimlab.catalog.query import everything
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


def test_it_is_listed_shown_loaded_and_documented(tmp_path: Path) -> None:
    folder = tmp_path / "entries"
    folder.mkdir()
    (folder / "village_rumours.py").write_text(ENTRY, encoding="utf-8")
    (tmp_path / "rumours.csv").write_text(
        "what,verdict\nBees voted.,so\nThe bell swam.,not so\n", encoding="utf-8"
    )
    command = [sys.executable, "-c", RUN, str(folder), json.dumps([LIST, ASKED, SHOW, LOAD, MAP])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
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
