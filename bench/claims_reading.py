"""A blind reading of offline claims: draw records, put two versions of the rules over them, shuffle
what they say.

    python bench/claims_reading.py draw DIR --seed 35 [--old COMMIT] [--without FILE] [--data DIR]
    python bench/claims_reading.py count DIR --grades ANN.csv BEN.csv

`draw` takes 100 messages of COVID19.BR (WhatsApp) and 100 articles of Fake.br (news) by the seed,
and writes DIR/sheet/sheet.csv (text, claim, grade: a copy for each grader, to be filled in with
good, half or bad), DIR/sheet/rubric.md and DIR/key.csv (whose claim it is; not for graders).
Records that were read while the rules were written are left out: --without FILE names them, an id a
line. A claim that both versions give is graded once. Texts and claims are shown without marks of
emphasis, tags and links, so that nothing tells which version wrote what. `count` puts sheets and
key together: shares for each grader, and Cohen's kappa where there are two. The files hold text of
the datasets: keep them out of the repository.
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

OLD = "fce3e74ed5c2"  # the rules before the known faults were mended
SAMPLE = (("covid19-br", "WhatsApp", 100), ("fake-br", "news", 100))
READ = 110  # words of a text that the reader sees
GRADES = ("good", "half", "bad")
RUBRIC = """# How to grade a claim

Each row of sheet.csv shows the beginning of a text (up to 110 words, in Portuguese) and the claim
that a program took from it, or (none). Write one word into the column `grade`:

- good: a whole statement that can be looked up and is the text's main claim; or (none) where the
  text makes no claim that can be looked up.
- half: understandable, but secondary, cut, with marks left in it, or with a "this" or "he" that
  nothing explains.
- bad: a fragment, a greeting, a question, a title that claims nothing; or (none) where there is a
  claim.

Whether the claim is true does not matter. A main claim is what a fact-checker would check first in
this text; where a text makes several of equal weight, each of them is a main claim. Grade from the
text that is shown, alone, without looking at another grader's sheet, and leave no row empty.
"""


def drawn(data: Path, seed: int, without: set[str]) -> list[dict[str, str]]:
    import claimlab as cl
    from claimlab.enrich.query import prepared

    rows = []
    for name, kind, n in SAMPLE:
        records = cl.load(name, shared(f"{name}.zip", data)).records.sort("id")
        texts = list(zip(records["id"], prepared(records["text"], "paper"), strict=True))
        fit = [(i, t) for i, t in texts if t and len(t.split()) >= 4 and i not in without]
        for at in np.random.default_rng(seed).permutation(len(fit))[:n]:
            rows.append({"id": fit[at][0], "kind": kind, "text": fit[at][1]})
    return rows


def claims(rows: list[dict[str, str]], old: str | None) -> list[str]:
    """What the rules say of each text: of this checkout, or of the commit `old`, in a process of
    its own.
    """
    code = (
        "import json, sys\nfrom claimlab.enrich.checkworthy import"
        " best_claims\nprint(json.dumps([(best_claims(r['text'], 'por') or [''])[0] for r"
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
    from claimlab.enrich.decoration import plain

    rows = drawn(data, seed, without)
    said = {"old": claims(rows, old), "new": claims(rows, None)}
    whose: dict[tuple[int, str], list[str]] = {}
    for version, mine in said.items():
        for i, claim in enumerate(mine):
            whose.setdefault((i, " ".join(plain(claim).split()).strip(" .!")), []).append(version)
    order = np.random.default_rng(seed + 1).permutation(len(whose))
    items = [list(whose.items())[int(i)] for i in order]
    (folder / "sheet").mkdir(parents=True)
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
        {"item": k, "id": rows[i]["id"], "kind": rows[i]["kind"], "version": version}
        for k, ((i, _), versions) in enumerate(items)
        for version in versions
    ]
    pl.DataFrame(sheet).write_csv(folder / "sheet" / "sheet.csv")
    (folder / "sheet" / "rubric.md").write_text(RUBRIC)
    pl.DataFrame(key).write_csv(folder / "key.csv")
    print(f"{len(sheet)} items in {folder / 'sheet' / 'sheet.csv'}")


def count(folder: Path, sheets: list[Path]) -> dict[str, Any]:
    from claimlab.core.stats.agreement import kappa_figure

    graded = [
        pl.read_csv(sheet, schema_overrides={"grade": pl.String})
        .select("item", pl.col("grade").str.strip_chars().str.to_lowercase())
        .sort("item")
        for sheet in sheets
    ]
    key = pl.read_csv(folder / "key.csv")
    out: dict[str, Any] = {
        sheet.stem: {
            f"{version}, {kind}": one(key.join(grades, on="item"), version, kind)
            for version in ("old", "new")
            for kind in ("WhatsApp", "news", "both")
        }
        for sheet, grades in zip(sheets, graded, strict=True)
    }
    if len(graded) == 2:
        both = graded[0].join(graded[1], on="item", suffix="_b").drop_nulls()
        out["kappa"] = vars(kappa_figure(both["grade"].to_list(), both["grade_b"].to_list()))
        out["same grade"] = share(int((both["grade"] == both["grade_b"]).sum()), both.height)
    return out


def one(joined: pl.DataFrame, version: str, kind: str) -> dict[str, Any]:
    of_part = joined.filter(
        pl.col("version") == version, (pl.col("kind") == kind) | pl.lit(kind == "both")
    )
    parts = {grade: int((of_part["grade"] == grade).sum()) for grade in GRADES}
    left = {"not graded": of_part.height - sum(parts.values())}
    return {**{g: share(n, of_part.height) for g, n in parts.items()}, **left}


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("what", choices=("draw", "count"))
    made.add_argument("folder", type=Path)
    made.add_argument("--seed", type=int, default=35)
    made.add_argument("--old", default=OLD)
    made.add_argument("--without", type=Path, default=None)
    made.add_argument("--grades", type=Path, nargs="+", default=[])
    given = begin(made)
    if given.what == "draw":
        without = set(given.without.read_text().split()) if given.without else set[str]()
        draw(given.folder, given.data, given.seed, given.old, without)
    else:
        print(json.dumps(count(given.folder, given.grades), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
