"""Twenty tables as strangers publish them, each with its truth written down first: an import ends
with it at once, or with a question whose first or second line ends with it; never with another
meaning, unit or class, and in silence never.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from claimlab.core.errors import ClaimlabError
from claimlab.exchange.importer import import_files

N = 48
TOWNS = ("Arvendal", "Belmora", "Castrin", "Dunholt", "Elvanto", "Ferrow")
TEXTS = [f"The council of {TOWNS[i % 6]} bought {i + 2} new buses for the school" for i in range(N)]
BODIES = [f"{text}. " + "Nobody in the town was asked before that. " * 14 for text in TEXTS]
LINES_TRIED = 3  # printed lines of which one must end with the truth
STEPS = 3
VERDICTS = [("true", "false", "false")[i % 3] for i in range(N)]
Counts = dict[str, int]


def again(*values: str, n: int = N) -> list[str]:
    return [values[i % len(values)] for i in range(n)]


def codes(true: str, false: str) -> list[str]:
    return [true if verdict == "true" else false for verdict in VERDICTS]


TRUE_FALSE = {"true": 16, "false": 32}


@dataclass(frozen=True)
class Truth:
    """What the records are: how many, the veracity of them, or the task of their labels."""

    labels: Counts
    records: int = N
    task: str | None = None
    annotations: int = 0
    splits: frozenset[str] = field(default_factory=frozenset)


def table(path: Path, **columns: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(columns), *zip(*columns.values(), strict=True)])


def polish(place: Path) -> None:
    table(place / "a.csv", **{"Lp.": [str(i) for i in range(N)], "Wypowiedź": TEXTS, "Ocena": codes("Prawda", "Fałsz"), "Data publikacji": again("2021-03-04", "2021-05-06")})  # fmt: skip


def hindi(place: Path) -> None:
    table(place / "a.csv", दावा=TEXTS, निर्णय=codes("सच", "झूठ"), स्रोत=again("a.in", "b.in"))


def arabic_english(place: Path) -> None:
    table(place / "a.csv", النص=TEXTS, verdict=codes("صحيح", "خاطئ"), lang=again("ar"))


def spanish_flag(place: Path) -> None:
    table(place / "a.csv", titular=TEXTS, cuerpo=BODIES, es_bulo=codes("0", "1"))


def german_flag(place: Path) -> None:
    table(place / "a.csv", Behauptung=TEXTS, Fake=codes("nein", "ja"))


def rumour_letters(place: Path) -> None:
    table(place / "a.csv", tweet=TEXTS, rumor=codes("N", "Y"))


def flag_with_readme(place: Path) -> None:
    table(place / "d/posts.csv", text=TEXTS, flag=codes("0", "1"))
    (place / "d/README.md").write_text(
        "# Posts\n\n`flag`: 1 = fake, 0 = real, by two journalists.\n", encoding="utf-8"
    )


def clickbait(place: Path) -> None:
    table(place / "d/clickbait_data.csv", headline=TEXTS, label=codes("0", "1"))


def propaganda(place: Path) -> None:
    table(place / "d/train.tsv", text=TEXTS, label=codes("false", "true"))
    (place / "d/README.txt").write_text(
        "Propaganda detection in news. Each sentence is propaganda or not.", encoding="utf-8"
    )


def worth_checking(place: Path) -> None:
    table(place / "a.csv", sentence=TEXTS, check_worthiness=codes("0", "1"))


def annotator_rows(place: Path) -> None:
    rows = [
        (f"c{i}", text, f"ann{n}", verdict if (i + n) % 9 else "unsure")
        for i, (text, verdict) in enumerate(zip(TEXTS, VERDICTS, strict=True))
        for n in range(5)
    ]
    names = ("claim_id", "claim", "annotator_id", "judgement")
    table(place / "a.csv", **dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def annotator_columns(place: Path) -> None:
    table(place / "a.csv", statement=TEXTS, rater_1=VERDICTS, rater_2=VERDICTS, rater_3=VERDICTS)


def one_hot(place: Path) -> None:
    flags = {name: [str(int(v == name)) for v in VERDICTS] for name in ("true", "false")}
    table(place / "a.csv", text=TEXTS, **flags)


def nested_json(place: Path) -> None:
    items = [
        {"data": {"claim": {"text": text, "speaker": {"name": "A. B."}}}, "review": {"rating": {"label": v}}}
        for text, v in zip(TEXTS, VERDICTS, strict=True)
    ]  # fmt: skip
    (place / "a.json").write_text(json.dumps({"version": 1, "items": items}), encoding="utf-8")


def lines_of_json(place: Path) -> None:
    words = {"true": "SUPPORTS", "false": "REFUTES"}
    rows = [
        {"id": i, "claim": text, "label": words[v], "evidence": [[["Page", i]]]}
        for i, (text, v) in enumerate(zip(TEXTS, VERDICTS, strict=True))
    ]
    (place / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def folds(place: Path) -> None:
    for i, (text, verdict) in enumerate(zip(BODIES, VERDICTS, strict=True)):
        name = "deceptive" if verdict == "false" else "truthful"
        file = place / "d" / f"{name}_reports" / f"fold{i % 5 + 1}" / f"{i}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text} {i}", encoding="utf-8")


def texts_by_class(place: Path) -> None:
    for i, (text, verdict) in enumerate(zip(BODIES, VERDICTS, strict=True)):
        name = "fake" if verdict == "false" else "real"
        file = place / "d" / name / f"{i:03}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text} {i}", encoding="utf-8")


def evidence(place: Path) -> None:
    said = ["entailment" if v == "true" else "contradiction" for v in VERDICTS]
    table(place / "a.csv", claim=TEXTS, evidence=BODIES, label=said)


def two_tables(place: Path) -> None:
    ids = [f"n{i}" for i in range(N)]
    table(place / "d/news.csv", news_id=ids, title=TEXTS, body=BODIES)
    table(place / "d/ratings.csv", news_id=ids[::-1], rating=VERDICTS[::-1])


def class_files(place: Path) -> None:
    for verdict, name in (("true", "true"), ("false", "fake")):
        texts = [t for t, v in zip(TEXTS, VERDICTS, strict=True) if v == verdict]
        table(place / f"d/politics_{name}.csv", title=texts, date=again("2020-01-02", n=len(texts)))


TABLES: dict[str, tuple[Callable[[Path], None], Truth]] = {
    "polish": (polish, Truth(TRUE_FALSE)),
    "hindi": (hindi, Truth(TRUE_FALSE)),
    "arabic-english": (arabic_english, Truth(TRUE_FALSE)),
    "spanish-flag": (spanish_flag, Truth(TRUE_FALSE)),
    "german-flag": (german_flag, Truth(TRUE_FALSE)),
    "rumour-letters": (rumour_letters, Truth(TRUE_FALSE)),
    "flag-with-readme": (flag_with_readme, Truth(TRUE_FALSE)),
    "clickbait": (clickbait, Truth({}, task="clickbait")),
    "propaganda": (propaganda, Truth({}, task="propaganda")),
    "worth-checking": (worth_checking, Truth({}, task="check-worthiness")),
    "annotator-rows": (annotator_rows, Truth(TRUE_FALSE, annotations=5 * N)),
    "annotator-columns": (annotator_columns, Truth(TRUE_FALSE, annotations=3 * N)),
    "one-hot": (one_hot, Truth(TRUE_FALSE)),
    "nested-json": (nested_json, Truth(TRUE_FALSE)),
    "lines-of-json": (lines_of_json, Truth(TRUE_FALSE)),
    "folds": (folds, Truth(TRUE_FALSE, splits=frozenset(f"fold{n}" for n in range(1, 6)))),
    "texts-by-class": (texts_by_class, Truth(TRUE_FALSE)),
    "evidence": (evidence, Truth(TRUE_FALSE)),
    "two-tables": (two_tables, Truth(TRUE_FALSE)),
    "class-files": (class_files, Truth(TRUE_FALSE)),
}
# These are asked about, and rightly: nothing but a name says what a yes means, or what words that no
# fact-checker uses do.
ASKED = {
    "spanish-flag",
    "german-flag",
    "rumour-letters",
    "clickbait",
    "propaganda",
    "annotator-columns",
    "folds",
}


def came_to(place: Path, options: dict[str, object]) -> Truth:
    dataset, report = import_files(place, **options)  # type: ignore[arg-type]
    annotations = dataset.tables.get("annotations")
    return Truth(
        report.labels,
        dataset.records.height,
        report.task,
        0 if annotations is None else annotations.height,
        frozenset(dataset["split"].drop_nulls()),
    )


def answered(place: Path, truth: Truth, options: dict[str, object], steps: int) -> list[Truth]:
    """What the first lines of a question come to."""
    try:
        return [came_to(place, options)]
    except ClaimlabError as asked:
        outcomes = []
        answers = [choice for choice in asked.choices if choice.argument != "plan"]
        for choice in answers[: LINES_TRIED if steps == STEPS else 1]:
            if steps:
                more = {**options, choice.argument: choice.value}
                outcomes += answered(place, truth, more, steps - 1)
        return outcomes


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_a_stranger_is_read_as_it_was_meant(name: str, tmp_path: Path) -> None:
    write, truth = TABLES[name]
    write(tmp_path)
    [place] = tmp_path.iterdir()
    if name not in ASKED:
        assert came_to(place, {}) == truth
        return
    with pytest.raises(ClaimlabError):
        came_to(place, {})
    outcomes = answered(place, truth, {}, STEPS)
    assert truth in outcomes
    assert outcomes[0] == truth, "the likeliest line comes first"
