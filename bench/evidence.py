"""What a detector and a judge are shown: COVID19.BR searched in Fake.br (documents) and FactCk.BR (fact-checks).

    python bench/evidence.py [--data DIR] [--limit N] [--seeds 3] [--detectors tfidf,sentence] [--pieces 1]

- shown: the share of records whose shown evidence (the first 5 pieces, and the first) corresponds, in the order of
  version 0.1 (by search: query, fact-checks, claim) and in the order of the table
- guarded: the share of records that have any evidence left without fact-checks, own source and copies
- judge: how many fact-checking articles the judge would read, and how many of them do not correspond; version 0.1 took
  the first fact-check of each record
- patterns: T1 to F3 of the paper, and the fact-checkers that are counted
- F1 of detectors without and with evidence on one near-duplicate split, mean and range over seeds

Real data is read from ../shared/data beside the checkout, or from --data.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import claimlab as cl
from claimlab.core.dataset import Dataset
from claimlab.core.stats.shares import wilson
from claimlab.enrich.patterns import analyse
from claimlab.evaluate.judge.articles import articles_in

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
BEFORE = ("query", "factcheck-query", "claim", "factcheck-claim")  # the order of the searches
SHOWN = (5, 1)
READINGS = ("none", "complete", "filtered", "guarded")


def enriched(data: Path, place: Path, limit: int | None) -> Dataset:
    for name in ("covid19-br", "fake-br", "factck-br"):
        cl.load(name, data / f"{name}.zip", output=place / name)
    return cl.enrich(
        place / "covid19-br", f"local:{place / 'fake-br'}", factcheck=f"local:{place / 'factck-br'}",
        output=place / "enriched", limit=limit,
    ).dataset  # fmt: skip


def shown(dataset: Dataset) -> dict[str, Any]:
    """Whether what is shown of each record that was searched for corresponds, by both orders."""
    table = dataset.tables["evidence"].filter(pl.col("corresponds").is_not_null())
    records = dataset.tables["enrichment"].filter(pl.col("query").is_not_null()).height
    stage = pl.col("stage").replace_strict({name: i for i, name in enumerate(BEFORE)}, return_dtype=pl.Int64)
    orders = {"by search (0.1)": table.with_columns(stage=stage).sort("record_id", "stage", "rank"),
              "as ranked": table.sort("record_id", "rank")}  # fmt: skip
    out: dict[str, Any] = {"records searched for": records}
    for name, ordered in orders.items():
        for pieces in SHOWN:
            first = ordered.filter(pl.int_range(pl.len()).over("record_id") < pieces)
            out[f"{name}, first {pieces}"] = share(first.filter("corresponds")["record_id"].n_unique(), records)
    out["any corresponds"] = share(table.filter("corresponds")["record_id"].n_unique(), records)
    guards = [pl.col(name) for name in ("guard_factcheck", "guard_own_source", "guard_copy")]
    out["guarded leaves some"] = share(table.filter(~pl.any_horizontal(guards))["record_id"].n_unique(), records)
    return out


def judge(dataset: Dataset) -> dict[str, Any]:
    """The articles that a judge of rationales reads, and those that 0.1 would have read."""
    table = dataset.tables["evidence"].filter(pl.col("guard_factcheck").fill_null(False))
    first = table.sort("record_id", "rank").unique("record_id", keep="first", maintain_order=True)
    articles = articles_in(dataset)
    fitting = set(table.filter("corresponds")["record_id"].to_list())
    return {
        "0.1: articles read": first.height,
        "0.1: not corresponding": int((~first["corresponds"]).sum()),
        "articles read": len(articles.texts),
        "not corresponding": sum(record not in fitting for record in articles.texts),
        "records with unrelated fact-checks only": len(articles.unrelated),
    }


def patterns(dataset: Dataset) -> dict[str, Any]:
    found = analyse(dataset)
    out = {p["pattern"]: share(p["records"], p["of"]) for p in found["patterns"]}
    domains = {row["domain"]: row["all"] for row in found["factcheck_domains"]}
    return {**out, "fact-checkers by domain": domains, "marks": found["marks"], "pieces": found["evidence"]}


def scores(dataset: Dataset, detectors: list[str], seeds: int, pieces: int) -> dict[str, Any]:
    """Macro-F1 of each detector under each reading of the evidence."""
    out: dict[str, Any] = {}
    whole = cl.split(dataset, by="near-duplicates").dataset
    for detector in detectors:
        for reading in READINGS:
            runs = [cl.detect(whole, detector, evidence=reading, pieces=pieces, seed=seed) for seed in range(seeds)]
            values = [100 * run.report["scores"]["macro_f1"] for run in runs]
            out[f"{detector}, {reading}"] = {
                "macro_f1": round(float(np.mean(values)), 1), "range": [round(min(values), 1), round(max(values), 1)],
                "test": runs[0].records.height, "notes": runs[0].report["notes"],
            }  # fmt: skip
            print(json.dumps({f"{detector}, {reading}": out[f"{detector}, {reading}"]}), flush=True)
    return out


def share(n: int, of: int) -> str:
    interval = wilson(n, of)
    if interval is None:
        return f"{n} of {of}"
    return f"{n} of {of} ({100 * n / of:.1f} %, 95 % {100 * interval[0]:.1f} to {100 * interval[1]:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pieces", type=int, default=1, help="of evidence behind a text; the paper shows one")
    parser.add_argument("--detectors", default="tfidf,sentence")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="claimlab-bench-") as place:
        dataset = enriched(given.data, Path(place), given.limit)
        for name, part in (("shown", shown(dataset)), ("judge", judge(dataset)), ("patterns", patterns(dataset))):
            print(json.dumps({name: part}, ensure_ascii=False, indent=1), flush=True)
        names = [name for name in given.detectors.split(",") if name]
        print(json.dumps({"scores": scores(dataset, names, given.seeds, given.pieces)}, indent=1))


if __name__ == "__main__":
    main()
