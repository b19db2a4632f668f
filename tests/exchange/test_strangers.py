"""Layouts as strangers publish them, with invented content: what the import makes of them, or the
commands that it prints, each of which is run.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
import shlex
import shutil
import sqlite3
import time
from pathlib import Path

import polars as pl
import pytest
from openpyxl import Workbook

from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, DataError, UnreadableFile
from claimlab.exchange.importer import guess_files, import_files
from claimlab.exchange.importing.profile import share_of_dates
from claimlab.files.bundle import Bundle
from claimlab.files.card import splits_in
from claimlab.files.header import has_header
from claimlab.files.layout import ReadOptions
from claimlab.files.read import read_table
from claimlab.tasks import open_task, own_task

N = 60
TOWNS = ("Arvendal", "Belmora", "Castrin", "Dunholt", "Elvanto")
TEXTS = [f"The council of {TOWNS[i % 5]} bought {i + 2} buses for the school" for i in range(N)]
BODIES = [f"{text}. " + "Nobody in the town was asked before that. " * 12 for text in TEXTS]


def write(path: Path, header: str, *columns: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header.split(","), *zip(*columns, strict=True)])
    return path


def again(*values: str) -> list[str]:
    return [values[i % len(values)] for i in range(N)]


def commands(path: Path, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """What the import of a file prints where it asks, without `claimlab`."""
    assert run(["import", str(path), "-o", str(path.parent / "out")]) in (1, 2)
    lines = re.findall(r"^  claimlab (import .*)$", capsys.readouterr().err, re.MULTILINE)
    return [shlex.split(line) for line in lines]


def labels(command: list[str]) -> dict[str, int]:
    """How often a command that was printed gives each verdict."""
    assert run([*command, "--force"]) == 0, command
    records = Dataset.open(command[command.index("-o") + 1]).records
    return dict(records["veracity"].drop_nulls().value_counts().iter_rows())


def test_one_command_answers_two_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which column is the label, and what its codes mean."""
    scores = again("1", "3", "1")
    path = write(
        tmp_path / "a.csv", "fake_news_score,click_bait_score,content", scores, again("3", "1"), TEXTS
    )  # fmt: skip
    printed = commands(path, capsys)
    assert labels(printed[0]) == {"true": 40, "false": 20}
    assert all(labels(one) in ({"true": 20, "false": 40}, {}) for one in printed[1:2])
    for command in printed[2:]:
        labels(command)


@pytest.mark.parametrize(
    ("codes", "first"),
    [
        ("012345", {"false": 30, "mixed": 10, "true": 20}),
        ("1234", {"false": 30, "true": 30}),
        ("012", {"false": 20, "mixed": 20, "true": 20}),
    ],
)
def test_codes_are_offered_as_scales(
    codes: str, first: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", "statement,label", TEXTS, again(*codes))
    up, down = commands(path, capsys)[:2]
    assert labels(up) == first
    assert labels(down) == first
    assert up[-1].split(",")[0].endswith("false")
    assert down[-1].split(",")[0].endswith("true")


@pytest.mark.parametrize(
    ("header", "codes", "offered"),
    [
        ("Statement,Evidence,labels", "012", "0=true,1=false,2=unknown"),
        ("text,isfake", "012", "0=true,1=mixed,2=false"),
        ("text,misinformation", ("-1", "0", "1"), "-1=unknown,0=true,1=false"),
        ("text,label", ("original", "Fake"), "original=true"),
        ("claim,label", ("Support_Part", "Refute", "Insufficient_Part"), "Support_Part=true"),
    ],
)
def test_the_likeliest_meaning_of_labels_is_offered_first(
    header: str, codes: tuple[str, ...], offered: str, tmp_path: Path
) -> None:
    evidence = [BODIES] if "Evidence" in header else []
    path = write(tmp_path / "a.csv", header, TEXTS, *evidence, again(*codes))
    with pytest.raises(ClaimlabError) as asked:
        import_files(path)
    maps = [str(one.value) for one in asked.value.choices if one.argument == "map"]
    assert offered in maps[0]


def test_a_word_with_a_negation_is_not_taken_for_the_word(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "claim,label", TEXTS, again("not quite supported here", "odd"))
    with pytest.raises(ClaimlabError) as asked:
        import_files(path)
    assert not any("supported here=true,odd=unknown" in str(c.value) for c in asked.value.choices)


def test_of_a_stance_pair_the_headline_is_the_text(tmp_path: Path) -> None:
    stances = again("agree", "disagree", "discuss", "unrelated")
    path = write(tmp_path / "a.csv", "Headline,Body,Stance", TEXTS, BODIES, stances)
    dataset, report = import_files(path)
    assert dataset.records["text"].to_list() == TEXTS
    assert report.task == "stance"


def test_labels_of_sources_are_found_by_the_folders_of_their_articles(tmp_path: Path) -> None:
    ratings = {f"source_{i}": ("credible", "not credible")[i % 2] for i in range(N // 2)}
    (tmp_path / "d").mkdir()
    (tmp_path / "d/sources.json").write_text(json.dumps(ratings), encoding="utf-8")
    for i, source in enumerate(ratings):
        articles = [{"title": f"Buses {n}", "text": TEXTS[n]} for n in (2 * i, 2 * i + 1)]
        folder = tmp_path / "d" / "Dataset" / source
        folder.mkdir(parents=True)
        words = json.dumps({"articles": articles})
        (folder / "scraped_articles.json").write_text(words, encoding="utf-8")
    dataset, report = import_files(tmp_path / "d")
    assert report.task == "source-credibility", "what a source publishes is not true or false by it"
    rows = dataset.records.filter(dataset.records["text"] == TEXTS[2])
    assert open_task("source-credibility").labels(rows).to_list() == ["not-credible"]


def test_a_label_under_the_ids_of_documents_is_a_field(tmp_path: Path) -> None:
    words = again("SUPPORT", "CONTRADICT")
    rows = [
        {"id": i, "claim": text, "evidence": {str(7_000 + i): [{"label": words[i]}], "41": [{"label": words[i]}]}}
        for i, text in enumerate(TEXTS)
    ]  # fmt: skip
    path = tmp_path / "claims.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    dataset, report = import_files(path)
    assert report.labels == {"true": 30, "false": 30}
    assert dataset.records["veracity"].to_list()[:2] == ["true", "false"]


def test_a_column_with_one_value_for_all_is_no_label(tmp_path: Path) -> None:
    """As in the relevance judgements of a search benchmark: every row says 0 and 1."""
    path = write(tmp_path / "a.csv", "vclaim,column_2,column_4", TEXTS, again("0"), again("1"))
    data, _ = import_files(path)
    assert data.records["label_raw"].null_count() == N


def test_one_verdict_for_all_is_a_label(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "vclaim,column_2", TEXTS, again("fake"))
    data, _ = import_files(path)
    assert set(data.records["veracity"]) == {"false"}


def test_labels_of_another_task_are_that_task(tmp_path: Path) -> None:
    """Although the map knows a stray label: two of all rows are "Uncertain"."""
    classes = ["Uncertain", "Uncertain", *again("OBJ", "SUBJ")[2:]]
    path = write(tmp_path / "a.csv", "sentence,label", TEXTS, classes)
    data, _ = import_files(path)
    assert own_task(data) == "subjectivity"
    assert data.records["veracity"].null_count() == N


@pytest.mark.slow
def test_the_columns_of_a_wide_file_are_looked_at_once_for_all_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each answer that is printed has been tried, which must not read every column again."""
    width = 60
    row = ",".join(f"some cell 1-{number} of it" for number in range(width))
    header = ",".join(f"column name {number}" for number in range(width))
    wide = tmp_path / "wide.csv"
    wide.write_text("\n".join([header, row, row, row]), encoding="utf-8")
    share_of_dates.cache_clear()
    assert len(commands(wide, capsys)) > 3
    assert 0 < share_of_dates.cache_info().misses <= width


def test_a_rating_with_a_comma_that_the_map_knows_is_not_taken_apart(tmp_path: Path) -> None:
    ratings = again("Falso", "Verdadero", "Verdadero, pero…")
    _, report = import_files(write(tmp_path / "a.csv", "Afirmación,Calificación", TEXTS, ratings))
    assert report.labels == {"false": 20, "mixed": 20, "true": 20}


@pytest.mark.parametrize(
    "header", ["평가자1,평가자2,평가자3", "разметчик 1,разметчик 2,разметчик 3"]
)
def test_columns_of_annotators_are_known_in_other_scripts(header: str, tmp_path: Path) -> None:
    votes = (again("real", "fake"), again("real", "fake"), again("fake", "real"))
    data, report = import_files(write(tmp_path / "a.csv", f"text,{header}", TEXTS, *votes))
    assert data.tables["annotations"].height == 3 * N
    assert report.labels == {"false": 30, "true": 30}


@pytest.mark.parametrize(
    "header",
    [
        "Titel,Volltext,Bewertung",
        "العنوان,نص الخبر,التصنيف",
        "título,cuerpo de la noticia,calificación",
        "заголовок,текст новости,вердикт",
    ],
)
def test_the_body_of_an_article_comes_before_its_title(header: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", header, TEXTS, BODIES, again("real", "fake"))
    data, _ = import_files(path)
    assert data["text"].to_list() == BODIES


def test_labels_before_the_ids_of_tweets_in_another_file_are_joined(tmp_path: Path) -> None:
    """Neither file has a header, and each has two columns."""
    ids = [str(700_000_000_000_000_000 + 977 * i) for i in range(N)]
    rows = zip(ids, TEXTS, again("true", "false", "unverified"), strict=True)
    folder = tmp_path / "rumours"
    folder.mkdir()
    for key, text, label in rows:
        with (folder / "source_tweets.txt").open("a", encoding="utf-8") as file:
            file.write(f"{key}\t{text}\n")
        with (folder / "label.txt").open("a", encoding="utf-8") as file:
            file.write(f"{label}:{key}\n")
    data, report = import_files(folder)
    assert data["text"].to_list() == TEXTS
    assert data["tweet_id"].to_list() == ids
    assert report.labels == {"false": 20, "true": 20, "unknown": 20}


def test_labels_of_tweets_in_two_formats_are_read_once(tmp_path: Path) -> None:
    ids = [str(700_000_000_000_000_000 + 977 * i) for i in range(N)]
    rows = list(zip(ids, again("true", "false", "unverified"), strict=True))
    for name, form in (("all.txt", "{1}\tE{0}\t{0}\t10\n"), ("label.txt", "{1}:{0}\n")):
        text = "".join(form.format(*row) for row in rows)
        (tmp_path / name).write_text(text, encoding="utf-8")
    data, report = import_files(tmp_path)
    assert data["tweet_id"].to_list() == ids
    assert report.labels == {"false": 20, "true": 20, "unknown": 20}


def test_each_of_several_yes_or_no_columns_is_offered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = "conspiracy,false_context,fabricated,satire"
    path = write(tmp_path / "a.csv", f"text,{kinds}", TEXTS, *[again("1", "0")] * 4)
    printed = commands(path, capsys)
    offered = {command[command.index("--label") + 1] for command in printed}
    assert offered == {*kinds.split(","), "none"}
    for command in printed[:-1]:
        assert labels(command) in ({"false": 30, "true": 30}, {})


@pytest.mark.parametrize(
    ("words", "task"),
    [("agreed disagreed unrelated", "stance"), ("偽 正確 不明", "veracity")],
)
def test_more_labels_are_known(words: str, task: str, tmp_path: Path) -> None:
    data, _ = import_files(write(tmp_path / "a.csv", "text,label", TEXTS, again(*words.split())))
    assert own_task(data) == task


@pytest.mark.parametrize("names", [["all.txt"], ["train.txt", "test.txt"]])
def test_lines_that_begin_with_their_labels_are_a_table(names: list[str], tmp_path: Path) -> None:
    """As fastText reads them."""
    lines = [f"__label__{label} {t}" for t, label in zip(TEXTS, again("fake", "real"), strict=True)]
    for place, name in enumerate(names):
        part = lines[place :: len(names)]
        (tmp_path / name).write_text("\n".join(part), encoding="utf-8")
    data, _ = import_files(tmp_path)
    assert sorted(data["text"]) == sorted(TEXTS)
    rows = zip(data["text"], data["veracity"], strict=True)
    assert dict(rows) == dict(zip(TEXTS, again("false", "true"), strict=True))


def test_a_missing_score_is_unknown_on_the_scale_of_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", "text,verdict_score", TEXTS, again("1", "2", "NA", "3", "4"))
    assert labels(commands(path, capsys)[0]) == {"false": 24, "true": 24, "unknown": 12}


Column = list[str] | list[int]
WORDS = again("True", "False", "Mixture")
THIRDS = {"true": 20, "false": 20, "mixed": 20}
KEYS = list(range(N))


def database(path: Path, **tables: dict[str, Column]) -> Path:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for name, columns in tables.items():
            connection.execute(f"create table {name} ({', '.join(columns)})")
            marks = ", ".join("?" * len(columns))
            rows = zip(*columns.values(), strict=True)
            connection.executemany(f"insert into {name} values ({marks})", rows)
        connection.commit()
    return path


@pytest.mark.parametrize("key", ["claim_id", "id"])
def test_ratings_are_joined_to_claims_by_their_key(key: str, tmp_path: Path) -> None:
    """By a key of one name, or by one that names the other table; the ids of ratings are no key."""
    claims: dict[str, Column] = {key: KEYS, "claim": TEXTS}
    ratings: dict[str, Column] = {"claim_id": KEYS[::-1], "rating": WORDS[::-1]}
    if key == "id":
        ratings = {"id": KEYS, **ratings}
    data, report = import_files(database(tmp_path / "a.sqlite", claims=claims, ratings=ratings))
    assert data["text"].to_list() == TEXTS
    assert data["label_raw"].to_list() == WORDS
    assert any("'ratings' was joined by 'claim_id': 60 of 60" in note for note in report.notes)


@pytest.mark.parametrize("packed", [False, True])
def test_a_table_of_codes_and_words_says_what_labels_mean(packed: bool, tmp_path: Path) -> None:
    file = database(
        tmp_path / "a.db",
        claims={"id": KEYS, "claim": TEXTS, "views": [i % 4 for i in KEYS], "rating_id": [i % 3 for i in KEYS]},
        ratings={"id": [0, 1, 2, 3], "name": ["True", "False", "Mixture", "Unproven"]},
        visits={"at": [f"2021-01-01T00:00:{i:02}" for i in KEYS], "page": again("/a", "/b")},
    )  # fmt: skip
    if packed:
        (tmp_path / "in").mkdir()
        file = Path(shutil.make_archive(str(tmp_path / "z"), "zip", tmp_path, "a.db"))
    data, report = import_files(file)
    assert (data["label_raw"].to_list(), report.labels) == (WORDS, THIRDS)
    assert any("1 is 'False'" in note for note in report.notes)


def test_of_two_tables_that_compete_each_is_offered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = database(
        tmp_path / "a.sqlite",
        tweets={"id": KEYS, "text": TEXTS, "label": WORDS},
        posts={
            "id": KEYS,
            "body": [f"{text}." for text in TEXTS],
            "verdict": again("True", "False"),
        },
    )
    counts = [labels(command) for command in commands(file, capsys)]
    assert sorted(counts, key=len) == [{"true": 30, "false": 30}, THIRDS]


def test_ids_that_are_no_keys_are_not_offered_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = database(
        tmp_path / "a.sqlite",
        claims={"id": KEYS, "claim": TEXTS},
        ratings={"id": [i + 500 for i in KEYS], "rating": WORDS},
    )
    assert not any("join=ratings:id" in word for one in commands(file, capsys) for word in one)


def test_a_database_cannot_do_harm(tmp_path: Path) -> None:
    """What is computed, a view, and an index of words are not read; nor is what is damaged."""
    file = tmp_path / "a.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute(
            "create table posts (text, label, picture, big generated always as (zeroblob(900000000)))"
        )
        rows = zip(TEXTS, WORDS, [b"\x89PNG"] * N, strict=True)
        connection.executemany("insert into posts values (?, ?, ?)", rows)
        connection.execute("create view bomb as select zeroblob(900000000) as text from posts")
        connection.execute("create virtual table found using fts5(text)")
        connection.execute("insert into found select text from posts")
        connection.commit()
    data, report = import_files(file)
    assert (data["text"].to_list(), report.labels) == (TEXTS, THIRDS)
    assert any("left out: picture" in note for note in report.notes)
    (tmp_path / "cut.sqlite").write_bytes(file.read_bytes()[:5000])
    with pytest.raises(UnreadableFile, match="cut.sqlite"):
        import_files(tmp_path / "cut.sqlite")
    with pytest.raises(DataError, match="no records"):
        import_files(database(tmp_path / "none.sqlite", posts={"text": [], "label": []}))


CLASSES = """---
license: mit
dataset_info:
  features:
  - name: claim
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': pants-fire
          '1': half-true
          '2': true
{}---
# Claims of five towns
"""
CONFIGS = """configs:
- config_name: default
  data_files:
  - split: train
    path: data/one.*
  - split: test
    path:
    - data/two.*
"""
INFOS = {"default": {"features": {"label": {"names": ["pants-fire", "half-true", "true"]}}}}


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("card", ["README.md", "dataset_infos.json", "data/dataset_info.json"])
def test_the_card_of_a_folder_names_classes_and_splits(
    card: str, suffix: str, tmp_path: Path
) -> None:
    frame = pl.DataFrame({"claim": TEXTS, "label": [i % 3 for i in KEYS]})
    (tmp_path / "data").mkdir()
    for name, part in (("one", frame[:40]), ("two", frame[40:])):
        file = str(tmp_path / "data" / f"{name}.{suffix}")
        if suffix == "csv":
            part.write_csv(file)
        elif suffix == "jsonl":
            part.write_ndjson(file)
        else:
            part.write_parquet(file)
    with pytest.raises(ClaimlabError) as asked:
        import_files(tmp_path)
    assert "map" in {choice.argument for choice in asked.value.choices}, "codes without names"
    words = json.dumps(INFOS if "infos" in card else INFOS["default"])
    text = CLASSES.format(CONFIGS) if card == "README.md" else words
    (tmp_path / card).write_text(text, encoding="utf-8")
    data, report = import_files(tmp_path)
    assert data["label_raw"].to_list() == again("pants-fire", "half-true", "true")
    assert report.labels == THIRDS
    evidence = f"'label' is spelled out by '{card}': 0 is 'pants-fire', 1 is 'half-true'"
    assert any(evidence in note for note in report.notes)
    if card == "README.md":
        assert data["split"].to_list() == ["train"] * 40 + ["test"] * 20
        assert any("which file is which split" in note for note in report.notes)


@pytest.mark.parametrize(
    "card", ["---\n[", "---\n- a\n---\n", "no front matter", "---\ndataset_info: 3\n---\n"]
)
def test_a_card_that_says_nothing_is_passed_over(card: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(card, encoding="utf-8")
    write(tmp_path / "a.csv", "claim,label", TEXTS, WORDS)
    assert import_files(tmp_path)[1].labels == THIRDS


HOSTILE = {
    "lists in lists": "x: " + "[" * 100_000 + "]" * 100_000,
    "lists in lists in one line": "- " * 100_000 + "x",
    "references": (
        "p: &p\n"
        + "- a.csv\n" * 300
        + "f: &f\n"
        + "- split: s\n  path: *p\n" * 300
        + "configs:\n"
        + "- data_files: *f\n" * 300
    ),
}


@pytest.mark.parametrize("front", HOSTILE.values(), ids=HOSTILE)
def test_a_card_made_to_keep_a_reader_busy_is_passed_over(front: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"---\n{front}\n---\n", encoding="utf-8")
    write(tmp_path / "a.csv", "claim,label", TEXTS, WORDS)
    start = time.process_time()
    assert import_files(tmp_path)[1].labels == THIRDS
    assert time.process_time() - start < 10


def test_patterns_of_a_card_are_not_compared_without_end(tmp_path: Path) -> None:
    patterns = "".join(f"  - split: s\n    path: 'a*{number}*b'\n" for number in range(20_000))
    card = f"---\nconfigs:\n- data_files:\n{patterns}---\n"
    (tmp_path / "README.md").write_text(card, encoding="utf-8")
    for number in range(200):
        (tmp_path / f"a{number}.csv").write_text("claim,label\n", encoding="utf-8")
    start = time.process_time()
    with Bundle.open(tmp_path) as bundle:
        assert splits_in(bundle) == {}
    assert time.process_time() - start < 15


NAMES = {"names": ["a", "b"]}
ODD = {
    "several of one": {"info": [{"features": {"label": NAMES}}] * 2},
    "a list for a name": {"d": {"features": [{"name": ["label"], "dtype": NAMES}]}},
    "a number of 5,000 digits": {"d": {"features": {"label": {"names": {"9" * 5_000: "a"}}}}},
    "half a character": {"d": {"features": {"label": {"names": ["\ud800", "b", "c"]}}}},
}


@pytest.mark.parametrize("infos", ODD.values(), ids=ODD)
def test_odd_words_about_classes_are_no_error(infos: object, tmp_path: Path) -> None:
    (tmp_path / "dataset_infos.json").write_text(json.dumps(infos), encoding="utf-8")
    write(tmp_path / "a.csv", "claim,label", TEXTS, again("0", "1", "2"))
    with Bundle.open(tmp_path) as bundle:
        table = read_table(bundle, "a.csv", ReadOptions())
    assert table.frame.height == len(TEXTS)


def test_a_note_names_some_of_many_classes(tmp_path: Path) -> None:
    names = [f"class {number}" for number in range(5_000)]
    infos = {"d": {"features": {"label": {"names": names}}}}
    (tmp_path / "dataset_infos.json").write_text(json.dumps(infos), encoding="utf-8")
    write(tmp_path / "a.csv", "claim,label", TEXTS, again("0", "1", "2"))
    with Bundle.open(tmp_path) as bundle:
        [note] = read_table(bundle, "a.csv", ReadOptions()).notes
    assert note.endswith(" and 4,960 more.")
    assert len(note) < 2_000


def test_numbers_that_the_card_has_no_name_for_are_asked_about(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(CLASSES.format(""), encoding="utf-8")
    write(tmp_path / "a.csv", "claim,label", TEXTS, again("0", "1", "7"))
    with pytest.raises(ClaimlabError) as asked:
        import_files(tmp_path)
    assert "map" in {choice.argument for choice in asked.value.choices}


def test_configurations_that_disagree_name_their_own_files(tmp_path: Path) -> None:
    names = {"towns": ["real", "fake"], "cities": ["fake", "real"]}
    infos = {name: {"features": {"label": {"names": two}}} for name, two in names.items()}
    (tmp_path / "dataset_infos.json").write_text(json.dumps(infos), encoding="utf-8")
    for name in names:
        texts = [f"{text} in all {name}" for text in TEXTS]
        write(tmp_path / name / "part.csv", "claim,label", texts, again("0", "0", "1"))
    data, _ = import_files(tmp_path)
    verdicts = dict(zip(data["text"], data["veracity"], strict=True))
    assert verdicts[f"{TEXTS[0]} in all towns"] == "true"
    assert verdicts[f"{TEXTS[0]} in all cities"] == "false"


def test_a_sheet_of_codes_and_words_says_what_labels_mean(tmp_path: Path) -> None:
    book = Workbook()
    data, legend = book.create_sheet("Data", 0), book.create_sheet("Legend", 1)
    for row in [("id", "claim", "score"), *zip(KEYS, TEXTS, [i % 3 for i in KEYS], strict=True)]:
        data.append(row)
    for pair in [("code", "meaning"), (0, "True"), (1, "False"), (2, "Mixture"), (3, "Unproven")]:
        legend.append(pair)
    book.save(tmp_path / "a.xlsx")
    dataset, report = import_files(tmp_path / "a.xlsx")
    assert (dataset["label_raw"].to_list(), report.labels) == (WORDS, THIRDS)
    assert any("'score' is spelled out by 'Legend': 0 is 'True'" in n for n in report.notes)


def test_a_column_for_each_label_is_one_label(tmp_path: Path) -> None:
    kinds = {
        "true": again("1", "0", "0"),
        "false": again("0", "1", "0"),
        "mixture": again("0", "0", "1"),
    }
    path = write(tmp_path / "a.csv", "statement,true,false,mixture", TEXTS, *kinds.values())
    dataset, report = import_files(path)
    assert (dataset["label_raw"].to_list()[:3], report.labels) == (list(kinds), THIRDS)
    path = write(
        tmp_path / "c.csv",
        "text,label_fake,label_real",
        TEXTS,
        again("yes", "no"),
        again("no", "yes"),
    )
    assert import_files(path)[0]["label_raw"].to_list()[:2] == ["fake", "real"]
    both = {**kinds, "true": again("1", "1", "0")}
    path = write(tmp_path / "b.csv", "statement,true,false,mixture", TEXTS, *both.values())
    with pytest.raises(ClaimlabError, match="Several columns may be the label"):
        import_files(path)


@pytest.mark.parametrize("names", [("berita_hoax", "berita_valid"), ("train", "test")])
def test_lines_of_a_few_files_that_are_named_after_labels_are_records(
    names: tuple[str, str], tmp_path: Path
) -> None:
    for name, part in zip(names, (TEXTS[:30], TEXTS[30:]), strict=True):
        (tmp_path / f"{name}.txt").write_text("\n".join(part), encoding="utf-8")
    dataset, report = import_files(tmp_path)
    assert sorted(dataset["text"]) == sorted(TEXTS)
    if "train" in names:
        assert dict(dataset["split"].value_counts().iter_rows()) == {"train": 30, "test": 30}
    else:
        assert report.labels == {"false": 30, "true": 30}


def test_columns_without_a_name_and_a_value_do_not_hide_the_header(tmp_path: Path) -> None:
    empty = again("")
    path = write(
        tmp_path / "a.csv", "Aussage,Urteil,,", TEXTS, again("wahr", "unwahr"), empty, empty
    )
    assert import_files(path)[0]["text"].to_list() == TEXTS
    rows = [["claims@questions"], *([text] for text in TEXTS), ["a text", "with commas", "in it"]]
    assert has_header(rows, frozenset())


def test_a_list_under_a_strange_name_holds_the_records_of_a_file(tmp_path: Path) -> None:
    """A folder of many such objects has a record in each; one or a few have a list of records."""
    rows = [
        {"vyrok": text, "hodnoceni": "pravda" if i % 2 else "lež"} for i, text in enumerate(TEXTS)
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"verze": "1.2", "vyroky": rows}), encoding="utf-8")
    dataset, report = import_files(path)
    assert dataset.records["text"].to_list() == TEXTS
    assert report.labels == {"false": 30, "true": 30}
    assert any("in a list inside an object" in note for note in report.notes)
    folder = tmp_path / "d"
    folder.mkdir()
    for i in range(20):
        one = {"id": f"p{i}", "label": ("fake", "real")[i % 2], "replies": rows[:9]}
        (folder / f"{i}.json").write_text(json.dumps(one), encoding="utf-8")
    with contextlib.suppress(ClaimlabError):
        assert import_files(folder)[0].records.height == 20


def test_lines_of_texts_and_of_labels_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/texts.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    (tmp_path / "d/labels.txt").write_text("\r\n".join(again("fake", "true")), encoding="utf-8")
    dataset, report = import_files(tmp_path / "d")
    assert dataset.records["text"].to_list() == TEXTS
    assert report.labels == {"false": 30, "true": 30}
    (tmp_path / "d/labels.txt").write_text("\n".join(again("fake", "true")[1:]), encoding="utf-8")
    with contextlib.suppress(ClaimlabError):  # a line less: they are two texts
        assert import_files(tmp_path / "d")[0].records.height == 2


def test_rows_of_a_json_list_below_their_header(tmp_path: Path) -> None:
    rows = [
        ["id", "texto", "rotulo"],
        *([i, t, ("falso", "fato")[i % 2]] for i, t in enumerate(TEXTS)),
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    dataset, report = import_files(path)
    assert dataset.records["text"].to_list() == TEXTS
    assert report.labels == {"false": 30, "true": 30}


def test_marks_in_a_column_for_each_label(tmp_path: Path) -> None:
    marks = [["x" if i % 3 == place else "" for i in range(N)] for place in range(3)]
    path = write(tmp_path / "a.csv", "Aussage,wahr,falsch,unbelegt,Notiz", TEXTS, *marks, [""] * N)
    _, report = import_files(path)
    assert report.labels == {"true": 20, "false": 20, "unknown": 20}


def test_a_header_may_name_two_columns_alike(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        "Text,Verdict,Text,Data",
        TEXTS,
        again("fals", "real"),
        BODIES,
        ["2021-05-03"] * N,
    )
    dataset, report = import_files(path, text="Text")
    assert dataset.records["text"].to_list() == TEXTS
    assert report.labels == {"false": 30, "true": 30}


def test_scores_up_to_a_hundred_are_a_scale(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv", "frase,puntaje_veracidad", TEXTS, again("0", "25", "50", "75", "100")
    )
    with pytest.raises(ClaimlabError) as asked:
        import_files(path, label="puntaje_veracidad")
    maps = [str(one.value) for one in asked.value.choices if one.argument == "map"]
    assert "0=false,25=false,50=mixed,75=true,100=true" in maps


def test_a_word_with_a_hyphen_is_no_language(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        "tweet,event,category",
        TEXTS,
        again("flood", "fire"),
        again("rumour", "non-rumour", "rumour"),
    )
    with pytest.raises(ClaimlabError) as asked:
        import_files(path)
    assert "category" in [one.value for one in asked.value.choices]


def test_times_since_1970_are_the_date_and_no_id(tmp_path: Path) -> None:
    times = [str(1_580_000_000 + 86_400 * i) for i in range(N)]
    path = write(
        tmp_path / "a.csv", "post_message,timestamp_post,label", TEXTS, times, again("fake", "real")
    )
    dataset, _ = import_files(path)
    assert str(dataset.records["date"][0]).startswith("2020-01-26")
    assert dataset.records["date"].null_count() == 0


def test_a_question_over_prose_is_a_header_where_words_are_over_times(tmp_path: Path) -> None:
    header = "Zeitstempel,Which message did you receive in the last week?,Is it true?"
    times = [f"2021/04/{1 + i % 28:02} 3:{i:02}:00 PM" for i in range(N)]
    dataset, _ = import_files(
        write(tmp_path / "a.csv", header, times, TEXTS, again("real", "fake"))
    )
    assert dataset.records["text"].to_list() == TEXTS


def test_a_code_book_of_several_columns_spells_out_each(tmp_path: Path) -> None:
    codes = again("1", "2", "9")
    topics = [str(1 + i % 4) for i in range(N)]
    write(
        tmp_path / "d/data.csv",
        "case,v1_text,v2_verdict,v3_topic",
        again("a"),
        TEXTS,
        codes,
        topics,
    )
    book = ["v2_verdict,1,richtig", "v2_verdict,2,falsch", "v2_verdict,9,unklar"]
    book += [f"v3_topic,{1 + i},{word}" for i, word in enumerate(TOWNS[:4])]
    (tmp_path / "d/codebook.csv").write_text(
        "\n".join(["variable,code,label", *book]), encoding="utf-8"
    )
    _, report = import_files(tmp_path / "d")
    assert report.labels == {"true": 20, "false": 20, "unknown": 20}


def test_one_unknown_label_is_offered_as_what_the_others_lack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", "text,label", TEXTS, again("qua", "true", "unverified"))
    assert labels(commands(path, capsys)[0]) == {"false": 20, "true": 20, "unknown": 20}


@pytest.mark.parametrize(
    ("words", "codes", "told"),
    [
        ("`label` is 1 for fake news and 0 for real news.", "01", {"true": 30, "false": 30}),
        ("topic: 0 = boats, 1 = fake\n\nlabel:\n- 0: real\n- 1: fake", "01", {"true": 30, "false": 30}),
        ("| label | |\n|---|---|\n| 0 | real |\n| 1 | fake |", "01", {"true": 30, "false": 30}),
        ("1 = satire\n2 = hoax\n3 = trusted", "123", {"unknown": 20, "false": 20, "true": 20}),
        ("The label: real = 0, fake = 1", "01", {"true": 30, "false": 30}),
        ("0 = not fake, 1 = fake", "01", {"true": 30, "false": 30}),
        ("0 = real, 1 = not quite real", "01", None),  # a negated word says nothing
        ("0 = real, 1 = fake. In some files 1 = real", "01", None),
        ("0 = real, 1 = something else", "01", None),
        ("Label\t1: false information, 0: correct information, 2: about the weather", "0110110112", {"true": 18, "false": 36}),
        ("We kept 0 fake and 1 real texts of 2020.1 = fake", "01", None),
    ],
)  # fmt: skip
def test_a_text_beside_the_data_says_what_codes_mean(
    words: str, codes: str, told: dict[str, int] | None, tmp_path: Path
) -> None:
    write(tmp_path / "d/all.csv", "label,article", again(*codes), BODIES)
    (tmp_path / "d/README.md").write_text(f"# News\n\n{words}\n", encoding="utf-8")
    if told is None:
        with pytest.raises(ClaimlabError, match="meaning of these label values is not known"):
            import_files(tmp_path / "d")
    else:
        _, report = import_files(tmp_path / "d")
        assert report.labels == told
        assert "'README.md'" in guess_files(tmp_path / "d").picks["label"].why


@pytest.mark.parametrize("noise", ["\n", "'", " ", "=", "x ", "0 ", "0=", "label ", "(", "|"])
def test_a_text_made_to_keep_a_reader_busy_says_nothing(noise: str, tmp_path: Path) -> None:
    write(tmp_path / "d/all.csv", "label,article", again("0", "1"), BODIES)
    (tmp_path / "d/README.md").write_text(noise * 60_000, encoding="utf-8")
    started = time.process_time()
    with pytest.raises(ClaimlabError):
        import_files(tmp_path / "d")
    assert time.process_time() - started < 5


def test_a_sheet_of_prose_says_what_codes_mean(tmp_path: Path) -> None:
    book = Workbook()
    about = book.create_sheet("About", 0)
    for line in ("Claims of a newsroom", "Codes: 1 - true, 2 - false, 3 - unverified"):
        about.append([line])
    sheet = book.create_sheet("Data")
    sheet.append(["id", "claim", "label"])
    for i, text in enumerate(TEXTS):
        sheet.append([i, text, 1 + i % 3])
    book.save(tmp_path / "a.xlsx")
    _, report = import_files(tmp_path / "a.xlsx")
    assert report.labels == {"true": 20, "false": 20, "unknown": 20}


def test_a_flag_that_says_what_it_means_comes_before_its_words(tmp_path: Path) -> None:
    """A kind of article, satire or not, is not what its authors call fake."""
    path = write(
        tmp_path / "a.csv", "Body,Fake,Art", BODIES, again("0", "1"), again("echt", "Satire")
    )
    with pytest.raises(ClaimlabError) as asked:
        import_files(path)
    assert asked.value.choices[0].value == "0=true,1=false"
    _, report = import_files(path, map="0=true,1=false")
    assert report.labels == {"true": 30, "false": 30}


def test_lines_that_repeat_in_kind_are_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Metadata, links and text; the names of the files are the labels, not their splits."""
    for name in ("train_rumor", "train_nonrumor", "test_rumor", "test_nonrumor"):
        lines = [
            f"{i}|name {i}|https://a.example/{i}|{i * 3}\nhttps://b.example/{name}{i}.jpg|null"
            f"\n{name.replace('_', ' ')}: {text}"
            for i, text in enumerate(TEXTS)
        ]
        (tmp_path / "d").mkdir(exist_ok=True)
        (tmp_path / "d" / f"{name}.txt").write_text("\n".join(lines), encoding="utf-8")
    printed = commands(tmp_path / "d", capsys)
    assert labels(printed[0]) == {"true": 120, "false": 120}
    records = Dataset.open(printed[0][printed[0].index("-o") + 1]).records
    assert records.filter(pl.col("text").str.starts_with("train"))["split"].unique().to_list() == [
        "train"
    ]


def test_lines_of_prose_are_not_cut_into_records(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    assert read_table(Bundle.open(tmp_path / "a.txt"), "a.txt", ReadOptions()).frame.shape == (N, 1)


def test_lists_under_ids_are_rows(tmp_path: Path) -> None:
    """The statements about each table with a label each, and what the table is called."""
    tables = {
        f"{i}.html": [TEXTS[4 * i : 4 * i + 4], [1, 0, 0, 1], TOWNS[i % 5]] for i in range(N // 4)
    }
    (tmp_path / "a.json").write_text(json.dumps(tables), encoding="utf-8")
    dataset, _ = import_files(tmp_path / "a.json", map="0=false,1=true")
    assert dataset.records["text"].to_list() == TEXTS
    assert dataset.records["veracity"].to_list()[:4] == ["true", "false", "false", "true"]


def test_lists_under_names_are_columns(tmp_path: Path) -> None:
    names = ("text", "label", "town", "page", "year", "place")
    (tmp_path / "a.json").write_text(
        json.dumps({name: [f"{name} {text}" for text in TEXTS] for name in names}), encoding="utf-8"
    )
    assert read_table(Bundle.open(tmp_path / "a.json"), "a.json", ReadOptions()).frame.width == 6


@pytest.mark.parametrize(
    "names",
    [("Set_Misinfo_FAKE", "Set_Misinfo_TRUE"), ("Set_Misinfo_FAKE", "Set_Misinfo_TRUE", "EXTRA_News")],
)  # fmt: skip
def test_what_names_of_files_have_in_common_is_no_label(
    names: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n, name in enumerate(names):
        write(tmp_path / f"d/{name}.csv", "no,text", again("1"), [f"{n} {text}" for text in TEXTS])
    command = ["import", str(tmp_path / "d"), "-o", str(tmp_path / "out")]
    command = commands(tmp_path / "d", capsys)[0] if len(names) > 2 else command
    rest = {"unknown": 60} if len(names) > 2 else {}
    assert labels(command) == {"true": 60, "false": 60, **rest}


def test_a_readme_that_explains_codes_says_which_column_is_the_label(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    write(
        folder / "a.csv",
        "no,post,ann,spam",
        again("7"),
        TEXTS,
        again("0", "1"),
        again("1", "0", "0"),
    )
    (folder / "README.md").write_text(
        "Columns: spam, by a filter. ann: final annotation, `0` = misinformation, `1` = accurate.",
        encoding="utf-8",
    )
    dataset, report = import_files(folder)
    assert report.labels == {"false": 30, "true": 30}
    assert "README.md" in dataset.notes[0]
    (folder / "README.md").write_text("0 = misinformation, 1 = accurate", encoding="utf-8")
    with pytest.raises(ClaimlabError, match="No column looks like the label"):
        import_files(folder)


def test_annotators_are_not_offered_as_labels(tmp_path: Path) -> None:
    """Their names are words, which labels are too; what they said is yes and no."""
    texts = [text for text in TEXTS for _ in range(3)]
    who, said = list("ABC") * N, ["yes", "no", "yes"] * N
    path = write(tmp_path / "a.csv", "text,coder,opinion", texts, who, said)
    with pytest.raises(ClaimlabError, match="may be the label|few values") as error:
        import_files(path)
    assert [choice.value for choice in error.value.choices] == ["opinion", "none"]
    dataset, report = import_files(path, label="opinion", map="yes=true,no=false")
    assert report.labels == {"true": 60}
    assert dataset.tables["annotations"].height == 180


def test_of_copies_the_one_with_names_of_columns_is_read(tmp_path: Path) -> None:
    verdicts = again("true", "false")
    for part, texts in (("train", TEXTS), ("test", [f"{text}." for text in TEXTS])):
        write(tmp_path / f"{part}.csv", "sentence,verdict", texts, verdicts)
        lines = [f"{verdict}\t{text}\n" for verdict, text in zip(verdicts, texts, strict=True)]
        (tmp_path / f"{part}.txt").write_text("".join(lines), encoding="utf-8")
    dataset, report = import_files(tmp_path)
    assert report.labels == {"false": 60, "true": 60}
    assert set(dataset.records["split"]) == {"train", "test"}


def test_of_threads_the_first_posts_are_offered_with_their_folders_as_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for i, text in enumerate(TEXTS):
        thread = (
            tmp_path
            / f"d/{('flood', 'strike')[i % 2]}/{('rumours', 'non-rumours')[i % 3 == 0]}/{i}"
        )
        posts = {f"source/{i}": text, f"replies/{i}1": "Really?", f"replies/{i}2": f"No, {i}."}
        for place, words in posts.items():
            file = thread / f"{place}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps({"id": i, "text": words, "user": "x"}), encoding="utf-8")
    printed = commands(tmp_path / "d", capsys)
    assert "*/source/*" in printed[0]
    assert labels(printed[0]) in ({"true": 20, "false": 40}, {"true": 40, "false": 20})


def test_a_table_that_names_files_is_joined_to_their_texts(tmp_path: Path) -> None:
    names = [f"art{i:02}.txt" for i in range(N)]
    write(tmp_path / "meta.csv", "file,verdict", names, again("fake", "real"))
    (tmp_path / "texts").mkdir()
    for name, body in zip(names, BODIES, strict=True):
        (tmp_path / "texts" / name).write_text(body, encoding="utf-8")
    dataset, report = import_files(tmp_path)
    assert report.labels == {"false": 30, "true": 30}
    assert set(dataset.records["text"]) == {body.strip() for body in BODIES}


def test_the_name_of_a_scale_says_which_end_is_true(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "rating (1 = completely false; 5 = completely true)"
    path = write(tmp_path / "a.csv", f"statement,{name}", TEXTS, again("1", "2", "3", "4", "5"))
    assert "1=false,2=false,3=mixed,4=true,5=true" in commands(path, capsys)[0]
