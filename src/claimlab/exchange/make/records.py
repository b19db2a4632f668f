"""From a table of text and a plan of its columns to the record table.

Texts and labels are kept as they are written. A value that had to be changed and could not be (a
date that cannot be read, an id that is used twice) stays in `meta`, so that nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import polars as pl

from claimlab.core.labels import Unmapped
from claimlab.core.languages import normalise
from claimlab.core.record import any_blank, meta_json
from claimlab.core.words import several, verb
from claimlab.exchange.dates import Dates, parse_dates
from claimlab.exchange.guess.plan import Plan
from claimlab.exchange.make.findings import repeats
from claimlab.exchange.make.labels import map_labels
from claimlab.exchange.make.meta import fast_meta_column
from claimlab.exchange.make.report import ImportReport
from claimlab.exchange.vocabulary import SPLITS
from claimlab.files.typed import literal_text

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


class Making:
    """Records in the making: the plan, the columns that are done, and those that must also stay in
    `meta`.
    """

    def __init__(
        self,
        plan: Plan,
        name: str,
        unmapped: Unmapped,
        day_first: bool | None,
        limit: int | None,
        keep_dates: bool,
    ) -> None:
        gathered = plan.gathered
        self.plan, self.name = plan, name
        self.unmapped, self.day_first, self.limit, self.keep_dates = (
            unmapped,
            day_first,
            limit,
            keep_dates,
        )
        self.literal = gathered.literal
        self.frame = gathered.frame.head(limit) if limit is not None else gathered.frame
        self.report = ImportReport(rows_read=gathered.frame.height)
        self.report.left_by_limit = gathered.frame.height - self.frame.height
        self.report.read(gathered.tables, gathered.ignored)
        self.report.label_columns = plan.few_values()
        self.out: dict[str, pl.Series] = {}
        self.keep: list[str] = []
        self.dates: Dates | None = None

    def records(self) -> pl.DataFrame:
        for role, target in _PLAIN.items():
            if (column := self._column(role)) is not None:
                self.out[target] = column
        if (url := self._column("url")) is not None:
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

    def labels(self) -> pl.Series | None:
        """The labels as they are written."""
        return self._column("label")

    def _column(self, role: str) -> pl.Series | None:
        name = self.plan.column(role)
        if name is None:
            return None
        values = literal_text(self.frame[name]) if name in self.literal else self.frame[name]
        if (
            role in self.plan.values
        ):  # the name of a file or folder, of which only a part is the value
            self.keep.append(name)
            return _replaced(values, self.plan.values[role])
        return values

    def _veracity(self) -> None:
        own = self._column("veracity")
        if own is not None:
            self.out["veracity"] = own
        elif "label_raw" in self.out:
            column = self.plan.column("label") or "label"
            mapped = map_labels(self.out["label_raw"], column, self.plan.verdicts, self.unmapped)
            self.out["veracity"] = mapped.veracity
            self.report.unmapped = mapped.unmapped

    def _tweet_ids(self) -> None:
        written = self._column("tweet_id")
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
        written = self._column("split")
        if written is None:
            return
        values = written.drop_nulls().unique().to_list()
        self.out["split"] = _replaced(
            written, {v: SPLITS.get(v.strip().lower(), v.strip()) for v in values}
        )

    def _dates(self) -> None:
        column, written = self.plan.column("date"), self._column("date")
        if column is None or written is None:
            return
        self.dates = parse_dates(written, self.day_first)
        if not self.keep_dates:
            self.dates.drop_placeholders()
        odd = (
            self.dates.unparsed
            or self.dates.coarse
            or self.dates.ambiguous
            or self.dates.placeholders
        )
        if odd or len(self.dates.formats) > 1:  # the way a date was written can give the label away
            self.keep.append(column)
        self.out["date"] = self.dates.times
        known = pl.DataFrame({"t": self.dates.times})
        origin = known.select(
            pl.when(pl.col("t").is_not_null()).then(pl.lit(f"column {column}"))
        ).to_series()
        own = self._column("date_source")
        self.out["date_source"] = origin if own is None else own

    def _language(self) -> None:
        pick, written = self.plan.picks.get("language"), self._column("language")
        if pick is not None and pick.value is not None:
            self.out["language"] = pl.Series([pick.value]).new_from_index(0, self.frame.height)
        if pick is None or pick.column is None or written is None:
            return
        codes = {
            v: normalise(v) if v.strip() else None for v in written.drop_nulls().unique().to_list()
        }
        self.out["language"] = _replaced(written, codes)
        strange = sorted(v for v, code in codes.items() if code is None and v.strip())
        if strange:
            self.keep.append(pick.column)
            n = int(written.is_in(strange).sum())
            shown = ", ".join(map(repr, strange[:5]))
            self.report.notes.append(
                f"The language of {several(n, 'record')} is not known ({shown}): it is null."
            )

    def _ids(self) -> None:
        column, written = self.plan.column("id"), self._column("id")
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
        own = self._column("meta")
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
        own = self._column("kind")
        kind = pl.lit(self.plan.kind) if own is None else pl.lit(own)
        reachable = [pl.col(c).is_not_null() for c in ("tweet_id", "url") if c in records.columns]
        text = records["text"] if "text" in records.columns else None
        bare = pl.lit(True) if text is None else pl.col("text").is_null()
        if text is not None and any_blank(text):
            bare = ~pl.col("text").str.contains(r"\S").fill_null(False)
        id_only = bare & pl.any_horizontal(reachable or [pl.lit(False)])
        return records.with_columns(
            pl.when(id_only).then(pl.lit("id-only")).otherwise(kind).alias("kind")
        )


def _replaced(written: pl.Series, table: Mapping[str, str | None]) -> pl.Series:
    return written.replace_strict(table, default=None, return_dtype=pl.String) if table else written


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
