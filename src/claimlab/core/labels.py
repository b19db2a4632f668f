"""Label maps: from what a source wrote to true | false | mixed | unknown.

A map is data with a name and a version. Values are compared after folding (Unicode NFKC, case,
accents, whitespace, surrounding punctuation), unless the map says `exact`. A map may also read
several ratings in one value ("truth & fiction") and openings that a clause follows ("was true, but
..."). A value that no map knows is an error that lists the values and their counts; a caller may
accept them as unknown, and gets their number.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from claimlab.core import packaged
from claimlab.core.choices import one_of
from claimlab.core.errors import DataError, UnmappedLabels, UsageError, check_name, either
from claimlab.core.record import VERACITIES
from claimlab.core.toml_file import parse_toml, read_raw_toml, whole_number
from claimlab.core.types import JsonObject

Unmapped = Literal["error", "unknown"]
GENERAL = "ratings"
_LISTED = re.compile(
    r"(?:(?<!\s)\s+)?[,;/|+\[\]()]\s*"
)  # between ratings that may be of several raters
_JOINED = re.compile(r"(?:(?<!\s)\s+)?(?:&|\band\b)\s*")  # within what one rater says
_LONGEST_RATING = 80  # characters; longer values are sentences and no ratings
# A flag or a code says what it means only with its column: 1 may be of "is_fake" or of "verified".
_FLAGS = frozenset(("true", "false", "yes", "no", "right", "wrong", "positive", "negative"))
_FEWEST_LETTERS = 3  # of a word
_BLANK = frozenset(("", "nan", "null", "<na>", "#n/a"))  # what programs write into an empty cell


def check_unmapped(choice: str) -> Unmapped:
    """The user's choice of what to do with unknown labels, checked."""
    return one_of(get_args(Unmapped), choice, "unmapped")


@dataclass(frozen=True)
class LabelMap:
    """`verdicts` maps a raw value to a veracity; null and blank values always give null. Labels of
    another `task` (subjective or objective) say nothing of veracity: all of them give null.
    `openings` maps how a rating begins that goes on in words of its own ("was true": "mixed"); a
    map that is `joined` also reads several ratings in one value. Of pairs that are added to the
    general map, `stated` has the labels that they name, folded.
    """

    name: str
    verdicts: Mapping[str, str]
    version: int = 1
    exact: bool = False
    note: str = ""
    task: str | None = None
    openings: Mapping[str, str] = field(default_factory=dict)
    joined: bool = False
    stated: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        given = {*self.verdicts.values(), *self.openings.values()}
        wrong = sorted(given - {*VERACITIES})
        if wrong:
            raise DataError(
                f"The label map '{self.name}' maps to {wrong}.",
                f"Use only: {', '.join(VERACITIES)} in its values.",
            )
        seen: dict[str, tuple[str, str]] = {}
        for raw, verdict in self.verdicts.items():
            key = raw if self.exact else fold(raw)
            if key in seen and seen[key][1] != verdict:
                raise DataError(
                    f"The label map '{self.name}' gives '{seen[key][0]}' and '{raw}' different"
                    " verdicts, though they are the same once folded.",
                    "Keep one of them, or set exact = true.",
                )
            seen[key] = (raw, verdict)

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {raw if self.exact else fold(raw): v for raw, v in self.verdicts.items()}

    def verdict(self, raw: str | None) -> str | None:
        """The veracity of one raw value; None when the value is blank or the map does not know
        it.
        """
        if raw is None or not raw.strip():
            return None
        if self.exact:
            return self._folded.get(raw)
        rating = fold(raw)
        verdict = self._folded.get(rating)
        if verdict is not None or len(rating) > _LONGEST_RATING:
            return verdict
        return self._opened(rating) or (self._together(raw) if self.joined else None)

    def _opened(self, rating: str) -> str | None:
        """The veracity of a rating that goes on in words of its own."""
        openings = (o for o in self.openings if rating.startswith((f"{o} ", f"{o},", f"{o};")))
        return next((self.openings[opening] for opening in openings), None)

    def _together(self, raw: str) -> str | None:
        """The veracity of several ratings in one value; None unless every one is known."""
        text = html.unescape(raw).casefold()
        listed = [part for part in _LISTED.split(text) if part.strip(" .")]
        if len(listed) > 1:
            return combined([self.verdict(part) for part in listed])
        parts = _JOINED.split(text)
        return combined([*map(self.verdict, parts)], of_one=True) if len(parts) > 1 else None

    def apply(self, raw: pl.Series, *, unmapped: Unmapped = "error") -> Mapped:
        """Map a column. Blank values become null; unknown values raise or become "unknown", and are
        counted.
        """
        if self.task is not None:
            return Mapped(
                pl.Series("veracity", [None], dtype=pl.String).new_from_index(0, raw.len())
            )
        counts = raw.drop_nulls().alias("value").value_counts(name="n")
        values: dict[str, int] = dict(counts.iter_rows())
        verdicts_of = {v: self.verdict(v) for v in values}
        strangers = {v: n for v, n in values.items() if verdicts_of[v] is None and not is_blank(v)}
        if strangers and unmapped == "error":
            raise UnmappedLabels(self.name, strangers)
        table = {
            v: k if k is not None else (None if is_blank(v) else "unknown")
            for v, k in verdicts_of.items()
        }
        if not table:
            return Mapped(raw.cast(pl.String).alias("veracity"), strangers)
        numbers = raw.cast(pl.Enum(list(table))).to_physical()  # cheaper than a table of texts
        verdicts = pl.Series(list(table.values()), dtype=pl.String)
        return Mapped(verdicts.gather(numbers).alias("veracity"), strangers)

    def against(self, other: LabelMap) -> dict[str, str]:
        """The values that `other` knows too, and reads otherwise: value -> its verdict there."""
        theirs = {raw: other.verdict(raw) for raw in self.verdicts}
        return {raw: v for raw, v in theirs.items() if v not in (None, self.verdicts[raw])}


def combined(verdicts: Sequence[str | None], *, of_one: bool = False) -> str | None:
    """What several ratings of one claim say together, None where they leave it open: false
    outweighs partly false. `of_one` rater, a part that is true and another that is not are mixed.
    """
    of = set(verdicts)
    if None in of or not of:
        return None
    if of <= {"false", "mixed"} or len(of) == 1:
        return "false" if "false" in of else of.pop()
    return "mixed" if of_one and "true" in of else None


@dataclass(frozen=True)
class Mapped:
    veracity: pl.Series
    unmapped: dict[str, int] = field(default_factory=dict)


def is_blank(value: str) -> bool:
    """Whether a cell is empty, or holds the word of a program for that."""
    return value.strip().casefold() in _BLANK


@cache
def fold(value: str) -> str:
    """What two spellings of one rating have in common."""
    text = value.casefold()
    if "&" in text:
        text = html.unescape(text)
    if not value.isascii():
        text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", value).casefold())
        text = "".join(c for c in text if not unicodedata.combining(c)).replace("ı", "i")
    text = text.strip()
    if text.startswith("-") and text[1:].replace(".", "", 1).isdecimal():
        return text  # -1 is not 1
    text = text.replace("-", " ").replace("_", " ").replace("–", " ").replace("’", "'")
    return " ".join(text.split()).strip(" .!?:;\"'()[]")


def word_of(raw: str | None) -> str | None:
    """What a source wrote, folded, where it means the same in any column; None for flags, codes and
    null.
    """
    rating = fold(raw or "")
    letters = sum(character.isalpha() for character in rating)
    unspaced = letters and not rating.isascii()  # one character of Chinese is a word
    return rating if rating not in _FLAGS and (letters >= _FEWEST_LETTERS or unspaced) else None


def read_differently(labels: pl.DataFrame, others: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """The words that two tables of records both have as the label of the source, and to which each
    gives one verdict, another one: word -> the verdict of each.
    """
    meanings = [_meanings(table) for table in (labels, others)]
    one, two = meanings
    return {
        word: (one[word], two[word])
        for word in sorted(one)
        if two.get(word, one[word]) != one[word]
    }


def _meanings(labels: pl.DataFrame) -> dict[str, str]:
    """What each word means in one table, where it means one thing."""
    verdicts: dict[str, set[str]] = {}
    distinct = labels.select("label_raw", "veracity").drop_nulls().unique(maintain_order=True)
    for raw, veracity in distinct.iter_rows():
        word = word_of(raw)
        if word is not None:
            verdicts.setdefault(word, set()).add(veracity)
    return {word: next(iter(given)) for word, given in verdicts.items() if len(given) == 1}


@cache
def general() -> LabelMap:
    """The map for fact-checkers' ratings in many languages."""
    return load_map(GENERAL)


def load_map(source: Mapping[str, str] | str | Path) -> LabelMap:
    """A built-in map by name, a TOML file (name, version, exact, and a table [verdicts]), or pairs
    such as "0=true,1=false" or {0: "true", 1: "false"}, which are added to the general map."""
    if isinstance(source, Mapping):
        return _of_pairs({str(raw): str(verdict) for raw, verdict in source.items()})
    if not isinstance(source, str | Path):
        raise UsageError(
            f"`map` cannot be of type {type(source).__name__}.",
            "Pass a dict of labels and verdicts, 'LABEL=VERDICT,...', a TOML file or a name.",
        )
    path = Path(source)
    if is_own(source) and path.suffix != ".toml":
        pairs = [pair.rpartition("=") for pair in str(source).split(",")]
        return _of_pairs({raw: verdict.strip() for raw, _, verdict in pairs})
    if path.suffix != ".toml":
        check_name("label map", str(source), built_in_maps())
        return parse_map(packaged.text("claimlab.core", f"labels_{source}.toml"), str(source))
    if not path.is_file():
        raise DataError(f"There is no map file '{path}'.", "Check `map`.")
    return map_of(read_raw_toml(path), str(source))


def is_own(source: Mapping[str, str] | str | Path) -> bool:
    """Whether a map is the caller's own (pairs, or a file) rather than a name."""
    return isinstance(source, Mapping) or "=" in str(source) or Path(source).suffix == ".toml"


def _of_pairs(pairs: Mapping[str, str]) -> LabelMap:
    words = ",".join(f"{raw}={verdict}" for raw, verdict in pairs.items())
    if not all(raw.strip() and verdict in VERACITIES for raw, verdict in pairs.items()):
        raise DataError(
            f"The label map '{words}' cannot be read.",
            f"Write LABEL=MEANING, with commas between pairs, such as 0=true,1=false. A meaning is"
            f" {either(VERACITIES)}.",
        )
    own = {fold(raw): verdict for raw, verdict in pairs.items()}
    ratings = general()
    verdicts = ratings._folded | own
    stated = frozenset(own)
    return replace(ratings, name=words, verdicts=verdicts, version=1, note="", stated=stated)


def built_in_maps() -> list[str]:
    folder = resources.files("claimlab.core") / "data"
    names = (entry.name for entry in folder.iterdir())
    return sorted(
        n.removeprefix("labels_").removesuffix(".toml") for n in names if n.startswith("labels_")
    )


def parse_map(text: str, where: str) -> LabelMap:
    """A map from TOML text: [verdicts] is raw = verdict, or verdict = [raw, ...], with sub-tables
    by language; a raw label with "" has no verdict yet.
    """
    return map_of(parse_toml(text, where), where)


def map_of(raw: JsonObject, where: str) -> LabelMap:
    """A map from the tables of its file."""
    table = raw.get("verdicts")
    if not isinstance(table, dict) or not table:
        raise DataError(
            f"The map '{where}' has no table [verdicts].",
            'Add lines such as: "mostly true" = "true"',
        )
    return LabelMap(
        name=str(raw.get("name", Path(where).stem)),
        version=whole_number(raw, "version", 1, where),
        exact=bool(raw.get("exact", False)),
        note=str(raw.get("note", "")),
        verdicts=_flatten(table, where),
        openings={fold(o): v for o, v in _flatten(raw.get("openings", {}), where).items()},
        joined=bool(raw.get("joined", False)),
    )


def _flatten(table: Mapping[str, object], where: str) -> dict[str, str]:
    out = {}
    for key, value in table.items():
        if isinstance(value, str):
            if value:  # "" is a label that was not filled in yet
                out[key] = value
        elif isinstance(value, dict):
            out.update(_flatten(value, where))
        elif isinstance(value, list) and key in VERACITIES:
            out.update(dict.fromkeys(map(str, value), key))
        else:
            raise DataError(
                f"In the map '{where}', '{key}' is neither a verdict nor a list under one.",
                'Write "raw" = "verdict", or verdict = ["raw", ...] with one of:'
                f" {', '.join(VERACITIES)}.",
            )
    return out
