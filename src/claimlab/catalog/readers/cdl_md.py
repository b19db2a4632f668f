"""CDL-MD: the guide's own table of its claim and paragraph datasets, with one verdict for all of
them.

The hub repository holds train/validation/test.parquet for everything and the same rows again in one
folder per dataset; older revisions hold CSV. Column names were learned from the authors' scripts
(dataset, claim, label, veracity, tweet_id); other spellings are accepted and columns that mean
nothing here go to `meta`.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import polars as pl
import polars.selectors as cs

from claimlab.catalog import kit

SPLITS = {"train": "train", "validation": "dev", "val": "dev", "test": "test"}
NAMES: dict[str, list[str]] = kit.lists_of("cdl-md")["names"]
ARTICLES = tuple(kit.lists_of("cdl-md")["articles"])
LABELLERS = ("labeler_1", "labeler_2")


def load(bundle: kit.Bundle) -> kit.Loaded:
    """The whole table once, in the order train, validation, test."""
    parts = [_records(kit.Table.read(bundle, name), name) for name in _members(bundle)]
    records = pl.concat([frame for frame, _ in parts])
    records = records.with_columns(kit.numbered("cdl-md", records.height))
    group = kit.repeated(records["text"], records["id"])
    notes = sorted({note for _, sentences in parts for note in sentences})
    notes.append(f"Rows of {records['source'].n_unique()} datasets; filter by the column 'source'.")
    if group.count():
        notes.append(
            f"{group.count()} rows repeat a text of another row ({group.drop_nulls().n_unique()} "
            "groups, some across datasets): split by group."
        )
    return kit.Loaded(records.with_columns(group), notes=notes)


def _members(bundle: kit.Bundle) -> list[str]:
    """The files to read: whole-table files at the shallowest level, else those of each dataset,
    never both.
    """
    tables = bundle.match("*.parquet") or kit.members(bundle, "*.csv")
    depth = min(name.count("/") for name in tables)
    top = [name for name in tables if name.count("/") == depth and "_old" not in name]
    chosen = top if any(_split(name) for name in top) else tables
    order = list(SPLITS.values())
    return sorted(chosen, key=lambda name: order.index(_split(name) or "test"))


def _split(name: str) -> str | None:
    word = PurePosixPath(name).name.split(".")[0].lower().rsplit("_", 1)[-1]
    return SPLITS.get(word)


def _records(raw: kit.Table, name: str) -> tuple[pl.DataFrame, list[str]]:
    ids, notes = raw.find(*NAMES["tweet_id"]), []
    if ids is not None and raw.frame[ids].dtype.is_float() and raw.frame[ids].count():
        raw = kit.Table(name, raw.frame.with_columns(pl.col(ids).cast(pl.Int64)))
        notes = ["Tweet ids were saved as floats: their last digits are lost."]
    raw.need(*NAMES["text"], *NAMES["tweet_id"])
    verdict = raw.need(*NAMES["veracity"], *NAMES["label"])
    columns = raw.pick((), NAMES)
    folder = PurePosixPath(name).parent.name or None
    source = columns["dataset"].fill_null(folder) if folder else columns["dataset"]
    used = {raw.find(*names) for key, names in NAMES.items() if key != "label"}
    plain = raw.frame.select(~(cs.nested() | cs.binary())).columns
    flat = [column for column in plain if column not in used]
    records = columns.select(
        "text",
        kind=kit.as_text([_kind(*row) for row in zip(columns["text"], source, strict=True)]),
        label_raw=verdict.str.strip_suffix(".0"),
        language=kit.languages(columns["language"]),
        **kit.dated({"published": columns["date"]}),
        tweet_id=pl.col("tweet_id").str.strip_suffix(".0"),
        author="author",
        source=source,
        url="url",
        topic="topic",
        split=pl.lit(_split(name), pl.String),
        meta=raw.meta(flat),
    )
    return records, notes


def _kind(text: str | None, source: str | None) -> str:
    if text is None:
        return "id-only"
    folded = "".join(c for c in (source or "").casefold() if c.isalnum())
    return "article" if folded.startswith(ARTICLES) else "claim"


def load_evaluation(bundle: kit.Bundle) -> kit.Loaded:
    """The guide's manual evaluation (`eval_eval`): claims of FEVER and MM-COVID with a model's
    answer, and whether two annotators found its rationale wrong."""
    parts = []
    for name in kit.members(bundle, "*_eval_*_manuallabels.tsv", "*_eval_*_manuallabels.jsonl"):
        raw = kit.Table.read(bundle, name)
        stem = PurePosixPath(name).name.split("_eval_")[0]
        needed = {"text": "claim", "label_raw": "label", **{who: who for who in LABELLERS}}
        rows = raw.pick(needed, ["messages", "prediction_matches_label", "evidence_wiki_url"])
        parts.append(
            rows.with_columns(kit.numbered(f"cdl-md-{stem}", rows.height, 3), source=pl.lit(stem))
        )
    rows = pl.concat(parts)
    records = rows.select(
        *["id", "text", "label_raw", "source"],
        language=pl.lit("eng"),
        meta=kit.meta_column(rows, ["messages", "prediction_matches_label", "evidence_wiki_url"]),
    )
    annotations = [kit.answers(rows, {who: "rationale"}, annotator=who) for who in LABELLERS]
    return kit.Loaded(records, {"annotations": pl.concat(annotations)})
