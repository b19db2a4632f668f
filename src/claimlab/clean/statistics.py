"""Text statistics and URL domains per label, as papers print them for a cleaned dataset.

Averages are over records, and so is that of words per sentence. What a word and a sentence are is a
rule with a name. A recipe may take the statistics at a stage of its own,
by a rule of its own (step `describe`).

What counts as a word and as a sentence: rules with names, since a published average means little
without its rule.

`plain` is ours. `pieces` is how a published validation of Portuguese data counted (recipe
`pt-afc`); it is kept for reaching its figures again, oddities included:

- Ellipses and quotation marks go, two dots are one, a dash is a hyphen; a mark beside a word is set
  apart from it.
- Words are separated by whitespace, after ASCII punctuation is deleted. Where a text or sentence
  begins or ends with
  punctuation that was set apart, an empty piece is left, and counts.
- Host names count as URLs, but a URL right behind * or ? is not seen as one ("*https://…*"): it is
  a word of 3 letters.
- A sentence ends at . ! ? before a blank or an opening mark. Several in a row ("!!!") end several.

How many tokens a text has: words, or the pieces of the cl100k table that language models count
by.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import polars as pl

from claimlab.clean.step import labels
from claimlab.core import packaged
from claimlab.core.dataset import Dataset
from claimlab.core.errors import MissingExtra, UnreadableFile, UsageError
from claimlab.text.mask import scan_personal
from claimlab.text.tokens import count_words
from claimlab.text.urls import domains, find_urls, strip_urls

Counting = Literal["plain", "pieces"]

_AROUND = r"^\p{P}+|\p{P}+$"
_SENTENCE_END = r"[.!?…]+[\"'”’»)\]*_]*\s"
_LAST_END = r"[\p{P}\s]+$"


def measure(texts: pl.Series, counting: Counting = "plain") -> pl.DataFrame:
    """One row per text: url (whether it cites one), words, word_length, sentences,
    words_per_sentence.
    """
    return _RULES[counting](texts)


def addresses(texts: pl.Series, counting: Counting = "plain") -> pl.Series:
    """The addresses that each text cites. Under `pieces` only those with a scheme ("https://") have
    a domain.
    """
    if counting == "plain":
        return find_urls(texts)
    return _seen(texts).str.extract_all(r"(?i)[a-z][a-z0-9+.\-]*://[^\s()\[\]{}<>\"]+")


def _plain(texts: pl.Series) -> pl.DataFrame:
    """Words are separated by whitespace and stripped of punctuation; a sentence ends at . ! ? …
    before whitespace.
    """
    bare = strip_urls(texts)
    words = bare.str.extract_all(r"\S+").list.eval(pl.element().str.replace_all(_AROUND, ""))
    words = words.list.eval(pl.element().filter(pl.element() != ""))
    sentences = bare.str.replace(_LAST_END, "").str.count_matches(_SENTENCE_END) + 1
    return pl.DataFrame(
        {
            "url": find_urls(texts).list.len() > 0,
            "words": words.list.len().cast(pl.Int64),
            "word_length": words.list.eval(pl.element().str.len_chars()).list.mean(),
            "sentences": sentences.cast(pl.Int64),
            "words_per_sentence": words.list.len() / sentences,
        }
    )


_ASCII_PUNCTUATION = r"[!-/:-@\[-`{-~]"
_MARK = r"[!\"#%'()*+,./:;<=>?@\[\\\]^_`{|}~]"  # what is set apart: ASCII punctuation but - $ &
_UNSEEN = r"([*?])https?://\S+"
_CUT = "\x1e"  # between two sentences; the record separator does not occur in ordinary text


def _pieces(texts: pl.Series) -> pl.DataFrame:
    """See the top of this file."""
    seen = _seen(texts)
    bare = _set_apart(strip_urls(seen, hosts=True, tidied=False).str.strip_chars())
    sentences = _sentences(bare)
    words = _count_pieces(pl.col("text"))
    letters = (
        pl.col("text")
        .str.replace_all(_ASCII_PUNCTUATION, "")
        .str.replace_all(r"\s", "")
        .str.len_chars()
    )
    whole = bare.to_frame("text").select(words=words, word_length=letters / words)
    parts = (
        pl.DataFrame({"text": sentences}).with_row_index("row").explode("text").drop_nulls("text")
    )
    each = parts.group_by("row").agg(mean=_count_pieces(pl.col("text")).mean())
    rows = pl.DataFrame({"row": pl.arange(texts.len(), eager=True, dtype=pl.UInt32)})
    return whole.select(
        find_urls(seen, hosts=True).list.len().alias("url") > 0,
        "words",
        "word_length",
        sentences=sentences.list.len().cast(pl.Int64),
        words_per_sentence=rows.join(each, on="row", how="left", maintain_order="left")["mean"],
    )


def _seen(texts: pl.Series) -> pl.Series:
    return texts.str.replace_all(_UNSEEN, "${1}URL")


def _set_apart(texts: pl.Series) -> pl.Series:
    texts = texts.str.replace_all(r"…|\.\.\.|[‘’′“”\"`']", "").str.replace_all(
        _CUT, " ", literal=True
    )
    texts = texts.str.replace_all("..", ".", literal=True).str.replace_all("–", "-", literal=True)
    texts = texts.str.replace_all(rf"(\w)({_MARK})( |{_MARK}|$)", "$1 $2 $3")
    texts = texts.str.replace_all(rf"( |{_MARK})({_MARK})(\w)", "$1 $2 $3")
    return texts.str.replace_all(" +", " ").str.strip_chars()


def _sentences(texts: pl.Series) -> pl.Series:
    """The sentences of each text; a closing bracket stays with the sentence before it. Null for
    null.
    """
    cut = texts.str.replace_all(r"(^|[^.!?])([.!?])([.!?])", f"$1$2{_CUT}$3")
    cut = cut.str.replace_all(r"([.!?])([;*:@({\[])", f"$1{_CUT}$2")
    cut = cut.str.replace_all(r"([.!?](?:\s*[)\]}]+)?)\s+", f"$1{_CUT}")
    pieces = cut.str.split(_CUT).list.eval(pl.element().str.strip_chars())
    return pieces.list.eval(pl.element().filter(pl.element() != ""))


def _count_pieces(texts: pl.Expr) -> pl.Expr:
    return (
        texts.str.replace_all(_ASCII_PUNCTUATION, "").str.count_matches(r"\s+").cast(pl.Int64) + 1
    )


_RULES: dict[Counting, Callable[[pl.Series], pl.DataFrame]] = {"plain": _plain, "pieces": _pieces}


VARIABLE = "CLAIMLAB_CL100K"
# The published table, and the pattern by which texts are cut before its pieces are looked up.
CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


def count_tokens(texts: pl.Series, tokenizer: str, table: str | None = None) -> pl.Series:
    """The number of tokens of each text; null for null."""
    if tokenizer == "words":
        return count_words(texts)
    encoder = _cl100k(_table(table))
    counts = [None if t is None else len(encoder.encode_ordinary(t)) for t in texts]
    return pl.Series(texts.name, counts, dtype=pl.Int64)


def _table(file: str | None) -> Path:
    place = file or os.environ.get(VARIABLE)
    if not place:
        raise UsageError(
            "Counting cl100k tokens needs the file cl100k_base.tiktoken, and nothing is downloaded"
            " unasked.",
            f'Name the file in the environment variable {VARIABLE}, or use tokenizer = "words".',
        )
    if not Path(place).is_file():
        raise UnreadableFile(
            f"There is no token table '{place}'.", f"Check {VARIABLE} or the parameter 'table'."
        )
    return Path(place)


@cache
def _cl100k(table: Path) -> Any:
    try:
        import tiktoken
    except ImportError:
        raise MissingExtra("Counting cl100k tokens", "tokens") from None
    data = table.read_bytes()
    if hashlib.sha256(data).hexdigest() != CL100K_SHA256:
        raise UnreadableFile(
            f"'{table}' is not the published cl100k table.", "Get cl100k_base.tiktoken again."
        )
    try:
        ranks = {
            base64.b64decode(piece): int(rank)
            for piece, rank in (line.split() for line in data.splitlines())
        }
    except (ValueError, binascii.Error) as error:
        raise UnreadableFile(
            f"'{table}' cannot be read: {error}.", "Get cl100k_base.tiktoken again."
        ) from None
    return tiktoken.Encoding(
        "cl100k_base", pat_str=CL100K_PATTERN, mergeable_ranks=ranks, special_tokens={}
    )


TOP = 15
# The side tables in which a recipe that takes the statistics itself leaves them.
TEXTS, DOMAINS = "text_statistics", "domain_statistics"

# gov.br, gov.uk, gob.mx …, and what else is given to organs of state only (courts, parliaments,
# forces in Brazil).
_STATE = r"^.*\b((?:gov|gob|gouv)\.[a-z]{2})$"
_STATE_OF_BRAZIL = r"^.*\b(?:jus|leg|mp|def|mil|tc)\.br$"


@dataclass(frozen=True)
class Statistics:
    """`texts`: a row per label. `domains`: the most cited domains, with how often records of each
    label cite them. `personal`: how many records hold mail addresses, phone numbers and @handles.
    """

    texts: pl.DataFrame
    domains: pl.DataFrame
    personal: pl.DataFrame


def describe(dataset: Dataset, *, top: int = TOP) -> Statistics:
    """The statistics that the recipe took, or else those of the texts as they were before URLs were
    taken out.
    """
    taken = dataset.tables
    personal = scan_personal(dataset.records["text"])
    if TEXTS in taken and DOMAINS in taken:
        return Statistics(taken[TEXTS], taken[DOMAINS], personal)
    return Statistics(
        text_statistics(dataset.records), domain_statistics(dataset.records, top=top), personal
    )


def originals(records: pl.DataFrame) -> pl.Series:
    """The texts with their URLs, where a step has removed those."""
    stored = pl.col("meta").str.json_path_match("$.original_text")
    return records.select(text=pl.coalesce(stored, "text")).to_series()


def domain_statistics(
    records: pl.DataFrame, *, top: int = TOP, counting: Counting = "plain"
) -> pl.DataFrame:
    """domain, mentions, and how many of them have each label. All sites of one state are one
    domain.
    """
    cited = pl.DataFrame({"label": labels(records), "url": addresses(originals(records), counting)})
    cited = cited.drop_nulls("label").explode("url").drop_nulls("url")
    # A domain, or the site or state that it is a part of: each ministry has a name of its own under
    # gov.br.
    sites = packaged.toml("claimlab.clean", "spellings.toml")["short_links"]
    whole = domains(cited["url"]).replace(sites).str.replace(_STATE, "$1")
    named = cited.with_columns(domain=whole.str.replace(_STATE_OF_BRAZIL, "gov.br"))
    cited = named.drop_nulls("domain")
    every = sorted(cited["label"].unique())
    table = cited.group_by("domain").agg(
        pl.len().cast(pl.Int64).alias("mentions"),
        *((pl.col("label") == name).sum().cast(pl.Int64).alias(name) for name in every),
    )
    return table.sort(["mentions", "domain"], descending=[True, False]).head(top)


def text_statistics(records: pl.DataFrame, *, counting: Counting = "plain") -> pl.DataFrame:
    """label, records, % with a URL, words, characters per word, sentences, words per sentence."""
    texts = originals(records)
    rows = measure(texts, counting).with_columns(text=texts, label=labels(records))
    return (
        rows.drop_nulls(["text", "label"])
        .group_by("label")
        .agg(
            pl.len().cast(pl.Int64).alias("records"),
            (100 * pl.col("url").mean()).alias("url_percent"),
            pl.col("words", "word_length", "sentences", "words_per_sentence").mean(),
        )
        .sort("label")
    )
