"""`cl.check`: import, clean and audit a file, and say whether it can be used.

    print(cl.check("my.csv").usable)

It is made of the front doors of three rooms, each with its defaults, so it has a floor above
theirs. The folder that it writes holds what each of them writes: `data`, `clean` and `report`.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

import polars as pl

from claimlab.audit.advice import MUCH, Advice, name_of
from claimlab.audit.advice_rules import ALARMS
from claimlab.audit.ladder import Rung
from claimlab.audit.remedy import SuggestedCall
from claimlab.audit.run import Audited
from claimlab.audit.trial import drawn_of, enough_left
from claimlab.audit.views.wording import VERDICT_WORDS
from claimlab.clean.front import clean
from claimlab.core import languages
from claimlab.core.call import repeatable
from claimlab.core.dataset import MANIFEST, Dataset
from claimlab.core.digest import digest_table, digest_tree
from claimlab.core.foreign import Foreign
from claimlab.core.guard import seal_folder
from claimlab.core.options import Force, OptionalFolder, Sample, Seed
from claimlab.core.run import Run
from claimlab.core.shown import Shown
from claimlab.core.types import Json, JsonObject
from claimlab.core.words import several
from claimlab.exchange.foreign import Paths, as_table, files_of
from claimlab.exchange.importer import (
    Files,
    ImportColumns,
    OnlyFiles,
    UnknownLabels,
    VerdictMap,
    import_files,
)
from claimlab.exchange.importing.plan import ImportPlan
from claimlab.files.bundle import present
from claimlab.pages.blocks import Blocks, Text
from claimlab.pages.terminal import to_text
from claimlab.tasks import TRUTH, open_task, own_task

KIND = "check"
DATA, CLEAN, REPORT = "data", "clean", "report"
ITEMS_SHOWN = 3  # findings, languages, and steps of cleaning
RARE_SHARE = 0.005  # a language with a smaller share is only counted
LABELS_SHOWN = 4
ASIDE = ("dropped", "doubtful")  # the tables of what cleaning left out
NUMBERED_INDENT = 4  # of what is numbered
ROLES = ("text", "label", "date")
_NUMBERS = {1: "One thing", 2: "Two things", 3: "Three things"}


@dataclass(frozen=True)
class FileRead:
    """What was read: its name, its rows, the column of each role, and its languages."""

    name: str
    rows: int
    columns: Mapping[str, str]
    languages: Mapping[str, int]
    understood: Sequence[str] = ()  # what one record is, and what the label says


@dataclass(frozen=True, repr=False)
class FirstLook(Shown):
    """What a check of a file came to: the dataset as imported, cleaned, and its audit."""

    source: FileRead
    data: Dataset
    clean: Dataset
    audit: Audited
    folder: Path | None = None

    @property
    def verdict(self) -> Rung:
        """Where the file is on the ladder of verdicts, with the number that decides."""
        return self.audit.conclusion.verdict

    @property
    def usable(self) -> str:
        """What the file can be used for, in a sentence."""
        return self.verdict.sentence

    @property
    def findings(self) -> tuple[Advice, ...]:
        """What to know first."""
        conclusion = self.audit.conclusion
        return tuple(sorted(conclusion.advice, key=lambda advice: advice is not conclusion.first))[
            :ITEMS_SHOWN
        ]

    @property
    def table(self) -> pl.DataFrame:
        return self.audit.table

    @property
    def page(self) -> Path | None:
        return None if self.folder is None else self.folder / REPORT / "index.html"

    @property
    def next_step(self) -> SuggestedCall:
        """What comes next: mostly `prepare`, which applies what the audit advises."""
        following = self.audit.next_step(self.audit.place)
        if self.folder is None or following.function != "prepare":
            return following
        fair = f"{str(self.folder).removesuffix(f'-{KIND}')}-fair"
        return replace(following, options={**following.options, "output": fair})

    def headline(self) -> str:
        return f"of '{self.source.name}': {self.usable}"

    def to_json(self) -> JsonObject:
        return {
            "output": None if self.folder is None else str(self.folder),
            "rows": self.source.rows,
            "columns": dict(self.source.columns),
            "languages": dict(self.source.languages),
            "understood": list(self.source.understood),
            "labels": _labels(self.data),
            "records": len(self.data),
            "clean_records": len(self.clean),
            "usable": self.usable,
            "verdict": self.verdict.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
            "verdicts": self.audit.counts(),
            "next": self.next_step.shell,
        }


@repeatable()
def check(
    data: Files,
    *,
    output: OptionalFolder = None,
    map: VerdictMap = None,
    unmapped: UnknownLabels = "error",
    only: OnlyFiles = (),
    seed: Seed = 0,
    limit: Sample = None,
    force: Force = False,
    **columns: Unpack[ImportColumns],
) -> FirstLook:
    """Say whether a file can be used, and what to do first: import, clean, audit and a page, in one
    command.

    A claimlab dataset folder is taken as it is. What is not given is guessed, as `import_files`
    does; `clean` and `audit` have their defaults, and the audit is of the cleaned records, or of
    all where cleaning leaves out half of them or a whole class. With `output`, the folders `data`,
    `clean` and `report` are written there. A check that was killed goes on where it was.
    """
    from claimlab.audit.front import audit  # with all that writes its page

    files = files_of(data)
    with Run("check", None, output, kind=KIND, reads=files, force=force, seed=seed) as run:
        choices = {**columns, "map": map, "unmapped": unmapped, "only": only, "limit": limit}
        journal = run.journal(read=_digests(data, files), choices=repr(choices))
        place = journal.place("parts")
        saved = journal.read("source")
        notes: JsonObject = saved if isinstance(saved, dict) else {}
        plans: list[ImportPlan] = []

        def imported(folder: Path | None) -> Dataset:
            if _is_dataset(files):
                dataset = Dataset.open(files[0]).sampled(limit, seed)
                notes.update(_noted(dataset))
                journal.write("source", notes)
                if folder is not None:
                    dataset.write(folder)
                return dataset
            dataset, report = import_files(
                data,
                folder if limit is None else None,
                map=map,
                unmapped=unmapped,
                only=only,
                seed=seed,
                on_plan=plans.append,
                **columns,
            )
            counts = {} if report.languages is None else report.languages.counts
            chosen = {role: plan.column(role) for plan in plans for role in ROLES}
            notes.update(rows=report.rows_read, columns=chosen, languages=counts)
            notes.update(understood=report.understood)
            journal.write("source", notes)
            if limit is not None:
                dataset = dataset.sampled(limit, seed)
                if folder is not None:
                    dataset.write(folder)
            return dataset

        raw = _kept(place, DATA, imported)
        cleaned = _kept(place, CLEAN, lambda to: clean(raw, output=to, seed=seed).dataset)
        report = None if place is None else place / REPORT
        whole = not enough_left(raw, cleaned)
        called = None if output is None else f"{Path(output).name}/{DATA if whole else CLEAN}"
        audited = audit(
            raw if whole else cleaned,
            output=report,
            seed=seed,
            force=True,
            published=raw,
            called=called,
        )
        run.fill(lambda folder: _put(place, folder))
    column_of = {role: column for role, column in notes["columns"].items() if column}
    name = files[0].name if files else raw.name
    source = FileRead(
        name, notes["rows"], column_of, notes["languages"], notes.get("understood", ())
    )
    folder = None if output is None else Path(output)
    if folder is not None:
        raw.path, cleaned.path = folder / DATA, folder / CLEAN
        audited.place = str(raw.path if whole else cleaned.path)
    return FirstLook(source, raw, cleaned, audited, folder)


def _is_dataset(files: Sequence[Path]) -> bool:
    """Whether what is checked was imported already."""
    return len(files) == 1 and (files[0] / MANIFEST).is_file()


def _noted(dataset: Dataset) -> JsonObject:
    """What an imported dataset says of its rows, columns and languages."""
    columns = {"text": "text", "label": "label_raw", "date": "date"}
    languages = dataset["language"].drop_nulls().value_counts(name="n").sort("language")
    return {"rows": len(dataset), "columns": columns, "languages": dict(languages.iter_rows())}


def _classes(dataset: Dataset) -> dict[str, int]:
    """How many records have each verdict, or each class of the task that the labels are about."""
    task = own_task(dataset)
    labels = dataset["veracity"] if task == TRUTH else open_task(task).labels(dataset.records)
    return dict(labels.drop_nulls().value_counts().sort(labels.name).iter_rows())


def _digests(data: Paths | Foreign, files: Sequence[Path]) -> dict[str, Json]:
    """What was read, by its digest."""
    if files:
        return {file.name: digest_tree(present(file)) for file in files}
    return {"data": digest_table(as_table(data))}


def _put(place: Path | None, folder: Path) -> None:
    """The finished parts into the folder that a check writes."""
    assert place is not None
    for part in (DATA, CLEAN, REPORT):
        shutil.move(place / part, folder / part)
    seal_folder(folder, KIND)


def _kept(place: Path | None, name: str, make: Callable[[Path | None], Dataset]) -> Dataset:
    """The dataset `name` that an earlier start of this check has made, or a new one."""
    folder = None if place is None else place / name
    if folder is not None and (folder / MANIFEST).is_file():
        return Dataset.open(folder)
    return make(folder)


def screen(checked: FirstLook, width: int) -> str:
    """The check on a terminal: what was read, whether it can be used, and what to know first."""
    blocks: Blocks = [Text(line) for line in (_source(checked), _languages(checked))]
    blocks.append(Text(_cleaning(checked)))
    verdict = " ".join(filter(None, [checked.usable, _found(checked)]))
    lines = [to_text([block], width=width) for block in [*blocks, Text(verdict)]]
    lines.insert(len(blocks), "")
    for number, finding in enumerate(checked.findings, 1):
        words = to_text([Text(finding.text)], width=width - NUMBERED_INDENT).replace(
            "\n", f"\n{' ' * NUMBERED_INDENT}"
        )
        lines.append(f"{number:>2}  {words}")
    return "\n".join([*lines, "", to_text([Text(_verdicts(checked))], width=width)])


def _source(checked: FirstLook) -> str:
    source, records = checked.source, checked.data.records
    labels = _labels(checked.data)
    counts = [f"{label} {n:,}" for label, n in list(labels.items())[:LABELS_SHOWN]]
    more = [f"{len(labels) - LABELS_SHOWN} more"] if len(labels) > LABELS_SHOWN else []
    label = source.columns.get("label")
    days = records["date"].drop_nulls()
    total, n = drawn_of(checked.data), records.height
    rows = several(source.rows, "row")
    parts = [
        rows if total is None else f"{rows}, {n:,} of {total:,} records drawn at random",
        f"text in `{source.columns.get('text', '?')}`",
        f"label in `{label or '?'}` ({', '.join([*counts, *more])})" if labels else "no labels",
        f"dates {str(days.min())[:10]} to {str(days.max())[:10]}" if days.len() else "no dates",
    ]
    return f"{source.name}: {', '.join(parts)}"


def _labels(dataset: Dataset) -> dict[str, int]:
    """How often each label occurs as it is written, the commonest first."""
    counts = dataset["label_raw"].drop_nulls().value_counts(name="n")
    return dict(counts.sort(["n", "label_raw"], descending=[True, False]).iter_rows())


def _languages(checked: FirstLook) -> str:
    counts = checked.source.languages
    total = sum(counts.values())
    common = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    main = [(code, n) for code, n in common[:ITEMS_SHOWN] if n >= RARE_SHARE * total]
    shares = [f"{_language(code)} {100 * n / total:.1f}%" for code, n in main]
    more = [f"{len(common) - len(main)} more"] if len(common) > len(main) else []
    return f"Language: {', '.join([*shares, *more]) or 'not measured'}"


def _language(code: str) -> str:
    language = languages.describe(code)
    return code if language is None else language.name


def _cleaning(checked: FirstLook) -> str:
    """What cleaning kept, and of which class: copies of one class are a finding of their own."""
    total = f"Cleaned: {len(checked.clean):,} of {several(len(checked.data), 'record')} kept"
    tables = [checked.clean.tables[name] for name in ASIDE if name in checked.clean.tables]
    steps = Counter(step for table in tables for step in table["step"])
    reasons = ", ".join(f"{step} {n:,}" for step, n in steps.most_common(ITEMS_SHOWN))
    audited = "" if enough_left(checked.data, checked.clean) else ". The audit is of all records"
    kept = f"{total}{_by_class(checked)}{f'; left out: {reasons}' if reasons else ''}{audited}"
    return f"{kept}{_leaks(checked)}"


def _leaks(checked: FirstLook) -> str:
    """What the data as published leaks, where cleaning took that out of train."""
    shares = [
        f"{100 * finding.details['share']:.1f}% of the {finding.details.get('part', 'test')}"
        f" records ({finding.check})"
        for finding in checked.audit.findings
        if finding.details.get("verdict_cleaned") == "pass" and finding.verdict in ALARMS
    ]
    if not shares:
        return ""
    return (
        f". As published, train has copies of {', '.join(shares)}; cleaning took these from train"
    )


def _by_class(checked: FirstLook) -> str:
    """How much of each class cleaning kept, in brackets; nothing where it kept all."""
    before, after = _classes(checked.data), _classes(checked.clean)
    parts = [f"{label} {after.get(label, 0):,} of {n:,}" for label, n in before.items()]
    return f" ({', '.join(parts)})" if before != after else ""


def _found(checked: FirstLook) -> str:
    """How the findings are introduced: nothing where there are none."""
    findings = checked.findings
    if not findings:
        return ""
    finding_of = {name_of(finding): finding for finding in checked.audit.findings}
    scored = all(
        finding_of[name].difference is not None
        for shown_finding in findings
        for name in shown_finding.findings
    )
    large = all(finding.points >= MUCH for finding in findings)
    count = _NUMBERS[len(findings)]
    verb = "give" if len(findings) > 1 else "gives"
    return f"{count} {verb} the label away:" if scored and large else f"{count} to know first:"


def _verdicts(checked: FirstLook) -> str:
    counts = checked.audit.counts()
    parts = [f"{n} {VERDICT_WORDS[verdict]}" for verdict, n in counts.items() if n]  # type: ignore[index]
    return f"Of {several(sum(counts.values()), 'measurement')}: {', '.join(parts)}."
