"""Learned rewrites, graded blind: beside the bare model, word noise, and what the released traces
have.

    python bench/evolve_learn.py sheet ADAPTER SHEET KEY [ARCHIVE] [--hops 60]
    python bench/evolve_learn.py count KEY GRADES GRADES

`sheet` draws hops of the seeds that `claimlab evolve learn` held out, lets every rewriter write,
and shuffles: SHEET is for the graders, KEY says who wrote what. A grader copies the numbers of the
sheet into a table (tab-separated: number, grammatical, plausible, follows) and writes 0 or 1 into
each cell. `count` prints the figures of two graders. ADAPTER is a folder of `evolve learn`; ARCHIVE
is the released evolved-claims archive (default: in ../shared/data).
"""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator
from pathlib import Path

from harness import begin, parser
from parts.evolved import show

from claimlab.catalog.load import load
from claimlab.core.calls.calls import Calls
from claimlab.core.stats.agreement import kappa
from claimlab.llm.asking import ask_sync
from claimlab.llm.messages import Request as Ask
from claimlab.llm.open import open_provider
from claimlab_simulate.evolve.contracts import ActorSettings
from claimlab_simulate.evolve.learn import divided
from claimlab_simulate.evolve.rewrite.known.null import Null
from claimlab_simulate.evolve.rewrite.weights import Weights
from claimlab_simulate.evolve.rewriter import REWRITERS, Request

COLUMNS = ("grammatical", "plausible", "follows")


def sheet(archive: str, adapter: str, sheet: Path, key: Path, hops: int) -> Iterator[str]:
    learning, held = divided(load("evolved-claims", archive, variant="traces"))
    draw = random.Random(0)
    picks = draw.sample(held, min(hops, len(held)))
    before = [pick.question.partition("Claim: ")[2] for pick in picks]
    null = Null(Weights.read().null, {"eng": [pick.answer for pick in learning]})
    calls = Calls(mode="live")
    models = {
        "adapter": REWRITERS.get("learned")(ActorSettings(adapter=adapter, calls=calls)).provider,
        "bare model": open_provider("embedded", calls=calls),
    }
    rows = []
    for number, (pick, text) in enumerate(zip(picks, before, strict=True)):
        written = {
            name: ask_sync(model, Ask.of(pick.question, max_tokens=160)).text or ""
            for name, model in models.items()
        }
        written["null model"] = null.turn(Request(text, {}, number, language="eng")).text
        written["released"] = pick.answer
        rows += [
            {"by": by, "before": text, "asked": pick.question.splitlines()[0], "after": after}
            for by, after in written.items()
        ]
    draw.shuffle(rows)
    key.write_text(json.dumps([row["by"] for row in rows]), encoding="utf-8")
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerow(("number", "before", "asked", "after"))
        for number, row in enumerate(rows):
            texts = (" ".join(row[name].split()) for name in ("before", "asked", "after"))
            writer.writerow((number, *texts))
    yield f"{len(rows)} texts to grade in {sheet}; who wrote them is in {key}."


def count(key: Path, one: Path, two: Path) -> Iterator[str]:
    writers = json.loads(key.read_bytes())
    graders = [_grades(file, len(writers)) for file in (one, two)]
    yield "| rewriter | texts | grammatical and plausible | does what was asked |"
    yield "|---|---|---|---|"
    for by in sorted(set(writers)):
        numbers = [number for number, writer in enumerate(writers) if writer == by]
        good, follows = (
            [sum(all(grades[n][column] for column in some) for n in numbers) for grades in graders]
            for some in (COLUMNS[:2], COLUMNS[2:])
        )
        yield f"| {by} | {len(numbers)} | {good[0]} and {good[1]} | {follows[0]} and {follows[1]} |"
    for column in COLUMNS:
        first, second = ([row[column] for row in grades] for grades in graders)
        yield f"Cohen's kappa, {column}: {kappa(first, second):.2f}"


def _grades(file: Path, texts: int) -> list[dict[str, bool]]:
    with file.open(encoding="utf-8", newline="") as lines:
        rows = {int(row["number"]): row for row in csv.DictReader(lines, delimiter="\t")}
    return [{name: rows[n][name] == "1" for name in COLUMNS} for n in range(texts)]


def main() -> None:
    made = parser(__doc__)
    jobs = made.add_subparsers(dest="job", required=True)
    drawn, counted = jobs.add_parser("sheet"), jobs.add_parser("count")
    drawn.add_argument("adapter")
    for name in ("sheet", "key"):
        drawn.add_argument(name, type=Path)
    drawn.add_argument("archive", nargs="?")
    drawn.add_argument("--hops", type=int, default=60)
    for name in ("key", "one", "two"):
        counted.add_argument(name, type=Path)
    show(begin(made), {"sheet": sheet, "count": count})


if __name__ == "__main__":
    main()
