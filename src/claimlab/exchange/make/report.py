"""What an import did and what a user should know of the data at once: the findings, and their
wording.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field

import polars as pl

from claimlab.catalog.load import EARLY
from claimlab.core.shown import Shown
from claimlab.core.types import JsonObject
from claimlab.core.words import several, several_of, verb
from claimlab.files.raw import RawTable

SHOWN = 10
LABEL_COLUMNS = 6


@dataclass
class Boilerplate:
    """Words that most texts of a source begin or end with: a detector can learn the source by
    them.
    """

    source: str | None  # null: no source is known, so all texts were taken together
    where: str  # "start" | "end"
    text: str
    texts: int
    of: int


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


@dataclass(repr=False)
class ImportReport(Shown):
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
    id_only: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    without_label: int = 0
    label_columns: dict[str, dict[str, int]] = field(
        default_factory=dict
    )  # that may hold it, where none was found
    unmapped: dict[str, int] = field(default_factory=dict)
    one_class: str | None = None
    dates: DateFindings | None = None
    languages: LanguageFindings | None = None
    boilerplate: list[Boilerplate] = field(default_factory=list)
    boilerplate_more: int = 0  # sources that look so too, but were not looked at closely
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
        words = [*self._row_words(), *self._label_words(), *self._text_words(), *self._date_words()]
        return [*self.notes, *words, *self._without_language()]

    def lines(self) -> list[str]:
        """The whole report for a person."""
        unlabelled = "" if self.labels else ", without labels"
        out = [
            f"Read {several(self.rows_read, 'row')}, kept"
            f" {several(self.records, 'record')}{unlabelled}."
        ]
        out += self._row_words()
        for row in self.refused_rows[:SHOWN]:
            where = f"{row['unit']} {row['number']:,}"
            out.append(f"  {row['file']}, {where}: {row['reason']}")
        if sum(self.refused.values()) > SHOWN:
            out.append(f"  … and {sum(self.refused.values()) - SHOWN:,} more")
        out += self._label_words() + self._text_words() + self._date_words() + self._future_words()
        out += [self._language_words(), *self._without_language(), *self.notes]
        return out

    def _row_words(self) -> list[str]:
        out = [f"{several(n, 'row')} refused: {reason}." for reason, n in self.refused.items()]
        if self.blank_rows:
            out.append(f"{several(self.blank_rows, 'blank row')} left out.")
        if self.left_by_limit:
            out.append(f"{several(self.left_by_limit, 'row')} left out by `limit`.")
        if self.ignored_files:
            names = ", ".join(self.ignored_files[:5]) + (
                ", …" if len(self.ignored_files) > 5 else ""
            )
            out.append(
                f"Not read: {several(len(self.ignored_files), 'other file')} (`only` chooses"
                f" files): {names}."
            )
        return out

    def _label_words(self) -> list[str]:
        out = []
        if self.without_label == self.records:
            names = ["`label='from_file'` (the names of the files)"] if self.files > 1 else []
            for column, values in list(self.label_columns.items())[:LABEL_COLUMNS]:
                names.append(
                    f"`label='{column}'`"
                    f" ({', '.join(f'{v!r} {n:,}' for v, n in list(values.items())[:4])})"
                )
            out.append(
                "No labels: the veracity of every record is null. Name the column of the label: "
                f"{', '.join(names) or '`label`'}."
            )
        elif self.without_label:
            out.append(
                f"{several(self.without_label, 'record')} without a label: veracity is null there."
            )
        if self.unmapped:
            n = sum(self.unmapped.values())
            out.append(
                f"The veracity of {several(n, 'record')} was set to unknown: the map lacks "
                f"{several(len(self.unmapped), 'label')}."
            )
        if self.one_class:
            out.append(
                f"Only one class ('{self.one_class}') is in this data: it cannot train or test a"
                " detector."
            )
        return out

    def _text_words(self) -> list[str]:
        out = []
        if self.id_only:
            share = self.id_only / self.records
            out.append(
                f"{several(self.id_only, 'record')} ({share:.0%}) with an id or link but no text."
            )
        if self.empty_texts:
            out.append(
                f"{several(self.empty_texts, 'record')} with neither a text nor an id or link to"
                " fetch it by."
            )
        if self.duplicate_texts:
            out.append(
                f"{several(self.duplicate_texts, 'record')} with exactly the text of an earlier"
                " one."
            )
        for b in self.boilerplate:
            whose = f" of source '{b.source}'" if b.source else ""
            out.append(f"{b.texts:,} of {b.of:,} texts{whose} have the same {b.where}: {b.text!r}.")
        if self.boilerplate_more:
            out.append(
                f"The texts of {several(self.boilerplate_more, 'further source')} seem to have the"
                " same start or end."
            )
        return out

    def _date_words(self) -> list[str]:
        d, out = self.dates, []
        if d is None:
            return []
        if d.unparsed:
            shown = ", ".join(map(repr, d.unparsed_examples))
            out.append(
                f"{several(d.unparsed, 'date')} in '{d.column}' could not be read, such as {shown}:"
                " null."
            )
        for day, n in d.placeholders.items():
            out.append(
                f"{several(n, 'date')} with the placeholder {day}: null (see"
                " `keep_placeholder_dates`)."
            )
        if d.common:
            out.append(
                f"{several_of(d.common[1], d.parsed, 'date')} {verb(d.common[1])} {d.common[0]}: a"
                " placeholder, or the day of a crawl?"
            )
        if len(d.formats) > 1:
            shown = ", ".join(
                f"{f} {n:,}"
                for f, n in sorted(d.formats.items(), key=lambda kv: (-kv[1], kv[0]))[:6]
            )
            out.append(
                f"Dates are written in {len(d.formats)} ways ({shown}); '{d.column}' is kept in"
                " meta."
            )
        if d.early:
            out.append(
                f"{several(d.early[1], 'date')} {verb(d.early[1])} {EARLY}, the first {d.early[0]}."
            )
        if d.coarse:
            out.append(
                f"{several(d.coarse, 'date')} with only a year or month: read as its first day."
            )
        if d.order:
            out.append(f"Dates were read with the {d.order}.")
        if d.ambiguous:
            out.append(
                f"{several(d.ambiguous, 'date')} could be read day first or month first: null. "
                "Pass `day_first=True` or `day_first=False`."
            )
        return out

    def _future_words(self) -> list[str]:
        n = self.dates.future if self.dates else 0
        return [f"{several(n, 'date')} in the future."] if n else []

    def _without_language(self) -> list[str]:
        if self.languages is None or self.languages.stored:
            return []
        return [
            "The language of every record is null: the cleaning step `language` identifies all."
        ]

    def _language_words(self) -> str:
        findings = self.languages
        if findings is None or (not findings.counts and not findings.unknown):
            return (
                f"Languages: not measured ({findings.method})."
                if findings
                else "Languages: not measured."
            )
        common = sorted(findings.counts.items(), key=lambda kv: (-kv[1], kv[0]))
        shown = [f"{code} {n:,}" for code, n in common[:SHOWN]]
        shown += [f"{len(common) - SHOWN} more languages"] if len(common) > SHOWN else []
        shown += [f"{findings.unknown:,} not identified"] if findings.unknown else []
        return f"Languages ({findings.method}): {', '.join(shown)}."
