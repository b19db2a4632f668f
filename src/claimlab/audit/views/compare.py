"""Before and after, finding by finding: what a repair changed, and what it could not change."""

from __future__ import annotations

from typing import Any

from claimlab.audit.fix.repair import Repaired
from claimlab.audit.result import Audit
from claimlab.audit.views.page import Chapter, Detail, chapter
from claimlab.audit.views.wording import VERDICT_WORDS, finding_title, ordered, protocol_sections
from claimlab.core.finding import VERDICTS, Finding
from claimlab.pages.blocks import Block, Cell, Items, Report, Section, Table, Text, Tiles, percent
from claimlab.pages.excerpt import excerpt


def compared(before: Chapter, after: Chapter, repaired: Repaired, detail: Detail) -> Report:
    """The comparison first, then each audit whole."""
    name = excerpt(before.audit.dataset, 80)
    taken = repaired.dataset.lineage[-1].counts
    tiles = Tiles(
        [
            ("records before", f"{taken['before']:,}", "plain"),
            ("kept", f"{taken['kept']:,}", "plain"),
            ("set aside as doubtful", f"{taken['doubtful']:,}", "plain"),
            ("copies dropped", f"{taken['dropped']:,}", "plain"),
            ("moved to another side", f"{repaired.moved:,}", "plain"),
        ]
    )
    blocks: list[Block] = [
        tiles,
        what_was_done(repaired),
        Section("Before and after", [comparison(before.audit, after.audit)], "compared"),
        left_over(after.audit),
        _titled(chapter(before, detail), "Before"),
        _titled(chapter(after, detail), "After"),
        protocol_sections([before.audit]),
    ]
    return Report(f"{name}, repaired", "What a split can remove has been removed; the rest is listed.", blocks)


def what_was_done(repaired: Repaired) -> Section:
    items = [f"{n:,} records taken out: {reason}." for reason, n in repaired.removed.items()]
    items.append(
        f"{repaired.groups:,} sets of records that must stay together were dealt to train, dev and test; "
        f"{repaired.parted:,} of them were on more than one side before."
    )
    return Section("What was done", [Items(items), Text("Every row taken out is in the tables dropped and doubtful.")])


def comparison(before: Audit, after: Audit) -> Table:
    """One row per finding of either audit, in two columns of verdict and score."""
    old, new = ({(f.check, _plain(f.feature)): f for f in a.findings} for a in (before, after))
    keys = list(dict.fromkeys([*((f.check, _plain(f.feature)) for f in ordered(before.findings)), *new]))
    rows: list[list[Any]] = []
    for key in keys:
        was, now = old.get(key), new.get(key)
        title = finding_title(now or was)  # type: ignore[arg-type]  # a key comes from one of them
        change = now.score - was.score if was and now and was.score is not None and now.score is not None else None
        rows.append(
            [
                excerpt(title, 80),
                _verdict(was),
                percent(was.score if was else None),
                _verdict(now),
                percent(now.score if now else None),
                Cell("–" if change is None else f"{100 * change:+.1f}", sort=change if change is not None else -9.0),
            ]
        )
    columns = ["Finding", "Before", "Score", "After", "Score", "Change"]
    return Table(columns, rows, "Verdicts, and macro-F1 in per cent, before and after.")


def left_over(after: Audit) -> Section:
    """What no split removes: it has to be collected anew, balanced, or reported."""
    alarms = [f for f in ordered(after.findings) if f.verdict in ("fail", "warn")]
    if not alarms:
        return Section("What a split cannot remove", [Text("Nothing: no check fails or warns any more.")], "left")
    intro = "These stay whatever the split: collect or balance the data anew, or say so beside every result."
    items = [f"{finding_title(f)} ({VERDICT_WORDS[f.verdict]}): {f.why}" for f in alarms]
    return Section("What a split cannot remove", [Text(intro), Items(items)], "left")


def _plain(feature: str | None) -> str:
    """A drawn split before and a given one after are the same question."""
    return (feature or "").replace("across a random split", "across the given split")


def _verdict(finding: Finding | None) -> Cell:
    if finding is None:
        return Cell("not run", sort=9.0)
    word = VERDICT_WORDS[finding.verdict]
    return Cell(word, sort=float(VERDICTS.index(finding.verdict)), tone=finding.verdict, title=finding.why)


def _titled(section: Section, title: str) -> Section:
    return Section(title, section.blocks, section.anchor)
