"""From a study file to its cells."""

from __future__ import annotations

from pathlib import Path

import pytest
from parts.packages import leaf_marked
from parts.planted import planted

from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.study.axes import all_axes, view_of
from claimlab.study.check import study_check
from claimlab.study.file import read_study_file
from claimlab.study.front import study_run
from claimlab.study.new import presets, study_new
from claimlab.study.plan import plan
from claimlab.study.saved import study_table

HEAD = '[datasets.data]\nfolder = "data"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    planted(size=240)[0].write(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(place: Path, text: str, first: str = "") -> Path:
    (place / "study.toml").write_text(first + HEAD + text, encoding="utf-8")
    return place / "study.toml"


def cells(place: Path, text: str, **only: str) -> list[dict[str, object]]:
    return [dict(c.axes) for c in plan(read_study_file(written(place, text)), only)]


GRID = '[grid]\nsplit = ["random", "group"]\ndetector = ["tfidf", "stratified"]\n'


def test_the_grid_is_the_product_of_its_axes_with_the_references(place: Path) -> None:
    found = cells(place, "seeds = [0, 1]\n".join(["", ""]) + GRID)
    assert {c["detector"] for c in found} == {"majority", "length alone", "tfidf", "stratified"}
    assert len(found) == 2 * 4
    assert len(cells(place, GRID + "\n[table]\n", detector="tfidf")) == 2


def test_exceptions_leave_out_what_they_match(place: Path) -> None:
    found = cells(
        place, GRID + '[[except]]\nsplit = "random"\ndetector = ["tfidf", "stratified"]\n'
    )
    left = {(c["split"], c["detector"]) for c in found if c["detector"] in ("tfidf", "stratified")}
    assert left == {("group", "tfidf"), ("group", "stratified")}


def test_equal_steps_are_one_and_a_changed_option_makes_another(place: Path) -> None:
    nodes = [c.node for c in plan(read_study_file(written(place, GRID)))]
    assert len({n.before[0].key for n in nodes}) == 2
    more = GRID + "[split.random]\nshares = '80/20'\n"
    changed = [c.node for c in plan(read_study_file(written(place, more)))]
    assert len({n.key for n in nodes} & {n.key for n in changed}) == 4, (
        "runs on the other split stay"
    )


def test_an_axis_can_be_any_option_of_a_step(place: Path) -> None:
    found = cells(
        place,
        '[grid]\nsplit = ["random"]\n"split.shares" = ["70/10/20", "80/20"]\ndetector = ["tfidf"]\n',
    )
    assert {c["split.shares"] for c in found} == {"70/10/20", "80/20"}


@pytest.mark.leaf
def test_a_dataset_may_be_what_steps_make_of_another(place: Path) -> None:
    text = (
        '[datasets.noised]\nof = "data"\nevolve = "noise"\nstage = "evolved"\n'
        '[datasets.both]\nmerge = ["data", "noised"]\n'
        '[evolve.noise]\nkind = "natural"\nsteps = 2\n'
        '[grid]\ndataset = ["both"]\ndetector = ["tfidf"]\n'
    )
    verbs = [
        [node.verb for node in cell.node.chain()]
        for sample in ("", "sample = 40\n")
        for cell in plan(read_study_file(written(place, text, sample)))[:1]
    ]
    assert verbs == [
        ["folder", "folder", "evolve", "stage", "merge", "detect"],
        ["folder", "sample", "folder", "sample", "evolve", "stage", "merge", "detect"],
    ]
    for wrong in ('of = "noised"', 'of = "data"\nshow = "x"'):
        with pytest.raises(UsageError):
            plan(read_study_file(written(place, text.replace('of = "data"', wrong, 1))))


def test_a_changed_input_file_is_noticed(place: Path) -> None:
    (place / "rows.csv").write_text("text,verdict\na b c,true\n", encoding="utf-8")
    text = '[datasets.rows]\nimport = "rows.csv"\n[grid]\ndataset = ["rows"]\nsplit = ["random"]\ndetector = ["tfidf"]\n'
    before = plan(read_study_file(written(place, text)))[0].node.key
    (place / "rows.csv").write_text("text,verdict\na b c,false\n", encoding="utf-8")
    assert plan(read_study_file(place / "study.toml"))[0].node.key != before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[grid]\ndetektor = ["tfidf"]\n', "'detektor' is not an axis"),
        ('[grid]\nsplit = ["random"]\n', "names no detector"),
        ("[grid]\ndetector = []\n", "has no values"),
        ('[grid]\ndetector = ["tfidf"]\n[[except]]\ncolour = "red"\n', "names 'colour'"),
        (
            '[grid]\ndetector = ["tfidf"]\n[split.random]\nshare = "80/20"\n[grid2]\n',
            "wrong fields",
        ),
        (
            '[grid]\nsplit = ["random"]\ndetector = ["tfidf"]\n[split.random]\nshare = "8"\n',
            "'share' is not an option",
        ),
        ('[grid]\ndataset = ["other"]\ndetector = ["tfidf"]\n', "'other', which has no table"),
        (
            '[datasets.two]\nfolder = "data"\nload = "liar"\n[grid]\ndetector = ["tfidf"]\n',
            "in one way",
        ),
        ('[datasets.two]\nimport = "no.csv"\n[grid]\ndetector = ["tfidf"]\n', "no file 'no.csv'"),
    ],
)
def test_a_wrong_file_is_a_sentence(place: Path, text: str, words: str) -> None:
    with pytest.raises(ClaimlabError, match=words):
        plan(read_study_file(written(place, text)))


def test_check_names_everything_that_is_missing_at_once(place: Path) -> None:
    text = '[datasets.two]\nimport = "no.csv"\n[grid]\ndetector = ["tfidf", "crystal-ball"]\n'
    found, problems, _ = study_check(written(place, text))
    assert found == []
    assert [("no.csv" in p, "crystal-ball" in p) for p in problems] == [
        (True, False),
        (False, True),
    ]
    assert study_check(written(place, GRID))[1] == []


@pytest.mark.parametrize("preset", leaf_marked(sorted(presets())))
def test_every_preset_reads_and_is_never_written_over_a_file(preset: str, tmp_path: Path) -> None:
    file = study_new(tmp_path / "study.toml", preset)
    assert all_axes(read_study_file(file))["detector"]
    with pytest.raises(ClaimlabError, match="exists"):
        study_new(file, preset)


def test_the_table_shows_the_split_or_the_first_axis_with_several_values(place: Path) -> None:
    def columns(text: str) -> str:
        return view_of(read_study_file(written(place, text))).columns

    assert columns(GRID) == "split"
    assert columns('[grid]\ndetector = ["tfidf"]\n') == "dataset"
    assert columns('[grid]\ndetector = ["tfidf"]\nclean = ["none", "default"]\n') == "clean"


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ('rows = "model"', "`rows` is 'model', which is not an axis"),
        ('columns = "seed"', "`columns` is 'seed', which is not an axis"),
        ('columns = "detector"', "rows and columns are both 'detector'"),
    ],
)
def test_a_table_over_what_is_not_an_axis_is_refused_before_anything_is_run(
    place: Path, table: str, why: str
) -> None:
    _, problems, _ = study_check(written(place, f"{GRID}[table]\n{table}\n"))
    assert [why in problem for problem in problems] == [True]


PARTS = """
[[part]]
name = "one"
[part.grid]
split = ["random", "group"]
detector = ["tfidf"]
[[part]]
name = "two"
[part.grid]
split = ["random"]
train = ["short", "all"]
task = ["veracity"]
detector = ["tfidf"]
[part.table]
rows = "train"
columns = "detector"
[train.short]
topic = ["health", "null"]
[train.all]
"""


def test_a_study_may_have_several_grids_that_share_their_steps(place: Path) -> None:
    planned = plan(read_study_file(written(place, PARTS)), {"detector": "tfidf"})
    axes = [
        {a: v for a, v in c.axes.items() if v != "none" and a not in ("dataset", "seed")}
        for c in planned
    ]
    assert axes[:2] == [
        {"part": "one", "split": "random", "detector": "tfidf"},
        {"part": "one", "split": "group", "detector": "tfidf"},
    ]
    assert [a.get("train") for a in axes] == [None, None, "short", "all"]
    assert all(list(c.axes) == list(planned[0].axes) for c in planned), (
        "tables need the same axes everywhere"
    )
    options = [c.node.before[0].options for c in planned]
    assert [o.get("train_where") for o in options] == [
        None,
        None,
        {"topic": ["health", "null"]},
        {},
    ]
    assert options[2]["task"] == "veracity", "a split is even by the classes of the task"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (PARTS + GRID, "several as"),
        (PARTS.replace('"two"', '"one"'), "Two parts are called 'one'"),
        (PARTS.replace("[train.all]", "[train.any]"), "train.all"),
    ],
)
def test_wrong_parts_are_a_sentence(place: Path, text: str, words: str) -> None:
    with pytest.raises(ClaimlabError, match=words):
        plan(read_study_file(written(place, text)))


def test_each_part_has_a_table_of_its_own(place: Path) -> None:
    written(place, PARTS)
    study_run("study.toml", "out", only={"detector": "majority"})
    tables = study_table("out")
    assert [list(t.columns) for t in tables] == [
        ["detector", "random", "group"],
        ["train", "majority"],
    ]
    assert [t.caption.split(". ")[1].split(",")[0] for t in tables] == ["one", "two"]
