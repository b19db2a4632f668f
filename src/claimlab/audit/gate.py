"""What a new version of a dataset may change: every amount before and after, and which of them are
too much.

A verdict alone is too coarse for a gate: a leak that fails already may grow from 2 to 40% of the
test, and a test that is cut to a tenth makes its checks inconclusive. An amount that is allowed is
allowed up to its figure, not for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

import polars as pl

from claimlab.audit.result import Audit
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.finding import Finding, Verdict
from claimlab.core.stats.rule import Rule
from claimlab.core.types import JsonObject
from claimlab.core.words import several
from claimlab.tasks import open_task
from claimlab.text.normalise import normal_form

MAX_GROWTH_POINTS = 0.5  # by which a share of records may grow
MAX_LABEL_CHANGES_PERCENT = 0.5  # of the records of both versions
MAX_LOST_PERCENT = 0.5  # of the records, and of a part of the split
UNTOLD = ("not-measured", "not-applicable", None)  # verdicts that tell nothing
RECORDS, LABELS, MOVED, TEXTS = "records", "labels", "split", "texts"  # names of amounts
ROWS_NAMED = 1_000  # records behind an amount
WAYS_NAMED = 3  # of labels, from which to which


@dataclass(frozen=True)
class Amount:
    """One amount of two versions. `excess` says why it is too much; `limit` is what `allow` would
    have to name to accept it.
    """

    name: str
    what: str
    before: float | str | None
    after: float | str | None
    unit: str = ""
    excess: str | None = None
    limit: str = ""
    rows: tuple[str, ...] = ()  # ids of the records behind it

    @property
    def accepting(self) -> str:
        return f"{self.name}={self.limit}" if self.limit else self.name

    def shown(self, value: float | str | None) -> str:
        if value is None or isinstance(value, str):
            return (value or "–").replace("-", " ")
        return f"{value:,.0f}" if self.unit == "" else f"{value:.1f}{self.unit}"


@dataclass(frozen=True)
class Gate:
    """The amounts of two versions, those that are too much first, and exceptions that were not
    needed.
    """

    amounts: tuple[Amount, ...]
    idle: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Amount, ...]:
        return tuple(amount for amount in self.amounts if amount.excess is not None)

    def lines(self) -> list[str]:
        """A line for each amount that is too much."""
        return [f"{amount.what}: {amount.excess}" for amount in self.failed]

    def to_json(self) -> JsonObject:
        rows = [
            {**vars(amount), "rows": list(amount.rows), "accepting": amount.accepting}
            for amount in self.amounts
        ]
        return {"failed": len(self.failed), "amounts": rows, "idle": list(self.idle)}


@dataclass(frozen=True)
class GateLimits:
    """How much may change: points of a share, percent of labels, percent of records; and what is
    accepted beyond that, by name.
    """

    growth: float = MAX_GROWTH_POINTS
    label_changes: float = MAX_LABEL_CHANGES_PERCENT
    lost: float = MAX_LOST_PERCENT
    allow: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def allowed(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What is accepted of each NAME: up to AMOUNT, or "" for whatever it comes to."""
    out: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, amount = word.partition("=")
        if not name.strip() or (equals and not amount.strip()):
            raise UsageError(f"'{word}' is not an exception.", "Write NAME, or NAME=AMOUNT.")
        name = name.strip()
        out[name] = (*out.get(name, ()), amount.strip().removesuffix("%"))
    return out


def gate(
    audits: tuple[Audit, Audit],
    data: tuple[Dataset, Dataset] | None = None,
    limits: GateLimits | None = None,
) -> Gate:
    """Every amount of two audits, and of their datasets where these are at hand."""
    limits = limits or GateLimits()
    amounts = [*_findings(*audits, limits)]
    if data is not None:
        amounts += _records(*data, audits[1].target, limits)
    judged = [_accepted(amount, limits.allow) for amount in amounts]
    names = {amount.name for amount in amounts if amount.excess is not None}
    idle = tuple(name for name in limits.allow if name not in names)
    order = sorted(judged, key=lambda amount: amount.excess is None)
    return Gate(tuple(order), idle)


def _accepted(amount: Amount, allow: Mapping[str, tuple[str, ...]]) -> Amount:
    """The amount without its excess where it is allowed: by a word, or up to a figure."""
    if amount.excess is None or amount.name not in allow:
        return amount
    limits = allow[amount.name]
    if any(is_within(amount.limit, limit) for limit in limits):
        return replace(amount, excess=None)
    return replace(amount, excess=f"{amount.excess}; allowed is {' or '.join(limits)}")


def is_within(value: str, limit: str) -> bool:
    """Whether a result is accepted by an exception: of any amount, of the same word, or of a figure
    that is at least as high.
    """
    try:
        return limit in ("", value) or float(value) <= float(limit)
    except ValueError:
        return False


def _findings(before: Audit, after: Audit, limits: GateLimits) -> Iterator[Amount]:
    """Shares and scores of every finding of either audit."""
    old, new = ({key_of(f): f for f in audit.findings} for audit in (before, after))
    for key in dict.fromkeys([*new, *old]):
        was, now = old.get(key), new.get(key)
        check, feature = key
        what = check if feature in ("", check) else f"{check} ({feature})"
        share = [*_share(check, what, was, now, limits)]
        yield from share
        if not any(amount.excess for amount in share):
            yield from _verdict(check, what, was, now)
        yield from _score(check, what, was, now)


def key_of(finding: Finding) -> tuple[str, str]:
    """A drawn split before and a given one after are the same question."""
    return finding.check, (finding.feature or "").replace(
        "across a random split", "across the given split"
    )


def _verdict(check: str, what: str, was: Finding | None, now: Finding | None) -> Iterator[Amount]:
    """A new fail, and a pass that is no longer measured."""
    before, after = (finding.verdict if finding else None for finding in (was, now))
    if before == "pass" and after in UNTOLD:
        excess = f"passed, and is {_word(after)} now"
        yield Amount(check, what, before, after or "not run", "", excess, after or "not run")
    elif after == "fail" and before != "fail" and now is not None:
        rows = _new_rows(was, now)
        excess = f"{_word(before)} before, fails now ({_figure(now)})"
        yield Amount(check, what, before or "not run", after, "", excess, accepting(now), rows)


def _word(verdict: Verdict | None) -> str:
    return (verdict or "not run").replace("-", " ")


def _figure(finding: Finding) -> str:
    share = share_of(finding)
    if share is not None:
        return f"{share:.1f}%"
    return "–" if finding.score is None else f"macro-F1 {100 * finding.score:.1f}"


def share_of(finding: Finding | None) -> float | None:
    """The share of records that a finding is about, in percent."""
    share = None if finding is None else finding.details.get("share")
    return 100 * float(share) if isinstance(share, int | float) else None


def accepting(finding: Finding) -> str:
    """The amount up to which a fail would have to be accepted, rounded up; the verdict of any other
    result, and of one that has no figure.
    """
    share = share_of(finding)
    figure = share if share is not None else 100 * finding.score if finding.score else None
    if figure is None or finding.verdict not in ("fail", "warn"):
        return finding.verdict
    return _up(figure)


def _new_rows(was: Finding | None, now: Finding) -> tuple[str, ...]:
    """The records that a finding points at and did not before; all where none is new."""
    known = set(was.records) if was is not None else set()
    rows = [record for record in now.records if record not in known]
    return tuple((rows or now.records)[:ROWS_NAMED])


def _share(
    check: str, what: str, was: Finding | None, now: Finding | None, limits: GateLimits
) -> Iterator[Amount]:
    before, after = share_of(was), share_of(now)
    if now is None or after is None or (before is None and not after):
        return
    growth = after - (before or 0.0)
    excess = None
    if growth > limits.growth:
        since = "0 before" if before is None else f"{before:.1f}% before"
        excess = f"{after:.1f}% of {now.n:,} records, {since} (+{growth:.1f} points)"
    yield Amount(check, what, before, after, "%", excess, accepting(now), _new_rows(was, now))


def _score(check: str, what: str, was: Finding | None, now: Finding | None) -> Iterator[Amount]:
    """A score that failed before and is clearly higher now."""
    if was is None or now is None or was.score is None or now.score is None:
        return
    before, after = 100 * was.score, 100 * now.score
    apart = (was.interval or (0, 1))[1] < (now.interval or (0, 1))[0]
    much = after - before > 100 * Rule.margin and now.verdict == was.verdict == "fail" and apart
    excess = f"macro-F1 {after:.1f}, {before:.1f} before" if much else None
    yield Amount(check, what, before, after, " F1", excess, accepting(now), _new_rows(was, now))


def _records(before: Dataset, after: Dataset, target: str, limits: GateLimits) -> Iterator[Amount]:
    """Records, parts of the split, labels and classes of two versions of one dataset."""
    old, new = (_described(data, target) for data in (before, after))
    both, numbered = paired(old, new)
    gone = old.filter(~pl.col("id").is_in(both["id"].implode()))
    lost = 100 * gone.height / max(1, old.height)
    yield Amount(
        RECORDS, "records that are gone", 0.0, lost, "%",
        f"{gone.height:,} of {old.height:,} ({lost:.1f}%)" if lost > limits.lost else None,
        _up(lost), _some(gone["id"]),
    )  # fmt: skip
    yield Amount(RECORDS, "records", old.height, new.height)
    yield from _parts(old, new, gone, limits)
    yield from _changed(both, "side", MOVED, "records on another side of the split", limits.lost)
    yield from _changed(both, "label", LABELS, "labels that changed", limits.label_changes)
    yield from _classes(old, new)
    if not numbered:
        texts = both.filter(pl.col("text").ne_missing(pl.col("text_after")))
        share = 100 * texts.height / max(1, both.height)
        yield Amount(TEXTS, "texts that changed", 0.0, share, "%", rows=_some(texts["id_after"]))


def _described(data: Dataset, target: str) -> pl.DataFrame:
    """Id, text, side and label of every record; a label that the task has no class for is the one
    that was written.
    """
    records = data.records
    labels = open_task(target).labels(records).cast(pl.String)
    raw = records["label_raw"]
    return records.select("id", text=normal_form(records["text"]), side="split").with_columns(
        label=labels.zip_with(labels.is_not_null(), raw), numbered=_is_numbered(data)
    )


def _is_numbered(data: Dataset) -> bool:
    """Whether the ids only number the rows: then an inserted row gives all others another id."""
    names = data.records["id"].str.strip_prefix(f"{data.name}-")
    return bool(names.str.contains(r"^\d{6,}$").all()) and data.records.height > 0


def paired(old: pl.DataFrame, new: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """The records of both versions side by side, by id; where ids only number the rows, by text and
    then by number.
    """
    if not (old["numbered"].any() and new["numbered"].any()):
        keyed = [frame.with_columns(key="id") for frame in (old, new)]
        return keyed[0].join(keyed[1], on="key", suffix="_after"), False
    nth = pl.int_range(pl.len()).over("text")
    first, second = (
        frame.with_columns(key=pl.concat_str("text", nth, separator="\0")) for frame in (old, new)
    )
    by_text = first.drop_nulls("text").join(second.drop_nulls("text"), on="key", suffix="_after")
    rest = [
        frame.filter(~pl.col("id").is_in(by_text[column].implode())).with_columns(key="id")
        for frame, column in ((first, "id"), (second, "id_after"))
    ]
    same_length = old.height == new.height
    by_number = rest[0].join(rest[1] if same_length else rest[1].clear(), on="key", suffix="_after")
    return pl.concat([by_text, by_number]), True


def _parts(
    old: pl.DataFrame, new: pl.DataFrame, gone: pl.DataFrame, limits: GateLimits
) -> Iterator[Amount]:
    """The size of every part of the split; one that is lost or shrinks is too much."""
    sizes = [dict(frame["side"].drop_nulls().value_counts().iter_rows()) for frame in (old, new)]
    for part in sorted({*sizes[0], *sizes[1]}):
        before, after = sizes[0].get(part, 0), sizes[1].get(part, 0)
        shrunk = 100 * (before - after) / before if before else 0.0
        excess = None
        if before and not after:
            excess = f"the part is lost ({several(before, 'record')} before)"
        elif shrunk > limits.lost:
            excess = f"{after:,} records, {before:,} before (-{shrunk:.1f}%)"
        rows = _some(gone.filter(pl.col("side") == part)["id"])
        yield Amount(
            part, f"records of {part}", float(before), float(after), "", excess, _up(shrunk), rows
        )


def _changed(
    both: pl.DataFrame, column: str, name: str, what: str, limit: float
) -> Iterator[Amount]:
    """The share of records of both versions whose `column` differs."""
    with_value = both.filter(pl.col(column).is_not_null())
    changed = with_value.filter(pl.col(column).ne_missing(pl.col(f"{column}_after")))
    share = 100 * changed.height / max(1, with_value.height)
    excess = None
    if share > limit:
        ways = (
            changed.group_by(column, f"{column}_after").len().sort("len", column, descending=True)
        )
        most = "; ".join(
            f"{n:,} {old} to {new or 'none'}" for old, new, n in ways.head(3).iter_rows()
        )
        excess = (
            f"{share:.1f}%, {changed.height:,} of {several(with_value.height, 'record')} ({most})"
        )
    yield Amount(name, what, 0.0, share, "%", excess, _up(share), _some(changed["id_after"]))


def _classes(old: pl.DataFrame, new: pl.DataFrame) -> Iterator[Amount]:
    """The size of every class; one that disappears is too much."""
    sizes = [dict(frame["label"].drop_nulls().value_counts().iter_rows()) for frame in (old, new)]
    for label in sorted({*sizes[0], *sizes[1]}):
        before, after = sizes[0].get(label, 0), sizes[1].get(label, 0)
        excess = f"no record has it, {before:,} before" if before and not after else None
        rows = _some(old.filter(pl.col("label") == label)["id"]) if excess else ()
        yield Amount(
            f"class:{label}", f"records of class {label}", before, after, "", excess, "100", rows
        )


def _up(percent: float) -> str:
    return f"{ceil(percent * 10 - 1e-9) / 10:g}"


def _some(ids: pl.Series) -> tuple[str, ...]:
    return tuple(ids.head(ROWS_NAMED).to_list())
