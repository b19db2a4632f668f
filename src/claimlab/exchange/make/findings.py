"""What an import looks for in the records it has just made. Everything here is counted over all
rows, not a sample, but for the languages of very many texts, where the sample is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import polars as pl

from claimlab.catalog.load import earliest
from claimlab.core.words import several
from claimlab.exchange.dates import Dates
from claimlab.exchange.make.report import Boilerplate, DateFindings, ImportReport, LanguageFindings

EDGE = 30  # characters that must agree at the start or end of texts
LONGEST = 120  # characters of it that are shown
EXAMINED = 20  # sources that are looked at closely; more are only counted
LEAST_TEXTS = 20  # a source with fewer texts is not reported
MOST = 0.5
MOST_IDENTIFIED = 250_000  # distinct texts: about six seconds
LANGUAGE_SAMPLE = 2_000  # of more

Identify = Callable[[pl.Series], Sequence[str | None]]


def look_at(
    records: pl.DataFrame, report: ImportReport, dates: Dates | None, date_column: str | None
) -> None:
    """Fill `report` from the records."""
    report.records = records.height
    text, verdicts = records["text"], records["veracity"]
    report.id_only = int((records["kind"] == "id-only").sum())
    report.empty_texts = text.null_count() - report.id_only
    known = text.drop_nulls()
    report.duplicate_texts = repeats(known)
    tally = verdicts.drop_nulls().value_counts().sort("veracity")
    report.labels = dict(tally.iter_rows())
    report.without_label = verdicts.null_count()
    classes = [v for v in report.labels if v != "unknown"]
    report.one_class = classes[0] if len(classes) == 1 else None
    report.boilerplate, report.boilerplate_more = boilerplate(records)
    if dates is not None and date_column is not None:
        report.dates = _dates(dates, date_column)


def repeats(values: pl.Series) -> int:
    """How many values occurred before. If all hashes differ all values do, which is four times
    faster to find out.
    """
    return 0 if values.hash(0).n_unique() == values.len() else values.len() - values.n_unique()


def boilerplate(records: pl.DataFrame) -> tuple[list[Boilerplate], int]:
    """The same first or last characters in most texts of a source, and how many more sources look
    so.

    What more than half of the texts have is the median of their edges, so that one pass per source
    finds it without counting a million different edges. Exact repeats of a text do not count.
    """
    long = (
        records.lazy().filter(pl.col("text").str.len_bytes() >= 2 * EDGE).select("source", "text")
    )
    edges = {"start": pl.col("text").str.head(EDGE), "end": pl.col("text").str.tail(EDGE)}
    edges = {w: (edge.hash(0) % (1 << 32)).cast(pl.UInt32) for w, edge in edges.items()}
    usual = [
        (pl.col(w) == pl.col(w).quantile(0.5, interpolation="lower")).sum().alias(w) for w in edges
    ]
    sources = (
        long.select("source", **edges)
        .group_by("source")
        .agg(pl.len().alias("of"), *usual)
        .collect()
    )
    findings, more = [], 0
    for where in edges:
        most = sources.filter(pl.col("of") >= LEAST_TEXTS, pl.col(where) > MOST * pl.col("of"))
        most = most.sort([where, "source"], descending=[True, False], nulls_last=True)
        more += max(0, most.height - EXAMINED)
        for source in most["source"].head(EXAMINED).to_list():
            mine = (
                long.filter(pl.col("source").eq_missing(pl.lit(source)))
                .select("text")
                .unique()
                .collect()["text"]
            )
            if (one := _shared(source, where, mine)) is not None:
                findings.append(one)
    return findings, more


def _shared(source: str | None, where: str, texts: pl.Series) -> Boilerplate | None:
    """The longest edge that the distinct texts with the commonest `EDGE` characters have in
    common.
    """
    if texts.len() < LEAST_TEXTS:
        return None
    edges = texts.str.head(EDGE) if where == "start" else texts.str.tail(EDGE)
    edge, n = (
        edges.value_counts(sort=True).sort(["count", edges.name], descending=[True, False]).row(0)
    )
    if n <= MOST * texts.len():
        return None
    with_it = sorted(
        texts.filter(edges == edge).to_list(), key=lambda t: t if where == "start" else t[::-1]
    )
    first, last = with_it[0], with_it[-1]  # sorted by that edge: what these two share, all share
    size = EDGE
    while size < min(len(first), len(last), LONGEST) and _edge(first, where, size + 1) == _edge(
        last, where, size + 1
    ):
        size += 1
    return Boilerplate(source, where, _edge(first, where, size), n, texts.len())


def _edge(text: str, where: str, size: int) -> str:
    return text[:size] if where == "start" else text[-size:]


def _dates(dates: Dates, column: str) -> DateFindings:
    known = dates.times.drop_nulls()
    days = known.dt.date()
    first = earliest(days)
    early = days.filter(days < first) if first else days.clear()
    now = datetime.now(UTC).replace(tzinfo=None)
    return DateFindings(
        column=column,
        parsed=known.len(),
        unparsed=dates.unparsed,
        unparsed_examples=dates.examples,
        placeholders=dates.placeholders,
        common=dates.common,
        formats=dates.formats,
        future=int((known > now).sum()),
        early=(str(early.min()), early.len()) if early.len() else None,
        coarse=dates.coarse,
        order=dates.order,
        ambiguous=dates.ambiguous,
    )


def languages_of(
    records: pl.DataFrame, identify: Identify, seed: int
) -> tuple[LanguageFindings, pl.Series]:
    """The file's own codes if it has them, else what `identify` says of every text; and the column
    of languages.

    Of more than `MOST_IDENTIFIED` distinct texts a seeded sample is measured for the report, and no
    language is stored: a column that knows 2,000 of a million rows would pass for one that knows
    them all.
    """
    own = records["language"].drop_nulls()
    if own.len():
        findings = LanguageFindings(
            "as the file says", _tally(own.to_list()), records.height - own.len()
        )
        return findings, records["language"]
    texts = records["text"].drop_nulls()
    if not texts.len():
        return LanguageFindings("no texts"), records["language"]
    if stored := texts.len() <= MOST_IDENTIFIED or texts.n_unique() <= MOST_IDENTIFIED:
        codes = pl.Series("language", list(identify(records["text"])), dtype=pl.String)
        method = f"identified in all {several(texts.len(), 'text')}"
        unknown = codes.null_count() - records["text"].null_count()
    else:
        codes = pl.Series(list(identify(texts.sample(LANGUAGE_SAMPLE, seed=seed))), dtype=pl.String)
        method = (
            f"measured on {LANGUAGE_SAMPLE:,} of {several(texts.len(), 'text')}, drawn with seed"
            f" {seed}"
        )
        unknown = codes.null_count()
    findings = LanguageFindings(method, _tally(codes.drop_nulls().to_list()), unknown, stored)
    return findings, codes if stored else records["language"]


def _tally(codes: Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(codes).items()))
