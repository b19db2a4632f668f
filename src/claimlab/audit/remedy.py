"""What carries out a piece of advice: calls with the folder filled in, as a person types them or as
Python.

A remedy is a function from a `Case` to commands that run one after another. Each writes to a folder
of its own beside the dataset, and none changes the dataset itself.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from claimlab.core.finding import Finding
from claimlab.core.plain import slug
from claimlab.core.types import Json

MOST = 3  # commands of one kind in one piece of advice, the most severe first
VERBS = {"review_create": "review create"}
FLAGS = {"output": "-o", "settings": "--set", "checks": "--check"}
VERACITY = "veracity"


@dataclass(frozen=True, repr=False)
class Command:
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


Commands = list[Command]


@dataclass(frozen=True)
class Case:
    """What a remedy is for: findings of one rule, the most severe first, on the dataset in
    `folder`. `split` says whether it has train and test parts; `target` is what the audit tested.
    """

    findings: Sequence[Finding]
    folder: str = "DIR"
    split: bool = False
    target: str = VERACITY

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
    ) -> Command:
        """A call on the dataset, or on `folder`, that writes to a folder of this name beside it."""
        return Command(function, folder or self.folder, {"output": self.beside(name), **options})

    def parted(self) -> tuple[Commands, str]:
        """What gives the dataset a train and a test part, where it has none, and the folder that
        has them.
        """
        if self.split:
            return [], self.folder
        return [self.command("split", "split", **self.task)], self.beside("split")


Remedy = Callable[..., Commands]  # of a case, and of the word that a rule names, if any


def split_by(case: Case, strategy: str) -> Commands:
    return [case.command("split", f"by-{strategy}", by=strategy, **case.task)]


def hold_out(case: Case) -> Commands:
    """Whole values of the column on one side."""
    column = case.features[0]
    return [case.command("split", f"by-{column}", by="column", column=column, **case.task)]


def draw_again(case: Case) -> Commands:
    return [case.command("split", "split-again", **case.task)]


def clean(case: Case) -> Commands:
    return [case.command("clean", "clean")]


def mask(case: Case, what: str) -> Commands:
    task = case.task if what == "giveaways" else {}
    return [case.command("clean", f"masked-{what}", mask=what, **task)]


def mask_typing(case: Case) -> Commands:
    """Every way of typing that was named, in one go; the baseline where one cannot be masked."""
    from claimlab.text.mask import Mask  # at the top it would make the longest chain of imports

    families = dict.fromkeys(feature.split(",")[0].replace(" ", "") for feature in case.features)
    known = [family for family in families if family in get_args(Mask)]
    return [case.command("clean", "masked-typing", mask=known)] if known else baseline(case)


def baseline(case: Case) -> Commands:
    """What the feature alone reaches as a detector, on the split that a model is scored on."""
    commands, parted = case.parted()
    for feature in dict.fromkeys(measured_as(finding) for finding in case.findings[:MOST]):
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


def scored(case: Case, *by: str) -> Commands:
    """A detector's scores, by these columns."""
    commands, parted = case.parted()
    run = case.command("detect", "run", parted, **case.task)
    columns = {"by": list(by)} if by else {}
    scores = case.command("evaluate", "-".join(["scores", *by]), case.beside("run"), **columns)
    return [*commands, run, scores]


def scored_by_feature(case: Case) -> Commands:
    return scored(case, *case.features[:MOST])


def with_and_without_evidence(case: Case) -> Commands:
    commands, parted = case.parted()
    for reading in ("none", "complete"):
        options = {"evidence": reading, **case.task}
        commands.append(case.command("detect", f"evidence-{reading}", parted, **options))
    return commands


def fix(case: Case) -> Commands:
    output = {"fix": True, "output": case.beside("fixed")}
    return [Command("audit", case.folder, output | case.tested)]


def review(case: Case, task: str) -> Commands:
    """The audit of this check alone, and a review of the records that it names."""
    first = case.findings[0]
    audit = case.command("audit", f"audit-{first.check}", checks=[first.check], **case.tested)
    finding = first.check if first.feature is None else f"{first.check}/{first.feature}"
    options = {"audit": audit.options["output"], "finding": finding, "task": task}
    return [audit, case.command("review_create", f"review-{first.check}", **options)]


def show(case: Case, column: str) -> Commands:
    return [Command("show", case.folder, {"column": column})]


def look(case: Case) -> Commands:
    """The checks themselves, with every figure."""
    checks = list(dict.fromkeys(finding.check for finding in case.findings))[:MOST]
    return [case.command("audit", "looked-at", checks=checks)]
