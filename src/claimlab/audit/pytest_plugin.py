"""The pytest plug-in: the fixture `assert_audit`. Nothing heavy is imported before a test asks for
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def assert_audit() -> Callable[..., Any]:
    """Audit a dataset; the test fails where a check fails or has no verdict, unless that is in
    `allow`.
    """
    from claimlab.audit.guard import assert_audit

    return assert_audit
