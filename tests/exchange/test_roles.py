"""Which column is what, on tables of the kinds that were once read wrong, and what is asked."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import import_roles
import polars as pl
import pytest

from claimlab.cli.app import run
from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, Question
from claimlab.core.labels import general
from claimlab.exchange.importer import guess_files, import_files
from claimlab.exchange.importing.choose import patterns
from claimlab.exchange.importing.profile import ColumnProfile, profile
from claimlab.exchange.importing.propose import (
    ELSEWHERE,
    NAME_FEATURES,
    ROLES,
    WEIGHTS,
    facts_of,
    propose,
)
from claimlab.exchange.vocabulary import NAMES, fold_name

N = 60
NAMES_BY_LANGUAGE = packaged.toml("claimlab.exchange", "names.toml")
LANGUAGES = sorted(
    language
    for language in NAMES_BY_LANGUAGE["text"]
    if all(language in NAMES_BY_LANGUAGE[role] for role in ("label", "date", "source"))
)
CLAIMS = [f"The council of Riverton said in {1900 + i} that bridge {i} is safe" for i in range(N)]
STUDIES = [
    f"In a long review of {10 + i % 20} bridges the authors measured every pillar, found cracks in"
    f" {i % 20} of them, and advised the town to close the oldest ones for repair work in spring."
    for i in range(N)
]


def cycle(*values: str) -> list[str]:
    return [values[i % len(values)] for i in range(N)]


def picked(**columns: list[str]) -> dict[str, str | None]:
    seen = profile(pl.DataFrame(columns), general())
    return {role: pick.column for role, pick in propose(seen, {}).items()}


def write(path: Path, **columns: list[str]) -> Path:
    pl.DataFrame(columns).write_csv(path)
    return path


def test_names_are_known_in_many_languages() -> None:
    for role in (
        "text",
        "label",
        "evidence",
        "date",
        "author",
        "source",
        "url",
        "language",
        "topic",
    ):
        assert len(NAMES_BY_LANGUAGE[role]) >= 30, role


@pytest.mark.parametrize("language", LANGUAGES)
def test_headers_of_every_language(language: str) -> None:
    """Values that say little: three words that no map knows, and texts in English."""
    text, label, date, source = (
        NAMES_BY_LANGUAGE[role][language][0] for role in ("text", "label", "date", "source")
    )
    columns = {
        date: [f"{1 + i % 28}.{1 + i % 12}.2021" for i in range(N)],
        source: cycle("Torvale Times", "Kirrin Post", "Eastwick Daily"),
        label: cycle("qua", "zib", "wex"),
        text: CLAIMS,
    }
    roles = picked(**columns)
    assert (roles.get("text"), roles.get("label")) == (text, label)
    assert (roles.get("date"), roles.get("source")) == (date, source)


@pytest.mark.parametrize(
    "header",
    [
        "Final Verdict",
        "news_label",
        "claimLabel",
        "Ocena prawdziwości",
        "वर्गीकरण",
        "SONUÇ",
        "etykieta_1",
    ],
)
def test_labels_by_a_word_of_their_header(header: str) -> None:
    roles = picked(text=CLAIMS, **{header: cycle("hoax-like", "sound")}, place=cycle("A", "B", "C"))
    assert roles.get("label") == header


def test_evidence_is_not_the_text_though_it_is_longer() -> None:
    label = cycle("supports", "refutes", "neutral")
    roles = picked(evidence=STUDIES, claim=CLAIMS, label=label)
    assert (roles["text"], roles["evidence"], roles["label"]) == ("claim", "evidence", "label")
    roles = picked(Beleg=STUDIES, Behauptung=CLAIMS, Urteil=label)
    assert (roles["text"], roles["evidence"]) == ("Behauptung", "Beleg")


def test_a_claim_is_not_swapped_for_evidence_after_the_label_was_given(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", evidence=STUDIES, claim=CLAIMS, verdict_code=cycle("a", "b"))
    dataset, _ = import_files(path, label="verdict_code", map="a=true,b=false")
    assert dataset.records["text"][0] == CLAIMS[0]


def test_two_texts_without_names_are_asked_about(tmp_path: Path) -> None:
    other = [f"{text}, as was reported on day {i}" for i, text in enumerate(CLAIMS)]
    path = write(tmp_path / "a.csv", aaa=CLAIMS, bbb=other, label=cycle("true", "false"))
    with pytest.raises(Question, match="may be the text") as caught:
        import_files(path)
    assert {one.value for one in caught.value.choices} == {"aaa", "bbb"}
    assert all(one.argument == "text" for one in caught.value.choices)


def test_a_theme_of_many_values_is_not_the_label() -> None:
    themes = [f"theme {chr(97 + i % 28 % 26)}{i % 28}" for i in range(N)]
    roles = picked(text=CLAIMS, theme_label=themes, verdict=cycle("true", "false"))
    assert roles["label"] == "verdict"
    assert picked(text=CLAIMS, theme_label=themes).get("label") is None


def test_words_go_before_their_codes() -> None:
    words = cycle("true", "false", "mixed")
    roles = picked(text=CLAIMS, label=cycle("1", "0", "2"), label_text=words)
    assert roles["label"] == "label_text"


def test_ids_and_subjects_are_not_sources() -> None:
    articles = [str(850196512341262036 + i) for i in range(N)]
    roles = picked(text=CLAIMS, label=cycle("true", "false"), source=articles)
    assert roles.get("source") is None
    roles = picked(text=CLAIMS, label=cycle("true", "false"), subject=cycle("News", "politics"))
    assert roles.get("source") is None
    assert roles["topic"] == "subject"


def test_names_alone_do_not_make_dates_links_and_splits() -> None:
    roles = picked(
        text=CLAIMS, date=cycle("soon", "late"), url=cycle("a", "b"), split=cycle("x", "y", "z")
    )
    assert not {"date", "url", "split"} & roles.keys()


def test_an_import_without_labels_names_the_columns_that_may_be_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(
        tmp_path / "a.csv",
        text=CLAIMS,
        has_url=cycle("True", "False"),
        pics=cycle("0", "1", "2"),
        kategorie_b=cycle("glimt", "ovar", "sten"),
    )
    out = tmp_path / "out"
    assert run(["import", str(path), "-o", str(out)]) in (1, 2)
    said = capsys.readouterr().err
    assert "kategorie_b" in said.partition("Error:")[2]
    assert "has_url" not in said.partition("Error:")[2]
    assert "pics" not in said.partition("Error:")[2]
    assert not out.exists()
    assert run(["import", str(path), "-o", str(out), "--no-labels"]) == 0
    assert Dataset.open(out).records["label_raw"].null_count() == N
    bare = write(tmp_path / "b.csv", text=CLAIMS, has_url=cycle("True", "False"))
    assert run(["import", str(bare), "-o", str(tmp_path / "bare")]) == 0


def asked(err: str) -> list[list[str]]:
    """The commands that a question prints."""
    lines = [line.strip() for line in err.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("claimlab import")]


def test_every_command_of_a_question_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half = [["real", "fake"][i // 30] for i in range(N)]
    path = write(
        tmp_path / "it's here.csv", text=CLAIMS, label_x=cycle("real", "fake"), label_y=half
    )
    out = tmp_path / "out"
    assert run(["import", str(path), "-o", str(out)]) == 1
    commands = asked(capsys.readouterr().err)
    assert len(commands) == 2
    labels = []
    for command in commands:
        assert run([*command, "--force"]) == 0
        labels.append(Dataset.open(out).records["label_raw"].to_list())
    assert labels == [cycle("real", "fake"), half]
    assert run(["import", str(path), "-o", str(out), "--yes", "--force"]) == 0
    assert Dataset.open(out).records["label_raw"].to_list() == labels[0]


def test_a_person_at_the_terminal_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    half = [["real", "fake"][i // 30] for i in range(N)]
    path = write(tmp_path / "a.csv", text=CLAIMS, label_x=cycle("real", "fake"), label_y=half)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    for typed, wanted in (("\n", cycle("real", "fake")), ("7\n2\n", half)):
        lines = iter(typed.splitlines(keepends=True))
        monkeypatch.setattr("sys.stdin.readline", lambda lines=lines: next(lines), raising=False)
        assert run(["import", str(path), "-o", str(tmp_path / "out"), "--force"]) == 0
        assert Dataset.open(tmp_path / "out").records["label_raw"].to_list() == wanted
    assert "1. label_x: 'real', 'fake'" in capsys.readouterr().err


def test_what_labels_mean_is_a_question_that_yes_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", text=CLAIMS, label=cycle("0", "1"))
    command = ["import", str(path), "-o", str(tmp_path / "out")]
    assert run(command) == 1
    assert run([*command, "--yes"]) == 1
    assert "--map 0=true,1=false" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.readline", lambda: "2\n", raising=False)
    assert run(command) == 0
    assert Dataset.open(tmp_path / "out").records["veracity"].to_list() == cycle("false", "true")


def test_a_plan_is_written_edited_and_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(
        tmp_path / "a.csv", text=CLAIMS, note=cycle("good", "bad"), verdict=cycle("w", "z")
    )
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    command = ["import", str(path), "-o", str(out), "--plan", str(plan)]
    assert run(command) == 0
    assert not out.exists()
    written = plan.read_text(encoding="utf-8")
    assert 'text = "text"' in written
    assert '"w" = ""  # 30 rows, not known: fill it in' in written
    edited = written.replace('"w" = ""', '"w" = "true"').replace('"z" = ""', '"z" = "false"')
    plan.write_text(edited.replace("[columns]", '[columns]\ntopic = "note"'), encoding="utf-8")
    capsys.readouterr()
    assert run(command) == 0, capsys.readouterr().err
    records = Dataset.open(out).records
    assert records["veracity"].to_list() == cycle("true", "false")
    assert records["topic"].to_list() == cycle("good", "bad")
    again, _ = import_files(path, plan=plan)
    assert again.records.equals(records)
    plan.write_text("[columns]\nstory = 'text'\n", encoding="utf-8")
    with pytest.raises(DataError, match="does not say which column is what"):
        import_files(path, plan=plan)


def test_a_plan_that_nobody_edited_does_what_the_import_does(tmp_path: Path) -> None:
    labels = [*cycle("true", "false")[:-2], "odd", "odd"]
    path = write(tmp_path / "a.csv", text=CLAIMS, verdict=labels)
    guess_files(path).save(tmp_path / "plan.toml")
    plain, planned = import_files(path)[0], import_files(path, plan=tmp_path / "plan.toml")[0]
    assert plain.records["veracity"].null_count() == 2
    assert planned.records.equals(plain.records)


def test_the_guess_says_what_spoke_for_a_column_and_what_came_next(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", claim=CLAIMS, title=STUDIES, label=cycle("true", "false"))
    guess = guess_files(path, ask=False).to_json()
    text = guess["columns"]["text"]
    assert text["column"] == "claim"
    assert "its name" in dict(text["evidence"])
    assert text["rivals"][0][0] == "title"
    assert json.dumps(guess)


def test_every_role_has_weights_and_every_value_feature_is_used() -> None:
    used = {name for own in WEIGHTS.values() for name in own}
    assert list(WEIGHTS) == list(ROLES)
    facts = facts_of(ColumnProfile(pl.Series(["a"]), general()))
    assert {*facts, *NAME_FEATURES.values(), ELSEWHERE} <= used
    assert all(own.keys() & set(NAME_FEATURES.values()) for own in WEIGHTS.values())


def test_folded_names_of_other_scripts_stay_whole() -> None:
    assert fold_name("लेबल") in NAMES["label"]
    assert fold_name("التصنيف") == fold_name("تصنيف")
    assert fold_name("ŹRÓDŁO") == fold_name("zrodlo")


@pytest.mark.parametrize("folders", [1, 4, 40])
def test_patterns_are_few_short_and_match(folders: int) -> None:
    names = [f"data/{'very-long-name-' * 5}{i % folders}/{i:04}-reactions.json" for i in range(270)]
    globs = patterns(names, [*names, "clean.csv", "README.md"])
    assert len(globs) <= 3
    assert all(len(glob) < 100 for glob in globs)
    from claimlab.files.bundle import _matches

    assert all(any(_matches(name, glob) for glob in globs) for name in names)
    assert not any(_matches("clean.csv", glob) for glob in globs)


def test_the_weights_are_those_of_these_features_names_and_answers() -> None:
    written = import_roles.FILE.read_text(encoding="utf-8").splitlines()
    assert import_roles.stamp() in written, "run python bench/import_roles.py --write"


@pytest.mark.slow
def test_text_and_label_are_found_in_published_tables(real_data: Path) -> None:
    """With the packaged weights, which were fitted on these tables: a floor, no measurement."""
    every = [one for one in import_roles.cases(real_data, None) if one.headers == "as published"]
    found = list(import_roles.outcomes(every, dict(import_roles.model.WEIGHTS)))
    for role in ("text", "label"):
        right = [one.right for one in found if one.role == role and one.has]
        assert len(right) > 40
        assert sum(right) >= 0.93 * len(right), role


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("credibility", [str(i * 37 % 101) for i in range(N)]),
        ("punkty", [str(i * 37 % 101) for i in range(N)]),
        ("score", [f"{i * 37 % 101 / 128:.4f}" for i in range(N)]),
        ("odsetek", [f"{i * 37 % 101}%" for i in range(N)]),
        ("views", [str(i * i * 7919 % 99_991) for i in range(1, N + 1)]),
    ],
)
def test_a_measure_is_no_id_though_all_values_differ(
    header: str, values: list[str], first: bool
) -> None:
    columns = {"text": CLAIMS, "label": cycle("true", "false")}
    columns = {header: values, **columns} if first else {**columns, header: values}
    assert len(set(values)) == N
    assert "id" not in picked(**columns)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("column_1", [str(i) for i in range(N)]),
        ("nr", [str(i * 37 % 101) for i in range(N)]),
        ("key", [f"A{i * 37 % 101}" for i in range(N)]),
        ("ID", [str(i * 7919 % 99_991) for i in range(N)]),
    ],
)
def test_numbers_are_ids_where_they_count_or_are_called_so(header: str, values: list[str]) -> None:
    roles = picked(**{header: values}, text=CLAIMS, label=cycle("true", "false"))
    assert roles.get("id") == header


def test_one_value_for_all_rows_is_no_text_and_no_label() -> None:
    """Instructions to annotators, and the state of an export, beside the records."""
    told = ["Please read the statement below and say how accurate it is for you."] * N
    ratings = cycle("accurate", "not accurate")
    roles = picked(Description=told, Status=["Approved"] * N, Input=CLAIMS, answer=ratings)
    assert (roles["text"], roles["label"]) == ("Input", "answer")


def test_a_day_that_all_rows_share_is_not_the_date() -> None:
    days = [f"2021-05-{1 + i % 28:02}" for i in range(N)]
    roles = picked(created_at=["2022-04-28 10:11:12"] * N, text=CLAIMS, posted=days)
    assert roles["date"] == "posted"


def test_true_and_false_beside_other_ratings_are_rating_words() -> None:
    own = cycle("kadhib", "false", "sahih", "false")
    normal = cycle("partly false", "false", "true", "false")
    roles = picked(claim=CLAIMS, source_label=own, normalized_label=normal)
    assert roles["label"] == "normalized_label"


def test_fields_beside_ids_as_keys_are_columns(tmp_path: Path) -> None:
    """The articles of each claim are under their addresses, which are no names of fields."""
    rows = [
        {
            "about": {"claim": text, "articles": {f"https://a.example/{i}": "1.json"}},
            "result": [{"value": {"choices": [("false", "true")[i % 2]]}}],
            "closed": False,
        }
        for i, text in enumerate(CLAIMS * 2)
    ]
    path = tmp_path / "a.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    dataset, report = import_files(path)
    assert dataset.records["text"].to_list() == CLAIMS * 2
    assert report.labels == {"false": N, "true": N}
