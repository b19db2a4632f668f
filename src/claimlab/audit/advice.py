"""What to do about the findings of an audit: written rules, each of them data and a sentence.

A rule names the findings that it is for (check, beginning of the feature, verdicts). Findings of one rule become one
piece of advice. Only a fail or a warning gives advice; what was inconclusive or not measured is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from claimlab.core.finding import VERDICTS, Finding, Verdict
from claimlab.pages.excerpt import excerpt

Action = Literal["split", "drop", "report", "review", "collect", "clean"]
ALARMS: tuple[Verdict, ...] = ("fail", "warn")
NAMED = 3  # names in a sentence; the others are counted


@dataclass(frozen=True)
class Rule:
    """Findings of `checks` (of all their features, or those that begin with `feature`) call for `sentence`.

    The fields of a sentence: `names` and `scored` (features, the latter with scores), `first` (the most severe), `top`
    (its score), `each` and `them` ("it" for one), `counts`, and `share`, `column` and `words` of the most severe
    finding. `reason` is what a table says of a single finding.
    """

    checks: tuple[str, ...]
    action: Action
    sentence: str
    reason: str = "{difference} points"
    feature: str = ""
    verdicts: tuple[Verdict, ...] = ALARMS

    def matches(self, finding: Finding) -> bool:
        named = not self.checks or finding.check in self.checks
        return named and finding.verdict in self.verdicts and (finding.feature or "").startswith(self.feature)


RULES = (
    Rule(("one-class",), "collect", "Add records of another class: a detector cannot be trained on one class.",
         "fewer than two classes", verdicts=("fail",)),
    Rule(("one-class",), "report", "Report results per class: one class is rare.", "a class under 5%"),
    Rule(("copies",), "clean",
         "Remove the copies first (`clean(DIR)`): {share} of the records are copies, and the number of copies alone "
         "gives the label away (macro-F1 {top}).", "{share} are copies"),
    Rule(("near-duplicates",), "split",
         "Do not report a random-split score: {share} of the test records have a near-duplicate in train; use "
         '`split(DIR, by="near-duplicates")`.', "{share} of test leaks", feature="across a random"),
    Rule(("near-duplicates",), "split",
         "Do not report a score on the given split: {share} of the test records have a near-duplicate in "
         'train; use `split(DIR, by="near-duplicates")`, or remove them from the test set.',
         "{share} of test leaks", feature="across"),
    Rule(("paraphrases",), "report",
         "Report the score without paraphrases, too: {share} of the test records are paraphrases of a training "
         "record.", "{share} of test leaks"),
    Rule(("source", "author", "topic", "event"), "split",
         "{Columns} {give} the label away ({scored}): do not give {them} to a model, and hold out whole values "
         '(`split(DIR, by="column", column="{first}")`) or report results per value.', "{pure} one-class values"),
    Rule(("url",), "split",
         "The site behind a URL gives the label away (macro-F1 {top}): hold out whole sites "
         '(`split(DIR, by="domain")`) or report results per site.', "{pure} one-class sites", feature="domain"),
    Rule(("url",), "clean", "Remove URLs from the texts: their presence gives the label away (macro-F1 {top})."),
    Rule(("time",), "split",
         "The classes were collected at different times ({scored}): train on the past and test on what comes later "
         '(`split(DIR, by="time")`).'),
    Rule(("language",), "report",
         "Report results by 'language': the language alone gives the label away (macro-F1 {top}).",
         "{pure} one-class values"),
    Rule(("columns",), "drop", "Drop {columns} before training: {each} alone gives the label away (macro-F1 {top})."),
    Rule(("missing",), "drop",
         "Drop the column '{column}', or fill it for every class: which columns are filled gives the label away "
         "(macro-F1 {top}).", "mostly '{column}'"),
    Rule(("balance",), "split",
         'Draw the split again with the same label shares on every side: `split(DIR, by="group")`.',
         "label shares differ", feature="split"),
    Rule(("balance",), "report", "Report results by {names}: label shares differ between these subgroups.",
         "Cramér's V {v}"),
    Rule(("giveaways",), "clean",
         "Mask words that occur almost only in one class ({words}), or report the score with them masked.",
         "{words}", feature="one-sided words"),
    Rule(("giveaways",), "clean",
         "Mask words that occur almost only in one class ({words}), or report the score with them masked: together "
         "they reach a macro-F1 of {top}.", "{words}"),
    Rule(("surface",), "clean",
         "Normalise how the texts are typed before training: it gives the label away ({scored})."),
    Rule(("length", "keywords"), "report",
         "Next to every score of a model, report what simple features reach on the same split: {scored}."),
    Rule(("identical-texts", "near-duplicates", "url-conflicts"), "review",
         "Review records whose labels contradict each other ({counts}), or set them aside with `fix`.",
         "{count} records conflict"),
    Rule(("label-errors",), "review",
         "Review the {count} labels that a text model doubts; the surest come first in the table.",
         "{share} are suspect"),
    Rule(("evidence",), "report",
         "Next to every score with evidence, report the score without it: the claim alone reaches a macro-F1 of {top}.",
         feature="claim"),
    Rule(("evidence",), "report",
         "Next to every score, report what a model reaches that reads the evidence alone (macro-F1 {top}), and check "
         "how the evidence was collected.", feature="evidence"),
    Rule(("evidence",), "review", "Review the {count} labels whose rationale reads like that of another label.",
         "{share} are suspect"),
    Rule(("feasibility",), "report",
         "Report results separately for claims that can be checked: only {top}% of the claims can.", "can be checked"),
    # A check of another package, or one that has no rule of its own yet.
    Rule((), "report", "Look at {checks} before you report a score, and say what was found.", "see the full sentence"),
)  # fmt: skip


@dataclass(frozen=True)
class Advice:
    """One thing to do, and the findings that call for it."""

    action: Action
    text: str
    verdict: Verdict
    findings: tuple[str, ...]  # "check" or "check (feature)"


@dataclass(frozen=True)
class Conclusion:
    """What an audit comes to: a sentence, what to do, and what it does not tell."""

    text: str
    advice: tuple[Advice, ...]
    passed: tuple[str, ...]
    inconclusive: tuple[str, ...]
    not_measured: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def conclude(findings: Sequence[Finding]) -> Conclusion:
    """The conclusion of an audit, from its findings alone."""
    named = {v: tuple(name_of(f) for f in findings if f.verdict == v) for v in VERDICTS}
    advice = advise(findings)
    return Conclusion(_sentence(named), advice, named["pass"], named["inconclusive"], named["not-measured"])


def advise(findings: Iterable[Finding]) -> tuple[Advice, ...]:
    """Advice for every fail and warning, the most severe first, then in the order of the rules."""
    groups: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.verdict in ALARMS:
            groups.setdefault(RULES.index(rule_for(finding)), []).append(finding)
    out = []
    for number in sorted(groups):
        group = sorted(groups[number], key=_gravity)
        text = RULES[number].sentence.format_map(_fields(group))
        out.append(Advice(RULES[number].action, text, group[0].verdict, tuple(name_of(f) for f in group)))
    return tuple(sorted(out, key=lambda a: VERDICTS.index(a.verdict)))


def rule_for(finding: Finding) -> Rule:
    """The first rule that is meant for this finding; the last rule is meant for all."""
    return next(rule for rule in RULES if rule.matches(finding))


def reason(finding: Finding) -> str:
    """Why a finding fails or warns, in a few words."""
    return rule_for(finding).reason.format_map(_fields([finding]))


def name_of(finding: Finding) -> str:
    """The check, and its feature where that says more."""
    plain = finding.feature is None or finding.feature == finding.check
    return finding.check if plain else f"{finding.check} ({excerpt(finding.feature or '', 60)})"


def _sentence(named: dict[Verdict, tuple[str, ...]]) -> str:
    fails, warns, passes = (len(named[v]) for v in ("fail", "warn", "pass"))
    if fails or warns:
        counts = " and ".join(f"{n} {word}" for n, word in ((fails, "fail"), (warns, "warn")) if n)
        step = "do not report a score on this dataset without these steps" if fails else "report a score with care"
        return f"{counts}: {step}."
    unclear = " and ".join(f"{len(named[v])} {word}" for v, word in _UNCLEAR if named[v])
    if passes:
        rest = f" This does not cover what is {unclear}: that is not a pass." if unclear else ""
        return f"Nothing was found in what could be measured ({passes} pass).{rest}"
    return f"Nothing could be measured ({unclear or 'no findings'}). That is not a pass."


_UNCLEAR: tuple[tuple[Verdict, str], ...] = (("inconclusive", "inconclusive"), ("not-measured", "not measured"))


def _gravity(finding: Finding) -> tuple[int, float]:
    return VERDICTS.index(finding.verdict), -(finding.score or 0.0)


class _Fields(dict[str, str]):
    """Missing figures are a dash: no advice is dropped because a finding lacks one."""

    def __missing__(self, key: str) -> str:
        return "–"


def _fields(group: Sequence[Finding]) -> _Fields:
    """What sentences can say of findings, the most severe first; names come from data and are cut short."""
    first, several = group[0], len(group) > 1
    names = [f"'{excerpt(f.feature or f.check, 40)}'" for f in group]
    scored = [f"{excerpt(f.feature or f.check, 40)} {_score(f)}" for f in group]
    columns = f"the column{'s' if several else ''} {_list(names)}"
    fields = _Fields(
        names=_list(names),
        scored=f"macro-F1 of {_list(scored)}",
        columns=columns,
        Columns=f"The{columns[3:]}",
        give="alone give" if several else "alone gives",
        each="each" if several else "it",
        them="them" if several else "it",
        checks=_list([f"'{f.check}'" for f in group]),
        first=excerpt(first.feature or first.check, 40),
        counts=_list([f"{f.check} {_count(f):,}" for f in group]),
        count=f"{_count(first):,}",
        top=f"up to {_score(first)}" if several else _score(first),
        words=_list([f"'{row['word']}'" for row in first.details.get("words", [])]),
        column=str(next((row.get("column") for row in first.details.get("filled", [])), "–")),
    )
    figures: dict[str, tuple[float | None, Callable[[float], str]]] = {
        "difference": (first.difference, lambda x: f"{100 * x:+.1f}"),
        "share": (first.details.get("share"), lambda x: f"{100 * x:.1f}%"),
        "pure": (first.details.get("purity"), lambda x: f"{100 * x:.0f}%"),
        "v": (first.details.get("cramers_v"), lambda x: f"{x:.2f}"),
    }
    return _Fields({**fields, **{k: show(x) for k, (x, show) in figures.items() if x is not None}})


def _score(finding: Finding) -> str:
    return "–" if finding.score is None else f"{100 * finding.score:.1f}"


def _count(finding: Finding) -> int:
    """How many records a finding is about, where it counts them; otherwise those that it names."""
    keys = ("conflicting_records", "contradicting_records", "suspects", "leaked", "paraphrased")
    known = [int(finding.details[key]) for key in keys if key in finding.details]
    return known[0] if known else finding.pointed_at


def _list(words: Sequence[str]) -> str:
    """The first words, and how many more there are."""
    if len(words) > NAMED + 1:
        return f"{', '.join(words[:NAMED])} and {len(words) - NAMED} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1] if words else "–"]))
