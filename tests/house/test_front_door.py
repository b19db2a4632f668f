from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import claimlab as cl


def test_three_lines_of_python(tmp_path: Path) -> None:
    from claimlab.generate.planted import clean_twin

    findings = cl.audit(clean_twin(size=150), checks=["one-class", "length"])
    cl.report([findings], tmp_path / "report")
    assert (tmp_path / "report" / "index.html").is_file()
    assert findings.counts()["fail"] == 0


def test_a_verb_is_its_room_whichever_was_imported_first() -> None:
    code = (
        "import claimlab as cl, claimlab.audit.run, claimlab.report.html; "
        "assert callable(cl.audit) and callable(cl.report); "
        "from claimlab.audit.run import audit; assert cl.audit.run.audit is audit"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_promised_name_exists() -> None:
    for name in cl.__all__:
        assert getattr(cl, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cl.nonsense  # noqa: B018


def test_importing_costs_little() -> None:
    code = "import sys, claimlab; heavy = {'polars', 'numpy', 'sklearn', 'pydantic'} & set(sys.modules); assert not heavy, heavy"
    subprocess.run([sys.executable, "-c", code], check=True)
