"""What the library says of arguments, said in flags."""

from __future__ import annotations

import pytest

from claimlab.cli.flags import in_flags


@pytest.mark.parametrize(
    ("message", "command", "says"),
    [
        ("Pass `force=True`.", "split", "Pass --force."),
        ("Use `by='near-duplicates'`.", "split", "Use --by near-duplicates."),
        ("Pass `changed_in_test=False`.", "split", "Pass --set changed_in_test=false."),
        ("Pass `day_first=False`.", "import", "Pass --set day_first=false."),
        pytest.param(
            "Raise `max_cost`.", "evolve run", "Raise --max-cost.", marks=pytest.mark.leaf
        ),
        ("The column `topic` and `force=True`.", "", "The column `topic` and `force=True`."),
        (
            "To keep it: `show('a b', accept_edits=WHY)`",
            "audit",
            "To keep it: claimlab show 'a b' --accept-edits WHY",
        ),
        ("First: `split(DIR, output=NEW)`.", "detect", "First: claimlab split DIR --output NEW."),
        ("Call `nothing(at, all=1)`.", "detect", "Call `nothing(at, all=1)`."),
    ],
)
def test_arguments_and_calls_become_flags_and_commands(
    message: str, command: str, says: str
) -> None:
    assert in_flags(message, command) == says
