"""Advice can be followed: in data in which a rule fires, its commands run as printed and do what
the sentence says.

Findings come from real audits. Checks that this package does not have yet get a finding by hand,
and none is left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from parts.planted import planted

import claimlab as cl
from claimlab.audit.advice import Advice, advise
from claimlab.audit.advice_rules import RULES, rule_for
from claimlab.audit.check import CHECKS
from claimlab.audit.remedy import RemedyCase
from claimlab.audit.result import Audit
from claimlab.audit.views.screen import screen
from claimlab.cli.app import run
from claimlab.core.dataset import Dataset
from claimlab.core.finding import Baselines, Finding, Verdict
from claimlab.core.options import parameters_of

N = 480
WORDS = np.array([f"{a}{b}" for a in ("har", "bri", "coun", "lam", "riv", "ben", "mar", "fer") for b in
                  ("bour", "dge", "cil", "py", "er", "ch", "ket", "ry", "son", "ton")])  # fmt: skip


def leaky(*, split: bool = True) -> Dataset:
    """Everything but what a text says gives its label away, for most records."""
    rng = np.random.default_rng(0)
    false = rng.random(N) < 0.5
    told = np.where(
        rng.random(N) < 0.95, false, ~false
    )  # what the traits say, wrong for a twentieth
    rows = []
    for i, (f, t) in enumerate(zip(false, told, strict=True)):
        body = " ".join(rng.choice(WORDS, 30 if t else 12))
        rows.append(
            {
                "id": f"r{i}",
                "text": f"BOOM! {i} https://a.example/{i} {body} !!" if t else f"Quiet {body}",
                "veracity": "false" if f else "true",
                "split": ("train" if rng.random() < (0.85 if f else 0.4) else "test")
                if split
                else None,
                "kind": "article" if t else "claim",
                "language": "por" if t else "eng",
                "source": f"{'bad' if t else 'good'}-{rng.integers(6)}.example",
                "author": f"writer {rng.integers(30)}" if t else None,
                "topic": f"topic {rng.integers(5)}",
                "url": f"https://{'low' if t else 'high'}{rng.integers(6)}.com/{i}",
                "date": datetime(2020, 1, 1, 8 if t else 18, 30)
                + timedelta(days=int(rng.integers(300)) + 200 * int(t)),
                "meta": f'{{"party": "{"x" if t else "y"}"}}',
            }
        )
    other = {"train": "test", "test": "train", None: None}
    copies = [
        {**row, "id": f"copy-{row['id']}", "url": None, "split": other[row["split"]]}
        for row in rows[:40]
    ]
    torn = [
        {
            **row,
            "id": f"torn-{row['id']}",
            "veracity": "true" if row["veracity"] == "false" else "false",
        }
        for row in rows[40:60]
    ]
    return Dataset.build("leaky", pl.DataFrame([*rows, *copies, *torn]))


def readable(
    name: str, *, wrong: int = 0, rare: float = 0.5, tables: bool = False, hint: str = "claim"
) -> Dataset:
    """Words of a claim (or of its evidence) tell its label, wrongly for the first ones."""
    rng = np.random.default_rng(1)
    false = np.arange(N) % round(1 / rare) == 0
    seen = np.where(np.arange(N) < wrong, ~false, false)
    sides = {
        True: ["comet", "dragon", "cure", "secret"],
        False: ["river", "bridge", "school", "garden"],
    }
    told = [" ".join(rng.choice(sides[bool(s)], 6)) for s in seen]
    plain = [" ".join(rng.choice(WORDS, 8)) + f" number {i}" for i in range(N)]
    ids = [f"r{i}" for i in range(N)]
    rows = pl.DataFrame(
        {
            "id": ids,
            "text": [f"{p} {t}" for p, t in zip(plain, told, strict=True)]
            if hint == "claim"
            else plain,
            "veracity": np.where(false, "false", "true"),
        }
    )
    pieces = told if hint == "evidence" else [" ".join(rng.choice(WORDS, 6)) for _ in ids]
    evidence = pl.DataFrame({"record_id": ids, "evidence_id": ids, "rank": [1] * N, "text": pieces})
    answers = pl.DataFrame(
        {"record_id": ids, "annotator": "a", "question": "label", "value": "x", "rationale": told}
    )
    return Dataset.build(
        name, rows, {"evidence": evidence, "annotations": answers} if tables else {}
    )


def worded() -> Dataset:
    """A word in few texts, almost all of one class."""
    rng = np.random.default_rng(2)
    false = rng.random(2 * N) < 0.5
    texts = [
        " ".join(rng.choice(WORDS, 12)) + (" whistle" if f and rng.random() < 0.05 else "")
        for f in false
    ]
    ids = [f"r{i}" for i in range(2 * N)]
    return Dataset.build(
        "worded",
        pl.DataFrame({"id": ids, "text": texts, "veracity": np.where(false, "false", "true")}),
    )


def named() -> Dataset:
    """Ids, paths, a note, the order and how often a text occurs give the label away; the text does
    not.
    """
    rng = np.random.default_rng(3)
    rows = []
    for i in range(N):
        false = i < N // 2  # sorted by class
        kind, body = ("hoax" if false else "fact"), " ".join(rng.choice(WORDS, 12)) + f" {i}"
        row = {
            "id": f"{kind}-{i}", "text": body, "veracity": "false" if false else "true",
            "url": f"https://a.com/{'rumours' if false else 'science'}/{i}",
            "meta": f'{{"note": "{kind} seen by reader number {i} on {rng.choice(WORDS)}"}}',
        }  # fmt: skip
        rows += [
            row,
            *({**row, "id": f"{kind}-{i}-{k}"} for k in range(2 if false and i % 3 else 0)),
        ]
    return Dataset.build("named", pl.DataFrame(rows))


def spread() -> Dataset:
    """False records have twice as many posts below them."""
    data = readable("spread")
    rows = [
        {"record_id": one, "child": f"{one}-{post}", "delay": float(post), "depth": min(post, 1)}
        for i, (one, label) in enumerate(data.records.select("id", "veracity").iter_rows())
        for post in range((2 + i % 9) * (2 if label == "false" else 1))
    ]
    return Dataset.build("spread", data.records, {"cascade": pl.DataFrame(rows)})


def pictured() -> Dataset:
    """Half of the false records share a picture with a true one; their files are larger."""
    data = readable("pictured")
    rows = [
        {"record_id": f"r{i}", "kind": "image", "place": f"{i}.png", "sha256": f"s{i - i % 2 if i % 4 < 2 else i}",
         "bytes": float(1_000 + i % 7 + (500 if label == "false" else 0)), "missing": False}
        for i, label in enumerate(data.records["veracity"])
    ]  # fmt: skip
    return Dataset.build("pictured", data.records, {"media": pl.DataFrame(rows)})


def unlabelled() -> Dataset:
    return Dataset.build("bare", leaky().records.with_columns(veracity=pl.lit(None, pl.String)))


def one_class() -> Dataset:
    return Dataset.build("single", leaky().records.filter(pl.col("veracity") == "true"))


def dated_by_today() -> Dataset:
    """A fifth of the claims say "today", and no record has a date."""
    data = readable("daily")
    often = pl.int_range(pl.len()) % 5 == 0
    return Dataset.build(
        "daily",
        data.records.with_columns(
            text=pl.when(often).then(pl.col("text") + " today").otherwise("text")
        ),
    )


CHECKED = [
    "source", "author", "url", "time", "language", "columns", "missing", "balance", "giveaways", "surface", "length",
    "keywords", "identical-texts", "near-duplicates", "url-conflicts",
]  # fmt: skip
AUDITED: dict[str, tuple[Callable[[], Dataset], list[str]]] = {
    "leaky": (leaky, CHECKED),
    "unsplit": (
        lambda: Dataset.build("unsplit", leaky(split=False).records),
        ["near-duplicates", "length"],
    ),
    "planted": (lambda: planted()[0], ["paraphrases", "feasibility"]),
    "worded": (worded, ["giveaways"]),
    "named": (named, ["copies", "identifiers", "order", "text-columns"]),
    "noisy": (lambda: readable("noisy", wrong=48), ["label-errors"]),
    "sourced": (lambda: readable("sourced", tables=True, hint="claim"), ["evidence"]),
    "told": (lambda: readable("told", tables=True, hint="evidence"), ["evidence"]),
    "reasoned": (lambda: readable("reasoned", wrong=48, tables=True, hint="none"), ["evidence"]),
    "spread": (spread, ["cascade"]),
    "pictured": (pictured, ["media"]),
    "daily": (dated_by_today, ["time-bound"]),
    "uneven": (lambda: readable("uneven", rare=0.04), ["one-class"]),
    "bare": (unlabelled, ["one-class"]),
    "single": (one_class, ["one-class"]),
}
CLEANED = "cleaned"  # what `clean` leaves of `leaky`, beside the leak that it has as published


def by_hand(
    check: str, feature: str | None = None, verdict: Verdict = "fail", **details: object
) -> Finding:
    return Finding(
        check=check, feature=feature, protocol="fair", verdict=verdict, why="Planted.", score=0.9, difference=0.4, n=N,
        baselines=Baselines(majority=0.5), details=details,
    )  # fmt: skip


# Checks that are not part of this package (yet), on the data of `leaky`.
BY_HAND = {
    "copies": by_hand("copies", copies=40, share=40 / N),
    "identifiers": by_hand("identifiers", "URL path"),
    "order": by_hand("order"),
    "text-columns": by_hand("text-columns", "topic, what it shares with the text"),
    "of-another-package": by_hand("of-another-package"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("advice")
    for name, (build, _) in AUDITED.items():
        build().write(folder / name)
    return folder


@pytest.fixture(scope="module")
def audits(place: Path) -> dict[str, Audit]:
    audits = {name: cl.audit(place / name, checks=checks) for name, (_, checks) in AUDITED.items()}
    cl.clean(place / "leaky", output=place / CLEANED)
    before = Dataset.open(place / "leaky")
    audits[CLEANED] = cl.audit(place / CLEANED, checks=["near-duplicates"], published=before)
    return audits


def follow(advice: Advice, seen: set[str]) -> None:
    for command in advice.commands:
        if command.shell not in seen:  # a split that two pieces of advice start with is made once
            assert run(shlex.split(command.shell)[1:]) == 0, command.shell
            seen.add(command.shell)
        if "output" in command.options and command.function != "review_create":
            assert any(Path(command.options["output"]).iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("name", [*AUDITED, CLEANED])
def test_every_command_of_an_audit_runs_as_printed(
    name: str, audits: dict[str, Audit], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    advice = audits[name].concluded().advice
    assert advice
    seen: set[str] = set()
    for one in advice:
        assert one.commands, one.text
        assert "–" not in one.text, "a figure is missing"
        follow(one, seen)


@pytest.mark.parametrize("name", BY_HAND)
def test_checks_of_tomorrow_have_commands_too(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    (one,) = advise([BY_HAND[name]], RemedyCase((), "leaky", True))
    assert "–" not in one.text
    commands = [
        c for c in one.commands if not set(c.options.get("checks", ())) - set(CHECKS.names())
    ]
    assert commands or name == "of-another-package"
    for command in commands:
        assert run([*shlex.split(command.shell)[1:], "--force"]) == 0, command.shell


@pytest.mark.slow
def test_every_rule_is_followed(audits: dict[str, Audit]) -> None:
    alarms = [f for a in audits.values() for f in a.findings if f.verdict in ("fail", "warn")]
    real = {RULES.index(rule_for(f)) for f in alarms}
    hand = {RULES.index(rule_for(f)) for name, f in BY_HAND.items() if name not in CHECKS}
    missing = [RULES[i].sentence for i in set(range(len(RULES))) - real - hand]
    assert not missing


def test_the_baselines_are_what_the_audit_measured(
    audits: dict[str, Audit], place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(place)
    data = cl.split("unsplit", output=tmp_path / "fair", by="near-duplicates")
    known = {f.feature or f.check: f.score for f in audits["leaky"].findings if f.score is not None}
    for feature, measured in {
        "length": "length",
        "keywords": "40 words",
        "giveaways": "giveaways",
        "case": "case",
    }.items():
        made = cl.detect(data.dataset, "shortcut", settings={"feature": feature})
        assert made.report["scores"]["macro_f1"] == pytest.approx(known[measured], abs=0.1), feature


def test_masked_giveaways_give_nothing_away(place: Path, tmp_path: Path) -> None:
    before, after = "leaky", str(tmp_path / "masked")
    cleaned = cl.clean(place / before, output=after, mask="giveaways")
    assert not cleaned.dataset.records["text"].str.to_lowercase().str.contains(r"\bboom\b").any()
    changes = cleaned.dataset.tables["changes"].filter(pl.col("step") == "mask")
    assert changes["reason"].str.contains("boom").any()
    first, second = (
        cl.audit(path, checks=["giveaways"]).findings[0] for path in (place / before, Path(after))
    )
    assert first.score is not None
    assert first.score > 0.8
    assert first.verdict == "fail"
    # of twelve publishers a fold may guess well by luck, which is no alarm
    assert "none found" in second.why
    assert second.verdict in ("pass", "inconclusive", "not-measured")


def test_words_are_chosen_on_train_records_only() -> None:
    rows = leaky().records
    test_only = pl.when(pl.col("split") == "test").then(pl.col("text") + " zebra").otherwise("text")
    false = pl.col("veracity") == "false"
    rows = rows.with_columns(text=pl.when(false).then(test_only).otherwise("text"))
    cleaned = cl.clean(Dataset.build("d", rows), mask="giveaways").dataset.records
    assert cleaned["text"].str.contains("zebra").any()
    without = Dataset.build("d", rows.with_columns(split=pl.lit(None, pl.String)))
    assert (
        not cl.clean(without, mask="giveaways").dataset.records["text"].str.contains("zebra").any()
    )


def test_what_moves_a_score_most_comes_first() -> None:
    leak = Finding(
        check="near-duplicates", feature="across a random split", protocol="fair", verdict="fail", why="One record.",
        n=64, details={"share": 1 / 64, "leaked": 1},
    )  # fmt: skip
    column = by_hand("columns", "meta.party", verdict="warn")
    first, second = advise([leak, column])
    assert (first.findings, second.findings) == (
        ("columns (meta.party)",),
        ("near-duplicates (across a random split)",),
    )
    assert first.points == pytest.approx(40)
    assert second.points == pytest.approx(100 / 64)
    assert first.to_json()["points"] == first.points


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("leaky", "prepare leaky -o leaky-fair"),
        ("bare", "show bare --column label_raw"),
        ("single", "show single --column label_raw"),
        ("named", "prepare named -o named-fair"),
        ("noisy", "prepare noisy -o noisy-fair"),
        ("planted", "detect planted -o planted-run"),
    ],
)
def test_what_comes_next_follows_from_what_was_found(
    name: str, expected: str, audits: dict[str, Audit]
) -> None:
    assert audits[name].next_step().shell == f"claimlab {expected}"


def test_what_repairs_copies_and_makes_a_split_is_one_command() -> None:
    audit = Audit(
        "d",
        "0" * 64,
        "fair",
        "veracity",
        0,
        N,
        N,
        [by_hand("near-duplicates", "across a"), BY_HAND["copies"]],
    )
    assert audit.next_step("my data").shell == "claimlab prepare 'my data' -o 'my data-fair'"


def test_without_labels_nobody_is_told_to_add_another_class(audits: dict[str, Audit]) -> None:
    (advice,) = audits["bare"].conclusion.advice
    assert "another class" not in advice.text
    assert "another class" in audits["single"].conclusion.advice[0].text


def test_each_face_has_its_own_words(audits: dict[str, Audit]) -> None:
    audit = audits["unsplit"]
    python, typed = str(audit.concluded()), screen(audit)
    assert (
        "cl.split('unsplit', output='unsplit-by-near-duplicates', by='near-duplicates')" in python
    )
    assert "claimlab" not in python
    assert "claimlab split unsplit -o unsplit-by-near-duplicates --by near-duplicates" in typed
    assert "cl." not in typed
    assert "<code>cl.split(&#x27;" in audit._repr_html_()
    assert "<code>claimlab split" not in audit._repr_html_()


def test_calls_name_the_dataset_where_it_is_and_files_only_its_folder(
    place: Path, audits: dict[str, Audit]
) -> None:
    audit = audits["unsplit"]
    assert f"cl.split('{place}/unsplit', output='{place}/unsplit-by-near-duplicates'" in str(
        audit.conclusion
    )
    assert str(place) not in str(audit.to_json())


def test_a_command_that_is_too_long_for_a_line_can_be_copied(audits: dict[str, Audit]) -> None:
    text = screen(audits["planted"], width=60)
    joined = text.replace("\\\n", " ")
    for one in audits["planted"].concluded().advice:
        for command in one.commands:
            assert shlex.split(command.shell) in [
                shlex.split(line) for line in joined.splitlines() if "claimlab" in line
            ]


def test_report_files_have_commands_as_code(audits: dict[str, Audit], tmp_path: Path) -> None:
    cl.audit(leaky(), checks=["time"]).save(tmp_path / "report")
    markdown, tex = (
        (tmp_path / "report" / name).read_text() for name in ("report.md", "report.tex")
    )
    assert " `claimlab split leaky -o leaky-by-time --by time`" in markdown
    assert "\\`" not in markdown
    assert "\\texttt{claimlab split leaky" in tex
    assert "asciigrave" not in tex


def test_python_forms_are_calls_that_exist(audits: dict[str, Audit]) -> None:
    for audit in audits.values():
        for one in audit.conclusion.advice:
            for command in one.commands:
                taken = parameters_of(getattr(cl, command.function))
                assert set(command.options) <= set(taken), command.python
