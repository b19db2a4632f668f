"""The audits that several files of tests read: of the planted data and of its clean twin."""

from __future__ import annotations

import pytest
from parts.planted import clean_twin, planted

from claimlab.audit.result import Audit
from claimlab.audit.run import audit


@pytest.fixture(scope="session")
def planted_audit() -> Audit:
    return audit(planted()[0], debug=True)


@pytest.fixture(scope="session")
def clean_audit() -> Audit:
    return audit(clean_twin(), debug=True)
