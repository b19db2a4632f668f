"""Tables of single steps: side tables, counts and findings, with published figures in
parentheses.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.study.check import study_check
from claimlab.study.exhibits import exhibits
from claimlab.study.file import read_study_file
from claimlab.study.front import study_run
from claimlab.study.page import failures
from claimlab.study.plan import plan
from claimlab.study.run import Grid
from claimlab.study.sample import sample
from claimlab.study.score import entries

STUDY = """
data = "files"
[datasets.data]
folder = "data"
[datasets.rows]
import = "{data}/rows.csv"
[datasets.absent]
folder = "nowhere"
optional = true
[grid]
dataset = ["data"]
split = ["random"]
detector = ["stratified"]
[clean.tidy]
recipe = "tidy.toml"
[audit.words]
checks = ["keywords"]
[audit."as published"]
checks = ["keywords"]
protocol = "cdl"
[[show]]
title = "Stages"
step = "clean"
values = ["tidy"]
datasets = ["data", "rows"]
table = "stages"
columns = ["step", "dropped"]
source = "us"
published = [{ dataset = "rows", step = "exact-duplicates", dropped = 7 }, { dataset = "rows", step = "prayer", dropped = 3 }]
[[show]]
title = "Counts"
step = "clean"
values = ["tidy"]
datasets = ["rows", "absent"]
counts = [
    { name = "copies", table = "dropped", where = { step = ["exact-duplicates", "language"] }, published = { rows = 2 } },
    { name = "left", table = "records" },
    { name = "of a column that is not there", table = "records", where = { prayer = "yes" } },
]
[[show]]
title = "Beside each other"
step = "audit"
values = ["words", "as published"]
datasets = ["data", "absent"]
columns = ["score", "verdict"]
across = true
[[show]]
title = "Keywords"
step = "audit"
values = ["words"]
datasets = ["data"]
columns = ["check", "score", "n"]
published = [{ check = "keywords", score = 60.9 }]
"""

RECIPE = """
name = "tidy"
version = 1
[[steps]]
step = "decisions"
[[steps]]
step = "exact-duplicates"
"""


def fill(place: Path) -> None:
    planted(size=240)[0].write(place / "data")
    (place / "files").mkdir()
    rows = (
        planted(size=120, seed=5)[0]
        .records.unique("text", maintain_order=True)
        .head(8)
        .select("text", "veracity")
    )
    copied = pl.concat([rows, rows.head(1)]).rename({"veracity": "verdict"})
    copied.write_csv(place / "files" / "rows.csv")
    (place / "tidy.toml").write_text(RECIPE, encoding="utf-8")
    (place / "study.toml").write_text(STUDY, encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Grid:
    """The study above, run once for the tests that only look at it."""
    place = tmp_path_factory.mktemp("exhibit")
    fill(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        done = study_run("study.toml", "out")
    done.output = place / "out"
    return done


def texts(table: object) -> list[list[str]]:
    return [[str(getattr(value, "text", value)) for value in row] for row in table.rows]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_side_table_is_shown_for_each_dataset_with_what_was_published(grid: Grid) -> None:
    stages = texts(dict(grid.tables)["Stages"])
    (copies,) = [row for row in stages if row[:2] == ["rows", "exact-duplicates"]]
    assert copies[2] == "1 (7)"
    assert stages[-1] == ["rows", "prayer", "– (3)"], "what only others report is not left out"
    assert any(row[0] == "data" for row in stages)
    assert "Stages" in (grid.output / "report" / "index.html").read_text(encoding="utf-8")


def test_rows_of_a_side_table_are_counted_and_a_dataset_that_is_not_there_says_why(
    grid: Grid,
) -> None:
    assert texts(dict(grid.tables)["Counts"]) == [
        ["copies", "1 (2)", "failed"],
        ["left", "8", "failed"],
        ["of a column that is not there", "failed", "failed"],
    ]
    absent = [e for e in grid.shown if e.axes["dataset"] == "absent"]
    assert all("nowhere" in str(grid.why(e.node)) for e in absent)


def test_the_findings_of_an_audit_are_shown_as_the_audit_has_them(grid: Grid) -> None:
    rows = texts(dict(grid.tables)["Keywords"])
    findings = cl.audit(grid.output.parent / "data", checks=["keywords"]).findings
    assert [row[0] for row in rows] == ["data"] * len(findings)
    row = next(row for row in rows if row[1] == "keywords")
    assert findings[0].score is not None
    assert row == ["data", "keywords", f"{100 * findings[0].score:.1f} (60.9)", f"{findings[0].n}"]


def test_variants_of_a_step_are_columns_beside_each_other(grid: Grid) -> None:
    table = dict(grid.tables)["Beside each other"]
    assert list(table.columns) == ["dataset", "words", "as published"]
    fair, published = (
        cl.audit(grid.output.parent / "data", checks=["keywords"], protocol=name).findings[0]
        for name in ("fair", "cdl")
    )
    assert fair.score is not None
    assert published.score is not None
    cells = [
        f"{100 * finding.score:.1f} {finding.verdict}"
        for finding in (fair, published)
        if finding.score
    ]
    assert texts(table) == [["data", *cells], ["absent", "failed", "failed"]]


def test_only_what_belongs_to_the_choice_is_shown(place: Path) -> None:
    study = read_study_file("study.toml")

    def shown(**only: str) -> list[tuple[str, str]]:
        return [(e.show.title, e.axes["dataset"]) for e in exhibits(study, only)]

    assert len(shown()) == 9
    assert shown(seed="0") == shown(), "steps are shown of the first seed"
    assert shown(seed="1") == shown(detector="stratified") == shown(part="one") == []
    assert shown(dataset="rows") == [("Stages", "rows"), ("Counts", "rows")]
    assert shown(clean="tidy", dataset="data") == [("Stages", "data")]
    beside = ("Beside each other", "data")
    assert shown(clean="none", dataset="data") == [beside, beside, ("Keywords", "data")]


def test_cells_of_a_dataset_that_may_be_absent_are_left_out_in_one_sentence(place: Path) -> None:
    text = STUDY.replace('dataset = ["data"]', 'dataset = ["data", "absent"]').split("[[show]]")[0]
    (place / "study.toml").write_text(text, encoding="utf-8")
    cells, problems, lines = study_check("study.toml")
    assert ({c.axes["dataset"] for c in cells}, problems) == ({"data"}, [])
    grid = study_run("study.toml", "out")
    assert {entry.axes["dataset"] for entry in grid.entries} == {"data"}
    assert (grid.broken, len(grid.done)) == ([], len(grid.cells))
    (line,) = failures(grid, grid.entries)
    assert line.startswith("3 cells of the optional dataset 'absent' left out: ")
    assert line == lines[0]
    assert line in (grid.output / "report" / "report.md").read_text(encoding="utf-8")
    with pytest.raises(ClaimlabError, match="No dataset of these cells is at hand. 3 cells"):
        study_run("study.toml", "other", only={"dataset": "absent"})


def test_many_settings_with_one_reason_are_counted_by_what_they_share(place: Path) -> None:
    text = STUDY.split("[[show]]")[0].replace(
        '["random"]\ndetector', '["random", "group", "time", "source"]\ndetector'
    )
    (place / "study.toml").write_text(text, encoding="utf-8")
    grid = Grid(place, read_study_file("study.toml"), plan(read_study_file("study.toml")))
    grid.failed = {cell.node.key: "It rained." for cell in grid.cells}
    by_detector = failures(grid, [entry for entry in entries(grid) if entry.has(MODEL)])
    assert by_detector == ["4 settings, dataset data, detector stratified: It rained."]
    (few, *_) = failures(grid, [entry for entry in entries(grid) if entry.has({"split": "time"})])
    assert few == "dataset data, split time, detector majority: It rained."


MODEL = {"detector": "stratified"}
RETRIEVERS = """
[datasets.checks]
folder = "data"
[datasets.asked]
folder = "asked"
[grid]
dataset = ["checks"]
split = ["random"]
detector = ["stratified"]
[match.ten]
archive = "{checks}"
words = true
[match.one]
archive = "{checks}"
words = true
best = 1
[[show]]
title = "Retrievers"
step = "match"
values = ["ten", "one"]
datasets = ["asked"]
columns = ["figure", "score", "low", "high"]
"""


def test_retrievers_are_compared_on_the_claims_of_a_dataset(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAIMLAB_CACHE", str(place / "cache"))
    rows = Dataset.open(place / "data").records.head(40)
    texts_asked = rows["text"].str.split(" ").list.head(6).list.join(" ")
    asked = pl.DataFrame({"id": [f"q{i}" for i in range(40)], "text": texts_asked})
    answers = {"record_id": asked["id"], "document": rows["id"], "relevance": [1] * 40}
    Dataset.build("asked", asked, {"qrels": pl.DataFrame(answers)}).write(place / "asked")
    (place / "study.toml").write_text(RETRIEVERS, encoding="utf-8")
    assert study_check("study.toml")[1] == []
    shown = texts(dict(study_run("study.toml", "out").tables)["Retrievers"])
    ours: dict[str, list[str]] = {}
    for _, retriever, figure, score, low, high in shown:
        ours.setdefault(retriever, []).append(f"{figure} {score} {low} {high}")
    for name, best in (("ten", 10), ("one", 1)):
        found = cl.match("asked", archive=place / "data", words=True, best=best).scores
        figures = {figure: one for figure, one in found.items() if figure != "queries"}
        assert ours[name] == [
            " ".join([figure, *(f"{100 * n:.1f}" for n in (one["value"], *one["interval"]))])
            for figure, one in figures.items()
        ]
    assert ours["ten"] != ours["one"]


def test_the_tables_need_no_steps_once_they_are_written(grid: Grid) -> None:
    printed = [t for t in cl.study_table(grid.output) if t.caption.startswith("Stages")]
    assert texts(printed[0]) == texts(dict(grid.tables)["Stages"])
    assert [
        t for t in cl.study_table(grid.output, rows="detector") if t.caption.startswith("Stages")
    ] == []


@pytest.mark.usefixtures("place")
def test_only_one_dataset_leaves_out_the_tables_of_others() -> None:
    of_one = exhibits(read_study_file("study.toml"), {"dataset": "rows"})
    assert [e.axes["dataset"] for e in of_one] == ["rows", "rows"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('step = "audit"', 'step = "prayer"'), "prayer"),
        (('datasets = ["data"]', 'datasets = ["dada"]'), "dada"),
    ],
)
def test_a_table_of_something_unknown_is_a_sentence(
    place: Path, change: tuple[str, str], words: str
) -> None:
    (place / "study.toml").write_text(STUDY.replace(*change), encoding="utf-8")
    with pytest.raises(ClaimlabError, match=words):
        study_run("study.toml", "out")


def test_a_file_that_an_option_names_belongs_to_the_step(place: Path) -> None:
    (place / "decided.csv").write_text("row,decision,reason\n0,remove,odd\n", encoding="utf-8")
    text = STUDY.replace(
        'recipe = "tidy.toml"',
        'recipe = "tidy.toml"\n[clean.tidy.for.rows]\ndecisions = "decided.csv"',
    )
    (place / "study.toml").write_text(text, encoding="utf-8")
    first = {e.axes["dataset"]: e.node.key for e in exhibits(read_study_file("study.toml"), {})}
    (place / "decided.csv").write_text("row,decision,reason\n1,remove,odd\n", encoding="utf-8")
    second = {e.axes["dataset"]: e.node.key for e in exhibits(read_study_file("study.toml"), {})}
    assert first["rows"] != second["rows"]
    assert first["data"] == second["data"], "the options of one dataset are not those of another"


@pytest.mark.slow
def test_a_dataset_can_be_named_in_an_option(place: Path) -> None:
    text = STUDY.replace(
        "[clean.tidy]", '[enrich.own]\nprovider = "local:{rows}"\nextract = "none"\n[clean.tidy]'
    )
    text = text.replace('split = ["random"]', 'enrich = ["own"]\nsplit = ["random"]')
    (place / "study.toml").write_text(text, encoding="utf-8")
    assert study_check("study.toml")[1] == []
    grid = study_run("study.toml", "out", only={"detector": "stratified"})
    assert [grid.reason(cell) for cell in grid.cells] == [None]
    run = cl.Dataset.open(grid.folder(grid.cells[0]))
    assert run.lineage[-3].step == "enrich"


def test_a_sample_of_a_few_large_groups_has_several_of_them() -> None:
    rows = pl.DataFrame(
        [
            {
                "id": f"r{i}",
                "text": f"Speech {i % 12}, line {i}.",
                "group": f"g{i % 12}",
                "veracity": ("true", "false")[i % 2],
            }
            for i in range(1_200)
        ]
    )
    part = sample(cl.Dataset.build("speeches", rows), 200)
    sizes = part.records["group"].value_counts()["count"]
    assert (len(part), sizes.len(), sizes.max()) == (200, 10, 20)
    split = cl.split(part, by="group").dataset.records
    assert split.group_by("group").agg(pl.col("split").n_unique())["split"].max() == 1
    assert {"train", "test"} <= set(split["split"])


def test_every_part_of_a_merged_dataset_is_in_a_sample(place: Path) -> None:
    """One part has 3 groups, the other 300: drawn together, the few would be missed."""
    rows = [
        {
            "id": f"a{i}",
            "text": f"Line {i}.",
            "group": f"g{i % 3}",
            "veracity": ("true", "false")[i % 2],
        }
        for i in range(90)
    ]
    more = [
        {
            "id": f"b{i}",
            "text": f"Note {i}.",
            "group": f"n{i}",
            "veracity": ("true", "false")[i % 2],
        }
        for i in range(300)
    ]
    for name, table in (("few", rows), ("many", more)):
        cl.Dataset.build(name, pl.DataFrame(table)).write(place / name)
    text = 'sample = 30\n[datasets.few]\nfolder = "few"\n[datasets.many]\nfolder = "many"\n'
    text += '[datasets.both]\nmerge = ["few", "many"]\n[grid]\ndataset = ["both"]\ndetector = ["tfidf"]\nsplit = ["random"]\n'
    text += '[train.all]\n[test.few]\n"meta.merged_from" = ["few"]\n'
    (place / "study.toml").write_text(
        text.replace(
            'split = ["random"]\n', 'split = ["random"]\ntrain = ["all"]\ntest = ["few"]\n'
        ),
        encoding="utf-8",
    )
    grid = study_run("study.toml", "out")
    assert [grid.reason(cell) for cell in grid.cells] == [None] * 3
    assert {e.records for e in grid.entries} != {0}


def test_a_sample_keeps_groups_whole_and_is_the_same_every_time(place: Path) -> None:
    whole = cl.Dataset.open("data")
    part = sample("data", 110, output="part")  # no group is larger than 11
    assert 110 <= len(part) < len(whole)
    again = sample("data", 110)
    assert part.records.equals(again.records)
    groups = whole.records.filter(
        pl.col("group").is_in(part.records["group"].drop_nulls().unique().to_list())
    )
    assert groups.height == part.records["group"].is_not_null().sum()
    assert sample("data", 10_000).records.equals(whole.records)
    (place / "study.toml").write_text("sample = 110\n" + STUDY, encoding="utf-8")
    node = plan(read_study_file("study.toml"))[0].node
    assert [each.verb for each in node.chain()] == ["folder", "sample", "split", "detect"]
