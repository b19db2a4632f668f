"""Near-duplicate texts, found fast and verified exactly.

    from claimlab.text.neardup import find_clusters
    clusters = find_clusters(texts)          # char 5-grams, Jaccard 0.7, recall 0.99
    clusters.labels                          # -1: no near-duplicate

How it works, and what bounds it: docs/neardup.md.
"""

from __future__ import annotations

from claimlab.text.neardup.akin import akin_clusters
from claimlab.text.neardup.bands import BandPlan
from claimlab.text.neardup.normal import normalise
from claimlab.text.neardup.on_disk import stream_clusters
from claimlab.text.neardup.results import Clusters, Pairs, Skipped
from claimlab.text.neardup.search import find_across, find_clusters, find_pairs

__all__ = [
    "BandPlan",
    "Clusters",
    "Pairs",
    "Skipped",
    "akin_clusters",
    "find_across",
    "find_clusters",
    "find_pairs",
    "normalise",
    "stream_clusters",
]
