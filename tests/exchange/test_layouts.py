"""Which of several files are the records: ranked layouts, copies in two formats, tables that belong
together.
"""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from claimlab.core.errors import Question
from claimlab.exchange.importer import import_files
from claimlab.exchange.importing.choose import patterns

N = 40
CLAIMS = [
    f"The council of Riverton said in {1960 + i} that the old bridge is safe" for i in range(N)
]
VERDICTS = ["real" if i % 2 else "fake" for i in range(N)]
HALVES = {"false": N // 2, "true": N // 2}


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def dump(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def zipped(folder: Path) -> Path:
    archive = folder.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, path.relative_to(folder).as_posix())
    return archive


def claims() -> list[tuple[int, str, str]]:
    return [
        (i, text, verdict) for i, (text, verdict) in enumerate(zip(CLAIMS, VERDICTS, strict=True))
    ]


def test_a_clean_table_beside_hundreds_of_json_files(tmp_path: Path) -> None:
    """The files of the folder hold timelines of many shapes; only the table has texts with
    labels.
    """
    write(tmp_path / "d" / "claims.csv", ["id", "claim", "label"], claims())
    for i in range(270):
        posts = [
            {"post": f"Post {j} about the bridge of {i}", f"field_{i % 7}": j} for j in range(3)
        ]
        dump(tmp_path / "d" / "timelines" / f"user_{i * 7919}.json", posts)
    dataset, report = import_files(zipped(tmp_path / "d"))
    assert (dataset.records.height, report.labels) == (N, HALVES)
    assert len(report.ignored_files) == 270


def test_layouts_of_like_worth_are_asked_about_in_few_words(tmp_path: Path) -> None:
    """Each pattern that the message offers matches a file, and the first is the richest layout."""
    long = "a-name-of-a-folder-that-nobody-would-want-to-type-by-hand-because-it-is-so-very-long"
    many = [(k * N + i, f"{text} {k}", v) for k in range(5) for i, text, v in claims()]
    write(tmp_path / "d" / long / "claims.csv", ["id", "claim", "label"], many)
    for i in range(270):
        words = f"Post {i} on the bridge of the town and the road"
        posts = [{"post": words, "label": VERDICTS[i % N]}]
        name = f"{'abcdefghij'[i % 10]}_{i * 7919}.json"
        dump(tmp_path / "d" / long / ("one", "two", "three", "four")[i % 4] / name, posts)
    with pytest.raises(Question) as caught:
        import_files(zipped(tmp_path / "d"))
    message = str(caught.value)
    offers = re.findall(r"'([^']*\.(?:csv|json))'", message.partition("Choose")[2])
    names = [p.relative_to(tmp_path / "d").as_posix() for p in (tmp_path / "d").rglob("*.*")]
    assert len(message) < 500
    assert 1 <= len(offers) <= 3 * 3
    for offer in offers:
        assert len(offer) <= 100
        assert any(fnmatchcase(name, offer) or fnmatchcase(name, f"*/{offer}") for name in names)


def test_patterns_match_every_file_and_no_other() -> None:
    names = ["a/v.csv", "a/v.v.csv"]
    for chosen, others in (
        (names, ["b/v.csv"]),
        (["x/[1] a.csv", "x/[1] b.csv"], ["x/1 a.csv"]),
        (["aa", "aaa"], ["b"]),
        ([f"{'deep/' * 40}train.csv"], ["test.csv"]),
    ):
        globs = patterns(chosen, [*chosen, *others])
        assert 1 <= len(globs) <= 3, chosen
        assert all(len(glob) <= 100 for glob in globs)
        for name in chosen:
            assert any(fnmatchcase(name, g) or fnmatchcase(name, f"*/{g}") for g in globs)
        for name in others:
            assert not any(fnmatchcase(name, g) or fnmatchcase(name, f"*/{g}") for g in globs)


def test_posts_come_before_the_comments_on_them(tmp_path: Path) -> None:
    posts = [(f"p{i}", f"{text}. " * 3, verdict) for i, text, verdict in claims()]
    comments = [
        (f"c{i}", f"p{i % N}", f"No way, that is number {i}", ("support", "deny")[i % 2])
        for i in range(10 * N)
    ]
    write(tmp_path / "d" / "posts.csv", ["post_id", "text", "label"], posts)
    write(tmp_path / "d" / "comments.csv", ["comment_id", "post_id", "text", "stance"], comments)
    dataset, report = import_files(tmp_path / "d")
    assert (dataset.records.height, report.labels) == (N, HALVES)
    assert report.ignored_files == ["comments.csv"]


def test_texts_and_labels_inside_objects_count_in_the_ranking(tmp_path: Path) -> None:
    checks = [
        {"claim": {"text": text, "by": "a viral post"}, "review": {"rating": verdict}}
        for _, text, verdict in claims()
    ]
    dump(tmp_path / "d" / "checks.json", checks)
    dump(tmp_path / "d" / "pages.json", [{"page": i, "views": i % 7} for i in range(5 * N)])
    dataset, report = import_files(zipped(tmp_path / "d"))
    assert dataset["text"].to_list() == CLAIMS
    assert report.labels == HALVES


def test_labels_inside_objects_are_joined_to_their_texts(tmp_path: Path) -> None:
    texts = [{"post": f"p-{i}", "body": text} for i, text, _ in claims()]
    marks = [{"about": {"post": f"p-{i}"}, "mark": {"verdict": v}} for i, _, v in claims()]
    dump(tmp_path / "d" / "posts.json", texts)
    dump(tmp_path / "d" / "marks.json", marks)
    dataset, report = import_files(zipped(tmp_path / "d"))
    assert dataset["text"].to_list() == CLAIMS
    assert report.labels == HALVES


def test_a_table_in_two_formats_is_read_once(tmp_path: Path) -> None:
    rows = claims()
    write(tmp_path / "d" / "claims.csv", ["id", "claim", "label"], rows)
    dump(
        tmp_path / "d" / "claims.json",
        [dict(zip(("id", "claim", "label"), row, strict=True)) for row in rows],
    )
    dataset, report = import_files(tmp_path / "d")
    assert (dataset.records.height, report.labels) == (N, HALVES)
    assert any("not read: the 40 texts are those of" in note for note in report.notes)


def test_a_table_and_its_splits_as_text_files_are_read_once(tmp_path: Path) -> None:
    rows = claims()
    write(tmp_path / "d" / "all.csv", ["claim", "label"], [row[1:] for row in rows])
    for name, part in (("train", rows[:30]), ("test", rows[30:])):
        lines = "".join(f"{text}\t{verdict}\n" for _, text, verdict in part)
        (tmp_path / "d" / f"{name}.txt").write_text(lines, encoding="utf-8")
    dataset, report = import_files(tmp_path / "d", label="2")
    assert dataset.records.height == N
    assert any("all.csv" in note for note in report.notes)


@pytest.mark.parametrize("many", [False, True])
def test_labels_in_a_folder_of_their_own_are_joined(tmp_path: Path, many: bool) -> None:
    """Claims in one folder, annotations in another, by a key; of several annotations each is a
    row.
    """
    rows = claims()
    write(
        tmp_path / "d" / "posts" / "part.csv",
        ["claim_id", "text"],
        [(f"k{i}", t) for i, t, _ in rows],
    )
    marks = [(f"k{i}", v) for i, _, v in rows[: N - 2] for _ in range(1 + many)]
    write(tmp_path / "d" / "annotations" / "part.csv", ["claim_id", "label"], marks)
    dataset, report = import_files(tmp_path / "d")
    assert dataset.records["veracity"].count() >= N - 2
    assert dataset.records["text"].n_unique() >= N - 2
    assert any("`join='none'`" in note for note in report.notes)


def test_texts_get_their_labels_from_a_table_of_their_names(tmp_path: Path) -> None:
    for i, text in enumerate(CLAIMS * 2):
        path = tmp_path / "d" / "texts" / f"doc_{i}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text} ({i})", encoding="utf-8")
    marks = [(f"doc_{i}", VERDICTS[i % N]) for i in range(2 * N)]
    write(tmp_path / "d" / "labels.csv", ["name", "label"], marks)
    dataset, report = import_files(tmp_path / "d")
    assert (dataset.records.height, report.labels) == (2 * N, {"false": N, "true": N})


def test_records_in_files_of_their_own_get_their_labels_from_like_named_files(
    tmp_path: Path,
) -> None:
    for i, text, verdict in claims():
        dump(tmp_path / "d" / "posts" / f"n{i}.json", {"text": text, "lang": "en"})
        dump(tmp_path / "d" / "labels" / f"n{i}.json", {"label": verdict})
    _, report = import_files(zipped(tmp_path / "d"))
    assert report.labels == HALVES


def test_row_numbers_under_different_names_are_no_key(tmp_path: Path) -> None:
    write(tmp_path / "d" / "claims.csv", ["claim_no", "text"], [(i, t) for i, t, _ in claims()])
    write(tmp_path / "d" / "cities.csv", ["city_no", "label"], [(i, v) for i, _, v in claims()])
    with pytest.raises(Question, match="2 layouts"):
        import_files(tmp_path / "d")


def test_a_note_beside_the_labels_is_not_the_text(tmp_path: Path) -> None:
    notes = [(f"k{i}", v, f"{t}, I looked it up in the archive") for i, t, v in claims()]
    texts = [(f"k{i}", t) for i, t, _ in claims()]
    write(tmp_path / "d" / "annotations.csv", ["claim_id", "gold_verdict", "remark"], notes)
    write(tmp_path / "d" / "claims.csv", ["claim_id", "claim_text"], texts)
    dataset, report = import_files(tmp_path / "d")
    assert dataset.records["text"].to_list() == [text for _, text, _ in claims()]
    assert report.labels == HALVES


def test_a_word_on_each_text_in_a_folder_beside_is_its_label(tmp_path: Path) -> None:
    for i, text, verdict in claims():
        for folder, words in (("texts", f"{text} ({i})"), ("labels", verdict)):
            file = tmp_path / "d" / folder / f"doc{i}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(words, encoding="utf-8")
    dataset, report = import_files(tmp_path / "d")
    assert (dataset.records.height, report.labels) == (N, HALVES)


def test_an_empty_file_beside_the_records_is_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path / "d" / "claims.csv", ["id", "claim", "label"], claims())
    dump(tmp_path / "d" / "structure.json", {})
    (tmp_path / "d" / "more.csv").write_text("id,claim,label\n", encoding="utf-8")
    dataset, report = import_files(tmp_path / "d")
    assert (dataset.records.height, report.labels) == (N, HALVES)
    assert {"more.csv", "structure.json"} <= set(report.ignored_files)


@pytest.mark.parametrize("single", [True, False], ids=["a file for each record", "a few files"])
def test_names_that_may_be_labels_are_asked_about(tmp_path: Path, single: bool) -> None:
    for i, text in enumerate(CLAIMS):
        place = f"{('HF', 'HR')[i % 2]}/{i}.json" if single else ""
        if place:
            dump(tmp_path / "d" / place, {"text": text})
    for part, name in enumerate(("HF", "HR")) if not single else ():
        dump(tmp_path / "d" / f"{name}.json", [{"text": text} for text in CLAIMS[part::2]])
    with pytest.raises(Question, match="names of files or folders may be labels") as asked:
        import_files(tmp_path / "d")
    choice = asked.value.choices[0]
    assert (choice.argument, choice.words) == ("label", "'HF', 'HR'")
    _, report = import_files(tmp_path / "d", label=str(choice.value), map="HF=false,HR=true")
    assert report.labels == HALVES
    assert import_files(tmp_path / "d", label="none")[1].labels == {}


@pytest.mark.parametrize("names", [("train", "test"), ("part-1", "part-2"), ("en", "de")])
def test_names_of_parts_are_no_labels(tmp_path: Path, names: tuple[str, str]) -> None:
    for part, name in enumerate(names):
        dump(tmp_path / "d" / f"{name}.json", [{"text": text} for text in CLAIMS[part::2]])
    assert import_files(tmp_path / "d")[1].labels == {}


def test_texts_are_joined_to_labels_in_several_files(tmp_path: Path) -> None:
    """The text is in none of the files with the labels, which have several rows of a claim."""
    write(
        tmp_path / "d" / "claims.csv", ["claim_id", "claim"], [(f"c{i}", t) for i, t, _ in claims()]
    )
    for part, split in enumerate(("train", "dev")):
        rows = [(f"c{i}", who, verdict) for i, _, verdict in claims()[part::2] for who in "ab"]
        write(tmp_path / "d" / f"{split}.csv", ["claim_id", "who", "verdict"], rows)
    dataset, _ = import_files(tmp_path / "d", rater="none")
    assert dataset.records["text"].null_count() == 0


def test_a_column_less_moves_all_others_of_files_without_headers(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    words = {"real": ["real"], "fake": ["fake"]}
    for name, labelled in (("train", True), ("test", False)):
        with (folder / f"{name}.tsv").open("w", encoding="utf-8", newline="") as file:
            rows = [
                [
                    f"{name}{i}",
                    text,
                    *(words[verdict] if labelled else []),
                    f"https://a.example/{i}",
                ]
                for i, text, verdict in claims()
            ]
            csv.writer(file, delimiter="\t").writerows(rows if labelled else rows[:9])
    dataset, report = import_files(folder)
    assert report.labels == HALVES
    assert dataset.records["url"].str.starts_with("https").all()


def test_an_answer_leaves_the_files_that_the_question_was_about(tmp_path: Path) -> None:
    """The table of labelled claims is far ahead, and stays so after its label is named."""
    rows = [(i, text, *[VERDICTS[i], VERDICTS[i // 2]]) for i, text in enumerate(CLAIMS)]
    write(tmp_path / "d" / "claims.csv", ["id", "claim", "label_x", "label_y"], rows)
    write(
        tmp_path / "d" / "pages.csv", ["id", "claim"], [(i, f"{CLAIMS[i]} again") for i in range(9)]
    )
    write(tmp_path / "d" / "users.csv", ["user", "label_x"], [(f"u{i}", i % 5) for i in range(N)])
    with pytest.raises(Question, match="label"):
        import_files(tmp_path / "d")
    _, report = import_files(tmp_path / "d", label="label_x")
    assert report.labels == HALVES


def test_keys_of_several_answers_are_joined_to_their_posts(tmp_path: Path) -> None:
    """One object holds the answers to each question by the id of the post."""
    ids = [str(1_000_000_000_000_000_000 + 7919 * i) for i in range(N)]
    dump(
        tmp_path / "d" / "posts.json",
        [{"id_str": i, "text": t} for i, t in zip(ids, CLAIMS, strict=True)],
    )
    stances = {one: ("support", "deny")[place % 2] for place, one in enumerate(ids)}
    answers = {"stance": stances, "veracity": dict(zip(ids, VERDICTS, strict=True))}
    dump(tmp_path / "d" / "key.json", answers)
    dataset, report = import_files(tmp_path / "d")
    assert dataset.records["text"].to_list() == CLAIMS
    assert report.labels == HALVES
