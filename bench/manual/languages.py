"""The page docs/languages.md: what is measured in each language of the table, from the code."""

from __future__ import annotations

import sys
from pathlib import Path

from claimlab.core import packaged
from claimlab.core.atomic import atomic_text
from claimlab.core.languages import CONFUSABLE, normalise, table
from claimlab.text.neardup.normal import is_brief
from claimlab.text.stopwords import ENGLISH, covered
from claimlab.text.vectors import LANGUAGES

# Scripts that write no spaces between words and for which ICU has a dictionary, by ISO 15924.
DICTIONARIES = {
    "Hans": "假",
    "Hant": "假",
    "Hani": "假",
    "Jpan": "嘘",
    "Thai": "ก",
    "Khmr": "ក",
    "Laoo": "ກ",
    "Mymr": "က",
}
HEAD = """# Languages

This reference says what is measured in each language of the [language table](text.md), and what
is not. The page is made from the code (`make docs`); a test fails when it is stale.

- **Words**: cut at spaces, or by ICU's dictionaries where a script writes none (`words`,
  `keywords`, `giveaways`, TF-IDF, reworded copies, first words). Near-duplicates are compared by
  5 characters, by 3 in Han and kana.
- **Stop words**: each record loses those of its own language. Where there is no list, function
  words count as words, and the check `keywords` says so.
- **Meaning**: the sentence vectors of the extra `vectors` know the language (`match`, `overlap
  --meaning`, `paraphrases`, `enrich`, the detector `multilingual`). Elsewhere texts are compared
  by words only, and each of these says "compared by words only: Hindi is outside the 16 languages
  of the sentence vectors".
- **Claim rules**: `enrich --extract offline` has word lists. Elsewhere it reads digits, capitals,
  punctuation and length, and where it finds no claim it says `not-measured`.
- **Identified**: by at least two of the three identifiers, so that their vote can name it;
  "alone" where pycld2 is the only one, "in a group" where identifiers confuse languages.

Not measured in any language: text that is romanised (Hinglish, Arabizi, Greeklish) or mixed is
not told apart; spaces between Thai words hide a copy from near-duplicates, but not from reworded
copies. Words of Tibetan, Javanese, Balinese and Tai scripts cannot be told apart, and what rests
on them is "not measured".

| language | code | script | words | stop words | meaning | claim rules | sentences | identified |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


def page() -> str:
    rules = packaged.toml("claimlab.enrich", "checkworthy.toml")
    by_two = identified()
    rows = []
    for code, facts in sorted(table().items(), key=lambda pair: pair[1].name):
        grouped = any(code in group for group in CONFUSABLE)
        cells = (
            facts.name,
            f"`{code}`",
            facts.script or "–",
            cut_by(facts.script),
            "yes" if code == ENGLISH or code in covered() else "–",
            "yes" if code in LANGUAGES else "–",
            "yes" if code in rules else "–",
            "yes",
            by_two.get(code, "–") + (", in a group" if grouped else ""),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return HEAD + "\n".join(rows) + "\n"


def cut_by(script: str | None) -> str:
    letter = DICTIONARIES.get(script or "")
    if letter is None:
        return "spaces"
    return "dictionary, by 3 characters" if is_brief(letter) else "dictionary"


def identified() -> dict[str, str]:
    """The languages that the identifiers list: "yes" where both lists have it."""
    import py3langid.langid
    import pycld2

    first = {normalise(code) for _, code in pycld2.LANGUAGES}
    model = py3langid.langid.LanguageIdentifier.from_model_file(py3langid.langid.MODEL_FILE)
    second = {normalise(code) for code in model.nb_classes}
    codes = (first | second) - {None}
    return {str(code): "yes" if code in first & second else "alone" for code in codes}


def main() -> None:
    atomic_text(Path(sys.argv[1]), page())


if __name__ == "__main__":
    main()
