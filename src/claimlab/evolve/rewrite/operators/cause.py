"""Operators on cause and effect: a link becomes a cause, a cause one of several, a cause is denied
or left out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from claimlab.evolve.rewrite.english.clause import AUXILIARIES, Clause
from claimlab.evolve.rewrite.english.forms import Tense, lemma, verb
from claimlab.evolve.rewrite.operators.operator import SHORTEST, Operator, targets
from claimlab.evolve.rewrite.operators.statement import on_body, on_clause

_BECAUSE = re.compile(r"^(?:because of|due to|owing to|thanks to|as a result of)\b", re.IGNORECASE)
_CAUSAL_TAIL = re.compile(
    r"^(?:because|due to|owing to|thanks to|as a result|leading to|causing|resulting"
    r" in|contributing "
    r"to|thereby|enabling|allowing|driving|prompting|"
    r"likely due|so that|which (?:led|caused|contributed|resulted|helped))\b"
)
_LATER = re.compile(
    r"^(?P<rest>.*?) (?P<when>after|following|amid|during) (?P<what>(?:the|a|an|its|their)?"
    r" ?[^,;\d]{6,50})$"
)
_LINKS = re.compile(
    r"\b(?:(?P<be>is|are|was|were) (?:linked to|associated with|tied to|connected to)|"
    r"(?P<verb>contributed|contributes|contribute) to|"
    r"(?P<led>led|leads|lead) to|(?P<res>resulted|results|result) in)\b"
)
_CAUSES = re.compile(
    r"\b(?:directly )?(?P<verb>cause|causes|caused|drives|drove|triggers|triggered)\b(?! by)|"
    r"\b(?P<led>led|leads|lead) to\b|\b(?P<res>resulted|results|result) in\b"
)
_BE = {"is": "s", "are": "base", "was": "past", "were": "past"}


def cause_operators() -> Iterator[Operator]:
    direct, indirect, refuted, none = (
        targets(f"causal={value}") for value in ("direct", "indirect", "refuted", "none")
    )
    yield Operator("cause-from-link", "A link becomes a cause", "cause", on_body(_to_cause), direct)
    yield Operator(
        "cause-from-time",
        "What came before becomes the cause",
        "cause",
        on_clause(_from_time),
        direct,
    )
    yield Operator("directly", "A cause is called direct", "cause", on_body(_directly), direct)
    yield Operator(
        "one-of-several", "A cause becomes one of several", "cause", on_clause(_partly), indirect
    )
    yield Operator(
        "contribute", "A cause becomes a contribution", "cause", on_body(_contribute), indirect
    )
    yield Operator("not-because", "A reason is denied", "cause", on_clause(_not_because), refuted)
    yield Operator("does-not-cause", "An effect is denied", "cause", on_clause(_does_not), refuted)
    yield Operator("drop-cause", "Cause or effect goes", "drop", on_clause(_no_cause), none)
    yield Operator(
        "side-by-side", "A cause becomes something that came along", "cause", on_body(_along), none
    )


def _form(match: re.Match[str]) -> Tense:
    if match.groupdict().get("be"):
        return _BE[match["be"]]  # type: ignore[return-value]
    word = next(w for name in ("verb", "led", "res") if (w := match.groupdict().get(name)))
    return "past" if lemma(word, "past") else "s" if lemma(word, "s") else "base"


def _to_cause(body: str, draw: random.Random) -> str:
    return _LINKS.sub(
        lambda m: f"{draw.choice(('directly ', ''))}{verb('cause').form(_form(m))}", body, count=1
    )


def _directly(body: str, draw: random.Random) -> str:  # noqa: ARG001
    if re.search(r"\bdirectly\b", body):
        return body
    changed = _CAUSES.sub(lambda m: f"directly {m[0]}", body, count=1)
    return (
        changed
        if changed != body
        else re.sub(r"\b(?:because of|due to)\b", "as a direct result of", body, count=1)
    )


def _from_time(clause: Clause, draw: random.Random) -> Clause | None:
    match = _LATER.match(clause.rest)
    if match is None or clause.tail or len(match["rest"].split()) + len(clause.subject.split()) < 3:
        return None
    if (
        match["rest"].endswith(("ly", "years", "months", "weeks", "days", "hours", "shortly"))
        or set(match["what"].split()) & AUXILIARIES
    ):
        return None
    words = draw.choice(("as a direct result of", "because of", "directly because of"))
    return clause.with_(rest=f"{match['rest']} {words} {match['what'].strip()}".strip())


def _partly(clause: Clause, draw: random.Random) -> Clause | None:
    words = draw.choice(
        ("partly because of", "in part through", "through a mix of factors, including")
    )
    if _BECAUSE.match(clause.tail):
        return clause.with_(tail=_BECAUSE.sub(words, clause.tail), mark=clause.mark)
    match = _LATER.match(clause.rest)
    if (
        match is None
        or set(match["what"].split()) & AUXILIARIES
        or match["when"] == "during"
        or clause.tail
        or not re.match(r"(?:the|a|an|its|their) ", match["what"])
    ):
        return None
    return clause.with_(rest=f"{match['rest']} {words} {match['what'].strip()}".strip())


def _contribute(body: str, draw: random.Random) -> str:  # noqa: ARG001
    return _CAUSES.sub(
        lambda m: f"indirectly {verb('contribute').form(_form(m))} to", body, count=1
    )


def _not_because(clause: Clause, draw: random.Random) -> Clause | None:  # noqa: ARG001
    if not _BECAUSE.match(clause.tail):
        return None
    return clause.with_(tail=_BECAUSE.sub("but not because of", clause.tail), mark=", ")


def _does_not(clause: Clause, draw: random.Random) -> Clause | str | None:  # noqa: ARG001
    group = clause.group
    if group.base in (
        "cause",
        "drive",
        "trigger",
        "lead",
        "result",
        "contribute",
        "reduce",
        "increase",
        "improve",
        "prevent",
        "promote",
        "help",
        "enable",
    ):
        do = "did" if clause.past else "do" if clause.plural else "does"
        if group.auxiliary is None:
            front = f"{clause.front}, " if clause.front else ""
            return (
                f"{front}{clause.subject} {do} not necessarily {group.base}"
                f" {clause.rest}{clause.mark}{clause.tail}"
            )
    return None


def _no_cause(clause: Clause, draw: random.Random) -> str | None:  # noqa: ARG001
    if _CAUSAL_TAIL.match(clause.tail):
        left = clause.with_(tail="", mark="").text()
    elif _BECAUSE.match(clause.front):
        left = clause.with_(front="").text()
    else:
        return None
    return left if len(left.split()) >= SHORTEST else None


def _along(body: str, draw: random.Random) -> str:  # noqa: ARG001
    for pattern, new in (
        (
            (
                r"(?<!partly )(?<!not )(?<!directly )\b(?:because of|due to|owing to|thanks to|as a"
                r" result of)\b"
            ),
            "along with",
        ),
        (
            (
                r"(?<!have )(?<!has )(?<!had )(?<!been )(?<!be )(?<!ly )\b(?:directly |indirectly"
                r" )?caused\b(?! by)"
            ),
            "came along with",
        ),
        (
            (
                r"(?<!have )(?<!has )(?<!had )(?<!been )(?<!be )(?<!ly )\b(?:directly |indirectly"
                r" )?led to\b"
            ),
            "came before",
        ),
        (
            (
                r"(?<!have )(?<!has )(?<!had )(?<!been )(?<!be )(?<!ly )\b(?:directly |indirectly"
                r" )?contributed to\b"
            ),
            "came along with",
        ),
        (
            (
                r"(?<!have )(?<!has )(?<!had )(?<!been )(?<!be )(?<!ly )\b(?:directly |indirectly"
                r" )?resulted in\b"
            ),
            "came before",
        ),
        (r"\bleads to\b", "goes along with"),
        (r"\bcauses\b", "goes along with"),
        (r"\b(?:directly|indirectly) ", ""),
    ):
        changed = re.sub(pattern, new, body, count=1)
        if changed != body:
            return changed
    return body
