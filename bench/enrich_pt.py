"""Enrichment on real data: how many records need extraction, how long queries are, what the
extractors are worth.

    python bench/enrich_pt.py portuguese [--limit N]    COVID19.BR and Fake.br against an index of
                                                        FactCk.BR's claims
    python bench/enrich_pt.py policlaim [--model embedded --model-windows 20]

Portuguese: what section 4.2 of the paper reports, with the local provider instead of Google. The
share that needs extraction depends on what can be searched, so it is not comparable with the
paper's; query and claim lengths are.

PoliClaim: sentences of speeches that people marked as claims or not. An extractor is shown up to 75
words of consecutive sentences, among them a claim and a sentence that is none, and picks; the score
is how often its pick is a claim. Real data is read from ../shared/data beside the checkout, or from
--data.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from harness import begin, parser, shared

from claimlab.catalog.load import load
from claimlab.core import sync
from claimlab.core.dataset import Dataset
from claimlab.enrich.checkworthy import WORDS_READ
from claimlab.enrich.correspondence import shares
from claimlab.enrich.extract import ByModel, Extractor, rule_extractor
from claimlab.enrich.flow import Doors, EnrichSettings
from claimlab.enrich.run import enrich_async
from claimlab.enrich.sentences import words
from claimlab.enrich.shortening import MOST_CLAIM_WORDS
from claimlab.search.local import build_index
from claimlab.search.providers.local import LocalProvider


def portuguese(data: Path, limit: int | None) -> dict[str, Any]:
    out = {}
    with tempfile.TemporaryDirectory(prefix="claimlab-bench-") as place:
        load("factck-br", shared("factck-br.zip", data)).write(Path(place) / "checks")
        index = Path(place) / "index"
        held = build_index(Path(place) / "checks", index, language="por")
        for name in ("covid19-br", "fake-br"):
            dataset = load(name, shared(f"{name}.zip", data), limit=limit)
            out[name] = {"index_documents": held.documents, **one(dataset, index)}
            print(json.dumps({name: out[name]}, ensure_ascii=False), flush=True)
    return out


def one(dataset: Dataset, index: Path) -> dict[str, Any]:
    doors = Doors(LocalProvider(index), extractor=rule_extractor("offline"))
    enriched = sync.run(enrich_async(dataset, doors, EnrichSettings(query_rule="released")))
    asked = enriched.dataset.tables["enrichment"]["query"].drop_nulls()
    claims = enriched.dataset.tables["claims"]["text"]
    n = asked.len()
    return {
        "records": enriched.summary["records"],
        "with_query": n,
        "needs_extraction": round(enriched.summary["needed_extraction"] / n, 4),
        "outcomes": enriched.summary["outcomes"],
        "query_branches": enriched.summary["queries"],
        "query_words": lengths(asked),
        "claim_words": lengths(claims),
        "claim_word_characters": round(
            float(np.mean([len(w) for c in claims.to_list() for w in words(c)])), 2
        ),
    }


def lengths(texts: pl.Series) -> dict[str, float]:
    counts = np.array([len(words(text)) for text in texts.to_list()])
    return {
        "mean": round(float(counts.mean()), 2),
        "median": float(np.median(counts)),
        "max": int(counts.max()),
    }


def windows(dataset: Dataset) -> Iterator[tuple[list[str], list[bool]]]:
    """Runs of consecutive sentences of a speech within 75 words, with a claim and a sentence that
    is none.
    """
    rows = dataset.records.filter(pl.col("label_raw").is_not_null()).select(
        "id", "text", "label_raw"
    )
    speech = rows["id"].str.replace(r"-\d+$", "")
    texts: list[str] = []
    labels: list[bool] = []
    before = None
    for text, label, of in zip(
        rows["text"].to_list(), rows["label_raw"].to_list(), speech.to_list(), strict=True
    ):
        full = sum(len(words(t)) for t in texts) + len(words(text)) > WORDS_READ
        if texts and (full or of != before):
            if len(set(labels)) == 2:
                yield texts, labels
            texts, labels = [], []
        before = of
        texts.append(text)
        labels.append(
            str(label).strip().lower() in ("1", "1.0", "yes", "true", "claim", "factual claim")
        )


def policlaim(data: Path, model: str | None, model_windows: int, seed: int) -> dict[str, Any]:
    found = list(windows(load("afacta", shared("afacta.zip", data))))
    out: dict[str, Any] = {
        "windows": len(found),
        "a_random_sentence": round(float(np.mean([np.mean(y) for _, y in found])), 4),
    }
    for name in ("first-sentence", "offline"):
        out[name] = scored(rule_extractor(name), found)
    if model is not None:
        from claimlab.core.calls.calls import Calls
        from claimlab.core.places import cache_folder
        from claimlab.llm.open import open_provider

        chosen = np.sort(np.random.default_rng(seed).permutation(len(found))[:model_windows])
        few = [found[int(i)] for i in chosen]
        provider = open_provider(model, calls=Calls(cache=cache_folder()))
        out["on_the_same_few"] = {
            "windows": len(few),
            "a_random_sentence": at_random(few),
            **{name: scored(rule_extractor(name), few) for name in ("first-sentence", "offline")},
            model: scored(ByModel(provider), few),
            "standing": provider.standing,
        }
    return out


def at_random(found: list[tuple[list[str], list[bool]]]) -> float:
    return round(float(np.mean([np.mean(labels) for _, labels in found])), 4)


def scored(extractor: Extractor, found: list[tuple[list[str], list[bool]]]) -> dict[str, Any]:
    """How often the pick is a claim, with a 95 % bootstrap interval. A pick is the sentence that
    shares most with what the extractor said; no claim is no pick, and is counted; there it is
    wrong, since every window holds a claim.
    """

    async def run() -> list[float | None]:
        return [await hit(extractor, texts, labels) for texts, labels in found]

    answers = asyncio.run(run())
    given = np.array([a for a in answers if a is not None])
    draws = (
        np.random.default_rng(0).choice(given, size=(2000, len(given))).mean(axis=1)
        if len(given)
        else np.zeros(1)
    )
    low, high = np.quantile(draws, [0.025, 0.975])
    return {
        "precision": round(float(given.mean()), 4) if len(given) else None,
        "interval": [round(float(low), 4), round(float(high), 4)],
        "n": len(given),
        "no_claim": len(answers) - len(given),
        "of_all_windows": round(float(given.sum()) / max(1, len(answers)), 4),
    }


async def hit(extractor: Extractor, texts: list[str], labels: list[bool]) -> float | None:
    said = await extractor.extract("\n".join(texts), "eng")
    if not said.claims:
        return None
    fits = [share or 0.0 for share in shares(said.claims[0], texts, "eng")]
    return None if max(fits) == 0 else float(labels[int(np.argmax(fits))])


def main() -> None:
    made = parser(__doc__, data=True)
    made.add_argument("what", choices=["portuguese", "policlaim"])
    made.add_argument("--limit", type=int, default=None)
    made.add_argument("--model", default=None, help="also a model profile, on a few windows")
    made.add_argument("--model-windows", type=int, default=20)
    made.add_argument("--seed", type=int, default=0)
    given = begin(made)
    if given.what == "portuguese":
        found = portuguese(given.data, given.limit)
    else:
        found = policlaim(given.data, given.model, given.model_windows, given.seed)
    print(
        json.dumps(
            {"most_words": MOST_CLAIM_WORDS, "read_words": WORDS_READ, **found},
            ensure_ascii=False,
            indent=2,
        )
    )


if __name__ == "__main__":
    main()
