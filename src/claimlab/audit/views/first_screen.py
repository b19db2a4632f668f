"""The first screen of an audit's page: a sentence, one chart of what gives the label away, what to
do in at most three steps with one command, what only annotators can settle, and what was not
measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from claimlab.audit.advice import Advice, Conclusion, name_of, reason
from claimlab.audit.advice_rules import ALARMS, Action, rule_for
from claimlab.audit.remedy import SuggestedCall
from claimlab.audit.result import Audit
from claimlab.audit.views.wording import RATE_CHECKS, check_title
from claimlab.core.finding import VERDICTS, Finding
from claimlab.core.words import several, verb
from claimlab.pages.blocks import (
    Beside,
    Blocks,
    Card,
    Command,
    Forest,
    Results,
    Score,
    Steps,
    Text,
    Tone,
    excerpt,
)

TONES: dict[int, Tone] = {1: "fail", 2: "fail", 3: "warn", 4: "warn", 5: "pass", 6: "pass"}
MOST_ROWS = 16  # of the chart; the table of findings has all
MOST_STEPS = 3
LONGEST = 30  # characters of a name beside the chart
NAMED = 3  # findings named in a sentence
# checks whose score comes from reading words, so that it is not reached without reading
READS = ("giveaways", "keywords", "text-columns", "evidence")
ORDER: tuple[Action, ...] = ("collect", "split", "clean", "drop", "report")  # review is for people
STEPS: dict[tuple[Action, str], str] = {
    ("split", "source"): "Hold out whole sources",
    ("split", "author"): "Hold out whole authors",
    ("split", "topic"): "Hold out whole topics",
    ("split", "event"): "Hold out whole events",
    ("split", "near-duplicates"): "Keep near-copies on one side",
    ("split", "time"): "Train on the past, test on what comes later",
    ("split", "url"): "Hold out whole sites",
    ("split", "order"): "Shuffle the records before splitting",
    ("split", "balance"): "Draw the split again with equal label shares",
    ("clean", "copies"): "Remove copies",
    ("clean", "near-duplicates"): "Remove copies of test records from train",
    ("clean", "url"): "Remove URLs from the texts",
    ("clean", "giveaways"): "Mask words of one class",
    ("clean", "surface"): "Normalise {names}",
}  # by action and check; others are made of the action
PLAIN: dict[Action, str] = {
    "collect": "Look at the labels first",
    "split": "Hold out whole values of {names}",
    "clean": "Clean the texts",
    "drop": "Keep {names} away from a model",
    "report": "Report {names} beside every score",
    "review": "Review {names}",
}
# sentences of a reason whose figures the first sentence has
REPEATED = ("Alone it reaches", "Beside it:")
UNTIL = "Until the steps on this page are taken, a detector's score here says little about claims."
MISSING = "–"  # what a sentence says of what was left out of an audit
STUCK = "Report what {names} reaches beside every score"  # where no split holds it out
SETTLED: dict[str, str] = {
    "near-duplicates": "records whose near-copy has another label",
    "identical-texts": "records whose text occurs with another label",
    "url-conflicts": "records whose URL occurs with another label",
    "label-errors": "labels that a text model doubts",
    "feasibility": "claims that cannot be checked",
    "paraphrases": "test records that paraphrase a training record",
    "time-bound": "claims whose label holds for a day",
    "media": "records whose image has a near-copy elsewhere",
    "evidence": "labels whose rationale reads like another label's",
}  # what a check asks annotators, by its name
ALSO_REVIEWED = ("feasibility", "paraphrases")  # reported first, and then reviewed
Link = Callable[[Finding], str | None]


def tone_of(audit: Audit) -> Tone:
    """The tone of a verdict: by its rung, and none where nothing could be measured."""
    verdict = audit.conclusion.verdict
    return "not-measured" if "as far as known" in verdict.words else TONES[verdict.number]


def verdict_words(audit: Audit) -> str:
    words = audit.conclusion.verdict.words
    return f"{words[:1].upper()}{words[1:]}"


def next_command(audit: Audit, folder: str | None = None) -> SuggestedCall:
    """The one command of the first screen; what a page, the app and a site show is chosen here."""
    return audit.next_step(folder)


@dataclass(frozen=True)
class Places:
    """Where the links of a first screen lead: to a finding; to why some checks were not measured;
    to what starts a command; to what starts a review of the records of a finding. `folder` is that
    of the dataset, for commands."""

    finding: Link
    unmeasured: str | None = None
    start: Callable[[SuggestedCall], str | None] = lambda _: None
    review: Link = lambda _: None
    folder: str | None = None


def first_screen(audit: Audit, places: Places, *, charted: bool = True) -> Blocks:
    """What a reader sees first, without the chart where many audits make a page too large."""
    conclusion = audit.concluded(places.folder)
    counts: dict[Tone, int] = {verdict: n for verdict, n in audit.counts().items() if n}  # type: ignore[misc]
    head, sentence = in_a_sentence(audit)
    chart = forest(audit.findings, places.finding)
    left: Blocks = []
    if chart.rows and charted:
        note = "macro-F1 of each feature alone, 95% interval"
        rest = len(scored(audit.findings)) - len(chart.rows)
        hint = "Choose a row for its words, records and figures."
        hint += f" {rest} more are in the table below." if rest else ""
        left = [Card("What gives the label away", [chart, Text(hint)], note)]
    left += settle(audit, places)
    right: Blocks = [todo(audit, conclusion, places), *unknown(conclusion, places.unmeasured)]
    top = Card("", [Beside([[Text(head, "conclusion"), Text(sentence)], [Results(counts)]])])
    return [top, Beside([left, right]) if left else Beside([right])]


def in_a_sentence(audit: Audit) -> tuple[str, str]:
    """What the audit comes to, as one would say it, and the figures behind it."""
    verdict, failing = audit.conclusion.verdict, gives_away(audit.findings)
    if not failing or verdict.number == 1:
        return _without_scores(audit), verdict.reason
    top = failing[0]
    score = f"{100 * (top.score or 0):.0f}"
    head = (
        f"{label_of(top, audit.findings)} alone scores {score} here"
        if top.check in READS
        else f"Anyone can score {score} here without reading a claim"
    )
    figures = _listed(
        [
            f"{_lower(label_of(finding, audit.findings))} {100 * (finding.score or 0):.1f}"
            for finding in failing[:NAMED]
        ]
    )
    chance = top.baselines.best()
    beside = "" if chance is None else f"; chance is {100 * chance:.0f}"
    more = len(failing) - NAMED
    rest = f" {several(more, 'more feature')} {verb(more, 'fails', 'fail')}." if more > 0 else ""
    told = [part for part in verdict.reason.split(". ") if not part.startswith(REPEATED)]
    why = ". ".join(told) if verdict.number in (2, 3, 4) else verdict.reason
    sentences = [f"Macro-F1 from one feature alone: {figures}{beside}.{rest}", why, UNTIL]
    return head, " ".join(filter(None, sentences))


def _without_scores(audit: Audit) -> str:
    number = audit.conclusion.verdict.number
    if number == 1:
        return "No score on this dataset means anything yet"
    alarms = sum(finding.verdict in ALARMS for finding in audit.findings)
    if alarms:
        return f"No feature gives the label away, but {several(alarms, 'check')} found something"
    measured = any(finding.verdict == "pass" for finding in audit.findings)
    return "Nothing was found that gives the label away" if measured else "Nothing was measured"


def gives_away(findings: Iterable[Finding]) -> list[Finding]:
    """The features that fail alone, the highest score first."""
    failing = [finding for finding in scored(findings) if finding.verdict == "fail"]
    return sorted(failing, key=lambda finding: -(finding.score or 0.0))


def scored(findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose score is compared with chance."""
    return [
        finding
        for finding in findings
        if finding.score is not None and finding.check not in RATE_CHECKS
    ]


def forest(findings: Sequence[Finding], link: Link) -> Forest:
    """Every feature alone against chance, the most severe first."""
    rows = sorted(
        scored(findings),
        key=lambda finding: (VERDICTS.index(finding.verdict), -(finding.score or 0.0)),
    )
    scores = [
        Score(
            label_of(finding, findings),
            finding.score or 0.0,
            finding.interval,
            finding.baselines.best(),
            finding.verdict,
            link(finding),
        )
        for finding in rows[:MOST_ROWS]
    ]
    return Forest(scores, "Score of each feature alone, against chance")


def label_of(finding: Finding, findings: Iterable[Finding]) -> str:
    """A finding in a word or two: its feature where its check has several or is about words."""
    same = sum(other.check == finding.check for other in findings)
    name = finding.feature if same > 1 or finding.check in READS else None
    if name is None or len(name) > LONGEST:
        name = check_title(finding.check)
    if finding.check == "columns":
        return excerpt(name, LONGEST)  # the name of a column is as it is
    return excerpt(f"{name[:1].upper()}{name[1:]}", LONGEST)


def todo(audit: Audit, conclusion: Conclusion, places: Places) -> Card:
    """At most three steps, one for each kind of action, and one command."""
    by_name = {name_of(finding): finding for finding in audit.findings}
    groups = [[a for a in conclusion.advice if a.action == action] for action in ORDER]
    groups = sorted(filter(None, groups), key=_first)[:MOST_STEPS]
    steps = [_step(group, by_name, audit.findings) for group in groups]
    call = next_command(audit, places.folder)
    form = places.start(call)
    verb = f"{call.function[:1].upper()}{call.function[1:]}"
    button: Blocks = [Text("", "action", [(verb, form)])] if form else []
    command: Blocks = [Command(call.shell), *button]
    if not steps:
        return Card("What comes next", [Text("No check asks for a step."), *command])
    return Card("Do this, in order", [Steps(steps), *command])


def _first(group: Sequence[Advice]) -> tuple[int, float]:
    """Labels first, then what repairs, then what is only reported; what can move a score most."""
    turns: dict[Action, int] = {"collect": 0, "split": 1, "clean": 1}
    return turns.get(group[0].action, 2), -group[0].points


def _step(
    group: Sequence[Advice], by_name: dict[str, Finding], among: Sequence[Finding]
) -> tuple[str, str]:
    pieces = []
    for advice in group:
        findings = [by_name[name] for name in advice.findings if name in by_name]
        names = _listed([_lower(label_of(finding, among)) for finding in findings])
        stuck = advice.action == "split" and advice.commands[0].function != "split"
        check = findings[0].check if findings else ""
        words = STUCK if stuck else STEPS.get((advice.action, check), PLAIN[advice.action])
        pieces.append((words, names, findings))
    (words, names, findings), *others = pieces
    reasons = [_why(finding, among) for finding in findings]
    why = _listed([words for words in reasons if words != MISSING], "; ")
    also = [more if same == words else _lower(same.format(names=more)) for same, more, _ in others]
    sentences = [why and f"{why}.", f"Also: {'; '.join(also)}." if also else ""]
    return words.format(names=names), " ".join(filter(None, sentences))


def _why(finding: Finding, among: Sequence[Finding]) -> str:
    if finding.score is not None and finding.check not in RATE_CHECKS:
        return f"{label_of(finding, among)} alone reaches {100 * finding.score:.1f}"
    told = reason(finding)
    return f"{told[:1].upper()}{told[1:]}"


def settle(audit: Audit, places: Places) -> list[Card]:
    """What annotators are asked: how many records, and the finding that names them."""
    lines: Blocks = []
    for finding in audit.findings:
        if finding.verdict not in ALARMS or not finding.pointed_at:
            continue
        if rule_for(finding).action != "review" and finding.check not in ALSO_REVIEWED:
            continue
        what = SETTLED.get(finding.check, f"records of: {check_title(finding.check)}")
        words, where = f"{finding.pointed_at:,} {what}", places.finding(finding)
        review = places.review(finding)
        links = [(words, where)] if where else []
        links += [("Review them", review)] if review else []
        lines.append(Text("" if where else words, links=links))
    return [Card("Only people can settle", lines)] if lines else []


def unknown(conclusion: Conclusion, more: str | None) -> list[Card]:
    """What could not be measured, and what does not apply."""
    parts = [
        ("Not measured", conclusion.not_measured),
        ("Inconclusive", conclusion.inconclusive),
        ("Not applicable, for lack of such a column", conclusion.not_applicable),
    ]
    lines = [f"{words}: {_listed(list(names))}." for words, names in parts if names]
    if not lines:
        return []
    links = [("Why", more)] if more else []
    last = Text("None of these is a pass.", "plain", links)
    return [Card("Not measured", [*map(Text, lines), last])]


def _listed(names: Sequence[str], comma: str = ", ") -> str:
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED + 1 else ""
    shown = names[:NAMED] if rest else names
    if rest or comma != ", ":
        return comma.join(shown) + rest
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1] if shown else ""]))


def _lower(words: str) -> str:
    return words if words[:2].isupper() else f"{words[:1].lower()}{words[1:]}"
