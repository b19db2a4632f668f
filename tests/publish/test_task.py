"""A shared task with hidden gold, played through: what is public, what a participant can check, and
how each kind of submission is treated.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import claimlab as cl
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError, UnreadableFile
from claimlab.publish.task.layout import read_gold, read_task
from claimlab.publish.task.scoring import Entry, TaskScores, _Measured
from claimlab.publish.task.submission import read_submission

LETTERS = np.random.default_rng(13).choice(list("abcdefghijklmnopqrstuvwxyz"), (700, 9, 6))
TEXTS = [" ".join("".join(word) for word in text) for text in LETTERS]
SECRET = "5e" * 32
Answers = list[tuple[str, str]]


def task_data(classes: tuple[str, ...] = ("true", "false")) -> Dataset:
    """400 train and 300 test records; the words of the labels are the data's own."""
    rng = np.random.default_rng(17)
    veracity = rng.choice(classes, 700).tolist()
    words = {"true": "REAL", "false": "FAKE"}
    frame = pl.DataFrame(
        {
            "id": [f"r{row}" for row in range(700)],
            "text": TEXTS,
            "veracity": veracity,
            "label_raw": [words.get(label, label) for label in veracity],
            "split": ["train"] * 400 + ["test"] * 300,
            "source": [f"gold-{label}" for label in veracity],
            "meta": [json.dumps({"verdict": label}) for label in veracity],
        }
    )
    return Dataset.build("hidden", frame)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cl.publish_task_init(task_data(), output=tmp_path / "task", secret=SECRET)
    return tmp_path / "task"


def gold_of(folder: Path) -> dict[str, str]:
    rows = (
        pl.read_csv(folder / "sealed" / "gold.csv", infer_schema=False)
        .select("id", "label")
        .iter_rows()
    )
    return dict(rows)


def honest(gold: dict[str, str], accuracy: float, seed: int) -> Answers:
    rng, names = np.random.default_rng(seed), sorted(set(gold.values()))
    other = {name: names[(n + 1) % len(names)] for n, name in enumerate(names)}
    return [(i, t if rng.random() < accuracy else other[t]) for i, t in gold.items()]


def send(folder: Path, name: str, answers: Answers, head: str = "id,label", gap: str = ",") -> Path:
    file = folder / "submissions" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [head, *(gap.join(row) for row in answers)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def entry(scores: TaskScores, name: str) -> Entry:
    return next(entry for entry in scores.entries if entry.name == name)


def test_nothing_of_the_gold_is_public(folder: Path) -> None:
    public = {file.name: file.read_bytes() for file in (folder / "public").iterdir()}
    assert {"README.md", "task.json", "test.csv", "train.csv"} == set(public)
    test = pl.read_csv(io.BytesIO(public["test.csv"]))
    assert test.columns == ["id", "text"]
    assert b"gold-" not in b"".join(public.values())
    gold = gold_of(folder)
    assert set(test["id"]) == set(gold)
    task = json.loads(public["task.json"])
    assert re.fullmatch("[0-9a-f]{64}", task["gold_hmac"])
    assert not any(i in public["task.json"].decode() for i in list(gold)[:20])
    assert SECRET not in b"".join(public.values()).decode()


def test_the_order_of_the_test_tells_nothing(folder: Path) -> None:
    """A test that is sorted by label would give it away: rows are shuffled with the secret."""
    gold = gold_of(folder)
    order = pl.read_csv(folder / "public" / "test.csv")["id"].to_list()
    assert order != sorted(order)
    assert order != list(gold)
    half = sum(gold[i] == "true" for i in order[:150]) / sum(
        label == "true" for label in gold.values()
    )
    assert 0.35 < half < 0.65


def test_the_hmac_is_of_the_labels_and_the_secret(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "other"
    cl.publish_task_init(task_data(), output=other, secret="5f" * 32)
    seals = [
        json.loads((f / "public" / "task.json").read_text())["gold_hmac"] for f in (folder, other)
    ]
    assert seals[0] != seals[1]
    file = folder / "sealed" / "gold.csv"
    changed = file.read_text().replace("true", "false", 1)
    file.write_text(changed)
    send(folder, "a.csv", honest(gold_of(folder), 0.8, 1))
    with pytest.raises(UnreadableFile, match="not what was sealed"):
        cl.publish_task_score(folder)


def test_a_participant_checks_without_gold(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    public = tmp_path / "elsewhere"
    (folder / "public").rename(public)
    ids = pl.read_csv(public / "test.csv")["id"].to_list()
    good = tmp_path / "good.tsv"
    good.write_text(
        "Sentence_id\tclass_label\trun_id\n" + "".join(f"{i}\tfake\tmine\n" for i in ids)
    )
    assert run(["publish", "task", "check", str(good), "--task", str(public)]) == 0
    assert "300 of 300 answered" in capsys.readouterr().out
    bad = tmp_path / "bad.csv"
    rows = [
        *((i, "true") for i in ids[10:]),
        (ids[20], "false"),
        ("r1", "true"),
        (ids[0], "perhapsy"),
        (ids[1], "not enough info"),
    ]
    bad.write_text("id,label\n" + "".join(f"{i},{word}\n" for i, word in rows))
    assert run(["publish", "task", "check", str(bad), "--task", str(public)]) == 1
    said = capsys.readouterr().out
    for words in (
        f"1 record has more than one answer (such as '{ids[20]}')",
        "1 id is not in 'hidden' (such as 'r1')",
        "1 answer is none of the classes (such as 'perhapsy')",
        "The classes are true, false (in the words of the data: FAKE, REAL)",
        "8 records of the test without an answer",
        "2 records with an answer outside the classes",
    ):
        assert words in said
    assert cl.publish_task_check(good, task=public).is_complete


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("own.csv", lambda ids: "id,label\n" + "".join(f"{i},FAKE\n" for i in ids)),
        ("numbers.csv", lambda ids: "id,score_true\n" + "".join(f"{i},0.2\n" for i in ids)),
        ("header.csv", lambda ids: "id,true,false\n" + "".join(f"{i},0.2,0.8\n" for i in ids)),
        ("pipe.json", lambda ids: json.dumps([{"label": "FAKE", "score": 0.8} for _ in ids])),
        ("twice.csv", lambda ids: "id,label\n" + "".join(f"{i},FAKE\n" * 2 for i in ids)),
        ("strange.csv", lambda ids: "id,label\n" + "".join(f"x{i},FAKE\n" for i in ids)),
        ("words.csv", lambda ids: "id,label\n" + "".join(f"{i},perhapsy\n" for i in ids)),
        ("train.csv", lambda ids: "id,label\nr1,FAKE\n" + "".join(f"{i},FAKE\n" for i in ids)),
    ],
)
def test_a_submission_is_read_as_predictions_are(
    folder: Path, tmp_path: Path, name: str, content: Callable[[list[str]], str]
) -> None:
    """`detect --predictions` on the open data and `publish task check` without gold accept the same
    files, and read the same answers."""
    order = pl.read_csv(folder / "public" / "test.csv")["id"].to_list()
    records = task_data().records
    train = records.filter(pl.col("split") == "train")
    test = pl.DataFrame({"id": order}).join(records, on="id", maintain_order="left")
    data = Dataset.build("hidden", pl.concat([train, test.select(train.columns)]))
    file = tmp_path / name
    file.write_text(content(order))
    checked = cl.publish_task_check(file, task=folder / "public")
    try:
        read = cl.detect(data, predictions=file)
    except DataError:
        assert checked.problems
        return
    assert checked.is_complete
    answers = dict(read.tables["predictions"].select("record_id", "label").iter_rows())
    assert checked.answers == answers


def test_five_submissions_each_treated_as_it_should_be(folder: Path, tmp_path: Path) -> None:
    gold = gold_of(folder)
    words = {"true": "REAL", "false": "FAKE"}
    mine = honest(gold, 0.8, 1)
    send(folder, "honest.csv", [(i, words[said]) for i, said in mine])
    wrong = {i for i, said in mine if said != gold[i]}
    half = set(sorted(wrong)[: len(wrong) // 2])
    send(folder, "gaps.csv", [row for row in honest(gold, 0.8, 2) if row[0] not in half])
    send(folder, "repeats.csv", [*((i, gold[i]) for i in sorted(wrong)), *mine])
    copied = [(i, said) for i, said in mine[:-1]] + [(mine[-1][0], "true")]
    send(folder, "copied.csv", copied)
    send(folder, "gold.csv", list(gold.items()))
    scores = cl.publish_task_score(folder, output=tmp_path / "scores")
    assert 0.7 < entry(scores, "honest").macro_f1["private"] < 0.9
    assert entry(scores, "gaps").answered < 300
    assert any("without an answer" in flag for flag in entry(scores, "gaps").flags)
    assert "more than one answer" in entry(scores, "repeats").refused
    assert not entry(scores, "repeats").macro_f1
    for name, other in (("honest", "copied"), ("copied", "honest")):
        assert any(flag.endswith(f" {other}") for flag in entry(scores, name).flags)
    assert any("implausible: 100.0%" in flag for flag in entry(scores, "gold").flags)
    assert entry(scores, "honest").ranks == entry(scores, "copied").ranks != "1"
    page = (tmp_path / "scores" / "index.html").read_text(encoding="utf-8")
    results = (tmp_path / "scores" / "results.json").read_text(encoding="utf-8")
    for text in (page, results):
        assert not any(f'"{i}"' in text or f">{i}<" in text for i in gold)


def test_the_same_answers_under_two_names_are_named_and_a_team_has_a_limit(folder: Path) -> None:
    gold = gold_of(folder)
    for number in range(5):
        send(folder, f"many/{number}.csv", honest(gold, 0.7, 30 + number))
    send(folder, "first.csv", honest(gold, 0.75, 5))
    send(folder, "second.csv", honest(gold, 0.75, 5))
    first = honest(gold, 0.75, 5)
    wrong = [row for row in first if row[1] != gold[row[0]]]
    send(folder, "holes.csv", [row for row in first if row not in wrong[::2]])
    scores = cl.publish_task_score(folder)
    assert "the same answers as second" in entry(scores, "first").flags
    assert any(f.endswith("are those of first") for f in entry(scores, "holes").flags)
    late = [entry(scores, f"many/{number}") for number in range(5)]
    assert [bool(each.refused) for each in late] == [False, False, False, True, True]
    assert "more than 3 of this team" in late[4].refused


def test_honest_teams_are_not_accused(folder: Path) -> None:
    """Systems that err on the same hard records share many errors, and are no copies."""
    gold = gold_of(folder)
    rng = np.random.default_rng(41)
    hard = {i for i in gold if rng.random() < 0.25}
    other = {"true": "false", "false": "true"}
    for team in range(8):
        answers = [
            (i, other[t] if rng.random() < (0.7 if i in hard else 0.05) else t)
            for i, t in gold.items()
        ]
        send(folder, f"team{team}.csv", answers)
    assert not any(each.flags for each in cl.publish_task_score(folder).entries)


def test_a_file_that_is_no_table_is_refused_and_the_others_are_scored(folder: Path) -> None:
    gold = gold_of(folder)
    send(folder, "good.csv", honest(gold, 0.8, 1))
    (folder / "submissions" / "broken.csv").write_bytes(b"\x00\x01\x02")
    (folder / "submissions" / "columns.csv").write_text("a,b\n1,2\n")
    (folder / "submissions" / "link.csv").symlink_to(folder / "sealed" / "gold.csv")
    scores = cl.publish_task_score(folder)
    assert len(scores.refused) == 3
    assert entry(scores, "good").ranks == "1"
    assert "plain file" in entry(scores, "link").refused


def test_data_without_a_labelled_test_is_refused() -> None:
    records = task_data().records
    train = Dataset.build("x", records.filter(pl.col("split") == "train"))
    with pytest.raises(DataError, match="test"):
        cl.publish_task_init(train)
    gap = pl.when(pl.col("id") == "r500").then(None)
    some = records.with_columns(
        gap.otherwise(pl.col(name)).alias(name) for name in ("veracity", "label_raw")
    )
    with pytest.raises(DataError, match="1 test record without a label"):
        cl.publish_task_init(Dataset.build("x", some))


@given(
    classes=st.integers(2, 5),
    seed=st.integers(0, 10_000),
    share=st.floats(0.05, 0.95),
    only_wrong=st.booleans(),
)
def test_no_score_rises_by_leaving_answers_out(
    classes: int, seed: int, share: float, only_wrong: bool
) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, 120)
    said = np.where(rng.random(120) < 0.6, truth, rng.integers(0, classes, 120))
    out = (rng.random(120) < share) & ((said != truth) | (not only_wrong))
    both = np.stack([said, np.where(out, -1, said)], axis=1)
    halves = pl.Series(["private"] * 120)
    measured = _Measured(truth, both, halves, np.arange(120), classes)
    for scores in (measured.macro_f1("private"), measured.accuracy("private")):
        assert scores[1] <= scores[0] + 1e-12


def test_the_score_is_the_one_of_scikit_learn(folder: Path) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    gold = gold_of(folder)
    answers = honest(gold, 0.7, 9)
    send(folder, "a.csv", answers)
    halves = dict(pl.read_csv(folder / "sealed" / "gold.csv").select("id", "half").iter_rows())
    for half in ("public", "private"):
        part = [(gold[i], said) for i, said in answers if halves[i] == half]
        wanted = metrics.f1_score(*zip(*part, strict=True), average="macro")
        assert entry(cl.publish_task_score(folder), "a").macro_f1[half] == pytest.approx(wanted)


def test_the_rule_of_the_task_is_beside_ours(tmp_path: Path) -> None:
    """A gap by scikit-learn's rule, among the answered records alone, and refused."""
    metrics = pytest.importorskip("sklearn.metrics")
    scores: dict[str, Entry] = {}
    for rule in ("no-class", "answered", "refused"):
        folder = tmp_path / rule
        cl.publish_task_init(task_data(), output=folder, secret=SECRET, gaps=rule)
        gold = gold_of(folder)
        answers = honest(gold, 0.7, 9)[:200]
        send(folder, "a.csv", answers)
        scores[rule] = entry(cl.publish_task_score(folder, output=tmp_path / f"p-{rule}"), "a")
        page = (tmp_path / f"p-{rule}" / "index.html").read_text(encoding="utf-8")
        assert ("Own rule" in page) == (rule != "refused")
    assert "100 records of the test without an answer" in scores["refused"].refused
    half = dict(pl.read_csv(folder / "sealed" / "gold.csv").select("id", "half").iter_rows())
    private = {i: gold[i] for i in gold if half[i] == "private"}
    said = dict(answers)
    pairs = [(t, said.get(i, "none")) for i, t in private.items()]
    names = sorted(set(gold.values()))

    def f1(rows: Answers) -> float:
        truth, guess = zip(*rows, strict=True)
        return float(metrics.f1_score(truth, guess, labels=names, average="macro"))

    assert scores["no-class"].own_rule["private"] == pytest.approx(f1(pairs))
    assert scores["answered"].own_rule["private"] == pytest.approx(
        f1([row for row in pairs if row[1] != "none"])
    )
    ours = {rule: scores[rule].macro_f1["private"] for rule in ("no-class", "answered")}
    assert ours["no-class"] == ours["answered"] < scores["no-class"].own_rule["private"]


def test_scores_are_the_same_from_the_command(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    send(folder, "a.csv", honest(gold_of(folder), 0.8, 1))
    send(folder, "b.csv", honest(gold_of(folder), 0.6, 2))
    words = ["publish", "task", "score", str(folder), "-o", str(tmp_path / "out")]
    assert run([*words, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    saved = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    del printed["output"]
    assert printed == saved == json.loads(json.dumps(cl.publish_task_score(folder).to_json()))
    assert run([*words, "--force"]) == 0


def test_a_bundle_of_a_hidden_test_holds_no_label(folder: Path, tmp_path: Path) -> None:
    """With two classes, a hash whose salt is known is two guesses: the secret is not in it."""
    data = task_data()
    data.write(tmp_path / "data")
    cl.detect(tmp_path / "data", detector="majority", output=tmp_path / "run")
    secret = folder / "sealed" / "secret"
    file = tmp_path / "sealed.json"
    cl.publish_bundle(tmp_path / "run", file, secret=secret)
    content = json.loads(file.read_text(encoding="utf-8"))
    (records,) = content["records"].values()
    assert all(re.fullmatch("[0-9a-f]{64}", label) for label in records["label"])
    assert len(set(records["label"])) == len(records["label"]) == 300
    assert set(content["figures"]) == {"sealed", "runs"}
    blind = cl.publish_verify(file)
    assert "sealed" in blind.differences[0]
    opened = cl.publish_verify(file, data=tmp_path / "data", secret=secret)
    assert opened.differences == []
    other = tmp_path / "other"
    other.write_text("5f" * 32)
    assert cl.publish_verify(file, data=tmp_path / "data", secret=other).differences
    changed = json.loads(file.read_text(encoding="utf-8"))
    changed["figures"]["runs"][0]["scores"]["accuracy"] = 0.99
    file.write_text(json.dumps(changed, sort_keys=True, separators=(",", ":"), ensure_ascii=False))
    assert cl.publish_verify(file, data=tmp_path / "data", secret=secret).differences


def checkthat(place: Path) -> pl.DataFrame:
    """CheckThat! 2024, English: train, dev and the test with its gold."""
    with zipfile.ZipFile(place / "checkthat-2024-task1.zip") as archive:
        parts = []
        for side, name in (("train", "train"), ("dev", "dev"), ("test", "dev-test")):
            member = next(
                n
                for n in archive.namelist()
                if n.endswith(f"CT24_checkworthy_english_{name}.tsv") and "__MACOSX" not in n
            )
            rows = pl.read_csv(
                archive.read(member), separator="\t", quote_char=None, infer_schema=False
            )
            parts.append(
                rows.select(id="Sentence_id", text="Text", label="class_label", split=pl.lit(side))
            )
    return pl.concat(parts).unique("id", maintain_order=True)


def test_checkthat_is_played_through(real_data: Path, tmp_path: Path) -> None:
    rows = checkthat(real_data)
    few = pl.concat(
        [
            rows.filter(pl.col("split") == side).head(n)
            for side, n in (("train", 600), ("dev", 100), ("test", 400))
        ]
    )
    few.write_csv(tmp_path / "english.csv")
    cl.import_files([tmp_path / "english.csv"], tmp_path / "english", map="check-worthiness")
    folder = tmp_path / "task"
    cl.publish_task_init(tmp_path / "english", output=folder, name="CheckThat! 2024, English")
    truth = dict(few.filter(pl.col("split") == "test").select("id", "label").iter_rows())
    assert len(gold_of(folder)) == len(truth) == 318
    head, gap = "Sentence_id\tclass_label\trun_id", "\t"
    mine = [(i, said, "mine") for i, said in honest(truth, 0.8, 1)]
    wrong = [row for row in mine if row[1] != truth[row[0]]]
    other = {"Yes": "No", "No": "Yes"}
    sent: dict[str, list[tuple[str, ...]]] = {
        "honest.tsv": list(mine),
        "gaps.tsv": [row for row in mine if row not in wrong[: len(wrong) // 2]],
        "repeats.tsv": [*((i, other[said], run_id) for i, said, run_id in wrong), *mine],
        "runs.tsv": [*((i, other[said], "second") for i, said, _ in wrong), *mine],
        "copied.tsv": [
            (i, other[said] if i == mine[-1][0] else said, "ours") for i, said, _ in mine
        ],
        "gold.tsv": [(i, said, "x") for i, said in truth.items()],
    }
    checks: dict[str, bool] = {}
    for name, answers in sent.items():
        file = send(folder, name, answers, head, gap)  # type: ignore[arg-type]
        checks[name] = cl.publish_task_check(file, task=folder / "public").is_complete
    assert checks == {
        "honest.tsv": True, "gaps.tsv": False, "repeats.tsv": False, "runs.tsv": False, "copied.tsv": True,
        "gold.tsv": True,
    }  # fmt: skip
    scores = cl.publish_task_score(folder, output=tmp_path / "scores")
    by_name: Callable[[str], Entry] = lambda name: entry(scores, name)  # noqa: E731
    assert "more than one answer" in by_name("repeats").refused
    assert "2 runs" in by_name("runs").refused
    assert by_name("gaps").macro_f1["private"] <= by_name("honest").macro_f1["private"]
    assert any("those of copied" in flag for flag in by_name("honest").flags)
    assert any("implausible" in flag for flag in by_name("gold").flags)
    assert not any("implausible" in flag for flag in by_name("honest").flags)
    task, asked = read_task(folder / "public")
    assert read_gold(folder, task, asked).sealed == task.gold_hmac
    assert read_submission(folder / "submissions" / "honest.tsv", asked).is_complete
