"""What to do about the findings of an audit: advice by the rules of `audit/data/advice.toml`, what
can move a score most first.

Findings of one rule become one piece of advice. Only a fail or a warning gives advice; what was
inconclusive or not measured is named.

Which findings call for what: written rules, each of them data, a sentence and what carries it
out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

from claimlab.audit import remedy
from claimlab.audit.remedy import Case, Command, Remedy
from claimlab.core import packaged
from claimlab.core.finding import VERDICTS, Finding, Verdict
from claimlab.core.types import JsonObject
from claimlab.core.words import several_of
from claimlab.pages.blocks import excerpt

Action = Literal["split", "drop", "report", "review", "collect", "clean"]
ALARMS: tuple[Verdict, ...] = ("fail", "warn")
URGENT = ("one-class", "copies", "near-duplicates")  # checks whose repair comes first, in order,
REPAIRS: tuple[Action, ...] = ("collect", "clean", "split")  # and what repairs them


@dataclass(frozen=True)
class AdviceRule:
    """Findings of `checks` (of all their features, or those that begin with `feature`) call for
    `sentence`, which `remedy` carries out.

    The fields of a sentence: `names` and `scored` (features, the latter with scores), `first` (the
    most severe), `top` (its score), `each` and `them` ("it" for one), `counts`, and `share`,
    `column` and `words` of the most severe finding. `reason` is what a table says of a single
    finding. `labelled`: only where there is a labelled record, or only where there is none.
    """

    action: Action
    sentence: str
    remedy: Remedy
    checks: tuple[str, ...] = ()
    reason: str = "{difference} points"
    feature: tuple[str, ...] = ("",)
    verdicts: tuple[Verdict, ...] = ALARMS
    labelled: bool | None = None

    def matches(self, finding: Finding) -> bool:
        return (
            finding.check in (self.checks or [finding.check])
            and self.labelled in (None, bool(finding.n))
            and finding.verdict in self.verdicts
            and (finding.feature or "").startswith(self.feature)
        )


def _rule(row: JsonObject) -> AdviceRule:
    """A row of `data/advice.toml`; its remedy is a name, or a name and a word behind a colon."""
    name, *words = row["remedy"].split(":")
    carried_out = getattr(remedy, name)
    lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return AdviceRule(**{**row, **lists, "remedy": lambda case: carried_out(case, *words)})


# The last is for a check of another package, or one that has no rule of its own yet.
RULES = tuple(map(_rule, packaged.toml("claimlab.audit", "advice.toml")["rule"]))


def rule_for(finding: Finding) -> AdviceRule:
    """The first rule that is meant for this finding; the last rule is meant for all."""
    return next(rule for rule in RULES if rule.matches(finding))


NAMED = 3  # names in a sentence; the others are counted
NOWHERE = Case(())
PAIRS = (
    " These are most of the records: if the dataset is made of pairs with opposite labels, keep"
    " them, and split by group."
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
    commands: tuple[Command, ...]

    def __str__(self) -> str:
        """As Python shows it."""
        return "\n".join([self.words, *(f"    {one.python}" for one in self.commands)])

    @property
    def words(self) -> str:
        """The sentence, and by how much the findings can move a score."""
        return f"{self.text} [{self.points:.1f} points]"

    def to_json(self) -> JsonObject:
        shell, python = [one.shell for one in self.commands], [one.python for one in self.commands]
        return {**vars(self), "commands": shell, "python": python}


@dataclass(frozen=True)
class Conclusion:
    """What an audit comes to: a sentence, what to do, and what it does not tell."""

    text: str
    advice: tuple[Advice, ...]
    passed: tuple[str, ...]
    inconclusive: tuple[str, ...]
    not_measured: tuple[str, ...]
    usable: str = ""  # whether the dataset can be used, in a sentence

    @property
    def first(self) -> Advice | None:
        """What to do before everything else: labels, then copies, then leaks, then what can move a
        score most.
        """
        urgent = [
            one
            for check in URGENT
            for one in self.advice
            if one.action in REPAIRS and any(name.split(" ")[0] == check for name in one.findings)
        ]
        return next(iter([*urgent, *self.advice]), None)

    def __str__(self) -> str:
        return "\n".join([self.text, *(f"- {one}" for one in self.advice)])

    def _repr_html_(self) -> str:
        items = []
        for one in self.advice:
            calls = [f"<br><code>{escape(command.python)}</code>" for command in one.commands]
            items.append(f"<li>{escape(one.words)}{''.join(calls)}</li>")
        return f"<p>{escape(self.text)}</p><ul>{''.join(items)}</ul>"

    def to_json(self) -> JsonObject:
        advice = [one.to_json() for one in self.advice]
        return {"usable": self.usable, **vars(self), "advice": advice}


def conclude(findings: Sequence[Finding], case: Case = NOWHERE) -> Conclusion:
    """The conclusion of an audit, from its findings; `case` says of which dataset."""
    named = {v: tuple(name_of(f) for f in findings if f.verdict == v) for v in VERDICTS}
    advice = advise(findings, case)
    return Conclusion(
        _sentence(named),
        advice,
        named["pass"],
        named["inconclusive"],
        named["not-measured"],
        usable(findings),
    )


def usable(findings: Sequence[Finding]) -> str:
    """Whether a dataset with these findings can be used, in a sentence."""
    for finding in findings:
        if finding.check == "one-class" and finding.verdict == "fail":
            only = f"all labelled records are '{next(iter(finding.classes), '')}'"
            return f"Not usable as it is: {only if finding.n else 'no record has a label'}."
    actions = {rule_for(finding).action for finding in findings if finding.verdict in ALARMS}
    if actions:
        clean = "clean" in actions and not any(map(_contradicts_most, findings))
        return "Usable after cleaning." if clean else "Usable with care."
    verdicts = Counter(finding.verdict for finding in findings)
    if "pass" not in verdicts:
        return "Whether it is usable could not be measured."
    measured = verdicts.total() - verdicts["not-measured"]
    if measured < verdicts["not-measured"]:
        checks = several_of(measured, verdicts.total(), "check")
        return f"Too little could be measured to say whether it is usable: {checks}."
    return "Usable." if len(verdicts) == 1 else "Usable, as far as it could be measured."


def advise(findings: Iterable[Finding], case: Case = NOWHERE) -> tuple[Advice, ...]:
    """Advice for every fail and warning, what can move a score most first."""
    groups: defaultdict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.verdict in ALARMS:
            groups[RULES.index(rule_for(finding))].append(finding)
    out = []
    for number in sorted(groups):
        group, rule = sorted(groups[number], key=lambda f: f.severity), RULES[number]
        out.append(
            Advice(
                rule.action,
                rule.sentence.format_map(_fields(group)),
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


def next_step(findings: Iterable[Finding], case: Case) -> Command:
    """What comes after an audit: labels, then copies, then leaks; otherwise a split, or a detector
    after one.
    """
    alarms = [finding for finding in findings if finding.verdict in ALARMS]
    for check in URGENT:
        for finding in alarms:
            rule = rule_for(finding)
            if finding.check == check and rule.action in REPAIRS:
                return rule.remedy(replace(case, findings=[finding]))[0]
    commands, folder = case.parted()
    return commands[0] if commands else case.command("detect", "run", folder, **case.task)


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


_UNCLEAR: tuple[Verdict, ...] = ("inconclusive", "not-measured")


class _Fields(dict[str, str]):
    """Missing figures are a dash: no advice is dropped because a finding lacks one."""

    def __missing__(self, key: str) -> str:
        return "–"


def _fields(group: Sequence[Finding]) -> _Fields:
    """What sentences can say of findings, the most severe first; names come from data and are cut
    short.
    """
    first, several = group[0], len(group) > 1
    names = _list([f"'{_label(f)}'" for f in group])
    scored = _list([f"{_label(f)} {_score(f)}" for f in group])
    columns = f"column{'s' if several else ''} {names}"
    each, them, give = ("each", "them", "give") if several else ("it", "it", "gives")
    return _Fields(
        names=names,
        scored=f"macro-F1 of {scored}",
        columns=f"the {columns}",
        Columns=f"The {columns}",
        give=f"alone {give}",
        each=each,
        them=them,
        checks=_list([f"'{f.check}'" for f in group]),
        first=_label(first),
        counts=_list([f"{f.check} {_count(f):,}" for f in group]),
        count=f"{_count(first):,}",
        top=f"up to {_score(first)}" if several else _score(first),
        words=_list([f"'{row['word']}'" for row in first.details.get("words", [])]),
        pairs=PAIRS if any(map(_contradicts_most, group)) else "",
        column=str(next((row.get("column") for row in first.details.get("filled", [])), "–")),
        **_figures(first),
    )


def _figures(finding: Finding) -> dict[str, str]:
    """The figures that a finding has, as a sentence shows them."""
    values = {**finding.details, "difference": finding.difference}
    return {
        name: shape.format(factor * values[key])
        for name, (key, factor, shape) in _FIGURES.items()
        if values.get(key) is not None
    }


_FIGURES = {
    "difference": ("difference", 100, "{:+.1f}"),
    "share": ("share", 100, "{:.1f}%"),
    "pure": ("purity", 100, "{:.0f}%"),
    "v": ("cramers_v", 1, "{:.2f}"),
}


def _label(finding: Finding) -> str:
    return excerpt(finding.feature or finding.check, 40)


def _score(finding: Finding) -> str:
    return "–" if finding.score is None else f"{100 * finding.score:.1f}"


def _count(finding: Finding) -> int:
    """How many records a finding is about, where it counts them; otherwise those that it names."""
    known = (int(finding.details[key]) for key in _COUNTED if key in finding.details)
    return next(known, finding.pointed_at)


_COUNTED = (
    *("copies", "conflicting_records", "contradicting_records"),
    *("suspects", "leaked", "paraphrased"),
)


def _list(words: Sequence[str]) -> str:
    """The first words, and how many more there are."""
    if len(words) > NAMED + 1:
        return f"{', '.join(words[:NAMED])} and {len(words) - NAMED} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1] if words else "–"]))
