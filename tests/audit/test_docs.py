"""docs/audit.md and docs/audit-protocols.md say what the checks and protocols say of themselves,
word for word."""

from __future__ import annotations

from pathlib import Path

from claimlab.audit.check import CHECKS, SHORTCUT_RULE, caveats

DOCS = Path(__file__).resolve().parents[2] / "docs"


def expected() -> dict[str, list[str]]:
    """Lines that the page must hold, under the heading they stand under."""
    own = {name: check.rule for name, check in CHECKS.all().items() if check.rule != SHORTCUT_RULE}
    return {
        "## Checks": [f"| `{name}` | {check.question} |" for name, check in CHECKS.all().items()],
        "## Protocol `fair` (default)": [
            SHORTCUT_RULE,
            *(f"- `{name}`: {rule}" for name, rule in own.items()),
            *(f"- {sentence}" for sentence in caveats("fair")),
        ],
        "## Protocol `cdl`": [f"- {sentence}" for sentence in caveats("cdl")],
        "### Protocol `cdl-holdout`": [f"- {sentence}" for sentence in caveats("cdl-holdout")],
    }


def test_the_page_holds_every_check_rule_and_caveat_and_no_other() -> None:
    names = ("audit.md", "audit-protocols.md")
    page = "\n".join((DOCS / name).read_text(encoding="utf-8") for name in names)
    for heading, lines in expected().items():
        part = page.split(f"{heading}\n")[1].split("\n## ")[0]
        missing = [line for line in lines if line not in part.splitlines()]
        assert missing == [], "\n".join(lines)
    listed = [
        line
        for line in page.split("## Checks\n")[1].split("\n## ")[0].splitlines()
        if line.startswith("| `")
    ]
    assert listed == expected()["## Checks"]
