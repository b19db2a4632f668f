"""What an import understood, in words: what one record is, and what the values of the label mean,
with an example of each. A label that was read the wrong way round is seen at once.
"""

from __future__ import annotations

import polars as pl

from claimlab.core.record import VERACITIES
from claimlab.core.words import several
from claimlab.exchange.importing.plan import EXAMPLE_CHARACTERS, ImportPlan, shown, tally
from claimlab.exchange.importing.texts import MANY_FILES
from claimlab.tasks import open_task

WORDS_SHOWN, WORD_CHARACTERS = 3, 30  # raw labels of one meaning, and characters of one
CLASSES_SHOWN = 8  # of a task without verdicts


def understood(plan: ImportPlan, records: pl.DataFrame) -> list[str]:
    """A line on the records, and one on their label."""
    return [_of_records(plan, records), _of_label(plan, records)]


def _of_records(plan: ImportPlan, records: pl.DataFrame) -> str:
    ids_only = records.height and (records["kind"] == "id-only").all()
    kind = "id without its text" if ids_only else plan.kind
    ratings, tables = plan.gathered.ratings, plan.gathered.tables
    rows = ""
    if ratings is not None and ratings.merged:
        total = records.height + ratings.merged
        what = "file has" if len(tables) == 1 else "files have"
        rows = f"; the {what} {total:,} rows: one for each annotator"
    elif ratings is not None:
        rows = "; the labels of its annotators are in columns"
    elif any(table.name == MANY_FILES for table in tables):
        rows = ", each in a file of its own"
    return f"one record = one {kind} ({records.height:,}{rows})"


def _of_label(plan: ImportPlan, records: pl.DataFrame) -> str:
    column = plan.column("label")
    if column is None and "veracity" not in plan.picks:
        return "no label: nothing is said about truth"
    name = f"label '{column or plan.column('veracity')}'"
    if plan.verdicts.task is not None and "veracity" not in plan.picks:
        return f"{name}, not about truth but {plan.verdicts.task}: {_classes(plan, records)}"
    counts = records.group_by("veracity", "label_raw").len(name="n")
    silent = counts.filter(pl.col("veracity").is_null())
    parts = [
        _part(verdict, of_verdict, records)
        for verdict in VERACITIES
        if (of_verdict := counts.filter(veracity=verdict)).height
    ]
    others = int(silent.drop_nulls("label_raw")["n"].sum())
    parts += [f"{others:,} with another word, null"] if others else []
    bare = int(silent["n"].sum()) - others
    parts += [f"{bare:,} without a label"] if bare else []
    return f"{name}: {'; '.join(parts)}" if parts else f"{name}: empty in every record"


def _part(verdict: str, counts: pl.DataFrame, records: pl.DataFrame) -> str:
    """How many records have a verdict, by which words, and the first of their texts."""
    ordered = counts.drop_nulls("label_raw").sort(["n", "label_raw"], descending=[True, False])
    words = ordered["label_raw"].to_list()
    written = [shown(word, WORD_CHARACTERS) for word in words[:WORDS_SHOWN]]
    own = {word.strip().casefold() for word in words} <= {verdict}
    more = f" and {len(words) - WORDS_SHOWN} more" if len(words) > WORDS_SHOWN else ""
    listed = "" if own else f": {', '.join(repr(word) for word in written)}{more}"
    has_text = (records["veracity"] == verdict) & records["text"].is_not_null()
    first = has_text.arg_max() if has_text.any() else None
    text = None if first is None else records["text"][first]
    example = "" if text is None else f', e.g. "{shown(text, EXAMPLE_CHARACTERS)}"'
    return f"{verdict} ({counts['n'].sum():,}{listed}){example}"


def _classes(plan: ImportPlan, records: pl.DataFrame) -> str:
    """The classes of a task; values that it does not read are counted."""
    labels = open_task(str(plan.verdicts.task), records).labels(records)
    parts = [
        f"{shown(value, WORD_CHARACTERS)} ({n:,}){_example(records.filter(labels == value))}"
        for value, n in tally(labels).head(CLASSES_SHOWN).iter_rows()
    ]
    unread = records["label_raw"].count() - labels.count()
    parts += [f"{several(unread, 'record')} with another label"] if unread else []
    return "; ".join(parts)


def _example(rows: pl.DataFrame) -> str:
    texts = rows["text"].drop_nulls().head(1)
    return f', e.g. "{shown(texts[0], EXAMPLE_CHARACTERS)}"' if texts.len() else ""
