"""The runner: planted defects are found, counts add up, nothing is lost, and the same input gives
the same bytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from parts.planted import Truth, clean_twin, planted

from claimlab.audit.trial import enough_left
from claimlab.clean.front import clean
from claimlab.clean.recipe import parse_recipe
from claimlab.clean.run import Cleaned
from claimlab.clean.steps.decisions import read_decisions
from claimlab.cli.app import run as command
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.core.record import to_records

LONG = "The ferry across the Aldermere sank in the harbour on Tuesday, and nobody in the town noticed until the evening bell."


def records(*rows: dict[str, Any]) -> pl.DataFrame:
    """Records with ids r0, r1, ... unless a row names its own."""
    return to_records(
        pl.DataFrame(
            [{"id": f"r{i}", **row} for i, row in enumerate(rows)], infer_schema_length=None
        )
    )


def reasons(frame: pl.DataFrame) -> dict[str, str]:
    return dict(frame.select("id", "reason").iter_rows())


@pytest.fixture(scope="module")
def done() -> tuple[Dataset, Truth, Cleaned]:
    data, truth = planted()
    return data, truth, clean(data, protect="none")


def left(cleaned: Cleaned, table: str, step: str) -> set[str]:
    rows = cleaned.dataset.tables[table]
    return set(rows.filter(pl.col("step") == step)["id"].to_list())


@pytest.mark.parametrize(
    ("defect", "table", "step"),
    [
        ("wrong-language", "doubtful", "language"),
        ("too-short", "doubtful", "too-short"),
        ("contradicting-near-duplicates", "doubtful", "contradictions"),
    ],
)
def test_planted_defects_are_found_and_nothing_else(
    done: tuple[Dataset, Truth, Cleaned], defect: str, table: str, step: str
) -> None:
    _, truth, cleaned = done
    assert left(cleaned, table, step) == set(truth.records[defect])


def test_planted_copies_and_urls_are_found(done: tuple[Dataset, Truth, Cleaned]) -> None:
    _, truth, cleaned = done
    assert left(cleaned, "dropped", "exact-duplicates") == set(
        truth.records["duplicates-across-splits"][1::2]
    )
    assert set(cleaned.dataset.tables["tags"]["record_id"]) == set(
        truth.records["url-under-both-labels"]
    )


def test_the_clean_twin_loses_nothing() -> None:
    twin = clean_twin()
    cleaned = clean(twin)
    assert cleaned.dataset.records.equals(twin.records)
    assert "dropped" not in cleaned.dataset.tables
    assert "doubtful" not in cleaned.dataset.tables


def test_counts_add_up_and_nothing_is_lost(done: tuple[Dataset, Truth, Cleaned]) -> None:
    data, _, cleaned = done
    tables = cleaned.dataset.tables
    everywhere = pl.concat(
        [cleaned.dataset.records["id"], tables["dropped"]["id"], tables["doubtful"]["id"]]
    )
    assert sorted(everywhere.to_list()) == sorted(data.records["id"].to_list())
    stages = cleaned.stages
    assert (stages["in"] == stages["kept"] + stages["dropped"] + stages["doubtful"]).all()
    assert stages["in"].to_list()[1:] == stages["kept"].to_list()[:-1]
    assert cleaned.total("dropped") == tables["dropped"].height
    assert cleaned.total("doubtful") == tables["doubtful"].height
    assert tables["dropped"]["reason"].null_count() == 0
    counts = cleaned.dataset.lineage[-1].counts
    assert counts["in"] == counts["records"] + counts["dropped"] + counts["doubtful"]
    assert set(tables["annotations"]["record_id"]) <= set(cleaned.dataset.records["id"])


def test_a_run_over_clean_data_changes_nothing(done: tuple[Dataset, Truth, Cleaned]) -> None:
    again = clean(done[2].dataset)
    assert again.dataset.records.equals(done[2].dataset.records)
    assert again.total("dropped") == again.total("doubtful") == again.total("changed") == 0
    assert again.dataset.tables["dropped"].equals(done[2].dataset.tables["dropped"])


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def test_twice_is_the_same_bytes_and_leaves_no_work_behind(tmp_path: Path) -> None:
    planted(size=240)[0].write(tmp_path / "in")
    for name in ("one", "two"):
        clean(tmp_path / "in", output=tmp_path / name)
    assert folder_bytes(tmp_path / "one") == folder_bytes(tmp_path / "two")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "one", "two"]
    clean(tmp_path / "one", output=tmp_path / "three")
    assert (tmp_path / "three" / "records.parquet").read_bytes() == (
        tmp_path / "one" / "records.parquet"
    ).read_bytes()


RECIPE = parse_recipe('[[steps]]\nstep = "contradictions"\n[[steps]]\nstep = "decisions"', "people")


def torn() -> Dataset:
    rows = [
        {"text": LONG, "veracity": "true", "meta": '{"row": 10}'},
        {"text": LONG + " Really.", "veracity": "false", "meta": '{"row": 11}'},
        {
            "text": "Another claim that stands alone in the file.",
            "veracity": "true",
            "meta": '{"row": 12}',
        },
    ]
    return Dataset.build("made-up", records(*rows))


def decide(*rows: tuple[str, str, str | None], key: str = "id") -> pl.DataFrame:
    return pl.DataFrame(rows, schema=[key, "decision", "reason"], orient="row")


def test_a_person_who_keeps_a_record_is_obeyed_by_every_step() -> None:
    cleaned = clean(torn(), RECIPE, decisions=decide(("r0", "keep", "the original")))
    assert cleaned.dataset.records["id"].to_list() == ["r0", "r2"]
    assert reasons(cleaned.dataset.tables["doubtful"]) == {
        "r1": "false, but the near-duplicate r0 is true"
    }
    assert "kept by a person" in cleaned.stages["note"][0]


def test_decisions_relabel_and_remove_with_lineage() -> None:
    only = parse_recipe(
        '[[steps]]\nstep = "decisions"\nonly = ["opinion"]\n[[steps]]\nstep = "decisions"', "p"
    )
    inputs = decide(
        ("10", "relabel false", "fact-check"),
        ("12", "remove", "opinion"),
        ("99", "remove", None),
        key="row",
    )
    cleaned = clean(torn(), only, decisions=inputs)
    assert cleaned.dataset.records["veracity"].to_list() == ["false", "false"]
    assert cleaned.stages["dropped"].to_list() == [1, 0]
    assert reasons(cleaned.dataset.tables["dropped"]) == {"r2": "decided by a person: opinion"}
    (change,) = cleaned.dataset.tables["changes"].to_dicts()
    assert (change["id"], change["step"], change["before"], change["after"]) == (
        "r0",
        "decisions",
        "true",
        "false",
    )
    assert "decisions" in cleaned.dataset.lineage[-1].inputs
    assert any("99" in note for note in cleaned.dataset.notes)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"decisions": decide(("r0", "delete", None))}, "keep, remove, or relabel"),
        ({"decisions": decide(("r0", "relabel maybe", None))}, "keep, remove, or relabel"),
        (
            {"decisions": decide(("r0", "remove", None), ("r0", "keep", None))},
            "different decisions for 1 record",
        ),
        ({"decisions": pl.DataFrame({"x": [1]})}, "It needs 'decision'"),
        ({"claimreviews": pl.DataFrame({"rating": ["True"]})}, "It needs 'rating', and"),
    ],
)
def test_tables_that_cannot_be_used_are_told(inputs: dict[str, pl.DataFrame], said: str) -> None:
    with pytest.raises(ClaimlabError, match=said):
        clean(torn(), RECIPE, **inputs)


def test_a_stage_that_cannot_run_is_listed_with_the_reason() -> None:
    recipe = parse_recipe(
        '[[steps]]\nstep = "fact-checks"\n[[steps]]\nstep = "only-url"\ndatasets = ["other"]', "p"
    )
    stages = clean(torn(), recipe).stages
    assert stages["status"].to_list() == ["not run", "not run"]
    assert "no fact-checks were passed in" in stages["note"][0]
    assert stages["note"][1] == "the recipe names it for other only"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torn().write(tmp_path / "in")
    (tmp_path / "people.csv").write_text(
        "id,decision,reason\nr2,remove,opinion\n", encoding="utf-8"
    )
    args = [
        "clean",
        str(tmp_path / "in"),
        "-o",
        str(tmp_path / "out"),
        "--decisions",
        str(tmp_path / "people.csv"),
    ]
    assert command([*args, "--report", str(tmp_path / "page"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"output", "counts", "lineage", "stages", "statistics", "domains"} <= set(told)
    assert told["counts"] == {**told["counts"], "dropped": 1, "doubtful": 2}
    assert "Stages" in (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert command(args) == 1
    assert "already exists" in capsys.readouterr().err


def test_lists_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["clean", "--show", "recipes"]) == 0
    assert "pt-afc:" in capsys.readouterr().out
    assert command(["clean", "--show", "default"]) == 0
    assert "[[steps]]" in capsys.readouterr().out
    assert command(["clean", "--show", "steps", "--json"]) == 0
    assert {s["step"] for s in json.loads(capsys.readouterr().out)["steps"]} >= {
        "too-short",
        "strip-urls",
    }
    assert command(["clean"]) == 2


def numbered(meta: list[str | None]) -> Dataset:
    """Records in an order that is neither that of their ids nor, where `meta` says it, that of
    their file.
    """
    ids = ["c", "a", "d", "b"]
    records = pl.DataFrame(
        {
            "id": ids, "text": [f"Text {i} of the file." for i in ids], "veracity": ["true"] * 4,
            "meta": pl.Series(meta, dtype=pl.String),
        }
    )  # fmt: skip
    return Dataset.build("numbered", records)


@pytest.mark.parametrize(
    ("meta", "gone", "relabelled"),
    [
        ([None] * 4, ["c", "b"], "a"),  # the rows of the dataset, from 0
        (
            ['{"row": 3}', '{"row": 1}', '{"row": 0}', '{"row": 2}'],
            ["d", "c"],
            "a",
        ),  # those of the published file
        (['{"row": 3}', None, None, None], ["c", "b"], "a"),  # not all have one: then none is used
    ],
)
def test_decisions_by_row_are_about_that_row(
    meta: list[str | None], gone: list[str], relabelled: str
) -> None:
    """First, second and last row, and one that is not there."""
    table = pl.DataFrame(
        {"row": [0, 1, 3, 4], "decision": ["remove", "relabel false", "remove", "remove"]}
    )
    decisions, lost = read_decisions(table, numbered(meta).records)
    assert decisions.filter(decision="remove")["id"].to_list() == gone
    assert decisions.filter(decision="relabel").rows() == [(relabelled, "relabel", "false", None)]
    assert lost == ["4"]
    only = parse_recipe('[[steps]]\nstep = "decisions"', "rows")
    cleaned = clean(numbered(meta), only, decisions=table.head(3)).dataset.records
    assert cleaned["id"].to_list() == [i for i in ("c", "a", "d", "b") if i not in gone]
    assert cleaned.filter(veracity="false")["id"].to_list() == [relabelled]


def test_a_recipe_that_takes_out_most_records_says_which_step_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"text": f"{LONG} {n}", "veracity": ("true", "false")[n % 2]} for n in range(40)]
    Dataset.build("pairs", records(*rows)).write(tmp_path / "pairs")
    assert command(["clean", str(tmp_path / "pairs"), "-o", str(tmp_path / "cleaned")]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "Only 0 of 40 records are kept: 'contradictions' takes out 40." in said
    planted()[0].write(tmp_path / "planted")
    assert command(["clean", str(tmp_path / "planted"), "-o", str(tmp_path / "fewer")]) == 0
    assert "records are kept" not in capsys.readouterr().err


def test_a_stage_says_what_it_takes_from_each_class_where_that_is_uneven() -> None:
    """Of 50 true records 40 are copies of ten; the 50 false ones differ."""
    true = [{"text": f"{LONG} Bell {n % 10}.", "veracity": "true"} for n in range(50)]
    false = [{"text": f"{LONG} Ship {n}.", "veracity": "false"} for n in range(50)]
    recipe = parse_recipe('name = "copies"\n[[steps]]\nstep = "exact-duplicates"\n', "copies")
    cleaned = clean(Dataset.build("x", records(*true, *false)), recipe=recipe)
    assert cleaned.stages["note"][0] == (
        "takes 40 of 50 'true' (80%), 0 of 50 'false' (0%): the shares of the classes change"
    )
    even = [{**row, "veracity": v} for row in true for v in ("true",)] + [
        {"text": f"{LONG} Ship {n % 10}.", "veracity": "false"} for n in range(50)
    ]
    assert clean(Dataset.build("x", records(*even)), recipe=recipe).stages["note"][0] is None


def uneven() -> Dataset:
    """Copies of 12 true claims, and false claims without any."""
    true = [f"Claim {i % 12} of the mayor about the old bridge of the town" for i in range(60)]
    false = [f"The council bought {i} buses for a school in the year {7 * i}" for i in range(60)]
    verdicts = ["true"] * 60 + ["false"] * 60
    rows = [
        {"text": text, "veracity": verdict, "label_raw": verdict, "kind": "claim"}
        for text, verdict in zip([*true, *false], verdicts, strict=True)
    ]
    return Dataset.build("uneven", records(*rows))


def test_one_of_each_cluster_is_kept_with_its_weight() -> None:
    cleaned = clean(uneven())
    weights = dict(cleaned.dataset.tables["weights"].iter_rows())
    assert weights == {f"r{i}": 5 for i in range(12)}
    assert set(weights) <= set(cleaned.dataset.records["id"])
    again = clean(cleaned.dataset)
    assert again.dataset.tables["weights"].height == 12, "cleaning again forgets no weight"


def test_what_a_step_takes_from_each_class_is_said_before_it_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = uneven()
    data.write(tmp_path / "data")
    assert command(["clean", str(tmp_path / "data"), "--dry-run"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "exact-duplicates takes 0 of 60 'false' (0%), 48 of 60 'true' (80%)." in said
    assert "Nothing was written." in said
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    taken = clean(data).taken.filter(step="exact-duplicates").sort("label")
    assert taken.rows() == [("exact-duplicates", "false", 60, 0), ("exact-duplicates", "true", 60, 48)]  # fmt: skip


def test_a_dataset_that_loses_most_of_a_class_is_not_usable_after_cleaning() -> None:
    data = uneven()
    assert not enough_left(data, clean(data).dataset)
    rest = data.records.head(12).vstack(data.records.tail(60))
    assert enough_left(Dataset.build("even", rest), clean(Dataset.build("even", rest)).dataset)
