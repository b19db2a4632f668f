"""Mask mail addresses, phone numbers and @handles. The text as it was is kept nowhere: that is the
point.
"""

from __future__ import annotations

import json
from typing import ClassVar, Literal

import polars as pl

from claimlab.clean.step import CleanStep
from claimlab.core.record import meta_json
from claimlab.core.step import Change, Outcome
from claimlab.text.personal import mask_personal

Kind = Literal["mail", "phone", "handle"]


class MaskPersonal(CleanStep):
    name: ClassVar[str] = "mask-personal"
    summary: ClassVar[str] = (
        "Replaces mail addresses, phone numbers and @handles in texts; the originals are not kept."
    )

    kinds: tuple[Kind, ...] = ("mail", "phone", "handle")

    def apply(self, records: pl.DataFrame) -> Outcome:
        text, meta = mask_personal(records["text"], self.kinds), self._meta(records["meta"])
        touched = (records["text"] != text).fill_null(False) | (records["meta"] != meta).fill_null(
            False
        )
        changed: list[Change] = [
            (i, "text", None, None, "personal data masked")
            for i in records["id"].filter(touched).to_list()
        ]
        return Outcome.of(
            records,
            kept=records.with_columns(text.alias("text"), meta.alias("meta")),
            changed=changed,
        )

    def _meta(self, meta: pl.Series) -> pl.Series:
        """The text that another step put aside, masked as well."""
        original = meta.str.json_path_match("$.original_text")
        masked = mask_personal(original, self.kinds)
        rows = zip(meta.to_list(), original.to_list(), masked.to_list(), strict=True)
        values = [
            m if before == after else meta_json({**json.loads(m), "original_text": after})
            for m, before, after in rows
        ]
        return pl.Series("meta", values, dtype=pl.String)


STEP = MaskPersonal
