"""From files to a dataset and a report, on made-up files in many layouts."""

from __future__ import annotations

import csv
import json
import zipfile
from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from claimlab.core.dataset import Dataset
from claimlab.core.errors import (
    DataError,
    OutputExists,
    Question,
    UnknownName,
    UnmappedLabels,
    UnreadableFile,
    UsageError,
)
from claimlab.core.record import meta_column, validate
from claimlab.exchange.export import export
from claimlab.exchange.importer import guess_files, import_files
from claimlab.exchange.importing.make import fast_meta_column
from claimlab.files.layout import ReadOptions

HEADER = ["id", "claim", "rating", "published", "lang", "source", "views"]
MAP = 'name = "mine"\nversion = 3\n[verdicts]\n"0" = "true"\n"1" = "false"\n'


def rows(n: int = 30) -> list[list[str]]:
    return [
        [f"r{i}", f'Claim {i} about the bridge, "as is"', ["true", "false", "mixture"][i % 3], f"2020-01-{i % 28 + 1:02}",
         "pt-BR", f"site{i % 2}.example", str(i)]
        for i in range(n)
    ]  # fmt: skip


def write_csv(path: Path, table: list[list[str]], header: list[str] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header or HEADER, *table])
    return path


def test_a_csv_becomes_records(tmp_path: Path) -> None:
    dataset, report = import_files([write_csv(tmp_path / "Bridge Claims.csv", rows())])
    validate(dataset.records)
    first = dataset.records.row(0, named=True)
    assert dataset.name == "bridge-claims"
    assert first | {"meta": None} == {
        "id": "r0", "dataset": "bridge-claims", "text": 'Claim 0 about the bridge, "as is"', "kind": "claim",
        "label_raw": "true", "veracity": "true", "language": "por", "date": datetime(2020, 1, 1),
        "date_source": "column published", "tweet_id": None, "author": None, "source": "site0.example", "url": None,
        "topic": None, "group": None, "authorship": None, "split": None, "meta": None,
    }  # fmt: skip
    assert json.loads(first["meta"]) == {"views": "0"}
    assert report.labels == {"false": 10, "mixed": 10, "true": 10}
    step = dataset.lineage[0]
    assert step.step == "import"
    assert step.parameters["map"] == "ratings@8"
    assert step.parameters["columns"]["text"] == "claim"
    layout = {
        "format": "CSV",
        "encoding": "utf-8",
        "delimiter": ",",
        "quotes": "double",
        "header": True,
    }
    assert step.parameters["layouts"] == [layout]
    assert list(step.inputs) == ["Bridge Claims.csv"]


def test_every_format_gives_the_same_records(tmp_path: Path) -> None:
    table = rows()
    frame = pl.DataFrame(table, schema=HEADER, orient="row")
    objects = frame.to_dicts()
    write_csv(tmp_path / "a.csv", table)
    frame.write_csv(tmp_path / "a.tsv", separator="\t")
    frame.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(json.dumps(objects), encoding="utf-8")
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, objects)), encoding="utf-16")
    import openpyxl

    book = openpyxl.Workbook()
    assert book.active is not None
    for row in [HEADER, *table]:
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.write(tmp_path / "a.csv", "deep/a.csv")
        archive.writestr("README.md", "about")
    reference = import_files([tmp_path / "a.csv"], name="a")[0].records
    for suffix in ("tsv", "parquet", "json", "jsonl", "xlsx", "zip"):
        dataset, _ = import_files([tmp_path / f"a.{suffix}"], name="a")
        assert dataset.records.equals(reference, null_equal=True), suffix


def test_splits_come_from_file_names(tmp_path: Path) -> None:
    for name in ("train", "valid", "test"):
        write_csv(
            tmp_path / "d" / f"big_{name}.csv",
            [[f"{name}{r[0]}", f"{name}: {r[1]}", *r[2:]] for r in rows(5)],
        )
    dataset, _ = import_files([tmp_path / "d"])
    assert dataset.records["split"].value_counts().sort("split").rows() == [
        ("dev", 5),
        ("test", 5),
        ("train", 5),
    ]
    assert json.loads(dataset.records["meta"][0])["from_file"].startswith("big_"), (
        "which file a row came from stays known"
    )


def test_a_column_of_the_same_name_is_not_taken_for_a_place(tmp_path: Path) -> None:
    for name in ("train", "test"):
        table = [[f"{name}{i}", f"The bridge number {i} is closed", "theirs"] for i in range(4)]
        write_csv(tmp_path / "d" / f"{name}.csv", table, ["id", "text", "from_file"])
    dataset, _ = import_files([tmp_path / "d"])
    assert set(dataset.records["split"]) == {"train", "test"}
    assert json.loads(dataset.records["meta"][0]) == {
        "from_file": "test",
        "from_file (2)": "theirs",
    }


def test_labels_come_from_file_names_or_folders(tmp_path: Path) -> None:
    for name in ("True", "Fake"):
        write_csv(
            tmp_path / "isot" / f"{name}.csv",
            [[f"{name} title {i} of a story"] for i in range(4)],
            ["title"],
        )
    dataset, _ = import_files([tmp_path / "isot"])
    assert dataset.records["veracity"].value_counts().sort("veracity").rows() == [
        ("false", 4),
        ("true", 4),
    ]
    for label in ("fake", "true"):
        for i in range(3):
            path = tmp_path / "texts" / label / f"{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"Um texto {label} número {i}\nem duas linhas.\n", encoding="cp1252")
    dataset, report = import_files([tmp_path / "texts"])
    assert dataset.records["label_raw"].to_list() == ["fake"] * 3 + ["true"] * 3
    assert dataset.records["id"][0] == "fake/0"
    assert dataset.records["text"][0] == "Um texto fake número 0\nem duas linhas."
    assert report.rows_read == 6


def test_headerless_files_and_numbers_for_columns(tmp_path: Path) -> None:
    path = tmp_path / "h.tsv"
    lines = [
        f'{i}.json\t{["true", "false"][i % 2]}\tThe town of Riverton has "no debt, {i}\tbudget'
        for i in range(30)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(Question, match="column_2"):
        import_files([path])
    said = "true=true,false=false"
    dataset, _ = import_files([path], label="2", map=said)
    assert dataset.records.height == 30
    assert dataset.records["text"][0] == 'The town of Riverton has "no debt, 0'
    again, _ = import_files(
        [path],
        text="3",
        label="column_2",
        map=said,
        id="none",
        topic="4",
        options=ReadOptions(header=False),
    )
    assert again.records["id"][0] == "h-000001"
    assert again.records["topic"][0] == "budget"


def test_labels_no_map_knows_are_an_error_with_counts(tmp_path: Path) -> None:
    table = [[*r[:2], str(i % 2), *r[3:]] for i, r in enumerate(rows(9))]
    path = write_csv(tmp_path / "n.csv", table)
    with pytest.raises(UnmappedLabels) as caught:
        import_files([path])
    assert caught.value.counts == {"0": 5, "1": 4}
    mine = tmp_path / "mine.toml"
    mine.write_text(MAP, encoding="utf-8")
    dataset, _ = import_files([path], map=mine)
    assert dataset.records["veracity"].value_counts().sort("veracity").rows() == [
        ("false", 4),
        ("true", 5),
    ]
    assert dataset.lineage[0].parameters["map"] == "mine@3"
    dataset, report = import_files([path], unmapped="unknown")
    assert dataset.records["veracity"].unique().to_list() == ["unknown"]
    assert report.unmapped == {"0": 5, "1": 4}
    dataset, report = import_files([path], label="none")
    assert dataset.records["veracity"].null_count() == 9
    assert any("No labels" in line for line in report.lines())


def test_ids_that_cannot_be_used_are_numbered_and_kept(tmp_path: Path) -> None:
    table = rows(6)
    table[3][0] = table[2][0]
    dataset, report = import_files([write_csv(tmp_path / "d.csv", table)])
    assert dataset.records["id"].to_list() == [f"d-{i:06d}" for i in range(1, 7)]
    assert json.loads(dataset.records["meta"][3])["id"] == "r2"
    assert any("1 is repeated" in note for note in report.notes)


def test_rows_without_text_are_id_only_when_they_can_be_fetched(tmp_path: Path) -> None:
    table = [
        [str(1344795424855642112 + i), "" if i < 3 else f"A tweet about bridge number {i}"]
        for i in range(10)
    ]
    dataset, report = import_files([write_csv(tmp_path / "t.csv", table, ["tweet_id", "text"])])
    assert (report.id_only, report.empty_texts) == (3, 0)
    assert dataset.records["kind"].to_list() == ["id-only"] * 3 + ["post"] * 7
    ids, report = import_files(
        [write_csv(tmp_path / "i.csv", [[r[0]] for r in table], ["tweet_id"])]
    )
    assert ids.records["kind"].unique().to_list() == ["id-only"]
    assert any("100%" in line for line in report.lines())


def test_types_and_nesting_survive_in_meta(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    objects = [
        {"text": f"A claim about bridge {i}", "n": i, "ok": True, "tags": ["a", "b"], "none": None}
        for i in range(3)
    ]
    path.write_text("\n".join(map(json.dumps, objects)), encoding="utf-8")
    dataset, _ = import_files([path], topic="none")
    assert json.loads(dataset.records["meta"][2]) == {"n": 2, "ok": True, "tags": ["a", "b"]}


def test_meta_is_written_as_the_core_writes_it() -> None:
    frame = pl.DataFrame(
        {
            "b": ["x", 'é"\\ \n\t\u0001\x7f/ 😀\u2028', None, None],
            'k"\\é\n': ["1", None, "\x1f\b\f", None],
            "c": [None, None, "}}", None],
        }
    )
    for columns in (frame.columns, ["b"], ["c"], []):
        assert fast_meta_column(frame, columns).equals(meta_column(frame, columns), null_equal=True)


@pytest.mark.parametrize("form", ["csv", "jsonl", "hf", "croissant"])
def test_an_exported_dataset_comes_back_with_its_life(tmp_path: Path, form: str) -> None:
    dataset, _ = import_files([write_csv(tmp_path / "a.csv", rows())], name="a")
    dataset.records = dataset.records.with_columns(
        veracity=pl.lit("unknown"), kind=pl.lit("article")
    )
    dataset.licence, dataset.synthetic = "CC0-1.0", True
    dataset.records = dataset.records.with_columns(
        meta=pl.lit('{"synthetic": {"label": "altered", "origin": "test", "changes": []}}'),
        authorship=pl.lit("MGT"),
    )
    export(dataset, form, tmp_path / "out")
    again, report = import_files([tmp_path / "out"])
    assert again.name == "a"
    assert again.records.equals(dataset.records, null_equal=True)
    assert (again.licence, again.synthetic) == ("CC0-1.0", True), (
        "machine-made text never loses its mark"
    )
    assert [step.step for step in again.lineage] == ["import", "export", "import"]
    assert report.records == 30


def test_a_dataset_needs_no_import(tmp_path: Path) -> None:
    import_files([write_csv(tmp_path / "a.csv", rows())])[0].write(tmp_path / "d")
    with pytest.raises(UsageError, match="a claimlab dataset already"):
        import_files([tmp_path / "d"])


def test_limit_is_said(tmp_path: Path) -> None:
    dataset, report = import_files([write_csv(tmp_path / "a.csv", rows())], limit=10)
    assert dataset.records.height == 10
    assert report.left_by_limit == 20
    assert dataset.lineage[0].parameters["limit"] == 10


def test_files_of_different_layout_are_not_mixed(tmp_path: Path) -> None:
    write_csv(tmp_path / "d" / "claims.csv", rows())
    write_csv(tmp_path / "d" / "tweets.csv", [["1", "2"]] * 4, ["index", "tweet_no"])
    dataset, report = import_files([tmp_path / "d"])
    assert (dataset.records.height, report.ignored_files) == (30, ["tweets.csv"]), (
        "only one table has a text and a label"
    )
    write_csv(
        tmp_path / "d" / "posts.csv",
        [["1", f"{s} (seen)", "false"] for s in SENTENCES],
        ["no", "post", "verdict"],
    )
    with pytest.raises(Question, match=r"3 layouts.*`only='claims.csv'`.*`only='posts.csv'`"):
        import_files([tmp_path / "d"])
    dataset, _ = import_files([tmp_path / "d"], only=["claims*"])
    assert dataset.records.height == 30
    with pytest.raises(DataError, match="No file matches"):
        import_files([tmp_path / "d"], only=["*.xyz"])


def test_what_cannot_be_imported_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no file"):
        import_files([tmp_path / "empty"])
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "notes.docx").write_bytes(b"x")
    with pytest.raises(DataError, match="holds no table and no text"):
        import_files([tmp_path / "docs"])
    with pytest.raises(UnreadableFile, match="no file or folder"):
        import_files([tmp_path / "absent.csv"])
    with pytest.raises(UsageError, match="No file was given"):
        import_files([])
    numbers = write_csv(tmp_path / "n.csv", [["1", "2"]] * 5, ["a", "b"])
    with pytest.raises(UsageError, match="No column looks like the text"):
        import_files([numbers])
    with pytest.raises(UsageError, match="`kind`"):
        import_files([numbers], kind="poem")
    with pytest.raises(UnknownName, match="label map"):
        import_files([numbers], map="nope")


def test_more_than_half_refused_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("id,text,label\n1,a b c,true\n" + "2,short\n" * 5, encoding="utf-8")
    with pytest.raises(UnreadableFile, match="5 of 6 rows"):
        import_files([path])
    only_header = tmp_path / "h.csv"
    only_header.write_text("id,text,label\n", encoding="utf-8")
    with pytest.raises(UnreadableFile, match="no records"):
        import_files([only_header])


def test_the_guess_is_handed_over_before_it_is_used(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", rows())
    seen: list[str] = []
    import_files([path], on_plan=lambda guess: seen.extend(guess.lines()))
    table = "\n".join(seen)
    assert "30 rows" in table
    assert "claim" in table
    assert "kept in meta: views" in table
    guess = guess_files([path])
    assert guess.to_json()["columns"]["label"]["column"] == "rating"


def test_a_guess_shows_no_control_characters(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "a.csv",
        [["1", "\x1b[31mred\x07 and a long enough text of it " * 9]] * 3,
        ["id", "text"],
    )
    lines = guess_files([path]).lines()
    assert not any("\x1b" in line or "\x07" in line for line in lines)
    assert max(map(len, lines)) < 160


def test_the_same_import_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", rows(500))
    for out in ("one", "two"):
        import_files([path])[0].write(tmp_path / out)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes(), file.name
    assert Dataset.open(tmp_path / "one").records.height == 500


SENTENCES = [
    f"The council of Riverton said in {1990 + i} that the old bridge is safe" for i in range(30)
]


def labelled(values: list[str], label: str = "label") -> tuple[list[list[str]], list[str]]:
    return [[text, values[i % len(values)]] for i, text in enumerate(SENTENCES)], ["text", label]


def test_editions_of_the_same_data_are_asked_about(tmp_path: Path) -> None:
    write_csv(tmp_path / "d" / "full.csv", rows())
    write_csv(tmp_path / "d" / "again.csv", rows(20))
    with pytest.raises(
        Question, match=r"20 of the 20 texts of 'again' are in other files too, such as 'full'"
    ):
        import_files(tmp_path / "d")
    assert import_files(tmp_path / "d", only="full.*")[0].records.height == 30
    assert import_files(tmp_path / "d", only="*")[0].records.height == 50


def test_a_test_set_without_labels_goes_with_the_rest(tmp_path: Path) -> None:
    write_csv(tmp_path / "d" / "train.csv", *labelled(["real", "fake"]))
    write_csv(
        tmp_path / "d" / "test.csv",
        [[f"Another claim about bridge {i}"] for i in range(9)],
        ["text"],
    )
    dataset, report = import_files(tmp_path / "d")
    assert (dataset.records.height, report.without_label) == (39, 9)


def test_tables_of_other_things_are_left_out_and_named(tmp_path: Path) -> None:
    write_csv(tmp_path / "d" / "claims.csv", *labelled(["real", "fake"]))
    replies = [[f"Reply {i} to the claim about bridges", str(i), "x"] for i in range(60)]
    write_csv(tmp_path / "d" / "replies.csv", replies, ["text", "reply_to", "user"])
    dataset, report = import_files(tmp_path / "d")
    assert (dataset.records.height, report.labels) == (30, {"false": 15, "true": 15})
    assert report.ignored_files == ["replies.csv"]
    assert any("replies.csv" in line for line in report.lines())


@pytest.mark.parametrize("column", ["class", "target"])
def test_true_in_a_column_that_may_mean_fake_is_asked_about(tmp_path: Path, column: str) -> None:
    path = write_csv(tmp_path / "a.csv", *labelled(["True", "False"], column))
    for given in ({}, {"label": column}):  # naming the column says nothing of its values
        with pytest.raises(Question, match="does not say whether 'True' means a true claim"):
            import_files(path, **given)
    said = import_files(path, map="True=true,False=false")[1]
    assert said.labels == {"false": 15, "true": 15}
    assert import_files(path, map="True=false")[1].labels == {"false": 15, "true": 15}
    turned = tmp_path / "m.toml"
    turned.write_text(
        'name = "m"\n[verdicts]\n"True" = "false"\n"False" = "true"\n', encoding="utf-8"
    )
    dataset, _ = import_files(path, map=turned)
    assert dataset.records.row(0, named=True)["veracity"] == "false"


def test_codes_are_read_where_the_header_says_what_each_means(tmp_path: Path) -> None:
    column = "label (0: real, 1: fake)"
    dataset, _ = import_files(write_csv(tmp_path / "a.csv", *labelled(["1", "0"], column)))
    first = dataset.records.row(0, named=True)
    assert (first["label_raw"], first["veracity"]) == ("1", "false")
    assert dataset.lineage[0].parameters["map"].startswith(f"{column}: ")


@pytest.mark.parametrize("column", ["is_fake", "misinformation", "fakeNews", "is_real"])
@pytest.mark.parametrize("codes", [("1", "0"), ("True", "False"), ("1.0", "0.0"), ("yes", "no")])
def test_what_the_name_of_a_flag_says_is_the_first_answer(
    tmp_path: Path, column: str, codes: tuple[str, str]
) -> None:
    path = write_csv(tmp_path / "a.csv", *labelled(list(codes), column))
    with pytest.raises((Question, UnmappedLabels)) as asked:
        import_files(path)
    answer = asked.value.choices[0]
    dataset, _ = import_files(path, **{answer.argument: answer.value})
    assert dataset["veracity"][0] == ("true" if column == "is_real" else "false")


def test_letters_for_true_and_false_are_read_together_only(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", *labelled(["T", "F", "U"], "label"))
    assert import_files(path)[1].labels == {"false": 10, "true": 10, "unknown": 10}
    path = write_csv(tmp_path / "b.csv", *labelled(["F", "M"], "label"))
    with pytest.raises(UnmappedLabels, match=r"`map='F=true,M=false'`.* or `map='F=false,M=true'`"):
        import_files(path)
    assert import_files(path, map="F=true,M=false")[1].labels == {"false": 15, "true": 15}
    with pytest.raises(DataError, match="Write LABEL=MEANING"):
        import_files(path, map="F=female")


def test_several_label_columns_are_asked_about(tmp_path: Path) -> None:
    table = [
        [text, ["true", "false"][i % 2], ["true", "false"][i % 3 == 0]]
        for i, text in enumerate(SENTENCES)
    ]
    path = write_csv(tmp_path / "a.csv", table, ["text", "label_x", "label_y"])
    with pytest.raises(Question, match="Several columns may be the label: 'label_x', 'label_y'"):
        import_files(path)


def test_cells_with_several_labels_of_one_meaning_are_read(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "a.csv", *labelled(["false; hoax", "true", "['fake', 'false']"], "verdict")
    )
    assert import_files(path)[1].labels == {"false": 20, "true": 10}
    mixed = write_csv(tmp_path / "b.csv", *labelled(["false; true", "true"], "verdict"))
    with pytest.raises(UnmappedLabels):
        import_files(mixed)


def test_a_plan_to_edit_is_written(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "a.csv", *labelled(["0", "1", "real"]))
    lines = tmp_path / "plan.toml"
    with pytest.raises(UnmappedLabels, match="`plan="):
        import_files(path)
    guess_files(path).save(lines)
    text = lines.read_text(encoding="utf-8")
    assert '"0" = ""  # 10 rows, not known: fill it in' in text
    lines.write_text(
        text.replace('"0" = ""', '"0" = "false"').replace('"1" = ""', '"1" = "true"'),
        "utf-8",
    )
    assert import_files(path, plan=lines)[1].labels == {"false": 10, "true": 20}
    assert import_files(path, map=lines)[1].labels == {"false": 10, "true": 20}
    with pytest.raises(OutputExists):
        guess_files(path).save(lines)


def test_labels_are_words_in_file_names(tmp_path: Path) -> None:
    for name in ("ClaimFakeCOVID-19", "ClaimRealCOVID-19"):
        write_csv(
            tmp_path / "d" / f"{name}.csv", [[f"{name}: {text}"] for text in SENTENCES], ["title"]
        )
    dataset, report = import_files(tmp_path / "d")
    assert report.labels == {"false": 30, "true": 30}
    assert set(dataset.records["label_raw"]) == {"fake", "real"}


def test_folders_that_say_the_same_label_of_different_files_are_asked_about(tmp_path: Path) -> None:
    for folder in ("fake", "fake_titles", "real", "real_titles"):
        for i in range(3):
            path = tmp_path / "d" / folder / f"{i}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{folder} text number {i} of the bridge", encoding="utf-8")
    with pytest.raises(Question, match="'fake', 'fake_titles'"):
        import_files(tmp_path / "d")
    assert import_files(tmp_path / "d", only=["fake/*", "real/*"])[1].labels == {
        "false": 3,
        "true": 3,
    }


def test_a_table_is_a_table_whatever_it_is_called(tmp_path: Path) -> None:
    for name in ("one", "two"):
        lines = [
            "id\ttext\tlabel",
            *[f"{name}{i}\t{name}: {text}\treal" for i, text in enumerate(SENTENCES)],
        ]
        (tmp_path / "d").mkdir(exist_ok=True)
        (tmp_path / "d" / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    dataset, _ = import_files(tmp_path / "d")
    assert dataset.records.height == 60
    assert dataset.records["id"][0] == "one0"


def test_a_text_of_a_megabyte_is_not_one_record(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text(
            "A word and another one. " * (60_000 if i else 1), encoding="utf-8"
        )
    with pytest.raises(UnreadableFile, match="2 of 3 rows.*too long for one text"):
        import_files(tmp_path)


def test_a_dataset_without_labels_says_so_first(tmp_path: Path) -> None:
    _, report = import_files(
        write_csv(tmp_path / "a.csv", [[text] for text in SENTENCES], ["text"])
    )
    assert report.lines()[0].endswith("without labels.")


def test_coded_answers_are_offered_as_labels_behind_words(tmp_path: Path) -> None:
    rows = [[text, ("Chile", "Kenya")[i % 2], i % 2 + 1] for i, text in enumerate(SENTENCES * 3)]
    with pytest.raises(Question) as caught:
        import_files(write_csv(tmp_path / "a.csv", rows, ["text", "country", "Q1"]))
    assert [one.value for one in caught.value.choices] == ["country", "Q1", "none"]


def test_the_encoding_is_that_of_the_whole_folder(tmp_path: Path) -> None:
    """Each text alone is too short to tell cp1251 from others."""
    words = [
        "мост",
        "совет",
        "город закрыт",
        "река и мост старые",
        "власти города сообщили о ремонте моста",
    ]
    for i, text in enumerate(words):
        (tmp_path / f"{i}.txt").write_text(text, encoding="cp1251")
    dataset, _ = import_files(tmp_path)
    assert dataset.records["text"].to_list() == words


def test_header_case_does_not_matter_between_files(tmp_path: Path) -> None:
    write_csv(tmp_path / "d" / "train.csv", *labelled(["real", "fake"]))
    write_csv(
        tmp_path / "d" / "test.csv",
        [[f"Another claim about bridge {i}", "real"] for i in range(9)],
        ["TEXT", "Label"],
    )
    _, report = import_files(tmp_path / "d")
    assert report.labels == {"false": 15, "true": 24}


def test_a_table_that_only_links_records_is_asked_about(tmp_path: Path) -> None:
    table = [[str(1344795424855642112 + i // 5), str(1344795424855900000 + i)] for i in range(50)]
    path = write_csv(tmp_path / "replies.csv", table, ["tweet_id", "reply_id"])
    with pytest.raises(Question, match="each value of 'tweet_id' occurs 5.0 times"):
        import_files(path)
    assert import_files(path, tweet_id="tweet_id")[0].records.height == 50


def test_ids_are_taken_from_links_to_posts(tmp_path: Path) -> None:
    table = [[f"https://twitter.com/town/status/{1344795424855642112 + i}"] for i in range(9)]
    dataset, _ = import_files(write_csv(tmp_path / "a.csv", table, ["url"]))
    assert dataset.records["tweet_id"][0] == "1344795424855642112"


def test_a_linked_table_is_joined_by_its_key(tmp_path: Path) -> None:
    write_csv(
        tmp_path / "d" / "articles.csv",
        [[f"n{i}", text] for i, text in enumerate(SENTENCES)],
        ["news_id", "text"],
    )
    reviews = [[f"n{i}", ["true", "false"][i % 2]] for i in range(20)]
    write_csv(tmp_path / "d" / "reviews.csv", reviews, ["News ID", "rating"])
    with pytest.raises(Question, match="2 layouts"):
        import_files(tmp_path / "d", join="none")
    _, found = import_files(tmp_path / "d")
    assert found.labels == {"false": 10, "true": 10}
    assert any("20 of 30 rows have a match. `join='none'`" in note for note in found.notes)
    dataset, report = import_files(tmp_path / "d", join="reviews.csv:news_id")
    assert report.labels == {"false": 10, "true": 10}
    assert dataset.records.height == 30
    assert any("20 of 30 rows have a match" in note for note in report.notes)
    outside, _ = import_files(
        tmp_path / "d" / "articles.csv", join=f"{tmp_path}/d/reviews.csv:news_id=News ID"
    )
    assert outside.records["veracity"].count() == 20
    with pytest.raises(DataError, match="no column 'nope'"):
        import_files(tmp_path / "d", join="reviews.csv:nope")
    write_csv(tmp_path / "d" / "reviews.csv", [*reviews, reviews[0]], ["news_id", "rating"])
    with pytest.raises(DataError, match="1 row repeats a value of 'news_id'"):
        import_files(tmp_path / "d", join="reviews.csv:news_id")


def test_settings_beside_the_tables_are_left_out_and_said(tmp_path: Path) -> None:
    write_csv(tmp_path / "d" / "claims.csv", *labelled(["real", "fake"]))
    (tmp_path / "d" / "a.json").write_text('"no records"', encoding="utf-8")
    _, report = import_files(tmp_path / "d")
    assert (report.labels, report.ignored_files) == ({"false": 15, "true": 15}, ["a.json"])


def test_file_names_are_labels_on_request(tmp_path: Path) -> None:
    for name in ("5g", "other"):
        write_csv(
            tmp_path / "d" / f"{name}.csv", [[f"{name}: {text}"] for text in SENTENCES], ["text"]
        )
    with pytest.raises(Question, match="`label='from_file'` \\('5g', 'other'\\)"):
        import_files(tmp_path / "d")
    with pytest.raises(UnmappedLabels, match="'5g' \\(30\\)"):
        import_files(tmp_path / "d", label="from_file")
