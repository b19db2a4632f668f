"""BanFakeNews: news in Bangla, authentic from news portals, fake from satire, clickbait and
debunked stories.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog import kit

PEOPLE = ("NE", "NEN", "NN", "NS", "ZH")


def load_human_baseline(bundle: kit.Bundle) -> kit.Loaded:
    """150 articles that five people judged without further help: HB.csv, and one file of answers
    for each, in its order.
    """
    raw = kit.Table.read(bundle, bundle.one("HB.csv"))
    records = raw.frame.select(
        id="banfakenews-baseline-" + raw.need("articleID"),
        text=raw.need("news"),
        label_raw=raw.need("label"),
    )
    annotations = []
    for name in bundle.match(*(f"{who}.csv" for who in PEOPLE)):
        answers = kit.Table.read(bundle, name)
        if answers.height != raw.height:
            raise kit.UnreadableFile(
                f"'{name}' has {answers.height} answers to {raw.height} articles.", kit.AS_PUBLISHED
            )
        answer = answers.need("The news is ____?").replace({"1": "fake", "2": "authentic"})
        frame = pl.DataFrame({"id": records["id"], "answer": answer})
        annotations.append(
            kit.answers(
                frame,
                {"answer": "authentic or fake"},
                annotator=name.rsplit("/", 1)[-1].removesuffix(".csv"),
            )
        )
    return kit.Loaded(records, {"annotations": pl.concat(annotations)} if annotations else {})
