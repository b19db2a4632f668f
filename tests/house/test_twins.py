"""Every verb that writes has a twin in Python: the same input and options give the same bytes.

A new verb is one more line in TWINS: its command, and the call that does the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, Unpack, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from parts.packages import leaf_marked

import claimlab as cl
from claimlab.cli.app import run
from claimlab.cli.lazy import LazyVerbs, verb_names
from claimlab.core.options import parameters_of

WITHOUT_OUTPUT = {
    "catalog",
    "demo",
    "doctor",
    "engine",
    "labels",
    "llm",
    "new",
    "serve",
    "show",
    "trust",
}  # a tour, settings, and ways to look


@dataclass(frozen=True)
class Twin:
    """A command and the call that does the same, both in the folder `workspace`."""

    command: str
    call: Callable[[str], object]


TWINS = [
    Twin(
        "load covid-fact sample -o {out} --limit 3",
        lambda out: cl.load("covid-fact", "sample", output=out, limit=3),
    ),
    Twin("import rows.csv -o {out}", lambda out: cl.import_files(["rows.csv"], out)),
    Twin(
        "check rows.csv -o {out} --label verdict",
        lambda out: cl.check(["rows.csv"], output=out, label="verdict"),
    ),
    Twin(
        "clean data -o {out} --limit 150 --report {out}-report",
        lambda out: cl.clean("data", output=out, limit=150, report=f"{out}-report"),
    ),
    Twin(
        "match data --archive evolved --set words=true --limit 20 -o {out}",
        lambda out: cl.match("data", archive="evolved", words=True, limit=20, output=out),
    ),
    Twin(
        "overlap data evolved -o {out} --unseen-by all",
        lambda out: cl.overlap(["data", "evolved"], unseen_by=["all"], output=out),
    ),
    Twin(
        "audit data -o {out} --check length --check source --column topic",
        lambda out: cl.audit("data", checks=["length", "source"], columns=["topic"], output=out),
    ),
    Twin(
        "audit data data --check length -o {out}",
        lambda out: cl.audit("data", also=["data"], checks=["length"], output=out),
    ),
    Twin(
        "prepare data --audit audit --steps copies -o {out}",
        lambda out: cl.prepare("data", audit="audit", steps=["copies"], output=out),
    ),
    Twin(
        "diff data data --check length -o {out} --limit 200",
        lambda out: cl.diff("data", "data", checks=["length"], output=out, limit=200),
    ),
    Twin("split data -o {out} --by random", lambda out: cl.split("data", "random", output=out)),
    Twin(
        "split data -o {out} --by language --hold-out por --seed 3 --limit 200",
        lambda out: cl.split("data", "language", hold_out="por", seed=3, limit=200, output=out),
    ),
    Twin(
        "split data -o {out} --by language --all",
        lambda out: cl.split("data", "language", every=True, output=out),
    ),
    Twin(
        "evaluate --predictions rows.csv --data data --split test -o {out} --draws 200",
        lambda out: cl.evaluate(
            predictions="rows.csv", data="data", split="test", output=out, draws=200
        ),
    ),
    Twin(
        "defend run --data data -o {out} --set draws=200",
        lambda out: cl.defend("run", data="data", output=out, draws=200),
    ),
    Twin(
        "detect data -o {out} --detector stratified --seed 4 --limit 30",
        lambda out: cl.detect("data", "stratified", seed=4, limit=30, output=out),
    ),
    Twin(
        "detect data -o {out} --predictions rows.csv --split test",
        lambda out: cl.detect("data", predictions="rows.csv", split="test", output=out),
    ),
    Twin("export data --to inspect -o {out}", lambda out: cl.export("data", "inspect", out)),
    # the second of the two answers from the recording of the first: times of retrieval are the same
    Twin(
        "enrich data -o {out} --provider local:rows.jsonl --set cache=calls --limit 12",
        lambda out: cl.enrich("data", "local:rows.jsonl", cache="calls", limit=12, output=out),
    ),
    Twin(
        "overlap data -o {out} --corpus rows.jsonl --set cutoff=2024-06 --limit 60",
        lambda out: cl.overlap("data", corpus="rows.jsonl", cutoff="2024-06", limit=60, output=out),
    ),
    Twin(
        "judge run -o {out} --offline --limit 3",
        lambda out: cl.judge("run", offline=True, limit=3, output=out),
    ),
    Twin(
        "evolve run data -o {out} --steps 3 --limit 5 --seed 7",
        lambda out: cl.evolve("data", steps=3, limit=5, seed=7, output=out),
    ),
    Twin(
        "evolve drift evolved -o {out} --set traces=3",
        lambda out: cl.drift("evolved", traces=3, output=out),
    ),
    Twin(
        "generate run people -o {out} --chain translation --size 3 --set by=language --seed 4",
        lambda out: cl.generate(
            "people", chain="translation", size=3, by=["language"], seed=4, output=out
        ),
    ),
    Twin(
        "generate filter generated -o {out} --metric language --metric details --metric change-log --report {out}-q",
        lambda out: cl.quality_filter(
            "generated",
            metrics=["language", "details", "change-log"],
            report=f"{out}-q",
            output=out,
        ),
    ),
    Twin(
        "merge data evolved -o {out} --name both",
        lambda out: cl.merge(["data", "evolved"], name="both", output=out),
    ),
    Twin(
        "study run grid.toml -o {out} --only split=random",
        lambda out: cl.study_run("grid.toml", out, only={"split": "random"}),
    ),
    Twin(
        "publish bundle run -o {out}.json",
        lambda out: cl.publish_bundle("run", f"{out}.json"),
    ),
    Twin(
        "publish board results -o {out}",
        lambda out: cl.publish_board("results", output=out),
    ),
    Twin(
        "publish site audit results-board -o {out} --set as_of=2026-01-31",
        lambda out: cl.publish_site(["audit", "results-board"], out, as_of=date(2026, 1, 31)),
    ),
    Twin("rerun evolved -o {out}", lambda out: cl.rerun("evolved", output=out)),
    Twin("report study.toml -o {out}", lambda out: cl.report("study.toml", out)),
    Twin(
        "review create data -o {out} --task keep --sample 5 --set attention=1 --seed 2",
        lambda out: cl.review_create("data", out, task="keep", sample=5, attention=1, seed=2),
    ),
    Twin("review apply review -o {out}", lambda out: cl.review_apply("review", out)),
    Twin(
        "review export review -o {out} --to jsonl",
        lambda out: cl.review_export("review", out, "jsonl"),
    ),
    Twin("export data --to csv -o {out}", lambda out: cl.export("data", "csv", out)),
    Twin(
        "export data --to hf -o {out} --limit 9", lambda out: cl.export("data", "hf", out, limit=9)
    ),
]


TIMES = {
    "timings.json",
    "costs.html",
}  # what a study says of time and money: the same in no two runs


def files_in(folder: Path) -> dict[str, bytes]:
    files = (p for p in folder.rglob("*") if p.is_file() and p.name not in TIMES)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in files}


@pytest.mark.parametrize(
    "twin", leaf_marked(TWINS, lambda twin: twin.command), ids=lambda twin: twin.command
)
def test_the_verb_and_the_function_write_the_same_bytes(
    twin: Twin, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace)
    by_verb, by_function = tmp_path / "verb" / "out", tmp_path / "function" / "out"
    for place in (by_verb, by_function):
        place.parent.mkdir()
    assert run(twin.command.format(out=by_verb).split()) == 0
    twin.call(str(by_function))
    assert files_in(by_verb.parent)
    assert files_in(by_verb.parent) == files_in(by_function.parent)


TWIN_OF = {
    "generate filter": "quality_filter", "generate run": "generate", "import": "import_files", "evolve run": "evolve", "evolve drift": "drift", "evolve validate": "validate_cascades", "evolve worth": "worth",
    "evolve seed": "seed_claims", "evolve learn": "evolve_learn", "review create": "review_create",
    "review apply": "review_apply", "review ask": "review_ask", "review export": "review_export",
    "review import": "review_import",
    "publish board": "publish_board", "publish bundle": "publish_bundle", "publish site": "publish_site", "publish verify": "publish_verify", "study run": "study_run", "study table": "study_table",
}  # fmt: skip
INPUTS = {
    "folder",
    "folders",
    "files",
    "run",
    "data",
}  # what a verb reads is the function's first argument
PRINTED = {
    "as_json", "conflicts", "verbose", "strict", "shown", "preview", "show", "list_metrics", "dry_run",
    "_list", "no_labels", "yes",
}  # fmt: skip
OTHER_FUNCTIONS = {  # an option that turns the verb into another function of the package
    "audit --allow": "audit.guard.assert_audit", "audit --from": "audit.front.saved_audits",
    "publish board --init": "publish.board.new_board", "report --init": "evaluate.eqa.study.new_study",
    "evaluate --check-scores": "evaluate.items.check_papers",
}  # fmt: skip
SETTINGS = {"settings_"}  # they are arguments
LAYOUT = {
    "delimiter",
    "encoding",
    "header",
    "quotes",
    "sheet",
}  # fields of `options` in `import_files`


def commands() -> Iterator[tuple[str, Any]]:
    for verb in sorted(set(verb_names()) - WITHOUT_OUTPUT | {"show"}):
        command: Any = LazyVerbs().get_command(None, verb)
        below = getattr(command, "commands", {})
        yield from (
            (f"{verb} {name}", one) for name, one in below.items() if f"{verb} {name}" in TWIN_OF
        )
        if command.callback is not None and (not below or verb == "catalog"):
            yield verb, command


def test_every_option_of_a_verb_is_an_argument_of_its_twin() -> None:
    others = set()
    for name, command in commands():
        function = getattr(cl, TWIN_OF.get(name, name))
        arguments = set(parameters_of(function)) | SETTINGS
        for option in command.params:
            if option.name.startswith("list_"):
                continue
            if option.name in INPUTS | PRINTED | (LAYOUT if name == "import" else set()):
                continue
            if f"{name} {option.opts[0]}" in OTHER_FUNCTIONS:
                others.add(f"{name} {option.opts[0]}")
            else:
                names = {
                    option.name.removeprefix("no_"),
                    f"{option.name}s" if option.multiple else option.name,
                }
                assert names & arguments, f"{name} {option.opts[0]}"
    assert others == set(OTHER_FUNCTIONS)
    for place in OTHER_FUNCTIONS.values():
        module, _, function_name = place.rpartition(".")
        assert inspect.isfunction(getattr(import_module(f"claimlab.{module}"), function_name))


@pytest.mark.leaf
def test_every_verb_that_writes_has_a_twin() -> None:
    twins = {twin.command.split()[0] for twin in TWINS}
    assert twins == set(verb_names()) - WITHOUT_OUTPUT


@pytest.mark.parametrize(
    "name", sorted(set(cl.__all__) - {"ClaimlabError", "Dataset", "Review", "__version__"})
)
def test_every_function_says_what_it_takes(name: str) -> None:
    function = getattr(cl, name)
    parameters = inspect.signature(function).parameters.values()
    assert inspect.getdoc(function)
    if name == "cost_of":  # what the verb takes that is passed to it
        return
    open_ended = [p for p in parameters if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    for hint in (get_type_hints(function)[p.name] for p in open_ended):
        assert get_origin(hint) is Unpack, f"{name} takes more, and does not say what"
        assert is_typeddict(get_args(hint)[0])
    assert not [p.name for p in parameters if p.annotation in (p.empty, "Any")]
