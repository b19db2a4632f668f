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
from collections.abc import Sequence
from dataclasses import dataclass, field
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
    columns: Sequence[str], *, human: bool, form: str, translated: bool, rule: Rule
) -> pl.Expr:
    """The authorship of one text of each sample; `columns` are those of the samples (`degree`
    decoded).
    """
    if rule == "per-sample":
        return pl.lit("HWT") if human else per_sample(columns)
    if translated:
        return pl.lit("MTT")
    if human:
        return pl.lit("HWT" if form == "article" else "MGT")
    generated = pl.when(pl.col("degree") == "critical").then(pl.lit("MGT"))
    return generated.when(pl.col("degree").is_not_null()).then(pl.lit("HAT"))


def per_sample(columns: Sequence[str]) -> pl.Expr:
    flags = [flag for flag in AUTHORSHIPS if flag in columns]
    marked = [pl.col(flag).str.to_lowercase().is_in(YES).fill_null(False) for flag in flags]
    if not marked:
        return pl.lit(None, pl.String)
    author = pl.coalesce(
        pl.when(mark).then(pl.lit(flag)) for flag, mark in zip(flags, marked, strict=True)
    )
    return pl.when(pl.sum_horizontal(marked) == 1).then(author)


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


def coverage(
    records: pl.DataFrame, classes: dict[str, str], *, whole: bool
) -> tuple[pl.DataFrame, list[str]]:
    """One row per language found or declared: where it is declared, how much of it there is, what
    is known of it; and what to say of it. `whole` is false when only a part of the tree was asked
    for.
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
    sentences = _covered(frozenset(texts), whole=whole)
    return pl.DataFrame(rows, infer_schema_length=None), sentences


def _covered(present: frozenset[str], *, whole: bool) -> list[str]:
    """What was declared against what was found."""
    counts = ", ".join(f"{len(codes)} in the {place}" for place, codes in declared().items())
    sentences = [f"Texts in {several(len(present), 'language')}; declared are {counts}."]
    strangers = sorted(present - frozenset().union(*declared().values()))
    if strangers:
        sentences.append(f"Declared nowhere, but found: {', '.join(strangers)}.")
    missing = sorted(declared()["card"] - present)
    if missing and whole:
        count = several(len(missing), "language")
        sentences.append(f"{count} of the card without text here: {', '.join(missing)}.")
    bare = sorted(
        code for code in present if (facts := describe(code)) is None or facts.family is None
    )
    if bare:
        sentences.append(
            f"No family, script or word order is known for: {', '.join(bare)}; they belong to no"
            " group."
        )
    return sentences


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
class Oddities:
    """What was odd in the rows themselves, counted."""

    misplaced: int = 0  # rows in another language than their folder
    nameless: int = 0  # rows without a uuid
    no_text: int = 0  # samples without any text
    languages: int = 0  # texts whose identified language is neither of the sample's two
    no_author: int = 0  # texts whose author the rule cannot tell
    keys: set[str] = field(default_factory=set)
    degrees: set[str] = field(default_factory=set)
    clashes: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        sentences = {
            f"{several(self.nameless, 'row')} without a uuid left out.": self.nameless,
            f"{several(self.misplaced, 'row')} in another language than their folder, read as such.": (
                self.misplaced
            ),
            f"{several(self.no_text, 'sample')} without any text.": self.no_text,
            f"{several(self.languages, 'text')} identified as a language that is neither the sample's nor English.": (
                self.languages
            ),
            f"{several(self.no_author, 'text')} without authorship: the rule cannot tell it from the degree or flags.": (
                self.no_author
            ),
            f"Technique keys that no list names: {', '.join(sorted(self.keys))}.": self.keys,
            f"Degrees that no list names: {', '.join(sorted(self.degrees))}.": self.degrees,
            f"The metadata call these languages both head and tail: {', '.join(self.clashes)}.": (
                self.clashes
            ),
        }
        return [sentence for sentence, some in sentences.items() if some]


def explode(
    samples: pl.DataFrame, odd: Oddities, *, human: bool, rule: Rule, classes: dict[str, str]
) -> pl.DataFrame:
    """The texts of `samples` (columns as in the card, `declared`, `occurrence` and `label` added by
    the reader); what is odd in them is added to `odd`.
    """
    ready = _decoded(samples, odd)
    parts = []
    for text in FIELDS:
        names = [column for column in text.columns if column in ready.columns]
        if not names:
            continue
        name = names[0]
        rows = ready.with_columns(pl.coalesce(names).alias(name)).filter(pl.col(name).is_not_null())
        author = authorship(
            rows.columns, human=human, form=text.form, translated=text.translated, rule=rule
        )
        rows = rows.with_columns(authorship=author)
        odd.no_author += rows["authorship"].null_count()
        parts.append(_records(rows, name, text, odd, classes))
    records = (
        pl.concat(parts).sort("order", maintain_order=True).drop("order")
        if parts
        else pl.DataFrame()
    )
    odd.no_text += samples["uuid"].n_unique() - (records["group"].n_unique() if parts else 0)
    return records


def _decoded(samples: pl.DataFrame, odd: Oddities) -> pl.DataFrame:
    raw = Table("samples", samples)
    keys, words = raw.maybe("technique_keys"), raw.maybe("degree")
    decoded = [technique_names(key) for key in keys.to_list()]
    degrees = [degree_of(word) for word in words.to_list()]
    odd.keys |= {key for _, strange in decoded for key in strange}
    odd.degrees |= {
        word
        for word, degree in zip(words.to_list(), degrees, strict=True)
        if word is not None and degree is None
    }
    techniques = [list(names) or None for names, _ in decoded]
    return samples.with_columns(
        pl.Series("techniques", techniques, dtype=pl.List(pl.String)),
        pl.Series("degree", degrees, dtype=pl.String),
        words.alias("degree_raw"),
    ).with_row_index("order")


def again() -> pl.Expr:
    """What ends the id of a row whose uuid came before."""
    number = pl.format("-{}", pl.col("occurrence") + 1)
    return pl.when(pl.col("occurrence") > 0).then(number).otherwise(pl.lit(""))


def _records(
    rows: pl.DataFrame, name: str, text: Field, odd: Oddities, classes: dict[str, str]
) -> pl.DataFrame:
    detected = _either(rows, f"language({name})", f"{name}_lang")
    pairs = zip(rows["declared"].to_list(), detected.to_list(), strict=True)
    languages = [text_language(sample, word, translated=text.translated) for sample, word in pairs]
    odd.languages += sum(strange for _, strange in languages)
    language = pl.Series("language", [code for code, _ in languages], dtype=pl.String)
    rows = rows.with_columns(
        detected.alias("detected"),
        pl.lit(name).alias("field"),
        pl.Series(
            "resource", [classes.get(code or "") for code in language.to_list()], dtype=pl.String
        ),
    )
    raw = Table("samples", rows)
    return rows.select(
        *["order", "authorship"],
        id=pl.format("bluff-{}-{}{}", "uuid", pl.lit(text.suffix), again()),
        text=name,
        kind=pl.lit(text.form),
        label_raw="label",
        language=language,
        **dated({"published": raw.maybe("date")}),
        author=_either(rows, "model", "mLLM", "organization"),
        source=_either(rows, "standardized_organization", "organization", "source_dataset"),
        url=raw.maybe("url_factchecking_website"),
        topic=_either(rows, "standardized_topics", "topic", "category"),
        group="uuid",
        meta=meta_column(rows, [c for c in listed("meta") if c in rows.columns]),
    )


def _either(frame: pl.DataFrame, *columns: str) -> pl.Series:
    """Of several columns the first that says something, row by row."""
    raw = Table("samples", frame)
    return pl.select(pl.coalesce(raw.maybe(name) for name in columns)).to_series()
