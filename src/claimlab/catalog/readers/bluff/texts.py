"""Samples exploded into their texts: the article and the post, each in its own language and in
translation.

Each text becomes a record; `group` is the sample's uuid, because its texts tell the same story and
must not be split. The condensed summary of human files is not a separate text and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from claimlab.catalog.readers.bluff import decode
from claimlab.catalog.readers.bluff.authorship import Rule, authorship
from claimlab.catalog.readers.bluff.tongues import text_language
from claimlab.catalog.table import Table
from claimlab.catalog.times import dated
from claimlab.core.record import meta_column

META = (
    "model",
    "organization",
    "translation_directionality",
    "degree",
    "degree_raw",
    "techniques",
    "technique_keys",
    "source_dataset",
    "platform",
    "country",
    "category",
    "extraction_status",
    "field",
    "detected",
    "resource",
    "standard_veracity",
    "lang_pass",
    "is_duplicate",
    "json_parse",
    "chain_status",
)


@dataclass(frozen=True)
class Field:
    """One of the texts of a sample, by the names that generated and human files give its column."""

    columns: tuple[str, ...]
    form: str  # article | post
    translated: bool

    @property
    def suffix(self) -> str:
        return f"{self.form}-translation" if self.translated else self.form


FIELDS = (
    Field(("article_content",), "article", False),
    Field(("translated_content", "translated_article"), "article", True),
    Field(("post_content",), "post", False),
    Field(("translated_post",), "post", True),
)


@dataclass
class Exploded:
    records: pl.DataFrame
    odd_languages: int = 0  # texts whose identified language is neither of the sample's two
    no_author: int = 0  # texts whose author the rule cannot tell
    no_text: int = 0  # samples without any text
    strange_keys: tuple[str, ...] = ()
    strange_degrees: tuple[str, ...] = ()


def explode(samples: pl.DataFrame, *, human: bool, rule: Rule, classes: dict[str, str]) -> Exploded:
    """The texts of `samples` (columns as in the card, `declared`, `occurrence` and `label` added by
    the reader).
    """
    ready, strange_keys, strange_degrees = _decoded(samples)
    out = Exploded(pl.DataFrame(), strange_keys=strange_keys, strange_degrees=strange_degrees)
    parts = []
    for field in FIELDS:
        names = [c for c in field.columns if c in ready.columns]
        if not names:
            continue
        name = names[0]
        rows = ready.with_columns(pl.coalesce(names).alias(name)).filter(pl.col(name).is_not_null())
        author = authorship(
            rows, human=human, form=field.form, translated=field.translated, rule=rule
        )
        records, odd = _records(rows, name, field, author, classes)
        out.odd_languages += odd
        out.no_author += author.null_count()
        parts.append(records)
    out.records = (
        pl.concat(parts).sort("order", maintain_order=True).drop("order")
        if parts
        else pl.DataFrame()
    )
    out.no_text = samples["uuid"].n_unique() - (out.records["group"].n_unique() if parts else 0)
    return out


def _decoded(samples: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...], tuple[str, ...]]:
    raw = Table("samples", samples)
    keys, words = raw.maybe("technique_keys"), raw.maybe("degree")
    decoded = [decode.technique_names(k) for k in keys.to_list()]
    degrees = [decode.degree(w) for w in words.to_list()]
    strange = {
        w for w, d in zip(words.to_list(), degrees, strict=True) if w is not None and d is None
    }
    ready = samples.with_columns(
        pl.Series(
            "techniques", [list(names) or None for names, _ in decoded], dtype=pl.List(pl.String)
        ),
        pl.Series("degree", degrees, dtype=pl.String),
        words.alias("degree_raw"),
    ).with_row_index("order")
    return ready, tuple(sorted({k for _, odd in decoded for k in odd})), tuple(sorted(strange))


def _records(
    rows: pl.DataFrame, name: str, field: Field, author: pl.Series, classes: dict[str, str]
) -> tuple[pl.DataFrame, int]:
    detected = _either(rows, f"language({name})", f"{name}_lang")
    pairs = zip(rows["declared"].to_list(), detected.to_list(), strict=True)
    languages = [text_language(sample, word, translated=field.translated) for sample, word in pairs]
    language = pl.Series("language", [code for code, _ in languages], dtype=pl.String)
    rows = rows.with_columns(
        detected.alias("detected"),
        pl.lit(name).alias("field"),
        pl.Series(
            "resource", [classes.get(code or "") for code in language.to_list()], dtype=pl.String
        ),
    )
    again = (
        pl.when(pl.col("occurrence") > 0)
        .then(pl.format("-{}", pl.col("occurrence") + 1))
        .otherwise(pl.lit(""))
    )
    raw = Table("samples", rows)
    records = rows.select(
        "order",
        id=pl.format("bluff-{}-{}{}", "uuid", pl.lit(field.suffix), again),
        text=name,
        kind=pl.lit(field.form),
        label_raw="label",
        language=language,
        **dated({"published": raw.maybe("date")}),
        author=_either(rows, "model", "mLLM", "organization"),
        source=_either(rows, "standardized_organization", "organization", "source_dataset"),
        url=raw.maybe("url_factchecking_website"),
        topic=_either(rows, "standardized_topics", "topic", "category"),
        group="uuid",
        authorship=author,
        meta=meta_column(rows, [c for c in META if c in rows.columns]),
    )
    return records, sum(odd for _, odd in languages)


def _either(frame: pl.DataFrame, *columns: str) -> pl.Series:
    """Of several columns the first that says something, row by row."""
    raw = Table("samples", frame)
    return pl.select(pl.coalesce(raw.maybe(name) for name in columns)).to_series()
