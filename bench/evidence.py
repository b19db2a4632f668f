"""What a detector and a judge are shown: COVID19.BR searched in Fake.br (documents) and FactCk.BR
(fact-checks).

    python bench/evidence.py [--data DIR] [--limit N] [--seeds 3] [--detectors tfidf,sentence]
    [--pieces 1]
                             [--version now|before|both] [--cases FILE] [--factck]
                             [--enriched DIR]

--factck searches FactCk.BR alone, without Fake.br: the patterns of COVID19.BR x FactCk.BR.

Everything is measured twice: with the code of this checkout (now), and with the code as it was
before evidence was ranked and judges asked for correspondence (before: commit `BEFORE`, taken from
the repository's history and run in a process of its own, so that nothing of it is imitated here).

- shown: the share of records whose shown evidence (the first 5 pieces, and the first) corresponds,
  by the rule of each
  version, and by today's rule for both
- guarded: the share of records that have any evidence left without fact-checks, own source and
  copies
- judge: how many fact-checking articles the judge reads, and how many of them do not correspond by
  today's rule
- patterns: T1 to F3 of the paper, and the fact-checkers that are counted
  --cases FILE writes 20 records to read, of T1, F1, F2 and F3 in turn and then those that come
  nearest to corresponding, with their piece; it holds text: never commit it. --enriched DIR does
  this for a dataset that is enriched already, such as the preset's
- F1 of detectors without and with evidence on near-duplicate splits, mean and range over seeds (of
  split and detector)

Real data is read from ../shared/data beside the checkout, or from --data.
"""

from __future__ import annotations

import argparse
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

BEFORE = "f9d8eee21eb3"
SETS = ("covid19-br", "fake-br", "factck-br")
SHOWN = (5, 1)
READINGS = ("none", "complete", "filtered", "guarded")
GUARDS = ("guard_factcheck", "guard_own_source", "guard_copy")


def enriched(data: Path, place: Path, limit: int | None, *, factck: bool = False) -> Any:
    import claimlab as cl

    if factck:
        for name in ("covid19-br", "factck-br"):
            cl.load(name, shared(f"{name}.zip", data), output=place / name)
        checks = f"local:{place / 'factck-br'}"
        return cl.enrich(
            place / "covid19-br", checks, output=place / "enriched", limit=limit
        ).dataset

    for name in SETS:
        cl.load(name, shared(f"{name}.zip", data), output=place / name)
    return cl.enrich(
        place / "covid19-br",
        f"local:{place / 'fake-br'}",
        factcheck=f"local:{place / 'factck-br'}",
        output=place / "enriched",
        limit=limit,
    ).dataset


def judged(dataset: Any) -> list[str]:
    """The records of which a judge of rationales reads an article."""
    from claimlab.evaluate.judge.cases import articles_in

    return sorted(articles_in(dataset).texts)


def patterns(dataset: Any) -> dict[str, Any]:
    from claimlab.enrich.analysis import analyse

    found = analyse(dataset)
    out = {p["pattern"]: share(p["records"], p["of"]) for p in found["patterns"]}
    domains = {row["domain"]: row["all"] for row in found["factcheck_domains"]}
    return {
        **out,
        "fact-checkers by domain": domains,
        "marks": found["marks"],
        "pieces": found["evidence"],
    }


def cases(dataset: Any, file: Path, most: int = 20) -> None:
    """Records of each pattern in turn, then those whose piece comes nearest to corresponding, with
    that piece."""
    from itertools import chain, zip_longest

    from claimlab.enrich.analysis import analyse

    found = {p["pattern"]: p["examples"] for p in analyse(dataset)["patterns"]}
    named = [[(name, i) for i in found[name]] for name in ("T1", "F1", "F2", "F3")]
    turns = [one for one in chain(*zip_longest(*named)) if one is not None]
    table = dataset.tables["evidence"].drop_nulls("correspondence")
    order = ("corresponds", "cosine", "correspondence")
    best = table.sort(order, descending=True, nulls_last=True).unique(
        "record_id", keep="first", maintain_order=True
    )
    taken = {record for _, record in turns}
    turns += [("none", record) for record in best["record_id"] if record not in taken]
    texts = dict(dataset.records.select("id", "text").iter_rows())
    pieces = {row["record_id"]: row for row in best.to_dicts()}
    kept = (*order, "stage", "stance", "url", "text")
    rows = [
        {
            "pattern": pattern,
            "record": record,
            "record_text": texts[record],
            **{name: pieces[record][name] for name in kept},
        }
        for pattern, record in turns[:most]
    ]
    file.write_text(json.dumps(rows, ensure_ascii=False, indent=1))


def scores(dataset: Any, detectors: list[str], seeds: int, pieces: int) -> dict[str, Any]:
    """Macro-F1 of each detector under each reading of the evidence; a seed is of the split and of
    the detector.
    """
    import claimlab as cl

    values: dict[str, list[float]] = {}
    tests: list[int] = []
    for seed in range(seeds):
        whole = cl.split(dataset, by="near-duplicates", seed=seed).dataset
        for detector in detectors:
            for reading in READINGS:
                run = cl.detect(whole, detector, evidence=reading, pieces=pieces, seed=seed)
                values.setdefault(f"{detector}, {reading}", []).append(
                    100 * run.report["scores"]["macro_f1"]
                )
                print(
                    seed,
                    detector,
                    reading,
                    values[f"{detector}, {reading}"][-1],
                    file=sys.stderr,
                    flush=True,
                )
        tests.append(run.records.height)
    return {
        "test records": tests,
        **{
            name: (
                f"{np.mean(mine):.1f} ({min(mine):.1f} to {max(mine):.1f};"
                f" {', '.join(f'{v:.1f}' for v in mine)})"
            )
            for name, mine in values.items()
        },
    }


def measured(given: argparse.Namespace, place: Path) -> dict[str, Any]:
    """What the code that is imported makes of the data; the tables stay in `place` for what is
    compared by one rule.
    """
    dataset = enriched(given.data, place, given.limit, factck=given.factck)
    part = {"judged": judged(dataset), "patterns": patterns(dataset)}
    if given.cases is not None:
        cases(dataset, given.cases)
    names = [name for name in given.detectors.split(",") if name]
    return {**part, "scores": scores(dataset, names, given.seeds, given.pieces)} if names else part


def measured_before(given: argparse.Namespace, place: Path) -> dict[str, Any]:
    """The same by the code of `BEFORE`, which runs in a process of its own."""
    environment = code_of(BEFORE, place / "code")
    arguments = [
        f"--{k}={v}"
        for k, v in vars(given).items()
        if v is not None and k not in ("version", "child", "cases", "factck", "enriched")
    ]
    command = [sys.executable, __file__, *arguments, f"--child={place}"]
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return dict(json.loads(done.stdout))


def by_one_rule(place: Path, readers: list[str], *, first_rated: bool) -> dict[str, Any]:
    """What is shown and read, by the rule of the version that made it and by today's rule of
    correspondence. A judge read the first rated piece before, and reads the first that corresponds
    now."""
    from claimlab.core.dataset import Dataset

    dataset = Dataset.open(place / "enriched")
    table = (
        dataset.tables["evidence"]
        .filter(pl.col("corresponds").is_not_null())
        .sort("record_id", "rank")
    )
    table = table.with_columns(today=pl.Series(today(dataset, table), dtype=pl.Boolean))
    records = dataset.tables["enrichment"].filter(pl.col("query").is_not_null()).height
    out: dict[str, Any] = {"records searched for": records}
    for rule, column in (("own rule", "corresponds"), ("today's rule", "today")):
        for pieces in SHOWN:
            first = table.filter(pl.int_range(pl.len()).over("record_id") < pieces)
            out[f"first {pieces} correspond, {rule}"] = share(
                first.filter(column)["record_id"].n_unique(), records
            )
        out[f"any corresponds, {rule}"] = share(
            table.filter(column)["record_id"].n_unique(), records
        )
    free = table.filter(~pl.any_horizontal([pl.col(name).fill_null(False) for name in GUARDS]))
    out["guarded leaves some"] = share(free["record_id"].n_unique(), records)
    rated = (
        pl.col("rating").is_not_null() | pl.col("verdict").is_not_null() | pl.col("guard_factcheck")
    )
    articles = table.filter(rated if first_rated else rated & pl.col("corresponds"))
    read = articles.unique("record_id", keep="first", maintain_order=True)
    right = set(read.filter("today")["record_id"].to_list())
    out["articles read"] = len(readers)
    out["articles read that do not correspond"] = sum(record not in right for record in readers)
    return out


def today(dataset: Any, table: pl.DataFrame) -> list[bool]:
    """Whether each piece corresponds to what was asked for it, by the rule of this checkout."""
    from claimlab.enrich.correspondence import corresponds, matches

    queries = dict(dataset.tables["enrichment"].select("record_id", "query").iter_rows())
    claims = dict(dataset.tables["claims"].select("record_id", "text").iter_rows())
    language = dict(dataset.records.select("id", "language").iter_rows())
    out = []
    for record, stage, text, title in table.select(
        "record_id", "stage", "text", "title"
    ).iter_rows():
        asked = claims.get(record) if stage.endswith("claim") else queries.get(record)
        (match,) = matches(asked or "", [text or title], language[record])
        out.append(corresponds(match))
    return out


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--limit", type=int, default=None)
    made.add_argument("--seeds", type=int, default=3)
    made.add_argument(
        "--pieces", type=int, default=1, help="of evidence behind a text; the paper shows one"
    )
    made.add_argument("--detectors", default="tfidf,sentence")
    made.add_argument("--version", choices=("now", "before", "both"), default="both")
    made.add_argument("--factck", action="store_true", help="search FactCk.BR alone")
    made.add_argument("--cases", type=Path, default=None, help="20 records to read, as JSON")
    made.add_argument("--child", type=Path, default=None, help=argparse.SUPPRESS)
    made.add_argument("--enriched", type=Path, default=None, help="patterns of this dataset alone")
    given = begin(made)
    if given.enriched is not None:
        from claimlab.core.dataset import Dataset

        dataset = Dataset.open(given.enriched)
        if given.cases is not None:
            cases(dataset, given.cases)
        print(json.dumps(patterns(dataset), ensure_ascii=False, indent=1))
        return
    if given.child is not None:
        print(json.dumps(measured(given, given.child)))
        return
    for name in SETS:
        shared(f"{name}.zip", given.data)  # or it ends here, before a process is started
    for version, measure in (("before", measured_before), ("now", measured)):
        if given.version in (version, "both"):
            with tempfile.TemporaryDirectory(prefix="claimlab-bench-") as place:
                found = measure(given, Path(place))
                printed = by_one_rule(
                    Path(place), found.pop("judged"), first_rated=version == "before"
                )
            print(
                json.dumps({version: {"shown": printed, **found}}, ensure_ascii=False, indent=1),
                flush=True,
            )


if __name__ == "__main__":
    main()
