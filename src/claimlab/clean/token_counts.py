"""How many tokens a text has: words, or the pieces of the cl100k table that language models count
by.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from claimlab.core.errors import MissingExtra, UnreadableFile, UsageError
from claimlab.text.tokens import count_words

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
