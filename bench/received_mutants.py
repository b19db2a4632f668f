"""Mutated files of every kind that someone may send: each ends in a result or in a sentence, within
time and memory.

    python bench/received_mutants.py [--count 5000] [--seed DAY] [--keep FOLDER]

The seed is the number of the day, so that no two days try the same. Files are read in processes of
their own under a limit on memory and processor time; what ends in a raw exception, late or too
large is printed, and kept under --keep. Exit code 1 when there was any.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness import begin, parser

BYTES, SECONDS = 1 << 30, 10  # of memory beside what is imported, and of processor time
IN_A_PROCESS = 25  # files that are read in one process
ODD = (
    b"\xff\xfe", b"\x00", b"9" * 5_000, b"[" * 2_000, b"{" * 500, b'"', b"=", b"\n[a]\n", b"-1",
    b"1e999", b"nan", b"[]", b"{}", b"''", b"true", b"../../etc/passwd", b"s3://x/y", b"\xc3(",
    b"2020-01-01", b"x=1\nx=1\n",
)  # fmt: skip


ANSWERS = "".join(
    f'{name} = "A sentence that answers it."\n'
    for name in ("aim", "intended_generalisation", "shifts_in_scope", "shifts_out_of_scope")
)
TEXTS = {
    "recipe": 'name = "r"\nversion = 1\nprotect = ["test"]\n[[steps]]\nstep = "too-short"\n',
    "plan": '[columns]\ntext = "a"\nlabel = "b"\n[verdicts]\ntrue = "true"\n',
    "label map": 'name = "m"\nversion = 1\n[verdicts]\n"mostly true" = "true"\nfalse = ["no"]\n',
    "prompt": 'version = 2\n[parts]\ntask = "You read claims."\n',
    "profile": '[x]\nbase_url = "https://a.example/v1"\nmodel = "m"\nkey_variable = "KEY"\n'
    "[x.prices]\nm = { input = 1.0, output = 2.0 }\n",
    "study": '[datasets.d]\nfolder = "data"\n[grid]\ndetector = ["tfidf", "a"]\nseeds = [0]\n'
    '[detector.a]\ndetector = "llm-zero-shot"\nprofile = "openai"\n',
    "EQA file": f'title = "A study"\n[formulation]\n{ANSWERS}[data]\ndatasets = ["data"]\n'
    '[[runs]]\nname = "r"\npath = "run"\n',
    "review task": 'name = "t"\nquestion = "Is it so?"\nlabels = ["yes", "no"]\n',
    "answers for an export": 'dataCollectionType = "By hand, from three sites."\n',
    "audit.json": '{"audits": [{"name": "d", "digest": "x", "findings": [], "records": 3}]}',
    "defence.json": '{"paragraph": "p", "row": {}, "run": {"name": "r", "scores": {"accuracy": 1}, '
    '"ceiling": null}, "copied": {"segments": [{"name": "own", "share": 1}]}}',
    "call.json": '{"function": "claimlab.clean.front.clean", "arguments": {"data": {"$input": "d"'
    ', "sha256": "x"}}, "tool": "claimlab 1"}',
    "mark": '{"kind": "drift report", "files": ["index.html", "a/b.json"]}',
    "marker of an export": '{"export_version": 1, "files": {"a.csv": "x"}, "format": "csv"}',
    "bundle": '{"bundle_version": 1, "name": "n", "runs": [], "seal": "x"}',
    "manifest": '{"schema_version": 1, "name": "d", "files": {"records.parquet": "x"}}',
    "recorded answers": '{"kind": "model m", "common": {}, "replies": {"x": "y"}}',
    "saved study": '{"entries": [], "conclusion": "", "tables": []}',
    "review": '{"version": 1, "store": "review.sqlite", "task": {"name": "t"}}',
}
MADE = {
    "audit.json": "audit/audit.json",
    "call.json": "audit/call.json",
    "mark": "audit/.claimlab.json",
    "marker of an export": "export/claimlab.json",
    "manifest": "data/dataset.json",
    "review": "review/review.json",
    "bundle": "bundle.json",
}
NAMES = {
    "audit.json": "audit.json",
    "defence.json": "defence.json",
    "call.json": "call.json",
    "mark": ".claimlab.json",
    "marker of an export": "claimlab.json",
    "bundle": "bundle.json",
    "manifest": "dataset.json",
    "recorded answers": "answers.json",
    "saved study": "report/study.json",
    "review": "review.json",
}


def readers() -> dict[str, Callable[[Path], object]]:
    """What reads a file of each kind."""
    from claimlab.audit.result import read_audits
    from claimlab.clean.recipe import load_recipe
    from claimlab.core.call import read_call
    from claimlab.core.dataset import read_manifest
    from claimlab.core.guard import foreign_files
    from claimlab.core.labels import load_map
    from claimlab.evaluate.eqa.evidence import read_defence
    from claimlab.exchange.format import read_marker
    from claimlab.exchange.importing.plan import ImportChoices
    from claimlab.exchange.responsible import stated
    from claimlab.llm.prompts import read_prompts
    from claimlab.publish.bundle import read_bundle
    from claimlab.review.project import read as read_project
    from claimlab.review.task import task_named
    from claimlab.study.received import wanted_in
    from claimlab.study.recorded import read_answers
    from claimlab.study.saved import saved_study

    def call(file: Path) -> object:
        read_call(file.parent)
        return wanted_in(file.parent)

    return {
        "recipe": load_recipe,
        "plan": ImportChoices.read,
        "label map": load_map,
        "prompt": lambda file: read_prompts([f"zero-shot={file}"], "detect"),
        "profile": wanted_in,
        "study": wanted_in,
        "EQA file": wanted_in,
        "review task": lambda file: task_named(str(file)),
        "answers for an export": lambda file: stated(str(file)),
        "audit.json": read_audits,
        "defence.json": lambda file: read_defence(file.parent),
        "call.json": call,
        "mark": lambda file: foreign_files(file.parent),
        "marker of an export": lambda file: read_marker(file.parent, verify=False),
        "bundle": read_bundle,
        "manifest": lambda file: read_manifest(file.parent),
        "recorded answers": lambda file: read_answers(str(file)),
        "saved study": lambda file: saved_study(file.parents[1]),
        "review": lambda file: read_project(file.parent),
    }


def originals() -> dict[str, bytes]:
    """A whole file of every kind; those that only claimlab writes are written by it."""
    texts = {kind: text.encode() for kind, text in TEXTS.items()}
    with tempfile.TemporaryDirectory() as name:
        here = Path(name)
        if (child := os.fork()) == 0:  # no thread of Polars is left in this process
            _write(here)
            os._exit(0)
        os.waitpid(child, 0)
        for kind, place in MADE.items():
            texts[kind] = (here / place).read_bytes()
    return texts


def _write(here: Path) -> None:
    from parts.planted import planted

    import claimlab as cl
    from claimlab.cli.app import run

    cl.split(planted(size=120)[0], output=here / "data")
    os.chdir(here)
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        run(["audit", "data", "-o", "audit", "--check", "near-duplicates"])
        run(["export", "data", "-o", "export", "--to", "csv"])
        run(["review", "create", "data", "-o", "review"])
        run(["detect", "data", "-o", "run", "--detector", "majority"])
        run(["publish", "bundle", "run", "-o", "bundle.json"])


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The file with one to three faults: bytes changed, cut, doubled, or odd ones put in."""
    for _ in range(draw.randint(1, 3)):
        at, to = sorted(draw.randint(0, len(data)) for _ in range(2))
        match draw.randrange(5):
            case 0:
                data = data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[to:]
            case 2:
                data = data[:to] + data[at:]
            case 3:
                data = data[:at] + draw.choice(ODD) + data[at:]
            case _:  # a value in place of another: what follows a sign, to the end of its line
                start = max(data.find(b"=", at), data.find(b":", at)) + 1
                end = min(
                    each
                    for each in (*(data.find(s, start) for s in (b"\n", b",")), len(data))
                    if each >= 0
                )
                data = data[:start] + b" " + draw.choice(ODD) + data[max(start, end) :]
    return data


class Late(Exception):
    """A reader took longer than it may."""


def tried(reader: Callable[[Path], object], file: Path) -> str:
    """How reading a file ended: "" for a result, "sentence", or what went wrong."""
    from claimlab.core.errors import ClaimlabError

    def stop(*_: Any) -> None:
        raise Late

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        reader(file)
    except ClaimlabError:
        return "sentence"
    except Late:
        return "late"
    except MemoryError:
        return "large"
    except BaseException as error:
        return f"raw {type(error).__name__}: {str(error)[:100]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


def in_processes(files: list[tuple[str, Path]]) -> Iterator[tuple[str, Path, str]]:
    """Each file with how it ended, read some in a process."""
    known = readers()
    for start in range(0, len(files), IN_A_PROCESS):
        part = files[start : start + IN_A_PROCESS]
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            words = Path("/proc/self/statm").read_text().split()
            limit = int(words[0]) * resource.getpagesize() + BYTES
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            with os.fdopen(writing, "w") as out:
                for kind, file in part:
                    print(json.dumps(tried(known[kind], file)), file=out, flush=True)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as answers:
            ends = [json.loads(line) for line in answers]
        os.waitpid(child, 0)
        ends += ["the process ended"] * (len(part) - len(ends))
        yield from ((*each, end) for each, end in zip(part, ends, strict=True))


def written(folder: Path, count: int, seed: int) -> list[tuple[str, Path]]:
    """Mutated files of every kind, each in a folder of its own."""
    draw, whole = random.Random(seed), originals()
    kinds = list(whole)
    files = []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        file = folder / str(number) / NAMES.get(kind, "file.toml")
        file.parent.mkdir(parents=True)
        if kind == "saved study":
            (folder / str(number) / "study.toml").write_text(TEXTS["study"], "utf-8")
        file.write_bytes(mutated(whole[kind], draw))
        files.append((kind, file))
    return files


def faults(count: int, seed: int, folder: Path) -> tuple[Counter[str], list[tuple[str, Path, str]]]:
    """How many files ended how, and those that ended badly."""
    ends = list(in_processes(written(folder, count, seed)))
    bad = [each for each in ends if each[2] not in ("", "sentence")]
    return Counter(end.split(":")[0] or "result" for _, _, end in ends), bad


def main() -> int:
    made = parser(__doc__)
    made.add_argument("--count", type=int, default=5_000)
    made.add_argument("--seed", type=int, default=datetime.now(UTC).toordinal())
    made.add_argument("--keep", type=Path, metavar="FOLDER", help="where to keep what went wrong")
    options = begin(made)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        counts, bad = faults(options.count, options.seed, Path(name))
        for number, (kind, file, end) in enumerate(bad):
            print(f"{kind}: {end}: {file.read_bytes()[:200]!r}")
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{options.seed}-{number}-{file.name}").write_bytes(
                    file.read_bytes()
                )
    took = time.monotonic() - started
    print(f"seed {options.seed}: {dict(counts)} of {len(TEXTS)} kinds in {took:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
