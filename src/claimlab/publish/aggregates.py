"""An audit without anything of a single record: what may leave."""

from __future__ import annotations

import re

from claimlab.audit.result import Audit
from claimlab.audit.views.wording import VERDICT_WORDS
from claimlab.core.finding import Finding
from claimlab.core.types import JsonObject

# A quote begins after no letter and ends before none: the apostrophe in "Cramér's" is neither.
_VALUE = r"(?<!\w)'(?:[^']|(?<=\w)'(?=\w)){1,200}?'(?!\w)"
_QUOTED = re.compile(rf"{_VALUE}(?:, {_VALUE})*(?: and \d+ more)?")
IN_BRACKETS = re.compile(r"\s?\((?:–|[^()']*+'[^()]*+)\)")


def aggregate(audit: Audit) -> Audit:
    """The audit without anything of a single record: no ids, examples, values or words."""
    return Audit.from_json(
        {
            **{k: v for k, v in audit.to_json().items() if k != "examples"},
            "findings": [_figures(finding).model_dump() for finding in audit.findings],
        }
    )


def _figures(finding: Finding) -> Finding:
    change: JsonObject = {
        "why": unquoted(finding.why),
        "records": [],
        "records_in_all": finding.pointed_at,
        "others": [_figures(other) for other in finding.others],
        "details": {
            name: value
            for name, value in finding.details.items()
            # columns, which advice names; and what the verdict is decided by
            if isinstance(value, int | float) or name in ("filled", "share_interval")
        },
    }
    return finding.model_copy(update=change)


def unquoted(text: str) -> str:
    """A sentence without the examples from the data that it quotes."""
    return _QUOTED.sub("…", IN_BRACKETS.sub("", text))


def summary(audit: Audit) -> JsonObject:
    """The verdict of each check, the most severe finding counting."""
    checks = sorted({f.check for finding in audit.findings for f in finding.every})
    worst = {check: audit.worst(check) for check in checks}
    return {
        "dataset": audit.dataset,
        "records": audit.records,
        "verdicts": {check: finding.verdict for check, finding in worst.items() if finding},
    }


def tally(audit: Audit) -> dict[str, int]:
    """How many findings came to each verdict, in words."""
    return {words: n for v, words in VERDICT_WORDS.items() if (n := audit.counts()[v])}


def verdict_counts(audit: Audit) -> str:
    return ", ".join(f"{n} {words}" for words, n in tally(audit).items()) or "nothing"
