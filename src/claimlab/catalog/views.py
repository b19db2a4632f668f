"""A dataset's card in words, as blocks of a page and as JSON. The terminal and the documentation
show these blocks; nothing here knows how they look.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from claimlab.catalog.cards import about
from claimlab.catalog.decay import in_words, known_decay
from claimlab.catalog.entry import MARKS, Card, Entry, PublishedScores, loader_state
from claimlab.catalog.front import everything
from claimlab.catalog.notes import differences, published_rows
from claimlab.catalog.sources import sources_of
from claimlab.core.labels import LabelMap
from claimlab.core.record import VERACITIES
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.pages.blocks import (
    Block,
    Cell,
    Column,
    Items,
    Section,
    Table,
    Text,
    Tone,
    decimal,
)
from claimlab.pages.terminal import bar

BAR_COLUMNS = 24
VALUES_SHOWN = 12
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
        "available": sources_of(entry.card.name) is not None,
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
        "verdict_maps": {key: map_json(verdicts) for key, verdicts in entry.maps.items()},
    }


def map_json(verdicts: LabelMap) -> JsonObject:
    return {
        "name": verdicts.name,
        "version": verdicts.version,
        "exact": verdicts.exact,
        "note": verdicts.note,
        "verdicts": dict(verdicts.verdicts),
    }


def from_where(name: str) -> str:
    """How its files can be had, by name or by hand."""
    sources = sources_of(name)
    if sources is None:
        return "by hand: see how to get it"
    size = "" if sources.size is None else f", {sources.size / 1e6:,.1f} MB"
    places = " and ".join(source.from_.partition("@")[0] for source in sources.sources)
    return f"by name: {several(sources.number, 'file')}{size} of {places}"


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
    pairs = [
        ("Size", f"{card.size:,}" if card.size is not None else NOT_KNOWN),
        ("Kind", ", ".join(card.modality)),
        ("Topic", card.topic),
        ("Region", card.region or NOT_KNOWN),
        ("Languages", language_names(card)),
        ("Data from", period(card)),
        ("Labels are about", card.task),
        ("Labelled by", card.labelling or NOT_KNOWN),
        ("Evidence", "comes with it" if card.has_evidence else "none comes with it"),
        ("Licence", card.licence or "not known"),
        ("In the guide (CDL)", SURVEY_WORDS[card.survey] if card.survey else "no"),
        ("Loader", LOADER_WORDS[loader_state(entry)]),
        ("Files", from_where(entry.card.name)),
        ("Contains or is in", ", ".join(relatives(card))),
        ("Decay", _decay(left) if left else ""),
    ]
    return rows(pair for pair in pairs if pair[1])


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
        (name, Cell(f"{value:.2f}%", sort=value), bar(value / 100, BAR_COLUMNS))
        for name, value in card.shares.model_dump(exclude_none=True).items()
    ]
    return [Table(("", "", ""), bars, sortable=False)]


def mark_cell(card: Card, mark: str) -> Cell:
    grade = getattr(card.quality, MARKS[mark], None)
    tones: dict[str | None, Tone] = {"pass": "pass", "fail": "fail", None: "not-measured"}
    return Cell(grade or "not assessed", tone=tones[grade])


def figures(published: PublishedScores | None) -> list[Block]:
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
    published_scores = [
        (what, decimal(score), decimal(baseline))
        for what, score, baseline in scores
        if score is not None
    ]
    columns = ("Predicted from", "Macro-F1", "Baseline")
    if not published_scores:
        return []
    return [Table(columns, published_scores, "In %, as published.", sortable=False)]


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
    columns: list[Column[str]] = [
        Column("Variant", str),
        Column("Rows", lambda name: _rows_of(entry, name)),
        Column("What it reads", lambda name: about(entry.variants[name])),
    ]
    note = (
        "The first is the default; choose another with `variant`. Rows: counted in the published"
        " files, or as stated."
    )
    return [Table.of(columns, entry.variants, note, sortable=False)]


def maps(entry: Entry) -> list[Block]:
    if not entry.maps:
        return []
    lines = [
        [key, verdict, raw]
        for key, verdicts in entry.maps.items()
        for verdict, raw in by_verdict(verdicts, VALUES_SHOWN)
    ]
    note = (
        "The first is the default; choose another with `map`. "
        f"In full: claimlab labels show {entry.card.name}/{next(iter(entry.maps))}"
    )
    notes = [f"{key}: {verdicts.note}" for key, verdicts in entry.maps.items() if verdicts.note]
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
