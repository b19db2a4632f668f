"""Whole web domains held out, by the registrable domain of the row's URL."""

from __future__ import annotations

from claimlab.split.hold_out import HoldOut, Trait
from claimlab.split.material import Material
from claimlab.split.way import Request
from claimlab.text.urls import domains


class Domain(HoldOut):
    name = "domain"
    summary = "Whole web domains held out, by the URL of the row (www.bbc.co.uk is bbc.co.uk)."

    def trait(self, material: Material, request: Request) -> Trait:  # noqa: ARG002
        return Trait(domains(material.records["url"]), "the row has no URL with a domain")


WAY = Domain()
