"""What carries out a piece of advice: calls with the folder filled in, as a person types them or as
Python.

A remedy is a function from a `RemedyCase` to commands that run one after another. Each writes to a
folder of its own beside the dataset, and none changes the dataset itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, get_args

from claimlab.audit.ladder import SplitTrial
from claimlab.core.plain import slug
from claimlab.core.types import Json
from claimlab.text.roles import META_KEYS

if TYPE_CHECKING:
    from claimlab.core.finding import Finding

MOST_COMMANDS = 3  # commands of one kind in one piece of advice, the most severe first
VERBS = {"review_create": "review create"}
FLAGS = {"output": "-o", "settings": "--set", "checks": "--check"}
VERACITY = "veracity"
LISTED = ("source", "author", "topic", "language", "dataset", "label_raw")  # by `show`


@dataclass(frozen=True, repr=False)
class SuggestedCall:
    """A call of `function` on `data`, as both faces make it."""

    function: str
    data: str
    options: Mapping[str, Json] = field(default_factory=dict)

    @property
    def shell(self) -> str:
        return " ".join(self.typed)

    @property
    def typed(self) -> list[str]:
        """The command in parts that stay on one line: words quoted where a shell needs it, flags
        with their values.
        """
        words = [
            "claimlab",
            *VERBS.get(self.function, self.function).split(),
            shlex.quote(self.data),
        ]
        for name, value in self.options.items():
            flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
            if value is True:
                words.append(flag)
                continue
            pairs = [f"{k}={v}" for k, v in value.items()] if isinstance(value, Mapping) else value
            for each in [pairs] if isinstance(pairs, str) else pairs:
                words.append(f"{flag} {shlex.quote(str(each))}")
        return words

    @property
    def python(self) -> str:
        words = [repr(self.data), *(f"{name}={value!r}" for name, value in self.options.items())]
        return f"cl.{self.function}({', '.join(words)})"

    def __repr__(self) -> str:
        return self.python


Commands = list[SuggestedCall]


@dataclass(frozen=True)
class RemedyCase:
    """What a remedy is for: findings of one rule, the most severe first, on the dataset in
    `folder`. `split` says whether it has train and test parts; `target` is what the audit tested.
    """

    findings: Sequence[Finding]
    folder: str = "DIR"
    split: bool = False
    target: str = VERACITY
    trials: Sequence[SplitTrial] = ()

    @property
    def held_out(self) -> SplitTrial | None:
        """The split by what the findings are about that was made dry: the first that can be made,
        or else the first; null where none was tried."""
        names = [split_name(finding) for finding in self.findings]
        tried = [trial for name in names for trial in self.trials if trial.name == name]
        return next((trial for trial in tried if trial.possible), next(iter(tried), None))

    @property
    def features(self) -> list[str]:
        return [finding.feature or finding.check for finding in self.findings]

    @property
    def tested(self) -> dict[str, Json]:
        return {} if self.target == VERACITY else {"target": self.target}

    @property
    def task(self) -> dict[str, Json]:
        return {} if self.target == VERACITY else {"task": self.target}

    def beside(self, name: str) -> str:
        return f"{self.folder}-{slug(name)}"

    def command(
        self, function: str, name: str, folder: str | None = None, **options: Json
    ) -> SuggestedCall:
        """A call on the dataset, or on `folder`, that writes to a folder of this name beside it."""
        return SuggestedCall(
            function, folder or self.folder, {"output": self.beside(name), **options}
        )

    def look_at(self, column: str) -> SuggestedCall:
        """The values of a column, where the records have it; otherwise the records."""
        options: dict[str, Json] = {"column": column} if column in LISTED else {}
        return SuggestedCall("show", self.folder, options)

    def parted(self) -> tuple[Commands, str]:
        """What gives the dataset a train and a test part, where it has none, and the folder that
        has them.
        """
        if self.split:
            return [], self.folder
        return [self.command("split", "split", **self.task)], self.beside("split")


Remedy = Callable[..., Commands]  # of a case, and of the word that a rule names, if any


def split_name(finding: Finding) -> str | None:
    """The column or strategy that would hold out what a finding is about; null where none would."""
    feature = finding.feature or finding.check
    if finding.check == "near-duplicates":
        return finding.check if feature.startswith("across a random") else None
    if finding.check == "url":
        return "domain" if feature == "domain" else None
    if finding.check == "time":
        return None if feature.startswith(("hour", "weekday")) else "time"
    if finding.check == "columns":
        key = feature.removeprefix("meta.")
        return key if key in META_KEYS else None
    return feature if finding.check in ("source", "author", "topic", "event") else None


def split_by(case: RemedyCase, strategy: str) -> Commands:
    trial = case.held_out
    if trial is not None and not trial.possible:
        return clean(case) if strategy == "near-duplicates" else baseline(case)
    return [case.command("split", f"by-{strategy}", by=strategy, **_shares(trial), **case.task)]


def hold_out(case: RemedyCase) -> Commands:
    """Whole values of the column on one side."""
    trial = case.held_out
    if trial is not None and not trial.possible:
        return scored_by_feature(case)
    column = case.features[0] if trial is None else trial.name
    options = {"by": "column", "column": column, **_shares(trial), **case.task}
    return [case.command("split", f"by-{column}", **options)]


def _shares(trial: SplitTrial | None) -> dict[str, Json]:
    """The shares of the sides, where the usual ones were tried in vain."""
    return {} if trial is None or trial.shares is None else {"shares": trial.shares}


def draw_again(case: RemedyCase) -> Commands:
    return [case.command("split", "split-again", **case.task)]


def clean(case: RemedyCase) -> Commands:
    return [case.command("clean", "clean")]


def mask(case: RemedyCase, what: str) -> Commands:
    task = case.task if what == "giveaways" else {}
    return [case.command("clean", f"masked-{what}", mask=what, **task)]


def mask_typing(case: RemedyCase) -> Commands:
    """Every way of typing that was named, in one go; the baseline where one cannot be masked."""
    from claimlab.text.mask import Mask  # at the top it would make the longest chain of imports

    families = dict.fromkeys(feature.split(",")[0].replace(" ", "") for feature in case.features)
    masked = [family for family in families if family in get_args(Mask)]
    return [case.command("clean", "masked-typing", mask=masked)] if masked else baseline(case)


def baseline(case: RemedyCase) -> Commands:
    """What the feature alone reaches as a detector, on the split that a model is scored on."""
    commands, parted = case.parted()
    for feature in dict.fromkeys(measured_as(finding) for finding in case.findings[:MOST_COMMANDS]):
        options = {"detector": "shortcut", "settings": {"feature": feature}}
        more = {"evidence": "complete"} if feature == "evidence" else {}
        commands.append(
            case.command("detect", f"only-{feature}", parted, **options, **more, **case.task)
        )
    return commands


def measured_as(finding: Finding) -> str:
    """How the detector `shortcut` calls what a check measured."""
    if finding.check in ("keywords", "giveaways", "missing", "length"):
        return finding.check
    feature = finding.feature or finding.check
    if finding.check == "text-columns":
        # What a text shares with the claim is for whoever reads that text.
        return feature.split(",")[0]
    names = {
        "evidence alone": "evidence",
        "presence of a URL": "url",
        "hour of the day": "hour",
        "URL path": "path",
    }
    return names.get(feature, feature)


def scored(case: RemedyCase, *by: str) -> Commands:
    """A detector's scores, by these columns."""
    commands, parted = case.parted()
    run = case.command("detect", "run", parted, **case.task)
    columns = {"by": list(by)} if by else {}
    scores = case.command("evaluate", "-".join(["scores", *by]), case.beside("run"), **columns)
    return [*commands, run, scores]


def scored_by_feature(case: RemedyCase) -> Commands:
    return scored(case, *case.features[:MOST_COMMANDS])


def with_and_without_evidence(case: RemedyCase) -> Commands:
    commands, parted = case.parted()
    for reading in ("none", "complete"):
        options = {"evidence": reading, **case.task}
        commands.append(case.command("detect", f"evidence-{reading}", parted, **options))
    return commands


def set_aside(case: RemedyCase) -> Commands:
    options = {"steps": ["contradictions"], **case.tested}
    return [case.command("prepare", "set-aside", **options)]


def review(case: RemedyCase, task: str) -> Commands:
    """The audit of this check alone, and a review of the records that it names."""
    first = case.findings[0]
    audit = case.command("audit", f"audit-{first.check}", checks=[first.check], **case.tested)
    finding = first.check if first.feature is None else f"{first.check}/{first.feature}"
    options = {"audit": audit.options["output"], "finding": finding, "task": task}
    return [audit, case.command("review_create", f"review-{first.check}", **options)]


def show(case: RemedyCase, column: str) -> Commands:
    return [SuggestedCall("show", case.folder, {"column": column})]


def look(case: RemedyCase) -> Commands:
    """The checks themselves, with every figure."""
    checks = list(dict.fromkeys(finding.check for finding in case.findings))[:MOST_COMMANDS]
    return [case.command("audit", "looked-at", checks=checks)]
