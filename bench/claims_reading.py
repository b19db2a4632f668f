"""A blind reading of offline claims: draw records, put two versions of the rules over them, shuffle
what they say.

    python bench/claims_reading.py draw DIR --seed 7 [--old COMMIT] [--without FILE] [--data DIR]
    python bench/claims_reading.py count DIR

`draw` takes 40 messages of COVID19.BR, 25 posts of COVID-19 Fake News and 15 headlines of CoAID by
the seed, and writes DIR/sheet.csv (text, claim, grade: to be filled in with good, half or bad by
docs/enrich.md) and DIR/key.csv (whose claim it is). Records that were read while the rules were
written are left out: --without FILE names them, an id a line. A claim that both versions give is
graded once. Texts and claims are shown without marks of emphasis, tags and links, so that nothing
tells which version wrote what. `count` puts the two together. The files hold text of the datasets:
keep them out of the repository.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import begin, code_of, parser, shared
from parts.shares import share

OLD = "5dc14f42850c"  # the rules of the reading before
SAMPLE = (("covid19-br", "por", 40), ("covid19-fake-news", "eng", 25), ("coaid", "eng", 15))
READ = 110  # words of a text that the reader sees
GRADES = ("good", "half", "bad")


def drawn(data: Path, seed: int, without: set[str]) -> list[dict[str, str]]:
    import claimlab as cl
    from claimlab.enrich.query import prepared

    rows = []
    for name, language, n in SAMPLE:
        records = cl.load(name, shared(f"{name}.zip", data)).records.sort("id")
        texts = list(zip(records["id"], prepared(records["text"], "paper"), strict=True))
        fit = [(i, t) for i, t in texts if t and len(t.split()) >= 4 and i not in without]
        for at in np.random.default_rng(seed).permutation(len(fit))[:n]:
            rows.append({"id": fit[at][0], "language": language, "text": fit[at][1]})
    return rows


def claims(rows: list[dict[str, str]], old: str | None) -> list[str]:
    """What the rules say of each text: of this checkout, or of the commit `old`, in a process of
    its own.
    """
    code = (
        "import json, sys\nfrom claimlab.enrich.checkworthy import"
        " best_claims\nprint(json.dumps([(best_claims(r['text'], r['language']) or [''])[0] for r"
        " in json.load(sys.stdin)]))"
    )
    with tempfile.TemporaryDirectory(prefix="claimlab-bench-") as place:
        environment = code_of(old, Path(place)) if old is not None else None
        command, texts = [sys.executable, "-c", code], json.dumps(rows).encode()
        done = subprocess.run(
            command, input=texts, check=True, stdout=subprocess.PIPE, env=environment
        )
    return [str(claim) for claim in json.loads(done.stdout)]


def draw(folder: Path, data: Path, seed: int, old: str, without: set[str]) -> None:
    from claimlab.enrich.sentences import plain

    rows = drawn(data, seed, without)
    said = {"old": claims(rows, old), "new": claims(rows, None)}
    whose: dict[tuple[int, str], list[str]] = {}
    for version, mine in said.items():
        for i, claim in enumerate(mine):
            whose.setdefault((i, " ".join(plain(claim).split()).strip(" .!")), []).append(version)
    order = np.random.default_rng(seed + 1).permutation(len(whose))
    items = [list(whose.items())[int(i)] for i in order]
    folder.mkdir(parents=True)
    sheet = [
        {
            "item": k,
            "text": " ".join(plain(rows[i]["text"]).split()[:READ]),
            "claim": claim or "(none)",
            "grade": "",
        }
        for k, ((i, claim), _) in enumerate(items)
    ]
    key = [
        {"item": k, "id": rows[i]["id"], "language": rows[i]["language"], "version": version}
        for k, ((i, _), versions) in enumerate(items)
        for version in versions
    ]
    pl.DataFrame(sheet).write_csv(folder / "sheet.csv")
    pl.DataFrame(key).write_csv(folder / "key.csv")
    print(f"{len(sheet)} items in {folder / 'sheet.csv'}")


def count(folder: Path) -> dict[str, Any]:
    sheet = pl.read_csv(folder / "sheet.csv", schema_overrides={"grade": pl.String})
    joined = pl.read_csv(folder / "key.csv").join(sheet.select("item", "grade"), on="item")
    out: dict[str, Any] = {}
    for version in ("old", "new"):
        for language in ("por", "eng", "both"):
            mine = joined.filter(
                pl.col("version") == version,
                (pl.col("language") == language) | (language == "both"),
            )
            parts = {grade: int((mine["grade"] == grade).sum()) for grade in GRADES}
            left = {"not graded": mine.height - sum(parts.values())}
            out[f"{version}, {language}"] = {
                **{g: share(n, mine.height) for g, n in parts.items()},
                **left,
            }
    return out


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("what", choices=("draw", "count"))
    made.add_argument("folder", type=Path)
    made.add_argument("--seed", type=int, default=7)
    made.add_argument("--old", default=OLD)
    made.add_argument("--without", type=Path, default=None)
    given = begin(made)
    if given.what == "draw":
        without = set(given.without.read_text().split()) if given.without else set[str]()
        draw(given.folder, given.data, given.seed, given.old, without)
    else:
        print(json.dumps(count(given.folder), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
