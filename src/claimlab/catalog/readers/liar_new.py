"""LIAR-New: PolitiFact statements after the training cut-off of early LLMs, with French
translations and possibility labels.
"""

from __future__ import annotations

import polars as pl

from claimlab.catalog.kit import Bundle, Loaded, Table, answers, dated

NUMBER = ("example_id", "id")
POSSIBILITY = {"p": "possible", "h": "hard", "i": "impossible"}
FEASIBILITY = "feasibility"  # the question that the audit reads
LABELLERS = ("labeler_1_possibility", "labeler_2_possibility", "labeler_3_possibility")


def load(bundle: Bundle, column: str) -> Loaded:
    """One JSON object per line. The folder also holds an old labelling (`_oldversion1`), which its
    authors advise against.
    """
    raw = Table.read(bundle, bundle.one("LIAR-New.jsonl", "liar_new.jsonl", "LIAR-New.json"))
    records = raw.frame.select(
        id="liar-new-" + raw.need(*NUMBER),
        text=raw.need(column),
        label_raw=raw.need("label"),
        **dated({"date column (claim)": raw.maybe("date")}),
        source=pl.lit("PolitiFact"),
        group=raw.need(*NUMBER),
    )
    return Loaded(
        records,
        {"annotations": _annotations(bundle, raw, records["id"]), **_articles(bundle, records)},
    )


def _annotations(bundle: Bundle, raw: Table, ids: pl.Series) -> pl.DataFrame:
    """Whether a statement holds enough context to be checked: the agreed label, and each labeller's
    where the raw file is there.
    """
    single = [Table.read(bundle, name) for name in bundle.match("LIAR-New_raw.jsonl")]
    # The check of feasibility reads every answer under its question as a vote, so the agreed one
    # must not be a fourth.
    agreed = (
        raw,
        "possibility_label",
        "consensus",
        f"{FEASIBILITY} (agreed)" if single else FEASIBILITY,
    )
    parts = []
    for table, column, annotator, question in [
        agreed,
        *((t, who, who[:9], FEASIBILITY) for t in single for who in LABELLERS),
    ]:
        value = table.maybe(column)
        word = value.str.to_lowercase().str.slice(0, 1).replace_strict(POSSIBILITY, default=None)
        frame = pl.DataFrame(
            {"id": "liar-new-" + table.need(*NUMBER), "possibility": word.fill_null(value)}
        )
        loaded = frame.filter(pl.col("id").is_in(ids.to_list()))
        parts.append(answers(loaded, {"possibility": question}, annotator=annotator))
    return pl.concat(parts)


def _articles(bundle: Bundle, records: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """PolitiFact's own article on each statement, where that file is there. It states the verdict:
    an oracle, not evidence.
    """
    files = bundle.match("LIAR-New_articles.jsonl", "LIAR_new_scrapedarticles.jsonl")
    if not files:
        return {}
    raw = Table.read(bundle, files[0])
    number = raw.need(*NUMBER)
    articles = raw.frame.select(
        record_id="liar-new-" + number,
        evidence_id="politifact-" + number,
        rank=pl.lit(1),
        text=raw.need("article_text", "text"),
        provider=pl.lit("liar-new"),
        publisher=pl.lit("PolitiFact"),
        domain=pl.lit("politifact.com"),
    )
    ratings = records.select(record_id="id", rating="label_raw")
    return {"evidence": articles.join(ratings, on="record_id", maintain_order="left")}
