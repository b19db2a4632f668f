"""CDL-MD: the guide's own table of its claim and paragraph datasets, with one verdict for all of them.

The hub repository holds train/validation/test.parquet for everything and the same rows again in one folder per
dataset; older revisions hold CSV. Column names were learned from the authors' scripts (dataset, claim, label,
veracity, tweet_id); other spellings are accepted and columns that mean nothing here go to `meta`.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from pathlib import PurePosixPath

import polars as pl

from claimlab.catalog.card import Card
from claimlab.catalog.columns import blank_to_null, column, constant, find_column, require_columns
from claimlab.catalog.entry import Entry, Loaded, Sample
from claimlab.catalog.made_up import parquet
from claimlab.catalog.times import dated
from claimlab.core.errors import UnreadableFile
from claimlab.core.labels import LabelMap, general
from claimlab.core.languages import normalise
from claimlab.core.record import meta_column
from claimlab.files.bundle import MAX_UNPACKED, Bundle
from claimlab.files.encoding import decode
from claimlab.files.tables import read_delimited, read_parquet

SPLITS = {"train": "train", "validation": "dev", "val": "dev", "test": "test"}
NAMES = {
    "text": ("claim", "text", "statement", "content"),
    "dataset": ("dataset", "dataset_name", "source_dataset"),
    "veracity": ("veracity", "unified_label"),
    "label": ("label", "original_label", "rating"),
    "tweet_id": ("tweet_id", "tweetid"),
    "date": ("date", "claim_date", "publish_date", "created_at"),
    "author": ("author", "speaker", "claimant"),
    "language": ("language", "lang"),
    "url": ("url", "link"),
    "topic": ("topic", "subject", "category"),
}
ARTICLES = ("banfakenews", "benjaminpoliticalnews", "celebrity", "ctfan", "fakes", "fakenews", "isot", "ticnn")


def load(bundle: Bundle) -> Loaded:
    """The whole table once, in the order train, validation, test."""
    parts = [_records(_read(bundle, name), name) for name in _members(bundle)]
    records = pl.concat([frame for frame, _ in parts])
    repeated = _repeated(records["text"])
    notes = sorted({note for _, found in parts for note in found})
    notes.append(f"Rows of {records['source'].n_unique()} datasets; filter by the column 'source'.")
    if repeated.drop_nulls().len():
        notes.append(
            f"{repeated.drop_nulls().len()} rows repeat a text of another row ({repeated.drop_nulls().n_unique()} "
            "groups, some across datasets): split by group."
        )
    return Loaded(records.with_columns(repeated), notes=notes)


def _members(bundle: Bundle) -> list[str]:
    """The files to read: whole-table files at the shallowest level, else those of each dataset, never both."""
    tables = bundle.match("*.parquet") or bundle.match("*.csv", "*.csv.gz") or [bundle.one("*.parquet", "*.csv.gz")]
    depth = min(name.count("/") for name in tables)
    top = [name for name in tables if name.count("/") == depth and "_old" not in name]
    chosen = top if any(_split(name) for name in top) else tables
    order = list(SPLITS.values())
    return sorted(chosen, key=lambda name: order.index(_split(name) or "test"))


def _split(name: str) -> str | None:
    word = PurePosixPath(name).name.split(".")[0].lower().rsplit("_", 1)[-1]
    return SPLITS.get(word)


def _read(bundle: Bundle, name: str) -> pl.DataFrame:
    data = bundle.read(name)
    if name.lower().endswith(".parquet"):
        return read_parquet(data, name)
    if name.lower().endswith(".gz"):
        try:
            with gzip.open(io.BytesIO(data)) as stream:
                data = stream.read(MAX_UNPACKED + 1)
        except (OSError, EOFError) as error:
            raise UnreadableFile(f"'{name}' is not a whole gzip file: {error}.", "Get it again.") from None
        if len(data) > MAX_UNPACKED:
            raise UnreadableFile(f"'{name}' unpacks to over {MAX_UNPACKED >> 30} GB.", "Unpack it, then give the CSV.")
    return read_delimited(decode(data, name))


def _records(raw: pl.DataFrame, name: str) -> tuple[pl.DataFrame, list[str]]:
    ids = find_column(raw, *NAMES["tweet_id"])
    rounded = ids is not None and raw[ids].dtype.is_float() and raw[ids].drop_nulls().len() > 0
    if ids is not None and rounded:
        raw = raw.with_columns(pl.col(ids).cast(pl.Int64))
    require_columns(raw, name, [(*NAMES["text"], *NAMES["tweet_id"]), (*NAMES["veracity"], *NAMES["label"])])
    columns = {key: column(raw, *names) for key, names in NAMES.items()}
    folder = PurePosixPath(name).parent.name or None
    source = columns["dataset"].fill_null(folder) if folder else columns["dataset"]
    verdict = columns["veracity"] if find_column(raw, *NAMES["veracity"]) else columns["label"]
    used = {find_column(raw, *names) for key, names in NAMES.items() if key != "label"}
    flat = [c for c, t in raw.schema.items() if c not in used and not t.is_nested() and t != pl.Binary]
    records = pl.DataFrame(
        {
            "text": columns["text"],
            "kind": pl.Series([_kind(*row) for row in zip(columns["text"], source, strict=True)], dtype=pl.String),
            "label_raw": verdict.str.strip_suffix(".0"),
            "language": pl.Series([normalise(c) if c else None for c in columns["language"]], dtype=pl.String),
            **dated(columns["date"]),
            "tweet_id": columns["tweet_id"].str.strip_suffix(".0"),
            "author": columns["author"],
            "source": source,
            "url": columns["url"],
            "topic": columns["topic"],
            "split": constant(_split(name), raw.height),
            "meta": meta_column(raw.with_columns(blank_to_null(raw[c]).alias(c) for c in flat), flat),
        }
    )
    return records, ["Tweet ids were saved as floats: their last digits are lost."] if rounded else []


def _kind(text: str | None, source: str | None) -> str:
    if text is None:
        return "id-only"
    folded = "".join(c for c in (source or "").casefold() if c.isalnum())
    return "article" if folded.startswith(ARTICLES) else "claim"


def _repeated(texts: pl.Series) -> pl.Series:
    """A group for texts that stand in several rows; null for the others."""
    folded = texts.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    again = (folded.is_duplicated() & folded.is_not_null()).to_list()
    keys = [
        f"text-{hashlib.sha256(text.encode()).hexdigest()[:16]}" if twice else None
        for text, twice in zip(folded.to_list(), again, strict=True)
    ]
    return pl.Series("group", keys, dtype=pl.String)


WORDS = {"true": "true", "false": "false", "mixed": "mixed", "unknown": "unknown"}

DATASET = Entry(
    card=Card(
        name="cdl-md",
        title="CDL-MD (unified table)",
        summary="The guide's claim and paragraph datasets in one table with one verdict: true, false, mixed or unknown.",
        size=1_741_146,
        modality=("claims", "tweets", "articles"),
        topic="Various",
        region="International",
        labelling="As in the datasets it is made of",
        licence="Apache-2.0 for the collection; every dataset in it keeps its own terms",
        access="Hugging Face hub: ComplexDataLab/Misinfo_Datasets (train, validation and test.parquet, or one folder "
        "per dataset).",
        homepage="https://huggingface.co/datasets/ComplexDataLab/Misinfo_Datasets",
        citation="Thibault et al. (2025), A Guide to Misinformation Detection Data and Evaluation, KDD, arXiv:2411.05060.",
        errata=(
            "The meaning of the verdict code 3 changed: 'mixed' since January 2025 (map '2025'), 'not determined' "
            "before (map '2024').",
            "Its verdicts follow one list of label words, compared with case: a label that is not on the list is unknown, "
            "and 'barely-true' is true.",
            "The whole table and the folders per dataset hold the same rows; older revisions also keep '_old' files.",
            "Rows per tweet repeat their claim, within and across the parts of the published split.",
        ),
    ),
    maps={
        "2025": LabelMap("cdl-md/2025", {**WORDS, "1": "true", "2": "false", "3": "mixed", "9": "unknown"}),
        "2024": LabelMap("cdl-md/2024", {**WORDS, "1": "true", "2": "false", "3": "unknown", "9": "unknown"}),
        "ratings": LabelMap(
            "cdl-md/ratings",
            {**general().verdicts, **WORDS, "1": "true", "2": "false", "3": "mixed", "9": "unknown"},
            note="for revisions that have only the original labels",
        ),
    },
    variants={"unified": load},
    sample=Sample(
        files={
            "train.parquet": parquet(
                [
                    {
                        "dataset": "liar",
                        "claim": "The town has no debt.",
                        "label": "barely-true",
                        "veracity": 1.0,
                        "tweet_id": None,
                    },
                    {"dataset": "coaid", "claim": "Tea heals all.", "label": "fake", "veracity": 2.0, "tweet_id": None},
                    {
                        "dataset": "coaid",
                        "claim": "tea heals  all.",
                        "label": "fake",
                        "veracity": 2.0,
                        "tweet_id": None,
                    },
                    {
                        "dataset": "wico",
                        "claim": None,
                        "label": "x",
                        "veracity": 9.0,
                        "tweet_id": "1319500000000000001",
                    },
                ]
            ),
            "test.parquet": parquet(
                [{"dataset": "isot_fake_news", "claim": "Long ago. A bridge.", "label": "half-true", "veracity": 3.0}]
            ),
            "liar/liar_train.parquet": parquet(
                [{"dataset": "liar", "claim": "The town has no debt.", "label": "barely-true", "veracity": 1.0}]
            ),
        },
        rows={"unified": 5},
        veracity={"true": 1, "false": 2, "mixed": 1, "unknown": 1},
    ),
)
