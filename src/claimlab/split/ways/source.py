"""Whole sources (publishers, outlets) held out."""

from __future__ import annotations

from claimlab.split.hold_out import HoldOut, Trait
from claimlab.split.material import Material
from claimlab.split.way import Request


class Source(HoldOut):
    name = "source"
    summary = "Whole sources held out: who published it is new in test."

    def trait(self, material: Material, request: Request) -> Trait:  # noqa: ARG002
        return Trait(material.records["source"], "the row names no source")


WAY = Source()
