"""The catalogue shown: a dataset's card in words, as blocks of a page and as JSON; and many cards
at once, as the list that a terminal shows.

The terminal and the documentation show these blocks; nothing here knows how they look.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from claimlab.catalog.cards import about
from claimlab.catalog.entry import MARKS, Card, Entry, LoaderState, Published, loader_state
from claimlab.catalog.front import everything
from claimlab.catalog.load import differences, published_rows
from claimlab.catalog.terms import in_words, known_decay
from claimlab.core.labels import LabelMap
from claimlab.core.record import VERACITIES
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import (
    Block,
    Cell,
    Column,
    Items,
    Section,
    Table,
    Text,
    Tone,
    cell,
    decimal,
)
from claimlab.pages.terminal import bar, grid

BAR = 24
SHOWN_VALUES = 12
NOT_KNOWN = "not known"
LOADER_WORDS = {
    "tested on the published files": "yes, tested on the published files",
    "not yet tested": (
        "yes, not yet tested on the published files: written from their documented layout"
    ),
    "none": "none",
}
SURVEY_WORDS = {
    "cdl-claims": "claims (assessed)",
    "cdl-paragraphs": "paragraphs (assessed)",
    "cdl-listed": "listed, not assessed",
}


def to_json(entry: Entry) -> JsonObject:
    """One dataset of `catalog --json`: every field of the card, and what its entry can load."""
    return {
        **entry.card.model_dump(mode="json"),
        "loader": loader_state(entry),
        "no_loader": entry.no_loader,
        "variants": list(entry.variants),
        "maps": list(entry.maps),
        "real_rows": dict(entry.real_rows),
        "real_labels": dict(entry.real_labels),
        "differences": differences(entry),
        "decay": known_decay(entry.card.name),
    }


def to_full_json(entry: Entry) -> JsonObject:
    """What `catalog show --json` prints: the same and the label maps in full."""
    return {
        **to_json(entry),
        "verdict_maps": {key: map_json(one) for key, one in entry.maps.items()},
    }


def map_json(verdicts: LabelMap) -> JsonObject:
    return {
        "name": verdicts.name,
        "version": verdicts.version,
        "exact": verdicts.exact,
        "note": verdicts.note,
        "verdicts": dict(verdicts.verdicts),
    }


def heading(entry: Entry) -> str:
    """The title, and the name that commands ask for."""
    return f"{entry.card.title} ({entry.card.name})"


def card_blocks(entry: Entry) -> list[Block]:
    """The whole page of a dataset, without its title."""
    card = entry.card
    sections: dict[str, Sequence[Block]] = {
        "Labels, as published": shares(card),
        # what was not assessed is said so, never left to look like a pass
        "Quality, as published": [
            rows((mark.capitalize(), mark_cell(card, mark)) for mark in MARKS)
        ],
        "Published figures": figures(card.published),
        "Cautions: errors in the sources, and traps": items(card.errata),
        "Where the published files differ from this card": items(differences(entry)),
        "How to get it": access(entry),
        "Variants": variants(entry),
        "Label maps": maps(entry),
        "Cite it as": [Text(card.citation)],
    }
    parts = [Section(title, blocks) for title, blocks in sections.items() if blocks]
    return [Text(card.summary), facts(entry), *parts]


def rows(pairs: Iterable[Sequence[str | Cell]]) -> Table:
    return Table(("", ""), list(pairs), sortable=False)


def items(sentences: Sequence[str]) -> list[Block]:
    return [Items(sentences)] if sentences else []


def facts(entry: Entry) -> Table:
    card, left = entry.card, known_decay(entry.card.name)
    known = [
        ("Size", f"{card.size:,}" if card.size is not None else NOT_KNOWN),
        ("Kind", ", ".join(card.modality)),
        ("Topic", card.topic),
        ("Region", card.region or NOT_KNOWN),
        ("Languages", language_names(card)),
        ("Data from", period(card)),
        ("Labels are about", card.task),
        ("Labelled by", card.labelling or NOT_KNOWN),
        ("Evidence", "comes with it" if card.has_evidence else "none comes with it"),
        ("Licence", card.licence or "none stated"),
        ("In the guide (CDL)", SURVEY_WORDS[card.survey] if card.survey else "no"),
        ("Loader", LOADER_WORDS[loader_state(entry)]),
        ("Contains or is in", ", ".join(relatives(card))),
        ("Decay", _decay(left) if left else ""),
    ]
    return rows(pair for pair in known if pair[1])


def _decay(left: JsonObject) -> str:
    if "score" not in left:
        return in_words(left)
    score, baseline = 100 * left["score"], 100 * left["baseline"]
    bias = f"the class from 'is missing' alone: macro-F1 {score:.1f} (baseline {baseline:.1f})"
    return f"{in_words(left)}; {bias}"


def relatives(card: Card) -> list[str]:
    """The other datasets of its family: do not learn from one and test on another."""
    cards = (entry.card for entry in everything()) if card.family else ()
    return [c.name for c in cards if c.family == card.family and c.name != card.name]


def shares(card: Card) -> list[Block]:
    """The published label shares, each with its bar."""
    if card.shares is None:
        return []
    bars = [
        (name, Cell(f"{value:.2f}%", sort=value), bar(value / 100, BAR))
        for name, value in card.shares.model_dump(exclude_none=True).items()
    ]
    return [Table(("", "", ""), bars, sortable=False)]


def mark_cell(card: Card, mark: str) -> Cell:
    grade = getattr(card.quality, MARKS[mark], None)
    tones: dict[str | None, Tone] = {"pass": "pass", "fail": "fail", None: "not-measured"}
    return Cell(grade or "not assessed", tone=tones[grade])


def figures(published: Published | None) -> list[Block]:
    if published is None:
        return []
    time = f"The {published.temporal_feature} alone" if published.temporal_feature else "Time alone"
    scores = [
        ("Zero-shot model, with search", published.search_f1, None),
        ("Zero-shot model, without", published.offline_f1, None),
        ("40 key words, true or false", published.keywords_tf, published.keywords_tf_baseline),
        ("40 key words, with mixed", published.keywords_tfm, published.keywords_tfm_baseline),
        (time, published.temporal, None),
    ]
    known = [
        (what, decimal(score), decimal(baseline))
        for what, score, baseline in scores
        if score is not None
    ]
    columns = ("Predicted from", "Macro-F1", "Baseline")
    return [Table(columns, known, "In %, as published.", sortable=False)] if known else []


def access(entry: Entry) -> list[Block]:
    card = entry.card
    blocks: list[Block] = [Text(card.access)]
    if card.homepage:
        safe = card.homepage if card.homepage.startswith(("https://", "http://")) else None
        blocks.append(rows([["Homepage", Cell(card.homepage, link=safe)]]))
    if entry.variants:
        blocks.append(Text(f"Then: claimlab load {card.name} FILE_OR_FOLDER -o DIR"))
    elif entry.no_loader:
        blocks.append(Text(f"There is no loader. {entry.no_loader}", kind="note"))
    return blocks


def variants(entry: Entry) -> list[Block]:
    if not entry.variants:
        return []
    lines = [
        (name, _rows_of(entry, name), about(loader)) for name, loader in entry.variants.items()
    ]
    note = (
        "The first is the default; choose another with `variant`. Rows: counted in the published"
        " files, or as stated."
    )
    return [Table(("Variant", "Rows", "What it reads"), lines, note, sortable=False)]


def maps(entry: Entry) -> list[Block]:
    if not entry.maps:
        return []
    lines = [
        [key, verdict, raw]
        for key, one in entry.maps.items()
        for verdict, raw in by_verdict(one, SHOWN_VALUES)
    ]
    note = (
        "The first is the default; choose another with `map`. "
        f"In full: claimlab labels show {entry.card.name}/{next(iter(entry.maps))}"
    )
    notes = [f"{key}: {one.note}" for key, one in entry.maps.items() if one.note]
    table = Table(("Map", "Verdict", "What the source wrote"), lines, note, sortable=False)
    return [table, *items(notes)]


def by_verdict(verdicts: LabelMap, most: int | None = None) -> list[tuple[str, str]]:
    """(verdict, the raw values that give it); over `most` values the rest is counted."""
    values: dict[str, list[str]] = {verdict: [] for verdict in VERACITIES}
    for raw, verdict in verdicts.verdicts.items():
        values[verdict].append(raw)
    return [(verdict, ", ".join(_first(raw, most))) for verdict, raw in values.items() if raw]


def _first(values: list[str], most: int | None) -> list[str]:
    more = len(values) - len(values[:most])
    return [*values[:most], f"and {more} more"] if more else values


def language_names(card: Card) -> str:
    from claimlab.core.languages import describe

    named = [lang.name if (lang := describe(code)) else code for code in card.languages]
    count = card.language_count
    if not named:
        return f"{count}, not named" if count else NOT_KNOWN
    return ", ".join(named) + (f" ({count} in all)" if count and count != len(named) else "")


def period(card: Card) -> str:
    if card.time_start is None and card.time_end is None:
        return NOT_KNOWN
    return f"{card.time_start or '?'} to {card.time_end or '?'}"


def years(card: Card) -> str:
    """The span in years, for a narrow column."""
    first, last = (card.time_start or "?")[:4], (card.time_end or "?")[:4]
    return "–" if first == last == "?" else first if first == last else f"{first}–{last}"


def _rows_of(entry: Entry, variant: str) -> Cell:
    """Rows counted in the published files, else as stated by who publishes them."""
    counted, stated = entry.real_rows.get(variant), published_rows(entry, variant)
    if counted is not None:
        return Cell(f"{counted:,}", sort=counted)
    return Cell("–", sort=-1) if stated is None else Cell(f"{stated:,} stated", sort=stated)


WORK = re.compile(
    r"(?:[a-z ]+: |after |\w[\w ]* as in )?(?P<who>[^(]*?) ?\((?P<year>\d{4})\), (?P<rest>.+)"
)
UNDATED = re.compile(r"(?P<who>.+? and [^,]+), (?P<year>)(?P<rest>.+)")
SPECIAL = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"})


@dataclass(frozen=True)
class Work:
    authors: tuple[str, ...]
    year: str | None
    title: str
    venue: str | None


def works(citation: str) -> list[Work]:
    """The works that a citation names; one without authors of its own has those of the work before
    it.
    """
    out: list[Work] = []
    for part in re.split(r"; (?=[^;]*\(\d{4}\), )", citation.strip().rstrip(".")):
        match = WORK.fullmatch(part) or UNDATED.fullmatch(part)
        if match is None:
            continue
        title, _, venue = match["rest"].rpartition(", ")
        authors = _authors(match["who"]) or (out[-1].authors if out else ())
        out.append(Work(authors, match["year"] or None, title or venue, venue if title else None))
    return out


def bibtex(card: Card) -> str:
    """An entry for each work; the page of the dataset is the address of the first."""
    entries = []
    for number, work in enumerate(works(card.citation)):
        fields = {
            "author": " and ".join(f"{{{a}}}" if " " in a else a for a in work.authors),
            "title": f"{{{work.title.translate(SPECIAL)}}}",
            "year": work.year,
            "howpublished": work.venue and work.venue.translate(SPECIAL),
            "url": card.homepage if number == 0 else None,
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        entries.append("\n".join([f"@misc{{{_key(work, card.name)},", *lines, "}"]))
    return "\n\n".join(entries)


def _authors(text: str) -> tuple[str, ...]:
    text = text.replace(" et al.", ", others").replace(" and ", ", ")
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _key(work: Work, dataset: str) -> str:
    first = unicodedata.normalize("NFKD", work.authors[0] if work.authors else "")
    letters = "".join(c for c in first.lower() if c.isascii() and c.isalpha())
    return f"{letters}{work.year or ''}-{dataset}"


# columns; at least this wide, there is room for two spaces between columns and for long names
ROOMY = 100
LONG_NAME = 24
# what is left of these, before they are left out in turn
CAN_GIVE = {"Title": 16, "Kind": 6, "Lang.": 5, "Topic": 6}
SIGNS = {"pass": "✓", "fail": "✗", "not assessed": "·"}
LEGEND = (
    "K, T, F: published verdicts on keywords, time and feasibility (✓ pass, ✗ fail, · not"
    " assessed).",
    "Loader: 'tested' on the published files, 'not yet' tested on them, or 'none'.",
)


def listing(entries: Sequence[Entry], *, width: int, colour: bool = False) -> list[str]:
    """One line per dataset, in `width` columns; the name is never cut, since other commands ask for
    it.

    In a narrow terminal the few long names take a line of their own, so that they do not squeeze
    every other column.
    """
    gap, long = (2, width) if width >= ROOMY else (1, LONG_NAME)
    name = Column[Entry]("Name", lambda e: e.card.name if len(e.card.name) <= long else "")
    columns = [name, *LISTED]
    for head in [*CAN_GIVE, "Years"]:
        if _least(Table.of(columns, entries)) + gap * (len(columns) - 1) <= width:
            break
        columns = [column for column in columns if column.head != head]
    table = Table.of(columns, entries)
    whole = [head for head in table.columns if head not in CAN_GIVE]
    first, *lines = grid(table, width=width, colour=colour, whole=whole, cut=True, gap=gap)
    out = [first]
    for entry, line in zip(entries, lines, strict=True):
        out += [line] if name.of(entry) else [entry.card.name, line]
    return out


def _least(table: Table) -> int:
    """The columns that a table needs when all that can give have given."""
    natural = [
        max(len(cell(value).text) for value in [head, *(row[i] for row in table.rows)])
        for i, head in enumerate(table.columns)
    ]
    return sum(CAN_GIVE.get(head, wide) for head, wide in zip(table.columns, natural, strict=True))


def _sign(mark: str, entry: Entry) -> Cell:
    grade = mark_cell(entry.card, mark)
    return Cell(SIGNS[grade.text], sort=grade.text, tone=grade.tone, title=grade.text)


def rounded(size: int | None) -> str:
    """A size in few columns: exact below ten thousand, else to three figures."""
    if size is None:
        return "–"
    if size < 10_000:
        return f"{size:,}"
    unit, letter = (1_000_000, "M") if size >= 999_500 else (1_000, "k")
    return f"{size / unit:.{0 if size >= 100 * unit else 1}f}{letter}"


def languages(card: Card) -> str:
    """Codes of one or two languages, else how many there are."""
    count = max(len(card.languages), card.language_count or 0)
    if card.languages and count <= 2:
        return ", ".join(card.languages)
    return str(count or "–")


SIGNED = tuple(Column[Entry](mark[0].upper(), partial(_sign, mark)) for mark in MARKS)
LOADERS: dict[LoaderState, Cell] = {
    "tested on the published files": Cell("tested"),
    "not yet tested": Cell("not yet", tone="warn"),
    "none": Cell("none", tone="not-measured"),
}
LISTED: tuple[Column[Entry], ...] = (
    Column("Title", "card.title"),
    Column("Size", lambda e: Cell(rounded(e.card.size), sort=float(e.card.size or 0))),
    Column("Kind", "card.modality", ", ".join),
    Column("Topic", "card.topic"),
    Column("Lang.", "card", languages),
    Column("Years", "card", years),
    *SIGNED,
    Column("Loader", loader_state, LOADERS.get),
)
