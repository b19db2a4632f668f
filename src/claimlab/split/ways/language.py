"""Whole languages held out."""

from __future__ import annotations

from dataclasses import replace

from claimlab.core.languages import require
from claimlab.split.hold_out import HoldOut, Trait
from claimlab.split.material import Material
from claimlab.split.way import Parts, Request


class LanguageWay(HoldOut):
    name = "language"
    summary = "Whole languages held out; a language may be named as pt, por or Portuguese."

    def trait(self, material: Material, request: Request) -> Trait:  # noqa: ARG002
        return Trait(material.records["language"], "the row names no language")

    def split(self, material: Material, request: Request) -> Parts:
        held, trained = (tuple(map(require, names)) for names in (request.hold_out, request.train_on))
        return super().split(material, replace(request, hold_out=held, train_on=trained))


WAY = LanguageWay()
