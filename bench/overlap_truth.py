"""How much of what was planted does `overlap` find, how much else, and is its matrix right?

    python bench/overlap_truth.py [--data ../shared/data] [--names liar-new f3 ...]

1. Copies and edits of real claims are planted among the claims of another dataset with which
   nothing is shared: recall of each edit, and precision of all that is found.
2. Translations: texts of fact-checks and posts in Spanish and Korean, and the English translations
   that come with them (the trial data of MultiClaim), by `--meaning`; `--translations` alone.
3. The matrix over published datasets is counted again with plain Python: exact texts (case and
   punctuation aside), six words or more.
"""

from __future__ import annotations

import ast
import csv
import io
import random
import re
import unicodedata
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from zipfile import ZipFile

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


def pairs_of(data: Path) -> dict[str, list[tuple[str, str]]]:
    """Texts of six characters or more by language, each with its English translation."""
    out: dict[str, list[tuple[str, str]]] = {}
    columns = {"trial_fact_checks.csv": ("claim", "title"), "trial_posts.csv": ("text", "ocr")}
    with ZipFile(shared("multiclaim-samples.zip", data)) as files:
        for name, wanted in columns.items():
            lines = io.StringIO(files.read(f"sample_data/{name}").decode("utf-8"), newline="")
            for row in csv.DictReader(lines):
                for cell in filter(None, (row.get(column) for column in wanted)):
                    known = ast.literal_eval(cell.replace("\n", " "))
                    for own, english, languages in [known] if isinstance(known, tuple) else known:
                        if len(own) >= 6 and own.strip() != english.strip():
                            out.setdefault(languages[0][0], []).append((own, english))
    return out


def translated(data: Path) -> None:
    """Each language and its translations, among 2,000 posts on another subject."""
    others = cl.load(AMONG, shared(f"{AMONG}.zip", data)).records
    others = others.filter(pl.col("text").str.len_chars() >= 6, pl.col("language") == "eng")
    background = others.select("text", "language").sample(min(2_000, others.height), seed=0)
    print("| language | translations | found | of the others, found too | precision |")
    print("|---|---|---|---|---|")
    for language, pairs in sorted(pairs_of(data).items()):
        own = [{"text": text, "language": language} for text, _ in pairs]
        english = [{"text": text, "language": "eng"} for _, text in pairs]
        parts = {"own": pl.DataFrame(own), "english": pl.DataFrame(english), "other": background}
        named = [
            Dataset.build(name, table.with_columns(id=pl.int_range(pl.len()).cast(pl.String)))
            for name, table in parts.items()
        ]
        found = cl.overlap(named, meaning=True).whole
        cells = {(r["dataset"], r["other"]): r for r in found.iter_rows(named=True)}
        counts = {who: cells[who, "own"]["same_meaning"] for who in ("english", "other")}
        right, wrong = counts["english"], counts["other"]
        precision = f"{right / (right + wrong):.2f}" if right + wrong else "none found"
        share = f"{right} ({100 * right / len(pairs):.0f}%)"
        rest = f"{wrong} of {background.height:,}"
        print(f"| {language} | {len(pairs)} | {share} | {rest} | {precision} |", flush=True)


def plain(text: str) -> str:
    """Case, punctuation and whitespace aside, without claimlab's code."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "", folded)


def recounted(data: Path, names: list[str]) -> None:
    datasets = [cl.load(name, shared(f"{name}.zip", data)) for name in names]
    found = cl.overlap(datasets)
    cells = {(r["dataset"], r["other"]): r for r in found.whole.iter_rows(named=True)}
    texts_of = {
        one.name: [
            plain(text) for text in one.records["text"].drop_nulls() if len(text.split()) >= 6
        ]
        for one in datasets
    }
    sets = {name: set(texts) for name, texts in texts_of.items()}
    pairs = differing = 0
    print("| dataset | in | counted again (same text) | ours, same text | ours, all kinds |")
    print("|---|---|---|---|---|")
    for a, b in [pair for two in combinations(texts_of, 2) for pair in (two, two[::-1])]:
        again = sum(text in sets[b] for text in texts_of[a])
        ours = cells[a, b]
        pairs += again > 0
        # texts of fewer than six words are ours too; signs such as % and 1.5 are kept apart by us
        differing += abs(again - ours["same_text"]) > max(5, 0.05 * again) + ours["short"]
        if ours["share"] >= 0.05 or again >= 500:
            whole = f"{ours['shared']:,} ({100 * ours['share']:.0f}%)"
            print(f"| {a} | {b} | {again:,} | {ours['same_text']:,} | {whole} |")
    total = len(texts_of) * (len(texts_of) - 1) // 2
    print(f"\n{pairs // 2} of {total} pairs share a text of six words or more, counted again;")
    print(f"{found.pairs()} share a claim of any kind. Cells that differ: {differing}.")


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--names", nargs="+", default=[*NAMES], help="the datasets of the matrix")
    made.add_argument("--translations", action="store_true", help="these alone")
    options = begin(made)
    shared(folder=options.data)
    translated(options.data)
    if options.translations:
        return
    planted(options.data)
    recounted(options.data, options.names)


if __name__ == "__main__":
    main()
