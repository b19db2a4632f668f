"""What readers make of the columns they found: texts, languages, ids and groups, typed rows, times.

Times come as datasets write them, and go to UTC without a zone. ISO 8601 in its variants, Unix
seconds or milliseconds, and dates that name their month are read everywhere. A spelling that needs
knowing the file ("05/06/2020", "19-Feb-18") is read only where a reader names its format. What
cannot be read with certainty becomes null: a wrong date is worse than none, because temporal checks
and splits trust this column.

The side table `cascade` from published edges: one tree for each record, repaired and counted.

Published trees are not quite trees: edges repeat, a post is its own parent or has several, and
clocks disagree. A post with several parents is put as near to the first post as any of them allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

import polars as pl

from claimlab.core.dates import in_utc, plausible, unix_time
from claimlab.core.languages import normalise
from claimlab.core.record import SCHEMA, SIDE_TABLES, to_side_table
from claimlab.core.words import several
from claimlab.text.snowflake import tweet_time

TEXT = pl.String()
TWITTER_FORMAT = "%a %b %d %H:%M:%S %z %Y"
CERTAIN_FORMATS = (
    TWITTER_FORMAT,
    "%I:%M %p · %b %d, %Y",
    "%B %d, %Y",
    "%b %d, %Y",
    "%d %B %Y",
    "%d %b %Y",
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",  # with one digit, as in 2021-7-9; year first leaves no doubt
)
TWITTER_PAGE = re.compile(
    r"(\d{1,2}:\d{2} [AP]M · [A-Z][a-z]{2} \d{1,2}, \d{4})(?:\s?·.*| from .*)"
)  # Twitter's page adds client or place
UNIX = re.compile(r"\d{9,13}(\.\d+)?")
UNIX_ZERO = date(1970, 1, 1)
EARLY_DECADES = 5  # before the middle one of all dates: earlier ones are odd
FEWEST_DATES = 20  # dates that have a middle worth the name
EARLY = f"more than {EARLY_DECADES} decades before half of the dates"
NODE, TELLER = ["record_id", "child"], ["record_id", "parent"]
OWN = pl.col("parent") == pl.col("child")


def as_text(values: Iterable[str | None]) -> pl.Series:
    """A column of texts, whatever the first values are."""
    return pl.Series(list(values), dtype=pl.String)


def blank_to_null(values: pl.Series) -> pl.Series:
    """`values` as stripped text; empty ones are null."""
    stripped = values.cast(pl.String).str.strip_chars()
    return stripped.set(stripped == "", None)


def title_and_body(title: pl.Series, body: pl.Series) -> pl.Series:
    """The headline, a blank line and the body, since a reader sees both; either alone where the
    other is missing.
    """
    frame = pl.DataFrame({"title": blank_to_null(title), "body": blank_to_null(body)})
    both = pl.concat_str("title", "body", separator="\n\n", ignore_nulls=True)
    empty = pl.all_horizontal(pl.col("title", "body").is_null())
    return frame.select(text=pl.when(empty).then(None).otherwise(both))["text"]


def languages(values: pl.Series) -> pl.Series:
    """Codes, tags or English names as ISO 639-3; what nothing is known by is null."""
    codes = {code: normalise(code) for code in values.drop_nulls().unique()}
    return pl.Series("language", [codes.get(code) for code in values], dtype=pl.String)


def host(url: pl.Expr) -> pl.Expr:
    """The host of a web address without "www."; null for anything else."""
    return url.str.extract(r"^https?://(?:www\.)?([^/?#:]+)")


def post_or_id(text: pl.Series) -> pl.Series:
    """The column `kind` of posts: one without its text is an id alone."""
    return pl.select(
        kind=pl.when(text.is_null()).then(pl.lit("id-only")).otherwise(pl.lit("post"))
    ).to_series()


def numbered(prefix: str, height: int, width: int = 6) -> pl.Series:
    """`prefix-000001` and on, in the order of the file."""
    width = max(width, len(str(height)))
    ids = [f"{prefix}-{number:0{width}}" for number in range(1, height + 1)]
    return pl.Series("id", ids, dtype=pl.String)


def distinct(ids: pl.Series) -> pl.Series:
    """`ids` with "-2", "-3" ... behind those that came before: a file may hold a tweet, or a
    rounded id, twice.
    """
    frame = pl.DataFrame({"id": ids})
    earlier = pl.int_range(pl.len()).over("id")
    again = pl.format("{}-{}", "id", earlier + 1)
    return frame.select(pl.when(earlier == 0).then("id").otherwise(again))["id"]


def unique_ids(prefix: str, keys: pl.Series) -> pl.Series:
    """`prefix-key`, with "-2", "-3" behind a key that comes again and the row's number for a
    missing one.
    """
    texts = keys.cast(pl.String).to_list()
    names = [f"{prefix}-{(key or '').strip() or f'row{row}'}" for row, key in enumerate(texts, 1)]
    return distinct(pl.Series("id", names, dtype=pl.String))


def repeated(texts: pl.Series, ids: pl.Series) -> pl.Series:
    """A group for rows that say the same, case and whitespace aside: the id of the first; null for
    a single.
    """
    folded = texts.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    frame = pl.DataFrame({"key": folded, "id": ids})
    again = pl.col("key").is_not_null() & (pl.len().over("key") > 1)
    first = pl.col("id").first().over("key")
    return frame.select(group=pl.when(again).then(first))["group"]


Row = Mapping[str, object]


def record_rows(rows: Sequence[Row]) -> pl.DataFrame:
    """`rows` as records, with the columns that the first one names."""
    return _typed(rows, {c: SCHEMA.get(c, TEXT) for c in (rows[0] if rows else ("id", "text"))})


def side_rows(table: str, rows: Iterable[Row]) -> pl.DataFrame:
    """`rows` as the side table `table`; columns that a row does not name are null."""
    return _typed(list(rows), SIDE_TABLES[table])


def answers(
    frame: pl.DataFrame,
    questions: Mapping[str, str],
    *,
    annotator: str | None = None,
    blank: Sequence[str] = (),
) -> pl.DataFrame:
    """People's answers on the records `id` as annotations, a row for each; `questions` says what
    each column answers.

    Null, the empty text and the values in `blank` mean that a question was not asked or not
    settled: no answer.
    """
    long = frame.unpivot(list(questions), index="id", variable_name="question")
    return long.filter(~pl.col("value").str.strip_chars().is_in(["", *blank])).select(
        record_id="id",
        annotator=pl.lit(annotator, pl.String),
        annotator_kind=pl.lit("human"),
        question=pl.col("question").replace_strict(questions),
        value="value",
    )


def _typed(rows: Sequence[Row], schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    return pl.DataFrame(
        {c: pl.Series(c, [row.get(c) for row in rows], dtype=t) for c, t in schema.items()}
    )


def utc(values: pl.Series, *formats: str) -> pl.Series:
    """`values` as a column `date`; `formats` are those of this file, for `strptime`, tried before
    the usual ones.
    """
    texts = values.cast(pl.String)
    moments = {text: moment(text, *formats) for text in texts.drop_nulls().unique()}
    return pl.Series("date", [moments.get(text) for text in texts], dtype=pl.Datetime("us"))


def dated(
    readings: Mapping[str, pl.Series], *formats: str, written: pl.Series | None = None
) -> dict[str, pl.Series]:
    """The columns `date` and `date_source` from times by where they come from: of several, the
    first that is there.

    Text is read as by `utc`; `written` is the text of readings that a loader has read itself. What
    a row has in writing while no date can be read goes to `date_raw`: the catalogue counts these,
    shows one, and keeps each in `meta`.
    """
    times = {k: utc(v, *formats) if v.dtype == pl.String else v for k, v in readings.items()}
    frame = pl.DataFrame(times)
    sources = [
        pl.when(values.is_not_null()).then(pl.lit(source)) for source, values in times.items()
    ]
    dates = frame.select(date=pl.coalesce(frame.columns), date_source=pl.coalesce(sources))
    texts = [v for v in (written, *readings.values()) if v is not None and v.dtype == pl.String]
    nothing = pl.Series([None] * dates.height, dtype=pl.String)
    raw = pl.select(pl.coalesce(*texts, nothing)).to_series()
    unread = raw.set(dates["date"].is_not_null(), None)
    return dates.with_columns(date_raw=unread).to_dict()


def moment(text: str, *formats: str) -> datetime | None:
    """One time; without a zone it is taken as UTC. A day at Unix zero is what scrapers write when
    they found none.
    """
    value = " ".join(text.replace("\ufeff", "").split())
    if page := TWITTER_PAGE.fullmatch(value):
        value = page[1]
    if UNIX.fullmatch(value):
        return unix_time(float(value))
    instant = _parsed(value, formats)
    if instant is None or not plausible(instant) or instant.date() == UNIX_ZERO:
        return None
    return in_utc(instant)


def _parsed(value: str, formats: tuple[str, ...]) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        pass
    for form in (*formats, *CERTAIN_FORMATS):
        try:
            return datetime.strptime(value, form)
        except ValueError:
            continue
    return None


def tweet_ids(raw: pl.Series) -> pl.Series:
    """The values that name a tweet. What a spreadsheet rounded ("1.37041E+18") names none any more:
    null.
    """
    text = raw.cast(pl.String).str.strip_chars()
    return text.set(~text.str.contains(r"^[0-9]{1,19}$").fill_null(False), None)


def sent(ids: pl.Series) -> dict[str, pl.Series]:
    """The columns `date` and `date_source` as the ids themselves tell them."""
    return dated({"snowflake id": tweet_time(ids)})


def earliest(days: pl.Series) -> date | None:
    """The first day of the year that is `DECADES` before the middle one of `days`; null where they
    are few.
    """
    sorted_days = days.drop_nulls().sort()
    middle = sorted_days[sorted_days.len() // 2] if sorted_days.len() >= FEWEST_DATES else None
    return date(middle.year - 10 * EARLY_DECADES, 1, 1) if isinstance(middle, date) else None


def cascades(edges: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """`edges` (record_id, parent, child, delay in minutes) as the table `cascade`, and what was
    repaired. Null is the parent of the first post, from which all delays count.
    """
    nodes = edges.unique(NODE, keep="first").select(
        "record_id", parent="child", before="delay", known=True
    )
    roots = edges.filter(pl.col("parent").is_null()).unique(
        "record_id", keep="first", maintain_order=True
    )
    lines = edges.join(nodes, on=TELLER, how="left", maintain_order="left").join(
        roots.select("record_id", root="child"), on="record_id", maintain_order="left"
    )
    ties = lines.filter(pl.col("child") != pl.col("root"), OWN.is_null() | ~OWN)
    adrift = pl.col("known").is_null()
    trees = _trees(
        ties.with_columns(parent=pl.when(adrift).then("root").otherwise("parent")), roots
    )
    repairs = {
        "negative delays": edges.filter(pl.col("delay") < 0).height,
        "posts before their parent": lines.filter(pl.col("delay") < pl.col("before")).height,
        "posts that are their own parent": edges.filter(OWN).height,
        "edges given again": edges.height - edges.select(*TELLER, "child").unique().height,
        "posts without a parent, put under the first": ties.filter(adrift).height,
        "posts that no parent reaches, left out": nodes.height - trees.height,
    }
    counts = "; ".join(f"{what}: {n:,}" for what, n in repairs.items() if n)
    note = f"Cascades of {several(roots.height, 'record')}: {several(trees.height, 'post')}."
    return to_side_table("cascade", trees), f"{note} Repaired: {counts}." if counts else note


def _trees(ties: pl.DataFrame, roots: pl.DataFrame) -> pl.DataFrame:
    """All posts by their depth: the first ones, those below them, and so on. None is before its
    parent.
    """
    level = roots.with_columns(depth=pl.lit(0), zero=pl.col("delay").fill_null(0.0))
    level = level.with_columns(delay=pl.col("delay") - pl.col("zero"))
    levels = []
    while level.height:
        levels.append(level.select(*NODE, "parent", "delay", "depth"))
        tellers = level.select("record_id", "depth", "zero", parent="child", teller="delay")
        ties = ties.join(level, on=NODE, how="anti", maintain_order="left")
        since = pl.max_horizontal(pl.col("delay") - pl.col("zero"), "teller")
        level = (
            ties.join(tellers, on=TELLER, maintain_order="left")
            .unique(NODE, keep="first", maintain_order=True)
            .with_columns(
                depth=pl.col("depth") + 1, delay=pl.when(pl.col("delay").is_not_null()).then(since)
            )
        )
    return pl.concat(levels).sort("record_id", maintain_order=True)
