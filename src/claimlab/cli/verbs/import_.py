"""`claimlab import`: bring any file, get a clean traceable dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import claimlab as cl
from claimlab.cli.command import Call, verb
from claimlab.cli.flags import in_flags
from claimlab.cli.output import emit, following, say, suggest, wants_json, written
from claimlab.core.dataset import Dataset
from claimlab.core.errors import UsageError
from claimlab.core.options import Option, Setting, parameters_of
from claimlab.exchange.importer import guess_files
from claimlab.exchange.importing.propose import NO_COLUMN
from claimlab.exchange.importing.report import ImportReport
from claimlab.files.layout import ReadOptions

app = verb()


@app.of(cl.import_files, "import")
def import_(  # noqa: PLR0913
    call: Call[tuple[Dataset, ImportReport]],
    encoding: Annotated[str | None, Setting("Encoding of the files, such as cp1252.")] = None,
    delimiter: Annotated[
        str | None, Setting("Delimiter of the files: one character, or tab.")
    ] = None,
    quotes: Annotated[
        str, Setting("Quotes: auto, double, escape (by backslash), none (they are text).")
    ] = "auto",
    header: Annotated[bool | None, Setting("Whether row one names the columns.")] = None,
    sheet: Annotated[
        str | None, Setting("Sheet of a workbook; by default the longest, and those like it.")
    ] = None,
    dry_run: Annotated[bool, Option("Show the guess and stop; nothing is written.")] = False,
    no_labels: Annotated[bool, Option("Import without labels.")] = False,
    yes: Annotated[bool, Option("Take the likeliest column without asking.")] = False,
) -> None:
    del yes  # answers questions (cli/app), which end this call
    layout = {
        "encoding": encoding,
        "delimiter": delimiter,
        "quotes": quotes,
        "header": header,
        "sheet": sheet,
    }
    options = ReadOptions.of(layout)
    if no_labels:
        if call.options.get("label", NO_COLUMN) != NO_COLUMN:
            raise UsageError("--label and --no-labels exclude each other.", "Leave one out.")
        call.options["label"] = NO_COLUMN
    file = call["plan"]
    if dry_run or (file is not None and not Path(file).exists()):
        guessing = {
            name: call.options[name] for name in parameters_of(guess_files) if name in call.options
        }
        guess = Call(guess_files, guessing)(options=options, ask=dry_run)
        _say(guess.lines())
        if file is not None and not dry_run:
            guess.save(file)
            say(f"Wrote '{file}'. Edit it, then run the same command again: it is used then.")
        if wants_json():
            emit({"guess": guess.to_json()})
        return
    if call["output"] is None:
        raise UsageError(
            "No output folder was given.", "Add -o DIR, or --dry-run to see the guess only."
        )
    # the guess as a small table on stderr
    dataset, report = call(options=options, on_plan=lambda plan: _say(plan.lines()))
    _say(report.lines())
    written(dataset, more={"notes": dataset.notes, "report": report.to_json()})
    copies = report.duplicate_texts
    suggest(following(dataset, call.output, "claimlab audit {} -o REPORT", copies=copies))


def _say(lines: list[str]) -> None:
    for line in lines:
        say(in_flags(line, "import"))
