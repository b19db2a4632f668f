"""Try what an audit advises before it is printed: make the split, clean and mask a copy and audit
that again, and ask a text model whether there is anything to learn. Nothing is written.

The commands are those of a user: `split` and `clean` are called by their names, as the front door
has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import polars as pl

from claimlab.audit import fair, text_model
from claimlab.audit.advice import advise, defect_of
from claimlab.audit.advice_rules import ALARMS, rule_for
from claimlab.audit.check import sampled
from claimlab.audit.ladder import (
    LEAST_OF_A_CLASS,
    Case,
    Grounds,
    LabelColumn,
    SplitTrial,
    TextModel,
    chance_of_mixed,
    place,
)
from claimlab.audit.remedy import RemedyCase, split_name
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError
from claimlab.core.finding import Finding
from claimlab.core.front_door import FUNCTIONS
from claimlab.core.stats.interval import LEAST_UNITS
from claimlab.core.stats.scores import majority_f1
from claimlab.core.units import Units, noun_of
from claimlab.core.words import several
from claimlab.tasks import TRUTH
from claimlab.text.roles import role_values, roles_in

ORIGINS = ("source", "author", "domain", "speaker")  # roles that say who published
COLLECTED = ("topic", "language", "dataset")  # other columns that a label may follow
UNIT_OF = {"time": "day", "near-duplicates": "cluster"}  # of what a split keeps on one side
SHARES = (None, "60/10/30", "50/10/40")  # of a split, until a side has enough units
MOST_MODEL_ROWS = 3_000  # records that the text model reads
SIGNAL_LEVEL = 0.01  # of the test against shuffled labels: a verdict should not turn on luck
ENOUGH_RECORDS, ENOUGH_OF_A_CLASS = 0.5, 0.5  # of all records and of each class, after cleaning
TEXT_CHECKS = ("length", "keywords", "surface", "giveaways")  # audited again in any case
REDONE = ("property", "repair")  # what cleaning may settle: these checks are audited again
CLEANING = ("clean", "prepare")  # steps of a lineage that leave records out
NEVER_AGAIN = ("evidence",)  # cleaning changes no evidence
# What tasks call the values of a column
SAME = {
    "source": ("publisher", "outlet", "site", "media"),
    "author": ("speaker", "user", "account"),
}

Audit = Callable[[Dataset, Sequence[str]], Sequence[Finding]]


def tried(
    dataset: Dataset,
    findings: Sequence[Finding],
    subject: Subject,
    audit: Audit,
    *,
    checks: int | None = None,
) -> Grounds:
    """What the verdict rests on beside the findings; `audit` puts a dataset to checks by name, and
    `checks` counts those that were named."""
    grounds = Grounds(
        classes=subject.class_counts,
        checks=checks,
        drawn_of=drawn_of(dataset),
        left_out=left_out(dataset),
    )
    if len(subject.classes) < 2 or min(subject.class_counts.values()) < LEAST_OF_A_CLASS:
        return grounds
    every = [finding for each in findings for finding in each.every]
    alarms = [finding for finding in every if finding.verdict in ALARMS]
    columns = label_columns(subject)
    splits = list(_splits(dataset, subject, alarms, columns))
    grounds = grounds.model_copy(update={"columns": columns, "splits": splits})
    if grounds.label_column is not None:
        return grounds
    copy = None
    if masks := _masks(subject, alarms):
        copy, lost = _cleaned(dataset, subject, masks)
        grounds = grounds.model_copy(update={"lost": lost})
    defects = [defect_of(finding) for finding in alarms]
    if copy is not None:
        again = [defect for defect in defects if defect.weighs not in REDONE]
        names = sorted({f.check for f in alarms if rule_for(f).weighs in REDONE} - {*NEVER_AGAIN})
        again += [
            defect_of(finding)
            for finding in audit(copy, sorted({*names, *TEXT_CHECKS}))
            if finding.verdict in ALARMS and rule_for(finding).weighs in REDONE
        ]
        grounds = grounds.model_copy(update={"after": again})
    rung = place(Case(subject.target, defects, grounds))
    if checks is None and rung.number > 3 and subject.has_text:
        about = subject if copy is None else Subject.of(copy, subject.target, subject.context)
        text = _text(about, closely=rung.number > 4)
        grounds = grounds.model_copy(update={"text": text})
    return grounds


def drawn_of(dataset: Dataset) -> int | None:
    """Of how many records these were drawn; null where all were read."""
    counts = [step.counts for step in dataset.lineage if step.step == "sample"]
    return counts[-1].get("of", counts[-1].get("before")) if counts else None


def left_out(dataset: Dataset) -> str | None:
    """What an earlier cleaning left out, in words; null where nothing was."""
    steps = [step.counts for step in dataset.lineage if step.step in CLEANING]
    counts = [step for step in steps if {"in", "records"} <= set(step)]
    if counts and counts[0]["in"] != counts[-1]["records"]:
        before, kept = counts[0]["in"], counts[-1]["records"]
        return f"{before - kept:,} of {several(before, 'record')} left out"
    return None


def label_columns(subject: Subject) -> list[LabelColumn]:
    """How far the labels follow each column that says where a record comes from, or what it
    belongs to."""
    rows = subject.rows
    roles = roles_in(rows)
    others = {name: rows[name] for name in COLLECTED} | {"year": rows["date"].dt.year()}
    return [
        column
        for name, values in (roles | others).items()
        if (column := _label_column(subject, name, values.cast(pl.String))) is not None
    ]


def _label_column(subject: Subject, name: str, values: pl.Series) -> LabelColumn | None:
    """Null where the column has fewer than two values that recur."""
    table = pl.DataFrame({"value": values, "y": subject.y}).drop_nulls()
    tally = table.group_by("value").agg(n=pl.len(), classes=pl.col("y").n_unique())
    recurring = tally.filter(pl.col("n") > 1)
    records = int(recurring["n"].sum())
    if recurring.height < 2:
        return None
    both = recurring.filter(pl.col("classes") > 1)
    here = table.join(recurring, on="value", how="semi")["y"]
    shares = {str(y): n / records for y, n in here.value_counts(name="n").iter_rows()}
    return LabelColumn(
        column=name,
        split={"year": "time"}.get(name, name),
        counted=several(recurring.height, noun_of(name)),
        values=recurring.height,
        both=both.height,
        recurring=records / subject.n,
        mixed=int(both["n"].sum()) / records,
        chance=chance_of_mixed(recurring["n"].to_list(), shares),
        about=is_about(subject.target, name),
        origin=name in ORIGINS,
    )


def is_about(target: str, column: str) -> bool:
    """Whether a task judges the values of a column: that column, or what is named after it, such as
    the reliability of a publisher."""
    words = set(target.removeprefix("meta.").lower().replace("_", "-").split("-"))
    name = column.removeprefix("meta.").lower()
    return bool(words & {name, *SAME.get(name, ())})


def _splits(
    dataset: Dataset, subject: Subject, alarms: Sequence[Finding], columns: Sequence[LabelColumn]
) -> Iterator[SplitTrial]:
    """Every split that advice would name, made dry, once; and those by a column that the labels
    follow."""
    names = [split_name(finding) for finding in alarms]
    named = [*filter(None, names), *(column.split for column in columns if column.is_label)]
    for name in dict.fromkeys(named):
        follows = [column for column in columns if column.split == name and column.is_label]
        if any(column.origin for column in follows):
            why = f"the label is the {name}"
            yield SplitTrial(name=name, by="column", column=name, why_not=why)
            continue
        yield made_dry(dataset, subject, name)


def made_dry(
    dataset: Dataset, subject: Subject, name: str, *, drop_leaks: bool = False
) -> SplitTrial:
    """A split that holds out values of `name`, with the first shares that leave enough of
    everything on each side."""
    named = name in ("near-duplicates", "time", "domain")
    options = {"by": name} if named else {"by": "column", "column": name}
    task = {} if subject.target == TRUTH else {"task": subject.target}
    labels = subject.labels.rename({"label": "class"})
    given = _held_out_already(subject, name)
    failed = None
    for shares in SHARES:
        chosen = options if shares is None else {**options, "shares": shares}
        trial = SplitTrial.model_validate({"name": name, "done": given, **chosen})
        try:
            made = FUNCTIONS.get("split")(
                dataset, **chosen, **task, drop_leaks=drop_leaks, seed=subject.seed
            )
        except ClaimlabError as error:
            why = error.problem.rstrip(".")
            return trial.model_copy(update={"why_not": f"{why[:1].lower()}{why[1:]}"})
        whole = made.parts.apart if made.parts.apart is not None else made.parts.whole
        sides = made.dataset.records.select("id", "split", unit=whole).drop_nulls("split")
        trial = _weighed(trial, sides.join(labels, on="id"), subject.classes)
        if trial.possible:
            return trial
        failed = failed or trial
    assert failed is not None
    return failed


def _weighed(trial: SplitTrial, sides: pl.DataFrame, classes: Sequence[str]) -> SplitTrial:
    """The trial with the classes and units of each side, and what is missing there."""
    counts, units, missing, tested = {}, {}, [], ""
    for side in ("train", "dev", "test"):
        part = sides.filter(split=side)
        if side == "dev" and not part.height:
            continue
        counts[side] = {name: part.filter(pl.col("class") == name).height for name in classes}
        of_side = Units.by(UNIT_OF.get(trial.name, trial.name), part["unit"])
        units[side] = of_side.effective
        tested = of_side.words if side == "test" else ""
        rarest = min(classes, key=lambda name: counts[side][name])
        least = 1 if side == "dev" else LEAST_UNITS
        if counts[side][rarest] < least:
            missing.append(f"{side} would have {counts[side][rarest]} '{rarest}'")
        elif side != "dev" and units[side] < LEAST_UNITS:
            missing.append(f"{side} would have {of_side.why_not}")
    why_not = next(iter(missing), None)
    found = {"sides": counts, "units": units, "test": tested, "why_not": why_not}
    return trial.model_copy(update=found)


def _held_out_already(subject: Subject, name: str) -> bool:
    """Whether the given split has no value of a column in train and test."""
    rows = subject.rows
    column = rows["date"].dt.date() if name == "time" else role_values(rows, name)
    if column is None and name in rows.columns:
        column = rows[name]
    if column is None:
        return False
    table = pl.DataFrame({"value": column.cast(pl.String), "split": rows["split"]}).drop_nulls()
    train, test = (table.filter(split=side)["value"] for side in ("train", "test"))
    if not train.len() or not test.len():
        return False
    if name == "time":
        return str(train.max()) < str(test.min())
    return not test.is_in(train.unique().implode()).any()


def _masks(subject: Subject, alarms: Iterable[Finding]) -> dict[str, None] | None:
    """What the advised cleaning takes out of texts; null where nothing is advised to be cleaned."""
    advised = advise(alarms, RemedyCase((), "DIR", target=subject.target))
    calls = [call for advice in advised for call in advice.commands if call.function == "clean"]
    repairs = any(rule_for(finding).weighs == "repair" for finding in alarms)
    if not calls and not repairs:
        return None
    masks: dict[str, None] = {}
    for call in calls:
        mask = call.options.get("mask", ())
        masks |= dict.fromkeys([mask] if isinstance(mask, str) else map(str, mask or ()))
    return masks


def _cleaned(
    dataset: Dataset, subject: Subject, masks: Iterable[str]
) -> tuple[Dataset | None, str | None]:
    """The copy that is cleaned and masked as advised; null where too little is left, or what the
    masks leave of an untouched one, with how much cleaning alone would leave."""
    task = {} if subject.target == TRUTH else {"task": subject.target}
    try:
        copy: Dataset = FUNCTIONS.get("clean")(
            dataset, mask=list(masks), seed=subject.seed, **task
        ).dataset
    except ClaimlabError:
        return None, None
    if enough_left(dataset, copy, subject.target):
        return copy, None
    after = Subject.of(copy, subject.target).n
    return None, f"{after:,} of {several(subject.n, 'record')}"


def enough_left(before: Dataset, after: Dataset, target: str | None = None) -> bool:
    """Whether cleaning leaves most records, and some of each class: what it left out is the finding
    otherwise, and an audit of the rest would not show it.
    """
    all_records, rest = (Subject.of(dataset, target).class_counts for dataset in (before, after))
    each = all(rest.get(name, 0) >= ENOUGH_OF_A_CLASS * n for name, n in all_records.items())
    return each and sum(rest.values()) >= ENOUGH_RECORDS * sum(all_records.values())


def _text(subject: Subject, *, closely: bool) -> TextModel | None:
    """What a plain text model reaches, `closely` against shuffled labels, too."""
    part = sampled(subject, MOST_MODEL_ROWS)
    part = part.where(part.rows["text"].is_not_null())
    if fair.unmeasurable(part) is not None:
        return None
    scored = text_model.text_score(part, part.rows["text"])
    majority = majority_f1(part.sizes)
    if not closely:
        return TextModel(score=scored.score, chance=float(majority))
    measured = text_model.against_baselines(part, scored)
    return TextModel(
        score=scored.score,
        chance=scored.score - measured.difference,
        signal=measured.p <= SIGNAL_LEVEL and measured.difference_interval[0] > 0,
    )
