"""How much of what was planted does `overlap` find, how much else, and is its matrix right?

    python bench/overlap_truth.py [--data ../shared/data] [--names liar-new f3 ...]

1. Copies and edits of real claims are planted among the claims of another dataset with which
   nothing is shared: recall of each edit, and precision of all that is found.
2. The matrix over published datasets is counted again with plain Python: exact texts (case and
   punctuation aside), six words or more.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import polars as pl
from harness import begin, parser, shared

import claimlab as cl
from claimlab.core.dataset import Dataset

EACH = 300
CLAIMS, AMONG = "liar", "mm-covid"
NAMES = (
    *("liar", "liar-new", "f3", "mm-covid", "covid19-fake-news", "fibvid", "mumin", "coaid"),
    *("covid-19-rumor", "covid-fact", "climate-fever", "fever", "feverous", "hover", "isot"),
    *("fakenewsnet", "fakeddit", "truthseeker2023", "pheme", "twitter15", "mediaeval", "defakts"),
    *("factck-br", "claimskg"),
)


def changed(words: list[str], n: int, rng: random.Random, spare: list[str]) -> str:
    out = list(words)
    for at in rng.sample(range(len(out)), n):
        out[at] = rng.choice(spare)
    return " ".join(out)


def typo(text: str, rng: random.Random) -> str:
    at = rng.randrange(1, len(text) - 1)
    return text[:at] + text[at + 1 :]


Edit = Callable[[str, random.Random, list[str]], str]
EDITS: dict[str, Edit] = {
    "case and punctuation": lambda t, _, __: f"“{t.upper().rstrip('.')}”!",
    "one letter lost": lambda t, r, _: typo(t, r),
    "a word put in front": lambda t, _, __: f"Breaking: {t}",
    "one word changed": lambda t, r, s: changed(t.split(), 1, r, s),
    "two words changed": lambda t, r, s: changed(t.split(), 2, r, s),
    "four words changed": lambda t, r, s: changed(t.split(), 4, r, s),
}


def planted(data: Path) -> None:
    rng = random.Random(0)
    claims = cl.load(CLAIMS, shared(f"{CLAIMS}.zip", data))
    others = cl.load(AMONG, shared(f"{AMONG}.zip", data))
    texts = [t for t in claims.records["text"].drop_nulls().unique().sort() if len(t.split()) >= 10]
    chosen = rng.sample(texts, EACH * len(EDITS))
    spare = [word for text in others.records["text"].drop_nulls() for word in text.split()[:5]]
    rows = [
        {"id": f"{name}-{i}", "text": edit(text, rng, spare)}
        for at, (name, edit) in enumerate(EDITS.items())
        for i, text in enumerate(chosen[at * EACH : (at + 1) * EACH])
    ]
    background = others.records.select("id", "text").with_columns(
        (pl.lit("other ") + pl.col("id")).alias("id")
    )
    mixed = Dataset.build("mixed", pl.concat([pl.DataFrame(rows), background]))
    found = cl.overlap([mixed, claims], unseen_by=["all"])
    assert found.unseen is not None
    seen = set(mixed.records.filter(pl.col("text").is_not_null())["id"]) - {*found.unseen["id"]}
    print("| planted | recall |\n|---|---|")
    for name in EDITS:
        hits = sum(f"{name}-{i}" in seen for i in range(EACH))
        print(f"| {name} | {hits} of {EACH} ({100 * hits / EACH:.0f}%) |")
    wrong = sum(id.startswith("other ") for id in seen)
    right = len(seen) - wrong
    print(f"\nOf {len(seen):,} records found, {right:,} were planted; {wrong:,} of the other")
    print(f"{background.height:,} records were found too (precision {right / len(seen):.3f}).\n")


def plain(text: str) -> str:
    """Case, punctuation and whitespace aside, without claimlab's code."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "", folded)


def recounted(data: Path, names: list[str]) -> None:
    datasets = [cl.load(name, shared(f"{name}.zip", data)) for name in names]
    found = cl.overlap(datasets)
    cells = {(r["dataset"], r["other"]): r for r in found.whole.iter_rows(named=True)}
    known = {
        one.name: [
            plain(text) for text in one.records["text"].drop_nulls() if len(text.split()) >= 6
        ]
        for one in datasets
    }
    sets = {name: set(texts) for name, texts in known.items()}
    pairs = differing = 0
    print("| dataset | in | counted again (same text) | ours, same text | ours, all kinds |")
    print("|---|---|---|---|---|")
    for a, b in [pair for two in combinations(known, 2) for pair in (two, two[::-1])]:
        again = sum(text in sets[b] for text in known[a])
        ours = cells[a, b]
        pairs += again > 0
        # texts of fewer than six words are ours too; signs such as % and 1.5 are kept apart by us
        differing += abs(again - ours["same_text"]) > max(5, 0.05 * again) + ours["short"]
        if ours["share"] >= 0.05 or again >= 500:
            whole = f"{ours['shared']:,} ({100 * ours['share']:.0f}%)"
            print(f"| {a} | {b} | {again:,} | {ours['same_text']:,} | {whole} |")
    total = len(known) * (len(known) - 1) // 2
    print(f"\n{pairs // 2} of {total} pairs share a text of six words or more, counted again;")
    print(f"{found.pairs()} share a claim of any kind. Cells that differ: {differing}.")


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--names", nargs="+", default=[*NAMES], help="the datasets of the matrix")
    options = begin(made)
    shared(folder=options.data)
    planted(options.data)
    recounted(options.data, options.names)


if __name__ == "__main__":
    main()
