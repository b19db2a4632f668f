"""What to do about the findings of an audit: advice, what can move a score most first.

Findings of one rule become one piece of advice. Only a fail or a warning gives advice; what was
inconclusive or not measured is named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from claimlab.audit.advice_rules import ALARMS, RULES, Action, rule_for
from claimlab.audit.ladder import Case, Defect, Grounds, Rung, place
from claimlab.audit.remedy import RemedyCase, SuggestedCall, split_name
from claimlab.core.finding import UNMEASURED, VERDICTS, Finding, Verdict
from claimlab.core.types import JsonObject
from claimlab.pages.blocks import excerpt

REPAIRS = ("clean", "split", "prepare")  # functions whose work `prepare` does
NAMES_SHOWN = 3  # names in a sentence; the others are counted
NOWHERE = RemedyCase(())
PAIRED_NOTE = (
    " These are most of the records: if the dataset is made of pairs with opposite labels, keep"
    " them, and split by group."
)
LITTLE, MUCH = 10.0, 25.0  # points: fewer say a little, as many give the label away
_UNCLEAR: tuple[Verdict, ...] = ("inconclusive", "not-measured")
_FIGURES = {
    "difference": ("difference", 100, "{:+.1f}"),
    "share": ("share", 100, "{:.1f}%"),
    "pure": ("purity", 100, "{:.0f}%"),
    "v": ("cramers_v", 1, "{:.2f}"),
}
_COUNTED = (
    *("copies", "conflicting_records", "contradicting_records"),
    *("suspects", "leaked", "paraphrased"),
)


@dataclass(frozen=True)
class Advice:
    """One thing to do, the findings that call for it, and the commands that do it. `points` says by
    how many points of 100 the findings can move a score: see `points_of`."""

    action: Action
    text: str
    verdict: Verdict
    findings: tuple[str, ...]  # "check" or "check (feature)"
    points: float
    commands: tuple[SuggestedCall, ...]

    def __str__(self) -> str:
        """As Python shows it."""
        return "\n".join([self.words, *(f"    {command.python}" for command in self.commands)])

    @property
    def words(self) -> str:
        """The sentence, and by how much the findings can move a score."""
        return f"{self.text} [{self.points:.1f} points]"

    def to_json(self) -> JsonObject:
        shell, python = (
            [command.shell for command in self.commands],
            [command.python for command in self.commands],
        )
        return {**vars(self), "commands": shell, "python": python}


@dataclass(frozen=True)
class Conclusion:
    """What an audit comes to: a sentence, what to do, and what it does not tell."""

    text: str
    advice: tuple[Advice, ...]
    passed: tuple[str, ...]
    inconclusive: tuple[str, ...]
    not_measured: tuple[str, ...]
    not_applicable: tuple[str, ...]
    verdict: Rung

    @property
    def usable(self) -> str:
        """What the dataset can be used for, in a sentence."""
        return self.verdict.sentence

    @property
    def first(self) -> Advice | None:
        """What to do before everything else: labels, then what can move a score most."""
        labels = [advice for advice in self.advice if advice.action == "collect"]
        return next(iter([*labels, *self.advice]), None)

    def __str__(self) -> str:
        return "\n".join([self.usable, self.text, *(f"- {advice}" for advice in self.advice)])

    def _repr_html_(self) -> str:
        items = []
        for advice in self.advice:
            calls = [f"<br><code>{escape(command.python)}</code>" for command in advice.commands]
            items.append(f"<li>{escape(advice.words)}{''.join(calls)}</li>")
        return f"<p><b>{escape(self.usable)}</b> {escape(self.text)}</p><ul>{''.join(items)}</ul>"

    def to_json(self) -> JsonObject:
        advice = [piece.to_json() for piece in self.advice]
        verdict = self.verdict.to_json()
        return {"usable": self.usable, **vars(self), "advice": advice, "verdict": verdict}


def conclude(
    findings: Sequence[Finding], case: RemedyCase = NOWHERE, grounds: Grounds | None = None
) -> Conclusion:
    """The conclusion of an audit, from its findings and what was tried; `case` says of which
    dataset."""
    grounds = _of_findings(findings) if grounds is None else grounds
    named = {v: tuple(name_of(f) for f in findings if f.verdict == v) for v in VERDICTS}
    return Conclusion(
        _sentence(named),
        advise(findings, replace(case, trials=grounds.splits)),
        named["pass"],
        named["inconclusive"],
        named["not-measured"],
        named["not-applicable"],
        place(
            Case(
                case.target,
                [defect_of(f) for f in findings if f.verdict in ALARMS],
                grounds,
                named["inconclusive"],
                any(f.verdict not in UNMEASURED for f in findings),
            )
        ),
    )


def _of_findings(findings: Sequence[Finding]) -> Grounds:
    """What findings alone say: those of an audit that tried nothing."""
    counted = [finding for finding in findings if finding.check == "one-class"]
    known = counted and (counted[0].classes or not counted[0].n)
    return Grounds(classes=counted[0].classes if known else None)


def defect_of(finding: Finding) -> Defect:
    """A finding that fails or warns, as the verdict reads it."""
    rule, column = rule_for(finding), split_name(finding)
    weighs = rule.weighs if column is None or rule.weighs != "aside" else "column"
    return Defect(
        name=_called(finding),
        weighs=weighs,
        fails=finding.verdict == "fail",
        points=points_of(finding),
        least=least_points(finding),
        score=None if finding.difference is None else finding.score,
        chance=finding.baselines.best(),
        column=column if weighs == "column" else None,
    )


def _called(finding: Finding) -> str:
    """What a verdict calls a finding: a column by its name, and what has only one feature by its
    check."""
    if finding.check == "columns" and finding.feature is not None:
        return excerpt(finding.feature, 60)
    return finding.check if split_name(finding) == finding.check else name_of(finding)


def least_points(finding: Finding) -> float:
    """The lower end of `points_of`, where the finding has an interval."""
    if finding.difference_interval is not None:
        return 100 * finding.difference_interval[0]
    ends = finding.details.get("share_interval")
    return points_of(finding) if ends is None else 100 * float(ends[0])


def advise(findings: Iterable[Finding], case: RemedyCase = NOWHERE) -> tuple[Advice, ...]:
    """Advice for every fail and warning, what can move a score most first."""
    groups: defaultdict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.verdict in ALARMS:
            groups[RULES.index(rule_for(finding))].append(finding)
    out = []
    for number in sorted(groups):
        group, rule = sorted(groups[number], key=lambda f: f.severity), RULES[number]
        trial = replace(case, findings=group).held_out if rule.otherwise else None
        stuck = "" if trial is None or trial.possible else trial.why_not
        sentence = rule.otherwise if stuck else rule.sentence
        out.append(
            Advice(
                rule.action,
                sentence.format_map(_Fields(_fields(group), why_not=stuck or "")),
                group[0].verdict,
                tuple(map(name_of, group)),
                max(map(points_of, group)),
                tuple(rule.remedy(replace(case, findings=group))),
            )
        )
    return tuple(sorted(out, key=lambda a: (-a.points, VERDICTS.index(a.verdict))))


def points_of(finding: Finding) -> float:
    """By how many points of 100 a finding can move a score: macro-F1 above the best baseline for
    what gives labels away, otherwise the share of records (test records, for leaks) whose answer or
    label it can turn.
    """
    if finding.check == "one-class":
        sizes = list(finding.classes.values())
        return 100.0 if len(sizes) < 2 else 100 * (max(sizes) / max(1, sum(sizes)) - 1 / len(sizes))
    if finding.check == "feasibility":
        return 100 * (1 - (finding.score or 0.0))
    if finding.difference is not None:
        return 100 * max(0.0, finding.difference)
    if "slices" in finding.details:
        return 100 * _gained(finding.details["slices"])
    return 100 * float(finding.details.get("share") or 0.0)


def _contradicts_most(finding: Finding) -> bool:
    """Whether setting aside what contradicts itself would leave less than half of the records."""
    rule = rule_for(finding)
    return rule.action == "review" and "url-conflicts" in rule.checks and points_of(finding) > 50


def _gained(slices: Sequence[JsonObject]) -> float:
    """The share of records that the most frequent class of each slice gets right, beyond that of
    all.
    """
    table = [list(row["counts"].values()) for row in slices]
    total = sum(map(sum, table))
    return float((sum(map(max, table)) - max(map(sum, zip(*table, strict=True)))) / max(1, total))


def next_step(findings: Sequence[Finding], case: RemedyCase) -> SuggestedCall:
    """What comes after an audit: labels where they are missing; `prepare` where it can repair
    something or the dataset has no split; otherwise a detector.
    """
    advice = advise(findings, case)
    for piece in advice:
        if piece.action == "collect" and piece.commands and piece.commands[0].function == "show":
            return piece.commands[0]
    repaired = any(call.function in REPAIRS for piece in advice for call in piece.commands[:1])
    if repaired or not case.split:
        return case.command("prepare", "fair", **case.tested)
    return case.command("detect", "run", **case.task)


def reason(finding: Finding) -> str:
    """Why a finding fails or warns, in a few words."""
    return rule_for(finding).reason.format_map(_fields([finding]))


def name_of(finding: Finding) -> str:
    """The check, and its feature where that says more."""
    if finding.feature is None or finding.feature == finding.check:
        return finding.check
    return f"{finding.check} ({excerpt(finding.feature, 60)})"


def _sentence(named: dict[Verdict, tuple[str, ...]]) -> str:
    fails, warns, passes = (len(named[v]) for v in ("fail", "warn", "pass"))
    if fails or warns:
        counts = " and ".join(f"{len(named[v])} {v}" for v in ALARMS if named[v])
        steps = "do not report a score on this dataset without these steps"
        return f"{counts}: {steps if fails else 'report a score with care'}."
    unclear = " and ".join(f"{len(named[v])} {v.replace('-', ' ')}" for v in _UNCLEAR if named[v])
    if passes:
        rest = f" The rest ({unclear}) is not a pass." if unclear else ""
        return f"Nothing was found in what could be measured ({passes} pass).{rest}"
    return f"Nothing could be measured ({unclear or 'no findings'}). That is not a pass."


class _Fields(dict[str, str]):
    """Missing figures are a dash: no advice is dropped because a finding lacks one."""

    def __missing__(self, key: str) -> str:
        return "–"


def _fields(group: Sequence[Finding]) -> _Fields:
    """What sentences can say of findings, the most severe first; names come from data and are cut
    short.
    """
    first, several = group[0], len(group) > 1
    size = Size.of(max(map(points_of, group)))
    names = _list([f"'{_label(f)}'" for f in group])
    scored = _list([f"{_label(f)} {_score(f)}" for f in group])
    columns = f"column{'s' if several else ''} {names}"
    each, them = ("each", "them") if several else ("it", "it")
    return _Fields(
        names=names,
        scored=f"macro-F1 of {scored}",
        columns=f"the {columns}",
        Columns=f"The {columns}",
        alone_give=f"alone {size.plural if several else size.singular}",
        gives=size.singular,
        they_give=size.plural,
        somewhat=size.somewhat,
        each=each,
        them=them,
        checks=_list([f"'{f.check}'" for f in group]),
        first=_label(first),
        counts=_list([f"{f.check} {_count(f):,}" for f in group]),
        count=f"{_count(first):,}",
        top=f"up to {_score(first)}" if several else _score(first),
        words=_list([f"'{row['word']}'" for row in first.details.get("words", [])]),
        pairs=PAIRED_NOTE if any(map(_contradicts_most, group)) else "",
        column=str(next((row.get("column") for row in first.details.get("filled", [])), "–")),
        part=str(first.details.get("part", "test")),
        **_figures(first),
    )


@dataclass(frozen=True)
class Size:
    """How much something gives away, in words: by how many points it can move a score."""

    singular: str
    plural: str
    somewhat: str

    @classmethod
    def of(cls, points: float) -> Size:
        if points >= MUCH:
            return cls("gives the label away", "give the label away", "")
        if points >= LITTLE:
            part = "part of the label away"
            return cls(f"gives {part}", f"give {part}", "somewhat ")
        little = f"a little about the label: {points:.0f} points"
        return cls(f"says {little}", f"say {little}", "slightly ")


def _figures(finding: Finding) -> dict[str, str]:
    """The figures that a finding has, as a sentence shows them."""
    values = {**finding.details, "difference": finding.difference}
    return {
        name: shape.format(factor * values[key])
        for name, (key, factor, shape) in _FIGURES.items()
        if values.get(key) is not None
    }


def _label(finding: Finding) -> str:
    return excerpt(finding.feature or finding.check, 40)


def _score(finding: Finding) -> str:
    return "–" if finding.score is None else f"{100 * finding.score:.1f}"


def _count(finding: Finding) -> int:
    """How many records a finding is about, where it counts them; otherwise those that it names."""
    counts = (int(finding.details[key]) for key in _COUNTED if key in finding.details)
    return next(counts, finding.pointed_at)


def _list(words: Sequence[str]) -> str:
    """The first words, and how many more there are."""
    if len(words) > NAMES_SHOWN + 1:
        return f"{', '.join(words[:NAMES_SHOWN])} and {len(words) - NAMES_SHOWN} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1] if words else "–"]))
