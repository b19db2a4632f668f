"""What a study names outside its own folder: hosts that would be asked, keys that would be sent,
paths to read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from claimlab.core.call import CALL_FILE, INPUT, RepeatableCall, read_call
from claimlab.core.errors import ClaimlabError, UsageError
from claimlab.core.toml_file import read_raw_toml
from claimlab.core.trust import Need, named_in
from claimlab.detect.own.source import is_own
from claimlab.evaluate.eqa.study import needs_of as eqa_needs
from claimlab.evaluate.eqa.study import read_study
from claimlab.llm.profiles import find_profile, foreign_keys, read_profiles
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


def needs_of(study: StudyFile, file: Path) -> list[Need]:
    """Everything that `study`, read from `file`, names and that is not in the folder of `file`."""
    content = study.model_dump(
        exclude=_WORDS if "data" in study.model_fields_set else {*_WORDS, "data"}
    )
    needs = set(named_in(content, file.absolute().parent))
    for option, value in texts_in(content):
        # an axis sets its main option
        last = STEPS[option[-1]].main if option[-1] in STEPS else option[-1]
        if last == "detector" and is_own(value):
            needs.add(Need("code", value, ".".join(option)))
        if last in PROFILES:
            needs |= _of_profile(value, ".".join(option))
        elif last in PROVIDERS:
            needs |= _of_provider(value, ".".join(option))
    folders = {need.value for need in needs if need.kind == "path"}
    return sorted(
        need
        for need in needs
        if need.kind != "path"
        or not any(str(parent) in folders for parent in Path(need.value).parents)
    )


def sends(file: str | Path) -> list[str]:
    """What a run of the study would send to whom, a sentence for each host."""
    needs = needs_of(read_study_file(file), Path(file))
    sentences = []
    for host in dict.fromkeys(need.value for need in needs if need.kind == "host"):
        uses = sorted({need.use for need in needs if need.value == host})
        keys = [
            need.value
            for need in needs
            if need.kind == "variable" and need.use == f"sent to {host}"
        ]
        with_keys = f", with the key in {' and '.join(keys)}" if keys else ""
        sentences.append(f"{host} {'; '.join(uses)}{with_keys}.")
    return sentences


def needs_of_call(call: RepeatableCall, folder: Path) -> list[Need]:
    """What the recorded call of `folder` names outside of where the folder lies."""
    needs = set(named_in(_without_inputs(call.arguments), folder.absolute().parent))
    detector = call.arguments.get("detector")
    if isinstance(detector, dict) and INPUT in detector:
        detector = f"{detector[INPUT]}{detector.get('end', '')}"
    if isinstance(detector, str) and is_own(detector):
        needs.add(Need("code", detector, "detector"))
    return sorted(needs)


def _without_inputs(value: Any) -> Any:
    """Recorded arguments less what was read: that is known by its digest, wherever it is."""
    if isinstance(value, dict):
        return (
            {} if INPUT in value else {name: _without_inputs(each) for name, each in value.items()}
        )
    return [_without_inputs(each) for each in value] if isinstance(value, list) else value


def needs_of_file(file: Path) -> tuple[Path, list[Need]]:
    """The file that is judged where `file` is received, and what it names: a study, a profile, a
    folder to rerun.
    """
    if file.is_dir():
        call = read_call(file)
        if call is None and not (file / STUDY).is_file():
            raise UsageError(
                f"'{file}' is not a folder that can be run again.",
                "Name the file that it came with.",
            )
        if call is not None and not (file / STUDY).is_file():
            return file / CALL_FILE, needs_of_call(call, file)
        file = file / STUDY
    content = read_raw_toml(file)
    if "formulation" in content:
        return file, eqa_needs(read_study(file), file)
    if "datasets" in content:
        return file, needs_of(read_study_file(file), file)
    profiles = read_profiles(file).values()
    return file, sorted({need for profile in profiles for need in foreign_keys(profile)})


def _of_profile(name: str, use: str) -> set[Need]:
    try:
        profile = find_profile(name)
    except ClaimlabError:
        return set()  # whoever opens it says what is wrong
    if profile.base_url is None:
        return set()
    return _asked(profile.base_url, (profile.key_variable,) if profile.key_variable else (), use)


def _of_provider(name: str, use: str) -> set[Need]:
    from claimlab.search.connect import PROVIDERS as KNOWN

    kind = name.partition(":")[0]
    if kind == "local" or kind not in KNOWN.all():
        return set()
    provider = KNOWN.get(kind)
    return _asked(
        str(getattr(provider, "endpoint", "") or kind), tuple(getattr(provider, "needs", ())), use
    )


def _asked(address: str, variables: tuple[str, ...], use: str) -> set[Need]:
    parts = urlsplit(address)  # checked when the profile was read: no name, no password
    host = f"{parts.scheme}://{parts.netloc}" if parts.netloc else address
    sent = {Need("variable", variable, f"sent to {host}") for variable in variables}
    return {Need("host", host, f"gets texts of the records, from {use}"), *sent}
