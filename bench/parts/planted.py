"""A small synthetic dataset with planted defects whose truth is known, and its clean twin.

The demo runs on one of them (bench/demo_data.py); tests assert that each planted defect is found
and that the twin is clean. Labels are drawn at random and the claims are invented, so nothing in
the clean twin predicts the label: whatever a check reports there is a false alarm.

Synthetic fact-checks of the claims, as ClaimReview, let evidence be searched offline. Some repeat
the whole claim, so that the first search finds them; some repeat only its main clause, so that the
claim must be extracted first; most claims have no fact-check. The assignment is returned, so that
tests can check the search.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import UsageError
from claimlab.core.record import meta_json
from claimlab.core.types import JsonObject

LANGUAGES = ("eng", "por", "deu")
MIN_SIZE = 120
SLOTS = ("subject", "action", "when", "reason", "source")
DEFECTS = {
    "keyword": "a word that occurs almost only in false claims",
    "time-gap": "false claims are dated two years after true ones",
    "publisher": "each publisher prints one class only",
    "length-gap": "false claims are a sentence longer",
    "contradicting-near-duplicates": "almost the same text with opposite labels",
    "url-under-both-labels": "one address cited by a true and a false claim",
    "wrong-language": "the text is not in the language given in the record",
    "too-short": "texts of a word or two",
    "duplicates-across-splits": "the same text in train and in test",
    "infeasible": "claims that annotators marked as impossible to check",
}
WHOLE, CORE = "whole", "core"  # kinds of fact-checks
ROW_DEFECTS = (
    "contradicting-near-duplicates",
    "url-under-both-labels",
    "wrong-language",
    "too-short",
    "duplicates-across-splits",
)


@dataclass
class Truth:
    """What was planted: for each defect the ids of the records that carry it, and the values behind
    it.
    """

    records: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, list[str]] = field(default_factory=dict)


def planted(*, seed: int = 20, size: int = 900) -> tuple[Dataset, Truth]:
    """The dataset with every defect of `DEFECTS`, and the truth about them."""
    if size < MIN_SIZE:
        raise UsageError(
            f"{size} rows cannot hold every planted defect.", f"Ask for at least {MIN_SIZE}."
        )
    rng = np.random.default_rng(seed)
    rows = _clean_rows(rng, size)
    truth = Truth()
    _plant_shortcuts(rows, rng, truth)
    _plant_rows(rows, rng, truth)
    return _dataset("planted", rows, rng, seed, infeasible=0.4, truth=truth), truth


def clean_twin(*, seed: int = 20, size: int = 900) -> Dataset:
    """The same claims with random labels, without any defect."""
    rng = np.random.default_rng(seed)
    return _dataset("clean-twin", _clean_rows(rng, size), rng, seed, infeasible=0.05, truth=Truth())


@cache
def material(name: str) -> JsonObject:
    """The words that claims and fact-checks are made of."""
    text = (Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
    words: JsonObject = tomllib.loads(text)
    return words


def _material() -> JsonObject:
    return material("planted")


def _clean_rows(rng: np.random.Generator, size: int) -> list[JsonObject]:
    """Distinct claims in three languages; label, date, source, author, topic, event and split drawn
    independently.
    """
    names = _material()["names"]
    seen: set[tuple[Any, ...]] = set()
    rows: list[JsonObject] = []
    while len(rows) < size:
        language = LANGUAGES[len(rows) % len(LANGUAGES)]
        picks = tuple(int(rng.integers(len(_material()[language][slot]))) for slot in SLOTS)
        parts = [
            (language, i, j, picks[i], picks[j], picks[k])
            for i, j, k in ((0, 1, 2), (0, 1, 3), (1, 2, 3), (0, 2, 3))
        ]
        if any(part in seen for part in parts):
            continue  # sharing three of the long clauses would make a near-duplicate
        seen.update(parts)
        source = str(rng.choice(names["sources"]))
        number = len(rows) + 1
        rows.append(
            {
                "id": f"demo-{number:04d}",
                "text": _claim(language, picks, int(rng.integers(12, 980))),
                "kind": "claim",
                "label_raw": "true" if rng.random() < 0.5 else "false",
                "language": language,
                "date": datetime(2021, 1, 1) + timedelta(days=int(rng.integers(0, 700))),
                "date_source": "date column",
                "author": str(rng.choice(names["authors"])),
                "source": source,
                "url": f"https://{source.lower().replace(' ', '-')}.example/{language}/{number}",
                "topic": str(rng.choice(names["topics"])),
                "group": f"event-{int(rng.integers(0, size // 6)):03d}",
                "split": str(rng.choice(["train", "dev", "test"], p=[0.7, 0.1, 0.2])),
            }
        )
    by_event: dict[str, str] = {}
    for row in rows:  # an event stays in one split
        row["split"] = by_event.setdefault(row["group"], row["split"])
    return rows


def _claim(language: str, picks: tuple[int, ...], number: int) -> str:
    clauses = [_material()[language][slot][pick] for slot, pick in zip(SLOTS, picks, strict=True)]
    subject, action, when, reason, source = clauses
    return f"{subject} {action.format(n=number)} {when} {reason}, {source}."


def _plant_shortcuts(rows: list[JsonObject], rng: np.random.Generator, truth: Truth) -> None:
    """What gives the label away without anybody reading the claim."""
    names = _material()["names"]["sources"]
    half = len(names) // 2
    for row in rows:
        language = _material()[row["language"]]
        false = row["label_raw"] == "false"
        if rng.random() < (0.8 if false else 0.02):
            row["text"] = f"{language['lurid'].capitalize()}: {row['text']}"
            truth.records.setdefault("keyword", []).append(row["id"])
        if false:
            row["date"] += timedelta(days=730)
            row["text"] += " " + str(rng.choice(language["tail"]))
        row["source"] = str(rng.choice(names[:half] if false else names[half:]))
    truth.values["keyword"] = [_material()[lang]["lurid"] for lang in LANGUAGES]
    truth.values["publisher"] = list(names)


def _plant_rows(rows: list[JsonObject], rng: np.random.Generator, truth: Truth) -> None:
    """Single rows that are wrong; each kind has rows of its own, so that one repair does not hide
    another.
    """
    base = len(rows)
    order = iter([int(i) for i in rng.permutation(base)])

    def add(original: JsonObject, **changes: Any) -> JsonObject:
        number = len(rows) + 1
        row = {
            **original,
            "id": f"demo-{number:04d}",
            "url": f"{original['url']}-{number}",
            **changes,
        }
        rows.append(row)
        return row

    for _ in range(24):
        old = rows[next(order)]
        text = old["text"].replace(" ", "  ", 1).replace(".", " !", 1)
        flipped = "true" if old["label_raw"] == "false" else "false"
        new = add(old, text=text, label_raw=flipped)
        truth.records.setdefault("contradicting-near-duplicates", []).extend([old["id"], new["id"]])
    for _ in range(15):
        one, two = rows[next(order)], rows[next(order)]
        two["url"] = one["url"]
        two["label_raw"] = "true" if one["label_raw"] == "false" else "false"
        truth.records.setdefault("url-under-both-labels", []).extend([one["id"], two["id"]])
    for _ in range(20):
        row = rows[next(order)]
        row["language"] = LANGUAGES[(LANGUAGES.index(row["language"]) + 1) % 3]
        truth.records.setdefault("wrong-language", []).append(row["id"])
    for i in range(15):
        row = add(rows[next(order)], text=f"{('Wow', 'Sad', 'True', 'News', 'Look')[i % 5]} {i}!")
        truth.records.setdefault("too-short", []).append(row["id"])
    for _ in range(30):
        old = rows[next(order)]
        new = add(
            old, split="test" if old["split"] == "train" else "train", group=f"copy-{len(rows)}"
        )
        truth.records.setdefault("duplicates-across-splits", []).extend([old["id"], new["id"]])


def _dataset(
    name: str,
    rows: list[JsonObject],
    rng: np.random.Generator,
    seed: int,
    *,
    infeasible: float,
    truth: Truth,
) -> Dataset:
    annotations = _annotate(rows, rng, infeasible, truth)
    for row in rows:
        synthetic = {
            "label": row["label_raw"],
            "origin": "claimlab.generate.planted",
            "changes": ["invented"],
        }
        row["meta"] = meta_json({"synthetic": synthetic})
    frame = pl.DataFrame(rows).with_columns(authorship=pl.lit("MGT"), veracity=pl.col("label_raw"))
    step = Lineage(step="generate", parameters={"dataset": name, "size": len(rows)}, seed=seed)
    return Dataset.build(
        name,
        frame,
        {"annotations": annotations},
        synthetic=True,
        licence="Apache-2.0",
        notes=["Synthetic claims about invented places: for demonstration and tests only."],
        lineage=[step],
    )


def _annotate(
    rows: list[JsonObject], rng: np.random.Generator, share: float, truth: Truth
) -> pl.DataFrame:
    """Two annotators judge feasibility for 120 claims; `share` of them are rewritten into claims
    nobody could check.
    """
    taken = {i for kind in ROW_DEFECTS for i in truth.records.get(kind, [])}
    plain = [r for r in rows[: len(rows) // 2] if r["split"] == "train" and r["id"] not in taken]
    chosen = [plain[int(i)] for i in rng.permutation(len(plain))[:120]]
    bad = chosen[: int(share * len(chosen))]
    used: dict[str, int] = {}
    for row in bad:
        language = _material()[row["language"]]
        turn = used[row["language"]] = used.get(row["language"], -1) + 1
        # Vague openings recur, so each keeps its own second half: infeasible, but not a
        # near-duplicate.
        row["text"] = (
            f"{language['photo'][turn % len(language['photo'])]}. {row['text'].split(' ', 6)[-1]}"
        )
    truth.records["infeasible"] = [r["id"] for r in bad]
    answers = []
    for row in chosen:
        for annotator in ("annotator-1", "annotator-2"):
            value = (
                "not feasible"
                if row in bad
                else str(rng.choice(["feasible", "feasible with web search"]))
            )
            answers.append(
                {
                    "record_id": row["id"],
                    "annotator": annotator,
                    "annotator_kind": "human",
                    "question": "feasibility",
                    "value": value,
                }
            )
    return pl.DataFrame(answers)


def fact_checks(
    dataset: Dataset, *, seed: int = 20, each: int = 40
) -> tuple[list[JsonObject], dict[str, str]]:
    """ClaimReviews of `each` whole claims and `each` main clauses, and the kind of fact-check by
    record.
    """
    rng = np.random.default_rng(seed)
    rows = [
        r
        for r in dataset.records.iter_rows(named=True)
        if r["veracity"] and len((r["text"] or "").split()) > 24
    ]
    shuffled = [rows[int(i)] for i in rng.permutation(len(rows))]
    brief = [row for row in shuffled if _core(row) is not None][:each]
    whole = [row for row in shuffled if row not in brief][:each]
    reviews, truth = [], {}
    for number, (row, kind) in enumerate(
        [*((r, WHOLE) for r in whole), *((r, CORE) for r in brief)]
    ):
        claim = _sentence(row) if kind == WHOLE else str(_core(row))
        reviews.append(_review(row, claim, number, rng))
        truth[row["id"]] = kind
    return reviews, truth


def _sentence(row: JsonObject) -> str:
    return str(row["text"].split(". ")[0].rstrip("."))


def _core(row: JsonObject) -> str | None:
    """The main clause of a claim that also has a clause of reason; null if it has none."""
    sentence = _sentence(row)
    ends = [
        at
        for word in _checks()[row["language"]]["reasons"]
        if (at := sentence.find(f" {word} ")) > 0
    ]
    return sentence[: min(ends)] if ends else None


def _review(row: JsonObject, claim: str, number: int, rng: np.random.Generator) -> JsonObject:
    words = _checks()[row["language"]]
    return {
        "@type": "ClaimReview",
        "claimReviewed": claim,
        "name": words["title"].format(claim=" ".join(claim.split()[:6]) + " …"),
        "url": f"https://checks.example.org/{row['language']}/{number + 1}",
        "datePublished": (
            (row["date"] + timedelta(days=int(rng.integers(-20, 60)))).date().isoformat()
        ),
        "inLanguage": row["language"],
        "author": {"@type": "Organization", "name": str(rng.choice(_checks()["publishers"]))},
        "reviewRating": {
            "@type": "Rating",
            "alternateName": str(rng.choice(words[row["veracity"]])),
        },
    }


def _checks() -> JsonObject:
    return material("factchecks")
