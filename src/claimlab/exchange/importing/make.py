"""The last step of an import: from a table of text and a plan of its columns to the dataset and a
report on it.

Texts and labels are kept as they are written. A value that had to be changed and could not be (a
date that cannot be read, an id that is used twice) stays in `meta`, so that nothing is lost. Labels
that no map knows become a question, with the lines that answer it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from claimlab.core.dataset import Dataset, Lineage
from claimlab.core.errors import Choice, UnmappedLabels
from claimlab.core.labels import LabelMap, Mapped, Unmapped, is_blank
from claimlab.core.languages import normalise
from claimlab.core.progress import Progress, silent
from claimlab.core.record import any_blank, meta_json, to_records
from claimlab.core.types import JsonObject
from claimlab.core.words import several, verb
from claimlab.exchange.dates import Dates, parse_dates
from claimlab.exchange.importing.meanings import (
    FEW_UNKNOWN_SHARE,
    flag_maps,
    nearest,
    offered_maps,
    says_what_yes_means,
)
from claimlab.exchange.importing.plan import ImportPlan, examples, replaced, tally
from claimlab.exchange.importing.profile import (
    LabelledCell,
    cells_of,
    tags_column,
    verdict_of,
    verdict_of_parts,
)
from claimlab.exchange.importing.ratings import agreement_words, side_tables
from claimlab.exchange.importing.readings import is_flag, offers
from claimlab.exchange.importing.report import (
    ImportReport,
    RoleFindings,
    languages_of,
    look_at,
    repeats,
)
from claimlab.exchange.importing.understood import understood
from claimlab.exchange.vocabulary import SPLITS
from claimlab.files.raw import json_of
from claimlab.text.langid import identify

_STATUS = r"^https?://(?:www\.|mobile\.)?(?:twitter|x)\.com/[^?]*/status(?:es)?/(\d+)"
# Roles whose column becomes a record column as it is.
_PLAIN = {
    "text": "text",
    "label": "label_raw",
    "author": "author",
    "source": "source",
    "topic": "topic",
    "group": "group",
    "authorship": "authorship",
}
_ESCAPED = ['"', "\\", *map(chr, range(32))]  # what JSON cannot hold as it is
TAGS = "tags"  # in meta: the parts of a cell with several labels that say nothing of veracity


@dataclass(frozen=True)
class ImportWishes:
    """What the user wants made of the plan; `import_files` says what each means."""

    unmapped: Unmapped = "error"
    day_first: bool | None = None
    keep_placeholder_dates: bool = False
    limit: int | None = None
    seed: int = 0


def make(
    plan: ImportPlan, name: str, wishes: ImportWishes, progress: Progress = silent
) -> tuple[Dataset, ImportReport]:
    """The dataset that a plan comes to, and what to know about it."""
    progress("making records", 0, None)
    making = _Making(plan, name, wishes)
    dataset = Dataset.build(name, making.records())
    report = making.report
    if (ratings := plan.gathered.ratings) is not None:
        dataset = Dataset.build(name, dataset.records, side_tables(ratings, dataset.records))
        report.agreement = ratings.agreement(wishes.seed)
        report.notes.append(agreement_words(report.agreement, ratings.question))
    look_at(dataset.records, report, making.dates, plan.column("date"))
    report.understood = understood(plan, dataset.records)
    report.languages, languages = languages_of(
        dataset.records,
        partial(identify, progress=progress),
        wishes.seed,
        report.duplicate_texts,
    )
    dataset.records = dataset.records.with_columns(language=languages)
    dataset.notes = report.warnings()
    dataset.lineage = [_lineage(plan, wishes, report)]
    return dataset, report


def understood_of(plan: ImportPlan) -> list[str]:
    """What an import of the whole would understand, without the languages of its texts."""
    return understood(plan, to_records(_Making(plan, "", ImportWishes("unknown")).records()))


def refuse_unknown_labels(plan: ImportPlan) -> None:
    """Raise what `make` would raise about labels that no map knows, without the rest of its
    work.
    """
    raw = plan.written("label")
    if raw is not None and "veracity" not in plan.picks:
        _Making(plan, "", ImportWishes())._map_labels(raw)


def _lineage(plan: ImportPlan, wishes: ImportWishes, report: ImportReport) -> Lineage:
    layouts: list[JsonObject] = []
    for table in plan.gathered.tables:
        parameters = table.layout.parameters()
        if parameters not in layouts:
            layouts.append(parameters)
    picks = sorted(plan.picks.items())
    verdicts = plan.verdicts
    return Lineage(
        step="import",
        parameters={
            "columns": {role: pick.column for role, pick in picks if pick.column is not None},
            "constants": {role: pick.value for role, pick in picks if pick.value is not None},
            "kind": plan.kind,
            "layouts": layouts,
            "map": f"{verdicts.name}@{verdicts.version}" if "label" in plan.picks else None,
            **({"task": report.task} if report.task else {}),
            "unmapped": wishes.unmapped,
            "day_first": wishes.day_first,
            "limit": wishes.limit,
            "keep_placeholder_dates": wishes.keep_placeholder_dates,
        },
        seed=wishes.seed,
        inputs=plan.gathered.inputs,
        counts=report.counts(),
    )


class _Making:
    """Records in the making: the plan, the columns that are done, and those that must also stay in
    `meta`.
    """

    def __init__(self, plan: ImportPlan, name: str, wishes: ImportWishes) -> None:
        gathered = plan.gathered
        self.plan, self.name, self.wishes = plan, name, wishes
        self.literal = gathered.literal
        limit = gathered.frame.height if wishes.limit is None else wishes.limit
        self.frame = gathered.frame.head(limit)
        ratings = gathered.ratings
        merged = ratings.merged if ratings is not None else 0
        rows = gathered.frame.height + merged
        self.report = ImportReport(_roles(plan), rows_read=rows, merged_rows=merged)
        self.report.task = plan.verdicts.task if "label" in plan.picks else None
        self.report.left_by_limit = gathered.frame.height - self.frame.height
        self.report.read(gathered.tables, gathered.ignored)
        self.out: dict[str, pl.Series] = {}
        self.keep: list[str] = []
        self.dates: Dates | None = None

    def records(self) -> pl.DataFrame:
        for role, target in _PLAIN.items():
            if (column := self.column(role)) is not None:
                self.out[target] = column
        if (url := self.column("url")) is not None:
            self.out["url"] = url.str.strip_chars()
        self._veracity()
        self._tweet_ids()
        self._splits()
        self._dates()
        self._language()
        self._ids()
        self._meta()
        return self._with_kind(
            pl.DataFrame([series.alias(name) for name, series in self.out.items()])
        )

    def column(self, role: str) -> pl.Series | None:
        if role in self.plan.values:  # only a part of the name of a file or folder is the value
            self.keep.append(str(self.plan.column(role)))
        return self.plan.written(role, self.frame)

    def _veracity(self) -> None:
        own = self.column("veracity")
        if own is not None:
            self.out["veracity"] = own
        elif "label_raw" in self.out:
            self._map_labels(self.out["label_raw"])

    def _map_labels(self, raw: pl.Series) -> None:
        """The veracity of each label; of a cell with several labels the others become tags. Labels
        that no map knows are null and named, where nearly all rows have a label that it knows.
        """
        cells = cells_of(raw.drop_nulls().unique().to_list(), self.plan.verdicts)
        silent = [value for value, cell in cells.items() if cell.verdict is None]
        known = raw.set(raw.is_in(silent), None) if silent else raw
        if self.wishes.unmapped == "error":
            known, unknown = _without_few_unknown(known, self.plan.verdicts, cells)
            self.report.unknown_labels = unknown
        mapped = _map_labels(known, self.plan, cells, self.wishes.unmapped)
        self.out["veracity"] = mapped.veracity
        self.report.unmapped = mapped.unmapped
        if cells:
            self.frame = self.frame.with_columns(tags_column(raw, cells).alias(TAGS))
            self.literal |= {TAGS}
            self.keep.append(TAGS)
            self.report.notes.append(
                f"Cells of '{self.plan.column('label')}' hold several labels: what says nothing of"
                " veracity is in meta, under 'tags'."
            )

    def _tweet_ids(self) -> None:
        written = self.column("tweet_id")
        if written is None and "url" in self.out:
            written = self._linked_ids(self.out["url"])
        if written is None:
            return
        ids = self.out["tweet_id"] = written.str.strip_chars().str.strip_suffix(".0")
        rounded = int(ids.str.contains(r"^\d(\.\d+)?[eE]\+?\d+$").sum())
        if rounded:
            self.report.notes.append(
                f"{several(rounded, 'tweet id')} {verb(rounded, 'was', 'were')} rounded by a"
                f" spreadsheet (1.2E+18) and {verb(rounded, 'names', 'name')} no tweet."
            )

    def _linked_ids(self, links: pl.Series) -> pl.Series | None:
        """The ids in links to posts, where most links are such."""
        most = 0.9 * links.len()
        if (
            links.str.contains("/status", literal=True).sum() or 0
        ) <= most:  # much cheaper than the pattern
            return None
        ids = links.str.extract(_STATUS, 1)
        return ids if ids.count() > most else None

    def _splits(self) -> None:
        written = self.column("split")
        if written is None:
            return
        values = written.drop_nulls().unique().to_list()
        self.out["split"] = replaced(
            written, {v: SPLITS.get(v.strip().lower(), v.strip()) for v in values}
        )

    def _dates(self) -> None:
        column, written = self.plan.column("date"), self.column("date")
        if column is None or written is None:
            return
        dates = self.dates = parse_dates(written, self.wishes.day_first)
        if not self.wishes.keep_placeholder_dates:
            dates.drop_placeholders()
        odd = dates.unparsed or dates.coarse or dates.ambiguous or dates.placeholders
        if odd or len(dates.formats) > 1:  # the way a date was written can give the label away
            self.keep.append(column)
        self.out["date"] = dates.times
        own = self.column("date_source")
        if own is None:
            known = pl.when(dates.times.is_not_null())
            own = pl.select(known.then(pl.lit(f"column {column}"))).to_series()
        self.out["date_source"] = own

    def _language(self) -> None:
        pick, written = self.plan.picks.get("language"), self.column("language")
        if pick is not None and pick.value is not None:
            self.out["language"] = pl.Series([pick.value]).new_from_index(0, self.frame.height)
        if pick is None or pick.column is None or written is None:
            return
        codes = {
            v: normalise(v) if v.strip() else None for v in written.drop_nulls().unique().to_list()
        }
        self.out["language"] = replaced(written, codes)
        strange = sorted(v for v, code in codes.items() if code is None and v.strip())
        if strange:
            self.keep.append(pick.column)
            n = int(written.is_in(strange).sum())
            shown = ", ".join(map(repr, strange[:5]))
            self.report.notes.append(
                f"The language of {several(n, 'record')} is not known ({shown}): it is null."
            )

    def _ids(self) -> None:
        column, written = self.plan.column("id"), self.column("id")
        if column is not None and written is not None:
            ids = written.str.strip_chars()
            missing = ids.null_count() + int((ids == "").sum())
            repeated = repeats(ids)
            if not missing and not repeated:
                self.out["id"] = ids
                return
            why = (
                f"{missing:,} {verb(missing)} missing"
                if missing
                else f"{repeated:,} {verb(repeated)} repeated"
            )
            self.report.notes.append(
                f"The ids in '{column}' are not used because {why}; records are numbered instead."
            )
            self.keep.append(column)
        width = max(6, len(str(self.frame.height)))
        number = pl.int_range(1, self.frame.height + 1, eager=True).cast(pl.String).str.zfill(width)
        self.out["id"] = f"{self.name}-" + number

    def _meta(self) -> None:
        """The columns that nothing claims. claimlab's own `meta`, in a file it wrote, is not
        wrapped a second time.
        """
        columns = [c for c in dict.fromkeys((*self.plan.meta, *self.keep)) if self.frame[c].count()]
        own = self.column("meta")
        if own is None:
            self.out["meta"] = fast_meta_column(self.frame, columns, self.literal)
        elif all(_is_object(v) for v in own.drop_nulls()):
            self.out["meta"] = _joined(own, fast_meta_column(self.frame, columns, self.literal))
        else:
            self.out["meta"] = fast_meta_column(self.frame, [*columns, own.name], self.literal)

    def _with_kind(self, records: pl.DataFrame) -> pl.DataFrame:
        """A record without text that can be fetched by an id or link is `id-only`, whatever the
        others are.
        """
        own = self.column("kind")
        if own is None:
            own = pl.Series([self.plan.kind]).new_from_index(0, records.height)
        text = records["text"] if "text" in records.columns else None
        if text is not None and not text.null_count() and not any_blank(text):
            return records.with_columns(kind=own)
        reachable = [pl.col(c).is_not_null() for c in ("tweet_id", "url") if c in records.columns]
        bare = (
            pl.lit(True) if text is None else ~pl.col("text").str.contains(r"\S").fill_null(False)
        )
        id_only = bare & pl.any_horizontal(reachable or [pl.lit(False)])
        return records.with_columns(kind=pl.when(id_only).then(pl.lit("id-only")).otherwise(own))


def _roles(plan: ImportPlan) -> list[RoleFindings]:
    return [
        RoleFindings(role, pick.column, pick.why, dict(pick.evidence), plan.runner_up(role))
        for role, pick in plan.picks.items()
    ]


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _joined(first: pl.Series, second: pl.Series) -> pl.Series:
    """Two columns of JSON objects as one."""
    if not second.count():
        return first
    rows = zip(first.to_list(), second.to_list(), strict=True)
    merged = [meta_json({**json.loads(a or "{}"), **json.loads(b or "{}")}) for a, b in rows]
    return pl.Series("meta", merged, dtype=pl.String)


def _map_labels(
    raw: pl.Series, plan: ImportPlan, cells: Mapping[str, LabelledCell], unmapped: Unmapped
) -> Mapped:
    """Verdicts of a label column. A cell with several labels of one meaning ("false; hoax") has
    that meaning.
    """
    verdicts = plan.verdicts
    values = [value for value in raw.drop_nulls().unique().to_list() if value not in cells]
    several = {
        v: verdict
        for v in values
        if verdicts.verdict(v) is None and (verdict := verdict_of_parts(v, verdicts))
    }
    several |= {value: cell.verdict for value, cell in cells.items() if cell.verdict is not None}
    if several:
        verdicts = replace(verdicts, verdicts={**verdicts.verdicts, **several})
    try:
        return verdicts.apply(raw, unmapped=unmapped)
    except UnmappedLabels as error:
        raise _question_of_labels(plan, values, error) from None


def _question_of_labels(
    plan: ImportPlan, values: Sequence[str], error: UnmappedLabels
) -> UnmappedLabels:
    """What labels that no map knows mean, with examples and the lines that say so."""
    column, unknown = plan.column("label") or "label", list(error.counts)
    flag = is_flag(unknown) and len(unknown) == len(values)
    maps = offered_maps(column, values, unknown, plan.verdicts, pairs="evidence" in plan.picks)
    coded = any(value.lstrip("-").isdigit() for value in unknown)
    if flag and (not coded or says_what_yes_means(column)):
        maps = flag_maps(column, sorted(unknown))
    choices = [
        *offers(column, unknown, maps, plan.topics),
        Choice("plan", "plan.toml", "writes plan.toml for you to edit; run it again to use it"),
        Choice("unmapped", "unknown", "keep these records with the label unknown"),
        Choice("label", "none", f"'{column}' holds no verdicts: import without labels"),
    ]
    label = plan.written("label")
    shown_values = [] if label is None else examples(label, plan.written("text"))
    return UnmappedLabels(plan.verdicts.name, error.counts, choices, shown_values)


def _without_few_unknown(
    raw: pl.Series, verdicts: LabelMap, cells: Mapping[str, LabelledCell]
) -> tuple[pl.Series, dict[str, list[str]]]:
    """The labels without those that no map knows, where they are few beside labels that it knows;
    and the latter, with how often each occurs and the known word that it is most like.
    """
    counts = tally(raw)
    meaning = {
        value: verdict_of(value, verdicts) or (cells[value].verdict if value in cells else None)
        for value in counts["value"].to_list()
    }
    rows: dict[str, int] = dict(counts.iter_rows())
    unknown = {
        value: n for value, n in rows.items() if meaning[value] is None and not is_blank(value)
    }
    both = {"true", "false"} <= {verdict for verdict in meaning.values() if verdict}
    if not both or not 0 < sum(unknown.values()) <= FEW_UNKNOWN_SHARE * sum(rows.values()):
        return raw, {}
    words = {value: _nearest_words(value, n, verdicts) for value, n in unknown.items()}
    return raw.set(raw.is_in(list(unknown)), None), words


def _nearest_words(value: str, n: int, verdicts: LabelMap) -> list[str]:
    near = nearest(value, verdicts)
    return [str(n), *([f"{value}={near[1]}", near[0]] if near else [f"{value}=VERDICT"])]


def fast_meta_column(
    frame: pl.DataFrame, columns: Sequence[str], literal: Collection[str] = ()
) -> pl.Series:
    """A JSON object per row, keys sorted, nulls left out; null where nothing is left.

    Written as `claimlab.core.record.meta_column` writes it, so that the two ways give the same
    bytes. Columns in `literal` hold JSON values already.
    """
    if not columns:
        return pl.Series("meta", [None], dtype=pl.String).new_from_index(0, frame.height)
    ordered = sorted(columns)
    full = next((i for i, column in enumerate(ordered) if not frame[column].null_count()), None)
    if full is None:
        parts = [pl.concat_str(_part(frame[column], column in literal)) for column in ordered]
        inside = (
            pl.concat_str(parts, separator=", ", ignore_nulls=True) if len(parts) > 1 else parts[0]
        )
        whole = pl.when(inside != "").then(pl.concat_str(pl.lit("{"), inside, pl.lit("}")))
        return frame.select(meta=whole).to_series()
    pieces = [
        pl.lit("{")
    ]  # around a column that every row has, the others bring their own commas: one pass is enough
    for i, column in enumerate(ordered):
        part = _part(frame[column], column in literal)
        part = [*part, pl.lit(", ")] if i < full else [pl.lit(", "), *part] if i > full else part
        pieces += [pl.concat_str(part)] if frame[column].null_count() else part
    return frame.select(meta=pl.concat_str(*pieces, pl.lit("}"), ignore_nulls=True)).to_series()


def _part(column: pl.Series, literal: bool) -> list[pl.Expr]:
    """`"key": value` in pieces. Most columns hold nothing to escape, which is much cheaper."""
    key = json.dumps(column.name, ensure_ascii=False)
    if literal:
        return [pl.lit(f"{key}: "), pl.col(column.name)]
    if not column.str.contains_any(_ESCAPED).any():
        return [pl.lit(f'{key}: "'), pl.col(column.name), pl.lit('"')]
    return [pl.lit(f"{key}: "), json_of(column.name)]
