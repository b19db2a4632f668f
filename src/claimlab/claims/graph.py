"""The claims of several datasets as one graph: which records make the same claim, by what evidence.

A node is a distinct text (case, punctuation and whitespace aside; `text/shared`), or a record that
has no text but a tweet or an address. An edge has a kind, strongest first:

- near-duplicate: Jaccard similarity of character 5-grams of at least 0.7, verified exactly
- few words changed: half of the words shared, 70% of them in the same order
- same tweet, same address: an address that several claims of a dataset have is a page, not a claim
- same meaning: cosine of sentence vectors, in the 16 languages that the encoder knows

Two records with a sure kind of edge between them, or the same text, are shared. The same meaning is
not sure: two model readers called two of three such pairs the same claim. It is counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.progress import Progress, silent
from claimlab.core.stats.codes import Codes
from claimlab.core.stats.scores import Floats
from claimlab.text.near import in_order
from claimlab.text.normalise import normal_form
from claimlab.text.shared import NEAR_JACCARD, RowClaims, claims_of
from claimlab.text.tokens import spaced
from claimlab.text.urls import canonical_urls

SAME, NEARLY, CHANGED = "same text", "near-duplicate", "few words changed"
TWEET, ADDRESS, MEANING = "same tweet", "same address", "same meaning"
SURE_KINDS = (SAME, NEARLY, CHANGED, TWEET, ADDRESS)
KINDS = (*SURE_KINDS, MEANING)
# claims of one dataset: an address with more is that of a page about many
MOST_CLAIMS_AT_ADDRESS = 3
_COLUMNS = (
    *("id", "text", "label_raw", "veracity", "language", "date", "source", "split"),
    *("tweet_id", "url"),
)
LINK = {"left": pl.Int64, "right": pl.Int64, "kind": pl.String, "score": pl.Float64}


@dataclass(frozen=True)
class Graph:
    """`rows` has a line per record: `part` numbers its `dataset` in `names`, `claim` its node (-1:
    none). `links` has a line per pair of nodes, with the strongest kind and its score.
    `not_measured` counts the records that a kind could not be looked for in, with the reason;
    `maps` names the label map of each dataset.
    """

    names: tuple[str, ...]
    rows: pl.DataFrame
    links: pl.DataFrame
    not_measured: dict[str, int] = field(default_factory=dict)
    meaning: bool = False  # whether what is alike in meaning was looked for
    maps: tuple[str | None, ...] = ()

    @property
    def of_row(self) -> Codes:
        return self.rows["claim"].to_numpy()

    @property
    def part(self) -> Codes:
        return self.rows["part"].to_numpy()

    @property
    def sizes(self) -> dict[str, int]:
        """How many records each dataset has."""
        counts = np.bincount(self.part, minlength=len(self.names)).tolist()
        return dict(zip(self.names, counts, strict=True))

    @property
    def claims(self) -> int:
        return int(self.of_row.max(initial=-1)) + 1

    def by(self, kinds: Sequence[str]) -> RowClaims:
        """The claims, linked by these kinds."""
        links = self.links.filter(pl.col("kind").is_in(list(kinds)))
        left, right, score = (links[c].to_numpy() for c in ("left", "right", "score"))
        return RowClaims(self.of_row, left, right, score)


def graph_of(
    datasets: Sequence[Dataset], *, meaning: bool = False, progress: Progress = silent
) -> Graph:
    """The graph over `datasets`; with `meaning`, also what sentence vectors find alike."""
    names = names_of(datasets)
    rows = pl.concat(
        [
            dataset.records.select(*_COLUMNS, dataset=pl.lit(name), part=pl.lit(number, pl.Int64))
            for number, (name, dataset) in enumerate(zip(names, datasets, strict=True))
        ]
    )
    tweet = pl.col("tweet_id")
    rows = rows.with_columns(
        tweet_id=pl.when(tweet.str.strip_chars() != "").then(tweet),
        url=canonical_urls(_pages(rows["url"])),
    )
    same = claims_of(rows["text"], near=NEAR_JACCARD)
    rows = rows.with_columns(claim=_with_nodes(same.of_row, rows))
    links = [_links(NEARLY, same.left, same.right, same.similarity)]
    progress("comparing words", 0, None)
    # The dataset and split of a record.
    side = pl.struct("part", "split").rank("dense").cast(pl.Int64)
    sided = rows.with_columns(side=side)
    links.append(_few_words_changed(sided))
    links += [_same_key(rows, "tweet_id", TWEET), _same_key(rows, "url", ADDRESS)]
    missing = {"without a text": rows["text"].null_count()}
    if meaning:
        from claimlab.claims.vectors import alike_in_meaning

        pairs, unread = alike_in_meaning(sided, progress)
        links.append(_links(MEANING, *pairs))
        missing |= unread
    order = pl.col("kind").replace_strict(KINDS, range(len(KINDS)), return_dtype=pl.Int64)
    strongest = (
        pl.concat(links)
        .sort("left", "right", order)
        .unique(["left", "right"], keep="first", maintain_order=True)
    )
    maps = tuple(d.label_map for d in datasets)
    return Graph(tuple(names), rows, strongest, missing, meaning, maps)


def names_of(datasets: Sequence[Dataset]) -> list[str]:
    """One name for each: that of the dataset, and of its folder too where several share it."""
    times = Counter(d.name for d in datasets)
    folders = [d.path.name if d.path is not None else "" for d in datasets]
    if len(set(zip((d.name for d in datasets), folders, strict=True))) < len(datasets):
        folders = [str(d.path) for d in datasets]  # folders of one name in different places
    out = [
        d.name if times[d.name] == 1 else f"{d.name} ({folder})"
        for d, folder in zip(datasets, folders, strict=True)
    ]
    if len(set(out)) < len(out):
        raise UsageError("A dataset is given twice.", "Give each folder once.")
    return out


def _pages(urls: pl.Series) -> pl.Series:
    """The address of each record, where it has a path: a host alone is no claim's address."""
    has_path = urls.str.contains(r"^(?:\w+:)?(?://)?[^/?#]+/[^/?#\s]|[?]\S")
    return pl.select(pl.when(has_path).then(urls)).to_series()


def _with_nodes(of_row: Codes, rows: pl.DataFrame) -> Codes:
    """A node of its own for every row without a text that a tweet or an address may link."""
    lone = (of_row < 0) & (rows["tweet_id"].is_not_null() | rows["url"].is_not_null()).to_numpy()
    codes = of_row.copy()
    codes[lone] = int(of_row.max(initial=-1)) + 1 + np.arange(int(lone.sum()))
    return codes


def _links(kind: str, left: Codes, right: Codes, score: Floats) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "left": np.minimum(left, right),
            "right": np.maximum(left, right),
            "kind": [kind] * len(left),
            "score": np.asarray(score, np.float64),
        },
        schema=LINK,
    )


def _few_words_changed(rows: pl.DataFrame) -> pl.DataFrame:
    """Pairs of different datasets or splits: what is changed within one is not asked."""
    from claimlab.text.neardup import find_pairs

    texts = (
        rows.select("claim", "side", text=normal_form(rows["text"]))
        .drop_nulls("text")
        .group_by("claim", maintain_order=True)
        .agg(pl.col("text").first(), first=pl.col("side").min(), last=pl.col("side").max())
    )
    separate = spaced(texts["text"])
    pairs = find_pairs(separate, threshold=0.5, unit="word", ngram=1)
    first, last, claim = (texts[c].to_numpy() for c in ("first", "last", "claim"))
    left, right = np.asarray(pairs.left), np.asarray(pairs.right)
    alone = first == last
    within = alone[left] & alone[right] & (first[left] == first[right])
    left, right = left[~within], right[~within]
    words = separate.str.split(" ")
    both = zip(left.tolist(), right.tolist(), strict=True)
    changed = np.array([in_order(words[a].to_list(), words[b].to_list()) for a, b in both])
    enough = changed > 0
    return _links(CHANGED, claim[left[enough]], claim[right[enough]], changed[enough])


def _same_key(rows: pl.DataFrame, key: str, kind: str) -> pl.DataFrame:
    """Pairs of different claims with the same key."""
    nodes = rows.select("part", "claim", key).drop_nulls().unique(maintain_order=True)
    many = nodes.group_by("part", key).len().filter(pl.col("len") > MOST_CLAIMS_AT_ADDRESS)
    few = nodes.join(many, on=key, how="anti", maintain_order="left")
    nodes = few.select("claim", key).unique(maintain_order=True)
    pairs = (
        nodes.join(nodes, on=key, suffix="_other")
        .filter(pl.col("claim") < pl.col("claim_other"))
        .sort("claim", "claim_other")
    )
    left, right = pairs["claim"].to_numpy(), pairs["claim_other"].to_numpy()
    return _links(kind, left, right, np.ones(len(left)))
