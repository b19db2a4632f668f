"""Plain English: phrases that read like a translation stay out of what users see.

Users see the strings of the code, the help of the command line, the templates of pages, the docs
and the README. The list is short; each entry has what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from parts import source

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "claimlab"
BANNED = {
    r"by lot": "at random",
    r"made-up": "synthetic",
    r"mend(s|ed|ing)?": "fix, repair",
    r"hangs? (on|together)": "depends on, is associated with",
    r"stands? (in|under|beside|almost|there)": "occurs, appears, is next to",
    r"hand(s|ed)? in": "pass in, argument",
    r"(?<!there )is no (?!longer|more |other )[a-z]+": "is not a valid ..., has no ...",
    r"from \S+ on(?=[,.;:)]|$)": "at least N, since DATE",
    r"from which on": "at least N",
    r"nobody|somebody|everybody": "no annotator, an annotator, all",
    r"gravest": "most severe",
    r"(can|could) be told(?! apart)|tells? apart": "can be detected, distinguishes",
    r"per cent": "%",
    r"another number of": "wrong number of",
    r"as usual|more usual|how usual": "as frequent",
    r"so many": "N",
    r"of theirs|in silence": "their own, without a message",
    r"unmet|has (not|never) met": "not tested",
    r"blanks": "whitespace",
    r"white space": "whitespace",
    r"traits?": "subgroup, property",
    r"pictures?": "figure, chart",
    r"never came|steps? in for": "is missing, replaces",
    r"press a column": "Click a column header",
    r"owed to": "depends on",
    r"put to the test": "test",
    r"(text|model|llm|search) door|the door": "interface",
}
MARKS = {
    r"\b(?:audit|evaluate|judge) what\?": "No dataset given.",
    r"\b(?!http)[a-z]+\(s\)": "1 record, 2 records: core/words.py",
    r"\d %(?![\w}])": "95%",
}
PATTERN = re.compile("|".join([rf"\b(?:{'|'.join(BANNED)})\b", *MARKS]), re.IGNORECASE)
GENERATED = {
    "datasets.md",
    "changelog.md",
    "python.md",
}  # of cards, which quote their sources; of what is read here
SOURCES = (SOURCE, ROOT / "simulate" / "src" / "claimlab_simulate")
VERBS = [SOURCE / "cli" / "verbs", SOURCES[1] / "verbs"]
# Words of others: what datasets contain, rules for texts, names in fixed formats.
QUOTED = ("catalog/readers/", "enrich/checkworthy.py", "generate/")


def strings(file: Path) -> Iterator[tuple[int, str]]:
    """The texts in a Python file: with docstrings only where the command line prints them as
    help.
    """
    tree = source.tree_of(file)
    skipped = set() if file.parent in VERBS else source.docstrings(tree)
    for line, text in source.strings(tree, skipped):
        if " " in text.strip():
            yield line, text


def lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page or template, without code."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        yield number, re.sub(r"`[^`]*`|\{%.*?%\}|^\$ .*", "", line)


def odd(texts: Iterator[tuple[int, str]]) -> list[str]:
    return [
        f"{at}: “{hit[0]}” in: {text.strip()[:120]}"
        for at, text in texts
        for hit in PATTERN.finditer(text)
    ]


def seen() -> list[Path]:
    code = [
        f
        for root in SOURCES
        for f in root.rglob("*.py")
        if not f.relative_to(root).as_posix().startswith(QUOTED)
    ]
    kinds = ("*.jinja", "*.html")
    templates = [f for root in SOURCES for kind in kinds for f in root.rglob(kind)]
    docs = [f for f in (ROOT / "docs").rglob("*.md") if f.name not in GENERATED]
    return sorted([*code, *templates, *docs, ROOT / "README.md"])


def test_no_odd_phrase_is_shown_to_users() -> None:
    texts = {
        file.relative_to(ROOT).as_posix(): strings if file.suffix == ".py" else lines
        for file in seen()
    }
    assert [
        f"{name}:{phrase}" for name, read in texts.items() for phrase in odd(read(ROOT / name))
    ] == []


@pytest.mark.parametrize(
    "phrase",
    [
        "Chosen by lot.", "3 record(s)", "It is no number.", "95 % interval", "In per cent.", "wrong from 4 on, never",
        "Nobody was named.", "Audit what?", "a word that stands in claims", "Label and source hang together.",
        "Nothing can be told of it.", "no model was handed in", "blanks", "Drawn in the picture.",
    ],
)  # fmt: skip
def test_a_planted_phrase_is_found(phrase: str, tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(
        f'def f():\n    """by lot"""\n    raise ValueError(f"{{x}}: {phrase} ")\n'
    )
    assert len(odd(strings(tmp_path / "planted.py"))) == 1
    (tmp_path / "planted.md").write_text(
        f"# Title\n\n{phrase} `by lot` is code.\n", encoding="utf-8"
    )
    assert len(odd(lines(tmp_path / "planted.md"))) == 1


@pytest.mark.parametrize(
    "phrase",
    [
        "There is no file 'x'.",
        "It is no longer there.",
        "from one day on",
        "95% of them",
        "recommended",
    ],
)
def test_good_english_is_not_an_alarm(phrase: str) -> None:
    assert odd(iter([(1, phrase)])) == []


# Docstrings and comments: fewer words, since a phrase there may be what the code is about.
DOCUMENTED = re.compile(
    r"\b(?:nobody|somebody|everybody|hangs? (?:on|together)|mend(?:s|ed|ing)?|by lot|hand(?:s|ed)? in|gravest"
    r"|tells? apart|stands? (?:in|under|beside|there|together)|from which on)\b",
    re.IGNORECASE,
)


def test_no_odd_phrase_documents_the_code() -> None:
    files = {f.relative_to(s).as_posix(): f for s in SOURCES for f in s.rglob("*.py")}
    assert [
        f"{name}:{number}: {line.strip()}"
        for name, file in sorted(files.items())
        if not name.startswith(QUOTED)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if DOCUMENTED.search(line)
    ] == []
