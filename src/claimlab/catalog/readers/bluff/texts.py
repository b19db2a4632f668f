"""Samples exploded into their texts: the article and the post, each in its own language and in
translation.

Each text becomes a record; `group` is the sample's uuid, because its texts tell the same story and
must not be split. The condensed summary of human files is not a separate text and is left out.

The keys of techniques index our list of 36 (data/words.toml), the one of two published lists
that `technique_keys` most likely means. Keys 37 to 39 stand for three ways of editing real news
whose order is published nowhere twice alike: they are kept as they are, not named.

Who wrote a text is told by a named rule, because the published material has two.

per-field   (the experiment notes) Each text of a sample has its own author. Generated: the article
            and the post are MGT when the degree is critical, HAT when it is minor or moderate;
            translations are MTT. Human: the article is HWT, the post MGT (a model made it from the
            article), translations MTT.
per-sample  (the data card) One flag per sample holds for all its texts: HAT, MGT, MTT or HWT marked
            "y", exclusively. Human files have no flags: HWT.

A text whose author the rule cannot tell (no known degree; no flag, or several) gets null, and is
counted.

A sample has two languages, its own and English: the detected language of a text only decides which
of the two it is in. A detector's answer outside the pair (Croatian for Serbian) is noise; it is
counted, not believed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import polars as pl

from claimlab.catalog.columns import dated
from claimlab.catalog.table import Table
from claimlab.core import packaged
from claimlab.core.errors import UnknownName
from claimlab.core.languages import describe, normalise
from claimlab.core.record import AUTHORSHIPS, meta_column
from claimlab.core.words import several


def listed(kind: str) -> Any:
    return packaged.toml("claimlab.catalog.readers.bluff", "words.toml")[kind]


@cache
def words(kind: str) -> dict[str, str]:
    """The words of one kind, each with what it means."""
    return {word: meaning for meaning, spellings in listed(kind).items() for word in spellings}


@cache
def technique_names(keys: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names for "[10, 32]", "10;32" or "['polish']"; and the keys that no list names."""
    if keys is None:
        return (), ()
    names = listed("techniques")
    known, strange = [], []
    for key in re.findall(r"[A-Za-z]+|\d+", keys):
        if key.isdigit() and 1 <= int(key) <= len(names):
            known.append(names[int(key) - 1])
        elif key.lower() in words("edits"):
            known.append(words("edits")[key.lower()])
        else:
            strange.append(key)
    return tuple(known), tuple(strange)


@cache
def degree_of(word: str | None) -> str | None:
    """minor, moderate or critical; null when the word is not known. "light change (10-20%)" reads
    by its first word.
    """
    if word is None:
        return None
    first = re.match(r"\s*([A-Za-z]+)", word)
    return words("degrees").get(first[1].lower()) if first else None


@cache
def resource_class(word: str | None) -> str | None:
    """head or tail."""
    return None if word is None else words("resources").get(re.sub(r"[^a-z]", "", word.lower()))


Rule = Literal["per-field", "per-sample"]
RULES: tuple[Rule, ...] = get_args(Rule)
YES = ("y", "yes", "true", "1")


def check_rule(name: str) -> Rule:
    if name not in RULES:
        raise UnknownName("authorship rule", name, RULES)
    return name


def authorship(
    frame: pl.DataFrame, *, human: bool, form: str, translated: bool, rule: Rule
) -> pl.Series:
    """The authorship of one text of each sample in `frame` (column `degree` decoded)."""
    if rule == "per-sample":
        return per_sample(frame) if not human else _all("HWT", frame.height)
    if translated:
        return _all("MTT", frame.height)
    if human:
        return _all("HWT" if form == "article" else "MGT", frame.height)
    generated = pl.when(pl.col("degree") == "critical").then(pl.lit("MGT"))
    return frame.select(
        generated.when(pl.col("degree").is_not_null()).then(pl.lit("HAT")).alias("authorship")
    ).to_series()


def per_sample(frame: pl.DataFrame) -> pl.Series:
    flags = [c for c in AUTHORSHIPS if c in frame.columns]
    marked = [pl.col(c).str.to_lowercase().is_in(YES).fill_null(False) for c in flags]
    if not marked:
        return _all(None, frame.height)
    author = pl.coalesce(
        pl.when(mark).then(pl.lit(flag)) for flag, mark in zip(flags, marked, strict=True)
    )
    once = pl.sum_horizontal(marked) == 1
    return frame.select(pl.when(once).then(author).alias("authorship")).to_series()


def _all(value: str | None, height: int) -> pl.Series:
    return pl.Series("authorship", [value], dtype=pl.String).new_from_index(0, height)


ENGLISH = "eng"


@cache
def declared() -> dict[str, frozenset[str]]:
    """The three published lists of languages, by place."""
    lists = listed("languages")
    codes = {place: map(normalise, text.split()) for place, text in lists.items()}
    return {place: frozenset(filter(None, each)) for place, each in codes.items()}


@cache
def text_language(
    sample: str | None, detected: str | None, *, translated: bool
) -> tuple[str | None, bool]:
    """The language of a text, and whether the detector named neither it nor its pair."""
    expected = ENGLISH if translated else sample
    if detected is None:
        return expected, False
    candidates = {
        code
        for word in re.findall(r"[A-Za-z]{2,}", detected)
        if (code := normalise(word)) is not None
    }
    pair = candidates & {sample, ENGLISH}
    if len(pair) == 1:
        return pair.pop(), False
    return expected, bool(candidates) and not pair


@dataclass(frozen=True)
class Coverage:
    """What was declared against what was found. `whole` is false when only a part of the tree was
    asked for.
    """

    table: pl.DataFrame
    found: frozenset[str]
    whole: bool

    def sentences(self) -> list[str]:
        counts = ", ".join(f"{len(codes)} in the {place}" for place, codes in declared().items())
        sentences = [f"Texts in {several(len(self.found), 'language')}; declared are {counts}."]
        strangers = sorted(self.found - frozenset().union(*declared().values()))
        if strangers:
            sentences.append(f"Declared nowhere, but found: {', '.join(strangers)}.")
        missing = sorted(declared()["card"] - self.found)
        if missing and self.whole:
            count = several(len(missing), "language")
            sentences.append(f"{count} of the card without text here: {', '.join(missing)}.")
        bare = sorted(
            code for code in self.found if (facts := describe(code)) is None or facts.family is None
        )
        if bare:
            sentences.append(
                f"No family, script or word order is known for: {', '.join(bare)}; they belong to"
                " no group."
            )
        return sentences


def coverage(records: pl.DataFrame, classes: dict[str, str], *, whole: bool) -> Coverage:
    """One row per language found or declared: where it is declared, how much of it there is, what
    is known of it.
    """
    texts = dict(records["language"].drop_nulls().value_counts().iter_rows())
    samples = dict(
        records.group_by("language")
        .agg(pl.col("group").n_unique())
        .drop_nulls("language")
        .iter_rows()
    )
    codes = sorted(frozenset(texts).union(*declared().values()))
    rows = []
    for code in codes:
        facts = describe(code)
        rows.append(
            {
                "language": code,
                "name": facts.name if facts else None,
                **{f"in_{place}": code in listed for place, listed in declared().items()},
                "texts": texts.get(code, 0),
                "samples": samples.get(code, 0),
                "resource": classes.get(code),
                "family": facts.family if facts else None,
                "script": facts.script if facts else None,
                "word_order": facts.word_order if facts else None,
            }
        )
    return Coverage(pl.DataFrame(rows, infer_schema_length=None), frozenset(texts), whole)


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
    decoded = [technique_names(k) for k in keys.to_list()]
    degrees = [degree_of(w) for w in words.to_list()]
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
        meta=meta_column(rows, [c for c in listed("meta") if c in rows.columns]),
    )
    return records, sum(odd for _, odd in languages)


def _either(frame: pl.DataFrame, *columns: str) -> pl.Series:
    """Of several columns the first that says something, row by row."""
    raw = Table("samples", frame)
    return pl.select(pl.coalesce(raw.maybe(name) for name in columns)).to_series()
