"""Run checks on a dataset: `audit(dataset)` gives findings; a check that breaks is a finding, not the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from claimlab.audit import cdl
from claimlab.audit.check import CHECKS, Check, Context, ProtocolName, not_measured
from claimlab.audit.examples import collect
from claimlab.audit.facts import settle
from claimlab.audit.protocols import PROTOCOLS
from claimlab.audit.result import Audit
from claimlab.audit.rule import Settings
from claimlab.audit.subject import Subject
from claimlab.core.dataset import Dataset
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.finding import Finding
from claimlab.core.progress import Progress, silent


class Audited(Audit):
    """An audit that was just run; it can write its report."""

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Write the report: `audit.json`, and the same as HTML, Markdown, LaTeX and figures."""
        from claimlab.audit.write import write_audits

        write_audits([self], folder, force=force)


def audit(
    dataset: Dataset,
    *,
    checks: Sequence[str] | None = None,
    protocol: ProtocolName = "fair",
    target: str = "veracity",
    columns: Sequence[str] = (),
    seed: int = 0,
    settings: Settings | None = None,
    judge: Any = None,
    debug: bool = False,
    progress: Progress = silent,
) -> Audited:
    """Put `dataset` to the named checks (all by default)."""
    if protocol not in PROTOCOLS:
        raise UsageError(f"'{protocol}' is not a valid protocol.", f"Use one of: {', '.join(PROTOCOLS)}.")
    names = list(checks) if checks else default_checks(protocol)
    chosen = [CHECKS.get(name) for name in names]
    subject = Subject.of(dataset, target)
    context = Context(protocol, seed, settings or Settings(), tuple(columns), judge, debug)
    result = Audited(
        dataset=dataset.name,
        digest=dataset.digest(),
        protocol=protocol,
        target=target,
        seed=seed,
        records=dataset.records.height,
        labelled=subject.n,
        card=dataset.card,
        rule=context.settings.rule.words() if protocol == "fair" else cdl.RULE,
    )
    for number, check in enumerate(chosen):
        progress(f"{dataset.name}: {check.name}", number, len(chosen))
        result.findings += run_one(check, subject, context)
    result.findings = settle(result.findings, context.settings.rule)
    result.examples = collect(subject, result.findings)
    progress(f"{dataset.name}: report", len(chosen), len(chosen))
    return result


def default_checks(protocol: str) -> list[str]:
    """Every check under `fair`; under `cdl` those that its authors' scripts have."""
    return [name for name, check in CHECKS.all().items() if protocol in protocols_of(check)]


def protocols_of(check: Check) -> tuple[str, ...]:
    """A check of another package that declares none follows `fair`."""
    return getattr(check, "protocols", ("fair",))


def run_one(check: Check, subject: Subject, context: Context) -> list[Finding]:
    """A check's findings. An unexpected error in a check becomes "not measured" with its name; the others continue."""
    if context.protocol not in protocols_of(check):
        others = ", ".join(default_checks(context.protocol))
        why = f"The {context.protocol} protocol does not have this check (it has {others}); use `protocol='fair'`."
        return [not_measured(check.name, context.protocol, why)]
    try:
        return check.run(subject, context)
    except ClaimlabError:
        raise
    except (Exception, SystemExit) as error:  # a check of another package may end in sys.exit
        if context.debug:
            raise
        why = f"The check broke ({type(error).__name__}: {error}); run `{check.name}` alone, with `debug=True`."
        return [not_measured(check.name, context.protocol, why, n=subject.n)]
