"""A chat message as plain text: without marks of bold and italics, bullets, ornaments, runs of
tags and laughter. Messages are decorated: their statement starts after the bullet and ends before
the tags.
"""

from __future__ import annotations

import re
from html import unescape

from claimlab.text.tokens import words

_BOLD_OPEN = re.compile(
    r"(?<![\w*_~])[*_~]+(?=[^\s*_~])"
)  # *bold*, _italic_, ~struck~, and any of them together
_BOLD_CLOSE = re.compile(r"(?<=[^\s*_~])[*_~]+(?![\w*_~])")
_LONE = re.compile(r"(?<!\w)[*_~`]+(?!\w)")
_ORNAMENT = re.compile(
    r"[\u2190-\u21ff\u2300-\u27bf\u2900-\u2bff\u3010\u3011\ufe0f\u200d\u20e3]|[=#~_.\-]{5,}|\${2,}"
)
_BULLET = re.compile(
    r"^\s*(?:[-–—•·▪►»>+]+|\(?(?:\d{1,2}|[ivx]{1,4}|[a-e])[).ºª°](?=\s)|\d{1,2}\s?[-–)](?=\s?[^\W\d]))\s*",
    re.IGNORECASE,
)
_VIA = re.compile(r"via", re.IGNORECASE)  # "via @velmore"
_TAGS_AT_START = re.compile(
    r"^\s*(?:RT\b:?\s*|@\w+:?\s*|[^()\n]{1,40}\(@\w+\)\s+(?i:tweetou|tweeted)\b:?\s*|#\w+:\s*|#\w+\s+(?=[#A-ZÀ-Þ]))+"
)  # "#news The mill burnt"
_TAG = re.compile(r"#(?=\w)")
_LAUGHTER = re.compile(
    r"(?<!\w)(?:k{3,}|(?:rs){2,}|(?:h[aeiou]){2,}h?|(?:ja){2,})(?!\w)[.!]*", re.IGNORECASE
)
_SITE = re.compile(
    r"(?<!\s)\s+[|»]\s.*$|(?<=\w)\s+[-–—]\s+[A-ZÀ-Þ][\w.]*(?:\s[A-ZÀ-Þ][\w.]*){0,2}\s?$"
)  # "Headline | Section | Site", " - Site"
_BROKEN = re.compile(
    r"(?<!\?)\?*\ufffd+|(?<!\S)\?{2,}(?=\w)"
)  # what a wrong encoding left of quotation marks
_FILE = ("(arquivo anexado)", "(file attached)")  # a line of an exported chat
_STAMP = re.compile(
    r"^\[(?=[^\]]*\])[^\]]*\d:\d\d[^\]]*\]\s*(?:[^:\n]{1,40}:\s)?"
)  # "[2:36 PM, 11/06/2020] Ana: " of a copied chat
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|\[([^\[\]]*)\]\([^()\s]*\)")  # tags, links
# "R$ 2 , 5 milhões": an amount with a space in it
_AMOUNT = re.compile(r"(?<=[$€£])(\s?\d{1,3})(?:\s,\s?|,\s)(?=\d)")
# what is left of dashes and quotation marks of cp1252
_CP1252 = {code: bytes([code]).decode("cp1252") for code in range(0x91, 0x98)}  # quotes, dashes
# "Goods will be given to the poor O campeão agradeceu": a headline and a Portuguese sentence, but
# not "says that O campeão"
_LINKS = ("que", "com", "por", "para", "de", "em", "do", "da")
_WAITING = frozenset(
    (*_LINKS, "a", "o", "e", "as", "os", "um", "uma", "no", "na", "dos", "das", "the", "of", "and")
)
_NO_END = "".join(rf"(?<!\b{word})" for word in _LINKS)
_GLUED = re.compile(
    rf"(?<=[^\W_]){_NO_END}\s(?=(?:O|Os|Um|Uma)\s[a-zà-ÿ]{{4,}})"
    rf"|(?<=[a-zà-ÿ]{{2}}){_NO_END}(?<!vitamina)(?<!hepatite)(?<!influenza)(?<!gripe)"
    r"\s(?=A\s[a-zà-ÿ]{4,})"
)
_TAGGED = re.compile(r"^\[[^\[\]]{1,20}\]\s+(?=\S)")  # "[LIVE] The mill"
_ARTICLES = frozenset({"The", "A", "O", "As", "Os", "Um", "Uma"})
GLUED_HEADLINE_WORDS = 5  # words of such a headline
# words of a headline in capitals that a sentence may follow in the same line
CAPITALS_HEADLINE_WORDS = 4
_TIGHT_COMMA = re.compile(r"(?<=[^\W\d]),(?=[^\W\d])")
_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060\u2800\ufeff\u00ad]")
_LOOSE = re.compile(r"(?<![\s:;,|–—-])[\s:;,|–—-]+$")
_NO_SPACE = re.compile(
    r"(?<=[^\W\d_]{2})([.!?…]+)(?=[^\W\d_a-z][^\W\d_]*[a-z\s,])"
)  # "nowhere.The next"


def plain(text: str) -> str:
    """`text` without the marks of a chat; its lines stay, and a sentence that goes on in the next
    line is joined.
    """
    lines = [part for line in without_markup(text).splitlines() for part in _parted(_line(line))]
    joined: list[str] = []
    for line in lines:
        if joined and joined[-1] and _goes_on(joined[-1], line):
            joined[-1] = f"{joined[-1]} {line}"
        else:
            joined.append(line)
    return "\n".join(line for line in joined if line)


def _goes_on(line: str, after: str) -> bool:
    """Whether a sentence goes on in the next line: it begins with a small letter, or the line ends
    with a word that waits for the next ("to sell the")."""
    last = words(line)[-1]
    waits = last in _WAITING or (len(last) > 1 and last.lower() in _WAITING)
    return waits or (after[:1].islower() and line[-1] not in ".!?…:")


def without_markup(text: str) -> str:
    """`text` without tags, the addresses of links, and entities and bytes that stand for signs."""
    return _MARKUP.sub(r"\1", unescape(text)).translate(_CP1252)


def without_emphasis(text: str) -> str:
    """`text` without the marks of bold, italics and struck words."""
    return _BOLD_CLOSE.sub("", _BOLD_OPEN.sub("", text))


def _line(line: str) -> str:
    if line.rstrip().endswith(_FILE):
        return ""
    bare = _LONE.sub(
        " ",
        without_emphasis(
            _BROKEN.sub("", _TAGGED.sub("", _STAMP.sub("", _INVISIBLE.sub("", line))))
        ),
    )
    bare = _TIGHT_COMMA.sub(", ", _AMOUNT.sub(r"\1,", bare))
    bare = _LAUGHTER.sub(" ", _ORNAMENT.sub(" ", bare))
    bare = _TAG.sub("", _TAGS_AT_START.sub("", _without_tags_at_end(_BULLET.sub("", bare))))
    return _LOOSE.sub(_kept_comma, " ".join(_NO_SPACE.sub(r"\1 ", _SITE.sub("", bare)).split()))


def _parted(line: str) -> list[str]:
    """A headline and the sentence that follows it in one line, apart: one in capitals, or one that
    an article with a capital follows."""
    written = words(line)
    at = next((i for i, word in enumerate(written) if any(map(str.islower, word))), 0)
    if at and len(written[at - 1]) == 1 and written[at][0].islower():
        at -= 1  # "MILL BURNS A miller said"
    kicker = at and written[at] in _ARTICLES  # "CRISIS The mill closes"
    if (
        (at < CAPITALS_HEADLINE_WORDS and not kicker)
        or not written[at][0].isupper()
        or written[at - 1][-1] in ",:("
    ):
        head, *rest = _GLUED.split(line, maxsplit=1)
        return [head, *rest] if len(words(head)) >= GLUED_HEADLINE_WORDS else [line]
    return [" ".join(written[:at]), " ".join(written[at:])]


def _without_tags_at_end(line: str) -> str:
    """A line up to its last tags (#news @velmore, via @anders). From the end on: a pattern would
    try every tag as the first one, which takes the square of their number."""
    length, end, may_be_via = len(line), _bare_end(line, len(line)), False
    while True:
        start = end
        while start and (line[start - 1].isalnum() or line[start - 1] == "_"):
            start -= 1
        if start < end and start and line[start - 1] in "#@":
            length = end = _bare_end(line, start - 1)
            may_be_via = end < start - 1
        elif may_be_via and _VIA.fullmatch(line, start, end):
            length = end = _bare_end(line, start)
            may_be_via = False
        else:
            return line[:length]


def _bare_end(line: str, end: int) -> int:
    """Where the whitespace before `end` begins."""
    while end and line[end - 1].isspace():
        end -= 1
    return end


def _kept_comma(end: re.Match[str]) -> str:
    """A comma at the end of a line says that the next one goes on; a dash that led to a link says
    nothing.
    """
    return "," if end.group().strip() == "," else ""
