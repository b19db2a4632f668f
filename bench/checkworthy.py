"""Check-worthiness without a model: does a linear model carry over to a dataset that it has not
seen?

    python bench/checkworthy.py [--most 8000]

English sentences of five published sets (CheckThat! 2019, 2022 and 2024, ClaimBuster, PoliClaim; in
../shared/data). Each is left out once: a linear model (words and pairs of words, logistic
regression) learns from the other four, less every text that the left-out set holds, and is compared
with length and with the rules of `claimlab enrich`. A constant has an AUC of 0.5. The licences of
the sets do not allow weights to be passed on, so none are shipped.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from harness import begin, parser, shared
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

import claimlab as cl
from claimlab.enrich.checkworthy import score
from claimlab.text.normalise import bare_form

SETS = {
    "CheckThat! 2019": ("checkthat-2019", "checkthat-2019-task1.zip"),
    "CheckThat! 2022": ("checkthat", "checkthat-2022-task1-2.zip"),
    "CheckThat! 2024": ("checkthat-2024", "checkthat-2024-task1.zip"),
    "ClaimBuster": ("claimbuster", "claimbuster.zip"),
    "PoliClaim": ("afacta", "afacta.zip"),
}
WORTHY = ("1", "Yes")
LEAST = -10.0  # in place of minus infinity, which the rules give to a line of figures


def sentences(card: str, file: str, most: int) -> pl.DataFrame:
    """Text, its bare form, and whether it is worth checking; at most so many, drawn at random."""
    records = cl.load(card, shared(file)).records.filter(pl.col("language") == "eng")
    table = records.select("text", worthy=pl.col("label_raw").is_in(WORTHY)).drop_nulls()
    table = table.with_columns(bare=bare_form(table["text"])).unique("bare", maintain_order=True)
    return table.sample(min(most, table.height), seed=0)


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--most", type=int, default=8_000, help="sentences of a set")
    most = begin(made).most
    sets = {name: sentences(*place, most) for name, place in SETS.items()}
    print("| left out | sentences | worth checking | linear model | length | rules of enrich |")
    print("|---|---|---|---|---|---|")
    for name, test in sets.items():
        train = pl.concat([other for key, other in sets.items() if key != name])
        train = train.filter(~pl.col("bare").is_in(test["bare"].implode()))
        model = make_pipeline(
            TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
            LogisticRegression(max_iter=500, class_weight="balanced"),
        )
        model.fit(train["text"].to_list(), train["worthy"].to_numpy())
        texts, truth = test["text"].to_list(), test["worthy"].to_numpy()
        scores = (
            model.decision_function(texts),
            np.array([len(text.split()) for text in texts]),
            np.maximum([score(text, "eng") for text in texts], LEAST),
        )
        areas = " | ".join(f"{roc_auc_score(truth, values):.3f}" for values in scores)
        print(f"| {name} | {test.height:,} | {truth.mean():.1%} | {areas} |", flush=True)


if __name__ == "__main__":
    main()
