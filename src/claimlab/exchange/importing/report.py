"""What an import did and what a user should know of the data at once: the findings, and their
wording.

Everything is counted over all rows, not a sample, but for the languages of very many texts, where
the sample is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime

import polars as pl

from claimlab.catalog.columns import EARLY, earliest
from claimlab.core.errors import DataError
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.exchange.dates import Dates
from claimlab.files.raw import RawTable
from claimlab.tasks import not_verdicts
from claimlab.text.repair import Damage, damage_of

VALUES_LISTED = 10
MOST_TEXTS_IDENTIFIED = 250_000  # distinct texts: about six seconds
TEXTS_SAMPLED = 2_000  # of more
MOST_TEXTS_CHECKED = 20_000  # for damage by a wrong encoding; of more, an even sample
EXCERPT = 60  # characters
LEAST_LOST = 3  # texts of question marks, before a file is refused for them

Identify = Callable[[pl.Series], Sequence[str | None]]


@dataclass
class DateFindings:
    column: str
    parsed: int = 0
    unparsed: int = 0
    unparsed_examples: list[str] = field(default_factory=list)
    placeholders: dict[str, int] = field(
        default_factory=dict
    )  # 1970-01-01 and the like, set to null
    common: tuple[str, int] | None = None  # one day that strikingly many rows have
    formats: dict[str, int] = field(default_factory=dict)
    future: int = 0
    early: tuple[str, int] | None = (
        None  # the first day, and how many dates are decades before half of them
    )
    coarse: int = 0
    order: str | None = None
    ambiguous: int = 0


@dataclass
class LanguageFindings:
    """Either the file's own codes, or identified; `method` says which, and of how many texts.

    `stored` is false where only a sample was measured: the records have no language then.
    """

    method: str
    counts: dict[str, int] = field(default_factory=dict)
    unknown: int = 0
    stored: bool = True


@dataclass
class RoleFindings:
    """Why a column has a role: what spoke for it, in log odds, and which column came next."""

    role: str
    column: str | None
    why: str
    evidence: dict[str, float] = field(default_factory=dict)
    runner_up: str | None = None


@dataclass(repr=False)
class ImportReport(Shown):
    """What was read, understood, guessed and left out when files were imported."""

    roles: list[RoleFindings] = field(default_factory=list)
    understood: list[str] = field(default_factory=list)  # what a record is and what its label says
    rows_read: int = 0
    records: int = 0
    blank_rows: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    refused_rows: list[JsonObject] = field(default_factory=list)
    ignored_files: list[str] = field(default_factory=list)
    left_by_limit: int = 0
    files: int = 1
    empty_texts: int = 0
    duplicate_texts: int = 0
    damage: Damage | None = None  # by a wrong encoding, of the texts that were checked
    id_only: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    without_label: int = 0
    unmapped: dict[str, int] = field(default_factory=dict)
    # labels that no map knows, left null: rows, the pair to add to the map, the nearest known word
    unknown_labels: dict[str, list[str]] = field(default_factory=dict)
    one_class: str | None = None
    task: str | None = None  # of labels that are not verdicts
    merged_rows: int = 0  # further annotators of a record
    agreement: JsonObject | None = None  # of several annotators
    dates: DateFindings | None = None
    languages: LanguageFindings | None = None
    notes: list[str] = field(default_factory=list)

    def read(self, tables: list[RawTable], ignored: list[str]) -> None:
        """Take over what the readers refused, file by file."""
        reasons: Counter[str] = Counter()
        self.files = len(tables)
        for table in tables:
            self.rows_read += table.refused.total
            self.blank_rows += table.blank
            reasons.update(table.refused.reasons)
            where = {"file": table.name, "unit": table.refused.unit}
            self.refused_rows += [
                {**where, "number": n, "reason": why} for n, why in table.refused.listed
            ]
            self.notes += table.notes
        self.refused = dict(reasons.most_common())
        self.ignored_files = ignored

    @property
    def table(self) -> pl.DataFrame:
        """The rows that were refused, as far as they are listed."""
        types = {"file": pl.String, "unit": pl.String, "number": pl.Int64, "reason": pl.String}
        return pl.DataFrame(self.refused_rows, schema=types)

    def headline(self) -> str:
        refused = several(sum(self.refused.values()), "row")
        return (
            f"{several(self.rows_read, 'row')} read, {several(self.records, 'record')}, {refused}"
            " refused"
        )

    def to_json(self) -> JsonObject:
        return asdict(self)

    def counts(self) -> dict[str, int]:
        """For the lineage. What depends on today's date (dates in the future) is left out: same
        input, same bytes.
        """
        counts = {
            "rows_read": self.rows_read,
            "rows_refused": sum(self.refused.values()),
            "records": self.records,
            "blank_rows": self.blank_rows,
            "empty_texts": self.empty_texts,
            "duplicate_texts": self.duplicate_texts,
            "id_only": self.id_only,
            "without_label": self.without_label,
            "unmapped_labels": sum(self.unmapped.values()),
        }
        if self.dates is not None:
            unread = self.dates.unparsed + self.dates.ambiguous
            counts |= {
                "dates_unparsed": unread,
                "dates_placeholder": sum(self.dates.placeholders.values()),
            }
        return counts

    def warnings(self) -> list[str]:
        """What must travel with the dataset: sentences for `dataset.json`."""
        understood = [f"Understood at import: {line}." for line in self.understood]
        return [*self.notes, *self._findings(), *self._without_language(), *understood]

    def lines(self) -> list[str]:
        """The whole report for a person."""
        unlabelled = "" if self.labels or self.task else ", without labels"
        refused = sum(self.refused.values())
        future = self.dates.future if self.dates else 0
        return [
            f"Read {several(self.rows_read, 'row')}, kept"
            f" {several(self.records, 'record')}{unlabelled}.",
            *(f"  {line}" for line in self.understood),
            *self._row_words(),
            *(
                f"  {row['file']}, {row['unit']} {row['number']:,}: {row['reason']}"
                for row in self.refused_rows[:VALUES_LISTED]
            ),
            *([f"  … and {refused - VALUES_LISTED:,} more"] if refused > VALUES_LISTED else []),
            *self._label_words(),
            *self._text_words(),
            *self._date_words(),
            *([f"{several(future, 'date')} in the future."] if future else []),
            self._language_words(),
            *self._without_language(),
            *self._role_words(),
            *self.notes,
        ]

    def _findings(self) -> Iterator[str]:
        yield from self._row_words()
        yield from self._label_words()
        yield from self._text_words()
        yield from self._date_words()

    def _role_words(self) -> Iterator[str]:
        """The columns that came second, as the options that would take them."""
        second = [
            f"`{one.role}='{one.runner_up}'`" for one in self.roles if one.runner_up is not None
        ]
        if second:
            yield f"The next likely columns: {', '.join(second)}."

    def _row_words(self) -> Iterator[str]:
        for reason, n in self.refused.items():
            yield f"{several(n, 'row')} refused: {reason}."
        if self.blank_rows:
            yield f"{several(self.blank_rows, 'blank row')} left out."
        if self.left_by_limit:
            yield f"{several(self.left_by_limit, 'row')} left out by `limit`."
        if self.ignored_files:
            more = ", …" if len(self.ignored_files) > 5 else ""
            yield (
                f"Not read: {several(len(self.ignored_files), 'other file')} (`only` chooses"
                f" files): {', '.join(self.ignored_files[:5])}{more}."
            )

    def _label_words(self) -> Iterator[str]:
        if self.task is not None:
            yield not_verdicts(self.task)
        elif self.without_label == self.records:
            files = " or `label='from_file'` (the names of the files)" if self.files > 1 else ""
            yield (
                "No labels: the veracity of every record is null. Name the column of the label:"
                f" `label`{files}."
            )
        elif self.without_label:
            yield (
                f"{several(self.without_label, 'record')} without a label: veracity is null there."
            )
        if self.unknown_labels:
            yield _unknown_words(self.unknown_labels)
        if self.unmapped:
            yield (
                f"The veracity of {several(sum(self.unmapped.values()), 'record')} was set to"
                f" unknown: the map lacks {several(len(self.unmapped), 'label')}."
            )
        if self.one_class:
            yield (
                f"Only one class ('{self.one_class}') is in this data: it cannot train or test a"
                " detector."
            )

    def _text_words(self) -> Iterator[str]:
        if self.id_only:
            share = self.id_only / self.records
            yield f"{several(self.id_only, 'record')} ({share:.0%}) with an id or link but no text."
        if self.empty_texts:
            yield (
                f"{several(self.empty_texts, 'record')} with neither a text nor an id or link to"
                " fetch it by."
            )
        if self.duplicate_texts:
            copies = several(self.duplicate_texts, "record")
            yield f"{copies} with exactly the text of an earlier one."
        if self.damage is not None and self.damage.example is not None:
            before, after = self.damage.example
            broken = several_of(self.damage.broken, self.damage.texts, "text")
            yield (
                f"{broken} that {verb(self.damage.texts, 'was', 'were')} checked"
                f" {verb(self.damage.broken, 'looks', 'look')} as if read in a wrong encoding, such"
                f" as {_excerpt(before)!r} for {_excerpt(after)!r}. `clean` repairs"
                f" {self.damage.repairable:,}."
            )

    def _date_words(self) -> Iterator[str]:
        dates = self.dates
        if dates is None:
            return
        if dates.unparsed:
            yield (
                f"{several(dates.unparsed, 'date')} in '{dates.column}' could not be read, such as"
                f" {', '.join(map(repr, dates.unparsed_examples))}: null."
            )
        for day, n in dates.placeholders.items():
            yield (
                f"{several(n, 'date')} with the placeholder {day}: null (see"
                " `keep_placeholder_dates`)."
            )
        if dates.common:
            day, n = dates.common
            yield (
                f"{several_of(n, dates.parsed, 'date')} {verb(n)} {day}: a placeholder, or the day"
                " of a crawl?"
            )
        if len(dates.formats) > 1:
            shown = ", ".join(f"{form} {n:,}" for form, n in _common(dates.formats)[:6])
            yield (
                f"Dates are written in {len(dates.formats)} ways ({shown}); '{dates.column}' is"
                " kept in meta."
            )
        if dates.early:
            day, n = dates.early
            yield f"{several(n, 'date')} {verb(n)} {EARLY}, the first {day}."
        if dates.coarse:
            coarse = several(dates.coarse, "date")
            yield f"{coarse} with only a year or month: read as its first day."
        if dates.order:
            yield f"Dates were read with the {dates.order}."
        if dates.ambiguous:
            yield (
                f"{several(dates.ambiguous, 'date')} could be read day first or month first: null."
                " Pass `day_first=True` or `day_first=False`."
            )

    def _without_language(self) -> list[str]:
        if self.languages is None or self.languages.stored:
            return []
        return [
            "The language of every record is null: the cleaning step `language` identifies all."
        ]

    def _language_words(self) -> str:
        findings = self.languages
        if findings is None:
            return "Languages: not measured."
        if not findings.counts and not findings.unknown:
            return f"Languages: not measured ({findings.method})."
        common = _common(findings.counts)
        languages = [f"{code} {n:,}" for code, n in common[:VALUES_LISTED]]
        languages += (
            [f"{len(common) - VALUES_LISTED} more languages"] if len(common) > VALUES_LISTED else []
        )
        languages += [f"{findings.unknown:,} not identified"] if findings.unknown else []
        return f"Languages ({findings.method}): {', '.join(languages)}."


def _unknown_words(labels: Mapping[str, Sequence[str]]) -> str:
    """Which labels the map lacks, what they may mean, and the argument that says so."""
    rows = sum(int(words[0]) for words in labels.values())
    listed = list(labels.items())[:VALUES_LISTED]
    labels_listed = [
        f"'{value}' ({words[0]}{f', like {words[2]!r}' if len(words) > 2 else ''})"
        for value, words in listed
    ]
    more = f" and {len(labels) - VALUES_LISTED} more" if len(labels) > VALUES_LISTED else ""
    pairs = ",".join(words[1] for _, words in listed)
    lacking = f"the map lacks {', '.join(labels_listed)}{more}"
    return (
        f"The veracity of {several(rows, 'record')} is null: {lacking}."
        f" Say what they mean: `map='{pairs}'`."
    )


def _common(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """What was counted, the commonest first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


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
    report.damage = damage_of(known.gather_every(-(-known.len() // MOST_TEXTS_CHECKED) or 1))
    if report.damage.mostly_lost and report.damage.lost >= LEAST_LOST:
        lost = several_of(report.damage.lost, report.damage.texts, "text")
        raise DataError(
            f"{lost} {verb(report.damage.lost)} mostly question marks: the letters were lost when"
            " the file was saved.",
            "Get the file again, saved as UTF-8.",
        )
    tally = verdicts.drop_nulls().value_counts().sort("veracity")
    report.labels = dict(tally.iter_rows())
    report.without_label = verdicts.null_count()
    classes = [v for v in report.labels if v != "unknown"]
    report.one_class = classes[0] if len(classes) == 1 else None
    if dates is not None and date_column is not None:
        report.dates = _dates(dates, date_column)


def _excerpt(text: str) -> str:
    """The beginning of a text, for a sentence."""
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"


def repeats(values: pl.Series) -> int:
    """How many values occurred before. If all hashes differ all values do, which is four times
    faster to find out.
    """
    return 0 if values.hash(0).n_unique() == values.len() else values.len() - values.n_unique()


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
    records: pl.DataFrame, identify: Identify, seed: int, copies: int | None = None
) -> tuple[LanguageFindings, pl.Series]:
    """The file's own codes if it has them, else what `identify` says of every text; and the column
    of languages.

    Of more than `MOST_IDENTIFIED` distinct texts a seeded sample is measured for the report, and no
    language is stored: a column that knows 2,000 of a million rows would pass for one that knows
    them all. `copies` are the texts that occurred before, where they were counted already.
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
    copies = repeats(texts) if copies is None else copies
    if stored := texts.len() - copies <= MOST_TEXTS_IDENTIFIED:
        codes = pl.Series("language", list(identify(records["text"])), dtype=pl.String)
        method = f"identified in all {several(texts.len(), 'text')}"
        unknown = codes.null_count() - records["text"].null_count()
    else:
        codes = pl.Series(list(identify(texts.sample(TEXTS_SAMPLED, seed=seed))), dtype=pl.String)
        method = (
            f"measured on {TEXTS_SAMPLED:,} of {several(texts.len(), 'text')}, drawn with seed"
            f" {seed}"
        )
        unknown = codes.null_count()
    findings = LanguageFindings(method, _tally(codes.drop_nulls().to_list()), unknown, stored)
    return findings, codes if stored else records["language"]


def _tally(codes: Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(codes).items()))
