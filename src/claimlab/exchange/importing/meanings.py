"""What labels mean where the map does not say: codes that go with words in another column, and the
known word that an unknown one is nearest to.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import polars as pl

from claimlab.core.errors import Choice
from claimlab.core.labels import LabelMap, fold
from claimlab.core.words import several_of
from claimlab.exchange.importing.ladder import SHARES
from claimlab.exchange.importing.profile import DECIDED
from claimlab.exchange.importing.profile import LABEL_VALUES as CODES
from claimlab.exchange.vocabulary import (
    ALL_FALSE,
    ALL_TRUE,
    SAYS_NO,
    SAYS_YES,
    SUSPICIONS,
    fold_name,
)

FEW_UNKNOWN_SHARE = SHARES["few_unknown"]  # of the labelled rows: unknown labels may stay null
LEAST_LIKENESS = 0.85  # likeness at which a known word is suggested
MOST_WORD_VALUES = 60  # values of a column of words
SURE_SHARE = SHARES["words_of_code"]  # of the rows of a code that go with one verdict
LEAST_ROWS_OF_CODE = 5
ROWS_COMPARED = 20_000
LABELS_NAMED = 8  # labels that are named in an option to copy; more of them need a file
_CODE = re.compile(r"-?\d{1,3}(\.0)?")
# characters of a code, and of what a text says after a name; mentions of the name
CODE_CHARACTERS, PASSAGE_CHARACTERS, MENTIONS_READ = 12, 400, 20
# Nothing here is unbounded: anyone may have written the text.
_QUOTES = r"[\"'`*\s]{0,4}"
_EQUALS = r"={1,3}>?|:|\(|[-\u2012-\u2015\u2192]{1,2}>?"
_MEANS = (
    rf"{_EQUALS}|\||(?:is|are|means?|for|if|as|denotes?|indicates?|represents?|stands for|refers to"
    r"|corresponds to)\b"
)
_PHRASE = r"([^\n,;:=|()\d]{2,60})"
_MISSING = frozenset(("", "na", "n/a", "nan", "none", "null"))  # folded: ? and - are empty, too
_NEGATIONS = frozenset(
    ("not", "no", "non", "nicht", "kein", "pas", "nao", "nie", "ne", "не", "غير")
)


def nearest(value: str, verdicts: LabelMap) -> tuple[str, str] | None:
    """The known word that a label is most like, and its verdict. "not supported" is not like
    "supported": a word more may turn the meaning round.
    """
    folded = fold(value)
    known = {fold(word): (word, verdict) for word, verdict in verdicts.verdicts.items()}
    joined = {word.replace(" ", ""): word for word in known}
    if (same := joined.get(folded.replace(" ", ""))) is not None:
        return known[same]
    alike = [
        word
        for word in known
        if len(word.split()) == len(folded.split())
        and not (folded.endswith(word) or word.endswith(folded))  # unreliable is not reliable
    ]
    near = difflib.get_close_matches(folded, alike, n=1, cutoff=LEAST_LIKENESS)
    return known[near[0]] if near and len(folded) > 3 else None


def verdict_word(name: str, verdicts: LabelMap) -> str | None:
    """The word for a verdict in the name of a file or in an id, its innermost part first:
    news/fake-12 -> fake.
    """
    for part in reversed(PurePosixPath(name).parts):
        if verdicts.verdict(part) is not None:
            return part
        words = [w for w in fold_name(part).split() if verdicts.verdict(w) is not None]
        if len({verdicts.verdict(w) for w in words}) == 1:
            return words[0]
    return None


def codes_by_words(
    frame: pl.DataFrame, label: str, columns: Sequence[str], verdicts: LabelMap, *, flag: bool
) -> LabelMap | None:
    """The map of codes that go with words for verdicts in another column: in ids, in the names of
    files, or in a column of ratings. The name of the map is the evidence. A `flag` may be written
    as true and false.
    """
    rows = frame.drop_nulls(label)
    rows = rows.gather_every(max(1, rows.height // ROWS_COMPARED))
    codes = rows[label]
    if not flag and any(verdicts.verdict(code) is not None for code in codes.unique()):
        return None
    own = {fold(code) for code in codes.unique()} if flag else set()
    for column in columns:
        values = rows[column].drop_nulls().unique()
        words = {
            value: verdict_word(value, verdicts) for value in values.head(ROWS_COMPARED).to_list()
        }
        # a copy of a flag says nothing of it
        words = {value: word for value, word in words.items() if fold(word or "") not in own}
        meaning = {value: verdicts.verdict(word) for value, word in words.items() if word}
        if len({v for v in meaning.values() if v in DECIDED}) < 2:
            continue
        beside = rows[column].replace_strict(meaning, default=None, return_dtype=pl.String)
        table = _meanings(codes, beside)
        if table is not None:
            evidence = ", ".join(
                f"{code} is {verdict} ({several_of(n, of, 'row')})"
                for code, (verdict, n, of) in sorted(table.items())
            )
            return replace(
                verdicts,
                name=f"{label}: by the words in '{column}', {evidence}",
                verdicts={code: verdict for code, (verdict, _, _) in table.items()},
                version=1,
                exact=True,
            )
    return None


def codes_in_words(
    text: str, column: str, codes: Sequence[str], verdicts: LabelMap
) -> dict[str, str] | None:
    """The words for each code by a text that says them of every one: "1 = fake, 0 = real", "1 for
    fake news", a table, or a line for each. What follows the name of the column counts first.
    """
    if not 2 <= len(codes) <= CODES or max(map(len, codes)) > CODE_CHARACTERS:
        return None
    named = re.split(rf"(?i)(?<![\w.]){re.escape(column)}(?![\w.])", text, maxsplit=MENTIONS_READ)[
        1:
    ]
    for passage in (*(each[:PASSAGE_CHARACTERS] for each in named), text):
        words = {code: _said(passage, code, verdicts) for code in codes}
        if {*DECIDED[:2]} <= set(map(verdicts.verdict, words.values())):
            return None if None in words.values() else {c: str(word) for c, word in words.items()}
    return None


def _said(text: str, code: str, verdicts: LabelMap) -> str | None:
    """What a text says of a code: one verdict, or the same unknown words wherever it says any."""
    whole = rf"(?<![\w.-]){re.escape(code.removesuffix('.0'))}(?![\w.]|,\d)"
    after = rf"(?i){whole}{_QUOTES}(?:{_MEANS}){_QUOTES}{_PHRASE}"
    line = rf"(?im)^[^\w\n]{{0,9}}{whole}[^\w\n]{{1,9}}{_PHRASE}"
    before = rf"(?i){_PHRASE}{_QUOTES}(?:{_EQUALS}){_QUOTES}{whole}"
    phrases = [*re.findall(after, text), *re.findall(line, text)] or re.findall(before, text)
    meanings = {_first_words(phrase, verdicts) for phrase in phrases} - {None}
    known = {words for words in meanings if verdicts.verdict(words) is not None}
    agreed = {verdicts.verdict(words) for words in known} if known else meanings
    return min(map(str, known or meanings)) if len(agreed) == 1 else None


def _first_words(phrase: str, verdicts: LabelMap) -> str | None:
    """The first words of a phrase that the map knows, unless they are negated; or else all."""
    words = re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", phrase)
    for start in range(len(words)):
        for end in range(min(start + 4, len(words)), start, -1):
            if verdicts.verdict(" ".join(words[start:end])) is not None:
                negated = start and fold(words[start - 1]) in _NEGATIONS
                return None if negated else " ".join(words[start:end])
    return " ".join(words) or None


def legend_of(codes: pl.Series, rows: pl.DataFrame, verdicts: LabelMap) -> dict[str, str] | None:
    """What codes mean by a small table that lists each with a word for a verdict."""
    known = codes.drop_nulls().unique().to_list()
    few = max(2, rows.height // 2) <= len(known) <= min(CODES, codes.count() // 2)
    if not few or not all(map(_CODE.fullmatch, known)):
        return None
    for code in rows.columns:
        for word in rows.columns:
            table = dict(rows.select(code, pl.col(word).alias(" ")).drop_nulls().iter_rows())
            read = {verdicts.verdict(meaning) for meaning in table.values()}
            if len(table) == rows.height and set(known) <= table.keys() and {*DECIDED[:2]} <= read:
                return table
    return None


def offered_maps(
    column: str, values: Sequence[str], unknown: Sequence[str], verdicts: LabelMap, *, pairs: bool
) -> list[Choice]:
    """The choices that say what unknown labels mean: codes by scales (of `pairs` of claim and
    evidence also in the order of FEVER), words by the known ones that they are like or hold, or as
    the opposite of the only other label.
    """
    if len(unknown) > LABELS_NAMED or set(",=") & set("".join(unknown)):
        return []
    near = [_likely(value, verdicts) for value in unknown]
    if all(near):
        return [_offered(unknown, near, "if that is so")]
    known = set(map(verdicts.verdict, values)) - {None, "unknown"}
    guesses: Mapping[str, Sequence[str]] = {}
    ordered = _codes(unknown)
    if not known and ordered:
        unknown, near = ordered, [None for _ in unknown]
        top = verdicts.verdict(_said(column, ordered[-1], verdicts))  # 5 = completely true
        guesses = _scales(unknown, fold_name(column), top, pairs=pairs)
    elif not any(near):
        unknown, guesses = _as_opposites(values, unknown, known)
    choices = [_offered(unknown, meanings, words) for words, meanings in guesses.items()]
    if len(unknown) == 2 and choices:
        return choices
    words = "after you put in what each means: true, false, mixed or unknown"
    return [*choices, _offered(unknown, near, words)]


def flag_maps(column: str, values: Sequence[str]) -> list[Choice]:
    """The choices that say of a flag whether yes means a true claim or a false one, the likelier
    first; what is neither yes nor no is unknown."""
    name = fold_name(column)
    of_false = any(f" {word} " in f" {name} " for word in ALL_FALSE | SUSPICIONS)
    ways = [("true", "false"), ("false", "true")]
    return [_flag_map(values, *way) for way in (ways[::-1] if of_false else ways)]


def says_what_yes_means(column: str) -> bool:
    """Whether a name says what a yes below it means, such as is_fake and is_true."""
    return fold_name(column) in ALL_FALSE | ALL_TRUE


def _flag_map(values: Sequence[str], yes: str, no: str) -> Choice:
    folded = {value: fold(value) for value in values}
    pairs = {
        v: yes if f in SAYS_YES else no if f in SAYS_NO else "unknown" for v, f in folded.items()
    }
    first = next((value for value, f in folded.items() if f in SAYS_YES), values[0])
    words = f"{first} means a {pairs[first]} claim"
    return Choice("map", ",".join(f"{value}={verdict}" for value, verdict in pairs.items()), words)


def _as_opposites(
    values: Sequence[str], unknown: Sequence[str], known: set[str | None]
) -> tuple[list[str], Mapping[str, Sequence[str]]]:
    """Unknown labels, those that stand for none last, and what they may mean where two labels are
    opposites or one is the opposite of those that are known.
    """
    answers = {value for value in values if fold(value) not in _MISSING}
    ordered = sorted(unknown, key=lambda value: (value not in answers, _sounds_false(value), value))
    if len(answers) != 2 and (len(unknown) > 1 or not known):
        return ordered, {}
    rest = ["unknown"] * len(unknown)
    return ordered, {w: [*m, *rest][: len(rest)] for w, m in _opposites(known).items()}


def _sounds_false(value: str) -> bool:
    """Whether a word of a label is one for falsehood, so that its opposite is offered as true."""
    return bool({fold_name(word) for word in re.findall(r"[^\W\d_]+", value)} & ALL_FALSE)


def _opposites(known: set[str | None]) -> Mapping[str, Sequence[str]]:
    """What the unknown ones of two labels may mean, where the other is true or false, or unknown
    too."""
    rest = [verdict for verdict in ("true", "false") if verdict not in known]
    if not known:
        return {"so": rest, "the other way round": rest[::-1]}
    return {"so": rest} if len(rest) == 1 else {}


def _offered(labels: Sequence[str], verdicts: Sequence[str | None], words: str) -> Choice:
    pairs = [(label, verdict or "unknown") for label, verdict in zip(labels, verdicts, strict=True)]
    if len(pairs) <= 2:
        words = ", ".join(f"{label} means {verdict}" for label, verdict in pairs)
        words += "" if all(verdicts) else " (or write true, false or mixed)"
    return Choice("map", ",".join(f"{label}={verdict}" for label, verdict in pairs), words)


def _likely(value: str, verdicts: LabelMap) -> str | None:
    """The verdict of the word that a label is like, or of one in it ("Support_Text")."""
    if (near := nearest(value, verdicts)) is not None:
        return near[1]
    word = None if _NEGATIONS & set(fold(value).split()) else verdict_word(value, verdicts)
    return verdicts.verdict(word)


def _codes(values: Sequence[str]) -> list[str]:
    """Codes in their order, after what stands for none; nothing where other words are among
    them."""
    codes = [value for value in values if fold(value) not in _MISSING]
    if len(codes) < 2 or not all(map(_CODE.fullmatch, codes)):
        return []
    return [value for value in values if value not in codes] + sorted(codes, key=float)


def _scales(
    codes: Sequence[str], name: str, top: str | None, *, pairs: bool
) -> Mapping[str, Sequence[str]]:
    """What codes in their order may mean, the likeliest first, and in words, where the name of the
    column may say what the `top` one means. A code below zero stands for no answer, as do words.
    """
    none = ["unknown" for code in codes if not _CODE.fullmatch(code) or float(code) < 0]
    n = len(codes) - len(none)
    up = ["false"] * (n // 2) + ["mixed"] * (n % 2 or n > 4)
    up += ["true"] * (n - len(up))
    scales = {
        "a high value means false": [*none, *up[::-1]],
        "a high value means true": [*none, *up],
    }
    if top == "true" or (n > 2 and not any(f" {word} " in f" {name} " for word in ALL_FALSE)):
        scales = dict(reversed(scales.items()))
    if n != 3 or none:
        return scales
    of_pairs = {
        "supported, refuted, not enough evidence": ["true", "false", "unknown"],
        "entailment, neutral, contradiction": ["true", "unknown", "false"],
    }
    return {**of_pairs, **scales} if pairs else {**scales, **of_pairs}


def _meanings(codes: pl.Series, beside: pl.Series) -> dict[str, tuple[str, int, int]] | None:
    """For each code its verdict, and in how many of its rows it goes with it; null unless each goes
    with one and they differ.
    """
    table: dict[str, tuple[str, int, int]] = {}
    for code in codes.unique().to_list():
        mine = beside.filter(codes == code)
        counts = mine.drop_nulls().value_counts(sort=True)
        if not counts.height or mine.len() < LEAST_ROWS_OF_CODE:
            return None
        verdict, n = counts.row(0)
        if n < SURE_SHARE * mine.len():
            return None
        table[code] = (verdict, n, mine.len())
    verdicts = [verdict for verdict, _, _ in table.values()]
    return table if {"true", "false"} <= set(verdicts) else None
