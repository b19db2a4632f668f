"""From the words of a command to what a detector needs: models and searches, called as `calls`
says.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager

from claimlab.catalog.load import holds_factchecks
from claimlab.core import sync
from claimlab.core.calls.calls import Calls
from claimlab.core.choices import each_of
from claimlab.core.errors import UnknownName, UsageError
from claimlab.core.settings import declared
from claimlab.core.settings import read as read_settings
from claimlab.core.types import Json, JsonObject
from claimlab.detect.asking import Asking
from claimlab.detect.detector import DETECTORS, Detector
from claimlab.detect.found_evidence import PAGE_CHARACTERS
from claimlab.detect.own.detector import Own, OwnProcess, passed_in
from claimlab.detect.own.source import FORM, is_own
from claimlab.llm.open import open_provider
from claimlab.llm.prompts import Given, Prompts, read_prompts
from claimlab.search.connect import named_chain
from claimlab.search.evidence import Evidence
from claimlab.search.snapshot import PageFetcher
from claimlab.text.guard import mark


@contextmanager
def open_handles(
    calls: Calls,
    *,
    profile: str | None = None,
    model: str | None = None,
    providers: str | Sequence[str] = (),
) -> Iterator[JsonObject]:
    """The handles that are named: `model`, `search`; the others are left out. `providers` name
    where to search, each the fallback of the one before.
    """
    handles: JsonObject = {}
    with ExitStack() as stack:
        if profile is not None:
            handles["model"] = open_provider(profile, model=model, calls=calls)
        if providers:
            names = each_of(providers)
            handles["search"] = named_chain(
                names, calls, factcheck=holds_factchecks, passage=PAGE_CHARACTERS
            )
        for handle in handles.values():
            stack.callback(lambda opened: sync.run(opened.close()), handle)
        if providers:
            handles["reader"] = PageFetcher(calls=calls)  # it holds no connection open
        yield handles


@contextmanager
def open_detector(
    detector: object,
    settings: Mapping[str, Json] | Sequence[str],
    calls: Calls,
    evidence: str,
    words: Mapping[str, Json],
    prompts: Given = (),
) -> Iterator[Detector]:
    """A detector that is ready to be fitted. `settings` are keyword arguments, or words such as
    `feature=length`; `words` name what it asks, as `open_handles` takes them, `prompts` in which
    words. It may be a function of texts, or name one."""
    if not isinstance(detector, str):
        if settings or prompts or any(words.values()):
            raise UsageError(
                "A detector object has its settings already.",
                "Name the detector, or set it up yourself.",
            )
        yield detector if isinstance(detector, Detector) else passed_in(detector)
        return
    if is_own(detector):
        _refuse_settings(detector, settings, prompts, words)
        with closing(OwnProcess(detector)) as process:
            yield Own(process.title, process.ask, process.source)
        return
    kind = kind_named(detector)
    _refuse_unasked(kind, words)
    read = _prompts(kind, prompts)
    if isinstance(settings, Mapping):
        # an error names the one that the detector does not have
        for name in settings:
            if name not in inspect.signature(kind).parameters:
                raise UnknownName(f"setting of the detector '{kind.name}'", name, declared(kind))
        arguments = dict(settings)
    else:
        arguments = read_settings(kind, settings, of=f"the detector '{kind.name}'")
    with open_handles(calls, **words) as handles:
        ready = kind(**handles, **_screen(kind, evidence), **arguments)
        if isinstance(ready, Asking):
            ready.prompts = read
        yield ready


def kind_named(detector: str) -> type[Detector]:
    """The detector of this name; who has one of another kind is told how to name it."""
    try:
        return DETECTORS.get(detector)
    except UnknownName as error:
        error.todo += f" A function of your own is {FORM}; answers made elsewhere: `predictions`."
        error.args = (f"{error.problem} {error.todo}",)
        raise


def _refuse_settings(
    detector: str,
    settings: Mapping[str, Json] | Sequence[str],
    prompts: Given,
    words: Mapping[str, Json],
) -> None:
    if settings or prompts or any(words.values()):
        raise UsageError(
            f"'{detector}' is a function, and has no settings that claimlab knows.",
            "Set it up in its module.",
        )


def _refuse_unasked(kind: type[Detector], words: Mapping[str, Json]) -> None:
    """A model or a search that the detector would never ask is a misunderstanding: say so before
    anything is spent.
    """
    if words["profile"] is not None and "model" not in kind.handles:
        raise UsageError(
            f"The detector '{kind.name}' asks no model.",
            "Leave out `profile`, or use an llm detector.",
        )
    if words["model"] is not None and words["profile"] is None:
        raise UsageError("`model` names a model of a profile.", "Pass `profile` too.")
    if words["providers"] and "search" not in kind.handles:
        raise UsageError(
            f"The detector '{kind.name}' does not search.",
            "Leave out `provider`, or use the detector llm-search.",
        )


def _prompts(kind: type[Detector], words: Given) -> Prompts:
    """The user's words; those for a prompt that this detector never asks are a misunderstanding."""
    prompts = read_prompts(words, "detect")
    asked = kind.asks if issubclass(kind, Asking) else ()
    for name in prompts.replaced:
        if name not in asked:
            todo = (
                f"It asks: {', '.join(asked)}."
                if asked
                else "Leave out `prompts`, or use an llm detector."
            )
            raise UsageError(f"The detector '{kind.name}' does not use the prompt '{name}'.", todo)
    return prompts


def _screen(kind: type[Detector], evidence: str) -> JsonObject:
    """What a searching detector may not see of what it finds: the same as of evidence that was
    attached before.
    """
    if "search" not in kind.handles or evidence not in ("filtered", "guarded"):
        return {}
    from claimlab.detect.detectors.llm_search import Screen

    def bars(row: Mapping[str, Json], pieces: Sequence[Evidence]) -> list[bool]:
        marks = mark(dict(row), pieces)
        if evidence == "filtered":
            return [m.filtered for m in marks]
        return [m.guard_factcheck or m.guard_own_source or m.guard_copy for m in marks]

    return {"screen": Screen(evidence, bars)}
