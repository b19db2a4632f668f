"""What labels mean: several in one cell, codes by the words that they go with, unknown words."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from claimlab.core.errors import Question, UnknownName, UnmappedLabels, UnreadableFile
from claimlab.core.labels import fold, general
from claimlab.exchange.importer import guess_files, import_files
from claimlab.exchange.importing.meanings import nearest
from claimlab.tasks import open_task

N = 60
TEXTS = [
    f"The council of Riverton said in {1960 + i} that the old bridge is safe" for i in range(N)
]


def write(path: Path, header: list[str], rows: list[list[str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def labelled(path: Path, labels: list[str]) -> Path:
    return write(
        path, ["text", "label"], [[t, labels[i % len(labels)]] for i, t in enumerate(TEXTS)]
    )


def test_of_several_labels_in_a_cell_one_is_the_veracity(tmp_path: Path) -> None:
    cells = ["fake,hate", "real", "hate,offensive", "fake", "real,offensive", "hate"]
    dataset, report = import_files(labelled(tmp_path / "a.csv", cells))
    assert report.labels == {"false": 20, "true": 20}
    assert report.without_label == 20
    meta = [json.loads(cell or "{}") for cell in dataset.records["meta"]]
    assert [one.get("tags") for one in meta[:4]] == [["hate"], None, ["hate", "offensive"], None]
    assert dataset.records["label_raw"][0] == "fake,hate"


def test_cells_of_several_labels_are_found_by_their_parts(tmp_path: Path) -> None:
    """The name of the column says nothing."""
    cells = ["fake", "real", "fake,hate", "real,offensive", "fake,hate,offensive"]
    rows = [[text, cells[i % len(cells)]] for i, text in enumerate(TEXTS)]
    _, report = import_files(write(tmp_path / "a.csv", ["tweet", "tagged as"], rows))
    assert report.labels == {"false": 36, "true": 24}


REASONS = ["The video is from 2015.", "There is no such study.", "It was staged"]


@pytest.mark.parametrize(
    ("false", "true"), [("Falsch", "Richtig"), ("FALSO", "VERDADEIRO"), ("Fake", "Real")]
)
@pytest.mark.parametrize("mark", [". ", ": ", " - ", " – "])
def test_a_verdict_with_its_reason_is_read_by_what_it_begins_with(
    false: str, true: str, mark: str, tmp_path: Path
) -> None:
    cells = [f"{(false, true)[i % 2]}{mark}{REASONS[i % 3]} ({i})" for i in range(N)]
    dataset, report = import_files(labelled(tmp_path / "a.csv", cells))
    assert dataset.records["veracity"].to_list() == ["false", "true"] * (N // 2)
    assert any("verdicts with reasons" in line for line in report.lines())
    assert set(dataset.records["label_raw"]) == {false, true}
    assert [json.loads(meta)["label"] for meta in dataset.records["meta"]] == cells


@pytest.mark.parametrize("more", [[], ["rating"]])
def test_headlines_that_begin_with_a_verdict_stay_texts(more: list[str], tmp_path: Path) -> None:
    words = ["FALSE", "TRUE"]
    rows = [
        [f"{words[i % 2]}: {text}", words[i % 2]][: 1 + len(more)] for i, text in enumerate(TEXTS)
    ]
    path = write(tmp_path / "a.csv", ["title", *more], rows)
    dataset, report = import_files(path)
    assert dataset.records["text"].to_list() == [row[0] for row in rows]
    assert report.without_label == (0 if more else N)


def test_a_headline_is_not_offered_as_the_label(tmp_path: Path) -> None:
    words = [("FALSE", "TRUE")[i % 2] for i in range(N)]
    rows = [[text, f"{word}: {text}", word] for text, word in zip(TEXTS, words, strict=True)]
    path = write(tmp_path / "a.csv", ["claim", "title", "code"], rows)
    with pytest.raises(Question, match="label='code'") as caught:
        import_files(path)
    assert "title" not in str(caught.value)


def test_a_few_verdicts_with_a_remark_are_asked_about(tmp_path: Path) -> None:
    cells = ["True - but old", "False - staged", "True. Taken out of context", "False"]
    with pytest.raises(UnmappedLabels, match="Taken out of context"):
        import_files(labelled(tmp_path / "a.csv", cells))


def test_sentences_that_only_sometimes_begin_with_a_verdict_are_no_labels(tmp_path: Path) -> None:
    cells = [f"{('True', 'False', 'Then')[i % 3]}. It was seen in town {i}" for i in range(N)]
    _, report = import_files(labelled(tmp_path / "a.csv", cells))
    assert report.without_label == N


def test_true_for_a_rumour_is_not_read_as_a_true_claim(tmp_path: Path) -> None:
    rows = [[text, ("true", "false")[i % 2]] for i, text in enumerate(TEXTS)]
    with pytest.raises(Question, match="'is_rumor'.*does not say whether"):
        import_files(write(tmp_path / "a.csv", ["post", "is_rumor"], rows))


def test_a_remark_after_a_verdict_is_not_left_out(tmp_path: Path) -> None:
    path = labelled(tmp_path / "a.csv", ["true, in a way that nobody meant", "false"])
    with pytest.raises(UnmappedLabels, match="in a way that nobody meant"):
        import_files(path)


@pytest.mark.parametrize("where", ["ids", "files", "column"])
def test_codes_mean_what_the_words_beside_them_say(tmp_path: Path, where: str) -> None:
    rows = [[f"{('fake', 'real')[i % 2]}_{i}", text, str(i % 2)] for i, text in enumerate(TEXTS)]
    header = ["id", "text", "label"]
    if where == "ids":
        path = write(tmp_path / "a.csv", header, rows)
    elif where == "files":
        path = tmp_path / "d"
        for code, word in enumerate(("fake", "real")):
            part = [["n" + row[0][4:], *row[1:]] for row in rows if row[2] == str(code)]
            write(path / f"news_{word}.csv", header, part)
    else:
        header = [*header, "remark"]
        words = [["false", "fake", "hoax"], ["true", "correct", "real"]]
        rows = [[f"n{i}", text, str(i % 2), words[i % 2][i % 3]] for i, text in enumerate(TEXTS)]
        path = write(tmp_path / "a.csv", header, rows)
    dataset, report = import_files(path, label="label")
    assert report.labels == {"false": 30, "true": 30}
    first = dataset.records.filter(dataset.records["text"] == TEXTS[0]).row(0, named=True)
    assert (first["label_raw"], first["veracity"]) == ("0", "false")
    if where != "column":
        assert "30 of 30 rows" in str(dataset.lineage[0].parameters["map"])


def test_codes_that_go_with_no_word_are_asked_about(tmp_path: Path) -> None:
    rows = [[f"{('fake', 'real')[i % 3 == 0]}_{i}", t, str(i % 2)] for i, t in enumerate(TEXTS)]
    with pytest.raises(UnmappedLabels, match="'0' \\(30\\), '1' \\(30\\)"):
        import_files(write(tmp_path / "a.csv", ["id", "text", "label"], rows), label="label")


def test_few_unknown_words_are_null_and_named(tmp_path: Path) -> None:
    labels = ["true", "false"] * 5 + ["Partlly false", "wobbly"]
    dataset, report = import_files(labelled(tmp_path / "a.csv", labels))
    assert report.labels == {"false": 25, "true": 25}
    assert dataset.records["veracity"].null_count() == 10
    words = " ".join(report.lines())
    assert "'Partlly false' (5, like 'partly false')" in words
    assert "`map='Partlly false=mixed,wobbly=VERDICT'`" in words
    _, answered = import_files(tmp_path / "a.csv", map="Partlly false=mixed,wobbly=unknown")
    assert answered.labels == {"false": 25, "mixed": 5, "true": 25, "unknown": 5}


def test_many_unknown_words_are_asked_about_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnmappedLabels, match="`map='Mostlytrue=true'`"):
        import_files(labelled(tmp_path / "a.csv", ["Mostlytrue", "false"]))


@pytest.mark.parametrize("word", ["not supported", "un true", "no", "0", "not false"])
def test_a_word_more_may_turn_the_meaning_round(word: str) -> None:
    near = nearest(word, general())
    assert near is None or near[0].replace(" ", "") == word.replace(" ", "")


def test_the_names_of_folders_are_words_not_codes(tmp_path: Path) -> None:
    for i, text in enumerate(TEXTS):
        file = tmp_path / "d" / "texts" / ("fake", "true")[i % 2] / f"{i}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert import_files(tmp_path / "d")[1].labels == {"false": 30, "true": 30}


@pytest.mark.parametrize(
    ("column", "labels", "task"),
    [
        ("label", ["OBJ", "SUBJ"], "subjectivity"),
        ("stance", ["agree", "disagree", "discuss", "unrelated"], "stance"),
        ("check_worthiness", ["Yes", "No"], "check-worthiness"),
        ("class", ["checkable", "not a claim"], "claim-detection"),
    ],
)
def test_labels_of_another_task_are_kept_and_are_no_verdicts(
    tmp_path: Path, column: str, labels: list[str], task: str
) -> None:
    rows = [[text, labels[i % len(labels)]] for i, text in enumerate(TEXTS)]
    dataset, report = import_files(write(tmp_path / "a.csv", ["text", column], rows))
    assert (report.task, report.labels) == (task, {})
    assert dataset.records["veracity"].null_count() == N
    assert open_task(task).labels(dataset.records).null_count() == 0
    assert any(f"about {task}, not about truth" in line for line in report.lines())


def test_words_that_several_tasks_have_are_asked_about(tmp_path: Path) -> None:
    """Yes and no answer any question: only the name of their column can say which."""
    with pytest.raises(UnmappedLabels):
        import_files(labelled(tmp_path / "a.csv", ["yes", "no"]))


def test_ratings_stay_verdicts_in_a_column_that_is_named_as_a_task(tmp_path: Path) -> None:
    rows = [[text, ("true", "false")[i % 2]] for i, text in enumerate(TEXTS)]
    _, report = import_files(write(tmp_path / "a.csv", ["text", "verdict"], rows))
    assert (report.task, report.labels) == (None, {"false": 30, "true": 30})


def test_the_task_of_labels_can_be_named_and_is_kept_in_a_plan(tmp_path: Path) -> None:
    source = labelled(tmp_path / "a.csv", ["1", "0"])
    _, report = import_files(source, map="check-worthiness")
    assert report.task == "check-worthiness"
    plan = tmp_path / "plan.toml"
    guess_files(source, map="check-worthiness").save(plan)
    assert "[verdicts]" not in plan.read_text(encoding="utf-8")
    _, again = import_files(source, plan=plan)
    assert again.task == "check-worthiness"


def test_a_prefix_that_turns_a_word_round_suggests_nothing() -> None:
    assert nearest("unauthentic", general()) is None
    assert nearest("authentik", general()) == ("authentic", "true")


def test_a_task_with_a_typing_error_is_suggested(tmp_path: Path) -> None:
    with pytest.raises(
        UnknownName, match="label map or task named .subjectivty.. Did you mean .?subjectivity"
    ):
        import_files(labelled(tmp_path / "a.csv", ["OBJ", "SUBJ"]), map="subjectivty")


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (["yes", "no"], "check-worthiness"),
        (["Yes", "No"], "claim-detection"),
        (["1", "0", "-1"], "check-worthiness"),
    ],
)
def test_a_question_about_labels_offers_every_task_that_reads_them_all(
    tmp_path: Path, labels: list[str], task: str
) -> None:
    source = labelled(tmp_path / "a.csv", labels)
    with pytest.raises(UnmappedLabels) as asked:
        import_files(source)
    offered = {one.value for one in asked.value.choices if one.argument == "map"}
    assert task in offered
    assert "subjectivity" not in offered
    dataset, report = import_files(source, map=task)
    assert report.task == task
    assert open_task(task).labels(dataset.records).null_count() == 0


def test_minus_one_and_one_are_two_codes(tmp_path: Path) -> None:
    assert len({fold(code) for code in ("-1", "1", "-1.0", "1.0", " -1 ", "-2", "2")}) == 6
    source = labelled(tmp_path / "a.csv", ["-1", "1"])
    assert import_files(source, map="1=true,-1=false")[1].labels == {"false": 30, "true": 30}
    with pytest.raises(UnmappedLabels, match="'-1'"):
        import_files(source, map="1=true")


def test_as_many_parts_as_cells_are_still_several_labels(tmp_path: Path) -> None:
    cells = ["fake,hate", "real", "fake", "real,offensive"]
    _, report = import_files(labelled(tmp_path / "a.csv", cells))
    assert report.labels == {"false": 30, "true": 30}


def test_codes_under_a_name_that_starts_as_a_label_does_are_offered(tmp_path: Path) -> None:
    rows = [
        [text, ("Mayor", "Governor")[i % 2], ("-1", "0", "1")[i % 3]]
        for i, text in enumerate(TEXTS)
    ]
    source = write(tmp_path / "a.csv", ["text", "speaker_title", "urteil_final"], rows)
    with pytest.raises(Question) as asked:
        import_files(source)
    assert "urteil_final" in {one.value for one in asked.value.choices}
    assert import_files(source, label="urteil_final", map="check-worthiness")[1].task


@pytest.mark.parametrize("name", ["opinion", "flag"])
def test_a_column_of_yes_and_no_is_asked_about_where_nothing_else_may_be_the_label(
    tmp_path: Path, name: str
) -> None:
    """Both words are codes of languages, too."""
    rows = [[text, ["Yes", "No"][i % 2]] for i, text in enumerate(TEXTS)]
    path = write(tmp_path / "a.csv", ["text", name], rows)
    with pytest.raises(Question, match=name) as asked:
        import_files(path)
    assert asked.value.exit_code == 1
    assert import_files(path, label="none")[1].labels == {}


def test_codes_of_pairs_are_offered_in_the_order_of_entailment(tmp_path: Path) -> None:
    rows = [[f"{text} " * 9, text, str(i % 3)] for i, text in enumerate(TEXTS)]
    with pytest.raises(UnmappedLabels) as asked:
        import_files(write(tmp_path / "a.csv", ["premise", "hypothesis", "label"], rows))
    maps = [str(one.value) for one in asked.value.choices if one.argument == "map"]
    assert "0=true,1=unknown,2=false" in maps[:2]


def test_what_programs_write_into_empty_cells_is_no_label(tmp_path: Path) -> None:
    path = labelled(tmp_path / "a.csv", ["fake", "NaN", "real"])
    dataset, report = import_files(path)
    assert report.labels == {"false": 20, "true": 20}
    assert dataset.records["veracity"].null_count() == 20
    with pytest.raises(UnmappedLabels) as asked:
        import_files(labelled(tmp_path / "b.csv", ["qua", "nan", "zib"]))
    assert asked.value.counts == {"qua": 20, "zib": 20}
    assert str(asked.value.choices[0].value) == "qua=true,zib=false"


@pytest.mark.parametrize("question", ["Is it true?", "is this fake"])
def test_a_question_about_the_truth_says_what_yes_means(question: str, tmp_path: Path) -> None:
    rows = [[text, ("Yes", "No")[i % 2]] for i, text in enumerate(TEXTS)]
    path = write(tmp_path / "a.csv", ["headline", question], rows)
    with pytest.raises(UnmappedLabels) as asked:
        import_files(path)
    dataset, _ = import_files(path, map=str(asked.value.choices[0].value))
    verdicts = ["true", "false"] if "true" in question else ["false", "true"]
    assert dataset.records["veracity"].to_list() == verdicts * (N // 2)


def test_tables_of_one_column_each_are_one_table_where_one_is_labels(tmp_path: Path) -> None:
    texts = write(tmp_path / "texts.csv", ["text"], [[text] for text in TEXTS])
    labels = [[("fake", "real")[i % 2]] for i in range(N)]
    names = write(tmp_path / "labels.csv", ["label"], labels)
    dataset, report = import_files([texts, names])
    assert dataset.records["text"].to_list() == TEXTS
    assert dataset.records["veracity"].to_list() == ["false", "true"] * (N // 2)
    assert any("belong together" in line for line in report.lines())


def test_tables_of_one_column_each_stay_apart_where_rows_do_not_match(tmp_path: Path) -> None:
    texts = write(tmp_path / "texts.csv", ["text"], [[text] for text in TEXTS])
    names = write(tmp_path / "labels.csv", ["label"], [["fake"], ["real"]] * (N // 2 - 1))
    with pytest.raises(Question):
        import_files([texts, names])


def test_tables_of_one_column_each_stay_apart_where_a_row_of_each_is_empty(tmp_path: Path) -> None:
    """Without its empty row each has as many rows as the other, but they do not belong together."""
    texts, labels = [[text] for text in TEXTS], [[("fake", "real")[i % 2]] for i in range(N)]
    texts[3], labels[40] = [""], [""]
    files = [
        write(tmp_path / "texts.csv", ["text"], texts),
        write(tmp_path / "labels.csv", ["label"], labels),
    ]
    with pytest.raises(Question):
        import_files(files)


@pytest.mark.parametrize(("suffix", "program"), [("dta", "Stata"), ("sav", "SPSS"), ("rds", "R")])
def test_files_of_statistics_programs_are_named(suffix: str, program: str, tmp_path: Path) -> None:
    file = tmp_path / f"a.{suffix}"
    file.write_bytes(b"r\x01\x00$FL2" * 40)
    with pytest.raises(UnreadableFile, match=f"is a file of {program}"):
        import_files(file)
