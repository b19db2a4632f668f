"""How well and how fast texts are placed on a map.

    python bench/text_map.py [FILE]        FILE is COVID-Fact as published (default: in
                                           ../shared/data)

Prints processor seconds, and how many of the nearest neighbours are still near on the map
(trustworthiness).
"""

from __future__ import annotations

from pathlib import Path

from harness import begin, best, parser, shared


def main() -> None:
    made = parser(__doc__)
    made.add_argument("file", type=Path, nargs="?")
    options = begin(made)
    from sklearn.manifold import trustworthiness

    import claimlab as cl
    from claimlab.text.vectors import project, text_map

    records = cl.load("covid-fact", options.file or shared("covid-fact.zip"), limit=2_000).records
    read = best(lambda: text_map(records["text"], records["language"], method="PCA").vectors, 1)
    print(f"{len(read.result):,} texts read: {read.cpu:.1f} CPU seconds")
    for method in ("PCA", "t-SNE"):
        cost = best(lambda method=method: project(read.result, method), 1)
        near = trustworthiness(read.result, cost.result, n_neighbors=5, metric="cosine")
        print(f"{method}: {cost.cpu:.1f} CPU seconds, trustworthiness {near:.3f} for the nearest 5")


if __name__ == "__main__":
    main()
