"""The split stage of the demo: the planted data split at random and by what belongs together; what
leaks in each.
"""

from __future__ import annotations

from claimlab.cli.tour_state import Tour
from claimlab.pages.blocks import Section, Table, Text
from claimlab.split.run import split
from claimlab.split.views import toned

WAYS = ("random", "group", "near-duplicates", "source")


def run_split(tour: Tour) -> None:
    """Split the planted dataset four ways and lay their leaks side by side; the fairest is kept
    beside the report.
    """
    splits = {way: split(tour.dataset, way, seed=tour.seed) for way in WAYS}
    splits["near-duplicates"].dataset.write(tour.folder / "split")
    rows = []
    for way, done in splits.items():
        leak = done.checked.leaks[0]
        rows.append([way, leak.rows, *map(toned, (leak.exact, leak.near, leak.group))])
    naive, fair = (splits[way].checked.leaks[0] for way in ("random", "near-duplicates"))
    sentences = (
        f"At random, {naive.texts} of {naive.rows} test records are also in train, word for word or"
        f" nearly so. Kept together by text and group, {fair.texts} of {fair.rows} do. With whole"
        " sources held out, who published it is new in test."
    )
    columns = [
        "Split by",
        "Test records",
        "Same text in train",
        "Near text in train",
        "Same group in train",
    ]
    tour.sections.append(Section("The split", [Text(sentences), Table(columns, rows)]))
