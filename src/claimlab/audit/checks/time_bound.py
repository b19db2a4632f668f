"""Does a label hold on its day only? Claims with "today" or "current" in them are true one day and
false another: the day must be known, and a later review may say otherwise.

Words that point at a day are the signal `missing-time` of data/ambiguity.toml, by language. That
labels change is no proof: copies under two labels do so as well. Only the beginning of a text is
read, where its claim is, and neither questions nor names ("USA Today") count. So claims with such
words must change more often than the others that were reviewed again, by Fisher's exact test;
permuted labels change both alike.
"""

from __future__ import annotations

from math import comb

import polars as pl

from claimlab.audit.check import FairCheck, Findings
from claimlab.audit.rule import Rule, ShareRule, needed
from claimlab.audit.subject import Subject
from claimlab.audit.uncheckable import hints
from claimlab.core import packaged
from claimlab.core.finding import Verdict
from claimlab.core.words import several, several_of, verb

TIME_BOUND_SHARE = ShareRule(fail=0.01)
UNDATED = 0.05  # of all records
LEVEL = 0.05
_DAY = r"\b(?:19|20)\d\d\b|\b\d{1,2}[/.]\d{1,2}\b"  # the text itself names a year or a day
SIGNAL = "missing-time"
WORDS_READ = 75  # words of a text, as where `enrich` looks for its claim
_NAMES = (  # and the pandemic of the time, which is always the same
    r"(?i)\b(?:usa|india|russia|psychology|christianity|news) today\b|\btoday show\b"
    r"|\bjornal (?:hoje|agora)\b|\bday after tomorrow\b|\btomorrow never dies\b"
    r"|\b(?:current|atual|actual|actuelle|aktuellen?)(?: \S+)?"
    r" (?:pandemi\w+|outbreak|cris[ei]s?|surto|krise)\b"
    r"|\b(?:crise|pandemia|crisis|pandémie) (?:atual|actuelle?)\b"
)
STANCES = {"supports": "true", "refutes": "false"}
SIGNALS = [
    signal
    for signal in packaged.toml("claimlab.audit", "ambiguity.toml")[SIGNAL]
    if signal != "any"
]


class TimeBound(FairCheck):
    name = "time-bound"
    title = "Labels that hold for a day"
    question = "Do labels depend on a day that is not known, or change in later reviews?"
    needs = ("text", "classes")
    rule = (
        "An alarm when claims that point at a day (today, current) get another label in a later"
        f" review more often than other claims do (Fisher's exact test, p < {LEVEL}): fail when"
        f" more than {100 * TIME_BOUND_SHARE.fail:.0f}% of all records do, else warn. Warn"
        " as well when"
        f" more than {100 * UNDATED:.0f}% of all records point at a day, and neither the"
        " record nor its text has a date. Otherwise pass; but if records point at a day, not"
        f" measured unless {Rule.min_units} such claims and {Rule.min_units} others have a later"
        " review."
    )

    def measure(self, subject: Subject) -> Findings:
        read = pl.col("text").is_not_null() & pl.col("language").fill_null("eng").is_in(SIGNALS)
        subject = subject.where(subject.rows.select(read).to_series())
        reason = needed(f"Records with a text in {', '.join(SIGNALS)}", subject.n)
        if reason is not None:
            yield self.unmeasured(subject, reason)
            return
        signals = hints(subject.rows.select("id", beginning(), "language"))["signals"]
        rows = subject.rows.select("id", "text", "date").with_columns(
            key=subject.normal_text,
            label=pl.Series([subject.classes[y] for y in subject.y], dtype=pl.String),
            bound=signals.list.contains(SIGNAL),
        )
        n, bound = subject.n, int(rows["bound"].sum())
        dated = pl.col("date").is_not_null() | pl.col("text").str.contains(_DAY)
        undated = rows.filter("bound", ~dated)["id"]
        again = reviewed_again(rows, subject.table("evidence"))
        compared = int(again["bound"].sum())
        changed = again.filter("bound", "changed")
        p = chance(again)
        turned = rows.filter(pl.col("bound"), pl.col("key").is_in(changed["key"].implode()))["id"]
        few = min(compared, again.height - compared) < Rule.min_units and p >= LEVEL
        verdict: Verdict = "not-measured" if bound and few else "pass"
        if undated.len() > UNDATED * n:
            verdict = "warn"
        if p < LEVEL:
            verdict = TIME_BOUND_SHARE.verdict(turned.len(), n)
        why = f"None of the {several(n, 'record')} points at a day (such as today)."
        if bound:
            without = f"{undated.len():,}" if undated.len() else "none"
            why = (
                f"{several_of(bound, n, 'record')} {verb(bound, 'points', 'point')} at a day (such"
                f" as today), {without} of them without any date. "
            )
            why += (
                f"Whether labels change later was not measured: {again.height:,} claims have a"
                f" later review, {compared:,} of them point at a day."
                if few
                else f"Of {several(again.height, 'claim')} with a later review,"
                f" {again['changed'].sum():,} changed their label, {changed.height:,} of them among"
                f" the {compared:,} that point at a day (p = {p:.2g})."
            )
        yield self.found(
            subject,
            verdict,
            why,
            records=[*dict.fromkeys([*turned, *undated])],
            details={
                "time_bound": bound,
                "undated": undated.len(),
                "reviewed_again": again.height,
                "changed": int(again["changed"].sum()),
                "time_bound_changed": changed.height,
                "p": p,
                "share": (turned.len() if p < LEVEL else undated.len()) / subject.n,
            },
        )


CHECK = TimeBound()


def beginning() -> pl.Expr:
    """The first words of `text`, without questions and names that hold a word for a day."""
    read = pl.col("text").str.extract(rf"^\s*((?:\S+\s+){{0,{WORDS_READ - 1}}}\S*)")
    return read.str.replace_all(r"[^.!?\n]*\?", " ").str.replace_all(_NAMES, " ")


def reviewed_again(rows: pl.DataFrame, evidence: pl.DataFrame | None) -> pl.DataFrame:
    """Each claim with labels of two days or more, whether it points at a day (`bound`) and whether
    a later label differs from the first (`changed`). A later label is that of a record with the
    same text, or what a later fact-check that corresponds says of the claim.
    """
    labels = rows.select("key", "bound", "label", day=pl.col("date").dt.date())
    if evidence is not None and {"stance", "published"} <= set(evidence.columns):
        of = rows.select("key", "bound", "date", record_id="id")
        joined = evidence.select("record_id", "stance", later="published").join(of, on="record_id")
        labels = pl.concat(
            [
                labels,
                joined.filter(pl.col("later").dt.date() > pl.col("date").dt.date()).select(
                    "key",
                    "bound",
                    label=pl.col("stance").replace_strict(STANCES, default=None),
                    day=pl.col("later").dt.date(),
                ),
            ]
        )
    first = pl.col("label").sort_by("day").first()
    return (
        labels.drop_nulls()
        .group_by("key")
        .agg(
            pl.col("bound").any(),
            days=pl.col("day").n_unique(),
            changed=((pl.col("label") != first) & (pl.col("day") > pl.col("day").min())).any(),
        )
        .filter(pl.col("days") > 1)
    )


def chance(again: pl.DataFrame) -> float:
    """How likely at least so many changes among the claims that point at a day are, if these
    change no more often than the others: the upper tail of the hypergeometric distribution.
    """
    n, bound, changed = again.height, int(again["bound"].sum()), int(again["changed"].sum())
    both = again.filter("bound", "changed").height
    ways = range(both, min(bound, changed) + 1)
    return sum(comb(changed, k) * comb(n - changed, bound - k) for k in ways) / comb(n, bound)
