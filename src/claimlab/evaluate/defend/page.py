"""The page of a defence: the paragraph to paste, the bar, then each part with its table."""

from __future__ import annotations

from collections.abc import Mapping

from claimlab.core.stats.interval import Interval
from claimlab.core.stats.ranks import rank_words
from claimlab.core.words import several
from claimlab.evaluate.defend.result import (
    FEATURES,
    MODEL,
    NOT_MEASURED,
    PERMUTATIONS,
    Copied,
    Defence,
)
from claimlab.pages.blocks import (
    Blocks,
    Cell,
    Column,
    Figure,
    Fold,
    Items,
    Report,
    Section,
    Table,
    Text,
    Value,
    excerpt,
    percent,
    points,
    points_span,
    probability,
    short,
    span,
)
from claimlab.pages.charts import bars
from claimlab.pages.folder import Contents
from claimlab.pages.look import colours
from claimlab.text.vectors import COSINE, COSINE_ACROSS

FILE, KIND = "defence.json", "defence"
SUBGROUPS_SHOWN = 10  # subgroups; the file has all
MISSING = Cell(NOT_MEASURED, tone="not-measured")
_LOOK = colours()
COLOURS = {
    "guessing": _LOOK["grey"],
    "shortcut": _LOOK["fail"],
    "own signal": _LOOK["pass"],
    "not fitted": _LOOK["inconclusive"],
    "to the ceiling": _LOOK["line"],
    "to 100%": _LOOK["line"],
}
METHOD = (
    f"The shortcut is the property ({', '.join(FEATURES)}) that answers best for held-out training"
    " records. It is fitted on training records only.",
    "With probability a an answer repeats the shortcut, with probability b it knows the label, and"
    " otherwise it is a guess; a and b have the largest likelihood. This attributes answers under a"
    " model. It does not say what caused them.",
    "Records on which a shortcut fails may just be harder. The control is a linear model of the"
    " characters of the text: where the difference stays among the records that it gets right, and"
    " among those that it gets wrong, difficulty does not explain it.",
    "Two texts are near-duplicates from a Jaccard similarity of 0.7 of their 5-grams, and"
    f" paraphrases from a cosine of {COSINE} of their sentence vectors ({COSINE_ACROSS} across"
    " languages). Two model readers called 42 to 66% of such pairs the same claim.",
    f"Subgroups are values of one property, frequent words, and pairs of these. {PERMUTATIONS}"
    " permutations, groups kept together, correct for their number (max-T).",
    "Intervals are 95%, from resamples of whole groups. The detectable difference is that of two"
    " detectors that are right on 80% of these records (power 80%).",
)


def contents(defence: Defence) -> Contents:
    """The folder: JSON, the page, the paragraph, and one row of a table."""
    return Contents(
        KIND,
        [page(defence)],
        data={FILE: defence.to_json()},
        paper_tables={"row.tex": [row_table(defence)]},
        files={"paragraph.txt": " ".join(defence.sentences()) + "\n"},
    )


def page(defence: Defence) -> Report:
    name = excerpt(defence.run.name, 80)
    blocks: Blocks = [
        Text(" ".join(defence.in_short()), "conclusion"),
        *bar(defence),
        row_table(defence),
        Items(defence.limits()),
        *sections(defence),
        Section("How these figures were made", [Items(METHOD)], anchor="method"),
        Fold("All of it in one paragraph", [Text(" ".join(defence.sentences()))]),
    ]
    return Report(f"What the score of {name} is made of", excerpt(defence.run.dataset, 80), blocks)


def sections(defence: Defence) -> list[Section]:
    """Shortcut, what was seen before, and where it fails: a table each, or why there is none."""
    return [
        Section("How much a shortcut explains", _shortcut(defence), anchor="shortcut"),
        Section("Seen before", _seen(defence), anchor="seen"),
        Section("Where it fails", _fails(defence), anchor="fails"),
    ]


def tables(defence: Defence) -> Blocks:
    """The tables of these sections alone, for the terminal, where the sentences come first."""
    return [
        Section(section.title, inside)
        for section in sections(defence)
        if (inside := [block for block in section.blocks if isinstance(block, Table)])
    ]


def row_table(defence: Defence) -> Table:
    """The run in one row, for a paper."""
    run, shares = defence.run, defence.copied.shares
    cells: dict[str, Value] = {
        "Run": excerpt(run.name, 50),
        "Macro-F1": _known(run.scores.macro_f1),
        "95% interval": span(run.intervals["macro_f1"]),
        **({"Rank": rank_words(defence.standing.ranks)} if defence.standing else {}),
        "Chance": _known(run.chance.best),
        "Detectable": _known(defence.detectable),
        "Ceiling": _known(defence.ceiling[0] if defence.ceiling else None),
        "Repeats shortcut": _known(shares.shortcuts[0][0] if shares else None),
        "Own signal": _known(shares.own[0] if shares else None),
        "Seen before": defence.seen.seen if defence.seen.why is None else MISSING,
        "Weak subgroups": len(defence.search.found) if defence.search.why is None else MISSING,
    }
    return Table(list(cells), [list(cells.values())], "Scores and shares in %.", sortable=False)


def bar(defence: Defence) -> Blocks:
    """The accuracy from chance to the ceiling, in parts; none where they were not measured."""
    parts = {segment.name: segment.share for segment in defence.copied.segments}
    ceiling = defence.run.ceiling.scores.get("accuracy") if defence.run.ceiling else None
    accuracy = defence.run.scores.accuracy or 0.0
    return stacked(defence.run.name, accuracy, ceiling and ceiling[0], parts) if parts else []


def stacked(run: str, accuracy: float, ceiling: float | None, parts: Mapping[str, float]) -> Blocks:
    """The bar of a run up to its noise ceiling; null where that is not measured."""
    top, name = (1.0, "to 100%") if ceiling is None else (ceiling, "to the ceiling")
    shares = {**parts, name: top - accuracy}
    drawn = [
        {"run": excerpt(run, 30), "part": part, "accuracy": 100 * max(0.0, share)}
        for part, share in shares.items()
    ]
    words = ", ".join(f"{part} {100 * share:+.1f}" for part, share in shares.items())
    caption = (
        f"Accuracy {100 * accuracy:.1f} in parts: {words} points. "
        + ("The noise ceiling is not measured, so the bar ends at 100. " if ceiling is None else "")
        + "A part below zero is not drawn."
    )
    chart = bars(
        drawn,
        category="run",
        value="accuracy",
        colour="part",
        colours={part: COLOURS[part] for part in shares},
        title="accuracy (%)",
    )
    return [Figure(chart, caption, caption, "parts")]


def _known(share: float | None) -> Value:
    return MISSING if share is None else percent(share)


def _counted(share: float | None, n: int) -> Cell:
    return MISSING if share is None else Cell(f"{100 * share:.1f} ({n:,})", sort=share)


def _shortcut(defence: Defence) -> Blocks:
    copied = defence.copied
    if copied.shares is None:
        return [Text(f"Not measured, because {copied.why}.", "warning")]
    first, own = copied.shares.shortcuts[0], copied.shares.own
    shares = _shares(
        {
            f"repeats the shortcut '{copied.feature}' (a)": first,
            "knows the label (b)": own,
            "guesses": (1 - first[0] - own[0], None),
        },
        f"On {several(copied.shares.n, 'record')} in {several(copied.shares.groups, 'group')}. The"
        f" shortcut alone has an accuracy of {100 * (copied.accuracy or 0):.1f}.",
    )
    control = Table.of(
        [
            Column("Among", "among"),
            Column(
                "Shortcut right",
                lambda difference: _counted(difference.where_right, difference.right),
            ),
            Column(
                "Shortcut wrong",
                lambda difference: _counted(difference.where_wrong, difference.wrong),
            ),
            Column("Difference", "difference", points, MISSING),
            Column("95% interval", "interval", points_span, MISSING),
        ],
        copied.differences,
        "Accuracy (and records) where the shortcut is right and where it is wrong: among all"
        " records, and as a control for difficulty among those that an independent model gets right"
        " or wrong. Not measured with fewer than 30 records on a side.",
        sortable=False,
    )
    measured = any(difference.difference is not None for difference in copied.differences)
    few = "Whether difficulty explains it is not measured: fewer than 30 records on a side."
    return [shares, Text(MODEL), *_together(copied), control if measured else Text(few, "note")]


def _together(copied: Copied) -> Blocks:
    """The shares of all shortcuts at once; none where there is only one."""
    together = copied.together
    if together is None:
        return []
    parts = {
        f"repeats '{name}'": share
        for name, share in zip(copied.features, together.shortcuts, strict=True)
    }
    note = "All shortcuts at once. Two that differ on fewer than 30 records count as one."
    return [_shares({**parts, "knows the label": together.own}, note)]


def _shares(parts: Mapping[str, tuple[float, Interval | None]], caption: str) -> Table:
    rows = [(part, percent(share), span(ends)) for part, (share, ends) in parts.items()]
    return Table(["Part", "Share of answers", "95% interval"], rows, caption, sortable=False)


def _seen(defence: Defence) -> Blocks:
    blocks: Blocks = []
    for seen in (defence.seen, *defence.known):
        blocks.append(Text(seen.sentence(), "warning" if seen.why is not None else "plain"))
        table = Table.of(
            [
                Column("Test records", "value"),
                Column("n", "n"),
                Column("Accuracy", "accuracy", percent, MISSING),
                Column("Macro-F1", "macro_f1", percent, MISSING),
                Column("95% interval", "macro_f1_interval", span, MISSING),
            ],
            seen.cells,
            "A side with fewer than 30 records, or 5 of a class, is not shown.",
            sortable=False,
        )
        blocks += [table] if seen.cells else []
    return blocks


def _fails(defence: Defence) -> Blocks:
    weak = defence.search.found
    others = [Text(part.sentence()) for part in (defence.alarms, defence.citations) if part]
    if not weak:
        measured = defence.search.why is None
        return [Text(defence.search.sentence(), "plain" if measured else "warning"), *others]
    table = Table.of(
        [
            Column("Subgroup", "name", short(90)),
            Column("n", "n"),
            Column("Accuracy", "accuracy", percent),
            Column("Elsewhere", "elsewhere", percent),
            Column("p, corrected", "p", probability),
        ],
        weak[:SUBGROUPS_SHOWN],
        f"The worst {SUBGROUPS_SHOWN} of {len(weak)}; {FILE} has all."
        if len(weak) > SUBGROUPS_SHOWN
        else "",
    )
    return [Text(defence.search.sentence()), table, *others]
