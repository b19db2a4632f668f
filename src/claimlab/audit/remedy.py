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
    def task(self) -> dict[str, str]:
        return {} if self.target == VERACITY else {"task": self.target}

    def beside(self, name: str) -> str:
        return f"{self.folder}-{slug(name)}"

    def parted(self) -> tuple[list[Command], str]:
        """What gives the dataset a train and a test part, where it has none, and the folder that
        has them.
        """
        if self.split:
            return [], self.folder
        output = self.beside("split")
        return [Command("split", self.folder, {"output": output, **self.task})], output


Remedy = Callable[[Case], list[Command]]


def split_by(strategy: str) -> Remedy:
    def remedy(case: Case) -> list[Command]:
        return [
            Command(
                "split",
                case.folder,
                {"output": case.beside(f"by-{strategy}"), "by": strategy, **case.task},
            )
        ]

    return remedy


def hold_out(case: Case) -> list[Command]:
    """Whole values of the column on one side."""
    column = case.features[0]
    options = {"output": case.beside(f"by-{column}"), "by": "column", "column": column}
    return [Command("split", case.folder, {**options, **case.task})]


def draw_again(case: Case) -> list[Command]:
    return [Command("split", case.folder, {"output": case.beside("split-again"), **case.task})]


def clean(case: Case) -> list[Command]:
    return [Command("clean", case.folder, {"output": case.beside("clean")})]


def mask(what: str) -> Remedy:
    def remedy(case: Case) -> list[Command]:
        task = case.task if what == "giveaways" else {}
        return [
            Command(
                "clean",
                case.folder,
                {"output": case.beside(f"masked-{what}"), "mask": what, **task},
            )
        ]

    return remedy


def mask_typing(case: Case) -> list[Command]:
    """Every way of typing that was named, in one go; the baseline where one cannot be masked."""
    from claimlab.text.mask import Mask  # at the top it would make the longest chain of imports

    families = dict.fromkeys(feature.split(",")[0].replace(" ", "") for feature in case.features)
    known = [family for family in families if family in get_args(Mask)]
    if not known:
        return baseline(case)
    return [Command("clean", case.folder, {"output": case.beside("masked-typing"), "mask": known})]


def baseline(case: Case) -> list[Command]:
    """What the feature alone reaches as a detector, on the split that a model is scored on."""
    commands, folder = case.parted()
    for feature in dict.fromkeys(measured_as(finding) for finding in case.findings[:MOST]):
        options = {
            "output": case.beside(f"only-{feature}"),
            "detector": "shortcut",
            "settings": {"feature": feature},
        }
        more = {"evidence": "complete"} if feature == "evidence" else {}
        commands.append(Command("detect", folder, {**options, **more, **case.task}))
    return commands


def measured_as(finding: Finding) -> str:
    """How the detector `shortcut` calls what a check measured."""
    if finding.check in ("keywords", "giveaways", "missing", "length"):
        return finding.check
    feature = finding.feature or finding.check
    if finding.check == "text-columns":
        return feature.split(",")[
            0
        ]  # what a text shares with the claim is for whoever reads that text
    names = {
        "evidence alone": "evidence",
        "presence of a URL": "url",
        "hour of the day": "hour",
        "URL path": "path",
    }
    return names.get(feature, feature)


def scored(case: Case, *by: str) -> list[Command]:
    """A detector's scores, by these columns."""
    commands, folder = case.parted()
    run = case.beside("run")
    return [
        *commands,
        Command("detect", folder, {"output": run, **case.task}),
        Command(
            "evaluate",
            run,
            {"output": case.beside("-".join(["scores", *by])), **({"by": list(by)} if by else {})},
        ),
    ]


def scored_by_feature(case: Case) -> list[Command]:
    return scored(case, *case.features[:MOST])


def with_and_without_evidence(case: Case) -> list[Command]:
    commands, folder = case.parted()
    for reading in ("none", "complete"):
        options = {"output": case.beside(f"evidence-{reading}"), "evidence": reading, **case.task}
        commands.append(Command("detect", folder, options))
    return commands


def fix(case: Case) -> list[Command]:
    target = {} if case.target == VERACITY else {"target": case.target}
    return [Command("audit", case.folder, {"fix": True, "output": case.beside("fixed"), **target})]


def review(task: str) -> Remedy:
    """The audit of this check alone, and a review of the records that it names."""

    def remedy(case: Case) -> list[Command]:
        first = case.findings[0]
        audit, target = (
            case.beside(f"audit-{first.check}"),
            {} if case.target == VERACITY else {"target": case.target},
        )
        finding = first.check if first.feature is None else f"{first.check}/{first.feature}"
        options = {
            "output": case.beside(f"review-{first.check}"),
            "audit": audit,
            "finding": finding,
            "task": task,
        }
        return [
            Command("audit", case.folder, {"output": audit, "checks": [first.check], **target}),
            Command("review_create", case.folder, options),
        ]

    return remedy


def show(column: str) -> Remedy:
    return lambda case: [Command("show", case.folder, {"column": column})]


def look(case: Case) -> list[Command]:
    """The checks themselves, with every figure."""
    checks = list(dict.fromkeys(finding.check for finding in case.findings))[:MOST]
    return [Command("audit", case.folder, {"output": case.beside("looked-at"), "checks": checks})]
