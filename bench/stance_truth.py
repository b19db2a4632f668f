"""Does a small model over sentence vectors know whether evidence supports a claim or refutes it?

    python bench/stance_truth.py [--data ../shared/data] [--most 2500]

Features: the vectors of both, their difference and product, the words of each that the other holds,
and whether negation, numbers and months agree. A linear model is trained on all sets but one and
tried on that one; beside it two controls that are trained in the same way and see the claim alone
or the evidence alone: what they know is not stance. Portuguese is tried with FactCk.BR alone, where
the stance of a review follows from its rating, and the model has seen English only. Scores are
macro-F1 over the classes of a set; intervals are 95%, of the difference to the better control, over
claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from harness import begin, parser, shared
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.preprocessing import StandardScaler

from claimlab.catalog.load import load
from claimlab.text.details import details, numbers
from claimlab.text.kept_vectors import vectors_of
from claimlab.text.stopwords import stop_words

CLASSES = ("supports", "refutes", "neither")
OF = {
    **dict.fromkeys(("SUPPORTS", "Supports", "supports", "SUPPORTED", "true", "agree"), "supports"),
    **dict.fromkeys(("completely-support", "Supported"), "supports"),
    **dict.fromkeys(("REFUTES", "Refutes", "refutes", "REFUTED", "false", "disagree"), "refutes"),
    **dict.fromkeys(("refute", "Refuted"), "refutes"),
    **dict.fromkeys(("NOT_ENOUGH_INFO", "Neutral", "irrelevant", "unrelated"), "neither"),
    "Not Enough Evidence": "neither",
}
SETS = {  # file, and whether the stance is each piece's own or the label of the record
    "climate-fever": ("climate-fever", True),
    "healthver": ("healthver", True),
    "factcheck-gpt": ("factcheck-gpt", True),
    "fnc-1": ("fnc-1", True),
    "covid-fact": ("covid-fact", False),
    "feverous": ("feverous", False),
    "averitec": ("averitec-train", False),
}
PORTUGUESE = "factck-br"
NEGATION = {
    "eng": r"\b(?:not|no|never|none|without|cannot|false|fake|hoax|myth|deny|denied|\w+n't)\b",
    "por": r"\b(?:não|nem|nunca|nenhum|sem|falso|falsa|boato|mentira|nega|negou|enganos\w+)\b",
}


def pairs(name: str, data: Path, most: int) -> pl.DataFrame:
    """Claim, evidence, stance."""
    file, own = SETS.get(name, (name, False))
    dataset = load(name, shared(f"{file}.zip", data))
    label = "veracity" if name == PORTUGUESE else "label_raw"
    claims = dataset.records.select(record_id="id", claim="text", label=label)
    pieces = dataset.tables["evidence"].drop_nulls("text")
    if own:
        rows = pieces.select("record_id", "text", label="stance").join(
            claims.drop("label"), on="record_id", maintain_order="left"
        )
    else:
        joined = pieces.group_by("record_id", maintain_order=True).agg(pl.col("text").str.join(" "))
        rows = joined.join(claims, on="record_id", maintain_order="left")
    stance = pl.col("label").replace_strict(OF, default=None)
    rows = rows.with_columns(stance=stance).drop_nulls(["claim", "stance"])
    return rows.sample(min(most, rows.height), seed=0, shuffle=True)


def scalars(claim: str, evidence: str, language: str) -> list[float]:
    stop = stop_words(language)
    words, other = (set(re.findall(r"\w+", text.lower())) - stop for text in (claim, evidence))
    both = len(words & other)
    negated = [bool(re.search(NEGATION[language], text.lower())) for text in (claim, evidence)]
    ours, theirs = set(numbers(claim) or ()), set(numbers(evidence) or ())
    month, their_month = (
        {one.value[5:7] for one in details(text, language) if one.kind == "date"}
        for text in (claim, evidence)
    )
    return [
        both / (len(words) or 1),
        both / (len(other) or 1),
        float(negated[0]),
        float(negated[1]),
        float(negated[0] != negated[1]),
        len(ours & theirs) / (len(ours) or 1),
        float(bool(ours - theirs) and bool(theirs)),
        float(bool(month and their_month and not month & their_month)),
    ]


def features(rows: pl.DataFrame, language: str) -> dict[str, np.ndarray]:
    claims, evidence = rows["claim"].to_list(), rows["text"].to_list()
    of_claims, of_evidence = vectors_of(claims), vectors_of(evidence)
    extra = np.array([scalars(c, e, language) for c, e in zip(claims, evidence, strict=True)])
    cosine = (of_claims * of_evidence).sum(axis=1, keepdims=True)
    whole = np.hstack(
        [
            of_claims,
            of_evidence,
            np.abs(of_claims - of_evidence),
            of_claims * of_evidence,
            4 * cosine,
            extra,
        ]
    )
    pair = np.hstack([np.abs(of_claims - of_evidence), of_claims * of_evidence, 4 * cosine, extra])
    return {
        "both texts": whole,
        "pair alone": pair,
        "claim alone": of_claims,
        "evidence alone": of_evidence,
    }


Model = Callable[[np.ndarray], np.ndarray]


def fitted(parts: list[np.ndarray], labels: list[np.ndarray]) -> Model:
    """Each class weighs the same, and each set."""
    rows, truth = np.vstack(parts), np.concatenate(labels)
    weights = np.concatenate([np.full(len(label), 1 / len(label)) for label in labels])
    scale = StandardScaler().fit(rows)
    model = LogisticRegression(C=0.003, max_iter=200, class_weight="balanced")
    model.fit(scale.transform(rows), truth, weights * len(truth) / len(labels))
    return lambda new: model.predict_proba(scale.transform(new))


def difference(
    truth: np.ndarray, one: np.ndarray, other: np.ndarray, claims: list[str]
) -> tuple[float, float]:
    """The interval of the difference of macro-F1, over whole claims."""
    _, group = np.unique(claims, return_inverse=True)
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(group == g) for g in range(group.max() + 1)]
    draws = []
    for _ in range(300):
        chosen = rng.integers(len(members), size=len(members))
        rows = np.concatenate([members[g] for g in chosen])
        draws.append(score(truth[rows], one[rows]) - score(truth[rows], other[rows]))
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)


def score(truth: np.ndarray, guess: np.ndarray) -> float:
    return float(f1_score(truth, guess, average="macro", labels=np.unique(truth)))


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("--most", type=int, default=2_500, help="pairs of a set")
    options = begin(made)
    names = [*SETS, PORTUGUESE]
    rows = {name: pairs(name, options.data, options.most) for name in names}
    language = {name: "por" if name == PORTUGUESE else "eng" for name in names}
    given = {name: features(rows[name], language[name]) for name in names}
    truth = {name: np.array([CLASSES.index(s) for s in rows[name]["stance"]]) for name in names}
    print(
        "| left out | pairs | classes | both texts | pair alone | claim alone | evidence alone |"
        " better of the first two, less the better control |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        others = [other for other in SETS if other != name]
        classes = np.unique(truth[name])
        guesses = {}
        for side in given[name]:
            model = fitted([given[o][side] for o in others], [truth[o] for o in others])
            guesses[side] = classes[model(given[name][side])[:, classes].argmax(axis=1)]
        scores = {side: score(truth[name], guess) for side, guess in guesses.items()}
        ours, controls = [*scores][:2], [*scores][2:]
        best, control = (max(some, key=lambda side: scores[side]) for some in (ours, controls))
        low, high = difference(
            truth[name], guesses[best], guesses[control], rows[name]["claim"].to_list()
        )
        gain = scores[best] - scores[control]
        head = [name, f"{len(truth[name]):,}", ", ".join(CLASSES[c] for c in classes)]
        cells = [*(f"{100 * s:.1f}" for s in scores.values())]
        cells.append(f"{100 * gain:+.1f} ({100 * low:+.1f} to {100 * high:+.1f})")
        print("| " + " | ".join([*head, *cells]) + " |", flush=True)


if __name__ == "__main__":
    main()
