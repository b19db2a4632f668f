"""How often two texts that the paraphrase check counts as one say the same: a blind reading of
pairs.

    python bench/paraphrase_pairs.py draw SHEET KEY [--seed 7] [--data DIR]
    python bench/paraphrase_pairs.py count KEY GRADES GRADES

`draw` pairs records of eleven datasets (articles, headlines, claims, tweets, messages) with the
record nearest in meaning, as the check does: exact copies and near-duplicates are left out. It
takes 50 pairs of each band of cosine, from the datasets in turn, and writes two files of JSON
lines: SHEET (number, a, b) to be read without the cosine, and KEY (number, dataset, kind, cosine,
ids). A reader writes a line {"number": 1, "grade": "same"} for each pair: `same` where both texts
make the same claim or report, so that who knows the label of one knows the other's; `related` where
the event or topic is the same and the claim is not; `different` otherwise. `count` prints how many
pairs of each band both readers call the same, and their agreement. The sheet holds text of the
datasets: keep it out of the repository.
"""

from __future__ import annotations

import json
import sys
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from harness import ROOT, begin, parser, shared, unmeasured
from parts.shares import share

KINDS = {
    "fake-br": "articles",
    "ct-fan": "articles",
    "isot": "headlines",
    "fakenewsnet": "headlines",
    "liar": "claims",
    "covid-19-rumor": "claims",
    "climate-fever": "claims",
    "covid19-fake-news": "tweets",
    "twitter15": "tweets",
    "mediaeval": "tweets",
    "covid19-br": "messages",
}
BANDS = ((0.75, 0.8), (0.8, 0.85), (0.85, 0.9), (0.9, 1.01))  # the check's threshold is 0.8
RECORDS, PAIRS = 2_000, 50  # of a dataset, and of a band
READ = 600  # characters of a text that a reader sees
GRADES = ("same", "related", "different")
Pair = dict[str, Any]


def pairs(name: str, data: Path, seed: int) -> list[Pair]:
    """Each of some records of a dataset with the one nearest in meaning, every pair once, in an
    order drawn by lot.
    """
    from claimlab.catalog.load import load
    from claimlab.text.near import near_texts
    from claimlab.text.normalise import normal_form
    from claimlab.text.vectors import CHARACTERS_READ, encode, readable

    rng = np.random.default_rng(seed)
    rows = load(name, shared(f"{name}.zip", data)).records.drop_nulls("text").sort("id")
    rows = rows[np.sort(rng.permutation(rows.height)[:RECORDS])]
    rows = rows.filter(readable(rows["text"], rows["language"]))
    vectors = encode(rows["text"].str.slice(0, CHARACTERS_READ).to_list())
    cosines = vectors @ vectors.T
    clusters = near_texts(normal_form(rows["text"])).clusters
    cosines[clusters[:, None] == clusters[None, :]] = -1.0
    nearest = cosines.argmax(axis=1).tolist()
    found = {tuple(sorted(pair)) for pair in enumerate(nearest)}
    records = list(zip(rows["id"], rows["text"].str.slice(0, READ), strict=True))
    drawn = [sorted(found)[i] for i in rng.permutation(len(found))]
    return [
        {
            "dataset": name,
            "kind": KINDS[name],
            "cosine": round(float(cosines[i, j]), 4),
            "ids": [records[i][0], records[j][0]],
            "a": records[i][1],
            "b": records[j][1],
        }
        for i, j in drawn
    ]


def draw(sheet: Path, key: Path, data: Path, seed: int) -> None:
    shared(folder=data)
    for file in (sheet, key):
        if file.resolve().is_relative_to(ROOT):
            raise SystemExit(
                f"{file} is inside the repository; texts of the datasets do not belong there."
            )
    every = [pairs(name, data, seed) for name in KINDS]
    chosen: list[Pair] = []
    for low, high in BANDS:
        within = [[pair for pair in mine if low <= pair["cosine"] < high] for mine in every]
        in_turn = [pair for pair in chain.from_iterable(zip_longest(*within)) if pair is not None]
        chosen += in_turn[:PAIRS]
    order = np.random.default_rng(seed + 1).permutation(len(chosen)).tolist()
    numbered = [{"number": number, **chosen[i]} for number, i in enumerate(order, 1)]
    for file, hidden in ((sheet, ("dataset", "kind", "cosine", "ids")), (key, ("a", "b"))):
        lines = [
            json.dumps({k: v for k, v in pair.items() if k not in hidden}, ensure_ascii=False)
            for pair in numbered
        ]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(numbered)} pairs in {sheet}")


def graded(file: Path) -> dict[int, str]:
    rows = [
        json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    grades = {int(row["number"]): str(row["grade"]) for row in rows}
    if wrong := set(grades.values()) - set(GRADES):
        raise SystemExit(f"{file}: {', '.join(sorted(wrong))} is not one of {', '.join(GRADES)}.")
    return grades


def count(key: Path, first: Path, second: Path) -> None:
    from claimlab.core.stats.agreement import kappa

    grades_of_first, grades_of_second = graded(first), graded(second)
    pairs_of_key = [json.loads(line) for line in key.read_text(encoding="utf-8").splitlines()]
    both = [
        pair
        for pair in pairs_of_key
        if pair["number"] in grades_of_first and pair["number"] in grades_of_second
    ]
    if not both:
        unmeasured("no pair has two grades")
    print(f"{len(both)} of {len(pairs_of_key)} pairs have two grades.\n")
    print(
        "| pairs | read | both say same | first says same | second says same | both say same or"
        " related |"
    )
    print("|---|---|---|---|---|---|")
    bands = {
        f"cosine {low} to {min(high, 1.0)}": [p for p in both if low <= p["cosine"] < high]
        for low, high in BANDS
    }
    at_least = {f"cosine from {low}": [p for p in both if p["cosine"] >= low] for low, _ in BANDS}
    kinds = {
        f"{kind}, from 0.8": [p for p in both if p["kind"] == kind and p["cosine"] >= 0.8]
        for kind in dict.fromkeys(KINDS.values())
    }
    for name, pairs in {**bands, **at_least, **kinds}.items():
        numbers = [pair["number"] for pair in pairs]
        agreed = sum(grades_of_first[n] == grades_of_second[n] == "same" for n in numbers)
        alone = [
            sum(grades[n] == "same" for n in numbers)
            for grades in (grades_of_first, grades_of_second)
        ]
        near = sum("different" not in (grades_of_first[n], grades_of_second[n]) for n in numbers)
        cells = (
            [share(agreed, len(pairs)), *map(str, alone), str(near)]
            if pairs
            else ["not measured"] * 4
        )
        print(f"| {name} | {len(pairs)} | {' | '.join(cells)} |")
    numbers = [pair["number"] for pair in both]
    three = kappa([grades_of_first[n] for n in numbers], [grades_of_second[n] for n in numbers])
    binary = kappa(
        [grades_of_first[n] == "same" for n in numbers],
        [grades_of_second[n] == "same" for n in numbers],
    )
    print(
        f"\nCohen's kappa: {_shown(three)} over the three grades, {_shown(binary)} for same against"
        " the others."
    )


def _shown(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.2f}"


def main() -> int:
    made = parser(__doc__, data=True)
    made.add_argument("what", choices=("draw", "count"))
    made.add_argument("files", nargs="+", type=Path)
    made.add_argument("--seed", type=int, default=7)
    given = begin(made)
    if len(given.files) != (2 if given.what == "draw" else 3):
        made.error("draw takes SHEET and KEY, count takes KEY and two files of grades")
    if given.what == "draw":
        draw(*given.files, given.data, given.seed)
    else:
        count(*given.files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
