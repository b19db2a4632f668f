"""Split a dataset: a strategy says who goes where, the check looks at what came of it, and both are
kept with the data.

by_source = cl.split("data/liar", by="source", output="data/liar-by-source")
by_source.dataset            # the dataset with its column `split`
by_source.checked.leaks      # what is on two sides
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import Annotated, Unpack

from claimlab.core.call import repeatable
from claimlab.core.choices import Word, each_of, one_of
from claimlab.core.columns import conditions
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.guard import DATASET, seal_folder
from claimlab.core.options import (
    Argument,
    DataOptions,
    Force,
    Limit,
    Option,
    OptionalFolder,
    Place,
    Seed,
    Setting,
    TaskName,
)
from claimlab.core.plain import slug
from claimlab.core.run import Run, Source, folders_of
from claimlab.split.job import SplitChoices, make, make_all, prepare
from claimlab.split.result import Failed, Split
from claimlab.split.strategy import DEFAULT, KEPT, MODES, STRATA, SideShares, SplitRequest

KIND = "set of splits"  # a folder with a dataset for each value that was held out
Names = str | Sequence[str]  # one value or several
Conditions = Mapping[str, Sequence[str]] | Sequence[str]  # column and values, or "COLUMN=VALUE"


@repeatable()
def split(  # noqa: PLR0913
    data: Annotated[Source, Argument("A claimlab dataset folder.")],
    by: Annotated[
        str,
        Option("The strategy; see: claimlab split --strategies", complete="strategies"),
    ] = "group",
    *,
    output: OptionalFolder = None,
    shares: Annotated[
        SideShares | str, Option("Shares of train/dev/test, or of train/test.")
    ] = DEFAULT,
    hold_out: Annotated[Names, Option("A value to use for testing only; may be repeated.")] = (),
    train_on: Annotated[
        Names, Setting("A value to train on; all others are used for testing.")
    ] = (),
    every: Annotated[
        bool,
        Option("One split per value that can be held out, each in its own folder.", flag="--all"),
    ] = False,
    mode: Annotated[
        str, Setting("With `every`: 'leave-one-out' or 'train-on-one'.")
    ] = "leave-one-out",
    column: Annotated[str | None, Option("With `by=column`: which one (topic, meta.KEY).")] = None,
    before: Annotated[date | None, Option("With `by=time`: train before this day.")] = None,
    external: Annotated[
        Source | None, Setting("With `by=external`: the dataset folder that is the test.")
    ] = None,
    lists: Annotated[
        Place | None,
        Setting("With `by=lists`: a table, a folder or zip of lists, or a BLUFF tree."),
    ] = None,
    setting: Annotated[str | None, Setting("With `by=lists`: which of several settings.")] = None,
    keep_together: Annotated[
        Names | None,
        Setting("Keep in one part: group, exact, near-duplicates; may be repeated."),
    ] = None,
    stratify: Annotated[
        Names,
        Setting("Keep shares equal by: label, language; or none.", kind=str),
    ] = STRATA,
    small_test: Annotated[
        int | None, Setting("At most N test rows per class and language.", least=1)
    ] = None,
    changed_in_test: Annotated[
        bool, Setting("Whether rows that validation changed may be in dev and test.")
    ] = True,
    drop_leaks: Annotated[
        bool, Option("Leave out train and dev rows whose text is also in a later part.")
    ] = False,
    train_where: Annotated[
        Conditions,
        Setting("What a train or dev row must have, COLUMN=VALUE (meta.KEY, resource=head)."),
    ] = (),
    test_where: Annotated[
        Conditions, Setting("What a test row must have, COLUMN=VALUE (meta.KEY, resource=head).")
    ] = (),
    task: TaskName = None,
    seed: Seed = 0,
    limit: Limit = None,
    force: Force = False,
    **columns: Unpack[DataOptions],
) -> Split:
    """Split a dataset into train, dev and test, and audit the split as it is made.

    Values and conditions can be given as one or several; a condition is "meta.stage=seed" or
    {"meta.stage": ["seed"]}, and its column may be resource, family, script or word_order of the
    language. With `every=True`, the result is the first split that could be made; `all` of it has
    the split of every value, and `impossible` the values for which there is none, and why. With
    `output`, each is written to a folder of its own there, all of them in one step.
    """
    request = SplitRequest(
        shares=SideShares.parse(shares) if isinstance(shares, str) else shares,
        seed=seed,
        keep_together=None
        if keep_together is None
        else _each(KEPT, keep_together, "keep_together"),
        hold_out=each_of(hold_out),
        train_on=each_of(train_on),
        mode=one_of(MODES, mode, "mode"),
        column=column,
        before=before,
        lists=None if lists is None else Path(lists),
        setting=setting,
        small_test=small_test,
    )
    choices = SplitChoices(
        task,
        _each(STRATA, stratify, "stratify"),
        changed_in_test,
        drop_leaks,
        None if external is None else Dataset.of(external),
        conditions(train_where, "train_where"),
        conditions(test_where, "test_where"),
    )
    reads = [*folders_of(external), *([lists] if lists is not None else [])]
    with Run(
        "split",
        data,
        output,
        kind=KIND if every else DATASET,
        reads=reads,
        limit=limit,
        force=force,
        seed=seed,
        **columns,
    ) as run:
        job = prepare(run.dataset, by, request, choices)
        if every:
            return _all(run, list(make_all(job)), by)
        result = make(job)
        run.finish(result.dataset)
    return result


def _each(words_known: Sequence[Word], names: Names, argument: str) -> tuple[Word, ...]:
    words = [word.strip() for name in each_of(names) for word in name.split(",")]
    return () if words == ["none"] else tuple(one_of(words_known, word, argument) for word in words)


def _all(run: Run, splits_and_failures: Sequence[Split | Failed], by: str) -> Split:
    """Write one split for each value, and give the first, with all of them."""
    splits = [outcome for outcome in splits_and_failures if isinstance(outcome, Split)]
    impossible = [outcome for outcome in splits_and_failures if isinstance(outcome, Failed)]
    if not splits:
        raise DataError(
            f"None of the splits by {by} can be made: {impossible[0].why}",
            "Use another strategy.",
        )
    run.fill(lambda folder: _write_all(splits, folder, run.output or Path()))
    return replace(splits[0], all=tuple(splits), impossible=tuple(impossible))


def _write_all(splits: list[Split], building: Path, output: Path) -> None:
    taken: set[str] = set()
    for split in splits:
        name = _folder(split.name, taken)
        taken.add(name.casefold())
        (building / name).mkdir()
        split.dataset.files = split.dataset.write_into(building / name).files
        split.dataset.path = output / name
    seal_folder(building, KIND)


def _folder(name: str, taken: set[str]) -> str:
    """A folder name: letters and digits stay, all else is a dash; short, and numbered where it is
    taken.
    """
    plain = slug(name, any_script=True)
    numbered = (plain if i == 1 else f"{plain}-{i}" for i in count(1))
    return next(name for name in numbered if name.casefold() not in taken)


__all__ = ["Failed", "Split", "split"]
