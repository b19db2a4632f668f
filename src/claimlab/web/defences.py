"""What the score of a run is made of, where `claimlab defend` said so in this workspace."""

from __future__ import annotations

import json
from typing import Literal

from claimlab.web.memo import Memo, state_of
from claimlab.web.workspace import Shape, Workspace, WorkspaceFolder

FILE, CALL = "defence.json", "call.json"
DEFENCE = "defence"  # what the folder says that it is
# the parts of a score, in the order of the bar
TONES: dict[str, Literal["grey", "fail", "warn", "pass", "open"]] = {
    "guessing": "grey",
    "shortcut": "fail",
    "not fitted": "warn",
    "own signal": "pass",
}
_defences = Memo(64)


class ScorePart(Shape):
    """A part of the accuracy of a run, as a share of all records."""

    name: str
    share: float
    tone: Literal["grey", "fail", "warn", "pass", "open"]


class DefenceLine(Shape):
    """A defence of a run: the parts of its score, and where it is told in full."""

    link: str
    parts: list[ScorePart]
    shortcut: str | None
    own: float | None
    """The share of answers that know the label."""
    own_interval: tuple[float, float] | None
    why: str
    """Why the parts are not measured; empty where they are."""


def parts_of(workspace: Workspace, run: WorkspaceFolder) -> DefenceLine | None:
    """The newest defence of exactly this run; null where there is none."""
    fingerprint = run.manifest.fingerprint()
    found = [
        line
        for place in workspace.of("report")
        if place.entry.what == DEFENCE and (line := _line(place, fingerprint)) is not None
    ]
    return found[-1] if found else None


def _line(place: WorkspaceFolder, fingerprint: str) -> DefenceLine | None:
    """What a defence says, where it is of the run with this fingerprint."""
    file, call = place.folder / FILE, place.folder / CALL
    if not file.is_file() or not call.is_file():
        return None
    try:
        of, line = _defences.get((state_of(file), state_of(call)), lambda: _read(place))
    except (ValueError, KeyError, TypeError):
        return None  # its own page says what is wrong with it
    return line if of == fingerprint else None


def _read(place: WorkspaceFolder) -> tuple[str, DefenceLine]:
    call = json.loads((place.folder / CALL).read_text("utf-8"))
    copied = json.loads((place.folder / FILE).read_text("utf-8"))["copied"]
    shares = copied["shares"]
    own = None if shares is None else shares["own"]
    parts = [
        ScorePart(name=piece["name"], share=piece["share"], tone=TONES.get(piece["name"], "open"))
        for piece in copied["segments"]
    ]
    line = DefenceLine(
        link=f"/reports/{place.entry.id}/index.html",
        parts=parts,
        shortcut=copied["feature"],
        own=None if own is None else own[0],
        own_interval=None if own is None or own[1] is None else tuple(own[1]),
        why=copied["why"] or "",
    )
    return call["arguments"]["run"]["sha256"], line
