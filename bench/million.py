"""What the verbs cost on a million records, and the pages of the workspace; how the cost grows.

    python bench/million.py                      all of them, in order
    python bench/million.py split keywords       some of them: export, import, clean,
                                                 near-duplicates, split, overlap, keywords, audit,
                                                 detect, scikit-learn, evaluate, pages
    python bench/million.py --rows 10000 100000  smaller; several sizes beside each other

The records are synthetic (bench/audit_speed.py). Every verb runs in a process of its own: processor
seconds and peak memory are its. Pages are asked for in one process, as a browser does, after the
first has been shown. scikit-learn stands beside detect: its own vectorizers and its own linear
model, with the same kinds of terms, training rows, strengths tried and shards predicted.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit_speed import synthetic
from harness import Row, apart, begin, best, parser, record

PARTS = ("export", "import", "clean", "near-duplicates", "split", "overlap", "keywords", "audit")
PARTS += ("detect", "scikit-learn", "evaluate", "pages")
PAGES = {
    "first page": "",
    "sorted by date": "?sort=-date",
    "sorted, next page": "?sort=-date&page=2",
    "one topic": "?topic=topic+3",
    "a word": "?q=zorvex",
    "a word that is nowhere": "?q=qqqqqq",
}


def do(part: str, place: str, rows: int) -> dict[str, Any]:
    """One verb, in a process of its own; the data as well, since a child counts its parent's memory
    as its peak.
    """
    import claimlab as cl

    folder = Path(place)
    data, new = folder / "data", {"output": folder / part, "force": True}
    match part:
        case "data":
            synthetic(rows).write(data)
        case "export":
            cl.export(data, "csv", folder / "table", force=True)
        case "import":
            cl.import_files(sorted((folder / "table").glob("*.csv")), **new)
        case "clean":
            cl.clean(data, **new)
        case "overlap":
            cl.overlap([data, folder / "split"], **new)
        case "near-duplicates":
            cl.split(data, "near-duplicates", **new)
        case "split":
            cl.split(data, "random", **new)
        case "keywords":
            cl.audit(data, checks=["keywords"], **new)
        case "audit":
            cl.audit(data, **new)
        case "detect":
            cl.detect(folder / "split", output=folder / "run", force=True)
        case "scikit-learn":
            return scikit_learn(folder)
        case "evaluate":
            cl.detect(folder / "split", "stratified", output=folder / "luck", force=True)
            began = time.process_time()
            cl.evaluate([folder / "run", folder / "luck"], output=folder / "report", force=True)
            return {"evaluate": time.process_time() - began}
        case _:
            return pages(folder)
    return {}


def scikit_learn(folder: Path) -> dict[str, float]:
    """What `detect tfidf` does, with scikit-learn alone; how far its scores are from ours."""
    import numpy as np
    import polars as pl
    from scipy.sparse import vstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics import f1_score
    from sklearn.pipeline import make_union
    from sklearn.svm import LinearSVC

    from claimlab.detect.detector import Part
    from claimlab.detect.detectors.tfidf import MOST_ROWS, sampled
    from claimlab.detect.linear import STRENGTHS, temperature

    def fitted(strength: float, matrix: Any, labels: list[str]) -> Any:
        settings = {"class_weight": "balanced", "tol": 1e-2, "max_iter": 20_000}
        return LinearSVC(C=strength, dual=True, random_state=0, **settings).fit(matrix, labels)

    records = pl.read_parquet(folder / "split/records.parquet")
    train, dev, test = (
        records.filter(pl.col("split") == name) for name in ("train", "dev", "test")
    )
    train, dev = (
        sampled(Part(part, part["veracity"].to_list()), MOST_ROWS, 0) for part in (train, dev)
    )
    common = {"min_df": 2, "sublinear_tf": True, "dtype": np.float32}
    words = TfidfVectorizer(ngram_range=(1, 2), max_features=200_000, **common)
    inside = {"analyzer": "char_wb", "ngram_range": (2, 5), "lowercase": False}
    terms = make_union(words, TfidfVectorizer(max_features=300_000, **inside, **common))
    fitted_terms = terms.fit_transform(train.records["text"])
    unseen = terms.transform(dev.records["text"])
    margins = {
        c: fitted(c, fitted_terms, train.labels).decision_function(unseen) for c in STRENGTHS["svm"]
    }
    truth = np.array(dev.labels)
    classes = np.unique(truth)
    best = max(
        margins,
        key=lambda c: f1_score(truth, classes[(margins[c] > 0).astype(int)], average="macro"),
    )
    sharp = temperature(np.outer(margins[best], [-0.5, 0.5]), truth, classes.tolist())
    model = fitted(best, vstack([fitted_terms, unseen]), train.labels + dev.labels)
    shards = (test["text"][start : start + 10_000] for start in range(0, test.height, 10_000))
    found = np.concatenate([model.decision_function(terms.transform(shard)) for shard in shards])
    scores = 1 / (1 + np.exp(-found / sharp))
    run = pl.read_parquet(folder / "run/predictions.parquet")
    ours = run["scores"].str.json_path_match(f"$.{classes[1]}").cast(pl.Float64).to_numpy()
    return {
        "largest difference of a score": float(np.abs(ours - scores).max()),
        "mean difference of a score": float(np.abs(ours - scores).mean()),
        "same answers, %": 100 * float(((ours > 0.5) == (scores > 0.5)).mean()),
    }


def pages(folder: Path) -> dict[str, list[int]]:
    """Milliseconds of the first and the second answer."""
    from web_paging import opened

    client = opened(folder)
    entries = client.get("/api/").json()["entries"]
    place = next(
        entry["id"]
        for entry in entries
        if entry["name"] == "data" or entry["id"].startswith("data")
    )
    times: dict[str, list[int]] = {}
    for name, query in PAGES.items():
        for _ in range(2):
            cost = best(lambda query=query: client.get(f"/datasets/{place}{query}"), 1)  # type: ignore[misc]
            assert cost.result.status_code == 200, cost.result.text
            times.setdefault(f"{name}, ms", []).append(round(1000 * cost.cpu))
    return times


def main() -> None:
    made = parser(__doc__)
    made.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    made.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    made.add_argument("--folder", type=Path, help="keep data and results here")
    options = begin(made)
    parts, costs = options.parts or PARTS, {}
    for rows in options.rows:
        with tempfile.TemporaryDirectory() as temporary:
            costs[rows] = measured(options.folder or Path(temporary), rows, parts)
    if len(costs) > 1:
        print("| processor seconds | " + " | ".join(f"{rows:,}" for rows in costs) + " |")
        print("|---" * (len(costs) + 1) + "|")
    for part in parts if len(costs) > 1 else ():
        print(f"| {part} | " + " | ".join(f"{each[part]:.1f}" for each in costs.values()) + " |")


def measured(folder: Path, rows: int, parts: Sequence[str]) -> dict[str, float]:
    """Processor seconds of each part on so many records."""
    if not (folder / "data").is_dir():
        apart(do, "data", folder, rows)
    print(f"| {rows:,} records | processor seconds | seconds by the clock | peak MB |")
    print("|---|---|---|---|")
    seconds = {}
    for part in parts:
        cost = apart(do, part, folder, rows)
        print(f"| {part} | {cost.cpu:.1f} | {cost.wall:.0f} | {cost.memory:,.0f} |", flush=True)
        for name, figure in cost.result.items():
            print(f"  {name}: {figure}")
        record(Row("million", f"{part}, {rows:,} records", "", cost.cpu))
        seconds[part] = cost.cpu
    return seconds


if __name__ == "__main__":
    main()
