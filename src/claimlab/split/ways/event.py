"""Whole events held out, by the column `group`: what is tested is about something that was not trained on."""

from __future__ import annotations

from claimlab.split.hold_out import HoldOut, Trait
from claimlab.split.material import Material
from claimlab.split.way import Request


class Event(HoldOut):
    name = "event"
    summary = "Whole events (the column 'group') held out: what it is about is new in test."

    def trait(self, material: Material, request: Request) -> Trait:  # noqa: ARG002
        return Trait(material.records["group"], "the row belongs to no group")


WAY = Event()
