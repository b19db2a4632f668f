"""How well and how fast texts are placed on a map: python bench/text_map.py [FILE]; FILE is COVID-Fact as published."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from sklearn.manifold import trustworthiness

import claimlab as cl
from claimlab.text.map import project, text_map

FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "covid-fact.zip"


def main() -> None:
    records = cl.load("covid-fact", sys.argv[1] if len(sys.argv) > 1 else FILE, limit=2_000).records
    start = time.process_time()
    vectors = text_map(records["text"], records["language"], method="PCA").vectors
    print(f"{len(vectors):,} texts read: {time.process_time() - start:.1f} CPU seconds")
    for method in ("PCA", "t-SNE"):
        start = time.process_time()
        points = project(vectors, method)
        spent = time.process_time() - start
        kept = trustworthiness(vectors, points, n_neighbors=5, metric="cosine")
        print(f"{method}: {spent:.1f} CPU seconds, trustworthiness {kept:.3f} for the nearest 5")


if __name__ == "__main__":
    main()
