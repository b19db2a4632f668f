"""What a row is and what its label says is never guessed: small files in the shapes in which a
meaning was once read wrongly, and tables of every kind of label whose meaning is known.
"""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
import shutil
from pathlib import Path

import polars as pl
import pytest

from claimlab.clean.front import clean
from claimlab.clean.recipe import parse_recipe
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, DataError, Question, UnmappedLabels
from claimlab.exchange.importer import guess_files, import_files

N = 60
TOWNS = ("Arvendal", "Belmora", "Castrin", "Dunholt", "Elvanto")
TEXTS = [f"The council of {TOWNS[i % 5]} bought {i + 2} buses for the school" for i in range(N)]
FLAGGED = [i % 6 == 0 for i in range(N)]  # ten of sixty
Columns = dict[str, list[str]]


def write(path: Path, **columns: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return path


def flags(yes: str = "True", no: str = "False") -> list[str]:
    return [yes if flagged else no for flagged in FLAGGED]


def again(*values: str) -> list[str]:
    return [values[i % len(values)] for i in range(N)]


def printed(command: list[str], capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The commands that an import prints where it asks; none where it does not."""
    code = run(command)
    lines = re.findall(r"^  claimlab (import .*)$", capsys.readouterr().err, re.MULTILINE)
    assert bool(lines) == (code != 0), (code, lines)
    return [shlex.split(line) for line in lines]


# --- What "true" is true of


@pytest.mark.parametrize("name", ["flag", "label", "rumor", "is_rumor", "class", "is_fake"])
def test_a_flag_is_asked_about_with_examples_also_when_it_is_named(
    name: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.csv", claim=TEXTS, **{name: flags()})
    with pytest.raises(ClaimlabError) as asked:
        import_files(path, label=name)
    words = str(asked.value)
    assert words.count(TEXTS[0][:40]) == words.count(TEXTS[1][:40]) == 1, "an example of each"
    assert asked.value.exit_code == 1
    offered = [str(one.value) for one in asked.value.choices if one.argument == "map"]
    assert {"False=true,True=false", "False=false,True=true"} <= set(offered)


@pytest.mark.parametrize(
    ("name", "first"),
    [("is_fake", "0=true,1=false"), ("misinformation", "0=true,1=false"), ("is_real", "0=false,1=true")],
)  # fmt: skip
def test_a_name_is_no_proof_but_says_which_answer_comes_first(
    name: str, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", claim=TEXTS, **{name: flags("1", "0")})
    for options in ([], ["--label", name], ["--yes"]):
        lines = printed(["import", str(path), "-o", str(tmp_path / "o"), *options], capsys)
        assert first in lines[0]
        assert run([*lines[0], "--force"]) == 0
        labels = Dataset.open(tmp_path / "o")["veracity"].value_counts()
        expected = {"true": 10, "false": 50} if name == "is_real" else {"true": 50, "false": 10}
        assert dict(labels.iter_rows()) == expected
        shutil.rmtree(tmp_path / "o")


def test_no_printed_line_turns_flagged_lies_into_truths(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line that names the flag says what it means, or the next question asks it."""
    path = write(tmp_path / "a.csv", claim=TEXTS, flag=flags())
    lines = printed(["import", str(path), "-o", str(tmp_path / "o")], capsys)
    assert lines
    for line in lines:
        assert "--map" in line or "none" in line, line


@pytest.mark.parametrize("said", ["True=false", "False=true"])
def test_one_value_of_a_flag_says_the_other(said: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", claim=TEXTS, flag=flags())
    _, report = import_files(path, label="flag", map=said)
    assert report.labels == {"false": 10, "true": 50}
    assert "'True'" in report.understood[1]


def test_neither_yes_nor_a_plan_without_meaning_decides_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", claim=TEXTS, label=flags())
    out, plan = tmp_path / "out", tmp_path / "plan.toml"
    assert run(["import", str(path), "-o", str(out), "--yes"]) == 1
    guess_files(path, ask=False).save(plan)
    assert '"True" = ""' in plan.read_text(encoding="utf-8")
    assert run(["import", str(path), "-o", str(out), "--plan", str(plan)]) == 1
    assert not out.exists()
    capsys.readouterr()


TASKS = {
    "IsCheckworthy": ("True", "False", "check-worthiness"),
    "propaganda": ("true", "false", "propaganda"),
    "is_clickbait": ("1", "0", "clickbait"),
    "satire": ("yes", "no", "satire"),
    "harmful": ("yes", "no", "harm"),
    "conspiracy": ("1", "0", "conspiracy"),
    "sentiment": ("positive", "negative", "sentiment"),
    "helpfulness": ("helpful", "not helpful", "helpfulness"),
    "subjectivity": ("SUBJ", "OBJ", "subjectivity"),
    "source_credibility": ("reliable", "unreliable", "source-credibility"),
    "stance": ("against", "for", "stance"),
}


@pytest.mark.parametrize("name", TASKS)
def test_labels_of_another_task_never_become_verdicts(name: str, tmp_path: Path) -> None:
    yes, no, task = TASKS[name]
    dataset, report = import_files(write(tmp_path / "a.csv", text=TEXTS, **{name: flags(yes, no)}))
    assert (report.task, report.labels) == (task, {})
    assert dataset["label_raw"].to_list() == flags(yes, no)
    assert task in report.understood[1]


@pytest.mark.parametrize(
    ("word", "task"),
    [("propaganda", "propaganda"), ("clickbait", "clickbait"), ("satire", "satire")],
)
@pytest.mark.parametrize("where", ["file", "readme", "values"])
def test_what_files_speak_of_comes_before_any_verdict(
    word: str, task: str, where: str, tmp_path: Path
) -> None:
    values = flags(word, f"no-{word}") if where == "values" else flags("true", "false")
    name = f"{word}_train.csv" if where == "file" else "train.csv"
    write(tmp_path / "d" / name, text=TEXTS, label=values)
    if where == "readme":
        (tmp_path / "d/README.md").write_text(f"# A corpus for {word} detection", encoding="utf-8")
    if where == "values":
        assert import_files(tmp_path / "d")[1].task == task
        return
    with pytest.raises(Question) as asked:
        import_files(tmp_path / "d")
    first = asked.value.choices[0]
    assert (first.argument, first.value) == ("map", task)
    assert import_files(tmp_path / "d", map=task)[1].labels == {}


def test_the_name_of_a_flag_counts_more_than_that_of_a_file(tmp_path: Path) -> None:
    """A file about people against vaccines, and a column that says what its yes means."""
    path = write(tmp_path / "antivax_posts.csv", text=TEXTS, is_misinformation=flags("1", "0"))
    with pytest.raises(UnmappedLabels) as asked:
        import_files(path)
    assert asked.value.choices[0].value == "0=true,1=false"


def test_any_label_can_be_kept_as_it_is_written(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", text=TEXTS, label=again("-1", "0", "1"))
    dataset, report = import_files(path, map="label_raw")
    assert (report.task, report.labels) == ("label_raw", {})
    assert dataset["label_raw"].to_list() == again("-1", "0", "1")


def test_ratings_that_fact_checkers_use_are_asked_about_no_more_than_before(tmp_path: Path) -> None:
    for name, words in {
        "label": ("pants-fire", "true", "half-true"),
        "verdict": ("True", "False"),
        "Bewertung": ("falsch", "richtig"),
        "credibility": ("false", "mostly-true", "half-true"),
    }.items():
        _, report = import_files(
            write(tmp_path / f"{name}.csv", claim=TEXTS, **{name: again(*words)})
        )
        assert report.labels, name
        assert report.understood[0] == "one record = one claim (60)"


# --- What a record is


def test_of_close_columns_the_one_with_the_usual_name_is_offered_first(tmp_path: Path) -> None:
    """A fact-check has a title of its own, and the claim that it is about."""
    titles = [f"No, Mayor {TOWNS[i % 5]} did not say this about bus {i}" for i in range(N)]
    columns = {
        "page_title": titles,
        "review_claimReviewed": TEXTS,
        "verdict": again("true", "false"),
    }
    with pytest.raises(Question, match="may be the text") as asked:
        import_files(write(tmp_path / "a.csv", **columns))
    assert asked.value.choices[0].value == "review_claimReviewed"


def test_a_row_for_each_judgement_is_one_record_with_its_annotations(tmp_path: Path) -> None:
    """Annotators are numbers under the name `user`, and items have one to three rows."""
    draw = random.Random(3)
    rows = [
        (str(user), text, ("SUPPORTS", "REFUTES")[(i + (user == 2 and i % 4 == 0)) % 2])
        for i, text in enumerate(TEXTS)
        for user in draw.sample(range(4), 1 + i % 3)
    ]
    columns = dict(zip(("user", "claim", "label"), map(list, zip(*rows, strict=True)), strict=True))
    dataset, report = import_files(write(tmp_path / "a.csv", **columns))
    assert sorted(dataset["text"]) == sorted(TEXTS)
    assert dataset.tables["annotations"].height == len(rows)
    assert f"{len(rows)} rows: one for each annotator" in report.understood[0]
    assert report.agreement is not None


def test_columns_that_may_both_name_annotators_are_asked_about(tmp_path: Path) -> None:
    draw = random.Random(5)
    rows = [
        (text, ("true", "false")[draw.random() < 0.4], f"w{n}", f"b{(n + i) % 3}", f"name {n}")
        for i, text in enumerate(TEXTS)
        for n in range(3)
    ]
    names = ("claim", "verdict", "wid", "part_of_task", "wname")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    path = write(tmp_path / "a.csv", **columns)
    with pytest.raises(Question, match="several columns may say who gave them") as asked:
        import_files(path)
    assert [one.value for one in asked.value.choices] == ["wid", "part_of_task", "none"]
    dataset, report = import_files(path, rater="wid")
    assert dataset.records.height == N
    assert report.agreement is not None
    alone = {name: values for name, values in columns.items() if name != "part_of_task"}
    dataset, _ = import_files(write(tmp_path / "b.csv", **alone))
    assert dataset.records.height == N, "the number and the name of a person are one"


def test_annotators_numbered_before_their_question_are_annotators(tmp_path: Path) -> None:
    votes = {f"user{n}_stance": again("agree", "disagree", "agree") for n in (1, 2)}
    dataset, report = import_files(write(tmp_path / "a.csv", text=TEXTS, **votes))
    assert dataset.tables["annotations"].height == 2 * N
    assert report.task == "stance"


def test_experts_come_before_the_judgements_of_a_crowd(tmp_path: Path) -> None:
    """Two small tables hold the statements with the verdict of an expert."""
    for part, name in enumerate(("a", "b")):
        keys, texts = [str(i) for i in range(part, N, 2)], TEXTS[part::2]
        verdicts = again("true", "mostly-false", "half-true")[: len(keys)]
        write(
            tmp_path / f"d/experts_{name}.csv", statement_id=keys, statement=texts, verdict=verdicts
        )
    crowd = [str(i) for i in range(N) for _ in range(12)]
    write(
        tmp_path / "d/crowd.csv", statement_id=crowd, statement=[TEXTS[int(i)] for i in crowd],
        verdict=[("true", "false", "half-true")[i % 3] for i in range(len(crowd))],
        worker_time=[str(i) for i in range(len(crowd))],
    )  # fmt: skip
    plan = guess_files(tmp_path / "d", ask=False)
    assert all("experts" in table.name for table in plan.gathered.tables)


def test_editions_are_known_by_ids_and_labels(tmp_path: Path) -> None:
    ids, verdicts = [f"c{i}" for i in range(N)], again("fake", "real", "real")
    write(tmp_path / "d/raw.csv", id=ids, text=TEXTS, label=verdicts)
    lemmas = [f"council {TOWNS[i % 5]} buy {i + 2} bus school" for i in range(N)]
    write(tmp_path / "d/lemmatised.csv", id=ids, text=lemmas, label=verdicts)
    with pytest.raises(Question, match="same 60 ids with the same labels") as asked:
        import_files(tmp_path / "d")
    dataset, _ = import_files(tmp_path / "d", only=asked.value.choices[0].value)
    assert dataset.records.height == N


def test_row_numbers_of_two_splits_are_no_editions(tmp_path: Path) -> None:
    draw = random.Random(1)
    for name in ("train", "test"):
        texts = [f"{text} in the {name} year" for text in TEXTS]
        labels = [draw.choice(("fake", "real")) for _ in TEXTS]
        write(tmp_path / f"d/{name}.csv", id=list(map(str, range(N))), text=texts, label=labels)
    assert import_files(tmp_path / "d")[0].records.height == 2 * N


def test_remarks_in_a_few_rows_are_no_texts(tmp_path: Path) -> None:
    ids = [str(700_000_000_000_000_000 + 977 * i) for i in range(N)]
    remarks = ["I was not quite sure about this one here" if i == 7 else "" for i in range(N)]
    path = write(tmp_path / "a.csv", tweet_id=ids, comment=remarks, verdict=again("fake", "real"))
    dataset, report = import_files(path)
    assert dataset["text"].null_count() == N
    assert set(dataset["kind"]) == {"id-only"}
    assert "id without its text" in report.understood[0]


# --- Classes in names


def folder(place: Path, texts: list[str]) -> None:
    place.mkdir(parents=True)
    for i, text in enumerate(texts):
        (place / f"{i}.txt").write_text(text, encoding="utf-8")


def test_no_line_loses_a_class_of_folders_that_differ_in_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "d"
    places = {
        "one/fake": 9,
        "one/legit": 8,
        "two/Fake": 5,
        "two/Real": 6,
        "two/Satire": 4,
        "two/Fake_titles": 5,
    }
    for number, (place, n) in enumerate(places.items()):
        folder(data / place, [f"{text} ({number})" for text in TEXTS[:n]])
    lines = printed(["import", str(data), "-o", str(tmp_path / "o")], capsys)
    counts = []
    for line in lines:
        assert run([*line, "--force"]) == 0
        said = capsys.readouterr().err
        assert "Wrote" not in said
        labels = Dataset.open(tmp_path / "o")["veracity"].drop_nulls().value_counts()
        counts.append(dict(labels.iter_rows()))
    assert counts[0] == {"false": 14, "true": 14, "unknown": 4}
    assert all({"true", "false"} <= set(one) for one in counts)
    assert {"false": 9, "true": 8} in counts


def test_folds_are_no_labels(tmp_path: Path) -> None:
    for place, verdict in (("fake_from_web", "false"), ("real_from_web", "true")):
        for fold in range(1, 4):
            folder(
                tmp_path / "d" / place / f"fold{fold}", [f"{t} {verdict} {fold}" for t in TEXTS[:6]]
            )
    dataset, report = import_files(tmp_path / "d")
    assert report.labels == {"false": 18, "true": 18}
    assert set(dataset["split"]) == {"fold1", "fold2", "fold3"}


def test_the_name_of_one_file_says_its_class(tmp_path: Path) -> None:
    _, report = import_files(write(tmp_path / "dataset_fake.csv", text=TEXTS))
    assert report.labels == {"false": N}
    _, report = import_files(write(tmp_path / "fake_news.csv", text=TEXTS))
    assert report.labels == {}, "a title"


def test_label_files_beside_texts_are_no_texts(tmp_path: Path) -> None:
    for i, text in enumerate(TEXTS[:20]):
        (tmp_path / f"article{i}.txt").write_text(f"{text}. {text} again.", encoding="utf-8")
        (tmp_path / f"article{i}.labels.txt").write_text(
            f"{i}\tsome words\t0\t4\n", encoding="utf-8"
        )
    dataset, report = import_files(tmp_path)
    assert dataset.records.height == 20
    assert len(report.ignored_files) == 20


# --- One bad file


def test_a_bad_file_is_a_warning(tmp_path: Path) -> None:
    data = tmp_path / "d"
    write(data / "claims.csv", claim=TEXTS, verdict=again("true", "false"))
    (data / "empty.json").write_bytes(b"")
    (data / "two.csv").write_bytes(b"\n\n")
    (data / "~$claims.xlsx").write_bytes(b"\x05owner")
    (data / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    (data / "broken.xlsx").write_bytes(b"PK\x03\x04 not whole")
    dataset, report = import_files(data)
    assert dataset.records.height == N
    assert set(report.ignored_files) == {"empty.json", "two.csv", "~$claims.xlsx", "broken.xlsx"}
    assert sum("passed over" in line for line in report.lines()) == 4


# --- Damage


def test_a_wrong_code_page_is_said_at_import_and_clean_repairs_every_text(tmp_path: Path) -> None:
    """UTF-8 that some program read as Thai, and saved so."""
    thai = [f"ดื่มน้ำมะนาวรักษาโรคมะเร็งได้จริงหรือ ข่าวที่ {i}" for i in range(N)]
    table = {chr(code): code for code in range(256)}
    table |= {bytes([code]).decode("cp874", "ignore") or chr(code): code for code in range(256)}
    back = {code: sign for sign, code in table.items()}
    broken = ["".join(back[byte] for byte in text.encode()) for text in thai]
    path = write(tmp_path / "a.csv", claim=broken, verdict=again("true", "false"))
    dataset, report = import_files(path)
    assert report.damage is not None
    assert (report.damage.broken, report.damage.repairable) == (N, N)
    assert any("wrong encoding" in line for line in report.lines())
    repair = parse_recipe('name = "r"\nversion = 1\n[[steps]]\nstep = "repair-text"', "r")
    cleaned = clean(dataset, repair).dataset
    assert cleaned["text"].to_list() == thai


def test_texts_of_question_marks_are_refused(tmp_path: Path) -> None:
    lost = [re.sub(r"\w", "?", text) for text in TEXTS]
    path = write(tmp_path / "a.csv", claim=lost, verdict=again("true", "false"))
    with pytest.raises(DataError, match="mostly question marks"):
        import_files(path)
    some = [text if i % 3 else lost[i] for i, text in enumerate(TEXTS)]
    path = write(tmp_path / "b.csv", claim=some, verdict=again("true", "false"))
    assert import_files(path)[1].records == N


# --- Any table with a known meaning

NAMES = (
    "label",
    "flag",
    "class",
    "target",
    "verdict",
    "is_fake",
    "rumor",
    "propaganda",
    "stance",
    "note",
)
VALUES: dict[str, tuple[str, ...]] = {
    "bools": ("True", "False"), "codes": ("1", "0"), "answers": ("yes", "no"), "words": ("real", "fake"),
    "ratings": ("true", "half-true", "pants-fire"), "stances": ("agree", "disagree"), "odd": ("qua", "zib"),
}  # fmt: skip


def meanings(values: tuple[str, ...]) -> list[dict[str, str]]:
    """What two values may mean: verdicts, the other way round, or nothing about truth."""
    if len(values) > 2 or values == ("real", "fake"):
        known = {
            "true": "true",
            "half-true": "mixed",
            "pants-fire": "false",
            "real": "true",
            "fake": "false",
        }
        return [{value: known[value] for value in values}]
    ways = [dict(zip(values, pair, strict=True)) for pair in (("true", "false"), ("false", "true"))]
    return [{}] if values == ("agree", "disagree") else [*ways, {}]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", VALUES)
def test_a_known_meaning_is_the_outcome_or_among_the_choices(
    name: str, kind: str, tmp_path: Path
) -> None:
    values = VALUES[kind]
    said = again(*values)
    path = write(tmp_path / "a.csv", text=TEXTS, **{name: said})
    taken: dict[str, str] | None = None
    outcomes: list[dict[str, str]] = []
    try:
        taken = outcome(path, {})
    except (Question, UnmappedLabels) as asked:
        outcomes = [found for one in follow(path, asked, 3) if (found := one) is not None]
    for meaning in meanings(values):
        if taken is None:
            assert meaning in outcomes, (meaning, outcomes)
        elif taken:  # taken at once: by words for ratings, or by a name that says it
            assert name == "verdict" or kind in ("words", "ratings"), (
                "nothing else decides what is true"
            )
            assert taken in meanings(values)


def outcome(path: Path, options: dict[str, str]) -> dict[str, str]:
    """What each value came to; every record must be there, with its label as it was written."""
    dataset, report = import_files(path, **options)  # type: ignore[arg-type]
    rows = dataset.records
    assert rows.height == N
    if report.task is None and rows["label_raw"].count():
        pairs = rows.select("label_raw", "veracity").unique().drop_nulls()
        return dict(pairs.iter_rows())
    return {}


def follow(
    path: Path, asked: ClaimlabError, steps: int, given: dict[str, str] | None = None
) -> list[dict[str, str]]:
    """The outcome of every answer that is offered, and of the questions that follow it."""
    found = []
    for choice in asked.choices:
        if choice.argument in ("plan", "unmapped"):
            continue
        options = {**(given or {}), choice.argument: str(choice.value)}
        try:
            found.append(outcome(path, options))
        except (Question, UnmappedLabels) as more:
            found += follow(path, more, steps - 1, options) if steps else []
    return found


def test_the_report_says_what_was_understood_in_every_face(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", claim=TEXTS, is_fake=flags("1", "0"))
    assert run(["import", str(path), "-o", str(tmp_path / "o"), "--json", "--map", "1=false"]) == 0
    out, err = capsys.readouterr()
    [record, label] = json.loads(out)["report"]["understood"]
    assert record == "one record = one claim (60)"
    assert label.startswith("label 'is_fake': true (50: '0'), e.g.")
    assert "false (10: '1'), e.g." in label
    assert record in err
    assert label in err
    dataset = Dataset.open(tmp_path / "o")
    assert pl.Series(dataset["veracity"]).to_list() == flags("false", "true")
    assert any(label in note for note in dataset.notes), "it travels with the data"
    assert run(["show", str(tmp_path / "o")]) == 0
    assert "label 'is_fake': true" in " ".join(capsys.readouterr().out.split())
