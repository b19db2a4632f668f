"""claimlab: from raw misinformation data to a number you can defend.

    import claimlab as cl

    dataset = cl.load("liar", "liar.zip")
    findings = cl.audit(dataset)
    findings.save("report")

Every verb of the command line is a function here, with the same options. A function is imported
when it is first used, so that `import claimlab` costs next to nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from claimlab.core.foreign import imported_by
from claimlab.core.version import __version__

if TYPE_CHECKING:
    from claimlab.audit.front import audit as audit
    from claimlab.audit.front import diff as diff
    from claimlab.catalog.conflicts import labels as labels
    from claimlab.catalog.front import catalog as catalog
    from claimlab.clean.front import clean as clean
    from claimlab.core.calls.estimate import estimate as estimate
    from claimlab.core.dataset import Dataset as Dataset
    from claimlab.core.engine.shared import engine_status as engine_status
    from claimlab.core.engine.shared import engine_work as engine_work
    from claimlab.core.errors import ClaimlabError as ClaimlabError
    from claimlab.detect.outside import import_predictions as import_predictions
    from claimlab.detect.run import detect as detect
    from claimlab.enrich.front import enrich as enrich
    from claimlab.evaluate.contamination.front import contamination as contamination
    from claimlab.evaluate.eqa.study import new_study as new_study
    from claimlab.evaluate.eqa.write import report as report
    from claimlab.evaluate.front import evaluate as evaluate
    from claimlab.evaluate.judge.front import judge as judge
    from claimlab.evolve.claims.front import seed_claims as seed_claims
    from claimlab.evolve.drift.front import drift as drift
    from claimlab.evolve.front import evolve as evolve
    from claimlab.evolve.worth.front import worth as worth
    from claimlab.exchange.export import export as export
    from claimlab.exchange.importer import import_files as import_files
    from claimlab.exchange.load import load as load
    from claimlab.exchange.merge import merge as merge
    from claimlab.generate.filter.front import quality_filter as quality_filter
    from claimlab.generate.front import generate as generate
    from claimlab.pages.show import show as show
    from claimlab.review.apply import review_apply as review_apply
    from claimlab.review.asked import review_ask as review_ask
    from claimlab.review.create import review_create as review_create
    from claimlab.review.files import review_export as review_export
    from claimlab.review.files import review_import as review_import
    from claimlab.review.review import Review as Review
    from claimlab.split.run import split as split
    from claimlab.study.check import study_check as study_check
    from claimlab.study.diff import study_diff as study_diff
    from claimlab.study.first_look import check as check
    from claimlab.study.front import study_run as study_run
    from claimlab.study.new import study_new as study_new
    from claimlab.study.page import study_table as study_table
    from claimlab.study.rerun import rerun as rerun
    from claimlab.web.serve import serve as serve

_HOMES = {
    "ClaimlabError": "claimlab.core.errors",
    "Dataset": "claimlab.core.dataset",
    "Review": "claimlab.review.review",
    "audit": "claimlab.audit.front",
    "catalog": "claimlab.catalog.front",
    "check": "claimlab.study.first_look",
    "clean": "claimlab.clean.front",
    "contamination": "claimlab.evaluate.contamination.front",
    "detect": "claimlab.detect.run",
    "diff": "claimlab.audit.front",
    "drift": "claimlab.evolve.drift.front",
    "engine_status": "claimlab.core.engine.shared",
    "engine_work": "claimlab.core.engine.shared",
    "enrich": "claimlab.enrich.front",
    "estimate": "claimlab.core.calls.estimate",
    "evaluate": "claimlab.evaluate.front",
    "evolve": "claimlab.evolve.front",
    "export": "claimlab.exchange.export",
    "generate": "claimlab.generate.front",
    "import_files": "claimlab.exchange.importer",
    "import_predictions": "claimlab.detect.outside",
    "judge": "claimlab.evaluate.judge.front",
    "labels": "claimlab.catalog.conflicts",
    "load": "claimlab.exchange.load",
    "merge": "claimlab.exchange.merge",
    "new_study": "claimlab.evaluate.eqa.study",
    "quality_filter": "claimlab.generate.filter.front",
    "report": "claimlab.evaluate.eqa.write",
    "rerun": "claimlab.study.rerun",
    "review_apply": "claimlab.review.apply",
    "review_ask": "claimlab.review.asked",
    "review_create": "claimlab.review.create",
    "review_export": "claimlab.review.files",
    "review_import": "claimlab.review.files",
    "seed_claims": "claimlab.evolve.claims.front",
    "serve": "claimlab.web.serve",
    "show": "claimlab.pages.show",
    "split": "claimlab.split.run",
    "study_check": "claimlab.study.check",
    "study_diff": "claimlab.study.diff",
    "study_new": "claimlab.study.new",
    "study_run": "claimlab.study.front",
    "study_table": "claimlab.study.page",
    "worth": "claimlab.evolve.worth.front",
}
__all__ = [
    "ClaimlabError",
    "Dataset",
    "Review",
    "__version__",
    "audit",
    "catalog",
    "check",
    "clean",
    "contamination",
    "detect",
    "diff",
    "drift",
    "engine_status",
    "engine_work",
    "enrich",
    "estimate",
    "evaluate",
    "evolve",
    "export",
    "generate",
    "import_files",
    "import_predictions",
    "judge",
    "labels",
    "load",
    "merge",
    "new_study",
    "quality_filter",
    "report",
    "rerun",
    "review_apply",
    "review_ask",
    "review_create",
    "review_export",
    "review_import",
    "seed_claims",
    "serve",
    "show",
    "split",
    "study_check",
    "study_diff",
    "study_new",
    "study_run",
    "study_table",
    "worth",
]


imported_by(_HOMES["import_files"], "import_files")


class _FrontDoor(ModuleType):
    """Some functions share their name with the package that holds them (`audit`). Importing a
    package binds it as an attribute of its parent; here the function keeps the name, and the
    package stays importable by its full path.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'claimlab' has no attribute '{name}'")
        value = getattr(import_module(_HOMES[name]), name)
        super().__setattr__(name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *__all__})


sys.modules[__name__].__class__ = _FrontDoor
