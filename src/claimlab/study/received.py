"""What a received study, profile, EQA file or recorded call wants outside its own folder: hosts
that would be asked, keys that would be sent, paths to read, models of a hub, code. Words are read
and nothing is opened but further files of these kinds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from claimlab.core.call import CALL_FILE, INPUT, RepeatableCall, read_call
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.grants import PAGES, Wanted, host_of, named_in, on_behalf_of, own_file, sent_to
from claimlab.core.toml_file import is_file_name, read_raw_toml
from claimlab.detect.own.source import is_own
from claimlab.detect.pretrained import is_of_hub
from claimlab.evaluate.eqa.study import read_study, wanted_by_answers
from claimlab.llm.profiles import find_profile, read_profiles, wanted_of
from claimlab.study.file import StudyFile, read_study_file, texts_in
from claimlab.study.step import STEPS

STUDY = "study.toml"  # in the folder of a study
PROFILES = (
    "profile",
    "auditor_profile",
    "judge",
)  # options that name a model profile
PROVIDERS = ("provider", "factcheck")  # and those that name a search
_WORDS = {
    "name",
    "published",
    "show",
    "report",
    "table",
    "seeds",
    "sample",
    "references",
    "caps",
}  # read, never opened


def wanted_by(study: StudyFile, file: Path) -> list[Wanted]:
    """Everything that `study`, read from `file`, names and that is not in the folder of `file`,
    with what the files that it names want in turn."""
    content = study.model_dump(
        exclude=_WORDS if "data" in study.model_fields_set else {*_WORDS, "data"}
    )
    wanted = set(named_in(content, file.absolute().parent))
    for option, value in texts_in(content):
        use, before = ".".join(option), option[:-1]
        # an axis sets its main option
        last = STEPS[option[-1]].main if option[-1] in STEPS else option[-1]
        if last == "detector" and is_own(value):
            wanted.add(Wanted("code", value, use))
        if last in PROFILES:
            wanted |= _of_profile(value, use)
        elif last in PROVIDERS:
            wanted |= _of_provider(value, use)
            if "detector" in before:
                wanted.add(_pages(use))
        elif "settings" in option:
            wanted |= _of_setting(last, value, use)
        if (found := Path(value)).suffix == ".toml" and last not in PROFILES and found.is_file():
            wanted |= _of_named(found, file)
    if any(last == "snapshot" and flag for last, flag in _flags(content)):
        wanted.add(_pages("snapshot"))
    folders = {each.value for each in wanted if each.kind == "path"}
    return sorted(
        each
        for each in wanted
        if each.kind != "path"
        or not any(str(parent) in folders for parent in Path(each.value).parents)
    )


def sends(file: str | Path) -> list[str]:
    """What a run of the study would send to whom, a sentence for each host."""
    wanted = wanted_by(read_study_file(file), Path(file))
    sentences = []
    for host in dict.fromkeys(each.value for each in wanted if each.kind == "host"):
        uses = sorted({each.use for each in wanted if each.value == host})
        keys = [
            each.value
            for each in wanted
            if each.kind == "variable" and each.use == f"sent to {host}"
        ]
        with_keys = f", with the key in {' and '.join(keys)}" if keys else ""
        sentences.append(f"{host} {'; '.join(uses)}{with_keys}.")
    return sentences


def wanted_by_call(call: RepeatableCall, folder: Path) -> list[Wanted]:
    """What the recorded call of `folder` names outside of where the folder lies, and what the files
    that it has read, as far as they are beside it, want in turn."""
    wanted = set(named_in(_without_inputs(call.arguments), folder.absolute().parent))
    detector = call.arguments.get("detector")
    if isinstance(detector, dict) and INPUT in detector:
        detector = f"{detector[INPUT]}{detector.get('end', '')}"
    if isinstance(detector, str) and is_own(detector):
        wanted.add(Wanted("code", detector, "detector"))
    for option, value in texts_in(call.arguments):
        if option[-1] != INPUT and option[-1] in PROVIDERS:
            wanted |= _of_provider(value, option[-1])
        elif option[-1] != INPUT and option[-1] in PROFILES:
            wanted |= _of_profile(value, option[-1])
        elif "settings" in option:
            wanted |= _of_setting(option[-1], value, ".".join(option))
        if option[-1] != INPUT or not value.endswith(".toml"):
            continue
        places = (folder, folder.absolute().parent, Path())
        inputs = (own_file(place, value) for place in places)
        if (found := next(filter(None, inputs), None)) is not None:
            wanted |= _of_named(found, folder / CALL_FILE)
    return sorted(wanted)


def _without_inputs(value: Any) -> Any:
    """Recorded arguments less what was read: that is known by its digest, wherever it is."""
    if isinstance(value, dict):
        return (
            {} if INPUT in value else {name: _without_inputs(each) for name, each in value.items()}
        )
    return [_without_inputs(each) for each in value] if isinstance(value, list) else value


def wanted_in(file: Path) -> tuple[Path, list[Wanted]]:
    """The file that is judged where `file` is received, and what it wants: a study, a profile, an
    EQA file, a folder to rerun. Nothing that has an effect can be done meanwhile.
    """
    with on_behalf_of(file):
        return _wanted_in(file)


def _wanted_in(file: Path) -> tuple[Path, list[Wanted]]:
    if file.is_dir():
        call = read_call(file)
        if call is None and not (file / STUDY).is_file():
            raise UsageError(
                f"'{file}' is not a folder that can be run again.",
                "Name the file that it came with.",
            )
        if call is not None and not (file / STUDY).is_file():
            return file / CALL_FILE, wanted_by_call(call, file)
        file = file / STUDY
    content = read_raw_toml(file)
    if "formulation" in content:
        return file, wanted_by_answers(read_study(file), file)
    if "datasets" in content:
        return file, wanted_by(read_study_file(file), file)
    return file, wanted_of(read_profiles(file))


def _of_named(file: Path, by: Path) -> set[Wanted]:
    """What a file that `by` names wants, where it is of a kind that can want something."""
    try:
        return set() if file.resolve() == by.resolve() else set(_wanted_in(file)[1])
    except ClaimlabError:
        return set()  # a recipe, a map, a prompt: their fields reach nothing


def _of_profile(name: str, use: str) -> set[Wanted]:
    try:
        profile = find_profile(name)
    except ClaimlabError:
        return set()  # whoever opens it says what is wrong
    wanted = {each for each in profile.wanted() if is_file_name(name) or each.kind != "price"}
    return {
        replace(each, use=f"{each.use}, from {use}") if each.kind == "host" else each
        for each in wanted
    }


def _of_provider(name: str, use: str) -> set[Wanted]:
    from claimlab.search.connect import PROVIDERS as KNOWN

    kind = name.partition(":")[0]
    if kind == "local" or kind not in KNOWN.all():
        return set()
    provider = KNOWN.get(kind)
    host = host_of(str(getattr(provider, "endpoint", "") or kind))
    keys = {sent_to(variable, host) for variable in getattr(provider, "needs", ())}
    return {Wanted("host", host, f"gets texts of the records, from {use}"), *keys}


def _of_setting(name: str, value: str, use: str) -> set[Wanted]:
    """A model of a hub, as a setting by its name or as words: `model=OWNER/NAME`."""
    words, _, model = value.partition("=")
    model = value if name == "model" else model if words.strip() == "model" else ""
    return {Wanted("model", model, use)} if is_of_hub(model) else set()


def _pages(use: str) -> Wanted:
    return Wanted("host", PAGES, f"is fetched by its address, from {use}")


def _flags(value: object) -> Iterator[tuple[str, bool]]:
    if isinstance(value, dict):
        for name, each in value.items():
            if isinstance(each, bool):
                yield str(name).rpartition(".")[2], each
            elif isinstance(each, list) and True in each:
                yield str(name).rpartition(".")[2], True
            else:
                yield from _flags(each)
    elif isinstance(value, list):
        for each in value:
            yield from _flags(each)
