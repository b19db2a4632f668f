"""Split a dataset: a strategy says who goes where, the check looks at what came of it, and both are
kept with the data.

done = cl.split("data/liar", by="source", output="data/liar-by-source")
done.dataset            # the dataset with its column `split`
done.checked.leaks      # what is on two sides
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import count
from pathlib import Path

from claimlab.core.arguments import Arguments, same_arguments
from claimlab.core.call import repeatable
from claimlab.core.dataset import Dataset
from claimlab.core.errors import DataError
from claimlab.core.guard import seal_folder
from claimlab.core.plain import slug
from claimlab.core.progress import Progress, silent
from claimlab.core.record import conditions
from claimlab.core.run import Run, Source, folders_of
from claimlab.core.settings import each_of, one_of
from claimlab.split.job import Choices, Failed, Split, make, make_all, prepare
from claimlab.split.material import DEFAULT, KEPT, STRATA, Shares
from claimlab.split.strategy import MODES, Request

KIND = "set of splits"  # a folder with a dataset for each value that was held out
Names = str | Sequence[str]  # one value or several
Conditions = Mapping[str, Sequence[str]] | Sequence[str]  # column and values, or "COLUMN=VALUE"


@repeatable()
def split(
    data: Source,
    by: str = "group",
    *,
    output: str | Path | None = None,
    shares: Shares | str = DEFAULT,
    hold_out: Names = (),
    train_on: Names = (),
    mode: str = "leave-one-out",
    column: str | None = None,
    before: date | None = None,
    external: Source | None = None,
    lists: str | Path | None = None,
    setting: str | None = None,
    keep_together: Names | None = None,
    stratify: Names = STRATA,
    small_test: int | None = None,
    changed_in_test: bool = True,
    drop_leaks: bool = False,
    train_where: Conditions = (),
    test_where: Conditions = (),
    task: str = "veracity",
    seed: int = 0,
    limit: int | None = None,
    force: bool = False,
    progress: Progress = silent,
) -> Split:
    """Split `data` into train, dev and test by the strategy `by`, and check the split for leaks.

    `shares` is train/dev/test ("70/10/20") or train/test. `hold_out` names values that are tested
    on only, `train_on` values that are trained on only; `column` is for `by="column"`, `before` for
    "time", `external` (a dataset to test on) for "external", `lists` and `setting` for "lists".
    `keep_together` names what stays on one side (group, exact, near-duplicates), `stratify` what is
    shared out evenly (label, language). `small_test` caps the test rows per class and language.
    With `changed_in_test=False`, rows that validation changed stay out of dev and test;
    `drop_leaks` takes rows out of train and dev whose text is on a later side too. `train_where`
    and `test_where` keep the rows with given values on that side ("meta.stage=seed", or
    {"meta.stage": ["seed"]}); a column may be resource, family, script or word_order of the
    language. With `output`, the dataset is written there.
    """
    request, choices = _read(Arguments(**locals()))
    reads = [*folders_of(external), *([lists] if lists is not None else [])]
    with Run(
        "split", data, output, reads=reads, limit=limit, force=force, seed=seed, progress=progress
    ) as run:
        done = make(prepare(run.dataset, by, request, choices, progress=progress))
        run.finish(done.dataset)
    return done


@repeatable()
@same_arguments(split, required="by")
def split_all(call: Arguments) -> list[Split | Failed]:
    """One split for each value that `by` can hold out, or train on (`mode="train-on-one"`); the
    arguments are those of `split`. With `output`, each is written to a folder of its own there, all
    of them in one step.
    """
    request, choices = _read(call)
    with Run(
        "split",
        call.data,
        call.output,
        kind=KIND,
        limit=call.limit,
        force=call.force,
        seed=call.seed,
        progress=call.progress,
    ) as run:
        done = list(
            make_all(prepare(run.dataset, call.by, request, choices, progress=call.progress))
        )
        impossible = [one for one in done if isinstance(one, Failed)]
        if len(impossible) == len(done):
            raise DataError(
                f"None of the splits by {call.by} can be made: {impossible[0].why}",
                "Use another strategy.",
            )
        run.fill(
            lambda folder: _write_all(
                [one for one in done if isinstance(one, Split)], folder, Path(call.output or "")
            )
        )
    return done


def _write_all(splits: list[Split], building: Path, output: Path) -> None:
    taken: set[str] = set()
    for one in splits:
        name = _folder(one.name, taken)
        taken.add(name.casefold())
        (building / name).mkdir()
        one.dataset.files = one.dataset.write_into(building / name).files
        one.dataset.path = output / name
    seal_folder(building, KIND)


def _folder(name: str, taken: set[str]) -> str:
    """A folder name: letters and digits stay, all else is a dash; short, and numbered where it is
    taken.
    """
    plain = slug(name, any_script=True)
    numbered = (plain if i == 1 else f"{plain}-{i}" for i in count(1))
    return next(name for name in numbered if name.casefold() not in taken)


def _read(call: Arguments) -> tuple[Request, Choices]:
    """The arguments of `split`, checked."""
    together = None if call.keep_together is None else each_of(call.keep_together)
    request = Request(
        shares=Shares.parse(call.shares) if isinstance(call.shares, str) else call.shares,
        seed=call.seed,
        keep_together=(
            None
            if together is None
            else tuple(one_of(KEPT, name, "keep_together") for name in together)
        ),
        hold_out=each_of(call.hold_out),
        train_on=each_of(call.train_on),
        mode=one_of(MODES, call.mode, "mode"),
        column=call.column,
        before=call.before,
        lists=None if call.lists is None else Path(call.lists),
        setting=call.setting,
        small_test=call.small_test,
    )
    choices = Choices(
        call.task,
        tuple(one_of(STRATA, name, "stratify") for name in each_of(call.stratify)),
        call.changed_in_test,
        call.drop_leaks,
        None if call.external is None else Dataset.of(call.external),
        conditions(call.train_where, "train_where"),
        conditions(call.test_where, "test_where"),
    )
    return request, choices


__all__ = ["Failed", "Split", "split", "split_all"]
